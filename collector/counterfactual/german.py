"""Swap the words of a German prompt for those of the other gender: nouns with their articles and adjectives, pronouns, titles."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache

from collector.counterfactual.texts import NotSafeError, Prompt, Reader, Swap
from collector.counterfactual.words import Words, identities, name_of

# Endings of articles by case: after "d", "dies", … and after "ein", "mein", ….
_DER = {
    "man": {"nom": "der", "acc": "den", "dat": "dem", "gen": "des"},
    "woman": {"nom": "die", "acc": "die", "dat": "der", "gen": "der"},
}
_STRONG = {
    "man": {"nom": "er", "acc": "en", "dat": "em", "gen": "es"},
    "woman": {"nom": "e", "acc": "e", "dat": "er", "gen": "er"},
}
_OWNERS = "ein|kein|mein|dein|sein|ihr|unser|unsr|euer|eur"
_ARTICLE = re.compile(rf"(?P<stem>dies|jed|welch|jen|{_OWNERS})(?P<ending>e|er|en|em|es)?")
_CONTRACTED = {"zum": ("zu", "dat"), "vom": ("von", "dat"), "beim": ("bei", "dat"), "zur": ("zu", "dat")}
_JOINED = {"zu": "zum", "von": "vom", "bei": "beim"}
_RELATIVE = {"der": "die", "den": "die", "dem": "der", "dessen": "deren"}
_QUANTITIES = "all|viel|beid|einig|mehrer|manch|solch|wenig|ander"
_PLURAL_DETERMINER = re.compile(rf"(?:d|dies|jen|welch|{_OWNERS}|{_QUANTITIES})(?:ie|en|er|e)")
_CASES = ("nom", "acc", "dat", "gen")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun for a person: a man's form by case, and a woman's; `n` forms in -n may be plural."""

    man: tuple[str, str, str, str]
    woman: str
    is_weak: bool
    # A woman's form in the dative and genitive, if it differs.
    woman_oblique: str = ""


@lru_cache
def nouns(words: Words) -> dict[str, Noun]:
    """Return each form in the singular -> the noun."""
    found: dict[str, Noun] = {}
    declensions = words.data["declensions"]
    regular = declensions["er"].split() + declensions["strong"].split()
    listed = [Noun((one, one, one, f"{one}s"), f"{one}in", False) for one in regular]
    for one in declensions["weak"].split():
        other = f"{one}n" if one.endswith("e") or one == "Nachbar" else f"{one}en"
        listed.append(Noun((one, other, other, other), f"{one.removesuffix('e')}in", True))
    for one in declensions["irregular"].split():
        man, woman = one.split("/")
        nominative, accusative, dative, genitive = man.split(",")
        forms = (nominative, accusative, dative, genitive)
        listed.append(Noun(forms, woman, accusative != nominative))
    for noun in listed:
        for form in (*noun.man, noun.woman):
            found.setdefault(form, noun)
        if noun.man[3].endswith("es"):
            found.setdefault(f"{noun.man[3][:-2]}s", noun)
    return found


@lru_cache
def plurals(words: Words) -> dict[str, tuple[str, str, str]]:
    """Return each plural that states a gender -> its group and the other's form, elsewhere and in the dative.

    Plurals in -innen are of women. Those of men may be of both, but for a few words such as "Söhne".
    """
    found: dict[str, tuple[str, str, str]] = {}
    for one in words.data["plurals"].split():
        man, woman = re.split("[/<]", one)
        of_man, dative = man.split(",")
        of_woman, of_women = woman.split(",") if "," in woman else (woman, woman)
        found[of_woman] = ("woman", of_man, of_man if of_women != of_woman else dative)
        if of_women != of_woman:
            found[of_women] = ("woman", dative, dative)
        if not of_woman.endswith("innen") and "<" not in one:
            found[of_man] = ("man", of_woman, of_woman if dative != of_man else of_women)
            if dative != of_man:
                found[dative] = ("man", of_women, of_women)
    for noun in nouns(words).values():
        if not noun.woman.endswith("in"):
            continue
        one = noun.man[0]
        if noun.is_weak:
            plural = noun.man[1]
        elif one.endswith(("er", "el")):
            plural = one
        elif one.endswith("or"):
            plural = f"{one}en"
        else:
            plural = f"{one}e"
        dative = plural if plural.endswith(("n", "s")) else f"{plural}n"
        found.setdefault(f"{noun.woman}nen", ("woman", plural, dative))
    return found


