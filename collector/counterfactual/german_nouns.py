"""German nouns for persons and their plurals, each with the other gender's form, from the words of a language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from collector.counterfactual.words import Words


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
        if not noun.is_weak and noun.man[3].endswith("s"):
            found.setdefault(f"{noun.man[0]}es", noun)
        if noun.man[3].endswith("es"):
            found.setdefault(f"{noun.man[3][:-2]}s", noun)
    return found


@lru_cache(maxsize=1 << 16)
def noun_of(words: Words, word: str) -> Noun | None:
    """Return the noun of a form; that of a compound such as "Pressesprecherin" by its last part."""
    known, compounds = nouns(words), words.rules["compounds"]
    if word in known or not word[:1].isupper():
        return known.get(word)
    for start in range(2, len(word) - 4):
        end = word[start:].capitalize()
        noun = known.get(end)
        is_woman = end.endswith("in") and end != "Königin"
        if noun is None or not (noun.woman == end if is_woman else noun.man[0] in compounds):
            continue
        head, is_written = word[:start], word[start - 1] == "-"
        nom, acc, dat, gen, of_woman = (
            head + (one if is_written else one.lower()) for one in (*noun.man, noun.woman)
        )
        return Noun((nom, acc, dat, gen), of_woman, noun.is_weak)
    return None


def is_noun(words: Words, word: str) -> bool:
    """Return whether a word is a noun for a person, or a plural that states a gender."""
    return noun_of(words, word) is not None or word in plurals(words)


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
