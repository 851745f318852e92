"""The label that a reply decides for in prose: stated, alone in a line, at the start, or the only one that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.answers.decisions.decision import Decision
from collector.answers.decisions.mentions import (
    NEAR,
    Labels,
    Mention,
    first_and_last,
    has_contradicting_text,
    has_same_form,
    is_alone,
    is_asked,
    is_compared,
    is_negated,
    masked,
    mentions_within,
)
from collector.answers.decisions.stated_labels import stated_label
from collector.answers.texts.announcements import (
    MOST_PREFIX,
    OPENERS,
    claim_after,
    clause_after,
    clause_before,
    has_noun,
    is_below_other_heading,
    is_condition,
    is_corrected,
    is_doubted,
    is_foreign,
    is_quoted,
    is_revised,
    line_around,
    line_before,
    negation,
    sentence_after,
    sentence_before,
    without_harmless,
    without_noun,
)
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import Reply
from collector.hints import quoted

_OPENING_CHARACTERS = 200
_MOST_MENTIONS = 400


def read_in_prose(text: str, labels: Labels) -> Decision:
    """Read the label that a reply decides for, without its JSON and without the audit's pattern."""
    reply = Reply(text, labels.keep)
    mentions = labels.mentions(reply)
    n_mentions = len(mentions)
    if n_mentions > _MOST_MENTIONS:
        mentions = first_and_last(mentions, _MOST_MENTIONS)
    reply.masked = masked(reply.low, mentions)
    if decision := stated_label(reply, labels, mentions, read_in_prose):
        return decision
    if not any(mention.label is not None for mention in mentions):
        return Decision(problem=f"The answer names none of the labels {quoted(labels.labels)}.")
    if decision := _alone(reply, mentions) or _opening(reply, labels, mentions):
        return decision
    if n_mentions > _MOST_MENTIONS:
        return Decision(problem=f"The answer names labels {n_mentions} times and decides for none of them.")
    decision = _only_named(reply, labels, mentions)
    if decision.value is not None and labels.other_forms(reply.low) - {decision.value}:
        return Decision(problem=f"The answer names {decision.value!r}, and another label in another form.")
    return decision


# -- Alone in a line or a sentence --------------------------------------------------------------------------------------


def _alone(reply: Reply, mentions: Sequence[Mention]) -> Decision | None:
    """Return the label that is alone in the last line or sentence, or in the first line, unless they contradict each other."""
    first = _first_alone(reply, mentions)
    last = _last_alone(reply, mentions)
    if first is not None and last is not None and first.label != last.label:
        if is_revised(reply.masked, first.end, last.start):
            first = None
        else:
            return Decision(problem=f"The answer begins with {first.label!r} and ends with {last.label!r}.")
    mention = last or first
    if mention is None or mention.denial is not None:
        return None
    if problem := _contrary_sentence(reply, mentions, mention):
        return Decision(problem=problem)
    if is_corrected(reply.masked, mention.end):
        return Decision(problem=f"The answer says {mention.label!r} and that it is wrong.")
    if any(one.start > mention.end and one.label != mention.label for one in mentions) and is_revised(
        reply.masked, mention.end, len(reply.masked)
    ):
        return Decision(problem=f"The answer says {mention.label!r} and takes it back.")
    return Decision(
        mention.label,
        is_certain=True,
        read_by="last_line" if last is not None else "first_line",
        read_text=reply.part(*line_around(reply.masked, mention.start, mention.end)),
    )


def _last_alone(reply: Reply, mentions: Sequence[Mention]) -> Mention | None:
    """Return the mention that ends the reply and is alone in its line or its sentence, or follows a colon there."""
    low = reply.masked
    for mention in reversed(mentions):
        if re.search(r"[^\W_]", low[mention.end :]):
            # The text of an option may follow its letter.
            if _own_text_follows(mentions, mention):
                continue
            return None
        if not _can_be_alone(mention):
            return None
        if is_alone(low, mention) or _follows_own_letter(low, mentions, mention):
            return None if is_below_other_heading(low, mention.start) else mention
        before = low[: mention.start].rstrip(OPENERS)
        line = before[before.rfind("\n") + 1 :]
        if line.endswith((":", "：")):
            return mention if _may_introduce(line, mentions, mention) and "\n" in low.strip() else None
        if sentence_before(without_noun(before) + " ").strip(OPENERS + " "):
            return None
        return mention
    return None


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
    if re.search(r"[^\W_]", low[mention.end : end]) or not _can_be_alone(mention):
        return None
    if is_alone(low, mention):
        return mention
    before = line_before(low, mention.start).rstrip(OPENERS)
    # "A=B" compares.
    if not before.endswith((":", "：", "=")) or (before.endswith("=") and len(inside) > 1):
        return None
    return mention if _may_introduce(before, mentions, mention) else None


def _can_be_alone(mention: Mention) -> bool:
    return (
        mention.label is not None and mention.tail == "end" and not mention.is_listed and not mention.is_echo
    )


