"""Publish the work file's public tables as the warehouse: write a new file next to it, check it, and rename it.

A reader who has the old warehouse open keeps it; one who opens it sees the old or the new one, never a mixture. If publishing
stops half-way, the old one stays, and the next publication removes the rest.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.publishing.kept_columns import kept_columns
from biasledger.publishing.public import PublicTable
from collector.errors import BiasledgerError, InputError
from collector.files.replacing import replace_file
from collector.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb

# Drivers of DuckDB 1.5 read no newer one.
STORAGE_VERSION = "v1.5.0"
PUBLICATION = "publication"
_MAGIC = b"DUCK"  # at byte 8 of every DuckDB file
_HEADER = 12
MEMORY_LIMIT = "1GB"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class PublishError(BiasledgerError):
    """The tables could not be published; what was published before is as it was."""


def reason_of(error: Exception) -> str:
    """Return why something could not be written: a full disk in the system's words, anything else in the error's first line.

    DuckDB's messages may be long, and some are JSON.
    """
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error).splitlines()[0]
    for code in _NO_ROOM:
        if os.strerror(code) in text:
            return f"{os.strerror(code)}; make space there and try again"
    return text


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """The build that made the tables, for their readers.

    Attributes:
        build_id: dbt's invocation_id, new in every build.
        built_at: when dbt was done, UTC.
        biasledger_version: of this package.
        engine_version: of the measures; changes when one would give other numbers for the same data.
        erasures_hash: of the texts that had been erased from the ledger before; None where a version before this one built.
    """

    build_id: str
    built_at: datetime
    biasledger_version: str
    engine_version: str | None
    erasures_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type in DuckDB's spelling, and its description in dbt."""

    name: str
    type: str
    is_nullable: bool
    comment: str | None


def require_replaceable(warehouse: Path, ledger: Path) -> None:
    """Check that a published warehouse may take this file's place.

    Raises:
        InputError: it is the ledger, another ledger, no DuckDB file, or open for writing elsewhere.
    """
    _require_own_file(warehouse, ledger)
    if warehouse.exists():
        with _memory(None) as connection:
            _hold(connection, warehouse)


def _require_own_file(warehouse: Path, ledger: Path) -> None:
    if not warehouse.exists():
        return
    if ledger.exists() and warehouse.samefile(ledger):
        raise InputError(f"{warehouse} is the ledger: name another file for the warehouse.")
    if not _is_duckdb_file(warehouse):
        raise InputError(
            f"{warehouse} is no DuckDB file and would be overwritten: name another, or delete it."
        )


def publish_warehouse(
    work: Path, warehouse: Path, tables: Sequence[PublicTable], build: BuildInfo, *, ledger: Path
) -> dict[str, int]:
    """Write the public tables of the work file, and those alone, as `warehouse`.

    Args:
        work: the work file, which is not being written.
        warehouse: the file to replace or to make.
        tables: which tables; all of them are in the work file.
        build: recorded in `publication.build`.
        ledger: what must not be overwritten.

    Returns:
        Schema and name of each table -> its rows.

    Raises:
        InputError: see `require_replaceable`.
        PublishError: the file cannot be written, or does not hold what it should; the old one stays.
    """
    import duckdb

    warehouse = warehouse.resolve()
    _require_own_file(warehouse, ledger)
    new = warehouse.with_name(f".{warehouse.stem}.new{warehouse.suffix}")
    spill = work.with_name(f"{work.name}.spill")
    _clear(new, spill)
    try:
        warehouse.parent.mkdir(parents=True, exist_ok=True)
        with _memory(spill) as connection:
            # Held open for reading, the old file gets no writer until it is replaced.
            _hold(connection, warehouse)
            connection.execute(f"attach {_path(work)} as work (read_only)")
            counts = write_tables(connection, "work", new, tables, build, with_kept=True)
            # Left by a crashed program, it would be taken for the new file's, which then could not be opened. Without it the
            # old file is still whole, as of its last checkpoint.
            _wal(warehouse).unlink(missing_ok=True)
            replace_file(new, warehouse)
    except (duckdb.Error, OSError) as error:
        raise PublishError(
            f"The tables were built, but {warehouse} could not be written and is as it was: {reason_of(error)}"
        ) from error
    finally:
        _clear(new, spill)
    return {f"{schema}.{name}": rows for (schema, name), rows in counts.items()}


