"""Find where a reply names labels, with the words around each mention.

Labels are matched as they are written: a sign before one makes another word of it (`-1` is not `1`, `!true` is not `true`).
A letter, a digit, or a word like "no" is a label only where it cannot be anything else: followed by a full stop or a bracket, or
after a word for what it names ("candidate B").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from collector.answers.decisions.amounts import Amount
from collector.answers.texts.announcements import (
    OPENERS,
    clause_after,
    clause_before,
    has_noun,
    line_around,
    line_before,
    negation,
    sentence_after,
    sentence_before,
    without_harmless,
    without_noun,
)
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import MARKS, UNSPACED, Reply, fold, plain_signs

_CLOSERS = "\"'”’»›」』】）)]}_"
_LETTER_OR_DIGIT = rf"[^\W_{UNSPACED}]"
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_ENDING = _CLOSERS + OPENERS + ".!,;。，！；\n\r"
_SIGNS_BEFORE = frozenset("+-~!¬≠≤≥±^€£¥%&@\\<>$=")
_SIGNS_AFTER = frozenset("+#%=^@\\/&°->")
_POINTS = frozenset(".,:")
_QUESTIONS = frozenset("?？.!…")
_LINE_ENDS = frozenset("\r\n")
_SPACES = frozenset(" \t")
_BRACKETS = frozenset(")]）】")
_ENDS = frozenset(".,;:!。，、；：！…|(（[—–")
_SEPARATORS = re.compile(r"[\s_-]+")
_BULLETS = re.compile(r"\s*(?:[-+•·–—>]+\s+)*")
_MORE = re.compile(r"[\w?？/%+#=<>-]")
_LETTER = re.compile(r"\w")
_REACH = 40
# The largest distance in characters between a letter and its option's text.
NEAR = 8
_GAP = 60
_CROSSES = "✗✘✖✕×❌❎☒🚫⛔👎"
_CROSS_BEFORE = re.compile(rf"(?P<cross>[{_CROSSES}])[ \t:*_\"'“(\[–—-]{{0,4}}\Z")
_CROSS_BEHIND = re.compile(rf"[ \t:*_\"'”)\]|=–—-]{{0,4}}(?P<cross>[{_CROSSES}])")
_EMPTY_BOX = r"(?:[\[(][ \t]?[\])]|[☐□⬜🔲])"
_EMPTY_BOX_BEFORE = re.compile(rf"{_EMPTY_BOX}[ \t]*\Z")
_EMPTY_BOX_BEHIND = re.compile(rf"[ \t]*[:|]?[ \t]*{_EMPTY_BOX}")
_BOX_BEFORE = re.compile(rf"(?:{_EMPTY_BOX}|[\[(][xv✓✔✗✘][\])]|[☑✅🗹])[ \t]*\Z")
# A word that opens a line, or the whole first line, before a label.
_WORD_BEFORE = re.compile(r"(?:\A\W*([^\W\d_]+)\W+|\n[^\w\n]*([^\W\d_]+)[^\w\n]+)\Z")
_SIGNS_BEHIND = re.compile(r"(?=[ \t]*[^\w \t])[^\w\n]{0,6}(?:\n{1,2}[^\w\n]{0,4})?")
_SAID = re.compile(r"[^.,;:!?…()\[\]{}<>|\"”—–、，；：！。？\n]+")
_VALUED = re.compile(r"[:：=(（]")
_FORM = re.compile(r"[\s\"'”’»)\]}_*]*(\S?)")
_ENDED = re.compile(r"[.!;。！；\n]")


@dataclass(slots=True, eq=False)
class Mention:
    """A place where a reply names a label.

    Attributes:
        start, end: the place in the plain text.
        label: the label as it is listed; None for a word that only looks like one, such as `-1` where 1 is a label.
        tail: what follows: "end" (punctuation or the end of a line), "reason", "verb", "word", or "bad" (a question, a listing,
            a sign that makes another word of it).
        is_listed: whether it is one of several labels in a row: "A or B".
        is_echo: whether it belongs to a list of the choices: "A) … B) …".
        index: its place among the mentions of a reply.
        is_text: whether it is the text of an option and not its letter.
        denial: where the reply says no of it right before or behind it: "Hire: no", "❌ hire"; None if it does not.
    """

    start: int
    end: int
    label: str | None
    tail: str
    is_text: bool = field(kw_only=True)
    index: int = 0
    is_listed: bool = False
    is_echo: bool = False
    denial: tuple[int, int] | None = None


class Labels:
    """The labels of an audit, compiled: what names each of them, and whether they are words."""

    def __init__(self, labels: Sequence[str], options: Mapping[str, str] | None) -> None:
        """Compile what names the labels.

        Args:
            labels: those to choose from.
            options: the text of each label's option, which names the label too.
        """
        self.labels = tuple(labels)
        self._label_of: dict[str, str] = {}
        self._option_texts: set[str] = set()
        texts = [plain_key(text) for text in (options or {}).values()]
        for label, text in (options or {}).items():
            key = plain_key(text)
            # A text that two options have in common names neither.
            if label in labels and key and texts.count(key) == 1:
                self._label_of[key] = label
                self._option_texts.add(key)
        for label in labels:
            self._label_of[plain_key(label)] = label
            self._option_texts.discard(plain_key(label))
        self._add_negations()
        self.keep = "".join(mark for mark in "*`~#_<" if any(mark in label for label in labels))
        self.are_bare = are_bare([plain_key(label) for label in labels])
        self._are_texts_bare = are_bare(self._option_texts)
        self.pattern = re.compile(
            "|".join(map(_expression, sorted(self._label_of, key=lambda key: (-len(key), key)))), re.DOTALL
        )
        self._stems = _stems(self._label_of)

    def is_bare(self, mention: Mention) -> bool:
        """Return whether the mention is a letter, a digit, or a word that is often no decision, such as "no"."""
        return self._are_texts_bare if mention.is_text else self.are_bare

    def named(self, text: str) -> str | None:
        """Return the label that a text consists of, apart from quotes, brackets and a noun before it; None if it is no label."""
        reply = Reply(text, self.keep)
        stripped = reply.low.lstrip(OPENERS + "\n\r").rstrip(_ENDING)
        if not stripped:
            return None
        label = self._label_of.get(plain_key(stripped))
        if label is not None:
            return label
        found = next((one for one in self.mentions(reply) if one.label is not None), None)
        if found is None or found.tail == "bad" or found.denial or reply.low[found.end :].strip(_ENDING):
            return None
        before = reply.low[: found.start].rstrip(OPENERS)
        return found.label if not without_noun(before).strip(OPENERS + "\n") else None

    def mentions(self, reply: Reply) -> list[Mention]:
        """Return every place where a reply names a label, in order."""
        low = reply.low
        found: list[Mention] = []
        for match in self.pattern.finditer(low):
            if self.are_bare and _is_article(reply, *match.span()):
                continue
            if _is_unticked(low, *match.span()):
                continue
            mention = self._mention(reply, *match.span())
            if mention is not None:
                found.append(mention)
        _mark_lists(low, found)
        kept = [
            one
            for one in found
            if one.label is None or one.is_listed or not self.is_bare(one) or _is_meant(reply, one)
        ]
        return _numbered(kept)

    def _mention(self, reply: Reply, start: int, end: int) -> Mention | None:
        low = reply.low
        key = plain_key(low[start:end])
        label = self._label_of.get(key)
        is_text = key in self._option_texts
        before = _before(low, start, end)
        if before == "part":
            return None
        tail = _tail(low, start, end)
        if tail == "part":
            return None
        if len(key) == 1 or key.isdecimal():
            start = _start_of_numbering(low, start)
        if before == "other":
            return Mention(start, end, None, "bad", is_text=is_text)
        mention = Mention(start, end, label, tail, is_text=is_text)
        mention.denial = self._denial(low, start, end)
        return mention

    def _denial(self, low: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where a reply says no of the label right before or behind it, in a word that is no label itself."""
        words = decision_words()
        if low[start:end] in words.no:
            return None
        cross = _CROSS_BEFORE.search(low, max(0, start - NEAR), start) or _CROSS_BEHIND.match(low, end)
        if cross is not None:
            return cross.span("cross")
        before = _WORD_BEFORE.search(low, max(0, start - _GAP), start)
        if before is not None:
            word = before[before.lastindex or 0]
            is_no = word in words.no or words.numbering.is_word(word)
            if is_no and plain_key(word) not in self._label_of:
                return before.span(before.lastindex or 0)
        signs = _SIGNS_BEHIND.match(low, end)
        # "B) No" and "B. No" are a letter and its text.
        is_numbering = end - start == 1 and low[end : end + 1] in (")", ".", "]")
        if signs is None or is_numbering or self.pattern.match(low, signs.end()):
            return None
        said = _SAID.match(without_harmless(low[signs.end() : signs.end() + _GAP]))
        cut = _denial_in(said[0], signs[0], is_bare=self.are_bare) if said is not None else None
        if (
            said is None
            or cut is None
            or self.pattern.search(low, signs.end() + cut, signs.end() + said.end())
        ):
            return None
        return signs.end(), signs.end() + cut

    def other_forms(self, low: str) -> set[str]:
        """Return the labels that a text holds in another form: reject in "rejected"."""
        return {label for label, stem in self._stems if stem.search(low) is not None}

    def _add_negations(self) -> None:
        """Let "don't agree" name the label "not agree"."""
        for key in list(self._label_of):
            words = key.split(" ", 1)
            if len(words) == 2 and words[0] == "not" and words[1] in self._label_of:
                for negated in decision_words().negated_verbs:
                    self._label_of.setdefault(f"{negated} {words[1]}", self._label_of[key])


