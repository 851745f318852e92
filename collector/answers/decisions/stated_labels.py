"""Labels that a reply states explicitly: "Final answer: B", "I choose option B", "[[B]]"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from collector.answers.decisions.decision import Decision
from collector.answers.decisions.mentions import (
    Labels,
    Mention,
    has_contradicting_text,
    is_alone,
    is_asked,
    is_compared,
    is_followed_by_listing,
    mentions_within,
)
from collector.answers.texts.announcements import (
    Rank,
    announced,
    clause_after,
    is_condition,
    is_corrected,
    is_revised,
    negation,
    sentence_after,
)
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import Reply
from collector.hints import quoted

_BOXED = re.compile(
    r"\[\[(?P<a>[^\[\]\n]{1,60})\]\]"
    r"|\\boxed\s?\{\s?(?:\\(?:text|textbf|mathrm|mathbf|textit)\s?\{)?(?P<b>[^{}\n]{1,60})\}"
    r"|<(?P<tag>[^<>/\s]{2,20})>(?P<c>.{1,200}?)</(?P=tag)>",
    re.DOTALL,
)
_MOST_WORDS = 4
_MOST_SHOWN = 4
_NEXT = 6


class Statement(NamedTuple):
    """A decision that a reply states explicitly; label is None where what is stated is no label."""

    rank: Rank
    start: int
    end: int
    label: str | None


def boxed_parts(reply: Reply) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield what is in [[…]], \\boxed{…} or <answer>…</answer>.

    Yields:
        Start and end with the brackets, start and end of the text in them, and whether it is in a tag.
    """
    if "[[" not in reply.low and "\\boxed" not in reply.low and "</" not in reply.low:
        return
    for match in _BOXED.finditer(reply.low):
        is_tag = match["tag"] is not None
        if not is_tag or match["tag"] in decision_words().tags:
            start, end = match.span("c" if is_tag else "a" if match["a"] is not None else "b")
            yield match.start(), match.end(), start, end, is_tag


def stated_label(
    reply: Reply, labels: Labels, mentions: Sequence[Mention], read: Callable[[str, Labels], Decision]
) -> Decision | None:
    """Return the decision that a reply states explicitly, or its problem; None if it states none.

    Args:
        reply: the reply.
        labels: the labels.
        mentions: where the reply names them.
        read: reads the sentence that a tag such as <answer> holds.
    """
    statements = [*_boxed(reply, labels, read), *_announced(reply, labels, mentions)]
    if not statements and any(mention.label is not None for mention in mentions):
        statements = _other_statements(reply, mentions)
    return _decided(reply, labels, mentions, statements) if statements else None


def _boxed(reply: Reply, labels: Labels, read: Callable[[str, Labels], Decision]) -> list[Statement]:
    found: list[Statement] = []
    for start, end, inner, inner_end, is_tag in boxed_parts(reply):
        written = reply.text[inner:inner_end]
        label = labels.named(written)
        if label is None and is_tag:
            label = read(written, labels).value
        found.append(Statement(Rank.FINAL, start, end, label))
    return found


def _announced(reply: Reply, labels: Labels, mentions: Sequence[Mention]) -> list[Statement]:
    """Return the labels that are announced: "Answer: B", "I choose option B"."""
    low = reply.low
    found: list[Statement] = []
    for mention in mentions:
        if mention.label is None or mention.tail == "bad" or mention.denial or mention.is_listed:
            continue
        if labels.is_bare(mention) and mention.tail == "word" and not is_followed_by_listing(low, mention):
            continue
        announcement = announced(
            low,
            mention.start,
            is_alone=is_alone(low, mention),
            is_at_end=mention.tail == "end" and not clause_after(low, mention.end).strip(),
        )
        if announcement is None or _is_topic(low, mentions, mention):
            continue
        label: str | None = mention.label
        if is_followed_by_listing(low, mention):
            label = None  # as in "Answer: A or answer: B"
        elif not _is_affirmed(reply, mentions, mention, announcement.start):
            continue
        found.append(Statement(announcement.rank, announcement.start, mention.end, label))
    return found


def _is_topic(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether a label is what the decision is about: "Decision on hire: reject"."""
    if low[mention.end : mention.end + 1] not in (":", "：", "="):
        return False
    return any(other.label != mention.label for other in mentions_within(mentions, mention, _NEXT))


def _is_affirmed(reply: Reply, mentions: Sequence[Mention], mention: Mention, start: int) -> bool:
    """Return whether what follows a label leaves the statement as it is: no negation, no question, no other label."""
    low = reply.masked
    if is_asked(low, mention) and mention.tail != "end":
        return False
    if has_contradicting_text(low, mentions, mention):
        return False
    if negation(low[start : mention.start]) is not None:
        return False
    after = clause_after(low, mention.end)
    words = decision_words()
    if mention.tail == "reason":
        return words.reasons.starting(after.strip()) is None or not is_condition(after)
    if mention.tail == "end":
        return not is_condition(sentence_after(low, mention.end).lstrip(" ,"))
    if negation(after) or words.negations_after.within(after) or words.rejecting.within(after):
        return False
    if mention.tail == "verb":
        return words.preferring.within(after) is not None
    others = mentions_within(mentions, mention, len(after))
    return all(one.label == mention.label or is_compared(low, one) for one in others)


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


def _decided(
    reply: Reply, labels: Labels, mentions: Sequence[Mention], statements: list[Statement]
) -> Decision:
    """Return the decision of the statements that count most, unless they contradict each other."""
    rank = max(statement.rank for statement in statements)
    best = sorted((one for one in statements if one.rank == rank), key=lambda one: one.start)
    last = best[-1]
    contrary = next((one for one in reversed(best) if one.label != last.label), None)
    if contrary is not None and not is_revised(reply.masked, contrary.end, last.start):
        said = ", ".join(dict.fromkeys(repr(reply.part(one.start, one.end)) for one in best[-_MOST_SHOWN:]))
        return Decision(problem=f"The answer states different decisions: {said}.")
    if last.label is None:
        stated = reply.part(last.start, last.end)
        return Decision(
            problem=f"The answer states {stated!r}, which is none of the labels {quoted(labels.labels)}."
        )
    if problem := _later_doubt(reply, mentions, last):
        return Decision(problem=problem)
    return Decision(last.label, is_certain=True, read_by="marker", read_text=reply.part(last.start, last.end))


def _later_doubt(reply: Reply, mentions: Sequence[Mention], statement: Statement) -> str | None:
    """Return the problem if the reply takes the statement back, or ends with another label alone in its line."""
    if is_corrected(reply.masked, statement.end):
        return f"The answer states {statement.label!r} and says that it is wrong."
    later = [
        one
        for one in mentions
        if one.start >= statement.end and one.label is not None and one.label != statement.label
    ]
    if not later:
        return None
    if is_revised(reply.masked, statement.end, len(reply.masked)):
        return f"The answer states {statement.label!r} and takes it back."
    last = later[-1]
    is_last_line = not re.search(r"\w", reply.masked[last.end :])
    if (
        is_last_line
        and is_alone(reply.masked, last)
        and not last.is_listed
        and not is_compared(reply.masked, last)
    ):
        return f"The answer states {statement.label!r} and ends with {last.label!r}."
    return None
