"""Swap the words of a German prompt for those of the other gender: nouns with their articles and adjectives, pronouns, titles."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from collector.counterfactual.german_nouns import Noun, is_noun, noun_of, plurals
from collector.counterfactual.reader import Reader
from collector.counterfactual.texts import NotSafeError, Prompt, Swap
from collector.counterfactual.words import Words, name_of

# Endings of articles by case: after "d", "dies", … and after "ein", "mein", ….
_DER = {
    "man": {"nom": "der", "acc": "den", "dat": "dem", "gen": "des"},
    "woman": {"nom": "die", "acc": "die", "dat": "der", "gen": "der"},
    "girl": {"nom": "das", "acc": "das", "dat": "dem", "gen": "des"},  # "das Mädchen"
}
_STRONG = {
    "man": {"nom": "er", "acc": "en", "dat": "em", "gen": "es"},
    "woman": {"nom": "e", "acc": "e", "dat": "er", "gen": "er"},
    "girl": {"nom": "es", "acc": "es", "dat": "em", "gen": "es"},
}
_LIKE_DER = "dies|jed|welch|jen"
_STEMS_LIKE_DER = frozenset(_LIKE_DER.split("|"))
_OWNERS = "ein|kein|mein|dein|sein|ihr|unser|unsr|euer|eur"
_ARTICLE = re.compile(rf"(?P<stem>{_LIKE_DER}|{_OWNERS})(?P<ending>e|er|en|em|es)?")
_ARTICLE_OF_WOMAN = re.compile(r"(ein|mein|sein|dein|ihr|kein)er?")
_CONTRACTED = {"zum": ("zu", "dat"), "vom": ("von", "dat"), "beim": ("bei", "dat"), "zur": ("zu", "dat")}
_JOINED = {"zu": "zum", "von": "vom", "bei": "beim"}
_RELATIVE = {"der": "die", "den": "die", "dem": "der", "dessen": "deren"}
_QUANTITIES = "all|viel|beid|einig|mehrer|manch|solch|wenig|ander"
_PLURAL_DETERMINER = re.compile(rf"(?:d|dies|jen|welch|{_OWNERS}|{_QUANTITIES})(?:ie|en|er|e)")
_CASES = ("nom", "acc", "dat", "gen")
_CHILD = Noun(("Junge", "Jungen", "Jungen", "Jungen"), "Mädchen", is_weak=True)


def swaps(prompt: Prompt, words: Words) -> Iterator[Swap]:
    """Yield the swaps of a prompt's nouns, titles, pronouns and adjectives; first names are found elsewhere.

    Raises:
        NotSafeError: the case or the person of a word cannot be determined.
    """
    _write_nouns(prompt, words)
    reader = _Reader(prompt, words)
    yield from reader.identities()
    if not reader.names_person():
        return
    yield from reader.nouns()
    yield from reader.pronouns()


def _write_nouns(prompt: Prompt, words: Words) -> None:
    """Read the nouns of a prompt in capitals, or of one without capitals, as if they were written as usual."""
    is_informal = not any(
        word[0].isupper() and not prompt.begins(index) and prompt.lower[index] not in ("sie", "ihnen", "ihr")
        for index, word in enumerate(prompt.words)
    )
    for index, word in enumerate(prompt.words):
        usual = word.capitalize()
        if is_noun(words, usual) or usual in ("Herr", "Herrn"):
            if (word.isupper() or is_informal) and not prompt.begins(index):
                prompt.words[index] = usual
        elif word.isupper() and len(word) > 1 and usual not in words.names:
            prompt.words[index] = word.lower()


class _Reader(Reader):
    """Reads one prompt from left to right; nouns come first, because pronouns refer to them."""

    def names_person(self) -> bool:
        persons = ("Mädchen", "Junge", "Jungen", "Herr", "Herrn", "er", "ihn", "sie", "Er", "Sie", "ihm")
        read = (word for word, left in zip(self.prompt.words, self.prompt.is_left, strict=True) if not left)
        return any(
            word in persons or is_noun(self.words, word) or name_of(self.words, word) in self.words.names
            for word in read
        ) or any(self._participle(word) for word in self.prompt.words)

    def describes(self, index: int) -> bool:
        """Return whether an adjective such as "muslimische" precedes a person."""
        after = "" if self.prompt.is_last(index) else self.prompt.written(index + 1)
        if after.lower() in self.rules["persons"] or is_noun(self.words, after):
            return True
        ends = self.prompt.is_last(index) or after in ("und", "oder")
        subject = self.prompt.at(index - 2)
        return (
            ends
            and self.prompt.at(index - 1) in ("bin", "bist", "ist", "sind", "war", "waren")
            and (subject in self.rules["nominative"] or subject in self.rules["persons"])
        )

    def nouns(self) -> Iterator[Swap]:
        """Yield nouns with their articles and adjectives, and titles."""
        for index, word in enumerate(self.prompt.words):
            if self.prompt.is_left[index]:
                continue
            if (name := name_of(self.words, word)) in self.words.names:
                yield from self._first_name(index, self.words.names[name])
            follows_name = self.prompt.written(index + 1)[:1].isupper() and not self.prompt.is_last(index)
            if word in ("Herr", "Herrn") or (
                word == "Frau" and follows_name and not _ARTICLE_OF_WOMAN.fullmatch(self.prompt.at(index - 1))
            ):
                if not follows_name and not re.fullmatch("de[rmn]|ein(en)?", self.prompt.at(index - 1)):
                    raise NotSafeError(f"“{word}” names nobody here")
                yield from self._title(index)
            elif (noun := noun_of(self.words, word)) is not None and not self._is_royal(index):
                if word in self.rules["things"]:
                    raise self.unsure(index, "may be a thing")
                if not self._is_surname(index, noun):
                    yield from self._noun(index, noun)
            elif word in plurals(self.words):
                yield from self._plural(index)
            elif word == "Mädchen" or (word in ("Junge", "Jungen") and self._before_article(index)):
                yield from self._child(index)
            elif (stem := self._participle(word)) is not None:
                yield from self._nominal(index, stem)

    def _follows_gap(self, index: int) -> bool:
        """Return whether anything but a space precedes a word."""
        return bool(self.prompt.between(index).strip()) or index <= 0

    def _is_royal(self, index: int) -> bool:
        """Return whether a king or queen is one of a country or of a game."""
        prompt = self.prompt
        is_of = prompt.at(index + 1) == "von" and prompt.written(index + 2)[:1].isupper()
        is_of = is_of or any(one in self.rules["games"] for one in prompt.lower)
        return (
            is_of
            and prompt.words[index] in self.rules["royal"]
            and prompt.at(index - 1) not in ("ein", "eine")
        )

    def _is_surname(self, index: int, noun: Noun) -> bool:
        """Return whether a first name or title is right before a word ("Peter Fischer"); raise NotSafeError if unsure."""
        prompt, before = self.prompt, self.prompt.written(index - 1)
        if before in ("Herr", "Herrn") and prompt.words[index] in self.rules["offices"]:
            raise self.unsure(index, "is an office")
        is_titled = before in ("Herr", "Herrn", "Frau", "Dr", "Prof", "Familie") or before in self.words.names
        if prompt.between(index).strip(".") != " " or not is_titled:
            return False
        is_asked = prompt.is_question(index) and self.has(index - 2, "bare")
        if prompt.words[index] == noun.woman or is_asked:
            raise self.unsure(index, "may be a surname or what somebody is")
        return True

    def _first_name(self, index: int, group: str) -> Iterator[Swap]:
        self.persons.append((index, group))
        opens = self.prompt.begins(index - 1) or self.has(index - 2, "before_greetings")
        if opens and not self._follows_gap(index):  # "Liebe Anna", and not "Ich liebe Anna"
            yield from self._address(index - 1, group)

    def _address(self, index: int, group: str) -> Iterator[Swap]:
        """Yield an adjective that addresses a woman or a man: "liebe" as "lieber"."""
        word = self.prompt.at(index)
        if group == "woman" and word in self.rules["greetings"]:
            yield self.swap(index, f"{word}r", group)
        elif group == "man" and word.endswith("r") and word.removesuffix("r") in self.rules["greetings"]:
            yield self.swap(index, word.removesuffix("r"), group)

    def _child(self, index: int) -> Iterator[Swap]:
        """Yield "der Junge" as "das Mädchen"; its relative pronoun differs, too."""
        if self.prompt.between(index + 1).strip() == "," or "es" in self.prompt.lower:
            raise self.unsure(index, "has an article that its counterpart does not have")
        group = "woman" if self.prompt.words[index] == "Mädchen" else "man"
        yield from self._noun(index, _CHILD, group)

    def _plural(self, index: int) -> Iterator[Swap]:
        """Yield the swap of a plural; the words before it are the same for both genders, and show the case.

        Raises:
            NotSafeError: the case cannot be determined.
        """
        prompt = self.prompt
        group, other, dative = plurals(self.words)[prompt.words[index]]
        pairs = ((index - 2, index - 1), (index + 2, index + 1))  # "Kolleginnen und Kollegen"
        if any(
            prompt.at(by) in ("und", "oder") and prompt.written(one) in (other, dative) for one, by in pairs
        ):
            return
        if other == "Beamten" and not re.fullmatch("die|den|der|.+en", prompt.at(index - 1)):
            raise self.unsure(index, "may be Beamte or Beamten")
        if other == dative:
            yield self.swap(index, other, group)
            return
        first = index
        while self._is_before_plural(first - 1) and not prompt.between(first).strip(" 0123456789"):
            first -= 1
        before = "" if prompt.between(first).strip(" 0123456789") else prompt.at(first - 1)
        determiner = next(filter(_PLURAL_DETERMINER.fullmatch, prompt.lower[first:index]), None)
        is_dative = before in self.rules["dat"] if determiner is None else determiner.endswith("en")
        if determiner is not None:
            is_unsure = is_dative and "," in prompt.between(first)  # "ein Mann, den Frauen lieben"
        else:
            is_verb = prompt.begins(index - 1) or self.has(index - 2, "opens", "nominative")
            is_adjective = first < index and prompt.at(index - 1).endswith("en") and not is_verb
            has_verb = self._clause_has(index, self.rules["dative_verbs"])
            is_unsure = not is_dative and (before == "an" or is_adjective or has_verb)
        if is_unsure:
            raise self.unsure(index, "may be in the dative")
        yield self.swap(index, dative if is_dative else other, group)

    def _is_before_plural(self, index: int) -> bool:
        word, kinds = self.prompt.at(index), ("dat", "acc", "gen", "finite", "plural_verbs", "opens")
        is_read = re.fullmatch(r"die|d?e[nr]|\w{2,}e[nr]?|zwei|drei|vier", word) is not None
        return is_read and not any(word in self.rules[one] for one in kinds)

    def _participle(self, word: str) -> str | None:
        """Return the stem of an adjective that is a noun for a person, such as Bekannt of "Bekannter"."""
        match = re.fullmatch(r"(\w+?)e[rn]?", word)
        return match[1] if match is not None and match[1] in self.rules["nominal"] else None

    def _nominal(self, index: int, stem: str) -> Iterator[Swap]:
        """Yield "der Bekannte" as "die Bekannte"; its group is that of its article, and none in the plural."""
        prompt = self.prompt
        word = prompt.words[index]
        first = index
        while first > 0 and not self._follows_gap(first) and self._is_adjective(first - 1):
            first -= 1
        article = "" if self._follows_gap(first) else prompt.at(first - 1)
        match = _ARTICLE.fullmatch(article)
        is_mixed = match is not None and match["stem"] not in _STEMS_LIKE_DER
        if word.endswith("en"):
            is_oblique = article in ("den", "dem", "des", "vom", "beim", "zum") or (
                match is not None and match["ending"] in ("en", "em", "es")
            )
            if article.endswith("er") and article not in ("unser", "euer"):
                if not self.has(first - 2, "dat"):
                    raise self.unsure(index, "may be one or several")
                group = "woman"
            elif is_oblique:
                group = "man"
            else:
                return
        elif word.endswith("er"):
            if article in self.rules["bare"]:  # "als Vorsitzender"
                yield self.swap(index, f"{stem}e", "man")
            if not is_mixed or (match is not None and match["ending"]):
                return
            group = "man"
        elif article == "der" or (match is not None and not is_mixed and match["ending"] == "er"):
            group = "man"
        elif article in ("die",) or (match is not None and match["ending"] == "e"):
            group = "woman"
        else:
            return
        nominative = f"{stem}er" if is_mixed else f"{stem}e"
        man = (nominative, f"{stem}en", f"{stem}en", f"{stem}en")
        # A Beamter is a Beamtin; all others end as adjectives do.
        woman, oblique = ("Beamtin", "") if stem == "Beamt" else (f"{stem}e", f"{stem}en")
        yield from self._noun(index, Noun(man, woman, is_weak=True, woman_oblique=oblique), group)

    def _title(self, index: int) -> Iterator[Swap]:
        """Yield "Frau Maier" as "Herr Maier" or "Herrn Maier", with the adjective and article before it."""
        group = "woman" if self.prompt.words[index] == "Frau" else "man"
        self.persons.append((index, group))
        at = index - 1
        before = self.prompt.at(at)
        if not self._follows_gap(index) and (address := [*self._address(at, group)]):
            yield from address
            case = "nom"
        elif before in ("der", "die", "dem", "den", "des"):
            case = self._case(at, index, group)
            yield self.swap(at, _DER["woman" if group == "man" else "man"][case], group)
        else:
            case = "nom" if group == "man" else self._case(index, index, group, is_bare=True)
        yield self.swap(index, "Frau" if group == "man" else "Herr" if case == "nom" else "Herrn", group)

    def _noun(  # noqa: C901 (one step for each kind of article)
        self, index: int, noun: Noun, group: str | None = None
    ) -> Iterator[Swap]:
        prompt = self.prompt
        word = prompt.words[index]
        group = group or ("woman" if word == noun.woman else "man")
        first, adjectives = index, []
        while first > 0 and not self._follows_gap(first) and self._is_adjective(first - 1):
            first -= 1
            adjectives.append(first)
        at = first - 1
        article = "" if self._follows_gap(first) else prompt.at(at)
        match = _ARTICLE.fullmatch(article)
        if article in ("der", "die", "den", "dem", "des", "das"):
            kind, ending = "der", article
        elif article in _CONTRACTED:
            kind, ending = "contracted", article
        elif match is not None:
            is_der = match["stem"] in _STEMS_LIKE_DER
            kind, ending = "strong" if is_der else "mixed", match["ending"] or ""
        else:
            yield from self._bare(index, noun, group, adjectives)
            return
        case = self._case_of_noun(at, index, noun, group, kind, ending)
        if case is None:
            return
        stem = None if match is None else match["stem"]
        is_polite = prompt.words[at][0].isupper() and not prompt.begins(at)
        if kind == "mixed" and stem in ("sein", "ihr") and not is_polite:
            # His friend, her friend: the owner changes, too.
            if self.antecedent(at) != ("man" if stem == "sein" else "woman"):
                raise self.unsure(at, "has no person before it")
            stem = "ihr" if stem == "sein" else "sein"
        self.persons.append((index, group))
        is_child = noun.woman == "Mädchen"
        other = "man" if group == "woman" else "girl" if is_child else "woman"
        position = _CASES.index(case)
        of_woman = noun.woman_oblique if noun.woman_oblique and case in ("dat", "gen") else noun.woman
        noun_form = noun.man[position] if other == "man" else of_woman
        if other == "girl" and case == "gen":
            noun_form = "Mädchens"
        if noun_form == "Beamte" and kind == "mixed":
            noun_form = "Beamter"
        if kind == "contracted" and is_child:
            pass  # "zum Mädchen"
        elif kind == "contracted":
            preposition = _CONTRACTED[article][0]
            changed = "zur" if preposition == "zu" else f"{preposition} der"
            yield self.swap(at, changed if other == "woman" else _JOINED[preposition], group)
        elif kind == "der":
            before = prompt.at(at - 1)
            is_joined = (case, other, article) == ("dat", "man", "der") and before in _JOINED
            if is_joined and not self._follows_gap(at):
                yield self.swap(at, _JOINED[before], group, first=at - 1)
            else:
                yield self.swap(at, _DER[other][case], group)
        else:
            assert stem is not None
            yield self.swap(at, _article(stem, kind, other, case), group)
        for one in sorted(adjectives):
            yield from self._adjective(one, other, case, is_mixed=kind == "mixed", group=group)
        yield self.swap(index, noun_form, group)
        yield from self._relative(index, group)

    def _is_adjective(self, index: int) -> bool:
        word = self.prompt.words[index]
        return (
            word == word.lower()
            and re.fullmatch(r"(\d+-)?\w{2,}e[rnms]?", word) is not None
            and _ARTICLE.fullmatch(word) is None
            and word not in self.rules["no_adjectives"]
            and not any(word in self.rules[name] for name in ("acc", "dat", "gen", "opens", "finite"))
            and self._before_article(index)
        )

    def _before_article(self, index: int) -> bool:
        """Return whether an article, or an adjective after one, precedes a word."""
        before = self.prompt.at(index - 1)
        if self._follows_gap(index):
            return False
        is_article = before in ("der", "die", "den", "dem", "des", *_CONTRACTED) or _ARTICLE.fullmatch(before)
        return bool(is_article) or before in ("sehr", "neu") or (index > 1 and self._is_adjective(index - 1))

    def _adjective(self, index: int, other: str, case: str, *, is_mixed: bool, group: str) -> Iterator[Swap]:
        word = self.prompt.words[index]
        stem = re.sub(r"e[rnms]?$", "", word)
        if case in ("dat", "gen"):
            ending = "en"
        elif other == "woman":
            ending = "e"
        elif other == "girl":
            ending = "es" if is_mixed else "e"
        elif case == "acc":
            ending = "en"
        else:
            ending = "er" if is_mixed else "e"
        if stem + ending != word:
            yield self.swap(index, stem + ending, group)

    def _bare(self, index: int, noun: Noun, group: str, adjectives: list[int]) -> Iterator[Swap]:
        """Yield a noun without an article: a profession ("ist Ärztin", "als Lehrer"), or a form of address."""
        before, word = self.prompt.at(index - 1), self.prompt.words[index]
        other = noun.woman if group == "man" else noun.man[0]
        is_profession = (
            self.has(index - 1, "bare")
            or (self.prompt.is_last(index) and self._clause_has(index, self.rules["being"]))
            or (self.has(index + 1, "becoming") and self.prompt.is_last(index + 1))
            or (self.has(index - 1, "nominative") and self.has(index - 2, "bare"))
        )
        if before in ("liebe", "lieber"):
            self.persons.append((index, group))
            yield self.swap(index - 1, "liebe" if group == "man" else "lieber", group)
            yield self.swap(index, other, group)
            return
        if adjectives:
            raise NotSafeError(f"the article of “{word}” is missing")
        if self.has(index - 2, "bare") and re.fullmatch(
            r"[a-zäöüß]{3,}e" if group == "woman" else r"[a-zäöüß]{3,}er", self.prompt.written(index - 1)
        ):
            # "als alleinerziehende Mutter"
            yield self.swap(index - 1, before.removesuffix("r") if group == "man" else f"{before}r", group)
            is_profession = True
        is_named = self._clause_has(index, self.rules["naming"]) or (
            before != "beruf"
            and self.prompt.written(index - 1)[:1].isupper()
            and not self.prompt.begins(index - 1)
        )
        if is_profession and is_named and word in self.rules["surnames"]:
            raise self.unsure(index, "may be a surname")
        if is_profession or self.has(index, "family") or self._starts_line(index, noun, group):
            self.persons.append((index, group))
            yield self.swap(index, other, group)
        elif (group == "woman" and word != "Mutter") or (
            index - 2 in self.taken and before in ("und", "oder")
        ):
            raise NotSafeError(f"the article of “{word}” is missing")

    def _starts_line(self, index: int, noun: Noun, group: str) -> bool:
        """Return whether a line starts with a noun for one person: "Patientin, 31 Jahre", "Bankkauffrau mit Erfahrung"."""
        after = self.prompt.text[self.prompt.ends[index] :]
        is_one = group == "woman" or "mann" in noun.man[0] or re.match(r",? \d", after)
        is_headline = re.match(r"[,(]| (mit|seit|ab|ohne|aus|im)\b", after)
        return bool(is_one) and bool(is_headline) and self.prompt.begins(index)

    def _clause_has(self, index: int, listed: Container[str]) -> bool:
        first, end = self.prompt.clause(index)
        return any(one in listed for one in self.prompt.lower[first:end])

    def _case_of_noun(
        self, at: int, index: int, noun: Noun, group: str, kind: str, ending: str
    ) -> str | None:
        """Return the case; None where the noun is in the plural and so states no gender."""
        word, prompt = self.prompt.words[index], self.prompt
        if group == "woman":
            return self._case(at, index, group)
        if kind == "contracted":
            return None if ending == "zur" else "dat"
        last = ending[-1:] if kind == "der" else ending
        if last in ("e",):
            return None  # die Lehrer, meine Kunden: several
        case = {"r": "nom", "": "nom", "n": "acc", "m": "dat", "s": "gen"}[last[-1:]]
        if case == "nom" and word != noun.man[0]:
            return None  # der Kunden
        is_several = last != "" and word == noun.man[1] and word.endswith("er")
        if case == "nom" and is_several and self._is_genitive(at):
            raise NotSafeError(f"“{prompt.words[at]} {word}” may be one or several")
        if case == "acc":
            if (noun.is_weak and word != noun.man[1]) or self.has(at - 1, "dat"):
                return None  # mit den Kunden
            if noun.is_weak and last == "n" and not self.has(at - 1, "acc"):
                raise NotSafeError(f"“{prompt.words[at]} {word}” may be one or several")
        if case == "gen" and word not in (noun.man[3], noun.man[3].replace("es", "s"), f"{noun.man[0]}es"):
            return None
        return case

    def _is_genitive(self, at: int) -> bool:
        prompt = self.prompt
        return (
            prompt.written(at - 1)[:1].isupper() and not prompt.begins(at - 1) and not self._follows_gap(at)
        )

    def _case(self, at: int, index: int, group: str, *, is_bare: bool = False) -> str:
        """Return the case of a woman's noun phrase from `at` on, or of a title without an article.

        Raises:
            NotSafeError: it could be the subject or the object.
        """
        prompt = self.prompt
        before = "" if self._follows_gap(at) else prompt.at(at - 1)
        article = prompt.at(at)
        if prompt.words[index].startswith("Mädchen") and article.endswith(("m", "des", "nes")):
            return "dat" if article.endswith("m") else "gen"
        if group == "man":
            return {"der": "nom", "den": "acc", "dem": "dat", "des": "gen"}.get(article, "nom")
        if article in _CONTRACTED:
            return "dat"
        if not is_bare and article.endswith("er"):
            if before in self.rules["gen"] or (self._is_genitive(at) and before not in self.rules["dat"]):
                if before not in self.rules["gen"] and self._clause_has(index, self.rules["dative_verbs"]):
                    raise self.unsure(index, "may be in the genitive or dative")
                return "gen"
            return "dat"
        if governed := next((one for one in ("dat", "gen", "acc") if before in self.rules[one]), None):
            return governed
        is_predicate = article == "eine" and before in ("ich", "du")
        if before in ("ist", "war", "bin", "bist", "sei", "wäre") or is_predicate:
            return "nom"
        return "nom" if self._is_subject(at, index) else "acc"

    def _is_subject(self, at: int, index: int) -> bool:
        """Return whether the phrase that starts at `at` is the subject of its clause; false for an object.

        Raises:
            NotSafeError: it cannot be determined.
        """
        prompt = self.prompt
        first, end = prompt.clause(index)
        joins = (one for one in range(index, end) if prompt.at(one) in ("und", "aber", "denn"))
        end = next((one for one in joins if self.has(one + 1, "nominative")), end)
        inside = [one for one in range(first, end) if not at <= one <= index]
        if prompt.at(index + 1) == "und" and self.has(index + 2, "nominative"):
            return True  # "Meine Frau und ich"
        if any(
            prompt.lower[one] in self.rules["nominative"] or (prompt.words[one] == "Sie" and one > first)
            for one in inside
        ):
            return False
        is_infinitive = "," in prompt.between(first) and prompt.lower[end - 2] == "zu"
        if (self._is_imperative(first) and at > first) or is_infinitive:
            return False  # "Erfinde für ein Spiel eine Zauberin."
        if at == first or self.has(at - 1, "opens") or prompt.written(at - 1) in ("Und", "Aber"):
            return True
        is_first = prompt.begins(at - 1) and not prompt.is_question(index)
        if is_first and not self.has(at - 1, "finite", "adverbs"):
            return False  # "Informiere die Kundin …"
        others = [
            one
            for one in inside
            if prompt.lower[one] in ("der", "das", "ein", "mein", "unser", "sein", "ihr", "dieser", "jeder")
            and prompt.written(one + 1)[:1].isupper()
            and not self.has(one - 1, "dat", "acc", "gen")
        ]
        if any(self._is_woman_or_name(one) for one in range(first, at)):
            return False  # "Meine Chefin hat eine Kollegin eingestellt."
        if self.has(at - 1, "finite"):
            earlier = [one for one in others if one < at]
            if not earlier:
                return True
        if others:
            raise NotSafeError(
                f"“{prompt.text[prompt.starts[at] : prompt.ends[index]]}” may be subject or object"
            )
        return True

    def _is_imperative(self, index: int) -> bool:
        """Return whether a word that begins a sentence asks somebody to do something."""
        prompt = self.prompt
        word = prompt.at(index)
        is_other = _ARTICLE.fullmatch(word) or word in self.rules["no_imperatives"] or len(word) < 4
        is_verb = word in self.rules["imperatives"] or (word.endswith("e") and not is_other)
        return is_verb and prompt.begins(index) and not self.has(index + 1, "finite")

    def _is_woman_or_name(self, index: int) -> bool:
        """Return whether a name or a phrase such as "die Firma" starts at a word, without a preposition."""
        prompt = self.prompt
        if self.has(index - 1, "dat", "acc", "gen"):
            return False
        if name_of(self.words, prompt.words[index]) == prompt.words[index] in self.words.names:
            return True
        following = prompt.written(index + 1)
        is_phrase = re.fullmatch(r"die|(dies|ein|mein|dein|sein|ihr|unser|eur|kein)e", prompt.at(index))
        return (
            is_phrase is not None and following[:1].isupper() and following.lower() not in self.rules["times"]
        )

    def _relative(self, index: int, group: str) -> Iterator[Swap]:
        """Yield the relative pronoun after a noun: "die Kundin, die …", "für die …"."""
        prompt = self.prompt
        # A participle or infinitive may be between: "mit der Lehrerin gesprochen, die …".
        if (
            not prompt.is_last(index)
            and prompt.is_last(index + 1)
            and re.match(r"[a-zäöü]+(t|en)$", prompt.words[index + 1])
        ):
            index += 1
        if prompt.between(index + 1).strip() != ",":
            return
        at = index + 1
        has_preposition = self.has(at, "acc", "dat")
        if has_preposition:
            at += 1
        word = prompt.at(at)
        if (
            prompt.written(at + 1)[:1].isupper()
            and word not in ("dessen", "deren")
            and not self._is_verb_last(at)
        ):
            return
        if group == "man" and word in _RELATIVE:
            yield self.swap(at, _RELATIVE[word], group)
        elif group == "woman" and word in ("die", "der", "deren"):
            if word == "die":
                first, end = prompt.clause(at)
                has_subject = any(self.has(one, "nominative") for one in range(first, end))
                other = "den" if has_preposition or has_subject else "der"
            else:
                other = "dem" if word == "der" else "dessen"
            yield self.swap(at, other, group)

    def _is_verb_last(self, at: int) -> bool:
        """Return whether the clause of a pronoun ends with a verb, as relative clauses do."""
        _, end = self.prompt.clause(at)
        last = self.prompt.at(end - 1)
        return last in self.rules["finite"] or last.endswith(("t", "te"))

    def pronouns(self) -> Iterator[Swap]:
        """Yield pronouns; er and sie speak of a person only if one was named before."""
        for index, word in enumerate(self.prompt.lower):
            if index in self.taken or self.prompt.is_left[index]:
                continue
            found = self._pronoun(index, word)
            if found is not None:
                yield self.swap(index, *found)

    def _pronoun(self, index: int, word: str) -> tuple[str, str] | None:  # noqa: C901 (one step for each pronoun)
        prompt = self.prompt
        known = self.antecedent(index)
        is_human = self._clause_has(index, self.rules["person_verbs"]) or self._is_called(index)
        if known is None and word == "sie" and self._is_called(index):
            known = "woman"
        if known is None and word in ("er", "ihn", "ihm") and is_human:
            known = "man"
            self.persons.append((index, known))
        if word in ("er", "ihn", "ihm"):
            if known is None:
                raise self.unsure(index, "may speak of a thing")
            if known == "man" and word != "ihm" and not is_human:
                self._no_other_masculine(index)
            return {"er": "sie", "ihn": "sie", "ihm": "ihr"}[word], "man"
        match = re.fullmatch(r"(sein|ihr)(e|er|en|em|es)?", word)
        if match is not None and self._is_before_noun(index):
            if match[1] == "sein":
                if known is None:
                    raise self.unsure(index, "has no person before it")
                return f"ihr{match[2] or ''}", "man"
            if prompt.words[index][0].isupper() and (known is None or self._is_formal()):
                return None  # your, in the polite form
            if known is None:
                return None
            if known == "woman":
                if word == "ihr" and self.has(index - 1, "gives"):
                    raise self.unsure(index, "may be ihm or sein")
                return f"sein{match[2] or ''}", "woman"
            raise self.unsure(index, "may be hers or theirs")
        if match is not None and match[2] and known == ("man" if match[1] == "sein" else "woman"):
            # "Die Entscheidung war seine."
            return f"{'ihr' if known == 'man' else 'sein'}{match[2]}", known
        if word == "ihr" and not prompt.words[index][0].isupper() and known == "woman":
            if prompt.at(index + 1).endswith("t") and prompt.is_last(index + 1) and prompt.begins(index):
                return None
            return "ihm", "woman"
        if word == "sie":
            return self._sie(index, known)
        return None

    def _is_called(self, index: int) -> bool:
        """Return whether a noun after "er ist" says what the person is: "er ist seit der Schule mein Freund"."""
        _, end = self.prompt.clause(index)
        is_one = self.prompt.at(index + 1) in ("ist", "war", "wird", "bleibt")
        return is_one and any(
            one in self.taken and noun_of(self.words, self.prompt.words[one]) for one in range(index, end)
        )

    def _is_formal(self) -> bool:
        """Return whether the prompt addresses its reader politely: Sie, Ihnen or Ihr inside a sentence."""
        prompt = self.prompt
        return any(
            word in ("Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer") and not prompt.begins(index)
            for index, word in enumerate(prompt.words)
        )

    def _is_before_noun(self, index: int) -> bool:
        prompt = self.prompt
        for one in (index + 1, index + 2, index + 3):
            if self._follows_gap(one) or one >= len(prompt.words):
                return False
            if prompt.words[one][0].isupper():
                return True
            if not re.fullmatch(
                r"(?!(?:d|ein|mein|dein|sein|ihr|unser)e[rnms]?$)\w+(?:e|er|en|em|es)", prompt.words[one]
            ):
                return False
        return False

    def _no_other_masculine(self, index: int) -> None:
        """Raise NotSafeError where a masculine thing was named since the person, of which "er" may speak."""
        prompt = self.prompt
        place = max((place for place, _ in self.persons if place < index), default=0)
        for one in range(place + 1, index):
            thing = prompt.written(one + 1)
            is_neuter = prompt.lower[one] in ("dem", "einem") and (
                thing in self.rules["neuter"] or thing.endswith(("chen", "lein", "ment", "um", "en"))
            )
            if is_neuter:
                continue
            articles = ("der", "den", "einen", "dem", "einem", "meinen", "seinen")
            is_thing = thing[:1].isupper() and noun_of(self.words, thing) is None and one not in self.taken
            is_plural = prompt.lower[one] == "den" and thing.endswith("n")
            is_thing = is_thing and not is_plural and prompt.at(one - 1) not in ("mit", "von")
            if is_thing and prompt.lower[one] in articles:
                raise self.unsure(index, f"may speak of “{thing}”")

    def _sie(self, index: int, known: str | None) -> tuple[str, str] | None:
        prompt = self.prompt
        if prompt.words[index] == "Sie" and not prompt.begins(index):
            return None  # the polite form
        near = {prompt.at(index + 1), prompt.at(index - 1)} - {""}
        first, end = prompt.clause(index)
        verbs = {one for one in prompt.lower[first:end] if one in self.rules["finite"]}
        if near & self.rules["plural_verbs"] or (
            not verbs and prompt.lower[end - 1] in self.rules["plural_verbs"]
        ):
            return None
        if (
            prompt.words[index] == "Sie"
            and not near & self.rules["finite"]
            and prompt.at(index + 1).endswith("n")
        ):
            return None
        if known is None:
            raise self.unsure(index, "may be she or they")
        if known == "man":
            raise self.unsure(index, "may be somebody else")
        is_object = self.has(index - 1, "acc")
        if is_object or any(self.has(one, "nominative") for one in range(first, end)):
            return "ihn", "woman"
        if any(prompt.words[one] == "Sie" and not prompt.begins(one) for one in range(first, end)):
            return "ihn", "woman"
        is_start = prompt.words[index] == "Sie" and prompt.written(index + 1)[:1].islower()
        ends = (prompt.lower[end - 1], prompt.at(index + 1))
        if verbs or is_start or any(one.endswith(("t", "te")) for one in ends):
            return "er", "woman"
        if any(self.prompt.lower[one] == "zu" for one in range(index, end)):
            return "ihn", "woman"
        raise self.unsure(index, "may be subject or object")


def _article(stem: str, kind: str, group: str, case: str) -> str:
    """Return an article or possessive with the ending of a group and case."""
    stem = {"unsr": "unser", "eur": "euer"}.get(stem, stem)
    is_bare = kind == "mixed" and (group, case) in (("man", "nom"), ("girl", "nom"), ("girl", "acc"))
    ending = "" if is_bare else _STRONG[group][case]
    return f"{'eur' if stem == 'euer' and ending else stem}{ending}"
