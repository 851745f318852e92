"""Warehouses built in a scratch folder: by the commands that a user gives, or by dbt, models only; and what is read from them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.processes import PACKAGE_PARENT, Measured, run_measured
from biasledger.building import BUILT
from biasledger.project import init_project, link_package
from biasledger.publishing.work import work_file

if TYPE_CHECKING:
    import duckdb

    from biasledger.measures.comparisons import Comparison
    from biasledger.measures.words.texts import Texts

RUN_DBT = "from dbt.cli.main import cli; cli(prog_name='dbt')"
WITHOUT_PERMUTATIONS = "\nvars: {biasledger: {permutations: false, all_groups: false}}\n"
ALARMS = 1
N_SLOWEST = 8


class UsersProject:
    """A project in a folder of its own. Each command is a process, as a user gives it; what it took is kept in order."""

    def __init__(self, folder: Path, *, permutations: bool) -> None:
        init_project(folder)
        self.folder = folder
        self.took: dict[str, Measured] = {}
        if not permutations:
            with (folder / "dbt_project.yml").open("a", encoding="utf-8") as file:
                file.write(WITHOUT_PERMUTATIONS)

    @property
    def ledger(self) -> Path:
        """The file that holds its answers."""
        return self.folder / "ledger.duckdb"

    @property
    def work(self) -> Path:
        """The file that holds its private tables."""
        return work_file(self.folder, self._warehouse)

    @property
    def _warehouse(self) -> Path:
        return self.folder / "warehouse.duckdb"

    def run(self, name: str, *arguments: str | Path) -> Measured:
        """Run a command of biasledger, of which alarms are no failure."""
        command = [sys.executable, "-m", "biasledger", *map(str, arguments)]
        self.took[name] = run_measured(command, folder=self.folder, expected=(0, ALARMS))
        return self.took[name]

    def discard_tables(self) -> None:
        """Leave nothing of earlier builds but what dbt parsed."""
        shutil.rmtree(self.work.parent, ignore_errors=True)
        self._warehouse.unlink(missing_ok=True)


def seconds_of_models(project: Path) -> dict[str, float]:
    """Seconds by the clock of each model in a user's project's last build."""
    results = json.loads((project / BUILT).read_text(encoding="utf-8"))["results"]
    return {
        str(one["unique_id"]).rsplit(".", 1)[-1]: float(one["seconds"])
        for one in results
        if str(one["unique_id"]).startswith("model.")
    }


def slowest_models(project: Path) -> dict[str, float]:
    """The models that took longest in a user's project's last build, the slowest first, with their seconds by the clock."""
    return dict(sorted(seconds_of_models(project).items(), key=lambda one: -one[1])[:N_SLOWEST])


def listed(seconds: Mapping[str, float]) -> str:
    """Models and their seconds as a part of a sentence."""
    return ", ".join(f"{model} {value:.1f}" for model, value in seconds.items())


def seconds_of_features(project: Path) -> float:
    """Seconds by the clock, added up, of all that makes features and groups of texts: the SQL models of words before measures."""
    models = {place.stem for place in (PACKAGE_PARENT / "models" / "intermediate" / "words").glob("*.sql")}
    return sum(seconds for name, seconds in seconds_of_models(project).items() if name in models)


class Project:
    """A thin project in a folder of its own, with one ledger and the methods that are built."""

    def __init__(self, folder: Path, ledger: Path, *, methods: Sequence[str]) -> None:
        init_project(folder)
        link_package(folder)
        self.folder = folder
        self.ledger = ledger
        self.warehouse = folder / "warehouse.duckdb"
        self.methods = tuple(methods)

    def build(self, select: Sequence[str]) -> Measured:
        """Build a new warehouse: the selected models, no tests."""
        self.warehouse.unlink(missing_ok=True)
        selected = ("--select", *select, "--exclude-resource-type", "test", "unit_test")
        options = ("--project-dir", ".", "--profiles-dir", ".", "--no-use-colors")
        return run_measured(
            [sys.executable, "-c", RUN_DBT, "build", *selected, *options],
            folder=self.folder,
            environment={
                "BIASLEDGER_LEDGER": str(self.ledger),
                "BIASLEDGER_WAREHOUSE": str(self.warehouse),
                "BIASLEDGER_METHODS": " ".join(self.methods),
            },
        )


def words_comparisons(connection: duckdb.DuckDBPyConnection) -> list[Comparison[Texts]]:
    """All comparisons of words in an open warehouse, in the order of their keys."""
    from biasledger.model_inputs.words import read_comparisons

    relations = [
        connection.table(f"{schema_of(connection, name)}.{name}")
        for name in (
            "int_words_comparisons",
            "int_words_members",
            "int_words_features",
            "int_words_vocabulary",
        )
    ]
    return list(read_comparisons(*relations, done=frozenset()))


def schema_of(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """The schema that holds a table or view of the warehouse."""
    [(schema,)] = connection.execute(
        "select table_schema from information_schema.tables where table_name = ? and table_catalog = current_catalog()",
        [table],
    ).fetchall()
    return str(schema)
