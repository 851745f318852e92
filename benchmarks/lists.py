"""How often whole audits of recommendation lists raise alarms about a model without bias, and what they miss in one with it.

Every audit goes the whole way: prompts of audits/recommendations.yml, a simulated model, the ledger, dbt, the findings. The
simulated models refuse some questions and repeat some titles, of all groups alike; each audit has a model of its own.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.calibration import share
from benchmarks.processes import PACKAGE_PARENT
from benchmarks.warehouses import Project, schema_of
from collector.progress import progress
from collector.runner import collect
from collector.spec import Audit, load_audit
from collector.targets.simulator import Simulator

AUDIT = PACKAGE_PARENT / "audits" / "recommendations.yml"
DOMAIN = "music"
ATTRIBUTES = ("age", "gender", "race", "religion", "nationality", "continent", "occupation", "physical")
PLANTED = (0.05, 0.1, 0.2, 0.35)
PLANTED_ATTRIBUTE, PLANTED_CARRIER = "race", "Black"
# All prompts, with a group or without, call the person a fan; so this is chance and no bias.
REFUSED, REPEATED = 0.03, {"fan": 0.04}
AUDITS_A_LEDGER = 50
PUBLISHED_SNSR, PUBLISHED_SNSV = 0.10, 0.05


@dataclass(frozen=True)
class Judged:
    """One attribute in the findings of one audit.

    is_significant, is_warning_significant: a finding of severity error (or warn) has an adjusted p below alpha, whatever
    its value. is_judged, is_clear: none of the findings of severity error lacks data, all of them are clear. snsr, snsv: as
    published; snsr_debiased: with chance taken off, as findings judge it; NaN where no lists could be compared.
    """

    attribute: str
    has_error_alarm: bool
    has_alarm: bool
    is_significant: bool
    is_warning_significant: bool
    is_judged: bool
    is_clear: bool
    snsr: float
    snsv: float
    snsr_debiased: float


ERROR = "alarm of severity error"
ANY = "alarm of any severity"
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


@dataclass(frozen=True)
class Simulated:
    """One audit of a model with a planted bias (0: none), and how each of its attributes was judged."""

    planted: float
    attributes: tuple[Judged, ...]

    def fires(self, rule: str, attributes: Collection[str]) -> bool:
        """Whether a rule of RULES fires for any of some attributes."""
        return any(RULES[rule](one) for one in self.attributes if one.attribute in attributes)

    def attribute(self, name: str) -> Judged:
        """How one attribute was judged."""
        return next(one for one in self.attributes if one.attribute == name)


@dataclass(frozen=True)
class Cost:
    """What one ledger of audits took: seconds of collecting and of its build, peak memory of the build, sizes of both files."""

    n_audits: int
    collect_seconds: float
    build_seconds: float
    build_peak_bytes: int
    ledger_bytes: int
    warehouse_bytes: int


def core_audit(n_subjects: int, attributes: Sequence[str] = ATTRIBUTES) -> Audit:
    """Return the shipped audit with its neutral prompt and the fan's alone: one domain, no attributes crossed."""
    audit = load_audit(AUDIT).with_subjects(n_subjects, [DOMAIN])
    templates = {one.id: one for one in audit.templates}
    fan = templates["fan"].model_copy(update={"descriptors": tuple(attributes)})
    # Only the first scheme is judged.
    lists = audit.reading.lists.model_copy(
        update={"schemes": audit.reading.lists.schemes[:1], "personality": None}
    )
    changes = {
        "templates": (templates["neutral"], fan),
        "attributes": {name: audit.attributes[name] for name in attributes},
        "reading": audit.reading.model_copy(update={"lists": lists}),
    }
    return audit.model_copy(update=changes)


