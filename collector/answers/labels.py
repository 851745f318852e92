"""Read which of several labels a reply decides for.

The rules are tried in order, the most explicit first: JSON, the audit's own pattern, an announcement such as "Final answer: B", the
last line, the first line, the label that opens the reply, the only label that the reply names. Where a rule finds two labels that
contradict each other, the reply is unread: a wrong reading is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from collector.answers.announcements import (
    OPENERS,
    Rank,
    announced,
    claim_after,
    clause_after,
    clause_before,
    has_noun,
    is_doubted,
    negation,
    sentence_after,
    sentence_before,
    without_harmless,
    without_noun,
)
from collector.answers.decision import Decision
from collector.answers.decision_words import decision_words
from collector.answers.json_decisions import Leaf, json_decision
from collector.answers.mentions import (
    Labels,
    Mention,
    compiled_labels,
    first_and_last,
    is_asked,
    is_compared,
    is_followed_by_listing,
    is_negated,
    masked,
    stands_alone,
)
from collector.answers.plain import Reply, fold
from collector.hints import quoted

_BOXED = re.compile(
    r"\[\[(?P<a>[^\[\]\n]{1,60})\]\]"
    r"|\\boxed\s?\{\s?(?:\\(?:text|textbf|mathrm|mathbf|textit)\s?\{)?(?P<b>[^{}\n]{1,60})\}"
    r"|<(?P<tag>[^<>/\s]{2,20})>(?P<c>.{1,200}?)</(?P=tag)>",
    re.DOTALL,
)
_SHORT_VALUE = re.compile(r"[^\n:：]{0,120}[:：][ \t]*(?P<value>[^\n]{0,60})")
_MOST_WORDS = 4
_OPENING_CHARACTERS = 200
_MOST_PREFIX = 100
_MOST_SHOWN = 4
_MOST_MENTIONS = 400
# So many characters may stand between a letter and its option's text.
_NEAR = 8


class Statement(NamedTuple):
    """A decision that a reply states explicitly; label is None where what is stated is no label."""

    rank: Rank
    start: int
    end: int
    label: str | None


def read_label(
    text: str,
    labels: Sequence[str],
    *,
    key: str | None = None,
    pattern: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Decision:
    """Read the label that a reply decides for.

    Args:
        text: the reply.
        labels: those to choose from; case does not matter.
        key: the key of a JSON object that holds the decision, dotted where objects are nested: "result.decision".
        pattern: a regular expression with exactly one capture group, which finds the decision.
        options: of a multiple choice, the text of each label's option; a reply may state the text instead of the label.

    Returns:
        The label as it is listed, or the problem.

    Raises:
        ValueError: the pattern is no regular expression, or has not exactly one capture group.
    """
    compiled = compiled_labels(tuple(labels), tuple((options or {}).items()))
    found = json_decision(text, key, lambda leaf, is_key: _json_value(compiled, leaf, is_key=is_key))
    if found is not None and found.rule == "json_key":
        return _json_result(found, labels)
    if pattern is not None and (decision := _by_pattern(text, pattern, compiled)):
        return decision
    if found is not None:
        return _json_result(found, labels)
    return read_in_prose(text, compiled)


@lru_cache(maxsize=64)
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Return an audit's pattern, which ignores case.

    Raises:
        ValueError: it is no regular expression, or has not exactly one capture group.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}.") from None
    if compiled.groups != 1:
        raise ValueError(
            f"{pattern!r} has {compiled.groups} capture groups; put what is to be read, and nothing else, in one pair of "
            f"parentheses, and write (?:…) for others."
        )
    return compiled


def pattern_matches(text: str, pattern: str) -> list[re.Match[str]]:
    """Return the matches of an audit's pattern in which its group takes part."""
    return [found for found in compiled_pattern(pattern).finditer(text) if found[1] is not None]


# -- JSON and the audit's pattern -------------------------------------------------------------------------------------


