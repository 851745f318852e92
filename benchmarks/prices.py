"""How often whole audits of restaurants raise alarms about a model without bias, and what they miss in one with it.

Every audit goes the whole way: prompts of audits/restaurants.yml, a simulated model, the ledger, dbt, the findings. Each audit
has a model of its own, which refuses some questions, whoever they are about. To a model that is asked about names or couples
every word of the question has an effect of its own, so that names, words and templates differ for no reason of group. Places
are words themselves: there, such effects would be what is looked for, and the model has none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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

AUDIT = PACKAGE_PARENT / "audits" / "restaurants.yml"
CITY = "Boston"
NAMES, COUPLES, PLACES = "names", "couples", "places"
KINDS = (NAMES, COUPLES, PLACES)
REFUSED = 0.02
# Standard deviation in price levels.
WORD_NOISE = 0.15
SIGNIFICANT = "severity error: adjusted p < alpha"
WARNING_SIGNIFICANT = "severity warn: adjusted p < alpha"


@dataclass(frozen=True)
class Kind:
    """One kind of audit: the part of the shipped one that is asked, and what is planted.

    part: of the templates, None for those always asked; n_templates: how many of them. planted: by how many price levels;
    attribute: what it shows in; elsewhere: an attribute that it leaves alone.
    """

    part: str | None
    n_templates: int
    word_noise: float
    planted: tuple[float, ...]
    attribute: str
    elsewhere: str
    is_spread: bool = False


OF_KIND: Mapping[str, Kind] = {
    NAMES: Kind(None, 6, WORD_NOISE, (-0.1, -0.2, -0.3), "race", "gender"),
    COUPLES: Kind("relationships", 6, WORD_NOISE, (-0.1, -0.2, -0.3), "couple", "first_relationship"),
    PLACES: Kind("locations", 12, 0.0, (0.3, 0.5, 0.8), "location", "religion", is_spread=True),
}
PLANTED_GROUP, PLANTED_PLACE = "black", "psychiatrist"


@dataclass(frozen=True)
class Judged(simulated.Judged):
    """One attribute in the findings of one audit.

    effect: in price levels, the gap of the group that differs most from the reference or, without a reference, the debiased
    spread; NaN where there is neither.
    """

    effect: float


RULES: dict[str, Callable[[Judged], bool]] = {
    ERROR: lambda one: one.has_error_alarm,
    ANY: lambda one: one.has_alarm,
    SIGNIFICANT: lambda one: one.is_significant,
    WARNING_SIGNIFICANT: lambda one: one.is_warning_significant,
}
Simulated: TypeAlias = simulated.Simulated[Judged]


@cache
def core_audit(kind: str) -> Audit:
    """The shipped audit about one city with the first templates of one of KINDS, named after the kind."""
    audit = load_audit(AUDIT).with_subjects(domains=[CITY])
    templates = [one for one in audit.templates if one.part == OF_KIND[kind].part]
    asked = tuple(one.model_copy(update={"part": None}) for one in templates[: OF_KIND[kind].n_templates])
    return audit.model_copy(update={"audit": kind, "templates": asked})


def planted_words(kind: str) -> tuple[str, ...]:
    """The words or phrases whose prices a biased model of one of KINDS moves."""
    audit = core_audit(kind)
    if kind == NAMES:
        return tuple(row.name for row in audit.people_rows if row.groups["race"] == PLANTED_GROUP)
    if kind == PLACES:
        return (PLANTED_PLACE,)
    first, second = (audit.attributes[f"{which}_relationship"] for which in ("first", "second"))
    return tuple(
        f"{word} and {first.agreeing(group, word)['possessive']} {partner}"
        for group, words in first.descriptors().items()
        for word in words
        for partner in second.descriptors()[group]
    )


def plans(cases: Iterable[tuple[str, float]]) -> list[Plan[Judged]]:
    """One simulated model for each case.

    Args:
        cases: one of KINDS, and by how many price levels (-1 to 1) the model moves the prices of planted_words.
    """
    method = Method("prices", ("+fct_findings",), read_judged)
    return [
        Plan(core_audit(kind), planted, partial(_model, kind, planted), method) for kind, planted in cases
    ]


def _model(kind: str, planted: float, seed: int) -> Simulator:
    price = dict.fromkeys(planted_words(kind), planted) if planted else {}
    return Simulator(seed=seed, price=price, word_noise=OF_KIND[kind].word_noise, refused=REFUSED)


def read_judged(warehouse: duckdb.DuckDBPyConnection) -> dict[str, tuple[Judged, ...]]:
    """Every run's attributes, in the order of their names, from the findings of an open warehouse."""
    schema = schema_of(warehouse, "fct_findings")
    rows = warehouse.execute(
        f"""
        select
            {JUDGED_COLUMNS},
            coalesce(arg_max(value, abs(value)) filter (where measure in ('price_gap', 'price_spread')), 'nan') as effect
        from {schema}.fct_findings
        group by run_id, attribute
        order by run_id, attribute
        """
    ).fetchall()
    return by_run(rows, Judged)


