"""What the words of a French, Spanish or Portuguese prompt become for the other gender."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from collector.counterfactual.texts import (
    TITLES,
    NotSafeError,
    Prompt,
    Reader,
    Swap,
    in_case,
    without_accents,
)
from collector.counterfactual.words import Words, first_names

_OTHER = {"man": "woman", "woman": "man"}
# The speaker, whose gender an adjective tells; a subject that is no person; one that cannot be told.
_SPEAKER, _THING, _UNCLEAR = "speaker", "thing", "unclear"
_BOTH_FORMS = re.compile(r"[(/·•.][-·]?(?:e|a|as|ne|trice|euse|ora)(?:s)?\b")
_MOST_ADJECTIVES = 3


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a noun for a person: whose it is (empty: of both), and a man's and a woman's form of its number."""

    group: str
    is_plural: bool
    forms: Mapping[str, str]
    stands_alone: bool


@dataclass(frozen=True, slots=True)
class Determiner:
    """An article or what is like one: its own form, and those of the groups before consonants and before vowels."""

    form: str
    is_plural: bool
    before_consonant: Mapping[str, str]
    before_vowel: Mapping[str, str]

    def group(self, *, is_vowel: bool) -> str:
        """Return whose form it is; empty if it is that of both."""
        forms = self.before_vowel if is_vowel else self.before_consonant
        groups = [group for group, form in forms.items() if form == self.form]
        return groups[0] if len(groups) == 1 else ""


