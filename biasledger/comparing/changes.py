"""Changes between two runs, read from the built tables; two runs that were not compared yet are compared first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasledger.comparing.baselines import built_file, list_baselines
from biasledger.comparing.built_runs import known_runs
from biasledger.comparing.built_tables import Tables, open_tables
from biasledger.comparing.run_names import LOOSE, Baseline, NamedRun, find_run
from collector.errors import BiasledgerError, InputError

VERDICTS = ("worse", "better", "inconclusive", "unchanged", "insufficient_data")
"""In the order in which they are shown."""

QUALITY = {
    "share_refused": "refused",
    "share_unread": "not read",
    "share_malformed": "in another form than asked",
    "share_failed": "cut off or failed",
    "accuracy": "right decisions",
    "shortfall": "places left empty",
    "repeated": "places that repeat an item",
    "relevance": "relevance (NDCG)",
    "tokens_per_answer": "tokens an answer",
    "cost_usd_per_answer": "USD an answer",
}
"""Columns of fct_run_quality in words."""

RECOMMENDER_QUALITY = {
    ("venue", "accuracy"): "recommender: its first venue is the right one",
    ("venue", "f1"): "recommender: F1 of the first venue",
    ("venue", "mrr"): "recommender: MRR of the right venue",
    ("venue", "hit_rate_at_20"): "recommender: the right venue is among 20",
    ("category", "ndcg"): "recommender: nDCG by category",
}
"""Labels of the rows of fct_recommender_quality that are shown, by relevance and measure."""

SHARES = (
    "share_refused",
    "share_unread",
    "share_malformed",
    "share_failed",
    "accuracy",
    "shortfall",
    "repeated",
)


@dataclass(frozen=True)
class Change:
    """The change of one measure between two runs.

    worsening: how much worse, in the measure's units, with its 95 % interval; p_value: for no change; p_value_adjusted: for no
    change past the tolerance, over all comparisons. member: the category, level or list that decides a family. is_reversed:
    whether a bias changed its direction, which the verdict does not say. is_paired: whether the change is that on the n_shared
    cases of both runs; n_left_out: cases of one run alone. unpaired_interval_low: of the difference of the values, as if the runs
    were independent.
    """

    measure: str
    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str
    member: str
    verdict: str
    severity: str
    baseline_value: float
    value: float
    worsening: float
    interval_low: float | None
    interval_high: float | None
    p_value: float | None
    p_value_adjusted: float | None
    tolerance: float
    baseline_n_units: int
    n_units: int
    is_at_equal_sizes: bool
    is_reversed: bool
    is_paired: bool = False
    n_shared: int | None = None
    n_left_out: int | None = None
    unpaired_interval_low: float | None = None
    unpaired_interval_high: float | None = None


@dataclass(frozen=True)
class QualityChange:
    """The change in one part of the answers' quality; low and high: the 95 % interval of the difference, None without one."""

    name: str
    before: float
    after: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Changes:
    """Two runs, or a run with and without a mitigation, and what changed; left_out: what one run alone has, in words."""

    before: str
    after: str
    mitigation: str
    changes: list[Change]
    quality: list[QualityChange]
    left_out: list[str] = field(default_factory=list)


def compare_runs(
    project: Path,
    ledger: Path,
    warehouse: Path,
    before: str,
    after: str,
    *,
    audit: str | None = None,
    target: str | None = None,
) -> list[Changes]:
    """Return the changes from one run to another.

    Args:
        audit, target: narrow down `latest`, `previous` and `baseline` if there are several.

    Raises:
        InputError: no such run, the same one twice, or runs that cannot be compared; with the reason.
        BiasledgerError: the tables cannot be read, or are of a version before comparisons.
    """
    baselines = list_baselines(ledger) if ledger.is_file() else []
    runs = _runs(warehouse)
    # Each name may help to resolve the other: `baseline` next to a named run is the baseline of that run's audit and target.
    first, second = _both(before, after, runs, baselines, audit, target)
    if first.run_id == second.run_id:
        raise InputError(f"{before!r} and {after!r} are the same run, {first.run_id}: name two.")
    if (first.audit) != (second.audit):
        raise InputError(
            f"{first.run_id} is a run of {first.audit!r} and {second.run_id} of {second.audit!r}: runs of "
            "one audit can be compared."
        )
    file = warehouse
    if why_incomparable(file, first.run_id, second.run_id) is None:
        file = _build_pair(project, ledger, warehouse, first.run_id, second.run_id)
    reason = why_incomparable(file, first.run_id, second.run_id)
    if reason:
        raise InputError(f"{first.run_id} and {second.run_id} cannot be compared: {reason}.")
    return [built_changes(file, first.run_id, second.run_id, "plain")]


