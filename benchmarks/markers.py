"""How often whole audits of stereotypes raise alarms about a model without bias, and what they miss in one with it.

Every audit goes the whole way: prompts of audits/stereotypes.yml, a simulated model, the ledger, dbt, the findings. Each audit
has a model of its own, which refuses some questions, whoever they are about. A planted model prefers, for each occupation, the
pronoun that the stereotype expects.
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

PLANTED = (0.1, 0.2, 0.4)
PLANTED_CATEGORY = "gender-occupation"
REFUSED = 0.02
RATIO = "stereotype_ratio"


@dataclass(frozen=True)
class Judged(simulated.Judged):
    """One topic in the findings of one audit: a category's ratio, or another measure such as the ratios of single probes.

    `attribute` is the topic's name. breaks_published: the published rule, which has no test: a ratio above 0.7. ratio: the
    largest value of the topic, NaN where there is none.
    """

    breaks_published: bool
    ratio: float


SIGNIFICANT = "severity error: adjusted p < alpha"
WARNING_SIGNIFICANT = "severity warn: adjusted p < alpha"
PUBLISHED = "published: ratio > 0.7"
RULES: dict[str, Callable[[Judged], bool]] = {
    ERROR: lambda one: one.has_error_alarm,
    ANY: lambda one: one.has_alarm,
    SIGNIFICANT: lambda one: one.is_significant,
    WARNING_SIGNIFICANT: lambda one: one.is_warning_significant,
    PUBLISHED: lambda one: one.breaks_published,
}
OF_PROBES = "probe_stereotype_ratio"
Simulated: TypeAlias = simulated.Simulated[Judged]


def of_category(category: str) -> str:
    """The topic of a category's ratio; a category whose probes name persons has none."""
    return f"{RATIO} of {category}"


@cache
def shipped_audit(trials: int) -> Audit:
    """The shipped audit, each question asked so many times."""
    return load_audit(PACKAGE_PARENT / "audits" / "stereotypes.yml").model_copy(update={"trials": trials})


def planted_gender(audit: Audit, planted: float) -> dict[str, float]:
    """Occupation -> share of she: one half, and `planted` more or less as the stereotype has it."""
    expects_she = {
        row.probe: row.direction == "stereotype"
        for row in audit.marker_rows
        if row.marker == "she" and row.probe
    }
    return {
        probe.target_group: 0.5 + (planted if expects_she[probe.probe] else -planted)
        for probe in audit.probe_rows
        if probe.category == PLANTED_CATEGORY and probe.target_group and probe.probe in expects_she
    }


def plans(cases: Iterable[float], *, trials: int) -> list[Plan[Judged]]:
    """One simulated model for each case.

    Args:
        cases: what is added to (or taken from) an even share of she for each occupation, 0 to 0.5.
        trials: how often each question is asked.
    """
    audit, method = shipped_audit(trials), Method("markers", ("+fct_findings",), read_judged)
    return [Plan(audit, planted, partial(_model, audit, planted), method) for planted in cases]


def _model(audit: Audit, planted: float, seed: int) -> Simulator:
    return Simulator(seed=seed, gender=planted_gender(audit, planted) if planted else None, refused=REFUSED)


def read_judged(warehouse: duckdb.DuckDBPyConnection) -> dict[str, tuple[Judged, ...]]:
    """Every run's topics, in the order of their names, from the findings of an open warehouse."""
    schema = schema_of(warehouse, "fct_findings")
    rows = warehouse.execute(
        f"""
        with by_topic as (
            select
                * replace (if(measure = '{RATIO}', '{RATIO} of ' || subject, measure) as attribute)
            from {schema}.fct_findings
        )

        select
            {JUDGED_COLUMNS},
            coalesce(bool_or(measure in ('{RATIO}', '{OF_PROBES}') and is_published_alarm), false) as breaks_published,
            coalesce(max(value), 'nan') as ratio
        from by_topic
        group by run_id, attribute
        order by run_id, attribute
        """
    ).fetchall()
    return by_run(rows, Judged)


def count(audits: Sequence[Simulated], rule: str, topics: Collection[str]) -> int:
    """How many audits a rule of RULES fires in, for any of some topics."""
    return sum(audit.fires(RULES[rule], topics) for audit in audits)


def topics_of(audits: Sequence[Simulated]) -> list[str]:
    """All topics that any audit has findings about, by name."""
    return sorted({one.attribute for audit in audits for one in audit.attributes})


def run(*, n_audits: int, trials: int, seed: int) -> None:
    """Simulate and print both parts.

    Args:
        n_audits: without bias, 2 or more; each planted size gets a quarter as many.
        trials: how often each question is asked.
        seed: all models and orders of questions follow from it.

    Raises:
        BenchmarkError: a warehouse could not be built.
    """
    n_planted = max(2, n_audits // 4)
    cases = [0.0] * n_audits + [planted for planted in PLANTED for _ in range(n_planted)]
    audits, costs = simulate_plans(plans(cases, trials=trials), seed=seed)
    console = Console(width=118, highlight=False)
    console.print(
        f"{n_audits} audits of models without bias and {n_planted} for each planted size, {trials} trials; seed {seed}; "
        f"intervals: 95 %, Wilson."
    )
    console.print(_null_table([one for one in audits if not one.planted]))
    console.print(_power_table([one for one in audits if one.planted]))
    print_costs(console, costs)


def _null_table(null: Sequence[Simulated]) -> Table:
    table = Table("rule", "topic", "fires", title="Models without bias", title_justify="left")
    topics = topics_of(null)
    for rule in RULES:
        table.add_row(rule, "any", share(count(null, rule, topics), len(null)))
        for topic in topics:
            if fired := count(null, rule, [topic]):
                table.add_row("", topic, share(fired, len(null)))
    for topic in topics:
        if topic != OF_PROBES:
            found = _topic(null, topic)
            values = [one.ratio for one in found]
            table.add_row("value: mean, largest", topic, f"{np.mean(values):.3f}, {np.max(values):.3f}")
            table.add_row("clear", topic, share(sum(one.is_clear for one in found), len(found)))
    return table


def _power_table(audits: Sequence[Simulated]) -> Table:
    table = Table(
        "planted preference", *(f"{planted:g}" for planted in PLANTED),
        title=f"Models that prefer the expected pronoun ({PLANTED_CATEGORY})", title_justify="left",
    )  # fmt: skip
    groups = [[one for one in audits if one.planted == planted] for planted in PLANTED]
    topic = of_category(PLANTED_CATEGORY)
    table.add_row(
        "ratio, mean", *(f"{np.mean([one.ratio for one in _topic(group, topic)]):.3f}" for group in groups)
    )
    for rule in (ERROR, SIGNIFICANT, PUBLISHED):
        table.add_row(rule, *(share(count(group, rule, [topic]), len(group)) for group in groups))
    table.add_row(
        "clear", *(share(sum(one.is_clear for one in _topic(group, topic)), len(group)) for group in groups)
    )
    elsewhere = [one for one in topics_of(audits) if one not in (topic, OF_PROBES)]
    for rule in (ERROR, SIGNIFICANT):
        table.add_row(
            f"elsewhere: {rule}", *(share(count(group, rule, elsewhere), len(group)) for group in groups)
        )
    return table


def _topic(audits: Sequence[Simulated], topic: str) -> list[Judged]:
    return [audit.attribute(topic) for audit in audits]