def _json_value(labels: Labels, leaf: Leaf, *, is_key: bool) -> str | None:
    """Return the label that a JSON value is, or states in a sentence under a key that holds the decision."""
    if leaf.text is None:
        return None
    label = labels.named(leaf.text)
    if label is not None:
        return label
    if leaf.is_boolean and is_key:
        words = decision_words().yes if leaf.text == "true" else decision_words().no
        meant = [one for one in labels.labels if one.casefold() in words]
        return meant[0] if len(meant) == 1 else None
    return _in_prose(Reply(leaf.text, labels.keep), labels).value if is_key else None


def _json_result(found: object, labels: Sequence[str]) -> Decision:
    rule, value, text, problem = found  # type: ignore[misc]
    if value is None:
        return Decision(
            problem=f"{problem[:-1]}, which is none of the labels {quoted(labels)}."
            if "differ" not in problem
            else problem
        )
    return Decision(value, is_certain=True, read_by=rule, read_text=text)


def _by_pattern(text: str, pattern: str, labels: Labels) -> Decision | None:
    matches = pattern_matches(text, pattern)
    if not matches:
        return None
    read = [(found, labels.named(found[1])) for found in matches]
    values = list(dict.fromkeys(label for _, label in read))
    if len(values) > 1:
        said = ", ".join(repr(found[1]) for found, _ in read[:4])
        return Decision(problem=f"The audit's pattern finds different decisions: {said}.")
    if values[0] is None:
        return Decision(
            problem=f"The audit's pattern finds {matches[0][1]!r}, which is none of the labels {quoted(labels.labels)}."
        )
    return Decision(values[0], is_certain=True, read_by="pattern", read_text=matches[0][0])


# -- Prose ------------------------------------------------------------------------------------------------------------


def read_in_prose(text: str, labels: Labels) -> Decision:
    """Read the label that a reply decides for, without its JSON and without the audit's pattern."""
    return _in_prose(Reply(text, labels.keep), labels)


def _in_prose(reply: Reply, labels: Labels) -> Decision:
    mentions = labels.mentions(reply)
    n_mentions = len(mentions)
    if n_mentions > _MOST_MENTIONS:
        mentions = first_and_last(mentions, _MOST_MENTIONS)
    has_other_form = labels.other_forms(reply.low)
    reply.masked = masked(reply.low, mentions)
    statements = [*_boxed(reply, labels), *_announced(reply, labels, mentions)]
    if not statements:
        if not any(mention.label is not None for mention in mentions):
            return Decision(problem=f"The answer names none of the labels {quoted(labels.labels)}.")
        statements = _other_statements(reply, mentions)
    if statements:
        return _stated(reply, labels, mentions, statements)
    for rule in (_alone, _opening):
        if decision := rule(reply, labels, mentions):
            return decision
    if n_mentions > _MOST_MENTIONS:
        return Decision(problem=f"The answer names labels {n_mentions} times and decides for none of them.")
    decision = _only_named(reply, labels, mentions)
    if decision.value is not None and has_other_form - {decision.value}:
        return Decision(problem=f"The answer names {decision.value!r}, and another label in another form.")
    return decision