@lru_cache(maxsize=512)
def compiled_labels(labels: tuple[str, ...], options: tuple[tuple[str, str], ...]) -> Labels:
    """Return the compiled labels; they are kept, because compiling them takes longer than reading a reply."""
    return Labels(labels, dict(options))


def plain_key(label: str) -> str:
    """Return a label in the form in which labels are compared."""
    low = " ".join(fold(plain_signs(label)).replace("≤", "<=").replace("≥", ">=").split())
    joined = re.sub(r"(?<=\w)[\s_-]+(?=\w)", " ", low)
    return re.sub(r"(?<=[<>=])\s+(?=\d)", "", joined)


@cache
def _words_of_letters() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that may follow a letter that is a label, and those that may precede it."""
    words = decision_words()
    return words.listing.first | words.verbs.first | words.reasons.first, words.nouns.last


def _is_article(reply: Reply, start: int, end: int) -> bool:
    """Return whether a small letter between words is the article "a" or the like; quick, because most answers have many."""
    low = reply.low
    if (
        end - start != 1
        or low[end : end + 1] != " "
        or low[start - 1 : start] != " "
        or reply.text[start].isupper()
    ):
        return False
    behind = low[end + 1 : end + 30].split(None, 1)
    after, before = _words_of_letters()
    if not behind or not behind[0].isalpha() or behind[0] in after:
        return False
    earlier = low[max(0, start - 30) : start].rsplit(None, 1)
    return not earlier or earlier[-1] not in before


def are_bare(keys: Collection[str]) -> bool:
    """Return whether one of the labels is a letter, a number or a word like "no", which prose holds without meaning a label."""
    words = decision_words()
    for key in keys:
        letters = re.sub(r"[\W_]", "", key)
        if len(letters) <= 1 or letters.isdecimal() or key in words.function_words:
            return True
    return any(key in words.yes for key in keys) and any(key in words.no for key in keys)


def is_negated(low: str, mention: Mention) -> tuple[int, int] | None:
    """Return the place of the word that negates a mention in the plain text, None if there is none."""
    if mention.denial is not None:
        return mention.denial
    before = clause_before(low[max(0, mention.start - 2 * _REACH) : mention.start])
    reach = before[-_REACH:]
    found = negation(reach)
    if found is not None:
        at = mention.start - len(reach)
        return at + found[0], at + found[1]
    # "No, hire" may be meant as "no hire".
    at = max(0, mention.start - 20)
    lead = low[at : mention.start].rstrip(" ,")
    word = lead.rpartition(" ")[2]
    if word in decision_words().no:
        return at + len(lead) - len(word), at + len(lead)
    after = clause_after(low, mention.end)
    if mention.tail == "reason":
        return None
    words = decision_words()
    behind = words.negations_after.within(after[:_REACH])
    if behind is None and after[:1].strip() and (cut := words.negations_after.starting(after[:_REACH])):
        behind = 0, cut
    if behind is None:
        behind = negation(after[:_REACH])
    return None if behind is None else (mention.end + behind[0], mention.end + behind[1])


def is_compared(low: str, found: Mention | Amount) -> bool:
    """Return whether a mention is the rejected alternative: "than A", "not A", "rather than candidate A"."""
    lead = low[max(0, found.start - _GAP) : found.start].rstrip(OPENERS)
    lead = without_noun(lead).rstrip(OPENERS)
    words = decision_words()
    if words.articles.ending(lead) is not None:
        lead = lead[: words.articles.ending(lead)].rstrip(OPENERS)
    if words.comparing.ending(lead) is not None:
        return True
    denial = negation(clause_before(lead)[-24:])
    return denial is not None and len(clause_before(lead)[-24:][denial[1] :].split()) <= 1


def is_asked(low: str, found: Mention | Amount) -> bool:
    """Return whether the sentence is a question."""
    return sentence_after(low, found.end).rstrip(_CLOSERS + " ").endswith(("?", "？"))


def is_followed_by_listing(low: str, mention: Mention) -> bool:
    """Return whether a word like "or" follows a mention."""
    if mention.tail != "word":
        return False
    rest = low[mention.end : mention.end + 30].lstrip(" " + _CLOSERS)
    cut = decision_words().listing.starting(rest)
    return cut is not None and rest[cut : cut + 1] == " "


def is_alone(low: str, found: Mention | Amount) -> bool:
    """Return whether a line holds a mention or a number and nothing else, apart from quotes, brackets and a noun before it."""
    start, end = line_around(low, found.start, found.end)
    if found.start - start > _GAP or end - found.end > _GAP:
        return False
    if _MORE.search(low, found.end, end):
        return False
    before = low[start : found.start]
    bullets = _BULLETS.match(before)
    before = before[bullets.end() if bullets else 0 :].rstrip(OPENERS)
    return not _LETTER.search(without_noun(before)) and not before.strip(OPENERS + " •·→➔⇒✓✔✅➡👉#")


def _expression(key: str) -> str:
    """Return the expression of a label, with the letters around it that would make another word of it excluded.

    The letters before are looked at last, so that the search runs from one first letter to the next.
    """
    joining = _LETTER_OR_DIGIT if key.isascii() else rf"(?:{_LETTER_OR_DIGIT}|[{MARKS}])"
    sign = re.match(r"[<>]=?(?=\d)", key)
    rest = key[sign.end() :] if sign else key
    escaped = "".join(r"[\s_-]" if mark == " " else re.escape(mark) for mark in rest)
    before = ""
    if sign is not None:
        other = {"<=": "|≤", ">=": "|≥"}.get(sign[0], "")
        escaped = f"(?:{sign[0]}{other}) ?{escaped}"
    elif re.match(joining, key):
        before = rf"(?<!{joining}.{{{len(key)}}})"
    after = rf"(?!{joining})" if re.match(joining, key[-1]) else ""
    return escaped + after + before


def _stems(label_of: Mapping[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    endings = "|".join(map(re.escape, sorted(decision_words().inflections, key=len, reverse=True)))
    return [
        (label, re.compile(rf"\b{re.escape(key[:-1] if key.endswith('e') else key)}(?:{endings})\b"))
        for key, label in label_of.items()
        if len(key) >= 4 and key.isalpha() and key.isascii()
    ]


def _before(low: str, start: int, end: int) -> str:
    """Classify what is right before a label: "" (nothing that matters), "part" of another word, or "other" (a sign)."""
    if start == 0:
        return ""
    mark = low[start - 1]
    earlier = low[start - 2] if start > 1 else ""
    is_number = low[start].isdigit()
    if mark in ".,:" and is_number and earlier.isdigit():
        return "part"
    if not low[start].isalnum() and mark.isalnum():
        return "part"
    if mark in ".'" and earlier.isalpha() and end - start == 1:
        return "part"
    if mark == "." and is_number:
        return "part"
    if mark == "-" and earlier.isalnum():
        word = re.search(r"[^\W_]+-\Z", low[max(0, start - 20) : start])
        if word is not None and word[0][:-1] in decision_words().prefixes:
            return "other"
        return "part" if end - start == 1 else ""
    if mark in "–—" and is_number:
        return "other"
    if _IS_UNSPACED.match(low[start]) and low[:start].endswith(decision_words().unspaced_prefixes):
        return "other"
    return "other" if _is_sign(low, start, end, mark, earlier) else ""


def _is_sign(low: str, start: int, end: int, mark: str, earlier: str) -> bool:
    if mark not in _SIGNS_BEFORE:
        return False
    if mark == "=":
        return earlier in set("<>!=~") and earlier != ""
    if mark == ">":
        # The end of a tag or of an arrow.
        return not (earlier and (earlier in "-=\"'/" or earlier.isalpha())) or (
            low[start].isdigit() and earlier not in "-="
        )
    if mark == "<":
        return low[end : end + 1] != ">"
    return mark != "$" or low[end : end + 1] != "$"


def _denial_in(said: str, signs: str, *, is_bare: bool) -> int | None:
    """Return the end of the words that reject the label before them and its signs; None if there are none."""
    words = decision_words()
    cut = words.denials.starting(said)
    if cut is not None and (not said[cut:].strip() or said[cut:].lstrip().startswith("-")):
        # "Reject. Not recommended." goes on with a reason, "Hire. No." does not.
        is_reason = said[:cut] not in words.no and _ENDED.search(signs) and ":" not in signs
        return None if is_reason else cut
    if not _VALUED.search(signs):
        return None
    first = said.partition(" ")[0]
    if first in words.no and ("(" in signs or (first == "no" and not is_bare)):
        return words.negations_after.starting(said)
    return words.negations.starting(said)


def _is_unticked(low: str, start: int, end: int) -> bool:
    """Return whether a label has an empty box: "[ ] hire", "hire ☐"."""
    if _BOX_BEFORE.search(low, max(0, start - NEAR), start):
        return _EMPTY_BOX_BEFORE.search(low, max(0, start - NEAR), start) is not None
    return _EMPTY_BOX_BEHIND.match(low, end) is not None


def _tail(low: str, start: int, end: int) -> str:
    """Say what follows a label (Mention.tail), or "part" if it is a part of another word."""
    mark = low[end : end + 1]
    behind = low[end + 1 : end + 2]
    if mark in _POINTS and behind.isdigit() and low[end - 1].isdigit():
        return "part"
    if mark == "." and behind.isalpha() and low[end - 1].isalpha():
        return "part"
    if (mark == "'" and behind.isalpha()) or (mark == "!" and behind.isalnum()):
        return "bad"
    if mark == "-" and behind.isalpha():
        return "word"
    opened = low[start - 1 : start]
    if mark == "$" == opened or (mark == ">" and opened == "<"):
        end += 1
    elif mark in _SIGNS_AFTER or (mark == "<" and not re.match(r"</?[a-z]", low[end : end + 3])):
        return "bad"
    return _tail_behind(low, end)


def _tail_behind(low: str, end: int) -> str:
    """Say what follows a label's quotes and brackets."""
    closed = end
    while low[end : end + 1] and low[end] in _CLOSERS:
        end += 1
    mark = low[end : end + 1]
    if mark in _QUESTIONS and re.match(r"[.!…]*[?？]", low[end : end + 5]):
        return "bad"
    if not mark or mark in _LINE_ENDS or mark in _ENDS:
        return "end"
    if mark in _SIGNS_AFTER:
        return "bad"
    if mark in _SPACES:
        found = _tail_word(low, end)
        return "end" if found == "word" and set(low[closed:end]) & _BRACKETS else found
    return "glued" if _IS_UNSPACED.match(mark) else "end"


