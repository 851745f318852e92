"""What came out about each attribute of a run, in a few words, from the findings about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from biasledger.findings import Finding

# A run, or what it says of an attribute, is as its gravest finding: it is clear only where everything is.
GRAVEST_FIRST = ("alarm", "inconclusive", "insufficient_data", "clear")
PLAIN = "plain"


@dataclass(frozen=True)
class AttributeVerdict:
    """What came out about an attribute in a run, asked plainly or with a mitigation (`variant`).

    `status` is that of the gravest finding which can fail the audit, or of the gravest of all where none can (`only_warns`), and
    never clear where nothing is known of a group (`is_silent`). `n_measures` of these findings, `n_with` with that status, and
    beside them `n_warned` with an alarm that only warns and `n_accepted` with one that was accepted.
    """

    run_id: str
    variant: str
    attribute: str
    status: str
    n_with: int
    n_measures: int
    only_warns: bool
    n_warned: int
    n_accepted: int
    is_silent: bool

    @property
    def text(self) -> str:
        """As in `race: alarm (2 of 5 measures)`, or `age: clear (none can fail the audit)` of measures that only warn."""
        word = "warning" if self.only_warns and self.status == "alarm" else self.status.replace("_", " ")
        notes = [f"{self.n_with} of {self.n_measures} measures"] if self.n_with < self.n_measures else []
        # What is asked with a mitigation never can.
        is_told = self.only_warns and self.status != "alarm" and self.variant == PLAIN
        notes += ["none can fail the audit"] if is_told else []
        some = f" ({'; '.join(notes)})" if notes else ""
        beside = f", {self.n_warned} more only warn{'s' * (self.n_warned == 1)}" if self.n_warned else ""
        beside += f", {self.n_accepted} accepted" if self.n_accepted else ""
        beside += ", nothing is known of some groups" if self.is_silent else ""
        return f"{self.attribute.strip('()')}: {word}{some}{beside}"


def gravest(statuses: Iterable[str]) -> str:
    """The gravest of some statuses; without any it is insufficient_data."""
    found = set(statuses)
    return next((status for status in GRAVEST_FIRST if status in found), "insufficient_data")


def attribute_verdicts(
    findings: Sequence[Finding], silent: Collection[tuple[str, str, str]] = ()
) -> list[AttributeVerdict]:
    """The verdicts on each run, in the order of the findings; of a run what was asked plainly comes first.

    Args:
        findings: all of each run that is judged.
        silent: run, variant and attribute of groups of which nothing is known.
    """
    verdicts = []
    for run, rows in groupby(findings, key=lambda finding: finding.run_id):
        parts: dict[tuple[str, str], list[Finding]] = {}
        for row in rows:
            if row.severity in {"error", "warn"}:
                parts.setdefault((row.variant, row.attribute), []).append(row)
        verdicts += [
            _verdict(run, variant, attribute, part, (run, variant, attribute) in silent)
            for (variant, attribute), part in sorted(
                parts.items(), key=lambda item: (item[0][0] != PLAIN, item[0][0])
            )
        ]
    return verdicts


def verdict_lines(verdicts: Sequence[AttributeVerdict]) -> list[str]:
    """A line for what was asked plainly, and one for each mitigation."""
    return [
        ("" if variant == PLAIN else f"with {variant}: ") + " · ".join(one.text for one in of_variant)
        for variant, of_variant in groupby(verdicts, key=lambda one: one.variant)
    ]


def _verdict(
    run_id: str, variant: str, attribute: str, findings: Sequence[Finding], is_silent: bool
) -> AttributeVerdict:
    failing = [one for one in findings if one.severity == "error" and not one.is_excepted]
    counted = failing or findings
    of_measure = {
        measure: gravest(one.status for one in counted if one.measure == measure)
        for measure in dict.fromkeys(one.measure for one in counted)
    }
    status, counts = gravest(of_measure.values()), Counter(of_measure.values())
    alarms = [one for one in findings if one.status == "alarm"]
    return AttributeVerdict(
        run_id,
        variant,
        attribute,
        "insufficient_data" if status == "clear" and is_silent else status,
        counts[status],
        len(of_measure),
        only_warns=not failing,
        n_warned=len({one.measure for one in alarms if one.severity != "error"}) if failing else 0,
        n_accepted=len({one.measure for one in alarms if one.is_excepted}),
        is_silent=is_silent,
    )
