"""Counterfactual data augmentation: each text that names a person is learned a second time, with a name of another group.

Section 5 of the source names this mitigation. The model card has the accuracy with and without it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from collector.errors import InputError
from collector.hints import did_you_mean, quoted
from lmrec.masking import names_pattern


class Swapper:
    """Replaces names in a text by names of other groups, drawn at random.

    Args:
        groups: name -> its group.
        seed: draws the names; the same texts in the same order give the same copies.
    """

    def __init__(self, groups: Mapping[str, str], seed: int = 0) -> None:
        self._group_of = {name.lower(): group for name, group in groups.items()}
        self._others = {
            group: [name for name, other in groups.items() if other != group]
            for group in set(groups.values())
        }
        self._pattern = names_pattern(sorted(self._group_of))
        self._random = np.random.default_rng(seed)

    def __call__(self, text: str) -> str | None:
        """Return the text with a name of another group for each of its names; None where it has none."""
        if self._pattern is None or self._pattern.search(text) is None:
            return None
        return self._pattern.sub(lambda match: self._drawn(match[0]), text)

    def _drawn(self, name: str) -> str:
        others = self._others[self._group_of[name.lower()]]
        return others[int(self._random.integers(len(others)))]


def read_groups(file: Path, attribute: str) -> dict[str, str]:
    """Return name -> group from a CSV file with the column `name` and one of groups, in the order of its rows.

    Raises:
        InputError: there is no such file or column, a cell is empty, or there is one group only.
    """
    if not file.is_file():
        raise InputError(
            f"{file} does not exist; name a CSV file of names and their groups, such as audits/names.csv, which "
            "`biasledger init --all` lays out."
        )
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = [column for column in (rows[0] if rows else {}) if column]
    for column in ("name", attribute):
        if column not in columns:
            raise InputError(
                f"{file} has no column {column!r}{did_you_mean(column, columns) if columns else '.'}"
            )
    for number, row in enumerate(rows, start=1):
        if not (row["name"] or "").strip() or not (row[attribute] or "").strip():
            raise InputError(f"{file}: row {number} should have a name and a {attribute}.")
    groups = {row["name"].strip(): row[attribute].strip() for row in rows}
    if len(set(groups.values())) < 2:
        raise InputError(
            f"{file} has one {attribute} only, {quoted(set(groups.values()))}; there should be two or more."
        )
    return groups