def regressions(warehouse: Path) -> str | None:
    """How many measures of the current runs are worse than their baseline, in a sentence; None where there are none."""
    with open_tables(warehouse) as tables:
        if not tables.has("fct_regressions"):
            return None
        [(n, n_error, n_accepted)] = tables.execute(
            """
            select count(*), count(*) filter (where severity = 'error'), count(*) filter (where is_excepted)
            from {fct_regressions}
            """
        )
    if not n:
        return None
    n_warnings = n - n_error
    apart = [f"{n_warnings} warning{'' if n_warnings == 1 else 's'}"] if n_warnings else []
    apart += [f"{n_accepted} accepted"] if n_accepted else []
    notes = f" ({', '.join(apart)})" if apart else ""
    return (
        f"{n} {'measure is' if n == 1 else 'measures are'} worse than the baseline{notes}: `biasledger compare baseline latest` "
        "shows them."
    )


def compare_mitigations(
    warehouse: Path,
    run: str,
    mitigation: str | None,
    *,
    audit: str | None = None,
    target: str | None = None,
) -> list[Changes]:
    """Return the changes by each mitigation of a run, or by one of them, against the plain audit of the same run.

    Raises:
        InputError: no such run, or it was not asked under that mitigation.
        BiasledgerError: the tables cannot be read, or are of a version before comparisons.
    """
    found = find_run(run, _runs(warehouse), [], audit=audit, target=target)
    with open_tables(warehouse) as tables:
        known = [
            name
            for (name,) in tables.execute(
                "select distinct mitigation from {fct_run_pairs} where run_id = ? and baseline_run_id = "
                "run_id order by 1",
                [found.run_id],
            )
        ]
    asked = known if mitigation is None else [mitigation]
    if not known or not set(asked) <= set(known):
        has = f"it was asked under {', '.join(known)}" if known else "it was asked under none"
        what = f"the mitigation {mitigation!r}" if mitigation else "any mitigation"
        raise InputError(
            f"{found.run_id} was not asked under {what}; {has} (biasledger collect --mitigation NAME)."
        )
    return [built_changes(warehouse, found.run_id, found.run_id, name) for name in asked]


def _both(
    before: str,
    after: str,
    runs: Sequence[NamedRun],
    baselines: Sequence[Baseline],
    audit: str | None,
    target: str | None,
) -> tuple[NamedRun, NamedRun]:
    if before in LOOSE and after not in LOOSE:
        second = find_run(after, runs, baselines, audit=audit, target=target)
        return find_run(before, runs, baselines, audit=second.audit, target=second.target), second
    first = find_run(before, runs, baselines, audit=audit, target=target)
    if after in LOOSE:
        audit, target = first.audit, first.target
    return first, find_run(after, runs, baselines, audit=audit, target=target)


def _runs(warehouse: Path) -> list[NamedRun]:
    with open_tables(warehouse) as tables:
        return known_runs(tables)


def why_incomparable(file: Path, before: str, after: str) -> str | None:
    """Why the last build could not compare two runs: empty where it did, None where it did not try."""
    with open_tables(file) as tables:
        rows = tables.execute(
            """
            select coalesce(incomparable_because, '')
            from {fct_run_pairs}
            where baseline_run_id = ? and run_id = ? and mitigation = 'plain'
            """,
            [before, after],
        )
    return str(rows[0][0]) if rows else None


def _build_pair(project: Path, ledger: Path, warehouse: Path, before: str, after: str) -> Path:
    """Compare two runs next to the pairs of the last build; the file that then holds them."""
    from biasledger.building import MEASURED_BY
    from biasledger.building.build import methods_of, seen_from
    from biasledger.building.running import Dbt
    from biasledger.project import check_project, require_project
    from biasledger.publishing.freshness import discard_methods, measured_by
    from biasledger.publishing.work import locked

    check_project(project)
    built = built_file(project, warehouse)
    environment = {
        "BIASLEDGER_LEDGER": seen_from(project, ledger),
        "BIASLEDGER_WAREHOUSE": seen_from(project, built),
        # Not a variable of dbt's, because a changed variable makes dbt parse the whole project.
        "BIASLEDGER_COMPARED": json.dumps([before, after]),
        MEASURED_BY: measured_by(project),
    }
    selection = ["--select", "int_run_pairs+", "--exclude", "fct_regressions"]
    with locked(project), Dbt(project) as dbt:
        require_project(project)
        discard_methods(built)
        messages = dbt.run(
            ["run", *selection],
            environment,
            lambda _done, _total, _name: None,
            methods=methods_of(ledger),
        )
    if messages:
        raise BiasledgerError(
            f"{before} and {after} could not be compared: {messages[0][:300]} (the whole log is logs/dbt.log)."
        )
    return built