def swaps(prompt: Prompt, words: Words) -> Iterator[Swap]:
    """Yield the swaps of a prompt's nouns, titles, pronouns and adjectives; first names are found elsewhere.

    Raises:
        NotSafeError: the case or the person of a word cannot be determined.
    """
    reader = _Reader(prompt, words)
    yield from identities(reader, words, reader.describes)
    if not reader.names_person():
        return
    yield from reader.nouns()
    yield from reader.pronouns()


class _Reader(Reader):
    """One reading of a prompt, from left to right; nouns come first, because pronouns need to know of whom they speak."""

    def __init__(self, prompt: Prompt, words: Words) -> None:
        super().__init__(prompt)
        self.words = words

    def names_person(self) -> bool:
        known = nouns(self.words)
        return any(
            not left
            and (
                word in known
                or word in plurals(self.words)
                or self._participle(word) is not None
                or word in ("Mädchen", "Junge", "Jungen")
                or name_of(self.words, word) in self.words.names
                or word in ("Herr", "Herrn", "er", "ihn", "sie", "Er", "Sie", "ihm")
            )
            for word, left in zip(self.prompt.words, self.prompt.is_left, strict=True)
        )

    def describes(self, index: int) -> bool:
        """Whether an adjective such as "muslimische" stands before a person."""
        after = "" if self.prompt.is_last(index) else self.prompt.written(index + 1)
        if (
            after.lower() in self.words.rules["persons"]
            or after in nouns(self.words)
            or after in plurals(self.words)
        ):
            return True
        ends = self.prompt.is_last(index) or after in ("und", "oder")
        subject = self.prompt.at(index - 2)
        return (
            ends
            and self.prompt.at(index - 1) in ("bin", "bist", "ist", "sind", "war", "waren")
            and (subject in self.words.rules["nominative"] or subject in self.words.rules["persons"])
        )

    def nouns(self) -> Iterator[Swap]:
        """Yield nouns with their articles and adjectives, and titles."""
        known = nouns(self.words)
        for index, word in enumerate(self.prompt.words):
            if self.prompt.is_left[index]:
                continue
            if (name := name_of(self.words, word)) in self.words.names:
                group = self.words.names[name]
                self.persons.append((index, group))
                yield from self._greeting(index, group)
            follows_name = self.prompt.written(index + 1)[:1].isupper() and not self.prompt.is_last(index)
            if word in ("Herr", "Herrn") or (
                word == "Frau" and follows_name and not self._has_article(index)
            ):
                if not follows_name and self.prompt.at(index - 1) not in (
                    "der",
                    "dem",
                    "den",
                    "ein",
                    "einen",
                ):
                    raise NotSafeError(f"“{word}” names nobody here")
                yield from self._title(index)
            elif word in known:
                if word in self.words.rules["things"]:
                    raise self.unsure(index, "may be a thing")
                if not self._is_surname(index, known[word]):
                    yield from self._noun(index, known[word])
            elif word in plurals(self.words):
                yield self._plural(index)
            elif word == "Mädchen" or (word in ("Junge", "Jungen") and self._before_article(index)):
                raise self.unsure(index, "has an article that its counterpart does not have")
            elif (stem := self._participle(word)) is not None:
                yield from self._nominal(index, stem)

    def _is_surname(self, index: int, noun: Noun) -> bool:
        """Whether a first name or title stands right before a word ("Peter Fischer"); raise NotSafeError if unsure."""
        prompt, before = self.prompt, self.prompt.written(index - 1)
        is_titled = before in ("Herr", "Herrn", "Frau", "Dr", "Prof", "Familie") or before in self.words.names
        if prompt.between(index).strip(".") != " " or not is_titled:
            return False
        is_asked = prompt.is_question(index) and prompt.at(index - 2) in self.words.rules["bare"]
        if prompt.words[index] == noun.woman or is_asked:
            raise self.unsure(index, "may be a surname or what somebody is")
        return True

    def _greeting(self, index: int, group: str) -> Iterator[Swap]:
        """Yield the adjective before a name: "Liebe Anna", and not "Ich liebe Anna"."""
        before = self.prompt.at(index - 1)
        if prompt_gap(self.prompt, index) or not (
            self.prompt.begins(index - 1)
            or self.prompt.at(index - 2) in ("sehr", "hallo", "hi", "mein", "meine")
        ):
            return
        if group == "woman" and before in ("liebe", "geehrte", "verehrte", "werte"):
            yield self.swap(index - 1, f"{before}r", group)
        elif group == "man" and before in ("lieber", "geehrter", "verehrter", "werter"):
            yield self.swap(index - 1, before.removesuffix("r"), group)

    def _plural(self, index: int) -> Swap:
        """Return the swap of a plural; the words before it are the same for both genders, and tell the case.

        Raises:
            NotSafeError: the case cannot be determined.
        """
        prompt, rules = self.prompt, self.words.rules
        group, other, dative = plurals(self.words)[prompt.words[index]]
        if other == "Beamten" and not re.fullmatch("die|den|der|.+en", prompt.at(index - 1)):
            raise self.unsure(index, "may be Beamte or Beamten")
        if other == dative:
            return self.swap(index, other, group)
        first = index
        while self._is_before_plural(first - 1) and not prompt.between(first).strip(" 0123456789"):
            first -= 1
        before = "" if prompt.between(first).strip(" 0123456789") else prompt.at(first - 1)
        determiner = next(filter(_PLURAL_DETERMINER.fullmatch, prompt.lower[first:index]), None)
        is_dative = before in rules["dat"] if determiner is None else determiner.endswith("en")
        if determiner is not None:
            is_unsure = is_dative and "," in prompt.between(first)  # "ein Mann, den Frauen lieben"
        else:
            is_verb = prompt.begins(index - 1) or prompt.at(index - 2) in rules["opens"] | rules["nominative"]
            is_adjective = first < index and prompt.at(index - 1).endswith("en") and not is_verb
            has_verb = self._clause_has(index, rules["dative_verbs"])
            is_unsure = not is_dative and (before == "an" or is_adjective or has_verb)
        if is_unsure:
            raise self.unsure(index, "may be in the dative")
        return self.swap(index, dative if is_dative else other, group)

    def _is_before_plural(self, index: int) -> bool:
        word, kinds = self.prompt.at(index), ("dat", "acc", "gen", "finite", "plural_verbs", "opens")
        is_read = re.fullmatch(r"die|d?e[nr]|\w{2,}e[nr]?|zwei|drei|vier", word) is not None
        return is_read and not any(word in self.words.rules[one] for one in kinds)

    def _participle(self, word: str) -> str | None:
        """Return the stem of an adjective that is a noun for a person, such as Bekannt of "Bekannter"."""
        match = re.fullmatch(r"(\w+?)e[rn]?", word)
        return match[1] if match is not None and match[1] in self.words.rules["nominal"] else None

    def _nominal(self, index: int, stem: str) -> Iterator[Swap]:
        """Yield "der Bekannte" as "die Bekannte"; its group is that of its article, and none in the plural."""
        prompt = self.prompt
        word = prompt.words[index]
        first = index
        while first > 0 and not prompt_gap(prompt, first) and self._is_adjective(first - 1):
            first -= 1
        article = "" if prompt_gap(prompt, first) else prompt.at(first - 1)
        match = _ARTICLE.fullmatch(article)
        is_mixed = match is not None and match["stem"] not in ("dies", "jed", "welch", "jen")
        if word.endswith("en"):
            is_oblique = article in ("den", "dem", "des", "vom", "beim", "zum") or (
                match is not None and match["ending"] in ("en", "em", "es")
            )
            if article.endswith("er") and article not in ("unser", "euer"):
                if prompt.at(first - 2) not in self.words.rules["dat"]:
                    raise self.unsure(index, "may be one or several")
                group = "woman"
            elif is_oblique:
                group = "man"
            else:
                return
        elif word.endswith("er"):
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

    def _has_article(self, index: int) -> bool:
        article = self.prompt.at(index - 1)
        return article in (
            "eine",
            "einer",
            "meine",
            "meiner",
            "seine",
            "seiner",
            "deine",
            "deiner",
            "ihre",
            "ihrer",
            "keine",
        )

    def _title(self, index: int) -> Iterator[Swap]:
        """Yield "Frau Maier" as "Herr Maier" or "Herrn Maier", with the adjective and article before it."""
        group = "woman" if self.prompt.words[index] == "Frau" else "man"
        self.persons.append((index, group))
        at = index - 1
        before = self.prompt.at(at)
        adjectives = {"geehrte": "geehrter", "liebe": "lieber", "verehrte": "verehrter", "werte": "werter"}
        if not prompt_gap(self.prompt, index) and before in (
            adjectives if group == "woman" else adjectives.values()
        ):
            other = adjectives[before] if group == "woman" else before.removesuffix("r")
            yield self.swap(at, other, group)
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
        while first > 0 and not prompt_gap(prompt, first) and self._is_adjective(first - 1):
            first -= 1
            adjectives.append(first)
        at = first - 1
        article = "" if prompt_gap(prompt, first) else prompt.at(at)
        match = _ARTICLE.fullmatch(article)
        if article in ("der", "die", "den", "dem", "des"):
            kind, ending = "der", article
        elif article in _CONTRACTED:
            kind, ending = "contracted", article
        elif match is not None:
            is_der = match["stem"] in ("dies", "jed", "welch", "jen")
            kind, ending = "strong" if is_der else "mixed", match["ending"] or ""
            if match["stem"] in ("unser", "euer") and ending == "" and article in ("unser", "euer"):
                ending = ""
        else:
            yield from self._bare(index, noun, group, adjectives)
            return
        case = self._case_of_noun(at, index, noun, group, kind, ending)
        if case is None:
            return
        stem = None if match is None else match["stem"]
        if (
            kind == "mixed"
            and stem in ("sein", "ihr")
            and not (prompt.words[at][0].isupper() and not prompt.begins(at))
        ):
            # His friend, her friend: the owner changes, too.
            if self.antecedent(at) != ("man" if stem == "sein" else "woman"):
                raise NotSafeError(f"“{prompt.words[at]}” has no person before it")
            stem = "ihr" if stem == "sein" else "sein"
        self.persons.append((index, group))
        other = "woman" if group == "man" else "man"
        position = _CASES.index(case)
        of_woman = noun.woman_oblique if noun.woman_oblique and case in ("dat", "gen") else noun.woman
        noun_form = of_woman if other == "woman" else noun.man[position]
        if noun_form == "Beamte" and kind == "mixed":
            noun_form = "Beamter"
        if kind == "contracted":
            preposition = _CONTRACTED[article][0]
            changed = "zur" if preposition == "zu" else f"{preposition} der"
            yield self.swap(at, changed if other == "woman" else _JOINED[preposition], group)
        elif kind == "der":
            before = prompt.at(at - 1)
            if case == "dat" and other == "man" and before in _JOINED and not prompt_gap(prompt, at):
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
            word[0].islower()
            and re.fullmatch(r"\w{2,}e[rnms]?", word) is not None
            and _ARTICLE.fullmatch(word) is None
            and word
            not in (
                "der",
                "die",
                "den",
                "dem",
                "des",
                "alle",
                "viele",
                "beide",
                "einige",
                "sie",
                "wie",
                "ohne",
                "habe",
                "hatte",
            )
            and not any(word in self.words.rules[name] for name in ("acc", "dat", "gen", "opens", "finite"))
            and self._before_article(index)
        )

    def _before_article(self, index: int) -> bool:
        """Whether an article, or another adjective after one, stands before a word."""
        before = self.prompt.at(index - 1)
        if prompt_gap(self.prompt, index):
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
        elif case == "acc":
            ending = "en"
        else:
            ending = "er" if is_mixed else "e"
        if stem + ending != word:
            yield self.swap(index, stem + ending, group)

    def _bare(self, index: int, noun: Noun, group: str, adjectives: list[int]) -> Iterator[Swap]:
        """Yield a noun without an article: a profession ("ist Ärztin", "als Lehrer"), or a form of address."""
        before = self.prompt.at(index - 1)
        word = self.prompt.words[index]
        is_profession = before in self.words.rules["bare"] or (
            self.prompt.is_last(index)
            and self._clause_has(index, ("ist", "bin", "bist", "war", "wird", "werde", "wirst", "wurde"))
        )
        becomes = self.prompt.at(index + 1) in ("werden", "geworden", "bin", "ist") and self.prompt.is_last(
            index + 1
        )
        is_profession = is_profession or becomes
        family = word in ("Mama", "Papa", "Oma", "Opa", "Mutter", "Vater", "Tante", "Onkel")
        if adjectives or (before.endswith(("e", "er")) and before in ("liebe", "lieber")):
            if before in ("liebe", "lieber"):
                self.persons.append((index, group))
                yield self.swap(index - 1, "liebe" if group == "man" else "lieber", group)
                yield self.swap(index, noun.woman if group == "man" else noun.man[0], group)
                return
            raise NotSafeError(f"the article of “{word}” is missing")
        if self.prompt.at(index - 2) in self.words.rules["bare"] and re.fullmatch(
            r"[a-zäöüß]{3,}e" if group == "woman" else r"[a-zäöüß]{3,}er", self.prompt.written(index - 1)
        ):
            # "als alleinerziehende Mutter"
            yield self.swap(index - 1, before.removesuffix("r") if group == "man" else f"{before}r", group)
            is_profession = True
        is_named = self._clause_has(index, ("name", "nachname", "heiße", "heißt")) or (
            before != "beruf"
            and self.prompt.written(index - 1)[:1].isupper()
            and not self.prompt.begins(index - 1)
        )
        if is_profession and is_named and word in self.words.rules["surnames"]:
            raise self.unsure(index, "may be a surname")
        if is_profession or family:
            self.persons.append((index, group))
            yield self.swap(index, noun.woman if group == "man" else noun.man[0], group)
        elif group == "woman" and word != "Mutter":
            raise NotSafeError(f"the article of “{word}” is missing")

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
        forms = {
            "r": "nom",
            "er": "nom",
            "": "nom",
            "n": "acc",
            "en": "acc",
            "m": "dat",
            "em": "dat",
            "s": "gen",
            "es": "gen",
        }
        case = forms[last]
        if case == "nom" and word != noun.man[0]:
            return None  # der Kunden
        if (
            case == "nom"
            and last in ("r", "er")
            and word == noun.man[1]
            and word.endswith("er")
            and self._is_genitive(at)
        ):
            raise NotSafeError(f"“{prompt.words[at]} {word}” may be one or several")
        if case == "acc":
            if noun.is_weak and word != noun.man[1]:
                return None
            if prompt.at(at - 1) in self.words.rules["dat"] and not noun.is_weak:
                return None
            if prompt.at(at - 1) in self.words.rules["dat"]:
                return None  # mit den Kunden
            if noun.is_weak and last == "n" and prompt.at(at - 1) not in self.words.rules["acc"]:
                raise NotSafeError(f"“{prompt.words[at]} {word}” may be one or several")
        if case == "gen" and word not in (noun.man[3], noun.man[3].replace("es", "s")):
            return None
        return case

    def _is_genitive(self, at: int) -> bool:
        return (
            self.prompt.written(at - 1)[:1].isupper()
            and not self.prompt.begins(at - 1)
            and not prompt_gap(self.prompt, at)
        )

    def _case(self, at: int, index: int, group: str, *, is_bare: bool = False) -> str:
        """Return the case of a woman's noun phrase from `at` on, or of a title without an article.

        Raises:
            NotSafeError: it could be the subject or the object.
        """
        prompt, rules = self.prompt, self.words.rules
        before = "" if prompt_gap(prompt, at) else prompt.at(at - 1)
        article = prompt.at(at)
        if group == "man":
            return {"der": "nom", "den": "acc", "dem": "dat", "des": "gen"}.get(article, "nom")
        if article in _CONTRACTED:
            return "dat"
        if not is_bare and article.endswith("er"):
            if before in rules["gen"] or (self._is_genitive(at) and before not in rules["dat"]):
                return "gen"
            return "dat"
        if before in rules["dat"]:
            return "dat"
        if before in rules["gen"]:
            return "gen"
        if before in rules["acc"]:
            return "acc"
        if not is_bare and article == "eine" and before in ("bin", "bist", "sei", "ich", "du"):
            return "nom"
        return "nom" if self._is_subject(at, index) else "acc"

    def _is_subject(self, at: int, index: int) -> bool:
        """Whether what stands from `at` on is the subject of its clause; false for its object.

        Raises:
            NotSafeError: it cannot be determined.
        """
        prompt, rules = self.prompt, self.words.rules
        first, end = prompt.clause(index)
        inside = [one for one in range(first, end) if not at <= one <= index]
        if any(
            prompt.lower[one] in rules["nominative"] or (prompt.words[one] == "Sie" and one > first)
            for one in inside
        ):
            return False
        if at == first or prompt.at(at - 1) in rules["opens"] or prompt.written(at - 1) in ("Und", "Aber"):
            return True
        if (
            prompt.begins(at - 1)
            and not prompt.is_question(index)
            and prompt.at(at - 1) not in rules["finite"]
        ):
            is_adverb = prompt.at(at - 1) in (
                "hier",
                "heute",
                "gestern",
                "morgen",
                "jetzt",
                "leider",
                "warum",
                "wie",
            )
            if not is_adverb:
                return False  # "Informiere die Kundin …"
        others = [
            one
            for one in inside
            if prompt.lower[one] in ("der", "das", "ein", "mein", "unser", "sein", "ihr", "dieser", "jeder")
            and prompt.written(one + 1)[:1].isupper()
            and prompt.at(one - 1) not in rules["dat"] | rules["acc"] | rules["gen"]
        ]
        if prompt.at(at - 1) in rules["finite"]:
            earlier = [one for one in others if one < at]
            if not earlier:
                return True
        if others:
            raise NotSafeError(
                f"“{prompt.text[prompt.starts[at] : prompt.ends[index]]}” may be subject or object"
            )
        return True

    def _relative(self, index: int, group: str) -> Iterator[Swap]:
        """Yield the relative pronoun after a noun: "die Kundin, die …", "für die …"."""
        prompt = self.prompt
        # A participle or infinitive may stand between: "mit der Lehrerin gesprochen, die …".
        if (
            not prompt.is_last(index)
            and prompt.is_last(index + 1)
            and re.match(r"[a-zäöü]+(t|en)$", prompt.words[index + 1])
        ):
            index += 1
        if prompt.between(index + 1).strip() != ",":
            return
        at = index + 1
        has_preposition = prompt.at(at) in self.words.rules["acc"] | self.words.rules["dat"]
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
                has_subject = any(one in self.words.rules["nominative"] for one in prompt.lower[first:end])
                other = "den" if has_preposition or has_subject else "der"
            else:
                other = "dem" if word == "der" else "dessen"
            yield self.swap(at, other, group)

    def _is_verb_last(self, at: int) -> bool:
        """Whether the clause of a pronoun ends with a verb, as relative clauses do."""
        _, end = self.prompt.clause(at)
        last = self.prompt.at(end - 1)
        return last in self.words.rules["finite"] or last.endswith(("t", "te"))

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
        if (
            known is None
            and word in ("er", "ihn", "ihm")
            and self._clause_has(index, self.words.rules["person_verbs"])
        ):
            known = "man"
            self.persons.append((index, known))
        if word in ("er", "ihn", "ihm"):
            if known is None:
                raise NotSafeError(f"“{prompt.words[index]}” may speak of a thing")
            if known == "man" and word != "ihm":
                self._no_other_masculine(index)
            return {"er": "sie", "ihn": "sie", "ihm": "ihr"}[word], "man"
        match = re.fullmatch(r"(sein|ihr)(e|er|en|em|es)?", word)
        if match is not None and self._is_before_noun(index):
            if match[1] == "sein":
                if known is None:
                    raise NotSafeError(f"“{prompt.words[index]}” has no person before it")
                return f"ihr{match[2] or ''}", "man"
            if prompt.words[index][0].isupper() and (known is None or self._is_formal()):
                return None  # your, in the polite form
            if known is None:
                return None
            if known == "woman":
                if word == "ihr" and self.prompt.at(index - 1) in self.words.rules["gives"]:
                    raise self.unsure(index, "may be ihm or sein")
                return f"sein{match[2] or ''}", "woman"
            raise NotSafeError(f"“{prompt.words[index]}” may be hers or theirs")
        if word == "ihr" and not prompt.words[index][0].isupper() and known == "woman":
            if prompt.at(index + 1).endswith("t") and prompt.is_last(index + 1) and prompt.begins(index):
                return None
            return "ihm", "woman"
        if word == "sie":
            return self._sie(index, known)
        return None

    def _is_formal(self) -> bool:
        """Whether the prompt addresses its reader politely: Sie, Ihnen or Ihr inside a sentence."""
        prompt = self.prompt
        return any(
            word in ("Sie", "Ihnen", "Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer") and not prompt.begins(index)
            for index, word in enumerate(prompt.words)
        )

    def _is_before_noun(self, index: int) -> bool:
        prompt = self.prompt
        for one in (index + 1, index + 2, index + 3):
            if prompt_gap(prompt, one) or one >= len(prompt.words):
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
        known = nouns(self.words)
        for one in range(place + 1, index):
            thing = prompt.written(one + 1)
            if (
                prompt.lower[one] in ("der", "den", "einen", "dem", "einem", "meinen", "seinen")
                and thing[:1].isupper()
            ):
                is_plural = prompt.lower[one] == "den" and thing.endswith("n")
                if (
                    thing not in known
                    and not is_plural
                    and one not in self.taken
                    and prompt.at(one - 1) not in ("mit", "von")
                ):
                    raise NotSafeError(f"“{prompt.words[index]}” may speak of “{thing}”")

    def _sie(self, index: int, known: str | None) -> tuple[str, str] | None:
        prompt, rules = self.prompt, self.words.rules
        if prompt.words[index] == "Sie" and not prompt.begins(index):
            return None  # the polite form
        near = {prompt.at(index + 1), prompt.at(index - 1)} - {""}
        first, end = prompt.clause(index)
        verbs = {one for one in prompt.lower[first:end] if one in rules["finite"]}
        if near & rules["plural_verbs"] or (not verbs and prompt.lower[end - 1] in rules["plural_verbs"]):
            return None
        if prompt.words[index] == "Sie" and not (
            near & rules["finite"] or prompt.at(index + 1).endswith(("t", "te"))
        ):
            return None
        if known is None:
            raise NotSafeError(f"“{prompt.words[index]}” may be she or they")
        if known == "man":
            raise NotSafeError(f"“{prompt.words[index]}” may be somebody else")
        if any(one in rules["nominative"] for one in prompt.lower[first:end]):
            return "ihn", "woman"
        if any(prompt.words[one] == "Sie" and not prompt.begins(one) for one in range(first, end)):
            return "ihn", "woman"
        if verbs or prompt.lower[end - 1].endswith(("t", "te")) or prompt.at(index + 1).endswith(("t", "te")):
            return "er", "woman"
        if any(self.prompt.lower[one] == "zu" for one in range(index, end)):
            return "ihn", "woman"
        raise NotSafeError(f"“{prompt.words[index]}” may be subject or object")


def prompt_gap(prompt: Prompt, index: int) -> bool:
    """Whether anything but a space stands before a word."""
    return bool(prompt.between(index).strip()) or index <= 0


def _article(stem: str, kind: str, group: str, case: str) -> str:
    """Return an article or possessive with the ending of a group and case."""
    stem = {"unsr": "unser", "eur": "euer"}.get(stem, stem)
    ending = "" if kind == "mixed" and group == "man" and case == "nom" else _STRONG[group][case]
    return f"{'eur' if stem == 'euer' and ending else stem}{ending}"