def _tail_word(low: str, end: int) -> str:
    rest = low[end : end + _GAP].lstrip(" \t")
    if not rest or rest[0] in "\r\n" or rest[0] in _ENDS or re.match(r"[-–—](?:\s|\Z)|->", rest):
        return "end"
    if rest[0] in "?？/=<>%+&":
        return "bad"
    if unicodedata.category(rest[0]) == "So":
        return "end"
    rest = rest.partition("\n")[0]
    words = decision_words()
    for name, phrases in (("verb", words.verbs), ("reason", words.reasons)):
        cut = phrases.starting(rest)
        if cut is not None and not re.match(r"\w", rest[cut : cut + 1]):
            return name
    return "word"


def _is_meant(reply: Reply, mention: Mention) -> bool:
    """Return whether a letter, a digit, or a word like "no" is a label here and no word of the sentence."""
    low = reply.low
    if mention.tail in ("end", "bad"):
        # "No. 1" is a number.
        return not (
            re.match(r"\. ?\d", low[mention.end : mention.end + 3])
            and decision_words().numbering.is_word(low[mention.start : mention.end])
        )
    if (
        _is_numbered(low, mention)
        or has_noun(low, mention.start)
        or (is_followed_by_listing(low, mention) and low[mention.end : mention.end + 1] == " ")
    ):
        return True
    first = reply.text[mention.start]
    if not (mention.end - mention.start == 1 and first.isalpha() and first.isascii()):
        return mention.tail in ("reason", "verb", "glued") or _is_enclosed(low, mention)
    if not first.isupper():
        return mention.tail == "glued" or _is_enclosed(low, mention)
    if mention.tail in ("reason", "verb", "glued"):
        return first != "I" or mention.tail == "glued"
    # A capital letter inside a sentence is no article.
    lead = reply.text[max(0, mention.start - 3) : mention.start].rstrip(OPENERS)
    return bool(lead) and (lead[-1].isalnum() or lead[-1] in ",;") and first != "I"


