"""A project folder for tests: collect or import, build, read the warehouse."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import yaml

from biasledger.building.build import BuildSummary, build_warehouse
from biasledger.publishing import freshness
from biasledger.publishing.work import side_file, work_file
from collector.asking.runner import collect
from collector.importers.tabular import import_file
from collector.ledger.summary import RunSummary
from collector.rows import RunRow, utc_now
from collector.spec.loading import load_audit
from collector.targets import load_target

_MODELS = Path(__file__).parents[2] / "models"
VERSIONS = {"biasledger": "test"}

# Product audit cut to its two attributes, so that a build takes seconds.
SMALL_ANALYSIS: Mapping[str, Any] = {
    "words": {
        "schemes": ["words"],
        "remove": {"race words": ["asian", "black", "white"], "gender words": ["man", "woman"]},
    }
}


def run_row(run_id: str, audit: str, **other: Any) -> RunRow:
    """A run of a simulated target that was begun now; other: further values."""
    values: dict[str, Any] = {
        "spec": {},
        "target": "robot",
        "target_kind": "simulator",
        "is_simulated": True,
        "model_asked": None,
        "parameters": {},
        "answer_rules_version": "1",
        "versions": {},
        "origin": "collected",
        "started_at": utc_now(),
    }
    return RunRow(run_id=run_id, audit=audit, **(values | other))


@dataclass(frozen=True)
class Project:
    """A project folder with its ledger, its warehouse, and the work file behind it."""

    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.duckdb"

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse.duckdb"

    @property
    def work(self) -> Path:
        return work_file(self.folder, self.warehouse)

    def collect(
        self,
        target: str,
        audit: str = "audits/products.yml",
        mitigations: tuple[str, ...] = (),
        parts: tuple[str, ...] = (),
        n_subjects: int | None = None,
        domains: tuple[str, ...] = (),
        trials: int | None = None,
    ) -> RunSummary:
        return collect(
            load_audit(self.folder / audit).with_subjects(n_subjects, domains),
            load_target(self.folder / "targets.yml", target),
            self.ledger,
            mitigations=mitigations,
            parts=parts,
            trials=trials,
            show_progress=False,
            versions=VERSIONS,
        )

    def import_file(self, audit: str, file: Path, **options: Any) -> RunSummary:
        path = self.folder / audit
        return import_file(load_audit(path), path, file, self.ledger, versions=VERSIONS, **options)

    def build(self, **options: Any) -> BuildSummary:
        return build_warehouse(self.folder, self.ledger, self.warehouse, **options)

    def pass_as_built(self) -> None:
        """Have the next build take what was written into the work file for what a build left."""
        note = side_file(self.work, "built.json")
        content = json.loads(note.read_text(encoding="utf-8"))
        note.write_text(
            json.dumps(content | {"work": freshness._state(self.work).decode()}), encoding="utf-8"
        )

    def query(self, sql: str) -> pd.DataFrame:
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            return connection.execute(sql).df()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def tables_by_run(self) -> list[str]:
        """Schema and name of the tables that are built by run."""
        names = [
            path.stem
            for path in _MODELS.rglob("*.sql")
            if 'materialized="by_run"' in path.read_text(encoding="utf-8")
        ]
        found = self.work_rows(
            "select schema_name || '.' || table_name from duckdb_tables() "
            f"where table_name in {tuple(names)} order by all"
        )
        return [table for (table,) in found]

    def work_rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of what was built, private tables among it, published or not."""
        with duckdb.connect(str(self.work), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def write_audit(self, name: str, spec: Mapping[str, Any]) -> str:
        relative = f"audits/{name}.yml"
        (self.folder / relative).write_text(yaml.safe_dump(dict(spec), sort_keys=False), encoding="utf-8")
        return relative

    def write_rows(self, name: str, header: str, rows: Iterable[Sequence[Any]]) -> Path:
        """Write a CSV file into the folder; the header's names are separated by commas."""
        path = self.folder / name
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header.split(","), *rows])
        return path

    def import_rows(self, spec: Mapping[str, Any], header: str, rows: Iterable[Sequence[Any]]) -> RunSummary:
        """Write an audit and its answers, and import them."""
        name = str(spec["audit"])
        return self.import_file(self.write_audit(name, spec), self.write_rows(f"{name}.csv", header, rows))

    def add_targets(self, targets: Mapping[str, Mapping[str, Any]]) -> None:
        """Add targets to targets.yml; one that is there by a name is replaced."""
        path = self.folder / "targets.yml"
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        document["targets"].update({name: dict(settings) for name, settings in targets.items()})
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def import_spec(
    name: str, *, kind: str = "text", analysis: Mapping[str, Any] = SMALL_ANALYSIS
) -> dict[str, Any]:
    """An audit of texts already collected, race by gender."""
    return {
        "audit": name,
        "attributes": {
            "race": {"reference": "White", "groups": ["White", "Asian", "Black"]},
            "gender": {"reference": "Man", "groups": ["Man", "Woman"]},
        },
        "answer": {"kind": kind},
        "import": {
            "columns": {
                "text": "text",
                "template": "template",
                "attributes": {"race": "race", "gender": "gender"},
            }
        },
        "analysis": deepcopy(dict(analysis)),
    }