def boxed_parts(reply: Reply) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield what stands in [[…]], \\boxed{…} or <answer>…</answer>.

    Yields:
        Start and end with the brackets, start and end of what is in them, and whether it stands in a tag.
    """
    if "[[" not in reply.low and "\\boxed" not in reply.low and "</" not in reply.low:
        return
    for match in _BOXED.finditer(reply.low):
        is_tag = match["tag"] is not None
        if not is_tag or match["tag"] in decision_words().tags:
            start, end = match.span("c" if is_tag else "a" if match["a"] is not None else "b")
            yield match.start(), match.end(), start, end, is_tag


def _boxed(reply: Reply, labels: Labels) -> list[Statement]:
    found: list[Statement] = []
    for start, end, inner, inner_end, is_tag in boxed_parts(reply):
        written = reply.text[inner:inner_end]
        label = labels.named(written)
        if label is None and is_tag:
            label = read_in_prose(written, labels).value
        found.append(Statement(Rank.FINAL, start, end, label))
    return found


def _announced(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> list[Statement]:
    """Return the labels that are announced: "Answer: B", "I choose option B"."""
    low = reply.low
    found: list[Statement] = []
    for mention in mentions:
        if mention.label is None or mention.tail == "bad" or mention.is_listed:
            continue
        if labels.is_bare(mention) and mention.tail == "word" and not is_followed_by_listing(low, mention):
            continue
        announcement = announced(
            low,
            mention.start,
            is_alone=stands_alone(low, mention),
            is_at_end=mention.tail == "end" and not clause_after(low, mention.end).strip(),
        )
        if announcement is None:
            continue
        label: str | None = mention.label
        if is_followed_by_listing(low, mention):
            # "Answer: A or answer: B"
            label = None
        elif not _is_affirmed(reply, labels, mentions, mention, announcement.start):
            continue
        found.append(Statement(announcement.rank, announcement.start, mention.end, label))
    return found


def _is_affirmed(
    reply: Reply, labels: Labels, mentions: Sequence[Mention], mention: Mention, start: int
) -> bool:
    """Whether what follows a label leaves the statement as it is: no negation, no question, no other label."""
    low = reply.masked
    if is_asked(low, mention) and mention.tail != "end":
        return False
    if _contradicting_text(low, mentions, mention):
        return False
    if negation(low[start : mention.start]) is not None:
        return False
    after = clause_after(low, mention.end)
    words = decision_words()
    if mention.tail == "reason":
        return words.reasons.starting(after.strip()) is None or not _is_condition(after)
    if mention.tail == "end":
        return not _is_condition(sentence_after(low, mention.end).lstrip(" ,"))
    if negation(after) or words.negations_after.within(after) or words.rejecting.within(after):
        return False
    if mention.tail == "verb":
        return words.preferring.within(after) is not None
    others = _within(mentions, mention, len(after))
    return all(one.label == mention.label or is_compared(low, one) for one in others)


def _within(mentions: Sequence[Mention], mention: Mention, reach: int) -> Iterator[Mention]:
    """Yield the mentions that follow one within so many characters."""
    for index in range(mention.index + 1, len(mentions)):
        if mentions[index].start >= mention.end + reach:
            return
        yield mentions[index]


def _is_condition(after: str) -> bool:
    """Whether what follows makes the statement depend on something: "B if the income is right"."""
    cut = decision_words().conditions.starting(without_harmless(after).lstrip())
    return cut is not None and not re.match(r"\w", without_harmless(after).lstrip()[cut : cut + 1])


def _contradicting_text(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Whether another option's text follows a letter: "A) London" where London is B."""
    for other in _within(mentions, mention, _NEAR):
        if other.is_text != mention.is_text and other.label != mention.label:
            return not re.search(r"\w|\n", low[mention.end : other.start])
    return False


def _other_statements(reply: Reply, mentions: Sequence[Mention]) -> list[Statement]:
    """Return announcements of something short that is no label: "Answer: a tie"."""
    found: list[Statement] = []
    at = 0
    for line in reply.masked.splitlines(keepends=True):
        colon = re.search(r"[:：]", line)
        if colon is not None:
            value = line[colon.end() :].strip()
            end = at + len(line.rstrip())
            start = at + colon.end()
            is_short = value and len(value.split()) <= _MOST_WORDS and not value.endswith((":", "?"))
            if is_short and not any(start <= one.start < end for one in mentions):
                announcement = announced(reply.masked, start, is_alone=False)
                if announcement is not None and announcement.rank > Rank.PREFERRED:
                    found.append(Statement(announcement.rank, announcement.start, end, None))
        at += len(line)
    return found


def _stated(
    reply: Reply, labels: Labels, mentions: Sequence[Mention], statements: list[Statement]
) -> Decision:
    """Return the decision of the statements that count most, unless they contradict each other."""
    rank = max(statement.rank for statement in statements)
    best = sorted((one for one in statements if one.rank == rank), key=lambda one: one.start)
    last = best[-1]
    contrary = next((one for one in reversed(best) if one.label != last.label), None)
    if contrary is not None and not _is_revised(reply.masked, contrary.end, last.start):
        said = ", ".join(dict.fromkeys(repr(reply.part(one.start, one.end)) for one in best[-_MOST_SHOWN:]))
        return Decision(problem=f"The answer states different decisions: {said}.")
    if last.label is None:
        return Decision(
            problem=f"The answer states {reply.part(last.start, last.end)!r}, which is none of the labels {quoted(labels.labels)}."
        )
    if problem := _later_doubt(reply, labels, mentions, last):
        return Decision(problem=problem)
    return Decision(last.label, is_certain=True, read_by="marker", read_text=reply.part(last.start, last.end))


