"""The word lists of a language: `languages/<language>.yml`, each read once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collector.counterfactual.texts import (
    TITLES,
    Entry,
    Prompt,
    phrase_pattern,
    without_accents,
)
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.hints import quoted

_FOLDER = Path(__file__).parent / "languages"
_KNOWN_NAMES = Path(__file__).parent / "known_names.yml"
NUMERAL = re.compile("[IVX]{2,}|[VX]")
_ENDINGS = ("e", "er", "en", "em", "es", "")  # of German adjectives
# Lists of forms that are words by themselves; `kind` of their entries.
_KINDS = ("forms", "titles", "adjectives", "nouns")
# Lists that a language may have under `rules`; one that it lacks is empty.
_RULES = frozenset(
    """
    about_words acc adjectives_in_ly adverbs alone also_adjectives also_things also_verbs animals articles
    articles_man articles_woman aspirated bare base_verbs before before_greetings before_infinitive before_object before_places
    before_stressed before_verbs becoming being between capitals causative children clauses clitics compounds copulas dat
    dative dative_verbs deeds determiners definite double_names drops_pronouns family feelings fillers finds finite first_person
    followers for_people fronts games gen given gives greetings have headlines home honours how human imperatives
    impersonal impersonal_adjectives indefinite infinitives jobs joins kin linking links makes maybe_names
    meets mine modal modals named_after names_follow naming neuter neutral no_adjectives no_imperatives
    no_name_articles no_names no_verbs nominal nominative noun_endings numbers objects_follow of offices opens
    owes owners person_verbs persons persons_only places places_after places_before plural_copulas plural_men
    plural_verbs possessives predicate_articles prepositions pronouns relative relatives royal same
    same_endings speaker speaks spoken_of subjects surnames thing_adjectives things things_done things_related
    times titled unsafe verb_endings whole_verbs wished wishes women_endings words_or_names years
    """.split()
)


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a language.

    Attributes:
        language: its code.
        groups: attribute -> groups, the reference first.
        entries: word in lower case -> what it may state; a form of several words is listed under the first, and whole in
            `phrases`.
        names: first name -> gender.
        names_of: gender -> names of no stated origin.
        by_race: race -> gender -> names.
        by_origin: origin, such as Arabic -> gender -> names.
        fixed: expressions that are left alone.
        persons: those for one person, who has no form for the other gender.
        known: names of well-known people, characters and places, which are left alone, too.
        bound: attribute -> words that fit one group alone.
        rules: lists that the rules of grammar use.
        data: the whole file.
    """

    language: str
    groups: Mapping[str, tuple[str, ...]]
    entries: Mapping[str, tuple[Entry, ...]]
    names: Mapping[str, str]
    names_of: Mapping[str, tuple[str, ...]]
    by_race: Mapping[str, Mapping[str, tuple[str, ...]]]
    by_origin: Mapping[str, Mapping[str, tuple[str, ...]]]
    fixed: re.Pattern[str]
    persons: re.Pattern[str]
    known: re.Pattern[str]
    bound: Mapping[str, frozenset[str]]
    rules: Mapping[str, frozenset[str]]
    data: Mapping[str, Any]