def built_changes(file: Path, before: str, after: str, mitigation: str) -> Changes:
    """Return the changes that a built file holds for two runs, or for a run and its `mitigation`; empty if not compared.

    Raises:
        InputError: the tables are of a version before comparisons.
    """
    columns = ", ".join(Change.__dataclass_fields__)
    order = ", ".join(f"'{verdict}'" for verdict in VERDICTS)
    with open_tables(file) as tables:
        rows = tables.records(
            f"""
            select {columns}
            from {{fct_run_comparisons}}
            where baseline_run_id = ? and run_id = ? and mitigation = ?
            order by
                list_position([{order}], verdict), severity = 'error' desc, measure, attribute,
                abs(worsening) / nullif(tolerance, 0) desc, group_name, subject
            """,
            [before, after, mitigation],
        )
        quality = tables.records(
            "select * from {fct_run_quality} where (run_id = ? and mitigation = 'plain') or (run_id = ? and "
            "mitigation = ?)",
            [before, after, mitigation],
        )
        of_recommenders = _recommender_changes(tables, before, after, mitigation)
        left_out = _left_out(tables, before, after)
    one = next((row for row in quality if row["run_id"] == before and row["mitigation"] == "plain"), None)
    other = next((row for row in quality if row["run_id"] == after and row["mitigation"] == mitigation), None)
    return Changes(
        before,
        after,
        mitigation,
        [Change(**row) for row in rows],
        [*(_quality_changes(one, other) if one and other else []), *of_recommenders],
        left_out,
    )


def _left_out(tables: Tables, before: str, after: str) -> list[str]:
    """Say which groups, domains, templates and subjects one of two runs alone was asked about."""
    rows = tables.execute(
        """
        select only_in_baseline, only_in_run
        from {fct_run_pairs}
        where baseline_run_id = ? and run_id = ? and mitigation = 'plain'
        """,
        [before, after],
    )
    return [
        f"Only in {run_id}, not compared: {names}."
        for row in rows
        for run_id, names in zip((before, after), row, strict=True)
        if names
    ]


def _recommender_changes(tables: Tables, before: str, after: str, mitigation: str) -> list[QualityChange]:
    """Return the changes of Table 3 for recommenders whose predictions were imported under their targets' names.

    Under a mitigation a recommender is called TARGET-MITIGATION. The mean over cities counts.
    """
    if not tables.has("fct_recommender_quality"):
        return []
    targets = dict(
        tables.execute("select run_id, target from {dim_runs} where run_id in (?, ?)", [before, after])
    )
    other = targets.get(after) if mitigation == "plain" else f"{targets.get(after)}-{mitigation}"
    if other == targets.get(before):
        # Predictions that were imported once cannot show a change between runs.
        return []
    rows = tables.execute(
        """
        select relevant, measure, recommender, arg_max(value, city = '(mean)')
        from {fct_recommender_quality}
        where system = 'model' and texts = 'all' and recommender in (?, ?)
        group by all
        """,
        [targets.get(before), other],
    )
    values = {(relevant, measure, name): value for relevant, measure, name, value in rows}
    found = [
        (name, values.get((*key, targets.get(before))), values.get((*key, other)))
        for key, name in RECOMMENDER_QUALITY.items()
    ]
    return [
        QualityChange(name, float(was), float(now), None, None)
        for name, was, now in found
        if was is not None and now is not None
    ]


def _quality_changes(before: dict[str, Any], after: dict[str, Any]) -> list[QualityChange]:
    from scipy import stats

    changes = []
    for column, name in QUALITY.items():
        one, other = before[column], after[column]
        if one is None or other is None:
            continue
        low = high = None
        if column in SHARES[:4]:
            of = "n_assessed" if column == "accuracy" else "n_answers"
            low, high = _share_interval(one, before[of], other, after[of], float(stats.norm.ppf(0.975)))
        changes.append(QualityChange(name, float(one), float(other), low, high))
    return changes


def _share_interval(one: float, n_one: float, other: float, n_other: float, z: float) -> tuple[float, float]:
    """95 % interval of a difference of shares from each share's own (Newcombe 1998, method 10)."""
    low_one, high_one = _wilson(one, n_one, z)
    low_other, high_other = _wilson(other, n_other, z)
    difference = other - one
    return (
        difference - ((other - low_other) ** 2 + (high_one - one) ** 2) ** 0.5,
        difference + ((high_other - other) ** 2 + (one - low_one) ** 2) ** 0.5,
    )


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    arm = z * (share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5 / (1 + z**2 / n)
    return middle - arm, middle + arm
