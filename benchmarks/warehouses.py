"""A user's project in a scratch folder, built by the commands that a user gives."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.processes import Measured, run_measured
from biasledger.building import RESULTS
from biasledger.project import init_project
from biasledger.publishing.work import work_file

if TYPE_CHECKING:
    import duckdb

WITHOUT_PERMUTATIONS = "\nvars: {biasledger: {permutations: false, all_groups: false}}\n"
ALARMS = 1
N_SLOWEST = 8


class UsersProject:
    """A project in a folder of its own. Each command runs as a process; `took` holds what each one needed, in order."""

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
        return work_file(self.folder, self.warehouse)

    @property
    def warehouse(self) -> Path:
        """The file that its tables are published in."""
        return self.folder / "warehouse.duckdb"

    def run(self, name: str, *arguments: str | Path) -> Measured:
        """Run a command of biasledger; alarms are no failure."""
        command = [sys.executable, "-m", "biasledger", *map(str, arguments)]
        self.took[name] = run_measured(command, folder=self.folder, expected=(0, ALARMS))
        return self.took[name]

    def discard_tables(self) -> None:
        """Remove the tables of earlier builds; what dbt parsed stays."""
        shutil.rmtree(self.work.parent, ignore_errors=True)
        self.warehouse.unlink(missing_ok=True)

    def slowest_models(self) -> dict[str, float]:
        """Return the slowest models of the last build with their wall seconds, the slowest first."""
        results = json.loads((self.folder / RESULTS).read_text(encoding="utf-8"))["results"]
        seconds = {
            str(one["unique_id"]).rsplit(".", 1)[-1]: float(one["execution_time"])
            for one in results
            if str(one["unique_id"]).startswith("model.")
        }
        return dict(sorted(seconds.items(), key=lambda one: -one[1])[:N_SLOWEST])


def listed(seconds: Mapping[str, float]) -> str:
    """Names and their seconds as a part of a sentence."""
    return ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())


def schema_of(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return the schema that holds a table or view of the open file."""
    [(schema,)] = connection.execute(
        "select table_schema from information_schema.tables where table_name = ? and table_catalog = current_catalog()",
        [table],
    ).fetchall()
    return str(schema)
