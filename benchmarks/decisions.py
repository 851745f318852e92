"""How often whole audits of decisions raise alarms about a model without bias, and what they miss in one with it.

Every audit goes the whole way: prompts of audits/resumes.yml or audits/rankings.yml, a simulated model, the ledger, dbt, the
findings. Each audit has a model of its own, which refuses some questions, whoever they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import simulated
from benchmarks.calibration import share
from benchmarks.processes import PACKAGE_PARENT
from benchmarks.simulated import (
    ANY,
    ERROR,
    JUDGED_COLUMNS,
    Method,
    Plan,
    by_run,
    print_costs,
    simulate_plans,
)
from benchmarks.warehouses import schema_of
from collector.spec.audit import Audit
from collector.spec.loading import load_audit
from collector.targets.simulator.target import Simulator

RESUMES, RANKINGS = "resumes", "rankings"
KINDS = (RESUMES, RANKINGS)
PLANTED = (0.02, 0.05, 0.1)
PLANTED_ATTRIBUTE, PLANTED_GROUP = "race", "black"
ELSEWHERE = "gender"
SINGLE = (PLANTED_ATTRIBUTE, ELSEWHERE)
ALL = (*SINGLE, f"{PLANTED_ATTRIBUTE}*{ELSEWHERE}")
# What findings about the order shown are filed under: it is nothing of people's.
POSITION = "(position)"
REFUSED = 0.02


@dataclass(frozen=True)
class Judged(simulated.Judged):
    """One attribute in the findings of one audit.

    breaks_rank_rule, breaks_four_fifths: the published rules, which have no test: a mean rank difference of more than 0.05
    (labels alone), an impact ratio below 0.80. gap: of the group that differs most from the reference, in ranks of labels
    or in places; impact_ratio: smallest selection rate over the largest. Both NaN where there is none.
    """

    breaks_rank_rule: bool
    breaks_four_fifths: bool
    gap: float
    impact_ratio: float


SIGNIFICANT = "severity error: adjusted p < alpha"
WARNING_SIGNIFICANT = "severity warn: adjusted p < alpha"
RANK_RULE = "published: mean rank difference > 0.05"
FOUR_FIFTHS = "published: impact ratio < 0.80"
RULES: dict[str, Callable[[Judged], bool]] = {
    ERROR: lambda one: one.has_error_alarm,
    ANY: lambda one: one.has_alarm,
    SIGNIFICANT: lambda one: one.is_significant,
    WARNING_SIGNIFICANT: lambda one: one.is_warning_significant,
    RANK_RULE: lambda one: one.breaks_rank_rule,
    FOUR_FIFTHS: lambda one: one.breaks_four_fifths,
}
NULL_ROWS: tuple[tuple[str, str, Collection[str]], ...] = (
    (ERROR, ERROR, ALL),
    (f"{ANY}, position_bias aside", ANY, ALL),
    (SIGNIFICANT, SIGNIFICANT, ALL),
    (f"{WARNING_SIGNIFICANT}, position_bias aside", WARNING_SIGNIFICANT, ALL),
    ("position_bias: adjusted p < alpha", WARNING_SIGNIFICANT, (POSITION,)),
    (f"{RANK_RULE}, {' or '.join(SINGLE)}", RANK_RULE, SINGLE),
    ("… or their intersections", RANK_RULE, ALL),
    (f"{FOUR_FIFTHS}, {' or '.join(SINGLE)}", FOUR_FIFTHS, SINGLE),
    ("… or their intersections", FOUR_FIFTHS, ALL),
)
Simulated: TypeAlias = simulated.Simulated[Judged]


@cache
def shipped_audit(kind: str) -> Audit:
    """The shipped audit of one of KINDS."""
    return load_audit(PACKAGE_PARENT / "audits" / f"{kind}.yml")


def planted_names(audit: Audit) -> tuple[str, ...]:
    """The names that state the planted group."""
    return tuple(row.name for row in audit.people_rows if row.groups[PLANTED_ATTRIBUTE] == PLANTED_GROUP)


def plans(cases: Iterable[tuple[str, float]]) -> list[Plan[Judged]]:
    """One simulated model for each case.

    Args:
        cases: one of KINDS, and what the names of the planted group take off quality, 0 to 1 in parts of the whole scale.
    """
    method = Method("decisions", ("+fct_findings",), read_judged)
    audits = [(shipped_audit(kind), planted) for kind, planted in cases]
    return [
        Plan(audit, planted, partial(_model, planted_names(audit), planted), method)
        for audit, planted in audits
    ]


def _model(names: Sequence[str], planted: float, seed: int) -> Simulator:
    shift = dict.fromkeys(names, -planted) if planted else {}
    return Simulator(seed=seed, shift=shift, refused=REFUSED)


def read_judged(warehouse: duckdb.DuckDBPyConnection) -> dict[str, tuple[Judged, ...]]:
    """Every run's attributes, in the order of their names, from the findings of an open warehouse."""
    schema = schema_of(warehouse, "fct_findings")
    rows = warehouse.execute(
        f"""
        select
            {JUDGED_COLUMNS},
            coalesce(bool_or(measure = 'rank_gap' and is_published_alarm), false) as breaks_rank_rule,
            coalesce(bool_or(measure = 'impact_ratio' and is_published_alarm), false) as breaks_four_fifths,
            coalesce(arg_max(value, abs(value)) filter (where measure in ('rank_gap', 'place_gap')), 'nan') as gap,
            coalesce(min(value) filter (where measure = 'impact_ratio'), 'nan') as impact_ratio
        from {schema}.fct_findings
        group by run_id, attribute
        order by run_id, attribute
        """
    ).fetchall()
    return by_run(rows, Judged)


