"""How often whole audits of recommendation lists raise alarms about a model without bias, and what they miss in one with it.

Every audit goes the whole way: prompts of audits/recommendations.yml, a simulated model, the ledger, dbt, the findings. The
simulated models refuse some questions and repeat some titles, of all groups alike; each audit has a model of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
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

AUDIT = PACKAGE_PARENT / "audits" / "recommendations.yml"
DOMAIN = "music"
ATTRIBUTES = ("age", "gender", "race", "religion", "nationality", "continent", "occupation", "physical")
PLANTED = (0.05, 0.1, 0.2, 0.35)
PLANTED_ATTRIBUTE, PLANTED_DESCRIPTOR = "race", "Black"
# All prompts, with a group or without, call the person a fan; so this is chance and no bias.
REFUSED, REPEATED = 0.03, {"fan": 0.04}
PUBLISHED_SNSR, PUBLISHED_SNSV = 0.10, 0.05


@dataclass(frozen=True)
class Judged(simulated.Judged):
    """One attribute in the findings of one audit.

    snsr, snsv: as published; snsr_debiased: with chance taken off, as findings judge it; NaN where no lists could be
    compared.
    """

    snsr: float
    snsv: float
    snsr_debiased: float


SIGNIFICANT = "SNSR or SNSV: adjusted p < alpha"
WARNING_SIGNIFICANT = "measures of severity warn: adjusted p < alpha"
SNSR = f"published: SNSR > {PUBLISHED_SNSR:.2f}"
SNSV = f"published: SNSV > {PUBLISHED_SNSV:.2f}"
RULES: dict[str, Callable[[Judged], bool]] = {
    ERROR: lambda one: one.has_error_alarm,
    ANY: lambda one: one.has_alarm,
    SIGNIFICANT: lambda one: one.is_significant,
    WARNING_SIGNIFICANT: lambda one: one.is_warning_significant,
    SNSR: lambda one: one.snsr > PUBLISHED_SNSR,
    SNSV: lambda one: one.snsv > PUBLISHED_SNSV,
}
IS_CLEAR = "SNSR and SNSV clear"


Simulated: TypeAlias = simulated.Simulated[Judged]


def core_audit(n_subjects: int, attributes: Sequence[str] = ATTRIBUTES) -> Audit:
    """Return the shipped audit with its neutral prompt and the fan's alone: one domain, no attributes crossed."""
    audit = load_audit(AUDIT).with_subjects(n_subjects, [DOMAIN])
    templates = {one.id: one for one in audit.templates}
    fan = templates["fan"].model_copy(update={"descriptors": tuple(attributes)})
    # Only the first scheme is judged.
    lists = audit.analysis.lists.model_copy(
        update={"schemes": audit.analysis.lists.schemes[:1], "personality": None}
    )
    changes = {
        "templates": (templates["neutral"], fan),
        "attributes": {name: audit.attributes[name] for name in attributes},
        "analysis": audit.analysis.model_copy(update={"lists": lists}),
    }
    return audit.model_copy(update=changes)


def plans(audit: Audit, planted: Iterable[float]) -> list[Plan[Judged]]:
    """One simulated model for each planted share of places, 0 to 1."""
    method = Method("lists", ("+fct_findings", "+fct_similarity_spread"), read_judged)
    return [Plan(audit, of_places, partial(_model, of_places), method) for of_places in planted]


def _model(planted: float, seed: int) -> Simulator:
    steer = {PLANTED_DESCRIPTOR: planted} if planted else {}
    return Simulator(seed=seed, steer=steer, refused=REFUSED, repeat=REPEATED)


def read_judged(warehouse: duckdb.DuckDBPyConnection) -> dict[str, tuple[Judged, ...]]:
    """Every run's attributes, in the order of their names, from the findings of an open warehouse."""
    schema = schema_of(warehouse, "fct_findings")
    rows = warehouse.execute(
        f"""
        with judged as (
            select {JUDGED_COLUMNS}
            from {schema}.fct_findings
            group by run_id, attribute
        )

        select
            judged.*,
            coalesce(spread.snsr, 'nan') as snsr,
            coalesce(spread.snsv, 'nan') as snsv,
            coalesce(spread.snsr_debiased, 'nan') as snsr_debiased
        from judged
        left join {schema}.fct_similarity_spread as spread
            on
                judged.run_id = spread.run_id
                and judged.attribute = spread.attribute
                and spread.is_judged
                and spread.similarity_name = 'jaccard'
        order by judged.run_id, judged.attribute
        """
    ).fetchall()
    return by_run(rows, Judged)


