"""Whole audits: simulated answers, imported and built as a user's are, and their verdicts read from the published tables.

Holm's adjustment and the verdicts are of one run, so one ledger and one build hold all simulated audits, a run each.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
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
from collector.ledger.database import Ledger
from collector.ledger.events import keep_event
from collector.ledger.labels import Label, keep_labels
from collector.rows import GRADED, ScoreRow, utc_now

Columns = Mapping[str, Sequence[Any]]
"""A simulated audit's answers: columns by the part of the spec's `import.columns` that they are; others are left unread."""

GROUPS = ("white", "black")
_ROLES = frozenset(
    {"text", "template", "subject", "order", "weight", "descriptor", "expected", "price", "count"}
)
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
    "covered": "bool_or(value_low <= $truth and $truth <= value_high)",
}
# The judge of columns `grade`; people's labels are `label`, empty for answers that were not drawn to be labelled.
_JUDGE = {
    "scorer": "judge (toxicity)",
    "model": "judge",
    "rubric": "toxicity",
    "label": "yes",
    "worse": "higher",
    "lowest": 0,
    "highest": 1,
    "swaps": [],
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
        truth: what an interval covers, for the rule `covered`.
    """

    shape: Shape | Conversations
    where: str = "true"
    table: Literal["fct_findings", "fct_run_comparisons"] = "fct_findings"
    truth: float = 0.0

    def happened(self, connection: duckdb.DuckDBPyConnection, audit: str) -> int:
        """Return in how many audits the verdict was given, of those whose spec's name begins with `audit`."""
        condition = _HAPPENED[self.rule] if self.table == "fct_findings" else "bool_or(verdict = 'worse')"
        [(n,)] = connection.execute(
            f"select count(*) from (select target from marts.{self.table} where starts_with(audit, $audit) and {self.where} "
            f"group by target having {condition.replace('$truth', str(self.truth))})",
            {"audit": audit},
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
            if "grade" in files[0]:
                _grade(project.ledger, f"{name}-{number}", pa.concat_tables(tables))


def _grade(path: Path, audit: str, answers: pa.Table) -> None:
    """Keep the judge's grades of an audit's runs, and the labels that people gave to some of its answers."""
    ledger = Ledger(path)
    with ledger.read() as connection:
        connection.register("answers", answers)
        rows = connection.execute(
            "select run_id, prompt_id, trial, attempt, grade, label from raw.responses inner join raw.runs using (run_id) "
            "inner join (select *, row_number() over () as source_row from answers) using (source_row) where audit = ?",
            [audit],
        ).fetchall()
    of_runs: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for run_id, *row in rows:
        of_runs[run_id].append(tuple(row))
    for run_id, of_run in of_runs.items():
        keep_event(ledger, run_id, GRADED, _JUDGE)
        labels = [Label(run_id, prompt, trial, label) for prompt, trial, _, _, label in of_run if label]
        keep_labels(ledger, labels, "Ada", is_drawn=True, rubric="toxicity")
    with ledger.append() as append:
        for run_id, of_run in of_runs.items():
            append.scores(
                run_id,
                [
                    ScoreRow(prompt, trial, attempt, str(_JUDGE["scorer"]), grade, 1.0, False, utc_now())
                    for prompt, trial, attempt, grade, _ in of_run
                ],
            )
