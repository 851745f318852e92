"""The number that a reply decides for in prose: stated, alone in a line, at the start, or the only one that can be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.answers.decisions.amounts import Amount, find_amounts
from collector.answers.decisions.decision import Decision, written_number
from collector.answers.decisions.mentions import is_alone, is_asked, is_compared
from collector.answers.decisions.score_candidates import Candidate, Scale, candidates_of, meaning_of
from collector.answers.decisions.stated_labels import boxed_parts
from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.announcements import (
    OPENERS,
    Rank,
    announced,
    clause_after,
    clause_before,
    is_below_other_heading,
    is_condition,
    is_doubted,
    is_revised,
    line_around,
    line_before,
    negation,
    sentence_after,
    sentence_before,
    without_harmless,
)
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import Reply

_CLOSERS = " \t\"'”’»›」』】）)]}_$*"
_ENDS = frozenset(".,;:!。，、；：！…|(（[—–")
_ARROWS = ("→", "->", "=>", "➔", "⇒", "➜", "⟶")
# Words after the numbers of several aspects: "8 for skill, 6 for fit", "8 (skill), 6 (fit)".
_PART = re.compile(r"\s?([(:–—-]|[^\W\d_]+)")
_NEXT = 60
_SHOWN = 5
_MOST_AMOUNTS = 100
_REVISE_REACH = 400


def number_in_prose(reply: Reply, scale: Scale) -> Decision:
    """Read the number that a reply decides for, without its JSON and without the audit's pattern."""
    amounts = find_amounts(reply.low, scale.decimal)
    if not amounts:
        return Decision(problem="The answer holds no number.")
    candidates, problem = candidates_of(reply, amounts, scale)
    if problem is not None:
        return Decision(problem=problem)
    if decision := _stated(reply, candidates):
        return decision
    for rule in (_alone, _opening):
        if decision := rule(reply, candidates):
            return decision
    return _only_number(reply, candidates, amounts)


def _decided(candidate: Candidate, rule: str, text: str, *, is_certain: bool = True) -> Decision:
    if candidate.value is None:
        return Decision(problem=candidate.problem)
    read_by = "range" if candidate.amount.is_range else rule
    return Decision(written_number(candidate.value), is_certain=is_certain, read_by=read_by, read_text=text)


def _stated(reply: Reply, candidates: Sequence[Candidate]) -> Decision | None:
    """Return the number that is announced: "Score: 8", "I would rate this candidate 8"."""
    low = reply.low
    statements: list[tuple[Rank, int, Candidate]] = []
    for start, end, inner, inner_end, _ in boxed_parts(reply):
        inside = [one for one in candidates if inner <= one.amount.start and one.amount.end <= inner_end]
        if len(inside) != 1 or re.search(
            r"\w", low[inner : inside[0].amount.start] + low[inside[0].amount.end : inner_end]
        ):
            return Decision(
                problem=f"The answer states {reply.part(start, end)!r}, which is no number on the scale."
            )
        statements.append((Rank.FINAL, start, inside[0]))
    for candidate in candidates:
        amount = candidate.amount
        tail = _tail(low, amount.end)
        if tail == "bad":
            continue
        announcement = announced(low, amount.start, is_alone=is_alone(low, amount), is_number=True)
        if announcement is None or announcement.rank is Rank.PREFERRED:
            continue
        between = low[announcement.start : amount.start]
        after = clause_after(low, amount.end)
        if negation(between) or (tail == "word" and negation(after)):
            continue
        if _is_one_of_several(low, candidates, candidate):
            return Decision(problem="The answer gives different numbers in one sentence.")
        statements.append((announcement.rank, announcement.start, candidate))
    if not statements:
        return None
    rank = max(statement[0] for statement in statements)
    best = [statement for statement in statements if statement[0] == rank]
    last = best[-1][2]
    contrary = next((one for _, _, one in reversed(best) if meaning_of(one) != meaning_of(last)), None)
    reach = last.amount.start - _REVISE_REACH
    if contrary is not None and not is_revised(low, max(contrary.amount.end, reach), last.amount.start):
        said = ", ".join(
            dict.fromkeys(repr(reply.part(start, one.amount.end)) for _, start, one in best[-_SHOWN:])
        )
        return Decision(problem=f"The answer states different numbers: {said}.")
    if problem := _later_doubt(reply, candidates, last):
        return Decision(problem=problem)
    return _decided(last, "marker", reply.part(best[-1][1], last.amount.end))


def _is_one_of_several(low: str, candidates: Sequence[Candidate], candidate: Candidate) -> bool:
    """Return whether a sentence such as "I would rate her 7, him 8" gives another number too."""
    lead = low[max(0, candidate.amount.start - 5) : candidate.amount.start].rstrip(OPENERS)
    if not lead or lead[-1] in ":：=\n":
        return False
    end = candidate.amount.end + len(re.split(r"[(]", sentence_after(low, candidate.amount.end))[0])
    return any(
        candidate.amount.end <= one.amount.start < end and meaning_of(one) != meaning_of(candidate)
        for one in candidates
    )