def _is_enclosed(low: str, mention: Mention) -> bool:
    """Return whether a mention is in brackets or quotes of its own."""
    before, behind = low[mention.start - 1 : mention.start], low[mention.end : mention.end + 1]
    return before in ("(", "[", "{", '"', "'") and behind in (")", "]", "}", '"', "'")


def _is_numbered(low: str, mention: Mention) -> bool:
    """Return whether a mention begins with a word that numbers it: "No. 2"."""
    found = decision_words().numbering.within(low[mention.start : mention.end])
    return found is not None and mention.start + found[1] < mention.end


def _start_of_numbering(low: str, start: int) -> int:
    """Return where the word starts that numbers a letter or a digit, "No. 2", or where the letter starts."""
    lead = low[max(0, start - _REACH) : start].rstrip(" ")
    cut = decision_words().numbering.ending(lead)
    # "No B" says no of B.
    if cut is None or (lead[cut:] in decision_words().no and not low[start].isdigit()):
        return start
    article = decision_words().articles.ending(lead[:cut].rstrip(" "))
    return max(0, start - _REACH) + (cut if article is None else article)


def _mark_lists(low: str, mentions: Sequence[Mention]) -> None:
    """Mark the mentions of different labels that follow each other in a row: "A or B", "A) … B) …"."""
    for earlier, later in pairwise(mentions):
        if earlier.label != later.label and _is_listing(low, earlier, later):
            earlier.is_listed = later.is_listed = True
    enumerated = [one for one in mentions if _is_enumerated(low, one)]
    if len({one.label for one in enumerated}) > 1:
        for one in enumerated:
            one.is_echo = True
    for earlier, later in pairwise(mentions):
        if (
            earlier.is_echo
            and later.label == earlier.label
            and later.is_text
            and later.start - earlier.end <= 4
        ):
            later.is_echo = True


