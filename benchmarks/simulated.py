"""Audits of simulated models that go the whole way: asked, kept in ledgers, built by dbt; and what the findings say of each."""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import click
import duckdb
import numpy as np
from rich.console import Console

from benchmarks.warehouses import Project
from collector.asking.progress import progress
from collector.asking.runner import collect
from collector.spec.audit import Audit
from collector.targets.base import Target

AUDITS_A_LEDGER = 50
ERROR = "alarm of severity error"
ANY = "alarm of any severity"

# A run's findings about one attribute; the columns after run_id are the fields of Judged.
JUDGED_COLUMNS = """
    run_id,
    attribute,
    bool_or(status = 'alarm' and severity = 'error') as has_error_alarm,
    bool_or(status = 'alarm' and severity in ('error', 'warn')) as has_alarm,
    coalesce(bool_or(severity = 'error' and p_value_adjusted < alpha), false) as is_significant,
    coalesce(bool_or(severity = 'warn' and p_value_adjusted < alpha), false) as is_warning_significant,
    coalesce(bool_and(status <> 'insufficient_data') filter (where severity = 'error'), false) as is_judged,
    coalesce(bool_and(status = 'clear') filter (where severity = 'error'), false) as is_clear
"""


@dataclass(frozen=True)
class Judged:
    """One attribute in the findings of one audit.

    is_significant, is_warning_significant: a finding of severity error (or warn) has an adjusted p below alpha, whatever
    its value. is_judged, is_clear: none of the findings of severity error lacks data, all of them are clear; both False
    where there is none.
    """

    attribute: str
    has_error_alarm: bool
    has_alarm: bool
    is_significant: bool
    is_warning_significant: bool
    is_judged: bool
    is_clear: bool


J = TypeVar("J", bound=Judged)


@dataclass(frozen=True)
class Simulated(Generic[J]):
    """One run of an audit, named as in its file, on a model with a planted bias (0: none), and how each attribute was judged."""

    audit: str
    planted: float
    attributes: tuple[J, ...]

    def fires(self, rule: Callable[[J], bool], attributes: Collection[str]) -> bool:
        """Whether a rule fires for any of some attributes."""
        return any(rule(one) for one in self.attributes if one.attribute in attributes)

    def attribute(self, name: str) -> J:
        """How one attribute was judged."""
        return next(one for one in self.attributes if one.attribute == name)


@dataclass(frozen=True)
class Method(Generic[J]):
    """A method of the warehouse, dbt's selectors of what `read` needs, and the judged attributes by run_id that it reads."""

    name: str
    models: tuple[str, ...]
    read: Callable[[duckdb.DuckDBPyConnection], Mapping[str, tuple[J, ...]]]


@dataclass(frozen=True)
class Plan(Generic[J]):
    """One audit to be simulated: what is asked, how much is planted (0: nothing), the model that a seed gives, what reads it."""

    audit: Audit
    planted: float
    model: Callable[[int], Target]
    method: Method[J]


@dataclass(frozen=True)
class Cost:
    """What one ledger of audits took: seconds of collecting and of its build, peak memory of the build, sizes of both files."""

    n_audits: int
    collect_seconds: float
    build_seconds: float
    build_peak_bytes: int
    ledger_bytes: int
    warehouse_bytes: int


def simulate_plans(
    plans: Sequence[Plan[J]], *, seed: int, audits_a_ledger: int = AUDITS_A_LEDGER
) -> tuple[list[Simulated[J]], list[Cost]]:
    """Ask the model of each plan its audit, build the warehouse, and read what it says of each.

    Args:
        plans: the audits.
        seed: each plan's model and order of questions follow from it and from the plan's position.
        audits_a_ledger: how many audits share a ledger and its build.

    Returns:
        The audits in the order of `plans`, and what each ledger cost.

    Raises:
        BenchmarkError: a build failed.
    """
    audits: list[Simulated[J]] = []
    costs = []
    starts = range(0, len(plans), audits_a_ledger)
    for number, start in enumerate(starts, start=1):
        numbers = range(start, min(start + audits_a_ledger, len(plans)))
        label = f"Ledger {number} of {len(starts)}"
        with tempfile.TemporaryDirectory(prefix="biasledger-simulated-") as scratch:
            ledger = Path(scratch) / "ledger.duckdb"
            asked, seconds = {}, 0.0
            with progress(len(numbers), f"{label}: audits asked", None) as advance:
                for done, one in enumerate(numbers, start=1):
                    model_seed, run_seed = np.random.default_rng([seed, one]).integers(2**31, size=2)
                    plan = plans[one]
                    run = collect(
                        plan.audit, plan.model(int(model_seed)), ledger, seed=int(run_seed), show_progress=False
                    )  # fmt: skip
                    asked[run.run_id] = plan
                    seconds += run.seconds
                    advance(done, 0)
            click.echo(f"{label}: {len(numbers)} audits asked in {seconds:.0f} s, building …", err=True)
            methods = list(dict.fromkeys(plan.method for plan in asked.values()))
            project = Project(Path(scratch) / "project", ledger, methods=[method.name for method in methods])
            build = project.build(sorted({model for method in methods for model in method.models}))
            with duckdb.connect(str(project.warehouse), read_only=True) as warehouse:
                judged = {method: method.read(warehouse) for method in methods}
            audits += [
                Simulated(plan.audit.audit, plan.planted, judged[plan.method][run_id])
                for run_id, plan in asked.items()
            ]
            sizes = (ledger.stat().st_size, project.warehouse.stat().st_size)
            costs.append(Cost(len(numbers), seconds, build.wall, build.peak_bytes, *sizes))
            click.echo(f"{label}: built in {build.wall:.0f} s.", err=True)
    return audits, costs


def by_run(rows: Iterable[Sequence[Any]], judged_as: Callable[..., J]) -> dict[str, tuple[J, ...]]:
    """Gather rows of run_id and the arguments of `judged_as` by run, in their order."""
    judged: dict[str, tuple[J, ...]] = {}
    for run_id, *values in rows:
        judged[run_id] = (*judged.get(run_id, ()), judged_as(*values))
    return judged


def print_costs(console: Console, costs: Sequence[Cost]) -> None:
    """Print what all ledgers together took, and the largest of them."""
    own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    console.print(
        f"{sum(cost.n_audits for cost in costs)} audits in {len(costs)} ledger(s): asked in "
        f"{sum(cost.collect_seconds for cost in costs):.0f} s, built in {sum(cost.build_seconds for cost in costs):.0f} s; "
        f"peak memory {own_peak / 2**30:.2f} GiB asking and {max(cost.build_peak_bytes for cost in costs) / 2**30:.2f} GiB "
        f"building; largest ledger {max(cost.ledger_bytes for cost in costs) / 2**20:.0f} MiB, largest warehouse "
        f"{max(cost.warehouse_bytes for cost in costs) / 2**20:.0f} MiB."
    )