def _is_revised(low: str, start: int, end: int) -> bool:
    """Whether a writer takes back, between two places, what was said before."""
    return decision_words().revising.within(low[start:end]) is not None


def _later_doubt(
    reply: Reply, labels: Labels, mentions: Sequence[Mention], statement: Statement
) -> str | None:
    """Return the problem if the reply takes the statement back, or ends with another label alone in its line."""
    later = [
        one
        for one in mentions
        if one.start >= statement.end and one.label is not None and one.label != statement.label
    ]
    if not later:
        return None
    if _is_revised(reply.masked, statement.end, len(reply.masked)):
        return f"The answer states {statement.label!r} and takes it back."
    last = later[-1]
    is_last_line = not re.search(r"\w", reply.masked[last.end :])
    if (
        is_last_line
        and stands_alone(reply.masked, last)
        and not last.is_listed
        and not is_compared(reply.masked, last)
    ):
        return f"The answer states {statement.label!r} and ends with {last.label!r}."
    return None


def _alone(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> Decision | None:
    """Return the label that is alone in the last line or sentence, or in the first line, unless they contradict each other."""
    first = _first_alone(reply, mentions)
    last = _last_alone(reply, mentions)
    if first is not None and last is not None and first.label != last.label:
        if _is_revised(reply.masked, first.end, last.start):
            first = None
        else:
            return Decision(problem=f"The answer begins with {first.label!r} and ends with {last.label!r}.")
    mention = last or first
    if mention is None:
        return None
    if problem := _contrary_sentence(reply, mentions, mention):
        return Decision(problem=problem)
    if any(one.start > mention.end and one.label != mention.label for one in mentions) and _is_revised(
        reply.masked, mention.end, len(reply.masked)
    ):
        return Decision(problem=f"The answer says {mention.label!r} and takes it back.")
    return Decision(
        mention.label,
        is_certain=True,
        read_by="last_line" if last is not None else "first_line",
        read_text=_line(reply, mention),
    )


def _contrary_sentence(reply: Reply, mentions: Sequence[Mention], mention: Mention) -> str | None:
    """Return the problem if another label is a sentence of its own: "Hire? No. Interview? Yes."."""
    for other in mentions:
        is_other = other.label != mention.label and _is_lone_sentence(reply.masked, other)
        start, end = sorted((other.start, mention.start))
        if is_other and not (other.start < mention.start and _is_revised(reply.masked, start, end)):
            return f"The answer says both {mention.label!r} and {other.label!r}."
    return None


def _line(reply: Reply, mention: Mention) -> str:
    start = reply.masked.rfind("\n", 0, mention.start) + 1
    end = reply.masked.find("\n", mention.end)
    return reply.part(start, end if end >= 0 else len(reply.masked))


def _last_alone(reply: Reply, mentions: Sequence[Mention]) -> Mention | None:
    """Return the mention that ends the reply and is alone in its line or its sentence, or follows a colon there."""
    low = reply.masked
    for mention in reversed(mentions):
        if re.search(r"[^\W_]", low[mention.end :]):
            # The text of an option may follow its letter.
            if _own_text_follows(low, mentions, mention):
                continue
            return None
        if not _can_be_alone(low, mention):
            return None
        if stands_alone(low, mention) or _follows_own_letter(low, mentions, mention):
            return None if _is_other_heading(low, mention) else mention
        before = low[: mention.start].rstrip(OPENERS)
        line = before[before.rfind("\n") + 1 :]
        if line.endswith((":", "：")):
            return mention if _may_introduce(line, mentions, mention) and "\n" in low.strip() else None
        if sentence_before(without_noun(before) + " ").strip(OPENERS + " "):
            return None
        return mention
    return None


def _is_lone_sentence(low: str, mention: Mention) -> bool:
    """Whether a mention is a sentence of its own: "… Option B."."""
    if mention.label is None or mention.tail != "end" or mention.is_listed or mention.is_echo:
        return False
    before = low[max(0, mention.start - 80) : mention.start]
    after = low[mention.end : mention.end + 8].lstrip("\"'”’»)]}_ ")
    is_ended = not after or after[0] in ".!\n。！"
    return is_ended and not sentence_before(without_noun(before.rstrip(OPENERS)) + " ").strip(OPENERS + "-•·#>")


def _first_alone(reply: Reply, mentions: Sequence[Mention]) -> Mention | None:
    """Return the mention that is alone in the first line, or follows a colon there."""
    low = reply.masked
    start = re.search(r"[^\W_]|[-<>!]", low)
    if start is None:
        return None
    end = low.find("\n", start.start())
    end = len(low) if end < 0 else end
    inside = [one for one in mentions if one.start < end]
    if not inside:
        return None
    mention = inside[-1]
    if re.search(r"[^\W_]", low[mention.end : end]) or not _can_be_alone(low, mention):
        return None
    if stands_alone(low, mention):
        return mention
    before = low[low.rfind("\n", 0, mention.start) + 1 : mention.start].rstrip(OPENERS)
    return mention if before.endswith((":", "：")) and _may_introduce(before, mentions, mention) else None


def _is_other_heading(low: str, mention: Mention) -> bool:
    """Whether the line before says that the next one is no decision: "Rejected candidate:"."""
    line = low[: low.rfind("\n", 0, mention.start) + 1].rstrip().rpartition("\n")[2]
    return (
        line.endswith((":", "：")) and decision_words().other_lines.within(line[-_MOST_PREFIX:]) is not None
    )


def _can_be_alone(low: str, mention: Mention) -> bool:
    return (
        mention.label is not None and mention.tail == "end" and not mention.is_listed and not mention.is_echo
    )


def _may_introduce(line: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Whether what a line says before a colon may introduce a decision: "Seniority level:", but not "Confidence:"."""
    words = decision_words()
    line = line.rstrip(":： ").rpartition("\n")[2]
    if len(line) > 100 or words.other_lines.within(line) or negation(line) or is_doubted(line + " "):
        return False
    others = [
        one for one in mentions if one.label is not None and one.label != mention.label and not one.is_listed
    ]
    return not others or not any(one.tail == "end" for one in others)


def _own_text_follows(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    following = _within(mentions, mention, _NEAR)
    return any(one.is_text != mention.is_text and one.label == mention.label for one in following)


def _follows_own_letter(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Whether a line holds a letter and its option's text: "B) London"."""
    if mention.index == 0:
        return False
    letter = mentions[mention.index - 1]
    is_own = letter.is_text != mention.is_text and letter.label == mention.label and not letter.is_echo
    if (
        not is_own
        or not 0 <= mention.start - letter.end <= _NEAR
        or re.search(r"\w", low[letter.end : mention.start])
    ):
        return False
    before = low[low.rfind("\n", 0, letter.start) + 1 : letter.start]
    return not re.search(r"\w", without_noun(before.rstrip(OPENERS)))


def _opening(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> Decision | None:
    """Return the label that opens the reply: "B, due to stronger results.", "Yes, because …", "B is a better fit."."""
    low = reply.masked
    mention = mentions[0] if mentions else None
    if (
        mention is None
        or mention.label is None
        or mention.is_listed
        or mention.is_echo
        or mention.tail in ("bad", "word", "glued")
    ):
        return None
    before = low[: mention.start]
    if re.search(r"\w", without_noun(before.rstrip(OPENERS))) or mention.start > _OPENING_CHARACTERS:
        return None
    if is_negated(low, mention) and mention.tail != "end":
        return None
    if is_asked(low, mention) or _contradicting_text(low, mentions, mention):
        return None
    if mention.tail == "verb":
        return _preferred(reply, labels, mentions, "opening")
    if not _opens_with_decision(reply, mentions, mention) or _is_numbered(reply, mention):
        return None
    if problem := _contrary_sentence(reply, mentions, mention):
        return Decision(problem=problem)
    for other in mentions:
        if other.label != mention.label and other.tail == "verb":
            if decision_words().preferring.within(claim_after(low, other.end)) and not is_negated(low, other):
                return None
    return Decision(
        mention.label,
        is_certain=True,
        read_by="opening",
        read_text=reply.part(mention.start, mention.end + len(clause_after(low, mention.end))),
    )


def _is_numbered(reply: Reply, mention: Mention) -> bool:
    """Whether a number that opens a reply numbers the first line of several."""
    number = reply.text[mention.start : mention.end]
    low = reply.low
    if not number.isdecimal() or low[mention.end : mention.end + 1] not in (".", ")"):
        return False
    # "1. 2" may be 2, numbered.
    if re.match(r"\W*\d{1,4}\W*(?:\n|\Z)", low[mention.end : mention.end + 12]):
        return True
    return re.search(rf"\n\W{{0,4}}{int(number) + 1}[.)]", low) is not None


def _opens_with_decision(reply: Reply, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Whether what follows the label that opens a reply leaves the decision as it is."""
    low = reply.masked
    words = decision_words()
    after = sentence_after(low, mention.end)
    said = after.lstrip(" ,;:.)-–—(\"'”’]}：，。")
    if _is_condition(said) or _is_revised(low, mention.end, len(low)):
        return False
    # "B: no" says no of B.
    if low[mention.end : mention.end + 3].strip("*)\"'")[:1] in (":", "：") and _says_no(reply, mention):
        return False
    others = [
        one
        for one in _within(mentions, mention, len(after))
        if one.label != mention.label and one.label is not None
    ]
    if not others or all(is_compared(low, one) for one in others):
        return True
    # What comes after "because" is a reason and no second decision.
    return words.reasons.starting(said) is not None and not words.undecided.within(after)


def _says_no(reply: Reply, mention: Mention) -> bool:
    after = sentence_after(fold(reply.text), mention.end).lstrip(" :：*)\"'")
    words = decision_words()
    first = re.match(r"[^\W\d_]+", after)
    return first is not None and (first[0] in words.no or bool(words.negations.is_word(first[0])))


def _preferred(reply: Reply, labels: Labels, mentions: Sequence[Mention], rule: str) -> Decision | None:
    """Return the one label of which a reply says that it is better, provided that it says so of no other."""
    low = reply.masked
    words = decision_words()
    preferred: list[Mention] = []
    for mention in mentions:
        if mention.label is None or mention.tail != "verb" or mention.is_listed or mention.is_echo:
            continue
        after = claim_after(low, mention.end)
        if not words.preferring.within(after) or is_asked(low, mention):
            continue
        if negation(after) or words.rejecting.within(after) or is_negated(low, mention):
            return None
        if words.conditions.within(sentence_before(low[: mention.start])) or words.doubting.within(
            clause_before(low[: mention.start]) + " " + after
        ):
            return None
        if is_compared(low, mention):
            continue
        preferred.append(mention)
    if len({mention.label for mention in preferred}) != 1 or words.undecided.within(low):
        return None
    best = preferred[0]
    for other in mentions:
        if other.label == best.label or other.label is None or is_compared(low, other):
            continue
        # Another label of the same sentence, or one that a sentence begins with, may be what the reply prefers in the end.
        if other.tail != "bad" and not _is_in_reason(low, other):
            return None
    if rule == "only_label" and not has_noun(low, best.start) and labels.is_bare(best):
        return None
    return Decision(
        best.label,
        is_certain=rule == "opening",
        read_by=rule,
        read_text=reply.part(best.start, best.end + len(clause_after(low, best.end))),
    )


def _is_in_reason(low: str, mention: Mention) -> bool:
    """Whether a mention stands in a clause that begins with a word like "because"."""
    clause = clause_before(low[max(0, mention.start - 120) : mention.start])
    return decision_words().because.within(clause) is not None


def _only_named(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> Decision:
    """Return the only label that a reply names, or the problem."""
    low = reply.masked
    counted: list[Mention] = []
    before: list[Mention] = []
    for mention in mentions:
        if mention.is_echo:
            continue
        if mention.label is not None and not is_compared(low, mention):
            counted.append(mention)
        elif mention.label is not None and not counted:
            # What a label is compared with follows it: "mid, well above junior".
            before.append(mention)
    named = list(dict.fromkeys(one.label for one in mentions if one.label is not None))
    if not counted:
        negated = next((found for one in before if (found := _negation_problem(reply, one))), None)
        return Decision(problem=negated) if negated else _not_decided(labels, named)
    if any(labels.is_bare(one) for one in counted):
        if decision := _preferred(reply, labels, mentions, "only_label"):
            return decision
        return _not_decided(labels, named)
    distinct = list(dict.fromkeys(one.label for one in (*before, *counted)))
    if len(distinct) > 1 or any(one.label is None or one.is_listed and not one.is_echo for one in mentions):
        return _not_decided(labels, named)
    label = distinct[0]
    for mention in counted:
        if problem := _negation_problem(reply, mention):
            return Decision(problem=problem)
        if problem := _only_problem(reply, mention):
            return Decision(problem=problem)
        if _contradicting_text(low, mentions, mention):
            return Decision(problem=f"The answer names {mention.label!r} with the text of another option.")
    first = counted[0]
    sentence = low[: first.start]
    start = len(sentence) - len(sentence_before(sentence))
    return Decision(
        label,
        read_by="only_label",
        read_text=reply.part(start, first.end + len(sentence_after(low, first.end))),
    )


def _negation_problem(reply: Reply, mention: Mention) -> str | None:
    found = is_negated(reply.masked, mention)
    if found is None:
        return None
    place = "before" if found[0] < mention.start else "after"
    return f"The answer says {reply.part(*found)!r} {place} {mention.label!r}."


def _only_problem(reply: Reply, mention: Mention) -> str | None:
    """Return why a sentence that names a label may not decide for it."""
    low = reply.masked
    words = decision_words()
    before = without_harmless(sentence_before(low[max(0, mention.start - 300) : mention.start]))
    after = sentence_after(low, mention.end)
    if mention.tail == "word" and not _is_decided(low, mention):
        return f"The answer names {mention.label!r} as a part of another expression."
    if mention.tail == "bad" or is_asked(low, mention):
        return f"The answer names {mention.label!r} only in a question or a part of another expression."
    if (
        mention.tail == "glued"
        and words.unspaced_endings.starting(low[mention.end : mention.end + 6]) is None
    ):
        return f"The answer names {mention.label!r} as a part of another word."
    line = low[low.rfind("\n", 0, mention.start) + 1 : mention.start]
    if words.other_lines.within(line.rpartition(":")[0][-_MOST_PREFIX:]):
        return f"The answer names {mention.label!r} only after {line.strip()!r}."
    clause = f"{clause_before(before)} {clause_after(low, mention.end)}"
    for phrases in (words.conditions, words.doubting, words.rejecting):
        found = phrases.within(before if phrases is words.conditions else clause)
        if found is not None:
            said = (before if phrases is words.conditions else clause)[found[0] : found[1]]
            return f"The answer names {mention.label!r} only in a sentence with {said!r}."
    if _is_condition(after):
        return f"The answer names {mention.label!r} only under a condition."
    return None


def _is_decided(low: str, mention: Mention) -> bool:
    """Whether a label that another word follows may be a decision: "a senior profile", "I would accept the loan"."""
    words = decision_words()
    rest = low[mention.end : mention.end + 40].lstrip(" -_")
    cut = words.label_nouns.starting(rest)
    if cut is not None and not rest[cut : cut + 1].isalnum():
        return True
    lead = low[max(0, mention.start - 40) : mention.start].rstrip(OPENERS)
    return words.deciding.ending(lead) is not None


def _not_decided(labels: Labels, named: Sequence[str | None]) -> Decision:
    listed = [label for label in named if label is not None]
    if not listed:
        return Decision(problem=f"The answer names none of the labels {quoted(labels.labels)}.")
    if len(listed) == 1:
        return Decision(problem=f"The answer names {listed[0]!r} and does not decide for it.")
    return Decision(problem=f"The answer names {len(listed)} labels: {', '.join(listed)}.")
