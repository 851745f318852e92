"""An explanation for a notebook: shown as `biasledger explain` prints it, and its parts as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasledger.explaining import Explanation


class Explained:
    """The evidence for a finding; a notebook shows it with its marks.

    Attributes:
        finding: its row of fct_findings.
        missing: what could not be shown, a sentence each.
    """

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation
        self.finding: Mapping[str, Any] = explanation.judgement.finding
        self.missing = tuple(explanation.missing)

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """All of it as `biasledger explain --format json` has it: verdict, threshold, rows, answers and marks."""
        from biasledger.explaining.output import as_json

        return as_json(self._explanation)

    def _repr_html_(self) -> str:
        from biasledger.explaining.output import as_html

        return as_html(self._explanation)

    def __repr__(self) -> str:
        return f"Finding {self.finding['finding_id']}: {self.data['verdict']}"
