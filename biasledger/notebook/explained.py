"""An explanation for a notebook: shown as `biasledger explain` prints it, and its parts as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from biasledger.notebook.charts import Chart

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

    def chart(self) -> Chart:
        """The value that chance alone gives and the observed one; for a family of words or lists its value and thresholds."""
        from biasledger.reporting.charts import Dot, interval_dots, threshold_rules
        from biasledger.reporting.drawing import standalone
        from biasledger.reporting.null import null_panel
        from biasledger.reporting.picture import STATUS_TEXTS, contrast, readable

        measure = self._explanation.judgement.measure
        finding = self.finding
        title = f"{readable(finding['measure'])}, {contrast(finding)}: {STATUS_TEXTS[finding['status']]}"
        panel = null_panel(finding, measure, self._explanation.evidence.observed)
        if panel is not None:
            return Chart(standalone(panel.spec), title)
        ends = finding["value_low"], finding["value_high"]
        dot = Dot(contrast(finding), finding["value"], *ends, finding["status"])
        rules = threshold_rules(
            [finding], measure["no_difference"], is_two_sided=measure["side"] == "two-sided"
        )
        return Chart(standalone(interval_dots([dot], readable(finding["measure"]), rules)), title)

    def _repr_html_(self) -> str:
        from biasledger.explaining.output import as_html

        return as_html(self._explanation)

    def __repr__(self) -> str:
        return f"Finding {self.finding['finding_id']}: {self.data['verdict']}"
