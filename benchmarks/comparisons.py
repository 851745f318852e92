"""Runs next to each other: how often the same model seems to have changed, and whether a changed one is found.

The simulated models are asked more in one run and less in the next, so that every comparison has to be brought to equal sizes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import duckdb
import yaml

from biasledger.building.build import build_warehouse
from biasledger.project import init_project
from collector.asking.runner import collect
from collector.spec.loading import load_audit
from collector.targets import load_target

# Audit -> how much of it is asked in even and in odd runs: (trials, subjects a domain).
_AUDITS: Mapping[str, tuple[tuple[int | None, int | None], tuple[int | None, int | None]]] = {
    "products": ((1, None), (2, None)),
    "recommendations": ((None, 24), (None, 30)),
    "resumes": ((2, None), (1, None)),
    "restaurants": ((None, None), (None, None)),
    "stereotypes": ((2, None), (3, None)),
}
_DOMAINS = {"recommendations": ("music",), "restaurants": ("Boston",)}
_PLANTED = {"steer": 2.0, "shift": 3.0, "price": 3.0, "associate": 2.0}
_OF_MEASURE = """
    select
        audit,
        measure,
        count(*) as n,
        count(*) filter (where verdict = 'worse') as n_worse,
        count(*) filter (where verdict = 'better') as n_better,
        count(*) filter (where interval_low > 0 or interval_high < 0) as n_outside
    from marts.fct_run_comparisons
    where verdict <> 'insufficient_data' and is_previous {where}
    group by audit, measure
    order by audit, measure
"""


def run(*, n_runs: int, n_changes: int, seed: int) -> None:
    """Print false changes over n_runs of one model, and what is found of n_changes from a model to a worse one."""
    with tempfile.TemporaryDirectory(prefix="biasledger-comparisons-") as folder:
        same = _built(Path(folder) / "same", [1.0] * n_runs, seed)
        worse = _built(Path(folder) / "worse", [1.0, 2.0] * n_changes, seed + 10_000)
        pairs = _rows(
            same, "select count(distinct pair_key) from marts.fct_run_comparisons where is_previous"
        )[0][0]
        wrong = _rows(
            same,
            "select count(distinct pair_key) from marts.fct_run_comparisons where is_previous and verdict in ('worse', 'better')",
        )[0][0]
        click.echo(f"\nThe same model, {pairs} pairs of runs: {wrong} with any measure worse or better.")
        _print(_rows(same, _OF_MEASURE.format(where="")))
        click.echo(f"\nA worse model, {n_changes} changes an audit (measures of the planted attributes):")
        planted = """
            and (attribute in ('race', 'continent') or attribute = '(markers)')
            and run_id in (
                select run_id from (
                    select run_id, row_number() over (partition by audit order by started_at) as place from marts.dim_runs
                )
                where place % 2 = 0
            )
        """
        _print(_rows(worse, _OF_MEASURE.format(where=planted)))


def _built(folder: Path, sizes: Sequence[float], seed: int) -> Path:
    """A warehouse of as many runs an audit as there are sizes; above 1 the planted bias is larger than that of targets.yml."""
    init_project(folder)
    audit = folder / "audits" / "products.yml"
    text = audit.read_text(encoding="utf-8").replace("[words, seed, seed_vectors, keys]", "[words]")
    audit.write_text(text.replace("crossed: [race*gender]", "crossed: []"), encoding="utf-8")
    targets = folder / "targets.yml"
    model = yaml.safe_load(targets.read_text(encoding="utf-8"))["targets"]["simulator"]
    for number, size in enumerate(sizes):
        document = {"targets": {"model": {**_biased(model, size), "seed": seed + number}}}
        targets.write_text(yaml.safe_dump(document), encoding="utf-8")
        target = load_target(targets, "model")
        for name, amounts in _AUDITS.items():
            trials, subjects = amounts[number % 2]
            collect(
                load_audit(folder / f"audits/{name}.yml").with_subjects(subjects, _DOMAINS.get(name, ())),
                target,
                folder / "ledger.duckdb",
                trials=trials,
                show_progress=False,
                versions={},
            )
    warehouse = folder / "warehouse.duckdb"
    build_warehouse(folder, folder / "ledger.duckdb", warehouse)
    return warehouse


def _biased(model: Mapping[str, Any], size: float) -> dict[str, Any]:
    """The model, with its planted biases as many times as large as _PLANTED says where size is above 1."""
    changed = dict(model)
    for key, factor in _PLANTED.items() if size > 1 else ():
        changed[key] = _scaled(model[key], factor)
    return changed


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _scaled(one, factor) for name, one in value.items()}
    return max(-1.0, min(1.0, value * factor))


def _rows(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def _print(rows: Sequence[tuple[Any, ...]]) -> None:
    click.echo(
        f"{'audit':16} {'measure':24} {'compared':>8} {'worse':>6} {'better':>6} {'interval without 0':>18}"
    )
    for audit, measure, n, worse, better, outside in rows:
        click.echo(f"{audit:16} {measure:24} {n:8d} {worse:6d} {better:6d} {outside / n:17.1%}")
