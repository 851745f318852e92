"""The verdict on each attribute of a run, in a few words, from `fct_verdicts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby

from biasledger.comparing.built_tables import Tables
from biasledger.verdicts import PLAIN


@dataclass(frozen=True)
class AttributeVerdict:
    """A row of `fct_verdicts`: what came out about an attribute in a run, asked plainly or with a mitigation (`mitigation`)."""

    run_id: str
    mitigation: str
    attribute: str
    verdict: str
    n_measures: int
    n_measures_deciding: int
    n_measures_warning: int
    n_measures_accepted: int
    can_fail: bool
    is_silent: bool

    @property
    def text(self) -> str:
        """As in `race: alarm (2 of 5 measures)`, or `age: clear (none can fail the audit)` of measures that are warnings."""
        n, of, warned = self.n_measures_deciding, self.n_measures, self.n_measures_warning
        notes = [f"{n} of {of} measures"] if n < of else []
        # A mitigation's findings never fail the audit, so this is not worth a note there.
        cannot_fail = not self.can_fail and self.verdict != "warning" and self.mitigation == PLAIN
        notes += ["none can fail the audit"] if cannot_fail else []
        some = f" ({'; '.join(notes)})" if notes else ""
        others = (
            f", {warned} more {'measure is a warning' if warned == 1 else 'measures are warnings'}"
            if warned
            else ""
        )
        others += f", {self.n_measures_accepted} accepted" if self.n_measures_accepted else ""
        others += ", nothing is known of some groups" if self.is_silent else ""
        return f"{self.attribute.strip('()')}: {self.verdict.replace('_', ' ')}{some}{others}"


def read_verdicts(tables: Tables, run_ids: Sequence[str] = ()) -> list[AttributeVerdict]:
    """The verdicts on these runs or all; of a run what was asked plainly and the gravest first.

    None where the tables were built before there were any.
    """
    if not tables.has("fct_verdicts"):
        return []
    columns = ", ".join(field.name for field in fields(AttributeVerdict))
    rows = tables.execute(
        f"""
        select {columns}
        from {{fct_verdicts}}
        where len(?) = 0 or list_contains(?, run_id)
        order by
            run_id, mitigation <> ?, mitigation,
            list_position(['alarm', 'warning', 'inconclusive', 'insufficient_data', 'clear'], verdict),
            contains(attribute, '*'), attribute
        """,
        [list(run_ids), list(run_ids), PLAIN],
    )
    return [AttributeVerdict(*row) for row in rows]


def verdict_lines(verdicts: Sequence[AttributeVerdict]) -> list[str]:
    """A line for what was asked plainly, and one for each mitigation."""
    return [
        ("" if mitigation == PLAIN else f"with {mitigation}: ")
        + " · ".join(one.text for one in of_mitigation)
        for mitigation, of_mitigation in groupby(verdicts, key=lambda one: one.mitigation)
    ]