def count(audits: Sequence[Simulated], rule: str, attributes: Collection[str] = ALL) -> int:
    """How many audits a rule of RULES fires in, for any of some attributes."""
    return sum(audit.fires(RULES[rule], attributes) for audit in audits)


def run(*, n_audits: int, seed: int) -> None:
    """Simulate and print both parts, half of the audits of each kind.

    Args:
        n_audits: without bias, 4 or more; each planted size gets a quarter as many of a kind.
        seed: all models and orders of questions follow from it.

    Raises:
        BenchmarkError: a warehouse could not be built.
    """
    n_null = n_audits // len(KINDS)
    n_planted = max(2, n_null // 4)
    cases = [(kind, 0.0) for kind in KINDS for _ in range(n_null)]
    cases += [(kind, planted) for kind in KINDS for planted in PLANTED for _ in range(n_planted)]
    audits, costs = simulate_plans(plans(cases), seed=seed)
    console = Console(width=118, highlight=False)
    console.print(
        f"Of each kind {n_null} audits of models without bias and {n_planted} for each planted size; seed {seed}; "
        f"intervals: 95 %, Wilson."
    )
    console.print(_null_table([one for one in audits if not one.planted]))
    for kind in KINDS:
        console.print(_power_table(kind, [one for one in audits if one.planted and one.audit == kind]))
    print_costs(console, costs)


def _null_table(null: Sequence[Simulated]) -> Table:
    table = Table("rule", *KINDS, "both", title="Models without bias", title_justify="left")
    by_kind = [[one for one in null if one.audit == kind] for kind in KINDS]
    for title, rule, attributes in NULL_ROWS:
        applies = [_applies(rule, attributes, kind) for kind in KINDS]
        columns = zip([*by_kind, null], [*applies, all(applies)], strict=True)
        table.add_row(
            title,
            *(
                share(count(audits, rule, attributes), len(audits)) if is_shown else "–"
                for audits, is_shown in columns
            ),
        )
    for title, is_so in (("judged", _is_judged), ("clear", _is_clear)):
        shares = [share(sum(map(is_so, audits)), len(audits)) for audits in (*by_kind, null)]
        table.add_row(f"severity error: {title}, {' and '.join(SINGLE)}", *shares)
    gaps = [[abs(one.attribute(name).gap) for one in audits for name in SINGLE] for audits in by_kind]
    table.add_row(
        f"gap (ranks, places), {' and '.join(SINGLE)}: mean, largest",
        *(f"{np.mean(values):.3f}, {max(values):.3f}" for values in gaps),
        "–",
    )
    return table


def _applies(rule: str, attributes: Collection[str], kind: str) -> bool:
    """Labels alone have ranks, rankings alone positions."""
    return kind == RESUMES if rule == RANK_RULE else kind == RANKINGS or POSITION not in attributes


def _is_judged(audit: Simulated) -> bool:
    return all(audit.attribute(name).is_judged for name in SINGLE)


def _is_clear(audit: Simulated) -> bool:
    return all(audit.attribute(name).is_clear for name in SINGLE)


def _power_table(kind: str, audits: Sequence[Simulated]) -> Table:
    table = Table(
        "planted shift of quality", *(f"-{planted:g}" for planted in PLANTED),
        title=f"{kind}: models that shift names of {PLANTED_GROUP} ({PLANTED_ATTRIBUTE})", title_justify="left",
    )  # fmt: skip
    groups = [[one for one in audits if one.planted == planted] for planted in PLANTED]
    found = [[one.attribute(PLANTED_ATTRIBUTE) for one in group] for group in groups]
    unit = "ranks" if kind == RESUMES else "places"
    table.add_row(f"gap in {unit}, mean", *(f"{np.mean([one.gap for one in group]):.3f}" for group in found))
    table.add_row(
        "impact ratio, mean", *(f"{np.mean([one.impact_ratio for one in group]):.3f}" for group in found)
    )
    rules = (ERROR, SIGNIFICANT, RANK_RULE, FOUR_FIFTHS)
    for rule in [rule for rule in rules if _applies(rule, SINGLE, kind)]:
        fired = [share(count(group, rule, [PLANTED_ATTRIBUTE]), len(group)) for group in groups]
        table.add_row(f"{PLANTED_ATTRIBUTE}: {rule}", *fired)
    clear = [share(sum(one.is_clear for one in group), len(group)) for group in found]
    table.add_row(f"{PLANTED_ATTRIBUTE}: clear", *clear)
    for rule in (ANY, SIGNIFICANT):
        fired = [share(count(group, rule, [ELSEWHERE]), len(group)) for group in groups]
        table.add_row(f"{ELSEWHERE}: {rule}", *fired)
    return table
