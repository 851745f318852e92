"""The word lists of a language: `languages/<language>.yml`, each read once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collector.counterfactual.texts import TITLES, Entry, Prompt, phrase_pattern
from collector.files.yaml import read_yaml_mapping

_FOLDER = Path(__file__).parent / "languages"
# Lists of forms that are words by themselves; `kind` of their entries.
_KINDS = ("forms", "titles", "adjectives", "nouns")


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a language.

    Attributes:
        language: its code.
        groups: attribute -> groups, the reference first.
        entries: word in lower case -> what it may state; a form of several words stands under the first, with all in `phrases`.
        names: first name -> gender.
        names_of: gender -> names of no stated origin.
        by_race: race -> gender -> names.
        by_origin: origin, such as Arabic -> gender -> names.
        fixed: expressions that are left alone.
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
        fixed=phrase_pattern(data.get("fixed", ())),
        bound={name: frozenset(listed.split()) for name, listed in data.get("bound", {}).items()},
        rules={name: frozenset(listed.split()) for name, listed in data.get("rules", {}).items()},
        data=data,
    )


def first_names(prompt: Prompt, words: Words) -> Iterator[int]:
    """Yield the places of first names: not those of families, which follow another name, or a title and end the name."""
    for index, word in enumerate(prompt.words):
        if word not in words.names or prompt.is_left[index]:
            continue
        before = prompt.at(index - 1)
        if index > 0 and prompt.between(index).strip(".") == " ":
            is_family = prompt.written(index + 1)[:1].islower() or prompt.between(index + 1) != " "
            if prompt.words[index - 1] in words.names or (
                before in TITLES and before not in ("don", "doña") and is_family
            ):
                continue
        yield index


def _entries(attribute: str, groups: tuple[str, ...], listed: str, kind: str) -> Iterator[tuple[Entry, str]]:
    """Yield each word of a list with what it states; after < the last form alone is one."""
    for row in listed.split():
        forms = [form.replace("_", " ") for form in re.split("[/<]", row)]
        of_groups = dict(zip(groups, forms, strict=True))
        for group, form in [*of_groups.items()][-1 if "<" in row else 0 :]:
            yield Entry(attribute, group, of_groups, kind), form
