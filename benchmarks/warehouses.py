"""A warehouse built in a scratch folder by dbt, models only, and the comparisons of words read from it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.processes import Measured, run_measured
from biasledger.project import init_project, link_package

if TYPE_CHECKING:
    import duckdb

    from biasledger.measures.comparisons import Comparison
    from biasledger.measures.words.texts import Texts

WORDS_PATH = ("+fct_marked_words", "+fct_word_divergence", "+fct_separability")
RUN_DBT = "from dbt.cli.main import cli; cli(prog_name='dbt')"


class Project:
    """A thin project in a folder of its own, with one ledger, dbt's variables, and the rooms that are built (all without any).

    dbt parses everything anew when variables change, so each set of variables has a project.
    """

    def __init__(
        self,
        folder: Path,
        ledger: Path,
        variables: Mapping[str, bool | int],
        *,
        rooms: Sequence[str] = (),
    ) -> None:
        init_project(folder)
        link_package(folder)
        self.folder = folder
        self.ledger = ledger
        self.warehouse = folder / "warehouse.duckdb"
        self.variables = json.dumps(dict(variables))
        self.rooms = tuple(rooms)

    def parse(self) -> Measured:
        """Let dbt read the project for the first time."""
        return self._dbt("parse")

    def build(self, select: Sequence[str] = WORDS_PATH) -> Measured:
        """Build a new warehouse: the selected models, no tests."""
        self.warehouse.unlink(missing_ok=True)
        return self._dbt("build", "--select", *select, "--exclude-resource-type", "test", "unit_test")

    def seconds_by_model(self) -> dict[str, float]:
        """Wall time of each model in the last build."""
        results = json.loads((self.folder / "target" / "run_results.json").read_text(encoding="utf-8"))[
            "results"
        ]
        return {row["unique_id"].rsplit(".", 1)[-1]: float(row["execution_time"]) for row in results}

    def _dbt(self, *arguments: str) -> Measured:
        environment = {
            "BIASLEDGER_LEDGER": str(self.ledger),
            "BIASLEDGER_WAREHOUSE": str(self.warehouse),
            **({"BIASLEDGER_ROOMS": " ".join(self.rooms)} if self.rooms else {}),
        }
        options = ("--vars", self.variables, "--project-dir", ".", "--profiles-dir", ".", "--no-use-colors")
        return run_measured(
            [sys.executable, "-c", RUN_DBT, *arguments, *options],
            folder=self.folder,
            environment=environment,
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