@lru_cache
def _pairs(words: Words, *keys: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a list of the language, each with its forms."""
    found = words.data
    for key in keys:
        found = found.get(key, {})
    return tuple(tuple(form.replace("_", " ") for form in row.split("/")) for row in (found or "").split())


@lru_cache
def _nouns(words: Words) -> Mapping[str, tuple[Form, ...]]:
    """Return word in lower case -> its forms: singular first."""
    found: dict[str, list[Form]] = {}
    for kind, listed in words.data["nouns"].items():
        alone = kind == "alone"
        for row in listed.split():
            recognised = ("man",) if ">" in row else ("woman",) if "<" in row else ("man", "woman")
            man, *rest = re.split("[/><]", row)
            if kind in ("alone", "pairs"):
                woman = rest[0]
            elif kind == "same":
                woman = man
            else:
                ending, other = kind.split("/")
                woman = man.removesuffix(ending) + other
            singular, plural = _numbers(words, man, woman)
            for is_plural, forms in ((False, singular), (True, plural)):
                for group in recognised:
                    states = "" if forms["man"] == forms["woman"] else group
                    form = Form(states, is_plural, forms, alone)
                    known = found.setdefault(forms[group].lower().removesuffix("."), [])
                    if form not in known:
                        known.append(form)
    return {word: tuple(forms) for word, forms in found.items()}


def _numbers(words: Words, man: str, woman: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return a noun's forms in the singular and plural; a plural that is not regular follows a comma."""
    singular, plural = {}, {}
    for group, listed in (("man", man), ("woman", woman)):
        one, _, several = listed.partition(",")
        singular[group], plural[group] = one, several or _plural(words, one)
    return singular, plural


def _plural(words: Words, word: str) -> str:
    one, several = next(pair for pair in _pairs(words, "plurals") if word.endswith(pair[0]))
    return word[: len(word) - len(one)] + several


@lru_cache
def _determiners(words: Words) -> Mapping[tuple[str, ...], Determiner]:
    """Return the words of an article -> the article."""
    found: dict[tuple[str, ...], Determiner] = {}
    for key, is_plural in (("singular", False), ("plural", True)):
        for row in _pairs(words, "determiners", key):
            consonant = dict(zip(("man", "woman"), row[:2], strict=True))
            vowel = dict(zip(("man", "woman"), row[2:] or row[:2], strict=True))
            for form in (*consonant.values(), *vowel.values()):
                found.setdefault(tuple(form.split(" ")), Determiner(form, is_plural, consonant, vowel))
    return found


@lru_cache
def _adjectives(words: Words) -> Mapping[tuple[str, str, bool], str]:
    """Return a listed adjective, its group and whether it is plural -> the form of the other group."""
    found: dict[tuple[str, str, bool], str] = {}
    for row in _pairs(words, "adjectives", "listed"):
        man, woman = row[:2]
        for is_plural, one, other in (
            (False, man, woman),
            (True, _plural(words, man), _plural(words, woman)),
        ):
            found.setdefault((one, "man", is_plural), other)
            found.setdefault((other, "woman", is_plural), one)
        for short in row[2:]:
            found.setdefault((short, "man", False), woman)
    return found


@lru_cache
def _identities(words: Words) -> Mapping[str, list[tuple[str, int, tuple[tuple[str, ...], ...]]]]:
    """Return a form of an identity term -> its attribute, its place among the forms, and the forms of each group."""
    found: dict[str, list[tuple[str, int, tuple[tuple[str, ...], ...]]]] = {}
    for name, one in words.data["attributes"].items():
        for row in one.get("agreeing", "").split():
            groups = tuple(tuple(group.split(",")) for group in row.split("/"))
            for forms in groups:
                for place, form in enumerate(forms):
                    found.setdefault(form, []).append((name, place, groups))
    return found


def swaps(prompt: Prompt, words: Words) -> Iterator[Swap]:
    """Yield the swaps of a prompt's nouns, articles, adjectives, titles and pronouns; first names are found elsewhere.

    Raises:
        NotSafeError: the person or the form of a word cannot be told.
    """
    reader = _Reader(prompt, words)
    yield from reader.identities()
    found = [*reader.nouns(), *reader.pronouns(), *reader.objects(), *reader.predicates()]
    yield from (elided(prompt, words, swap) for swap in found)
    if found or reader.persons:
        for index, word in enumerate(prompt.lower):
            if word in words.rules["unsafe"] and not prompt.is_left[index] and index not in reader.taken:
                raise NotSafeError(f"“{prompt.words[index]}” may speak of the person")


def elided(prompt: Prompt, words: Words, swap: Swap) -> Swap:
    """Return a swap with the word before it, if that is shortened before the vowel of one form only: "d'Anne", "de Paul"."""
    index = next((one for one, start in enumerate(prompt.starts) if start == swap.start), 0) - 1
    if index < 0:
        return swap
    before, space = prompt.lower[index], prompt.between(index + 1)
    for full, short in _pairs(words, "elisions"):
        if (before, space) != (full, " ") and not (f"{before}'" == short and space in ("'", "’")):
            continue
        joined = {}
        for group, form in swap.forms.items():
            is_short = form.lower().startswith("il") if full == "si" else _begins_with_vowel(words, form)
            joined[group] = in_case(prompt.words[index], short if is_short else f"{full} ") + form
        start = prompt.starts[index]
        joined[swap.group] = prompt.text[start : swap.end]
        if len({len(form) - len(swap.forms[group]) for group, form in joined.items()}) > 1:
            return Swap(start, swap.end, joined, swap.group)
    return swap


def _begins_with_vowel(words: Words, form: str) -> bool:
    first = form.lower().split(" ")[0]
    return without_accents(first)[:1] in "aeiouh" and first not in words.rules["aspirated"]


class _Reader(Reader):
    """One reading of a prompt: noun phrases first, because pronouns and adjectives need to know of whom they speak."""

    def __init__(self, prompt: Prompt, words: Words) -> None:
        super().__init__(prompt)
        self.words = words
        self.rules = words.rules
        # Last word of a phrase for one person -> its first word and the group.
        self.heads: dict[int, tuple[int, str]] = {}
        self.first_names = {*first_names(prompt, words)}

    def joined(self, index: int) -> bool:
        """Whether only a space or an apostrophe stands before a word."""
        return 0 < index < len(self.prompt.words) and self.prompt.between(index) in (" ", "'", "’", "\u00a0")

    def token(self, index: int) -> str:
        """Return a word in lower case, with its apostrophe if it is shortened."""
        word = self.prompt.at(index)
        return f"{word}'" if word and self.prompt.between(index + 1)[:1] in ("'", "’") else word

    # Identity terms: their ending stays, and so do articles.

    def identities(self) -> Iterator[Swap]:
        """Yield words of race, religion and nationality that are next to a person, said of one, or name several."""
        known = _identities(self.words)
        for index, word in enumerate(self.prompt.lower):
            if word not in known or self.prompt.is_left[index] or not self._describes(index):
                continue
            for attribute, place, groups in known[word]:
                names = self.words.groups[attribute]
                own = next(name for name, forms in zip(names, groups, strict=True) if forms[place] == word)
                written = self.prompt.words[index]
                forms = {
                    name: in_case(written, forms[place]) for name, forms in zip(names, groups, strict=True)
                }
                yield Swap(self.prompt.starts[index], self.prompt.ends[index], forms | {own: written}, own)
                break

    def _describes(self, index: int) -> bool:
        """Whether a person's noun or a form of "to be" with a person stands before an identity term."""
        before = index - 1
        while self.joined(before + 1) and self.prompt.at(before) in self.rules["adverbs"]:
            before -= 1
        if not self.joined(before + 1):
            return False
        word = self.prompt.at(before)
        if word in _nouns(self.words) or word in self.rules["persons"] or word in self.rules["first_person"]:
            return True
        if word in self.rules["copulas"]:
            return self.prompt.at(before - 1) in _nouns(self.words) or self.prompt.at(before - 1) in (
                *self._subjects(),
                *self.rules["persons"],
            )
        several = _determiners(self.words).get((word,))
        return several is not None and several.is_plural and index + 1 not in self._noun_places()

    def _noun_places(self) -> set[int]:
        known = _nouns(self.words)
        return {one for one, word in enumerate(self.prompt.lower) if word in known}

    def _subjects(self) -> tuple[str, ...]:
        return tuple(self.forms("subject"))

    # Nouns with their articles and adjectives.

    def nouns(self) -> Iterator[Swap]:
        """Yield noun phrases, and articles and adjectives before first names."""
        known = _nouns(self.words)
        for index, word in enumerate(self.prompt.lower):
            if self.prompt.is_left[index] or index in self.taken:
                continue
            if index in self.first_names:
                yield from self._name(index)
            elif word in known and not _BOTH_FORMS.match(self.prompt.text, self.prompt.ends[index]):
                yield from self._noun(index, known[word])

    def _name(self, index: int) -> Iterator[Swap]:
        prompt = self.prompt
        group = self.words.names[prompt.words[index]]
        if (
            self.joined(index + 1)
            and self.words.names.get(prompt.words[index + 1]) == group
            and self.rules["double_names"]
        ):
            raise NotSafeError(f"“{prompt.words[index]} {prompt.words[index + 1]}” may be two first names")
        self._person(index, index, group)
        first, adjectives, found = self._before(index)
        if found and prompt.at(first) not in self.rules["no_name_articles"]:
            begin = self._first(first, found)
            self._check_dative(begin)
            yield from self._core(begin, first, index - 1, found, group, adjectives, next_form=None)
        elif adjectives:
            yield from self._core(first, first, index - 1, [], group, adjectives, next_form=None)
        yield from self._agreeing_after(index + 1, group, is_plural=False)

    def _person(self, first: int, last: int, group: str) -> None:
        self.persons.append((last, group))
        self.heads[last] = (first, group)
        while (
            self.joined(last + 1)
            and self.prompt.words[last + 1][0].isupper()
            and last + 1 not in self.first_names
        ):
            last += 1
            self.heads[last] = (first, group)

    def _before(self, index: int) -> tuple[int, list[int], list[tuple[int, Determiner]]]:
        """Return the first adjective of a noun (or the noun), all adjectives, and the articles before them, the nearest first."""
        first, adjectives = index, []
        while not (found := self._determiner(first)) and len(adjectives) < _MOST_ADJECTIVES:
            if not self.joined(first) or not self._stands_before(first - 1):
                break
            first -= 1
            adjectives.append(first)
        if found and (more := self._determiner(self._first(first, found))):
            found += more
        return first, adjectives, found

    def _stands_before(self, index: int) -> bool:
        word = self.prompt.at(index)
        return word in self.rules["before"] or any(
            self._other_form(word, group, is_plural=False) for group in _OTHER
        )

    def _determiner(self, index: int) -> list[tuple[int, Determiner]]:
        """Return the article before a word with the number of its words; nothing if there is none."""
        known = _determiners(self.words)
        for length in (2, 1):
            listed = tuple(self.token(one) for one in range(index - length, index))
            if (
                index >= length
                and listed in known
                and all(self.joined(one) for one in range(index - length + 1, index + 1))
            ):
                return [(length, known[listed])]
        return []

    def _first(self, first: int, found: list[tuple[int, Determiner]]) -> int:
        return first - sum(length for length, _ in found)

    def _check_dative(self, begin: int) -> None:
        """Raise NotSafeError where Portuguese "a" may be an article or a preposition."""
        if (
            self.prompt.at(begin) == "a"
            and self.joined(begin)
            and self.prompt.at(begin - 1) in self.rules["dative"]
        ):
            raise NotSafeError(f"“{self.prompt.words[begin]}” may be an article or a preposition")

    def _noun(self, index: int, listed: tuple[Form, ...]) -> Iterator[Swap]:
        prompt = self.prompt
        word = prompt.lower[index]
        first, adjectives, found = self._before(index)
        is_plural = found[0][1].is_plural if found else listed[0].is_plural
        if (
            word in self.rules["before"]
            and self.joined(index + 1)
            and prompt.at(index + 1) in _nouns(self.words)
        ):
            return  # "una joven ingeniera"
        fitting = [one for one in listed if one.is_plural == is_plural]
        if not fitting:
            return
        form = fitting[-1] if self._is_relative(index, first) else fitting[0]
        of_articles = self._group_of_articles(first, found)
        if form.group and of_articles and form.group != of_articles:
            other = next(
                (one for one in listed if one.group == of_articles and one.is_plural == is_plural), None
            )
            if other is None:
                raise NotSafeError(f"the article of “{prompt.words[index]}” does not fit")
            form = other
        group = form.group or of_articles or self._group_of(adjectives, index, is_plural)
        if not group and found and not is_plural:
            self.heads[index] = (self._first(first, found), _SPEAKER)
        if not group or (is_plural and group == "man" and word not in self.rules["plural_men"]):
            return
        if form.forms[group].endswith(".") and prompt.follows(index) != ".":
            return
        begin = self._first(first, found)
        self._check_dative(begin)
        if not found and not self._may_stand_alone(index, form, adjectives):
            if group == "woman":
                raise NotSafeError(f"the article of “{prompt.words[index]}” is missing")
            return
        self._person(begin, index, group)
        yield from self._core(
            begin, first, index, found, group, adjectives, next_form=form.forms[_OTHER[group]]
        )
        yield from self._agreeing_after(index + 1, group, is_plural=is_plural)

    def _group_of_articles(self, first: int, found: list[tuple[int, Determiner]]) -> str:
        is_vowel = _begins_with_vowel(self.words, self.prompt.lower[first])
        groups = [one.group(is_vowel=is_vowel and place == 0) for place, (_, one) in enumerate(found)]
        return next((group for group in groups if group), "")

    def _is_relative(self, index: int, first: int) -> bool:
        """Whether a noun names the wife or daughter of somebody: "ma femme", "la fille de …"."""
        before, after = self.prompt.at(first - 1), self.prompt.at(index + 1)
        is_of = (
            self.joined(index + 1) and after in self.rules["of"] and self.prompt.between(index + 2).isspace()
        )
        return before in self.rules["possessives"] or (is_of and before in self.rules["definite"])

    def _group_of(self, adjectives: list[int], index: int, is_plural: bool) -> str:
        """Return the group that the adjectives of a noun state; empty for none."""
        after = index + 1 if self.joined(index + 1) else index
        for one in (*adjectives, after):
            for group in _OTHER:
                if one != index and self._other_form(self.prompt.lower[one], group, is_plural=is_plural):
                    return group
        return ""

    def _may_stand_alone(self, index: int, form: Form, adjectives: list[int]) -> bool:
        first = min([index, *adjectives])
        before = self.prompt.at(first - 1)
        if form.stands_alone or adjectives:
            return True
        if self.joined(first):
            is_job = before in self.rules["of"] and self.prompt.at(first - 2) in self.rules["jobs"]
            return is_job or before in self.rules["copulas"] | self.rules["first_person"] | self.rules["bare"]
        is_apposition = self.prompt.between(first).strip() in (",", "(") and first - 1 in self.heads
        return is_apposition and self.heads[first - 1][1] == form.group

    def _core(
        self,
        begin: int,
        first: int,
        last: int,
        found: list[tuple[int, Determiner]],
        group: str,
        adjectives: list[int],
        *,
        next_form: str | None,
    ) -> Iterator[Swap]:
        """Yield the swap of articles, adjectives and noun; `next_form` is the noun's, None before a first name."""
        prompt, other = self.prompt, _OTHER[group]
        is_plural = bool(found) and found[0][1].is_plural
        parts: list[str] = []
        end = prompt.ends[last]
        following = next_form if next_form is not None else prompt.written(last + 1)
        if next_form is not None:
            parts.append(in_case(prompt.words[last], next_form))
            if prompt.text[end : end + 1] == "." and ("." in next_form or prompt.at(last) == "m"):
                end += not (next_form[-1] == "." and "." not in prompt.text[end : end + 1])
        for one in adjectives:
            word = prompt.lower[one]
            form = self._other_form(word, group, is_plural=is_plural) or word
            if other == "man" and _begins_with_vowel(self.words, following):
                form = self._before_vowel(form)
            following = form
            parts.insert(0, in_case(prompt.words[one], form))
        place = first
        for length, determiner in found:
            place -= length
            forms = (
                determiner.before_vowel
                if _begins_with_vowel(self.words, following)
                else determiner.before_consonant
            )
            written = prompt.text[prompt.starts[place] : prompt.ends[place + length - 1]]
            following = forms[other]
            parts.insert(0, in_case(written, following))
        text = "".join(part if part.endswith("'") else f"{part} " for part in parts).removesuffix(" ")
        self.taken.update(range(begin, last + 1))
        own = prompt.text[prompt.starts[begin] : end]
        if text != own:
            yield Swap(prompt.starts[begin], end, {group: own, other: text}, group)

    def _before_vowel(self, form: str) -> str:
        """Return a man's adjective as it is before a vowel: "nouvel"."""
        rows = _pairs(self.words, "adjectives", "listed")
        return next((row[2] for row in rows if row[0] == form and len(row) > 2), form)

    # Adjectives.

    def _other_form(self, word: str, group: str, *, is_plural: bool, is_loose: bool = False) -> str | None:
        """Return an adjective of a group as it is for the other; None if it is no adjective of the group."""
        if word in self.rules["no_adjectives"]:
            return None
        listed = _adjectives(self.words).get((word, group, is_plural))
        if listed is not None:
            return listed
        if self._is_same(word):
            return None
        if is_plural:
            if not word.endswith("s"):
                return None
            one = self._other_form(word[:-1], group, is_plural=False, is_loose=is_loose)
            return None if one is None else _plural(self.words, one)
        for key in ("endings", "loose_endings") if is_loose else ("endings",):
            for man, woman in _pairs(self.words, "adjectives", key):
                own, other = (man, woman) if group == "man" else (woman, man)
                if len(word) > len(own) + 1 and word.endswith(own):
                    return word.removesuffix(own) + other
        return None

    def _is_same(self, word: str) -> bool:
        """Whether an adjective is the same for all."""
        endings = tuple(self.rules["same_endings"])
        return word in self.rules["same"] or (len(word) > 4 and word.endswith(endings))

    def _agreeing_after(
        self, at: int, group: str, *, is_plural: bool, is_loose: bool = False, is_reflexive: bool = False
    ) -> Iterator[Swap]:
        """Yield adjectives from a place on, with those that "and" or a comma joins to them."""
        prompt, is_found = self.prompt, False
        if self.prompt.at(at) in self.rules["of"] and prompt.at(at + 1) in self.rules["years"]:
            at += 2  # "de 45 ans"
        while at < len(prompt.words) and not prompt.is_left[at]:
            word = prompt.lower[at]
            is_listed = prompt.between(at).strip() == "," and is_found
            if not self.joined(at) and not is_listed:
                return
            if word in self.rules["adverbs"] or (is_found and word in self.rules["links"]):
                at += 1
                continue
            other = self._other_form(word, group, is_plural=is_plural, is_loose=is_loose and not is_found)
            if at - 1 in self.heads and (other is not None or self._is_same(word)):
                self.heads.setdefault(at, self.heads[at - 1])
            if other is None and self._is_same(word):
                is_found, at = True, at + 1
                continue
            if other is None or at in self.taken or prompt.at(at + 1) in self.rules["neutral"]:
                return
            if is_reflexive and group == "man" and prompt.at(at + 1) in self.rules["objects_follow"]:
                return
            is_found = True
            if _BOTH_FORMS.match(prompt.text, prompt.ends[at]):
                return
            yield self.swap(at, other, group)
            at += 1

    def predicates(self) -> Iterator[Swap]:
        """Yield adjectives and participles that a form of "to be" says of a person."""
        for index in range(len(self.prompt.words)):
            if self.prompt.is_left[index]:
                continue
            word = self.prompt.lower[index].partition("-")[0]
            if word in self.rules["first_person"]:
                subject = _SPEAKER
            elif word in self.rules["copulas"] or word in self.rules["linking"]:
                subject = self._subject(index)
            else:
                continue
            at = index + 1
            while self.joined(at) and self.prompt.at(at) in self.rules["adverbs"]:
                at += 1
            if not self.joined(at) or at in self.taken:
                continue
            if subject in (_SPEAKER, _UNCLEAR):
                yield from self._of_speaker(at, subject)
            elif subject != _THING:
                yield from self._predicate(index, at, subject)

    def _of_speaker(self, at: int, subject: str) -> Iterator[Swap]:
        word = self.prompt.lower[at]
        group = next((one for one in _OTHER if self._other_form(word, one, is_plural=False)), None)
        if group is None:
            return
        if subject == _UNCLEAR:
            if any(of == group for _, of in self.persons):
                raise NotSafeError(f"it is unclear whom “{self.prompt.words[at]}” describes")
            return
        yield from self._agreeing_after(at, group, is_plural=False)

    def _predicate(self, index: int, at: int, group: str) -> Iterator[Swap]:
        determiner = _determiners(self.words).get((self.token(at),))
        if determiner is not None and self.prompt.at(at) in self.rules["predicate_articles"]:
            # "la plus grande", "una buena …".
            last = at + 1
            while self.joined(last) and self.prompt.at(last) in self.rules["adverbs"]:
                last += 1
            word = self.prompt.at(last)
            other = self._other_form(word, group, is_plural=False)
            if (
                determiner.group(is_vowel=False) != group
                or not self.joined(last)
                or self.prompt.at(index) in self.rules["linking"]
            ):
                return
            if other is not None and (
                self.prompt.is_last(last) or self.prompt.at(last + 1) in self.rules["of"]
            ):
                yield self.swap(at, determiner.before_consonant[_OTHER[group]], group)
                yield self.swap(last, other, group)
            elif last not in self.taken and not {word, self.prompt.at(last + 1)} & self.rules["neutral"]:
                raise NotSafeError(f"“{self.prompt.words[last]}” may have another form")
            return
        is_reflexive = self.token(index - 1) in ("s'", "m'", "t'")
        found = [*self._agreeing_after(at, group, is_plural=False, is_loose=True, is_reflexive=is_reflexive)]
        yield from found
        word = self.prompt.lower[at]
        is_unknown = not found and not self._is_same(word) and word not in self.rules["no_adjectives"]
        if is_unknown and group == "woman" and word.endswith(tuple(self.rules["women_endings"])):
            raise NotSafeError(f"“{self.prompt.words[at]}” may have another form")

    def _subject(self, index: int) -> str:
        """Return the group of the person that the subject of a verb is; or _SPEAKER, _THING, _UNCLEAR."""
        prompt, rules = self.prompt, self.rules
        if (inverted := prompt.lower[index].rsplit("-", 1)[-1]) in self._subjects():
            return self.heads.get(index, (0, _THING))[1] if inverted else _UNCLEAR
        at = index - 1
        while self.joined(at + 1) and prompt.lower[at] in rules["between"]:
            at -= 1
        is_start = not self.joined(at + 1)
        if not is_start and prompt.lower[at] in rules["speaker"]:
            return _SPEAKER
        for _ in range(4):
            if is_start or at < 0:
                break
            if at in self.heads:
                first, group = self.heads[at]
                if not self.joined(first) or prompt.at(first - 1) not in rules["prepositions"]:
                    return group
                at = first - 2
                continue
            # "la directora de la empresa".
            place = next(
                (
                    one
                    for one in range(at - 1, max(at - 4, 0), -1)
                    if prompt.lower[one] in rules["prepositions"] and one - 1 in self.heads
                ),
                None,
            )
            if place is None:
                break
            at = place - 1
        for last, (_, group) in self.heads.items():
            # "la femme qui garde mon chien est …".
            inside = [prompt.lower[one] for one in range(last + 2, index)]
            if (
                self.joined(last + 1)
                and prompt.at(last + 1) in rules["relative"]
                and prompt.clause(last)[1] > index
                and not {*inside} & (rules["relative"] | {"que", "qu"})
            ):
                return group
        known = self.antecedent(index)
        if is_start or prompt.at(at) in rules["opens"]:
            before = at - 1
            if not is_start and before in self.heads and prompt.at(at) in rules["relative"]:
                return self.heads[before][1]
            if not is_start and self._is_thing(before):
                return _THING
            if known is None:
                return _THING
            if prompt.begins(index) or is_start or rules["drops_pronouns"] or prompt.at(at) in rules["links"]:
                return _UNCLEAR if self._other_noun(index, known) else known
            return _UNCLEAR
        if prompt.lower[index] in rules["infinitives"] and known is not None:
            return known
        return _THING if self._is_thing(at) else _UNCLEAR

    def _is_thing(self, at: int) -> bool:
        """Whether a word ends a phrase with an article that names no person."""
        return at not in self.heads and any(self._determiner(one) for one in (at, at - 1) if one > 0)

    # Pronouns.

    def forms(self, kind: str) -> Mapping[str, tuple[str, str]]:
        """Return each pronoun of a kind -> its group and the form of the other."""
        rows = _pairs(self.words, "pronouns", kind)
        return {
            one: of for man, woman in rows for one, of in ((man, ("man", woman)), (woman, ("woman", man)))
        }

    def pronouns(self) -> Iterator[Swap]:
        """Yield pronouns of the third person that are the subject, follow a preposition, or stand behind a verb with a hyphen."""
        subject, stressed = self.forms("subject"), self.forms("stressed")
        for index, word in enumerate(self.prompt.lower):
            if self.prompt.is_left[index] or index in self.taken:
                continue
            head, _, last = word.rpartition("-")
            if head and last in subject:
                yield from self._pronoun(index, *subject[last], f"{head}-")
            elif word in stressed and self._is_stressed(index, word in subject):
                group, other = stressed[word]
                self._check_person(index, group)
                self._person(index, index, group)
                yield self.swap(index, other, group)
            elif word in subject:
                yield from self._pronoun(index, *subject[word], "")

    def _is_stressed(self, index: int, may_be_subject: bool) -> bool:
        """Whether a pronoun follows a preposition, or stands for itself: "avec elle", "c'est lui"."""
        before = self.prompt.at(index - 1)
        after = self.prompt.at(index + 1)
        if not self.joined(index) or before not in self.rules["before_stressed"]:
            return False
        is_dative = (
            not may_be_subject and self.joined(index + 1) and after.endswith(("er", "ir", "re", "en", "y"))
        )
        return not is_dative and (before not in self.rules["opens"] or self.prompt.is_last(index))

    def _pronoun(self, index: int, group: str, other: str, head: str) -> Iterator[Swap]:
        verb = head.partition("-")[0] or self._verb_after(index)
        if group == "man" and self._is_impersonal(index, verb):
            return
        is_asked = bool(head) and verb in self.rules["modal"] and self.antecedent(index) == group
        if not is_asked and (head or verb not in self.rules["human"]):
            self._check_person(index, group)
        elif self.antecedent(index) not in (None, group):
            raise NotSafeError(f"“{self.prompt.words[index]}” may be somebody else")
        self._person(index, index, group)
        yield self.swap(index, head + other, group)
        yield from self._agreeing_after(index + 1, group, is_plural=False)

    def _verb_after(self, index: int) -> str:
        at = index + 1
        while self.joined(at) and self.prompt.lower[at] in self.rules["clitics"]:
            at += 1
        return self.prompt.at(at)

    def _is_impersonal(self, index: int, verb: str) -> bool:
        after = {self.prompt.at(one) for one in range(index + 1, index + 5)}
        if verb in self.rules["impersonal"] or self.prompt.at(index + 1) == "y":
            return True
        return verb in self.rules["copulas"] and bool(after & self.rules["impersonal_adjectives"])

    def _check_person(self, index: int, group: str) -> None:
        """Raise NotSafeError where it is unclear of whom a pronoun speaks."""
        known, word = self.antecedent(index), self.prompt.words[index]
        if known not in (None, group):
            raise NotSafeError(f"“{word}” may be somebody else")
        if not self.rules["persons_only"] and (thing := self._other_noun(index, group)):
            raise NotSafeError(f"“{word}” may speak of “{thing}”")

    def _other_noun(self, index: int, group: str) -> str | None:
        """Return a noun with an article of a group between the last person and a word, unless a preposition stands before it."""
        place = max((place for place, _ in self.persons if place < index), default=-1)
        for one in range(place + 1, index - 1):
            determiner = _determiners(self.words).get((self.token(one),))
            if (
                determiner is not None
                and not determiner.is_plural
                and determiner.group(is_vowel=False) in ("", group)
                and one not in self.taken
                and self.joined(one + 1)
                and not {self.prompt.at(one - 1), self.prompt.at(one)} & self.rules["prepositions"]
                and self.prompt.at(one) not in self.rules["clitics_only"]
            ):
                return self.prompt.words[one + 1]
        return None

    def objects(self) -> Iterator[Swap]:
        """Yield pronouns that are the object of a verb whose object is a person: "la rassurer", "ayudarla", "convidá-la"."""
        forms, joined = self.forms("object"), self.forms("joined")
        stems = tuple(self.rules["person_verbs"])
        for index, word in enumerate(self.prompt.lower):
            if self.prompt.is_left[index] or index in self.taken:
                continue
            after = without_accents(self.prompt.at(index + 1))
            if word in forms and self.joined(index + 1) and self._is_object(index):
                is_noun = after.endswith(tuple(self.rules["noun_endings"]))
                if (after.startswith(stems) and not is_noun) or after in self.rules["whole_verbs"]:
                    yield from self._object(index, *forms[word])
                elif forms[word][0] == "woman" == self.antecedent(index) and self._is_clear_object(index):
                    raise NotSafeError(f"“{self.prompt.words[index]}” may speak of a thing")
            elif (suffix := next((one for one in joined if word.endswith(one)), None)) is not None:
                verb = without_accents(word.removesuffix(suffix))
                group, other = joined[suffix]
                if verb.startswith(stems) and verb.endswith(tuple(self.rules["verb_endings"])):
                    yield from self._object(index, group, word.removesuffix(suffix) + other)
                elif (
                    group == "woman" and verb.endswith(("ar", "er", "ir")) and self.antecedent(index) == group
                ):
                    raise NotSafeError(f"“{self.prompt.words[index]}” may speak of a thing")
        yield from self._participles()

    def _is_object(self, index: int) -> bool:
        before = self.prompt.at(index - 1)
        if not self.joined(index):
            return bool(self.rules["drops_pronouns"])
        after = self.prompt.at(index + 1)
        is_infinitive = before in self.rules["before_infinitive"] and after.endswith(("er", "ir", "re", "ar"))
        return before in self.rules["before_object"] or is_infinitive

    def _is_clear_object(self, index: int) -> bool:
        before = self.prompt.at(index - 1)
        return self.joined(index) and before in self.rules["before_object"] - self.rules["opens"]

    def _object(self, index: int, group: str, other: str) -> Iterator[Swap]:
        known = self.antecedent(index)
        if known is None:
            return
        if known != group:
            raise NotSafeError(f"“{self.prompt.words[index]}” may be somebody else")
        yield self.swap(index, other, group)

    def _participles(self) -> Iterator[Swap]:
        """Yield participles that agree with the object before them: "je l'ai vue"."""
        for index in range(len(self.prompt.words) - 2):
            if self.token(index) != "l'" or self.prompt.at(index + 1) not in self.rules["have"]:
                continue
            known, at = self.antecedent(index), index + 2
            while self.joined(at) and self.prompt.at(at) in self.rules["adverbs"]:
                at += 1
            if known is None or not self.joined(at):
                continue
            other = self._other_form(self.prompt.at(at), known, is_plural=False, is_loose=True)
            if other is not None and at not in self.taken:
                if (thing := self._other_noun(index, known)) is not None:
                    raise NotSafeError(f"“{self.prompt.words[index]}'” may speak of “{thing}”")
                yield self.swap(at, other, known)