def write_tables(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    new: Path,
    tables: Sequence[PublicTable],
    build: BuildInfo,
    *,
    with_kept: bool = False,
) -> dict[tuple[str, str], int]:
    """Write tables into a new DuckDB file, close it, and check it as its readers will find it.

    Args:
        connection: has the database `source` attached, and none called `new`.
        source: where the tables are.
        new: a file that is not there yet.
        tables: which tables.
        build: recorded in the file.
        with_kept: make columns of what imports kept; another published file has them.

    Returns:
        Schema and name of each table -> its rows.

    Raises:
        PublishError: a table is missing, or the file does not hold what it should.
        duckdb.Error: the file cannot be written.
    """
    connection.execute(f"attach {_path(new)} as new (storage_version '{STORAGE_VERSION}')")
    # One transaction: a thousand comments would otherwise be a thousand waits for the disk.
    connection.execute("begin transaction")
    columns, comments = columns_of(connection, source), _comments(connection, source)
    for table in tables:
        place = table.schema, table.name
        _copy(connection, source, table, columns.get(place, ()), comments.get(place), with_kept=with_kept)
    _describe(connection, tables, build)
    connection.execute("commit")
    counts = count_rows(connection, source, [(table.schema, table.name) for table in tables])
    connection.execute("detach new")
    _check(connection, new, counts)
    return counts


def _copy(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    table: PublicTable,
    columns: Sequence[Column],
    comment: str | None,
    *,
    with_kept: bool,
) -> None:
    """Copy a table with its types, what must not be null, and its comments."""
    where = f"{identifier(table.schema)}.{identifier(table.name)}"
    if not columns:
        raise PublishError(f"The table {table.schema}.{table.name} is public but was not built.")
    kept = (
        kept_columns(connection, f"{source}.{where}", [column.name for column in columns])
        if with_kept
        else []
    )
    columns = [
        *columns,
        *(
            Column(one.name, one.data_type, True, f"Column {one.column} of the imported file.")
            for one in kept
        ),
    ]
    values = "".join(f", {one.value}" for one in kept)
    definitions = [
        f"{identifier(column.name)} {column.type}{'' if column.is_nullable else ' not null'}"
        for column in columns
    ]
    statements = [
        f"create schema if not exists new.{identifier(table.schema)}",
        f"create table new.{where} ({', '.join(definitions)})",
        *([f"comment on table new.{where} is {literal(comment)}"] if comment else []),
        *(
            f"comment on column new.{where}.{identifier(column.name)} is {literal(column.comment)}"
            for column in columns
            if column.comment
        ),
        f"insert into new.{where} select *{values} from {source}.{where}",
    ]
    connection.execute(";".join(statements))


def columns_of(connection: duckdb.DuckDBPyConnection, database: str) -> dict[tuple[str, str], list[Column]]:
    """Return the columns of each table of a database, in their order, by schema and name: the catalog is slow to read."""
    found: dict[tuple[str, str], list[Column]] = defaultdict(list)
    rows = connection.execute(
        """
        select schema_name, table_name, column_name, data_type, is_nullable, comment
        from duckdb_columns()
        where database_name = ?
        order by schema_name, table_name, column_index
        """,
        [database],
    ).fetchall()
    for schema, table, *column in rows:
        found[schema, table].append(Column(*column))
    return found


def _comments(connection: duckdb.DuckDBPyConnection, source: str) -> dict[tuple[str, str], str | None]:
    """Return the comment of each table and view of a database, by schema and name."""
    rows = connection.execute(
        """
        select schema_name, table_name, comment from duckdb_tables() where database_name = $source
        union all
        select schema_name, view_name, comment from duckdb_views() where database_name = $source
        """,
        {"source": source},
    ).fetchall()
    return {(schema, name): comment for schema, name, comment in rows}


