"""The words of a French, Spanish or Portuguese prompt for the other gender."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collector.counterfactual.reader import Reader
from collector.counterfactual.texts import (
    TITLES,
    NotSafeError,
    Prompt,
    Swap,
    in_case,
    without_accents,
)
from collector.counterfactual.words import (
    Determiner,
    Form,
    Words,
    begins_with_vowel,
    determiners,
    first_names,
    is_same,
    name_of,
    noun_forms,
    other_form,
    pronoun_forms,
    rows,
    short_forms,
)

_OTHER = {"man": "woman", "woman": "man"}
# The subject of an adjective: the speaker, whose gender the adjective shows; no person; or one that cannot be determined.
_SPEAKER, _THING, _UNCLEAR = "speaker", "thing", "unclear"
_BOTH_FORMS = re.compile(r"[(/·•.][-·]?(?:e|a|as|ne|trice|euse|ora)(?:s)?\b")
_MOST_ADJECTIVES = 3


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words before a noun or name: the first word, the first but articles, adjectives and articles (the nearest first)."""

    begin: int
    first: int
    adjectives: list[int]
    articles: list[tuple[int, Determiner]]


def swaps(prompt: Prompt, words: Words) -> Iterator[Swap]:
    """Yield the swaps of a prompt's nouns, articles, adjectives, titles and pronouns; first names are found elsewhere.

    Raises:
        NotSafeError: the person or the form of a word cannot be determined.
    """
    reader = _Reader(prompt, words)
    yield from reader.identities()
    found = [*reader.nouns(), *reader.pronouns(), *reader.objects(), *reader.predicates()]
    yield from (elided(prompt, words, swap) for swap in found)
    if found or reader.persons:
        rules = words.rules
        words_left = [(one, word.rpartition("-")[2]) for one, word in reader.readable()]
        unsafe = [one for one, word in words_left if word in rules["unsafe"]]
        unsafe += [one for one, word in words_left if word in rules["alone"] and prompt.is_last(one)]
        for index in (*reader.unknown, *unsafe):
            raise reader.unsure(index, "may speak of the person")


def elided(prompt: Prompt, words: Words, swap: Swap) -> Swap:
    """Return a swap with the word before it, if that is shortened before the vowel of one form only: "d'Anne", "de Paul"."""
    index = next((one for one, start in enumerate(prompt.starts) if start == swap.start), 0) - 1
    before, space = prompt.at(index), prompt.between(index + 1)
    for full, short in rows(words, "elisions"):
        if (before, space) != (full, " ") and not (f"{before}'" == short and space in ("'", "’")):
            continue
        joined = {}
        for group, form in swap.forms.items():
            is_short = form.lower().startswith("il") if full == "si" else begins_with_vowel(words, form)
            joined[group] = in_case(prompt.words[index], short if is_short else f"{full} ") + form
        if len({len(form) - len(swap.forms[group]) for group, form in joined.items()}) > 1:
            joined[swap.group] = prompt.text[prompt.starts[index] : swap.end]
            return Swap(prompt.starts[index], swap.end, joined, swap.group)
    return swap


