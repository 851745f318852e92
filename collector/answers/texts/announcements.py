"""Announcements of a decision in prose: "Final answer: B", "The answer is (B)", "So I choose option B"."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from collector.answers.texts.decision_words import decision_words

# Quotes, brackets and spaces that may precede a decision.
OPENERS = " \t\"'“”„‚«»‹›「」『』【】〔〕《》〈〉([{_|$"
_REACH = 300
# So much of a line may say what follows it.
MOST_PREFIX = 100
_CORRECTION = 100
_SENTENCE_SIGNS = " \t\n.!,;:()]}*-–—…\"'”’"
_CLOSED = re.compile(r"\s*[(\[（【][^()\[\]（）【】\n]{0,60}[)\]）】]\s*\Z")
SENTENCE_END = re.compile(r"[.!?](?=[\s\"'”)])|[\n。！？;；…]")
# A comma before a word like "that" ends no clause: "Ich glaube nicht, dass …".
_THAT = "dass|daß|что|що|że|że|hogy|että|ότι"
CLAUSE_END = re.compile(rf"[.!?](?=\s|\Z)|[\n。！？;；…，、:：—–()（）]|,(?! (?:{_THAT})\b)")
_NEGATED_VERB = re.compile(r"\b[a-z]+n't\b")
_COLONS = ":=→➔⇒➡➜⟶►▶"
_DASHES = ("-", "–", "—")
# A box with a tick that begins its line.
_TICKED = re.compile(r"(?:\A|\n)[ \t>*•·-]*((?:[\[(][xv✓✔][\])]|[☑🗹]))\Z")
# A quotation that is not closed and that words introduce.
_QUOTED = re.compile(r"[^\s:：>*-](?:\s[\"'‘]|\s?[“„«「『])(?=\w)[^\"'”’“»」』\n]*\Z")


class Rank(IntEnum):
    """The priority of an announcement: a later rank wins."""

    PREFERRED = 1
    MARKED = 2
    FINAL = 3


class Announcement(NamedTuple):
    """An announcement that ends where a decision starts."""

    rank: Rank
    start: int


def announced(
    low: str, start: int, *, is_alone: bool, is_at_end: bool = False, is_number: bool = False
) -> Announcement | None:
    """Say what announces the decision that starts at a place of a reply.

    Args:
        low: the reply in lower case (plain.Reply.low).
        start: where the decision starts.
        is_alone: whether it has a line of its own, so that the line before may announce it.
        is_at_end: whether it ends its sentence, so that "therefore" alone may announce it.
        is_number: whether it is a number, which "a score of" announces too.

    Returns:
        The announcement; None if there is none, or if it depends on a condition, is negated or is not the writer's own.
    """
    begin = max(0, start - _REACH)
    lead = low[begin:start].rstrip(OPENERS)
    is_heading = lead.endswith("\n")
    if is_heading:
        if not is_alone:
            return None
        lead = lead.rstrip(OPENERS + "\r\n")
    found = _announcement(lead, is_heading=is_heading, is_at_end=is_at_end) if lead else None
    if found is None and not is_heading:
        lead = _without_fillers(without_noun(lead))
        found = _announcement(lead, is_heading=False, is_at_end=is_at_end) if lead else None
    if found is None and is_number:
        found = _before_number(lead)
    if found is None or is_doubted(lead[: found.start]) or is_quoted(lead):
        return None
    if not is_number and is_foreign(lead):
        return None
    rank = found.rank
    if rank is Rank.MARKED and _concludes(lead[: found.start]):
        rank = Rank.FINAL
    return Announcement(rank, begin + found.start)


def without_noun(lead: str) -> str:
    """Return the text before a noun that names a label ("candidate", "the option"), or the text as it is."""
    words = decision_words()
    bare = lead.rstrip("# ") if lead.endswith("#") else lead
    cut = words.nouns.ending(bare)
    if cut is None:
        return lead
    before = bare[:cut].rstrip(OPENERS)
    article = words.articles.ending(before)
    return before if article is None else before[:article].rstrip(OPENERS)


def has_noun(low: str, start: int) -> bool:
    """Return whether a noun that names labels is right before a place."""
    lead = low[max(0, start - 60) : start].rstrip(OPENERS + "#")
    return not lead.endswith("\n") and decision_words().nouns.ending(lead) is not None


def line_before(low: str, start: int) -> str:
    """Return the beginning of the line that a place is in."""
    return low[low.rfind("\n", 0, start) + 1 : start]


def line_around(low: str, start: int, end: int) -> tuple[int, int]:
    """Return where the line of a place begins and ends."""
    behind = low.find("\n", end)
    return low.rfind("\n", 0, start) + 1, behind if behind >= 0 else len(low)


def is_below_other_heading(low: str, start: int) -> bool:
    """Return whether the line before a place says that the next one is no decision: "Rejected candidate:"."""
    line = low[: low.rfind("\n", 0, start) + 1].rstrip().rpartition("\n")[2]
    return line.endswith((":", "：")) and decision_words().other_lines.within(line[-MOST_PREFIX:]) is not None


def sentence_before(text: str) -> str:
    """Return the beginning of the last sentence of a text."""
    return _last_part(text, SENTENCE_END)


def clause_before(text: str) -> str:
    """Return the beginning of the last clause of a text."""
    return _last_part(text, CLAUSE_END)


def clause_after(low: str, end: int) -> str:
    """Return the rest of the clause behind a place."""
    found = CLAUSE_END.search(low, end, end + 120)
    return low[end : found.start() if found else end + 120]


def claim_after(low: str, end: int) -> str:
    """Return the rest of the clause behind a place, up to a word like "because"."""
    after = clause_after(low, end)
    cut = decision_words().because.within(after)
    return after if cut is None else after[: cut[0]]


def sentence_after(low: str, end: int) -> str:
    """Return the rest of the sentence behind a place, with the mark that ends it."""
    found = SENTENCE_END.search(low, end, end + _REACH)
    return low[end : found.end() if found else end + _REACH]


def negation(text: str) -> tuple[int, int] | None:
    """Return the place of a negating word in a clause, None if there is none."""
    text = without_harmless(text)
    found = decision_words().negations.within(text)
    if "n't" in text:
        verb = _NEGATED_VERB.search(text)
        if verb is not None and (found is None or verb.start() < found[0]):
            return verb.span()
    return found


def without_harmless(text: str) -> str:
    """Return a text in which words like "no doubt" and "if I had to choose" are blanked."""
    found = decision_words().harmless.within(text)
    if found is None:
        return text
    start, end = found
    return text[:start] + " " * (end - start) + text[end:]


def is_doubted(before: str) -> bool:
    """Return whether the text before an announcement makes it conditional, negated, doubtful or another person's."""
    words = decision_words()
    sentence = without_harmless(sentence_before(before))
    if not sentence.strip():
        return False
    if words.conditions.within(sentence):
        return True
    clause = clause_before(sentence)
    if not clause.strip():
        return False
    if negation(clause) or words.doubting.within(clause):
        return True
    return words.other_lines.within(" ".join(clause.split()[-3:])) is not None


