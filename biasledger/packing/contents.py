"""The contents of an evidence pack: a run's data in the ledger, and its results in the warehouse."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasledger.packing.archive import (
    ANALYSES,
    ANSWER_QUALITY,
    BUILD,
    EXCLUSIONS,
    FINDINGS,
    GROUPS,
    Pack,
    json_bytes,
)
from biasledger.project import dbt_source
from biasledger.querying.analyses import read_sql
from collector.errors import InputError
from collector.files.csv import FORMULA_STARTS
from collector.hints import did_you_mean
from collector.journal.chain import record_key
from collector.rows import LATER_EVENTS
from collector.sql import identifier

if TYPE_CHECKING:
    import duckdb

    from collector.journal.chain import Seal

_RUN_COLUMNS = (
    "run_id, audit, spec_hash, target, target_kind, is_simulated, model_asked, parameters, answer_rules_version, versions, "
    "origin, source_name, source_hash, started_at"
)
_JSON_COLUMNS = {"parameters", "versions", "detail"}
# Name in the pack -> the table it is from; only the rows of the run.
TABLES: Mapping[str, str] = {
    FINDINGS: "marts.fct_findings",
    ANSWER_QUALITY: "marts.fct_answer_quality",
    GROUPS: "marts.dim_groups",
    EXCLUSIONS: "marts.fct_exclusions",
}
# The pattern includes leading apostrophes, so that every text can be restored.
_FORMULA = re.compile(f"'*[{re.escape(FORMULA_STARTS)}]")


def ledger_files(
    connection: duckdb.DuckDBPyConnection, run_id: str, analysis_hash: str, seal: Seal | None = None
) -> dict[str, bytes]:
    """Return the run as it was asked and as it is read, from the ledger.

    Args:
        connection: the ledger.
        run_id, analysis_hash: which run, and by which analysis.
        seal: how much of the run's chain counts; None in a run of before chains were kept, of which all counts but what people
            said of it later.

    Returns:
        run.json (its target, software and parameters), spec.json (what it asked), analysis.json (how its answers
        are read), events.json (what happened to it); the same bytes whenever the ledger holds the same.

    Raises:
        InputError: the ledger has no such run, or not that analysis.
    """
    (run,) = _dicts(
        connection, f"select {_RUN_COLUMNS} from raw.runs where run_id = ?", [run_id]
    ) or _unknown(connection, run_id)
    ((spec,),) = connection.execute("select spec from raw.runs where run_id = ?", [run_id]).fetchall()
    analyses = connection.execute(
        "select analysis from raw.analysis_settings where audit = ? and analysis_hash = ? limit 1",
        [run["audit"], analysis_hash],
    ).fetchall()
    if not analyses:
        raise InputError(
            f"The warehouse reads the run {run_id!r} by {analysis_hash}, which the ledger does not hold: build it again."
        )
    events = _dicts(
        connection,
        "select event, detail, happened_at from raw.run_events where run_id = ? order by happened_at, rowid",
        [run_id],
    )
    if seal is not None:
        sealed = Counter(
            key
            for (key,) in connection.execute(
                "select key from raw.chain where run_id = ? and kind = 'event' and position < ?",
                [run_id, seal.count],
            ).fetchall()
        )
        events = [event for event in events if _take(sealed, record_key("event", event))]
    else:
        # It is unknown which of these came after the pack.
        events = [event for event in events if event["event"] not in LATER_EVENTS]
    return {
        "run.json": json_bytes(run),
        "spec.json": json_bytes(json.loads(spec)),
        "analysis.json": json_bytes({"analysis_hash": analysis_hash, "analysis": json.loads(analyses[0][0])}),
        "events.json": json_bytes(events),
    }


def _take(counts: Counter[str], key: str) -> bool:
    counts[key] -= 1
    return counts[key] >= 0


def warehouse_files(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, bytes]:
    """Return the findings on the run and the settings behind them, from the warehouse.

    Returns:
        A CSV of each of `TABLES`, one of each settings table (such as settings/thresholds.csv) and build.json; the same bytes
        whenever the warehouse holds the same.
    """
    files = {
        name: csv_bytes(connection, f"select * from {table} where run_id = ? order by all", [run_id])
        for name, table in TABLES.items()
    }
    settings = connection.execute(
        "select table_name from information_schema.tables where table_schema = 'settings' order by 1"
    ).fetchall()
    for (name,) in settings:
        files[f"settings/{name}.csv"] = csv_bytes(
            connection, f"select * from settings.{identifier(name)} order by all"
        )
    for name in ANALYSES:
        rows = _analysis(connection, name, run_id)
        if rows.count(b"\n") > 1:
            files[f"{name}.csv"] = rows
    (build,) = _dicts(
        connection, "select * from marts.fct_builds order by built_at desc, build_id limit 1", []
    )
    return {**files, BUILD: json_bytes(build)}


def _analysis(connection: duckdb.DuckDBPyConnection, name: str, run_id: str) -> bytes:
    """Return the rows of a run that a shipped analysis gives, in its order; nothing where its tables were not built."""
    import duckdb

    try:
        return csv_bytes(
            connection, f"select * from ({read_sql(name, dbt_source())}) where run_id = ?", [run_id]
        )
    except duckdb.CatalogException:
        return b""


def csv_bytes(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()) -> bytes:
    """Return a query's rows as CSV: exact numbers, an empty cell for null, UTF-8, LF; no cell that a spreadsheet takes for a
    formula.
    """
    cursor = connection.execute(sql, list(values))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_escaped(name) for name, *_ in cursor.description or ())
    writer.writerows(map(_escaped, row) for row in cursor.fetchall())
    return text.getvalue().encode()


def read_table(pack: Pack, name: str) -> list[dict[str, str]]:
    """Return the rows of one of a pack's CSV files, texts as they were before they were escaped.

    Raises:
        InputError: it is no such table.
    """
    return parse_table(pack.files[name], f"{name} of the pack")


def parse_table(content: bytes, name: str) -> list[dict[str, str]]:
    """Return the same of a file's content; `name` is what errors call it."""
    try:
        header, *rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    except (ValueError, csv.Error):
        raise InputError(
            f"{name} is no table: it should be CSV in UTF-8 with a line of column names."
        ) from None
    if len(set(header)) < len(header):
        raise InputError(f"{name} has two columns of the same name.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise InputError(f"{name}: row {number} has {len(row)} cells; it should have {len(header)}.")
    return [dict(zip(map(_unescaped, header), map(_unescaped, row), strict=True)) for row in rows]


def _escaped(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _unescaped(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _dicts(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, list(values))
    names = [name for name, *_ in cursor.description or ()]
    return [
        {name: _json_value(name, value) for name, value in zip(names, row, strict=True)}
        for row in cursor.fetchall()
    ]


def _json_value(name: str, value: Any) -> Any:
    if name in _JSON_COLUMNS:
        return json.loads(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _unknown(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[dict[str, Any]]:
    known = [str(row[0]) for row in connection.execute("select run_id from raw.runs").fetchall()]
    raise InputError(f"The ledger has no run {run_id!r}{did_you_mean(run_id, known)}")