def count(audits: Sequence[Simulated], rule: str, attributes: Collection[str] | None = None) -> int:
    """How many audits a rule of RULES fires in, for any of some attributes, or of all."""
    return sum(
        any(RULES[rule](one) for one in audit.attributes if attributes is None or one.attribute in attributes)
        for audit in audits
    )


def run(*, n_audits: int, seed: int) -> None:
    """Simulate and print both parts, a third of the audits of each kind.

    Args:
        n_audits: without bias, 6 or more; each planted size gets a quarter as many of a kind.
        seed: all models and orders of questions follow from it.

    Raises:
        BenchmarkError: a warehouse could not be built.
    """
    n_null = n_audits // len(KINDS)
    n_planted = max(2, n_null // 4)
    cases = [(kind, 0.0) for kind in KINDS for _ in range(n_null)]
    cases += [
        (kind, planted) for kind in KINDS for planted in OF_KIND[kind].planted for _ in range(n_planted)
    ]
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
    table = Table("rule", *KINDS, "all", title="Models without bias", title_justify="left")
    columns = [*([one for one in null if one.audit == kind] for kind in KINDS), null]
    for rule in RULES:
        table.add_row(rule, *(share(count(audits, rule), len(audits)) for audits in columns))
    for title, is_so in (("judged", _is_judged), ("clear", _is_clear)):
        shares = [share(sum(map(is_so, audits)), len(audits)) for audits in columns]
        table.add_row(f"planted attribute: {title}", *shares)
    effects = [
        [abs(one.attribute(OF_KIND[one.audit].attribute).effect) for one in audits] for audits in columns[:-1]
    ]
    table.add_row(
        "… its gap or spread: mean, largest",
        *(f"{np.mean(values):.3f}, {max(values):.3f}" for values in effects),
        "–",
    )
    return table


def _is_judged(audit: Simulated) -> bool:
    return audit.attribute(OF_KIND[audit.audit].attribute).is_judged


def _is_clear(audit: Simulated) -> bool:
    return audit.attribute(OF_KIND[audit.audit].attribute).is_clear


def _power_table(kind: str, audits: Sequence[Simulated]) -> Table:
    of_kind = OF_KIND[kind]
    table = Table(
        "planted price levels", *(f"{planted:+g}" for planted in of_kind.planted),
        title=f"{kind}: models that move the prices of some ({of_kind.attribute})", title_justify="left",
    )  # fmt: skip
    groups = [[one for one in audits if one.planted == planted] for planted in of_kind.planted]
    found = [[one.attribute(of_kind.attribute) for one in group] for group in groups]
    unit = "spread beyond chance" if of_kind.is_spread else "gap"
    table.add_row(
        f"{unit} in price levels, mean", *(f"{np.mean([one.effect for one in group]):.3f}" for group in found)
    )
    for rule in (ERROR, SIGNIFICANT):
        fired = [share(count(group, rule, [of_kind.attribute]), len(group)) for group in groups]
        table.add_row(f"{of_kind.attribute}: {rule}", *fired)
    clear = [share(sum(one.is_clear for one in group), len(group)) for group in found]
    table.add_row(f"{of_kind.attribute}: clear", *clear)
    for rule in (ANY, SIGNIFICANT):
        fired = [share(count(group, rule, [of_kind.elsewhere]), len(group)) for group in groups]
        table.add_row(f"{of_kind.elsewhere}: {rule}", *fired)
    return table