def is_quoted(lead: str) -> bool:
    """Return whether what announces a decision is quoted: "You asked me to write 'Answer: "."""
    return _QUOTED.search(lead) is not None


def is_foreign(lead: str) -> bool:
    """Return whether an announcement is of another person's decision, or of a rejected one: "The user's answer: "."""
    return decision_words().foreign.within(clause_before(lead.rstrip(_COLONS + OPENERS))) is not None


def _last_part(text: str, end: re.Pattern[str]) -> str:
    text = text[-_REACH:]
    last = 0
    for found in end.finditer(text):
        last = found.end()
    return text[last:]


def _announcement(lead: str, *, is_heading: bool, is_at_end: bool) -> Announcement | None:
    if lead[-1] in _COLONS or lead.endswith(("->", "=>")):
        return _before_colon(lead.rstrip(_COLONS + "-> "))
    if is_heading:
        return _heading(lead)
    if lead.endswith(_DASHES):
        return _heading(lead.rstrip("-–— "))
    words = decision_words()
    cut = words.copulas.ending(lead)
    if cut is not None and (found := _marker(said := lead[:cut].rstrip(OPENERS + "”’,")) or _about(said)):
        return found
    chosen = _chosen(lead)
    if chosen is not None:
        return Announcement(Rank.MARKED, chosen)
    ticked = _TICKED.search(lead) if is_at_end else None
    if ticked is not None:
        return Announcement(Rank.MARKED, ticked.start(1))
    concluding = words.concluding.ending(lead.rstrip(", "))
    if is_at_end and concluding is not None and not sentence_before(lead[:concluding]).strip():
        return Announcement(Rank.MARKED, concluding)
    return None