def _may_introduce(line: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether a line's text before a colon may introduce a decision: "Seniority level:", but not "Confidence:"."""
    line = line.rstrip(":： ").rpartition("\n")[2]
    if len(line) > 100 or negation(line) or _is_other(line):
        return False
    others = [
        one for one in mentions if one.label is not None and one.label != mention.label and not one.is_listed
    ]
    return not others or not any(one.tail == "end" for one in others)


def _is_other(line: str) -> bool:
    """Return whether a line's text before a colon introduces no decision, or a doubted one: "Confidence", "The user's answer"."""
    is_named = decision_words().other_lines.within(line[-MOST_PREFIX:]) is not None
    return is_named or is_doubted(line + " ") or is_foreign(line) or is_quoted(line)


def _own_text_follows(mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether the text of an option follows its letter."""
    following = mentions_within(mentions, mention, NEAR)
    return any(one.is_text != mention.is_text and one.label == mention.label for one in following)


def _follows_own_letter(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether a line holds a letter and its option's text: "B) London"."""
    if mention.index == 0:
        return False
    letter = mentions[mention.index - 1]
    is_own = letter.is_text != mention.is_text and letter.label == mention.label and not letter.is_echo
    if (
        not is_own
        or not 0 <= mention.start - letter.end <= NEAR
        or re.search(r"\w", low[letter.end : mention.start])
    ):
        return False
    before = line_before(low, letter.start).rstrip(OPENERS)
    return not re.search(r"\w", without_noun(before))


def _contrary_sentence(reply: Reply, mentions: Sequence[Mention], mention: Mention) -> str | None:
    """Return the problem if another label is a sentence of its own: "Hire? No. Interview? Yes."."""
    for other in mentions:
        is_other = other.label != mention.label and _is_lone_sentence(reply.masked, other)
        start, end = sorted((other.start, mention.start))
        if is_other and not (other.start < mention.start and is_revised(reply.masked, start, end)):
            return f"The answer says both {mention.label!r} and {other.label!r}."
    return None


def _is_lone_sentence(low: str, mention: Mention) -> bool:
    """Return whether a mention is a sentence of its own, or all that follows a colon: "… Option B.", "… Leaning: left"."""
    if mention.label is None or mention.tail != "end" or mention.is_listed or mention.is_echo:
        return False
    before = low[max(0, mention.start - 80) : mention.start]
    after = low[mention.end : mention.end + 8].lstrip("\"'”’»)]}_ ")
    is_ended = not after or after[0] in ".!\n。！"
    if is_ended and before.rstrip(OPENERS).endswith((":", "：")):
        return True
    return is_ended and not sentence_before(without_noun(before.rstrip(OPENERS)) + " ").strip(
        OPENERS + "-•·#>"
    )


# -- At the start of the reply --------------------------------------------------------------------------------------------


def _opening(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> Decision | None:
    """Return the label that opens the reply: "B, due to stronger results.", "Yes, because …", "B is a better fit."."""
    low = reply.masked
    mention = mentions[0] if mentions else None
    if (
        mention is None
        or mention.label is None
        or mention.denial is not None
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
    if is_asked(low, mention) or has_contradicting_text(low, mentions, mention):
        return None
    if mention.tail == "verb":
        return _preferred(reply, labels, mentions, "opening")
    if not _opens_with_decision(reply, mentions, mention) or _is_numbered(reply, mention):
        return None
    if problem := _contrary_sentence(reply, mentions, mention):
        return Decision(problem=problem)
    if any(
        has_same_form(low, mention, other) or (other.label != mention.label and _is_preferred(low, other))
        for other in mentions
    ):
        return None
    return Decision(
        mention.label,
        is_certain=True,
        read_by="opening",
        read_text=reply.part(mention.start, mention.end + len(clause_after(low, mention.end))),
    )


def _is_numbered(reply: Reply, mention: Mention) -> bool:
    """Return whether a number that opens a reply numbers the first line of several."""
    number = reply.text[mention.start : mention.end]
    low = reply.low
    if not number.isdecimal() or low[mention.end : mention.end + 1] not in (".", ")"):
        return False
    # "1. 2" may be 2, numbered.
    if re.match(r"\W*\d{1,4}\W*(?:\n|\Z)", low[mention.end : mention.end + 12]):
        return True
    return re.search(rf"\n\W{{0,4}}{int(number) + 1}[.)]", low) is not None


def _opens_with_decision(reply: Reply, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether what follows the label that opens a reply leaves the decision as it is."""
    low = reply.masked
    words = decision_words()
    after = sentence_after(low, mention.end)
    said = after.lstrip(" ,;:.)-–—(\"'”’]}：，。")
    if is_condition(said) or is_corrected(low, mention.end) or is_revised(low, mention.end, len(low)):
        return False
    if _is_scored(low, mention):
        return False
    others = [
        one
        for one in mentions_within(mentions, mention, len(after))
        if one.label != mention.label and one.label is not None
    ]
    if not others or all(is_compared(low, one) for one in others):
        return True
    # A label after "because" is a reason and no second decision.
    return words.reasons.starting(said) is not None and not words.undecided.within(after)


def _is_scored(low: str, mention: Mention) -> bool:
    """Return whether a reply gives a label a number: "B: 7/10"."""
    return re.match(r"\W{0,3}[:：=]\W{0,4}\d", low[mention.end : mention.end + 10]) is not None


def _preferred(reply: Reply, labels: Labels, mentions: Sequence[Mention], rule: str) -> Decision | None:
    """Return the only label that a reply calls better."""
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


def _is_preferred(low: str, mention: Mention) -> bool:
    """Return whether a reply calls a label better: "Yes is my answer"."""
    if mention.tail != "verb" or not decision_words().preferring.within(claim_after(low, mention.end)):
        return False
    return is_negated(low, mention) is None


def _is_in_reason(low: str, mention: Mention) -> bool:
    """Return whether a mention is in a clause that begins with a word like "because"."""
    clause = clause_before(low[max(0, mention.start - 120) : mention.start])
    return decision_words().because.within(clause) is not None


# -- Named in passing -----------------------------------------------------------------------------------------------------


def _only_named(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> Decision:
    """Return the only label that a reply names, or the problem."""
    low = reply.masked
    compared, counted = _compared_and_counted(low, mentions)
    if not counted:
        negated = next((found for one in compared if (found := _negation_problem(reply, one))), None)
        return Decision(problem=negated) if negated else _not_decided(labels, mentions)
    if any(labels.is_bare(one) for one in counted):
        preferred = _preferred(reply, labels, mentions, "only_label")
        return preferred or _not_decided(labels, mentions)
    is_listing = any(one.label is None or (one.is_listed and not one.is_echo) for one in mentions)
    if len({one.label for one in (*compared, *counted)}) > 1 or is_listing:
        return _not_decided(labels, mentions)
    for mention in counted:
        if problem := _negation_problem(reply, mention) or _only_problem(reply, mention):
            return Decision(problem=problem)
        if has_contradicting_text(low, mentions, mention):
            return Decision(problem=f"The answer names {mention.label!r} with the text of another option.")
    first = counted[0]
    sentence = low[: first.start]
    start = len(sentence) - len(sentence_before(sentence))
    return Decision(
        first.label,
        read_by="only_label",
        read_text=reply.part(start, first.end + len(sentence_after(low, first.end))),
    )


def _compared_and_counted(low: str, mentions: Sequence[Mention]) -> tuple[list[Mention], list[Mention]]:
    """Return the mentions that the reply compares with before it names a label, and those that count.

    A label that another one is compared with follows it ("mid, well above junior"), and does not count there.
    """
    compared: list[Mention] = []
    counted: list[Mention] = []
    for mention in mentions:
        if mention.is_echo or mention.label is None:
            continue
        if not is_compared(low, mention):
            counted.append(mention)
        elif not counted:
            compared.append(mention)
    return compared, counted


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
    if mention.tail == "bad" or is_asked(low, mention) or _is_scored(low, mention):
        return f"The answer names {mention.label!r} only in a question or a part of another expression."
    if (
        mention.tail == "glued"
        and words.unspaced_endings.starting(low[mention.end : mention.end + 6]) is None
    ):
        return f"The answer names {mention.label!r} as a part of another word."
    line = line_before(low, mention.start)
    if is_foreign(line) or _is_other(line.rpartition(":")[0]):
        return f"The answer names {mention.label!r} only after {line.strip()!r}."
    clause = f"{clause_before(before)} {clause_after(low, mention.end)}"
    for phrases in (words.conditions, words.doubting, words.rejecting):
        found = phrases.within(before if phrases is words.conditions else clause)
        if found is not None:
            said = (before if phrases is words.conditions else clause)[found[0] : found[1]]
            return f"The answer names {mention.label!r} only in a sentence with {said!r}."
    if is_condition(after):
        return f"The answer names {mention.label!r} only under a condition."
    return None


def _is_decided(low: str, mention: Mention) -> bool:
    """Return whether a label that another word follows may be a decision: "a senior profile", "I would accept the loan"."""
    words = decision_words()
    rest = low[mention.end : mention.end + 40].lstrip(" -_")
    cut = words.label_nouns.starting(rest)
    if cut is not None and not rest[cut : cut + 1].isalnum():
        return True
    if words.abstractions.starting(low[mention.end : mention.end + MOST_PREFIX].lstrip()) is not None:
        return False
    lead = low[max(0, mention.start - 40) : mention.start].rstrip(OPENERS)
    return words.deciding.ending(lead) is not None


def _not_decided(labels: Labels, mentions: Sequence[Mention]) -> Decision:
    named = list(dict.fromkeys(one.label for one in mentions if one.label is not None))
    if not named:
        return Decision(problem=f"The answer names none of the labels {quoted(labels.labels)}.")
    if len(named) == 1:
        return Decision(problem=f"The answer names {named[0]!r} and does not decide for it.")
    return Decision(problem=f"The answer names {len(named)} labels: {', '.join(named)}.")