class _Reader(Reader):
    """Reads one prompt: noun phrases first, because pronouns and adjectives refer to them."""

    def __init__(self, prompt: Prompt, words: Words) -> None:
        super().__init__(prompt, words)
        self.known, self.determiners = noun_forms(words), determiners(words)
        self.first_names = {*first_names(prompt, words)}
        # Last word of a phrase for one person -> its first word and the group.
        self.heads: dict[int, tuple[int, str]] = {}
        self.unknown: list[int] = []  # objects that are not resolved yet

    def skip(self, index: int, *rules: str) -> int:
        """Return the next word from a place on that is in none of some lists."""
        while self.joined(index) and self.has(index, *rules):
            index += 1
        return index

    def describes(self, index: int) -> bool:
        """Return whether a person's noun, a verb with a person, or a plural article precedes an identity term."""
        before = index - 1
        while self.joined(before + 1) and self.has(before, "adverbs"):
            before -= 1
        is_of = self.joined(before + 1) and self.has(before - 1, "of")
        if is_of and self.prompt.at(before - 2) in self.known:
            before -= 2  # "ma camarade de classe musulmane"
        if not self.joined(before + 1):
            return False
        if self.has(before, "copulas"):
            before -= 1
            if self.prompt.at(before) in pronoun_forms(self.words, "subject"):
                return True
        elif (several := self.determiners.get((self.prompt.at(before),))) is not None and several.is_plural:
            return self.prompt.at(index + 1) not in self.known
        return self.prompt.at(before) in self.known or self.has(before, "persons", "first_person")

    def nouns(self) -> Iterator[Swap]:
        """Yield noun phrases, and articles and adjectives before first names."""
        for index, word in self.readable():
            if index in self.first_names:
                yield from self._name(index)
            elif word in self.known and not _BOTH_FORMS.match(self.prompt.text, self.prompt.ends[index]):
                yield from self._noun(index)

    def _name(self, index: int) -> Iterator[Swap]:
        prompt, names = self.prompt, self.words.names
        group = names[name_of(self.words, prompt.words[index])]
        is_double = self.joined(index + 1) and names.get(prompt.words[index + 1]) == group
        if is_double and self.rules["double_names"]:
            raise self.unsure(index + 1, "may be a second first name")
        phrase = self._phrase(index)
        self._person(phrase.begin, index, group)
        is_other = not phrase.articles and self.has(phrase.begin - 1, "neutral")  # "une personne nommée Anne"
        if phrase.begin < index and not self.has(phrase.begin, "no_name_articles") and not is_other:
            yield from self._core(phrase, index - 1, group, None)
        yield from self._agreeing_after(index + 1, group)

    def _person(self, first: int, last: int, group: str) -> None:
        """Keep a person; surnames are part of the name."""
        prompt = self.prompt
        self.persons.append((last, group))
        self.heads[last] = (first, group)
        while prompt.written(last + 1)[:1].isupper() and last + 1 not in self.first_names:
            is_title = prompt.at(last) in TITLES and prompt.between(last + 1) == ". "
            if not is_title and not self.joined(last + 1):
                return
            last += 1
            self.heads[last] = (first, group)

    def _phrase(self, index: int) -> Phrase:
        """Return the adjectives and articles before a noun or name."""
        first = index
        adjectives: list[int] = []
        while not (articles := self._determiner(first)) and len(adjectives) < _MOST_ADJECTIVES:
            is_adjective = self.has(first - 1, "before") or self._group_of_adjective(
                first - 1, is_plural=False
            )
            if not self.joined(first) or not is_adjective:
                break
            first -= 1
            adjectives.append(first)
        begin = first - sum(length for length, _ in articles)
        is_definite = bool(articles) and articles[0][1].form not in self.rules["indefinite"]
        if is_definite and (more := self._determiner(begin)):
            articles += more
            begin -= more[0][0]
        if self.prompt.at(begin) == "a" and self.joined(begin) and self.has(begin - 1, "dative"):
            raise self.unsure(begin, "may be an article or a preposition")
        return Phrase(begin, first, adjectives, articles)

    def _determiner(self, index: int) -> list[tuple[int, Determiner]]:
        """Return the article before a word with the number of its words; nothing if there is none."""
        for length in (2, 1):
            places = range(index - length, index)
            found = self.determiners.get(tuple(self.token(one) for one in places))
            if found is not None and all(self.joined(one + 1) for one in places):
                return [(length, found)]
        return []

    def _noun(self, index: int) -> Iterator[Swap]:
        prompt, listed = self.prompt, self.known[self.prompt.lower[index]]
        if self._is_no_person(index):
            return
        is_short = f"{prompt.lower[index]}." in (one.lower() for one in listed[0].forms.values())
        if is_short and prompt.follows(index) != ".":
            return  # "m'a dit"
        phrase = self._phrase(index)
        is_plural = phrase.articles[0][1].is_plural if phrase.articles else listed[0].is_plural
        of_articles = self._group_of_articles(phrase)
        fitting = [one for one in listed if one.is_plural == is_plural]
        if not fitting:
            return
        fitting = [one for one in fitting if not (one.group and of_articles) or one.group == of_articles]
        if not fitting:
            raise NotSafeError(f"the article of “{prompt.words[index]}” does not fit")
        fitting.sort(key=lambda one: one.is_alone and bool(phrase.articles))
        form = fitting[-1] if self._is_relative(index, phrase) else fitting[0]
        near = (*phrase.adjectives, *([index + 1] if self.joined(index + 1) else []))
        of_adjectives = (self._group_of_adjective(one, is_plural=is_plural) for one in near)
        group = form.group or of_articles or next((one for one in of_adjectives if one), "")
        if not group and phrase.articles and not is_plural:
            self.heads[index] = (phrase.begin, _SPEAKER)
        if not group or (is_plural and group == "man" and not self.has(index, "plural_men")):
            return
        if not phrase.articles and not self._may_be_without_article(index, form, phrase):
            is_adjective = other_form(self.words, prompt.lower[index], group, is_plural=is_plural) is not None
            if group == "woman" and not (is_adjective and self.has(phrase.first - 1, "copulas", "linking")):
                raise NotSafeError(f"the article of “{prompt.words[index]}” is missing")
            return
        self._person(phrase.begin, index, group)
        yield from self._core(phrase, index, group, form)
        # "Retraitée et seule, je cherche …"
        after = index + 1 + (self.has(index + 1, "links") and prompt.is_last(index + 2))
        yield from self._agreeing_after(after, group, is_plural=is_plural)
        if phrase.articles:
            self._check_apposition(index, group)

    def _is_no_person(self, index: int) -> bool:
        """Return whether a noun for people describes another one, or names a thing, by the words next to it."""
        prompt, is_followed = self.prompt, self.joined(index + 1)
        if self.has(index, "before", "fronts") and is_followed and prompt.at(index + 1) in self.known:
            return True  # "una joven ingeniera"
        is_cry = re.match(r", \D", prompt.text[prompt.ends[index] :]) is not None
        if is_cry and prompt.begins(index) and self.has(index, "fillers"):
            return True  # "Hombre, claro"
        if self.has(index, "also_things") and is_followed:  # "le facteur de risque"
            is_adjective = self._group_of_adjective(index + 1, is_plural=False) != ""
            return is_adjective or self.has(index + 1, "thing_adjectives")
        if self.has(index, "royal"):  # "la reine d'Angleterre", and the queen of a game
            is_of = self.has(index + 1, "of") and prompt.written(index + 2)[:1].isupper()
            is_of = is_of and not self.has(index - 1, "indefinite")
            return is_of or any(one in self.rules["games"] for one in prompt.lower)
        is_front = self.has(index - 1, "before", "fronts") or bool(self._determiner(index))
        is_front = is_front or not self.joined(index)
        # "la baja médica"
        return not is_front and self.has(index, "also_adjectives") and self._is_thing(index - 1)

    def _check_apposition(self, index: int, group: str) -> None:
        """Raise NotSafeError where an unknown noun says what a person is: "la inspectora, una vieja amargada"."""
        at = index + 1
        if self.prompt.between(at).strip() == "," and self.has(at, "indefinite") and self.joined(at + 1):
            article = self.determiners[(self.prompt.at(at),)]
            first, end = self.prompt.clause(at)
            if article.group(is_vowel=False) == group and not any(
                self.prompt.at(one) in self.known or self.has(one, "neutral") for one in range(first, end)
            ):
                raise self.unsure(at + 1, "may speak of the person")

    def _group_of_articles(self, phrase: Phrase) -> str:
        is_vowel = begins_with_vowel(self.words, self.prompt.lower[phrase.first])
        groups = [
            one.group(is_vowel=is_vowel and not place) for place, (_, one) in enumerate(phrase.articles)
        ]
        return next((group for group in groups if group), "")

    def _is_relative(self, index: int, phrase: Phrase) -> bool:
        """Return whether a noun names the wife or daughter of somebody: "ma femme", "la fille de …"."""
        is_of = (
            self.has(index + 1, "of") and self.joined(index + 1) and self.prompt.between(index + 2).isspace()
        )
        return self.has(phrase.first - 1, "possessives") or (is_of and self.has(phrase.first - 1, "definite"))

    def _may_be_without_article(self, index: int, form: Form, phrase: Phrase) -> bool:
        before = phrase.first - 1
        if form.is_alone or phrase.adjectives:
            return True
        if self.joined(index):
            while self.has(before, "adverbs"):
                before -= 1
            is_job = self.has(before, "of") and self.has(before - 1, "jobs")
            if self.has(before, "copulas") and self._subject(before) == _THING:
                return False  # "Mon chien est blessé."
            is_job = is_job or (self.prompt.at(before - 1), self.prompt.at(before)) == ("tant", "que")
            return is_job or self.has(before, "copulas", "plural_copulas", "first_person", "bare")
        last = index + (self.joined(index + 1) and bool(self._group_of_adjective(index + 1, is_plural=False)))
        is_headline = self.prompt.follows(last) == "," or self.has(last + 1, "of", "headlines")
        if self.prompt.begins(index) and is_headline:
            return True  # "Étudiante en droit, je cherche …"
        is_apposition = self.prompt.between(index).strip() in (",", "(") and before in self.heads
        return is_apposition and self.heads[before][1] == form.group

    def _core(self, phrase: Phrase, last: int, group: str, noun: Form | None) -> Iterator[Swap]:
        """Yield the swap of articles, adjectives and noun; without a noun, of the words before a first name."""
        prompt, other, end = self.prompt, _OTHER[group], self.prompt.ends[last]
        is_plural = bool(phrase.articles) and phrase.articles[0][1].is_plural
        following, parts = prompt.written(last + 1), []
        if noun is not None:
            following = noun.forms[other]
            parts.append(in_case(prompt.words[last], following))
            end += noun.forms[group].endswith(".")
        for one in phrase.adjectives:
            form = other_form(self.words, prompt.lower[one], group, is_plural=is_plural) or prompt.lower[one]
            if other == "man" and (begins_with_vowel(self.words, following) or self.rules["drops_pronouns"]):
                form = short_forms(self.words).get(form, form)
            following = form
            parts.insert(0, in_case(prompt.words[one], form))
        place = phrase.first
        for length, article in phrase.articles:
            place -= length
            is_vowel = begins_with_vowel(self.words, following)
            written = prompt.text[prompt.starts[place] : prompt.ends[place + length - 1]]
            following = (article.before_vowel if is_vowel else article.before_consonant)[other]
            parts.insert(0, in_case(written, following))
        text = "".join(part if part.endswith("'") else f"{part} " for part in parts).removesuffix(" ")
        self.taken.update(range(phrase.begin, last + 1))
        own = prompt.text[prompt.starts[phrase.begin] : end]
        if text != own:
            yield Swap(prompt.starts[phrase.begin], end, {group: own, other: text}, group)

    def _group_of_adjective(self, index: int, *, is_plural: bool) -> str:
        word = self.prompt.at(index)
        return next((one for one in _OTHER if other_form(self.words, word, one, is_plural=is_plural)), "")

    def _agreeing_after(
        self,
        at: int,
        group: str,
        *,
        is_plural: bool = False,
        is_loose: bool = False,
        is_reflexive: bool = False,
    ) -> Iterator[Swap]:
        """Yield adjectives from a place on, with those that "and" or a comma joins to them."""
        prompt, is_found = self.prompt, False
        if self.has(at, "of") and self.has(at + 1, "years"):
            at += 2  # "de 45 ans"
        elif self.has(at, "years") and prompt.between(at).startswith(","):
            at, is_found = at + 1, True  # "patiente, 67 ans, tombée"
        while at < len(prompt.words) and not prompt.is_left[at]:
            after = self.skip(at + 1, "adverbs") if self.has(at, "adverbs") else at
            is_apposition = prompt.between(at).strip() == "," and (is_found or prompt.is_last(after))
            if not self.joined(at) and not is_apposition:
                return
            word = prompt.lower[at]
            if at - 1 in self.heads and self.has(at, "adverbs"):
                self.heads.setdefault(at, self.heads[at - 1])
            if prompt.words[at].istitle():
                return
            if not self.has(at, "adverbs") and not (is_found and self.has(at, "links")):
                other = other_form(
                    self.words, word, group, is_plural=is_plural, is_loose=is_loose and not is_found
                )
                is_blocked = is_reflexive and group == "man" and self.has(at + 1, "objects_follow")
                if other is None and not is_same(self.words, word):
                    return
                is_found = True
                if at - 1 in self.heads:
                    self.heads.setdefault(at, self.heads[at - 1])
                if other is not None:
                    has_both = _BOTH_FORMS.match(prompt.text, prompt.ends[at]) is not None
                    if is_blocked or has_both or at in self.taken or self.has(at + 1, "neutral"):
                        return
                    yield self.swap(at, other, group)
            at += 1

    def predicates(self) -> Iterator[Swap]:
        """Yield adjectives and participles that a form of "to be" says of a person."""
        for index, word in [*enumerate(self.prompt.lower)]:
            verb, at = word.partition("-")[0], self.skip(index + 1, "adverbs")
            is_first = verb in self.rules["first_person"]
            is_plural = verb in self.rules["plural_copulas"]
            is_of_both = any(not form.group for form in self.known.get(self.prompt.at(at), ()))
            if self.prompt.is_left[index] or not self.joined(at) or at in self.taken or is_of_both:
                continue
            if self.has(at, "impersonal_adjectives") and index - 1 not in self.heads:
                continue
            kinds = ("copulas", "linking", "plural_copulas")
            if not is_first and not any(verb in self.rules[kind] for kind in kinds):
                continue
            subject = _SPEAKER if is_first else self._subject(index)
            of_word = self._group_of_adjective(at, is_plural=is_plural)
            ahead = next((of for head, of in self.heads.values() if head == at + 1), "")
            if subject not in _OTHER and ahead == of_word and ahead in _OTHER:
                yield from self._agreeing_after(at, ahead)  # "¿Está cansada mi madre?"
            elif subject == _SPEAKER and of_word:
                yield from self._agreeing_after(at, of_word)
            elif subject == _UNCLEAR and any(of == of_word for _, of in self.persons):
                raise NotSafeError(f"it is unclear whom “{self.prompt.words[at]}” describes")
            elif subject in _OTHER:
                yield from self._predicate(index, at, subject, is_plural=is_plural)

    def _predicate(self, index: int, at: int, group: str, *, is_plural: bool) -> Iterator[Swap]:
        article = self.determiners.get((self.token(at),))
        if article is not None and self.has(at, "predicate_articles"):
            yield from self._superlative(index, at, group, article)
            return
        is_reflexive = self.token(index - 1) in ("s'", "m'", "t'")
        found = [
            *self._agreeing_after(at, group, is_plural=is_plural, is_loose=True, is_reflexive=is_reflexive)
        ]
        if is_plural and not found and self.prompt.at(at) in self.known:
            raise self.unsure(at, "may have another form")
        yield from found
        is_known = found or is_same(self.words, self.prompt.lower[at]) or self.has(at, "no_adjectives")
        ends = self.prompt.lower[at].endswith(tuple(self.rules["women_endings"]))
        if not is_known and group == "woman" and ends:
            raise self.unsure(at, "may have another form")

    def _superlative(self, index: int, at: int, group: str, article: Determiner) -> Iterator[Swap]:
        """Yield "la plus grande" as "le plus grand"."""
        last = self.skip(at + 1, "adverbs")
        if article.group(is_vowel=False) != group or not self.joined(last) or self.has(index, "linking"):
            return
        stays = is_same(self.words, self.prompt.at(last)) or self.has(last, "before")
        other = self.prompt.at(last) if stays else other_form(self.words, self.prompt.at(last), group)
        if other is not None and (self.prompt.is_last(last) or self.has(last + 1, "of")):
            yield self.swap(at, article.before_consonant[_OTHER[group]], group)
            if not stays:
                yield self.swap(last, other, group)
        elif last not in self.taken and not self.has(last, "neutral") and not self.has(last + 1, "neutral"):
            raise self.unsure(last, "may have another form")

    def _subject(self, index: int) -> str:
        """Return the group of the person that the subject of a verb is; or _SPEAKER, _THING, _UNCLEAR."""
        prompt = self.prompt
        if "-" in prompt.lower[index]:
            return self.heads.get(index, (0, _THING))[1]
        at = index - 1
        while self.joined(at + 1) and self.has(at, "between"):
            at -= 1
        is_start = not self.joined(at + 1)
        if not is_start and self.has(at, "speaker"):
            return _SPEAKER
        if not is_start and (group := self._head_of(at) or self._before_relative_clause(index)):
            return group
        known = self.antecedent(index)
        if is_start or self.has(at, "opens"):
            if not is_start and at - 1 in self.heads and self.has(at, "relative"):
                return self.heads[at - 1][1]
            if known is None or (not is_start and self._is_thing(at - 1)):
                return _THING
            may_drop = is_start or self.rules["drops_pronouns"] or self.has(at, "links")
            return known if may_drop and not self._other_noun(index, known) else _UNCLEAR
        if known is not None and self.has(index, "infinitives"):
            return known
        return _THING if at in self.heads or self._is_thing(at) else _UNCLEAR

    def _head_of(self, at: int) -> str | None:
        """Return the group of the person whose phrase ends with a word: of "la directora de la empresa" that of the first."""
        while at in self.heads:
            first, group = self.heads[at]
            is_contracted = self.has(first, "prepositions")  # "del vecino"
            if not is_contracted and not (self.joined(first) and self.has(first - 1, "prepositions")):
                return group
            at = first - 1 if is_contracted else first - 2
        places = (one - 1 for one in range(at - 1, max(at - 4, 0), -1) if self.has(one, "prepositions"))
        place = next((one for one in places if one in self.heads), None)
        return None if place is None else self._head_of(place)

    def _before_relative_clause(self, index: int) -> str | None:
        """Return the group of a person before a relative clause: "la femme qui garde mon chien est …"."""
        for last, (_, group) in self.heads.items():
            is_one = (
                self.joined(last + 1) and self.has(last + 1, "relative") and not self._determiner(last + 3)
            )
            inside = range(last + 2, index)
            has_other = any(self.has(one, "clauses") for one in inside)
            if is_one and self.prompt.clause(last)[1] > index and not has_other:
                return group
        return None

    def _is_thing(self, at: int) -> bool:
        """Return whether a word ends a phrase with an article that names no person."""
        return at not in self.heads and any(self._determiner(one) for one in (at, at - 1) if one > 0)

    def pronouns(self) -> Iterator[Swap]:
        """Yield pronouns of the third person that are the subject, follow a preposition, or follow a verb with a hyphen."""
        subject, stressed = pronoun_forms(self.words, "subject"), pronoun_forms(self.words, "stressed")
        for index, word in self.readable():
            head, _, last = word.rpartition("-")
            if head and last in subject:
                yield from self._pronoun(index, *subject[last], f"{head}-")
            elif word in stressed and self._is_stressed(index, is_dative=word not in subject):
                group, other = stressed[word]
                self._check_person(index, group, is_human=self._is_for_person(index))
                self._person(index, index, group)
                yield self.swap(index, other, group)
            elif word in subject:
                yield from self._pronoun(index, *subject[word], "")

    def _is_stressed(self, index: int, *, is_dative: bool) -> bool:
        """Return whether a pronoun is stressed: "avec elle", "c'est lui", but not "lui dire"."""
        if not self.joined(index) or not self.has(index - 1, "before_stressed"):
            return False
        is_verb = self.joined(index + 1) and self.prompt.at(index + 1).endswith(("er", "ir", "re", "en", "y"))
        return not (is_dative and is_verb) and (
            not self.has(index - 1, "opens") or self.prompt.is_last(index)
        )

    def _pronoun(self, index: int, group: str, other: str, head: str) -> Iterator[Swap]:
        verb = head.partition("-")[0] or self.prompt.at(self.skip(index + 1, "clitics"))
        at = self.skip(index + 1, "clitics", "adverbs")
        after = {self.prompt.at(at + 1), self.prompt.at(at + 2)}
        is_called = not head and verb in self.rules["copulas"] and any(one in self.known for one in after)
        if group == "man" and not is_called and self._is_impersonal(index, verb):
            return
        is_human = is_called or self._is_for_person(index) or self.has(index, "owners")
        is_human = is_human or verb in self.rules["modal" if head else "human"]
        is_human = is_human and self.antecedent(index) is not None
        self._check_person(index, group, is_human=is_human)
        self._person(index, index, group)
        yield self.swap(index, head + other, group)
        yield from self._agreeing_after(index + 1, group)

    def _is_for_person(self, index: int) -> bool:
        """Return whether a preposition that is used with people precedes a pronoun: "pour lui"."""
        return self.has(index - 1, "for_people") and self.antecedent(index) is not None

    def _is_impersonal(self, index: int, verb: str) -> bool:
        if verb in self.rules["impersonal"] or self.prompt.at(index + 1) == "y":
            return True
        after = range(index + 1, index + 5)
        return verb in self.rules["copulas"] and any(self.has(one, "impersonal_adjectives") for one in after)

    def _check_person(self, index: int, group: str, *, is_human: bool = False) -> None:
        """Raise NotSafeError if it is unclear who a pronoun refers to."""
        if self.antecedent(index) not in (None, group):
            raise self.unsure(index, "may be somebody else")
        if not is_human and not self.rules["persons_only"] and (thing := self._other_noun(index, group)):
            raise self.unsure(index, f"may speak of “{thing}”")

    def _other_noun(self, index: int, group: str, *, has_objects: bool = False) -> str | None:
        """Return a noun before a word that has an article of a group, is no person and, as a rule, follows no preposition."""
        for one in range(index - 1 if "-" in self.prompt.lower[index] else index - 2):
            article = self.determiners.get((self.token(one),))
            is_vowel = begins_with_vowel(self.words, self.prompt.at(one + 1))
            if article is None or article.is_plural or article.group(is_vowel=is_vowel) not in ("", group):
                continue
            is_object = self.has(one, "prepositions") or self.has(one - 1, "prepositions")
            is_read = one not in self.taken and self.joined(one + 1) and (has_objects or not is_object)
            if is_read and not self.has(one + 1, "opens", "pronouns"):
                return self.prompt.words[one + 1]
        return None

    def objects(self) -> Iterator[Swap]:
        """Yield pronouns that are the object of a verb whose object is a person: "la rassurer", "ayudarla", "convidá-la"."""
        forms, behind = pronoun_forms(self.words, "object"), pronoun_forms(self.words, "joined")
        stems, endings = tuple(self.rules["person_verbs"]), tuple(self.rules["verb_endings"])
        for index, word in self.readable():
            after = without_accents(self.prompt.at(index + 1))
            suffix = next((one for one in behind if word.endswith(one)), "")
            verb = without_accents(word.removesuffix(suffix))
            if word in forms and self._is_object(index):
                is_noun = after.endswith(tuple(self.rules["noun_endings"]))
                is_verb = (
                    word == "la" and after.endswith(("er", "ir")) and after not in self.rules["no_verbs"]
                )
                is_last = after.endswith("o") and self.prompt.is_last(index + 1)
                is_clear = self.joined(index) and (
                    (is_verb and self.has(index - 1, "before_infinitive"))
                    or (is_last and self.has(index - 1, "how"))
                    or (self.has(index - 1, "before_object") and not self.has(index - 1, "opens"))
                    or self.prompt.at(index - 1).partition("-")[0] in self.rules["modals"]
                )
                if (after.startswith(stems) and not is_noun) or self.has(index + 1, "whole_verbs"):
                    yield from self._object(index, *forms[word])
                elif is_clear and self._is_of_person(index, forms[word][0], after):
                    if not after.endswith(("ar", "er", "ir", "re")):
                        raise self.unsure(index, "may speak of a thing")
                    yield self.swap(index, forms[word][1], forms[word][0])
            elif suffix and verb.startswith(stems) and verb.endswith(endings):
                yield from self._object(
                    index, behind[suffix][0], word.removesuffix(suffix) + behind[suffix][1]
                )
            elif suffix and (verb.endswith(("ar", "er", "ir")) or suffix.startswith("-l")):
                group, other = behind[suffix]
                if not self._determiner(index) and self._is_of_person(index, group, verb):
                    yield self.swap(index, word.removesuffix(suffix) + other, group)
        yield from self._participles()

    def _is_of_person(self, index: int, group: str, verb: str) -> bool:
        """Return whether the object pronoun of a verb refers to the last person, not to a thing or an act: "le dire".

        Raises:
            NotSafeError: a thing was named, too.
        """
        is_said = verb.startswith(tuple(self.rules["things_done"])) or self.has(index + 1, "clitics")
        if self.antecedent(index) != group or is_said:
            return False
        if self._other_noun(index, group, has_objects=True) is not None:
            raise self.unsure(index, "may speak of a thing")
        return True

    def _is_object(self, index: int) -> bool:
        after = self.prompt.at(index + 1)
        if not self.joined(index) or not self.joined(index + 1):
            return bool(self.rules["drops_pronouns"]) and self.joined(index + 1)
        before = self.prompt.at(index - 1).partition("-")[0]
        is_infinitive = before in self.rules["before_infinitive"] and after.endswith(("er", "ir", "re", "ar"))
        return self.has(index - 1, "before_object", "how") or is_infinitive

    def _object(self, index: int, group: str, other: str) -> Iterator[Swap]:
        known = self.antecedent(index)
        if known is None:
            self.unknown.append(index)
        elif known != group or any(self.has(one, "children") for one in range(index)):
            raise self.unsure(index, "may be somebody else")
        else:
            yield self.swap(index, other, group)

    def _participles(self) -> Iterator[Swap]:
        """Yield participles that agree with the object before them: "je l'ai vue"."""
        for index in range(len(self.prompt.words) - 2):
            known, at = self.antecedent(index), self.skip(index + 2, "adverbs")
            if self.token(index) != "l'" or not self.has(index + 1, "have") or known is None:
                continue
            other = (
                other_form(self.words, self.prompt.at(at), known, is_loose=True) if self.joined(at) else None
            )
            if other is not None and at not in self.taken:
                if (thing := self._other_noun(index, known)) is not None:
                    raise self.unsure(index, f"may speak of “{thing}”")
                yield from self._agreeing_after(at, known, is_loose=True)