def _is_replaced(low: str, candidates: Sequence[Candidate], candidate: Candidate) -> bool:
    """Return whether the next number takes a number's place ("8 → 9", "8, make that 7") or is for another part ("8 for A, 6 for
    B").
    """
    end = candidate.amount.end
    later = (
        one for one in candidates if one.amount.start >= end and meaning_of(one) != meaning_of(candidate)
    )
    other = next(later, None)
    if other is None or other.amount.start - end > _NEXT:
        return False
    gap = low[end : other.amount.start].rstrip(OPENERS + ",.;-–—…")
    if gap.endswith(_ARROWS):
        return True
    if re.search(r"\w.*[:：=]", gap):
        return False
    said = re.findall(r"[^\W\d_]+", gap)
    if len(said) == 1 and said[0] in decision_words().no:
        return True
    filler = decision_words().fillers.ending(gap)
    if any(amount_words().corrections.ending(text) is not None for text in (gap, gap[:filler].rstrip())):
        return True
    first, second = _PART.match(low, end), _PART.match(low, other.amount.end)
    return first is not None and second is not None and first[1] == second[1]


def _later_doubt(reply: Reply, candidates: Sequence[Candidate], stated: Candidate) -> str | None:
    """Return the problem if the reply takes a number back, or ends with another one alone in its line."""
    later = [
        one
        for one in candidates
        if one.amount.start >= stated.amount.end and meaning_of(one) != meaning_of(stated)
    ]
    if not later:
        return None
    if _is_replaced(reply.low, candidates, stated):
        return "The answer gives several numbers, and none for all of it."
    shown = written_number(stated.amount.readings[0]) if stated.amount.readings else "a number"
    if is_revised(reply.low, stated.amount.end, len(reply.low)):
        return f"The answer states {shown} and takes it back."
    last = later[-1].amount
    if is_alone(reply.low, last) and not re.search(r"\w", reply.low[last.end :]):
        return f"The answer states {shown} and ends with another number."
    return None


def _alone(reply: Reply, candidates: Sequence[Candidate]) -> Decision | None:
    """Return the number that is alone in the last line or sentence, or in the first line, unless they contradict each other."""
    low = reply.low
    last = _last_alone(low, candidates)
    first = _first_alone(low, candidates)
    if first is not None and last is not None and meaning_of(first) != meaning_of(last):
        if not decision_words().revising.within(low[first.amount.end : last.amount.start]):
            return Decision(problem="The answer begins with one number and ends with another.")
        first = None
    chosen = last or first
    if chosen is None:
        return None
    line = reply.part(*line_around(low, chosen.amount.start, chosen.amount.end))
    return _decided(chosen, "first_line" if last is None else "last_line", line)


def _last_alone(low: str, candidates: Sequence[Candidate]) -> Candidate | None:
    if not candidates:
        return None
    last = candidates[-1]
    is_last = not re.search(r"\w", _behind(low, last.amount.end))
    return last if is_last and _can_be_alone(low, last.amount, candidates) else None


def _first_alone(low: str, candidates: Sequence[Candidate]) -> Candidate | None:
    if not candidates:
        return None
    first = candidates[0]
    start, end = line_around(low, first.amount.start, first.amount.end)
    if re.search(r"\w", low[:start]) or re.search(r"\w", _behind(low[:end], first.amount.end)):
        return None
    return first if _can_be_alone(low, first.amount, candidates) else None


def _behind(low: str, end: int) -> str:
    """Return what follows a number, without the ending that a word has in a script without spaces."""
    cut = decision_words().unspaced_endings.starting(low[end : end + 12])
    return low[end + (cut or 0) :]


def _can_be_alone(low: str, amount: Amount, candidates: Sequence[Candidate]) -> bool:
    """Return whether a number is alone in its line or sentence, or follows a colon there."""
    if _tail(low, amount.end) != "end":
        return False
    before = low[max(0, amount.start - 200) : amount.start]
    line = re.sub(r"^\s*(?:[-+•·–—>]+\s+)*", "", before.rpartition("\n")[2]).rstrip(OPENERS + "~≈")
    if not line.strip("# "):
        return not is_below_other_heading(low, amount.start)
    if line.endswith((":", "：", "=")):
        words = decision_words()
        is_other = words.other_lines.within(line) or negation(line) or is_doubted(line + " ")
        rivals = [one for one in candidates if one.amount is not amount and _follows_colon(low, one.amount)]
        return not is_other and not rivals and not any(one.amount.has_unit for one in candidates)
    return not sentence_before(line + " ").strip(OPENERS + " ")


def _follows_colon(low: str, amount: Amount) -> bool:
    return low[max(0, amount.start - 10) : amount.start].rstrip(OPENERS).endswith((":", "：", "="))


