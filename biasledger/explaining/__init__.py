"""Walks one finding back: the verdict, what it was judged by, the rows behind it, and the very answers with marks in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from biasledger.explaining.case import Case
from biasledger.explaining.evidence import Evidence
from biasledger.explaining.finding import Judgement, read_judgement
from biasledger.explaining.responses import ShownSide, read_sides
from biasledger.querying.connection import locked_warehouse
from biasledger.rooms import module_of


@dataclass(frozen=True)
class Explanation:
    """The evidence for a finding.

    `missing` holds sentences: which second readers count, and what could not be shown.
    """

    judgement: Judgement
    evidence: Evidence
    sides: Sequence[ShownSide]
    missing: Sequence[str]


def explain_finding(finding_id: str, warehouse: Path, ledger: Path, n_responses: int = 3) -> Explanation:
    """Collect what a finding rests on, from the published tables and, for the answers themselves, the ledger; both read-only.

    Args:
        finding_id: its id in fct_findings, or a beginning that no other finding has.
        n_responses: answers of each side at most; 0 leaves the ledger alone.

    Raises:
        InputError: no such finding, several, or no warehouse.
        BiasledgerError: the warehouse cannot be read.
    """
    with locked_warehouse(warehouse) as connection:
        judgement = read_judgement(connection, finding_id)
        room = module_of("biasledger.explaining.rooms", judgement.measure["room"])
        evidence: Evidence = room.evidence(Case(connection, judgement.finding, n_responses))
    sides, missing = read_sides(ledger, judgement.finding, evidence, n_responses)
    if judgement.threshold_row is None:
        missing.insert(
            0,
            "The row of thresholds.csv is missing: it was changed after this finding was judged; `biasledger build` judges anew.",
        )
    return Explanation(judgement, evidence, sides, missing)
