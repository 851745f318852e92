"""Audits by attributes: in each cell how an attribute came out and by how much, and the way to its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from biasledger.checking.sentences import in_units
from biasledger.reporting.picture import readable, signed
from biasledger.reporting.verdicts import RunVerdict, can_fail
from biasledger.verdicts import PLAIN, gravest

_COLUMNS_AT_MOST = 4


@dataclass(frozen=True)
class Cell:
    """How an attribute came out in an audit: the gravest status, and the value of the gravest finding in its unit.

    `note` says that none of its findings can fail the audit, or is empty.
    """

    attribute: str
    status: str
    effect: str
    measure: str
    note: str


@dataclass(frozen=True)
class Line:
    """An audit: a cell or None in each column, those of its own attributes that were judged, and how many were not."""

    cells: Sequence[Cell | None]
    others: Sequence[Cell]
    n_few: int


@dataclass(frozen=True)
class Matrix:
    """Columns are attributes that a third of the audits share, four at most."""

    columns: Sequence[str]
    lines: Sequence[Line]

    @property
    def has_others(self) -> bool:
        """Whether any audit has an attribute without a column."""
        return any(line.others or line.n_few for line in self.lines)


def matrix(verdicts: Sequence[RunVerdict]) -> Matrix:
    """The matrix of these audits, in their order."""
    found = [_cells(verdict) for verdict in verdicts]
    counts = Counter(cell.attribute for cells in found for cell in cells)
    shared = [name for name, n in counts.most_common(_COLUMNS_AT_MOST) if 3 * n > len(verdicts)]
    return Matrix(shared, [_line(cells, shared) for cells in found])


def _line(cells: Sequence[Cell], shared: Sequence[str]) -> Line:
    others = [cell for cell in cells if cell.attribute not in shared]
    judged = [cell for cell in others if cell.status != "insufficient_data"]
    return Line(
        [next((cell for cell in cells if cell.attribute == name), None) for name in shared],
        judged,
        len(others) - len(judged),
    )


def _cells(verdict: RunVerdict) -> list[Cell]:
    judged = [
        row for row in verdict.findings if row["mitigation"] == PLAIN and row["severity"] in {"error", "warn"}
    ]
    attributes = sorted({row["attribute"] for row in judged}, key=lambda name: ("*" in name, name))
    cells = []
    for attribute in attributes:
        findings = [row for row in judged if row["attribute"] == attribute]
        failing = can_fail(findings)
        counted = failing or findings
        status = gravest(row["status"] for row in counted)
        first = next(row for row in counted if row["status"] == status)
        if status == "clear" and attribute in verdict.silent_attributes:
            status = "insufficient_data"
        is_known = status != "insufficient_data"
        cells.append(
            Cell(
                readable(attribute.strip("()")),
                status,
                signed(in_units(first)) if is_known else "",
                readable(first["measure"]) if is_known else "",
                "" if failing else "warning" if status == "alarm" else "cannot fail the audit",
            )
        )
    return cells
