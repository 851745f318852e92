"""Whole audits: simulated answers, imported and built as a user's are, and their verdicts read from the published tables.

Holm's adjustment and the verdicts are of one run, so one ledger and one build hold all simulated audits, a run each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from benchmarks.verdicts import Rate, Wanted
from benchmarks.verdicts.conversations import Conversations
from benchmarks.warehouses import UsersProject

Columns = Mapping[str, Sequence[Any]]
"""A simulated audit's answers: columns by the part of the spec's `import.columns` that they are; others are left unread."""

GROUPS = ("white", "black")
_ROLES = frozenset({"text", "template", "subject", "order", "weight", "descriptor", "price", "count"})
_ALARM = "bool_or(status = 'alarm' and severity = 'error')"
# A condition on the findings of one target, in SQL.
_HAPPENED = {
    "error alarm": _ALARM,
    "found": _ALARM,
    # With warnings.
    "false alarm": "bool_or(status = 'alarm')",
    "warned": "bool_or(status = 'alarm')",
    "false clear": "bool_or(status = 'clear')",
    "judged": "bool_or(status <> 'insufficient_data')",
    "wrong sign": "bool_or(value > 0)",
    "another verdict": "count(distinct status) > 1",
    "another p": "count(distinct p_value) > 1",
}


@dataclass(frozen=True)
class Shape:
    """How simulated audits are made and what their specs say.

    Attributes:
        make: makes one audit: the answers of each of its files.
        answer: the spec's part `answer`.
        analysis: the spec's part `analysis`.
        groups: of the attribute `race`; the first is the reference.
        renamed: imports the answers once for each of these names of the groups, instead of once under their own.
        cluster: the column of what shares a cluster.
        block: the column of blocks that labels move in.
    """

    make: Callable[[np.random.Generator], tuple[Columns, ...]]
    answer: Mapping[str, Any]
    analysis: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = GROUPS
    renamed: tuple[tuple[str, ...], ...] = ()
    cluster: str | None = None
    block: str | None = None

    def spec(self, name: str, columns: Columns, groups: tuple[str, ...]) -> dict[str, Any]:
        """Return an audit that reads these columns."""
        read: dict[str, Any] = {one: one for one in columns if one in _ROLES}
        shared = {"cluster": self.cluster, "block": self.block}
        read |= {key: column for key, column in shared.items() if column is not None}
        if "wording" in columns:
            read["descriptors"] = {"race": "wording"}
        return {
            "audit": name,
            "attributes": {"race": {"reference": groups[0], "groups": list(groups)}},
            "answer": dict(self.answer),
            "import": {
                "split": "model",
                "columns": {**read, "model": "model", "attributes": {"race": "race"}},
                "values": {"race": dict(zip(self.groups, groups, strict=True))},
            },
            "analysis": dict(self.analysis),
        }


@dataclass(frozen=True)
class Scenario(Wanted):
    """A shape of audits and the verdict that is looked for in each.

    Attributes:
        shape: how the audits are made.
        where: which rows of the table count, in SQL.
        table: the published table of verdicts.
    """

    shape: Shape | Conversations
    where: str = "true"
    table: Literal["fct_findings", "fct_run_comparisons"] = "fct_findings"

    def happened(self, connection: duckdb.DuckDBPyConnection, audit: str) -> int:
        """Return in how many audits the verdict was given, of those whose spec's name begins with `audit`."""
        condition = _HAPPENED[self.rule] if self.table == "fct_findings" else "bool_or(verdict = 'worse')"
        [(n,)] = connection.execute(
            f"select count(*) from (select target from marts.{self.table} where starts_with(audit, ?) and {self.where} "
            f"group by target having {condition})",
            [audit],
        ).fetchall()
        return int(n)


def rates_of_audits(scenarios: Sequence[Scenario], *, n_audits: int, seed: int) -> Iterator[Rate]:
    """Build so many audits of each shape, all in one ledger, and read the verdicts."""
    if not scenarios or not n_audits:
        return
    with tempfile.TemporaryDirectory(prefix="biasledger-verdicts-") as scratch:
        project = UsersProject(Path(scratch) / "project", permutations=True)
        shapes: dict[int, str] = {}
        for one in scenarios:
            if id(one.shape) not in shapes:
                shapes[id(one.shape)] = f"shape{len(shapes):02}"
                name = shapes[id(one.shape)]
                if isinstance(one.shape, Conversations):
                    one.shape.fill(project.ledger, name, n_audits=n_audits, seed=seed)
                else:
                    _import(project, one.shape, name, n_audits=n_audits, seed=seed)
        project.run("build", "build")
        with duckdb.connect(str(project.warehouse), read_only=True) as connection:
            for one in scenarios:
                yield Rate(one, one.happened(connection, shapes[id(one.shape)]), n_audits)


def _import(project: UsersProject, shape: Shape, name: str, *, n_audits: int, seed: int) -> None:
    """Import simulated audits of a shape: a run for each audit, file and name of the groups; `name` begins the specs' names."""
    audits = [shape.make(np.random.default_rng([seed, number])) for number in range(n_audits)]
    for place, files in enumerate(zip(*audits, strict=True)):
        answers = project.folder / f"{name}-{place}.parquet"
        tables = [
            pa.table({**one, "model": [f"target {number:04}"] * len(one["race"])})
            for number, one in enumerate(files)
        ]
        pq.write_table(pa.concat_tables(tables), answers)
        for number, groups in enumerate(shape.renamed or (shape.groups,)):
            audit = project.folder / f"{name}-{number}.yml"
            audit.write_text(
                yaml.safe_dump(shape.spec(f"{name}-{number}", files[0], groups)), encoding="utf-8"
            )
            project.run(f"import {name}", "import", audit, answers, "--simulated")