def languages() -> tuple[str, ...]:
    """Return the codes of the languages whose words are known."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yml")))


@lru_cache
def read_words(language: str) -> Words:
    """Return the words of a language that `languages` names."""
    data = read_yaml_mapping(_FOLDER / f"{language}.yml", what="words")
    entries: dict[str, list[Entry]] = {}
    groups = {name: tuple(one["groups"]) for name, one in data["attributes"].items()}
    for name, one in data["attributes"].items():
        for kind in _KINDS:
            for entry, form in _entries(name, groups[name], one.get(kind, ""), kind):
                found = entries.setdefault(form.lower(), [])
                if not any((known.attribute, known.kind) == (name, kind) for known in found):
                    found.append(entry)
    names = data.get("names", {})
    by_gender = {group: tuple(listed.split()) for group, listed in names.get("gender", {}).items()}
    by_race, by_origin = (
        {
            name: {gender: tuple(listed.split()) for gender, listed in genders.items()}
            for name, genders in names.get(key, {}).items()
        }
        for key in ("race", "origin")
    )
    known_names = read_yaml_mapping(_KNOWN_NAMES, what="known names")["names"]
    known: dict[str, str] = {}
    for gender, listed in [
        *by_gender.items(),
        *(one for of in (*by_race.values(), *by_origin.values()) for one in of.items()),
    ]:
        for first_name in listed:
            known.setdefault(first_name, gender)
    return Words(
        language=language,
        groups=groups,
        entries={form: tuple(found) for form, found in entries.items()},
        names=known,
        names_of=by_gender,
        by_race=by_race,
        by_origin=by_origin,
        fixed=phrase_pattern([*data["fixed"], *data["persons"], *known_names]),
        persons=phrase_pattern(data["persons"]),
        known=phrase_pattern(known_names),
        bound={name: frozenset(listed.split()) for name, listed in data.get("bound", {}).items()},
        rules=known_rules(data["rules"], language),
        data=data,
    )


def known_rules(listed: Mapping[str, str], language: str) -> dict[str, frozenset[str]]:
    """Return the words of every rule.

    Raises:
        InputError: no rule has such a name.
    """
    if unknown := listed.keys() - _RULES:
        raise InputError(f"{language}.yml: no rule reads {quoted(sorted(unknown))}.")
    return {name: frozenset(listed.get(name, "").split()) for name in _RULES}


def first_names(prompt: Prompt, words: Words) -> Iterator[int]:
    """Yield the places of first names: not those of families, which follow another name, or a title and end the name."""
    for index, word in enumerate(prompt.words):
        is_name = name_of(words, word) in words.names and not prompt.is_left[index]
        if is_name and not (names_thing(prompt, words, index) or _names_family(prompt, words, index)):
            yield index


def names_thing(prompt: Prompt, words: Words, index: int) -> bool:
    """Return whether a first name is that of a ruler, an animal, a place, a work or an organisation, by the words next to it."""
    rules, before, joins = words.rules, prompt.at(index - 1), prompt.between(index)
    called = index - 2 if before in rules["names_follow"] else index - 1
    is_animal = {prompt.at(called), prompt.written(called)} & rules["animals"]
    is_verb = before in rules["also_verbs"] and prompt.at(index - 2) not in rules["determiners"]
    is_titled = {before, prompt.written(index - 1)} & rules["titled"] and not is_verb
    is_written = words.language != "en" or prompt.written(index - 1)[:1].isupper()
    is_place = before in rules["places_before"] and is_written
    is_irish = words.language == "en" and before == "o" and joins in ("'", "’")
    is_town = prompt.words[index] in rules["places"] and before in rules["before_places"]
    other = "woman" if words.names[name_of(words, prompt.words[index])] == "man" else "man"
    if ((is_animal or is_titled or is_place) and joins == " ") or is_irish or is_town:
        return True
    if before in rules["articles"] | rules[f"articles_{other}"]:
        return True
    if NUMERAL.fullmatch(prompt.written(index + 1)):
        return True  # "Henri IV"
    after = index + 1 + (prompt.at(index + 1) == "s")
    if prompt.at(after) in rules["named_after"] and not prompt.between(after).strip(" '’"):
        return True
    last = index + 2 if prompt.between(index + 1) == " " == prompt.between(index + 2) else index + 1
    ends = range(index + 1, last + 1)
    return any(prompt.at(one) in rules["places_after"] and prompt.written(one)[0].isupper() for one in ends)


def _names_family(prompt: Prompt, words: Words, index: int) -> bool:
    if index == 0 or prompt.between(index).strip(".") != " ":
        return False
    is_last = prompt.written(index + 1)[:1].islower() or prompt.between(index + 1) != " "
    is_titled = prompt.at(index - 1) in TITLES and prompt.at(index - 1) not in ("don", "doña")
    return name_of(words, prompt.words[index - 1]) in words.names or (is_titled and is_last)


def name_of(words: Words, word: str) -> str:
    """Return the first name of "Annas" in German, and of "ANNA"; any other word as it is."""
    if word.isupper() and len(word) > 3:
        word = word.capitalize()
    is_possessive = words.language == "de" and word not in words.names and word[:-1] in words.names
    return word[:-1] if is_possessive and word.endswith("s") else word


def _entries(attribute: str, groups: tuple[str, ...], listed: str, kind: str) -> Iterator[tuple[Entry, str]]:
    """Yield each word of a list with what it states; after < the last form alone is one."""
    for row in listed.split():
        forms = [form.replace("_", " ") for form in re.split("[/<]", row)]
        of_groups = dict(zip(groups, forms, strict=True))
        for group, form in [*of_groups.items()][-1 if "<" in row else 0 :]:
            yield Entry(attribute, group, of_groups, kind), form


# Words that are inflected: tables of the Romance languages, in the notation of languages/fr.yml.


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a noun for a person: whose it is (empty: of both), and a man's and a woman's form of its number."""

    group: str
    is_plural: bool
    forms: Mapping[str, str]
    is_alone: bool


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
def rows(words: Words, *keys: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a list of the language, each with its forms."""
    found: Any = words.data
    for key in keys:
        found = found[key]
    return tuple(tuple(form.replace("_", " ") for form in row.split("/")) for row in found.split())


@lru_cache
def noun_forms(words: Words) -> Mapping[str, tuple[Form, ...]]:
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
            singular = {"man": man.partition(",")[0], "woman": woman.partition(",")[0]}
            several = {"man": man.partition(",")[2], "woman": woman.partition(",")[2]}
            plural = {group: several[group] or plural_of(words, one) for group, one in singular.items()}
            for is_plural, forms in ((False, singular), (True, plural)):
                for group in recognised:
                    states = "" if forms["man"] == forms["woman"] else group
                    form = Form(states, is_plural, forms, alone)
                    known = found.setdefault(forms[group].lower().removesuffix("."), [])
                    if form not in known:
                        known.append(form)
    return {word: tuple(forms) for word, forms in found.items()}


def plural_of(words: Words, word: str) -> str:
    """Return the regular plural of a word."""
    one, several = next(pair for pair in rows(words, "plurals") if word.endswith(pair[0]))
    return word[: len(word) - len(one)] + several


@lru_cache
def determiners(words: Words) -> Mapping[tuple[str, ...], Determiner]:
    """Return the words of an article -> the article."""
    found: dict[tuple[str, ...], Determiner] = {}
    for key, is_plural in (("singular", False), ("plural", True)):
        for row in rows(words, "determiners", key):
            consonant = dict(zip(("man", "woman"), row[:2], strict=True))
            vowel = dict(zip(("man", "woman"), row[2:] or row[:2], strict=True))
            for form in (*consonant.values(), *vowel.values()):
                found.setdefault(tuple(form.split(" ")), Determiner(form, is_plural, consonant, vowel))
    return found


@lru_cache
def adjective_forms(words: Words) -> Mapping[tuple[str, str, bool], str]:
    """Return a listed adjective, its group and whether it is plural -> the form of the other group."""
    found: dict[tuple[str, str, bool], str] = {}
    for row in rows(words, "adjectives", "listed"):
        man, woman = row[:2]
        for is_plural, one, other in (
            (False, man, woman),
            (True, plural_of(words, man), plural_of(words, woman)),
        ):
            found.setdefault((one, "man", is_plural), other)
            found.setdefault((other, "woman", is_plural), one)
        for short in row[2:]:
            found.setdefault((short, "man", False), woman)
    return found


@lru_cache
def short_forms(words: Words) -> Mapping[str, str]:
    """Return a man's adjective -> what it is before a vowel: "nouvel"."""
    return {row[0]: row[2] for row in rows(words, "adjectives", "listed") if len(row) > 2}


@lru_cache
def identity_forms(words: Words) -> Mapping[str, tuple[str, int, list[list[str]]]]:
    """Return a form of an identity term -> its attribute, its place among the forms, and the forms of each group."""
    found: dict[str, tuple[str, int, list[list[str]]]] = {}
    for name, one in words.data["attributes"].items():
        stems = (
            [[[f"{stem}{end}" for end in _ENDINGS] for stem in one["stems"].split("/")]]
            if "stems" in one
            else []
        )
        agreeing = [[group.split(",") for group in row.split("/")] for row in one.get("agreeing", "").split()]
        for groups in (*stems, *agreeing):
            for forms in groups:
                for place, form in enumerate(forms):
                    found.setdefault(form, (name, place, groups))
    return found


@lru_cache
def pronoun_forms(words: Words, kind: str) -> Mapping[str, tuple[str, str]]:
    """Return each pronoun of a kind -> its group and the form of the other."""
    of_men = {man: ("man", woman) for man, woman in rows(words, "pronouns", kind)}
    return of_men | {woman: ("woman", man) for man, (_, woman) in of_men.items()}


def begins_with_vowel(words: Words, form: str) -> bool:
    """Return whether articles are shortened before a form: before vowels, and an h that is not aspirated."""
    first = form.lower().split(" ")[0]
    return without_accents(first)[:1] in "aeiouh" and first not in words.rules["aspirated"]


def other_form(
    words: Words, word: str, group: str, *, is_plural: bool = False, is_loose: bool = False
) -> str | None:
    """Return an adjective of a group as it is for the other; None if it is no adjective of the group."""
    if word in words.rules["no_adjectives"]:
        return None
    listed = adjective_forms(words).get((word, group, is_plural))
    if listed is not None or is_same(words, word):
        return listed
    if is_plural:
        one = other_form(words, word[:-1], group, is_loose=is_loose) if word.endswith("s") else None
        return None if one is None else plural_of(words, one)
    for key in ("endings", "loose_endings") if is_loose else ("endings",):
        for man, woman in rows(words, "adjectives", key):
            own, other = (man, woman) if group == "man" else (woman, man)
            if len(word) > len(own) + 1 and word.endswith(own):
                return word.removesuffix(own) + other
    return None


def is_same(words: Words, word: str) -> bool:
    """Return whether an adjective is the same for all."""
    return word in words.rules["same"] or (
        len(word) > 4 and word.endswith(tuple(words.rules["same_endings"]))
    )