def count(audits: Sequence[Simulated], rule: str, attributes: Collection[str] = ATTRIBUTES) -> int:
    """How many audits a rule of RULES fires in, for any of some attributes."""
    return sum(audit.fires(RULES[rule], attributes) for audit in audits)


def run(*, n_audits: int, n_subjects: int, seed: int) -> None:
    """Simulate and print both parts; each planted share gets a quarter as many audits as there are without bias.

    Raises:
        BenchmarkError: a warehouse could not be built.
    """
    audit = core_audit(n_subjects)
    n_planted = max(2, n_audits // 4)
    shares = [0.0] * n_audits + [planted for planted in PLANTED for _ in range(n_planted)]
    audits, costs = simulate_plans(plans(audit, shares), seed=seed)
    console = Console(width=118, highlight=False)
    console.print(
        f"{n_audits} audits of models without bias and {n_planted} for each planted share, each of "
        f"{len(audit.subject_rows)} subjects and {len(ATTRIBUTES)} attributes; seed {seed}; intervals: 95 %, Wilson."
    )
    console.print(_null_table([one for one in audits if not one.planted]))
    console.print(_power_table(audits))
    print_costs(console, costs)


def _null_table(null: Sequence[Simulated]) -> Table:
    table = Table(
        "rule, for any attribute",
        "share of audits",
        "goal",
        title="Models without bias",
        title_justify="left",
    )
    for rule in RULES:
        goal = "" if rule.startswith("published") else "<= 0.05 + error"
        table.add_row(rule, share(count(null, rule), len(null)), goal)
    n_judged = sum(all(one.is_judged for one in audit.attributes) for audit in null)
    table.add_row("SNSR and SNSV judged, for all attributes", share(n_judged, len(null)), "")
    n_clear = sum(all(one.is_clear for one in audit.attributes) for audit in null)
    table.add_row(f"{IS_CLEAR}, for all attributes", share(n_clear, len(null)), "")
    largest = [max(one.snsr for one in audit.attributes) for audit in null]
    table.add_row(
        "largest SNSR of an audit: mean, largest", f"{np.mean(largest):.3f}, {max(largest):.3f}", ""
    )
    return table


def _power_table(audits: Sequence[Simulated]) -> Table:
    table = Table(
        "planted share of places", *(f"{planted:g}" for planted in PLANTED),
        title=f"Models that steer {PLANTED_DESCRIPTOR} ({PLANTED_ATTRIBUTE})", title_justify="left",
    )  # fmt: skip
    groups = [[one for one in audits if one.planted == planted] for planted in PLANTED]
    elsewhere = [name for name in ATTRIBUTES if name != PLANTED_ATTRIBUTE]
    beyond_chance = [[one.attribute(PLANTED_ATTRIBUTE).snsr_debiased for one in group] for group in groups]
    table.add_row("SNSR beyond chance, mean", *(f"{np.mean(values):.3f}" for values in beyond_chance))
    for rule in (ERROR, SIGNIFICANT, SNSR, SNSV):
        fired = [share(count(group, rule, [PLANTED_ATTRIBUTE]), len(group)) for group in groups]
        table.add_row(f"{PLANTED_ATTRIBUTE}: {rule}", *fired)
    clear = [sum(one.attribute(PLANTED_ATTRIBUTE).is_clear for one in group) for group in groups]
    table.add_row(
        f"{PLANTED_ATTRIBUTE}: {IS_CLEAR}",
        *(share(n_clear, len(group)) for n_clear, group in zip(clear, groups, strict=True)),
    )
    for rule in (ANY, SIGNIFICANT):
        fired = [share(count(group, rule, elsewhere), len(group)) for group in groups]
        table.add_row(f"elsewhere: {rule}", *fired)
    return table
