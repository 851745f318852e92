"""Rubrics: the question to a judge about an answer, and the worse grades; YAML files, some of them shipped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.hashing import hash_of
from collector.hints import did_you_mean, quoted
from collector.validation import NonBlank, Section, input_error

_SHIPPED = Path(__file__).parent / "rubrics"
_DIRECTIONS = ("higher", "lower")


class Rubric(Section):
    """A question about an answer.

    Attributes:
        question: the question.
        answers: grade -> what it means; grades are whole numbers, or labels.
        worse: of numbers `higher` or `lower`; of labels the one that is worse than all others.
        shows_message: whether the judge also sees the message that was answered.
    """

    question: NonBlank
    answers: Mapping[str, NonBlank] = Field(min_length=2)
    worse: NonBlank
    shows_message: bool = True

    @property
    def is_graded(self) -> bool:
        """Return whether the grades are numbers."""
        return all(one.removeprefix("-").isdecimal() for one in self.answers)

    @property
    def lowest(self) -> float:
        """The lowest grade; 0 for labels."""
        return min(map(float, self.answers)) if self.is_graded else 0.0

    @property
    def highest(self) -> float:
        """The highest grade; 1 for labels."""
        return max(map(float, self.answers)) if self.is_graded else 1.0

    @property
    def hash(self) -> str:
        """The hash of all that it says."""
        return hash_of(self.model_dump(mode="json"))

    def badness(self, grade: str) -> float:
        """Return how bad a grade is, from 0 to 1, the worst."""
        if not self.is_graded:
            return float(grade == self.worse)
        share = (float(grade) - self.lowest) / (self.highest - self.lowest)
        return share if self.worse == "higher" else 1 - share

    def document(self, name: str) -> dict[str, Any]:
        """Return what events keep: the rubric, its name and its range; `label` is null where grades are numbers."""
        return {
            "rubric": name,
            **self.model_dump(mode="json"),
            "label": None if self.is_graded else self.worse,
            "worse": self.worse if self.is_graded else "higher",
            "lowest": self.lowest,
            "highest": self.highest,
            "rubric_hash": self.hash,
        }


def shipped() -> list[str]:
    """Return the names of the rubrics that are shipped."""
    return sorted(one.stem for one in _SHIPPED.glob("*.yml"))


def load_rubric(named: str) -> tuple[str, Rubric]:
    """Return a rubric and its name: one that is shipped, or the name of a YAML file without its ending.

    Raises:
        InputError: there is no such rubric, or the file holds none.
    """
    path = Path(named)
    if path.suffix not in (".yml", ".yaml"):
        if named not in shipped():
            raise InputError(
                f"{named!r} is no rubric{did_you_mean(named, shipped())} Those shipped are {quoted(shipped())}; "
                f"or name a file, such as rubric.yml."
            )
        path = _SHIPPED / f"{named}.yml"
    try:
        rubric = Rubric.model_validate(read_yaml_mapping(path, what="a rubric"))
    except ValidationError as error:
        raise input_error(path, error, Rubric) from None
    known = _DIRECTIONS if rubric.is_graded else tuple(rubric.answers)
    if rubric.worse not in known:
        raise InputError(f"{path}: worse is {rubric.worse!r} and should be one of {quoted(known)}.")
    return path.stem, rubric
