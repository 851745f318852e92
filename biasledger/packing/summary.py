"""Summary and report of a pack's run, which do not depend on other runs or builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.checking.cases import read_check
from biasledger.checking.formats import written
from biasledger.comparing.built_tables import open_tables
from biasledger.opening import attach_read_only
from biasledger.packing.archive import REPORT, SUMMARY
from biasledger.reporting import render
from collector.files.scratch import scratch_folder
from collector.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb

_SCHEMAS = ("marts", "settings")
_BUILD = "see build.json"
"""Stands for the id of the build: another build of the same run must give the same report."""
_MEANING = """\
A finding says: asked these questions, in this language, then, the target answered differently about people who were described
differently in one thing, by at least the threshold, and by more than shuffled labels give. It does not say why, nor that anybody
was harmed. A finding that is clear rules out a difference past its threshold in its measure, and no other. What is inconclusive
is no pass.
"""


def summary_files(warehouse: Path, run_id: str, *, with_report: bool = True) -> dict[str, bytes]:
    """Return the files of a pack that people read about its run: name in the pack -> content.

    Both are made from the run's own rows, so that anybody who has the ledger of this run alone gets the same.

    Raises:
        InputError: the extra `report` is not installed.
        BiasledgerError: the warehouse cannot be read.
    """
    with scratch_folder() as folder:
        alone = folder / "run.duckdb"
        _write_alone(warehouse, run_id, alone)
        files = {SUMMARY: _summary(alone, run_id).encode()}
        if with_report:
            files[REPORT] = render(alone, [run_id]).encode()
    return files


def _write_alone(warehouse: Path, run_id: str, path: Path) -> None:
    """Copy the rows of one run and of the last build only."""
    with attach_read_only(warehouse, "source") as connection:
        connection.execute(f"attach {literal(path)} as alone")
        for schema, table, columns in _tables(connection):
            where = f"{identifier(schema)}.{identifier(table)}"
            conditions = [f"{name} = $run" for name in ("run_id", "baseline_run_id") if name in columns]
            if "build_id" in columns:
                conditions.append(
                    "build_id = (select arg_max(build_id, (built_at, build_id)) from source.marts.fct_builds)"
                )
            same = {"is_current": "true", "build_id": literal(_BUILD)}
            replaced = ", ".join(f"{value} as {name}" for name, value in same.items() if name in columns)
            alike = f" replace ({replaced})" if replaced else ""
            chosen = f" where {' and '.join(conditions)}" if conditions else ""
            connection.execute(f"create schema if not exists alone.{identifier(schema)}")
            connection.execute(
                f"create table alone.{where} as select *{alike} from source.{where}{chosen}",
                {"run": run_id} if "run_id" in columns else {},
            )


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, list[str]]]:
    return connection.execute(
        """
        select schema_name, table_name, list(column_name)
        from duckdb_columns()
        where database_name = 'source' and list_contains(?, schema_name)
        group by all
        order by all
        """,
        [list(_SCHEMAS)],
    ).fetchall()


def _summary(warehouse: Path, run_id: str) -> str:
    with open_tables(warehouse) as tables:
        (run,) = tables.records("select * from {dim_runs} where run_id = ?", [run_id])
    # The summary of this run leaves out changes since another run.
    check = replace(read_check(warehouse, run=run_id), n_compared={}, notes=())
    return _written(run, written(check, "text").rstrip(), is_simulated=check.is_simulated)


def _written(run: dict[str, Any], message: str, *, is_simulated: bool) -> str:
    asked = f"`{run['target']}`" + (f" (model {run['model_asked']})" if run["model_asked"] else "")
    counts = (
        f"Run `{run['run_id']}`, begun {run['started_at']:%Y-%m-%d %H:%M} UTC: {run['n_prompts']:,} prompts, "
        f"{run['n_responses']:,} responses kept, {run['n_ok']:,} of them good answers."
    )
    if is_simulated:
        counts += " **The answers are simulated and say nothing about any real model.**"
    return f"# The audit `{run['audit']}` of {asked}\n\n{counts}\n\n```\n{message}\n```\n\n{_MEANING}"
