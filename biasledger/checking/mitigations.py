"""Mitigations to try against an alarm: rows of seeds/mitigations.csv, each with its source."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from biasledger.project import settings_file
from collector.errors import InputError

KINDS = ("prompt", "masking", "re-ranking", "calibration", "data", "review")
OF_NO_GROUP = frozenset({"position_bias"})
"""Measures that compare no groups: what is suggested for every measure of their method speaks of groups."""


@dataclass(frozen=True)
class Mitigation:
    """A suggestion; measure `*` holds for all measures of the method, method `*` for all."""

    measure: str
    method: str
    kind: str
    suggestion: str
    source: str


def read_mitigations() -> list[Mitigation]:
    """The suggestions of the project, or else the shipped ones.

    Raises:
        InputError: a row has a kind that there is not; names file and row.
    """
    path = settings_file("mitigations.csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        rows = []
        for row in reader:
            if row["kind"] not in KINDS:
                raise InputError(
                    f"{path}: row {reader.line_num} has {row['kind']!r} as 'kind'; it should be one of "
                    f"{', '.join(KINDS)}."
                )
            rows.append(
                Mitigation(row["measure"], row["method"], row["kind"], row["suggestion"], row["source"])
            )
    return rows


def mitigations_of(known: Sequence[Mitigation], measure: str, method: str) -> tuple[Mitigation, ...]:
    """Return the suggestions for a measure, those that name it first; for a measure that compares no groups only those."""
    fitting = [one for one in known if one.measure == measure]
    if measure in OF_NO_GROUP:
        return tuple(fitting)
    return tuple(fitting + [one for one in known if one.measure == "*" and one.method in {method, "*"}])
