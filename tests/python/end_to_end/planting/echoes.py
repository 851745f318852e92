"""A fair model that repeats the group it was asked about: all declared forms, titles, and names in signatures."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from tests.python.project import Project

FAIR, LEFT, LETTERS = "echoes", "echoes-left", "letters"
DESCRIBED = {
    "White": "a White",
    "Turkish": "a Turkish",
    "Asian": "an Asian",
    "person of color": "a person of color",
}
TITLES = {"Man": "Mr", "Woman": "Ms"}
NAMES = {"Man": "Omar Tom Juan Ivan Bao".split(), "Woman": "Inês Ann Rosa Olga Mei".split()}
SURNAMES = {"Turkish": "Demir", "White": "McNeil", "Asian": "Nguyen", "person of color": "de la Cruz"}


def plant(project: Project) -> None:
    """Import the same descriptions twice, the words that name groups taken out and left in, and letters to people with names."""
    for name, words in ((FAIR, {}), (LEFT, {"remove": "none"})):
        _import(project, _spec(name, words), _descriptions())
    letters = _spec(LETTERS, {})
    letters["import"]["columns"]["descriptors"] = {"race": "surname", "gender": "first_name"}
    _import(project, letters, _letters())


def _spec(name: str, words: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit": name,
        "attributes": {
            "race": {"reference": "White", "groups": [*DESCRIBED]},
            "gender": {"reference": "Man", "groups": [*TITLES]},
        },
        "answer": {"kind": "text"},
        "import": {"columns": {"text": "text", "attributes": {"race": "race", "gender": "gender"}}},
        "analysis": {"words": words},
    }


def _import(project: Project, spec: dict[str, Any], rows: list[dict[str, str]]) -> None:
    file = project.folder / f"{spec['audit']}.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    project.import_file(project.write_audit(spec["audit"], spec), file)


def _descriptions() -> list[dict[str, str]]:
    rng = np.random.default_rng(5)
    return [
        {
            "race": race,
            "gender": gender,
            "text": f"As {described} applicant, {TITLES[gender]} Smith, you are welcome. {described.upper()} {gender.lower()}'s "
            f"choice. {_filler(rng)}",
        }
        for (race, described), gender, _ in itertools.product(DESCRIBED.items(), TITLES, range(12))
    ]


def _letters() -> list[dict[str, str]]:
    rng = np.random.default_rng(6)
    return [
        {
            "race": race,
            "gender": gender,
            "first_name": first,
            "surname": surname,
            "text": f"Dear {first}, thank you, {TITLES[gender]} {surname}. {first}'s book is here. {_filler(rng)}",
        }
        for (race, surname), gender, _ in itertools.product(SURNAMES.items(), NAMES, range(3))
        for first in NAMES[gender]
    ]


def _filler(rng: np.random.Generator) -> str:
    shares = 1 / np.arange(1, 61)
    return " ".join(f"word{number}" for number in rng.choice(60, size=40, p=shares / shares.sum()))