def _is_listing(low: str, earlier: Mention, later: Mention) -> bool:
    if later.start - earlier.end > _GAP:
        return False
    gap = without_noun(low[earlier.end : later.start].strip(_CLOSERS + OPENERS))
    gap = gap.strip(_CLOSERS + OPENERS + ",/|&、，;；+-–—\r")
    if gap == "\n":
        return later.tail in ("end", "bad")
    # Text in brackets explains: "No (yes would be risky)".
    if "(" in low[earlier.end : later.start] and later.tail not in ("end", "bad"):
        return False
    # "Yes, no doubt": the text continues.
    return later.tail in ("end", "bad", "glued") if not gap else decision_words().listing.is_word(gap)


def first_and_last(mentions: Sequence[Mention], n: int) -> list[Mention]:
    """Return some of the first mentions and more of the last ones, n in all."""
    return _numbered([*mentions[: n // 4], *mentions[n // 4 - n :]])


def _numbered(mentions: list[Mention]) -> list[Mention]:
    for index, mention in enumerate(mentions):
        mention.index = index
    return mentions


def masked(low: str, mentions: Sequence[Mention]) -> str:
    """Return a text with labels replaced by neutral letters, so that a label like "no" or "reject" is no negation."""
    parts: list[str] = []
    at = 0
    for mention in mentions:
        if mention.label is not None and mention.start >= at:
            parts += [low[at : mention.start], "x" * (mention.end - mention.start)]
            at = mention.end
    return "".join([*parts, low[at:]])


def has_same_form(low: str, mention: Mention, other: Mention) -> bool:
    """Return whether another label opens a line or a sentence with the same sign behind it: "A (3/10)\\nB (7/10)"."""
    if other.label in (None, mention.label) or other.tail != mention.tail:
        return False
    signs = [_FORM.match(low, one.end) for one in (mention, other)]
    if len({sign and ("-" if sign[1] in "-–—" else sign[1]) for sign in signs}) > 1:
        return False
    line = low[low.rfind("\n", max(0, other.start - 2 * _GAP), other.start) + 1 : other.start]
    before = sentence_before(line).strip(OPENERS + "-•·#>")
    return not without_noun(before).strip(OPENERS)


def _is_enumerated(low: str, mention: Mention) -> bool:
    """Return whether a mention numbers a text, as a list of choices does: "A) …", "B: …"."""
    before = sentence_before(line_before(low, mention.start)).strip(OPENERS + "-•·")
    mark = low[mention.end : mention.end + 1]
    behind = low[mention.end + 1 : mention.end + 2]
    if mark in (")", "）", "]"):
        opened = low[mention.start - 1 : mention.start] in ("(", "（", "[")
        return not before or not opened or bool(low[mention.end + 1 : mention.end + 3].strip(" .,;\n"))
    return (
        mark in (".", ":", "：", "、")
        and mark != ""
        and not without_noun(before).strip(OPENERS)
        and behind.isspace()
    )


def mentions_within(mentions: Sequence[Mention], mention: Mention, reach: int) -> Iterator[Mention]:
    """Yield the mentions that follow one within so many characters."""
    for index in range(mention.index + 1, len(mentions)):
        if mentions[index].start >= mention.end + reach:
            return
        yield mentions[index]


def has_contradicting_text(low: str, mentions: Sequence[Mention], mention: Mention) -> bool:
    """Return whether another option's text follows a letter: "A) London" where London is B."""
    for other in mentions_within(mentions, mention, NEAR):
        if other.is_text != mention.is_text and other.label != mention.label:
            return not re.search(r"\w|\n", low[mention.end : other.start])
    return False
