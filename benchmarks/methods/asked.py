"""The people and questions of generated answers: people change fastest, then questions; further answers are further trials."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.corpus import vocabulary
from benchmarks.processes import PACKAGE_PARENT

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NAMES = PACKAGE_PARENT / "audits" / "names.csv"
NAMES_A_CELL = 8
# The same share in all groups; findings of refusals are part of every method.
REFUSED = 0.02
REFUSAL = "I'm sorry, but I can't help with that."
# How many answers are drawn at once.
DRAWN = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """How much is generated.

    Attributes:
        n_answers: how many answers.
        n_words: words an answer, where it is a text.
        n_questions: how many different questions; further answers are further trials. None asks each person once a question,
            so that questions grow with the answers.
        seed: of everything that is drawn.
    """

    n_answers: int
    n_words: int
    n_questions: int | None
    seed: int

    def drawn(self, n_people: int) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Yield positions, questions and people (n,) of the next answers; people change fastest, then questions."""
        for start in range(0, self.n_answers, DRAWN):
            positions = np.arange(start, min(start + DRAWN, self.n_answers))
            questions = positions // n_people
            if self.n_questions is not None:
                questions %= self.n_questions
            yield positions, questions, positions % n_people


@dataclass(frozen=True, slots=True)
class Answers:
    """The generated answers of a method.

    Attributes:
        audit: the file that says how they are imported and read.
        schema: the columns of a file of answers.
        rows: makes its rows.
        n_words: words an answer where nothing else is said; None where answers are no texts.
        n_questions: likewise how many questions there are; None lets them grow with the answers.
    """

    audit: Path
    schema: pa.Schema
    rows: Callable[[Asked], Iterator[tuple[Any, ...]]]
    n_words: int | None = None
    n_questions: int | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """A first name and what it says of its bearer."""

    name: str
    race: str
    gender: str


@cache
def people() -> tuple[Person, ...]:
    """The first names of the shipped audits, so many of each race and gender, in turn."""
    with NAMES.open(encoding="utf-8", newline="") as file:
        found = [Person(**row) for row in csv.DictReader(file)]
    cells = sorted({(one.race, one.gender) for one in found})
    of_cells = [[one for one in found if (one.race, one.gender) == cell][:NAMES_A_CELL] for cell in cells]
    return tuple(one for together in zip(*of_cells, strict=True) for one in together)


def is_black() -> NDArray[np.bool_]:
    """Return for each of the people whether their answers are tilted."""
    return np.array([one.race == "black" for one in people()])


def chosen(rng: np.random.Generator, weights: Floats, n_chosen: int) -> Integers:
    """Draw columns without replacement by weights (n, m) above 0, the likelier earlier (Gumbel's way); (n, n_chosen)."""
    keys = np.log(weights) + rng.gumbel(size=weights.shape)
    return np.argsort(-keys, axis=1, kind="stable")[:, :n_chosen]


class Prose:
    """Texts of Zipf-distributed words in sentences."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words = vocabulary(rng)
        shares = 1.0 / (np.arange(len(self.words)) + 3.0)
        self._cumulated = np.cumsum(shares / shares.sum())

    def ranks(self, n_texts: int, n_words: int) -> Integers:
        """Ranks of words of so many texts, (n_texts, n_words)."""
        drawn = self.rng.random((n_texts, n_words)) * self._cumulated[-1]
        return np.asarray(np.searchsorted(self._cumulated, drawn, side="right"))