def _describe(connection: duckdb.DuckDBPyConnection, tables: Sequence[PublicTable], build: BuildInfo) -> None:
    """Write what publishing further needs: which build this is, and the key of each table."""
    schema = f"new.{PUBLICATION}"
    connection.execute(f"create schema {schema}")
    connection.execute(
        f"create table {schema}.build (build_id varchar not null, built_at timestamp not null, "
        "biasledger_version varchar not null, engine_version varchar, erasures_hash varchar)"
    )
    connection.execute(
        f"insert into {schema}.build values (?, ?, ?, ?, ?)",
        [
            build.build_id,
            build.built_at,
            build.biasledger_version,
            build.engine_version,
            build.erasures_hash,
        ],
    )
    connection.execute(
        f"create table {schema}.tables (schema_name varchar not null, table_name varchar not null, "
        "key_columns varchar[] not null)"
    )
    for table in tables:
        connection.execute(
            f"insert into {schema}.tables values (?, ?, ?)", [table.schema, table.name, list(table.key)]
        )
    comments = {
        "build": "Which build these tables are of: one row.",
        "tables": "Grain: table. The columns that together identify its rows.",
    }
    for name, comment in comments.items():
        connection.execute(f"comment on table {schema}.{name} is {literal(comment)}")


def count_rows(
    connection: duckdb.DuckDBPyConnection, database: str, tables: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Return the number of rows of tables of a database, given by schema and name."""
    if not tables:
        return {}
    counted = " union all ".join(
        f"select {place}, count(*) from {database}.{identifier(schema)}.{identifier(name)}"
        for place, (schema, name) in enumerate(tables)
    )
    found = dict(connection.execute(counted).fetchall())
    return {table: found[place] for place, table in enumerate(tables)}


def _check(connection: duckdb.DuckDBPyConnection, new: Path, counts: dict[tuple[str, str], int]) -> None:
    """Read the file as a reader would: it opens by itself, and every row is in it."""
    if _wal(new).exists():
        raise PublishError(f"{new} was not closed: its write-ahead log is still there.")
    connection.execute(f"attach {_path(new)} as new (read_only)")
    found = count_rows(connection, "new", list(counts))
    connection.execute("detach new")
    wrong = [f"{schema}.{name}" for (schema, name), rows in counts.items() if found[schema, name] != rows]
    if wrong:
        raise PublishError(f"{new} does not hold all rows of {', '.join(wrong)}.")


def _hold(connection: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    """Open the present warehouse for reading, as far as it can be opened."""
    import duckdb

    if not warehouse.exists():
        return
    try:
        connection.execute(f"attach {_path(warehouse)} as present (read_only)")
        is_ledger = connection.execute(
            "select 1 from duckdb_tables() where database_name = 'present' and schema_name = 'raw' and table_name = 'responses'"
        ).fetchall()
    except duckdb.Error as error:
        if isinstance(error, duckdb.IOException) and "lock" in str(error).lower():
            raise InputError(
                f"{warehouse} is open for writing in another program: close it there, or open it read-only, and build again."
            ) from None
        # Damaged, or of a version that this one cannot read.
        return
    if is_ledger:
        raise InputError(f"{warehouse} is a ledger: name another file for the warehouse.")


@contextmanager
def _memory(spill: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to no file, of bounded memory; `spill` is the folder for what does not fit."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        connection.execute("set memory_limit = ?", [MEMORY_LIMIT])
        if spill is not None:
            connection.execute(f"set temp_directory = {_path(spill)}")
        yield connection
    finally:
        connection.close()


def _clear(new: Path, spill: Path) -> None:
    """Remove the files that a stopped publication leaves."""
    for path in (new, _wal(new)):
        path.unlink(missing_ok=True)
    shutil.rmtree(spill, ignore_errors=True)


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _is_duckdb_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_HEADER)[-len(_MAGIC) :] == _MAGIC


def _path(path: Path) -> str:
    return literal(path)