def _opening(reply: Reply, candidates: Sequence[Candidate]) -> Decision | None:
    """Return the number that opens the reply: "8 - strong", "8/10, because …", "8 (on a scale of 1 to 10)"."""
    low = reply.low
    if not candidates:
        return None
    first = candidates[0]
    before = low[: first.amount.start]
    if len(before) > 100 or re.search(r"\w", before) or _tail(low, first.amount.end) not in ("end", "reason"):
        return None
    after = low[first.amount.end : first.amount.end + 3]
    is_enumerated = after[:1] in (".", ")") and first.amount.out_of is None and not first.amount.is_money
    if is_enumerated and re.search(r"\n\W{0,4}\d{1,2}[.)]", low):
        return None
    said = sentence_after(low, first.amount.end).lstrip(" ,;:.)-–—(")
    if (
        _is_replaced(low, candidates, first)
        or is_condition(said)
        or is_revised(low, first.amount.end, len(low))
    ):
        return None
    if re.match(r"(?:or|to|oder|bis|ou|o|maybe|perhaps|possibly|vielleicht)\b", said):
        return None
    return _decided(
        first,
        "opening",
        reply.part(first.amount.start, first.amount.end + len(clause_after(low, first.amount.end))),
    )


def _only_number(reply: Reply, candidates: Sequence[Candidate], amounts: Sequence[Amount]) -> Decision:
    """Return the only number that may be the score, or the problem."""
    low = reply.low
    counted = [one for one in candidates if _tail(low, one.amount.end) != "bad"]
    distinct = list(dict.fromkeys(map(meaning_of, counted)))
    if len(amounts) > _MOST_AMOUNTS or len(distinct) != 1 or len(counted) < len(candidates):
        return _undecided(amounts)
    first = counted[0]
    if first.value is None:
        return _decided(first, "only_number", "")
    for candidate in counted:
        if problem := _only_problem(reply, candidate.amount):
            return Decision(problem=problem)
    is_known = first.amount.is_money or first.amount.out_of is not None
    if not is_known and not any(_has_cue(low, one.amount) for one in counted):
        return _undecided(amounts)
    sentence = low[: first.amount.start]
    start = len(sentence) - len(sentence_before(sentence))
    text = reply.part(start, first.amount.end + len(sentence_after(low, first.amount.end)))
    return _decided(first, "only_number", text, is_certain=False)


def _has_cue(low: str, amount: Amount) -> bool:
    """Return whether the sentence of a number holds a word such as "rate" or "offer"."""
    before = sentence_before(low[max(0, amount.start - 200) : amount.start])
    after = sentence_after(low, amount.end)
    return amount_words().cues.within(f"{before} {after[:100]}") is not None


def _only_problem(reply: Reply, amount: Amount) -> str | None:
    low = reply.low
    words = decision_words()
    before = without_harmless(sentence_before(low[max(0, amount.start - 300) : amount.start]))
    shown = repr(reply.part(amount.start, amount.end))
    if is_asked(low, amount):
        return f"The answer names {shown} only in a question."
    clause = f"{clause_before(before)} {clause_after(low, amount.end)}"
    if words.conditions.within(before) or words.doubting.within(clause) or negation(clause_before(before)):
        return f"The answer names {shown} and does not decide for it."
    line = line_before(low, amount.start)
    if words.other_lines.within(line.rpartition(":")[0][-100:]):
        return f"The answer names {shown} only after {line.strip()!r}."
    if is_compared(low, amount):
        return f"The answer only compares with {shown}."
    return None


def _undecided(amounts: Sequence[Amount]) -> Decision:
    numbers = [
        written_number(value)
        for amount in amounts
        for value in (*(amount.bounds or amount.readings[-1:]), *filter(None, (amount.out_of,)))
    ]
    distinct = list(dict.fromkeys(numbers))
    if len(distinct) == 1:
        return Decision(
            problem=f"The answer holds the number {distinct[0]} and does not say that it is the decision."
        )
    shown = ", ".join(distinct[:_SHOWN]) + (", …" if len(distinct) > _SHOWN else "")
    return Decision(problem=f"The answer holds {len(distinct)} different numbers: {shown}.")


def _tail(low: str, end: int) -> str:
    """Say what follows a number: "end", "reason", "word" or "bad" (a question, a sign that makes another number of it)."""
    while low[end : end + 1] and low[end] in _CLOSERS.replace(" ", ""):
        end += 1
    mark = low[end : end + 1]
    if re.match(r"[.!…]*[?？]", low[end : end + 4]):
        return "bad"
    if not mark or mark in "\r\n":
        return "end"
    if mark in _ENDS:
        return "end"
    if mark in "+%=/<>^*&":
        return "end" if low[end : end + 2] == "</" else "bad"
    if mark not in " \t":
        if mark.isalnum() and mark > "\u2e80":
            rest = _behind(low, end)[:1]
            return "end" if not rest.isalnum() else "word"
        return "end" if mark > "\u2e80" else "bad"
    rest = low[end : end + 60].lstrip(" \t").partition("\n")[0]
    if not rest or rest[0] in _ENDS or re.match(r"[-–—](?:\s|\Z)|->", rest):
        return "end"
    if rest[0] in "?？/=<>%+&±":
        return "bad"
    if not rest[0].isalnum() and rest[0] != "_":
        return "end"
    cut = decision_words().reasons.starting(rest)
    return "reason" if cut is not None and not rest[cut : cut + 1].isalnum() else "word"