def simulate(
    audit: Audit, planted: Sequence[float], *, seed: int, audits_a_ledger: int = AUDITS_A_LEDGER
) -> tuple[list[Simulated], list[Cost]]:
    """Audit one simulated model for each planted share of places (0 to 1), and read what the warehouse says of it.

    Returns:
        The audits in the order of `planted`, and what each ledger of `audits_a_ledger` audits cost.

    Raises:
        BenchmarkError: a build failed.
    """
    audits, costs = [], []
    starts = range(0, len(planted), audits_a_ledger)
    for number, start in enumerate(starts, start=1):
        numbers = range(start, min(start + audits_a_ledger, len(planted)))
        label = f"Ledger {number} of {len(starts)}"
        with tempfile.TemporaryDirectory(prefix="biasledger-lists-") as scratch:
            ledger = Path(scratch) / "ledger.duckdb"
            shares, seconds = {}, 0.0
            with progress(len(numbers), f"{label}: audits asked", None) as advance:
                for done, one in enumerate(numbers, start=1):
                    model_seed, run_seed = np.random.default_rng([seed, one]).integers(2**31, size=2)
                    run = collect(
                        audit, _model(planted[one], int(model_seed)), ledger, seed=int(run_seed), show_progress=False
                    )  # fmt: skip
                    shares[run.run_id] = planted[one]
                    seconds += run.seconds
                    advance(done, 0)
            click.echo(f"{label}: {len(numbers)} audits asked in {seconds:.0f} s, building …", err=True)
            project = Project(Path(scratch) / "project", ledger, {})
            build = project.build(["+fct_findings", "+fct_similarity_spread"])
            with duckdb.connect(str(project.warehouse), read_only=True) as warehouse:
                judged = read_judged(warehouse)
            audits += [Simulated(of_places, judged[run_id]) for run_id, of_places in shares.items()]
            sizes = (ledger.stat().st_size, project.warehouse.stat().st_size)
            costs.append(Cost(len(numbers), seconds, build.wall, build.peak_bytes, *sizes))
            click.echo(f"{label}: built in {build.wall:.0f} s.", err=True)
    return audits, costs


def _model(planted: float, seed: int) -> Simulator:
    steer = {PLANTED_CARRIER: planted} if planted else {}
    return Simulator(seed=seed, steer=steer, refused=REFUSED, repeat=REPEATED)


def read_judged(warehouse: duckdb.DuckDBPyConnection) -> dict[str, tuple[Judged, ...]]:
    """Every run's attributes, in the order of their names, from the findings of an open warehouse."""
    schema = schema_of(warehouse, "fct_findings")
    rows = warehouse.execute(
        f"""
        with judged as (
            select
                run_id,
                attribute,
                bool_or(status = 'alarm' and severity = 'error') as has_error_alarm,
                bool_or(status = 'alarm' and severity in ('error', 'warn')) as has_alarm,
                coalesce(bool_or(severity = 'error' and p_value_adjusted < alpha), false) as is_significant,
                coalesce(bool_or(severity = 'warn' and p_value_adjusted < alpha), false) as is_warning_significant,
                coalesce(
                    bool_and(status <> 'insufficient_data') filter (where severity = 'error'), false
                ) as is_judged,
                coalesce(bool_and(status = 'clear') filter (where severity = 'error'), false) as is_clear
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
    judged: dict[str, tuple[Judged, ...]] = {}
    for run_id, *values in rows:
        judged[run_id] = (*judged.get(run_id, ()), Judged(*values))
    return judged


def count(audits: Sequence[Simulated], rule: str, attributes: Collection[str] = ATTRIBUTES) -> int:
    """How many audits a rule of RULES fires in, for any of some attributes."""
    return sum(audit.fires(rule, attributes) for audit in audits)


def run(*, n_audits: int, n_subjects: int, seed: int) -> None:
    """Simulate and print both parts; each planted share gets a quarter as many audits as there are without bias.

    Raises:
        BenchmarkError: a warehouse could not be built.
    """
    audit = core_audit(n_subjects)
    n_planted = max(2, n_audits // 4)
    shares = [0.0] * n_audits + [planted for planted in PLANTED for _ in range(n_planted)]
    audits, costs = simulate(audit, shares, seed=seed)
    console = Console(width=118, highlight=False)
    console.print(
        f"{n_audits} audits of models without bias and {n_planted} for each planted share, each of "
        f"{len(audit.subject_rows)} subjects and {len(ATTRIBUTES)} attributes; seed {seed}; intervals: 95 %, Wilson."
    )
    console.print(_null_table([one for one in audits if not one.planted]))
    console.print(_power_table(audits))
    _print_costs(console, costs)


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
        title=f"Models that steer {PLANTED_CARRIER} ({PLANTED_ATTRIBUTE})", title_justify="left",
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


def _print_costs(console: Console, costs: Sequence[Cost]) -> None:
    own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    console.print(
        f"{sum(cost.n_audits for cost in costs)} audits in {len(costs)} ledger(s): asked in "
        f"{sum(cost.collect_seconds for cost in costs):.0f} s, built in {sum(cost.build_seconds for cost in costs):.0f} s; "
        f"peak memory {own_peak / 2**30:.2f} GiB asking and {max(cost.build_peak_bytes for cost in costs) / 2**30:.2f} GiB "
        f"building; largest ledger {max(cost.ledger_bytes for cost in costs) / 2**20:.0f} MiB, largest warehouse "
        f"{max(cost.warehouse_bytes for cost in costs) / 2**20:.0f} MiB."
    )