def _before_colon(lead: str) -> Announcement | None:
    words = decision_words()
    lead = _CLOSED.sub("", lead).rstrip(OPENERS + ")]}」』】.")
    cut = words.copulas.ending(lead)
    for text in (lead, lead[:cut].rstrip() if cut else ""):
        if found := _marker(text):
            return found
        chosen = _chosen(text)
        if chosen is not None:
            return Announcement(Rank.MARKED, chosen)
    concluding = words.concluding.ending(lead)
    if concluding is not None and not clause_before(lead[:concluding]).strip():
        return Announcement(Rank.FINAL, concluding)
    return _about(lead)


def _chosen(lead: str) -> int | None:
    """Return where the words start that choose, "I prefer", but not those of "many prefer"."""
    words = decision_words()
    start = words.choosing.ending(lead)
    if start is None or (lead[start:] in words.shared_verbs and clause_before(lead[:start]).strip()):
        return None
    return start


def _before_number(lead: str) -> Announcement | None:
    """Return the marker of "a score of" and the words of "I would give it"."""
    word = lead.rpartition(" ")[2]
    if word in ("of", "von", "de", "di", "van", "på", "at", "to"):
        return _marker(lead[: -len(word) - 1].rstrip())
    chosen = decision_words().choosing_numbers.ending(lead)
    return None if chosen is None else Announcement(Rank.MARKED, chosen)


def _heading(lead: str) -> Announcement | None:
    """Return the marker that a line consists of."""
    found = _marker(lead)
    if found is None or re.search(r"\w", lead[: found.start].rpartition("\n")[2]):
        return None
    return found


def _marker(lead: str) -> Announcement | None:
    words = decision_words()
    cut = words.final_markers.ending(lead)
    if cut is not None:
        return Announcement(Rank.FINAL, cut)
    cut = words.markers.ending(lead)
    return None if cut is None else Announcement(Rank.MARKED, cut)


def _about(lead: str) -> Announcement | None:
    """Return the marker of "the answer to this question" and what is preferred in "a better fit for the role"."""
    words = decision_words()
    clause = clause_before(lead)
    at = len(lead) - len(clause)
    if not clause.strip():
        return None
    for found in re.finditer(r"\s", clause):
        rest = clause[found.end() :].split(" ", 1)[0]
        if words.prepositions.is_word(rest) and (marker := _marker(lead[: at + found.start()])):
            return marker
    preferred = words.preferring.within(clause)
    if preferred is None or words.rejecting.within(clause) or negation(clause):
        return None
    behind = clause[preferred[1] :].split()
    if behind and not words.nouns.is_word(behind[0]) and behind[0] not in ("fit", "one", "match", "hire"):
        return None
    return Announcement(Rank.PREFERRED, at + preferred[0])


def _without_fillers(lead: str) -> str:
    words = decision_words()
    for _ in range(3):
        cut = words.fillers.ending(lead)
        if cut is None:
            return lead
        lead = lead[:cut].rstrip(OPENERS + ",")
    return lead


def _concludes(before: str) -> bool:
    """Return whether a sentence begins with words that begin the last statement of a reply."""
    sentence = sentence_before(before).strip(" ,")
    return bool(sentence) and decision_words().concluding.starting(sentence) is not None


def is_condition(after: str) -> bool:
    """Return whether what follows makes the statement depend on something: "B if the income is right"."""
    cut = decision_words().conditions.starting(without_harmless(after).lstrip())
    return cut is not None and not re.match(r"\w", without_harmless(after).lstrip()[cut : cut + 1])


def is_corrected(low: str, end: int) -> bool:
    """Return whether the next words call the text before wrong: "A. It is incorrect."."""
    # "B) False" is a letter and its text.
    if low[end : end + 1] == ")":
        return False
    said = low[end : end + _CORRECTION].lstrip(_SENTENCE_SIGNS)
    cut = decision_words().correcting.starting(said)
    # "Wrong options: B" does not concern A.
    return cut is not None and (" " in said[:cut] or not said[cut : cut + 2].strip().isalnum())


def is_revised(low: str, start: int, end: int) -> bool:
    """Return whether a writer takes back, between two places, what was said before."""
    return decision_words().revising.within(low[start:end]) is not None
