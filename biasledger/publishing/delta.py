"""Publishes the public tables as Delta tables, DIR/delta/TABLE: each build is a new version, and older ones stay readable."""

from __future__ import annotations

from pathlib import Path

from biasledger.publishing.published import Published, Table
from biasledger.publishing.warehouse import PublishError
from collector.errors import InputError
from collector.sql import identifier

FOLDER = "delta"
_BUILD = "biasledger.build_id"
# Types in DuckDB that Delta lacks -> what they become.
_CASTS = {
    "JSON": "varchar",
    "UTINYINT": "smallint",
    "USMALLINT": "integer",
    "UINTEGER": "bigint",
    "UBIGINT": "decimal(20, 0)",
    "HUGEINT": "decimal(38, 0)",
    "TIME": "varchar",
}


def publish_delta(published: Published, folder: Path) -> int:
    """Write a new version of each table into `folder` and return the number of rows.

    Tables that have this build already are left alone. Tables that are no longer public are emptied.

    Raises:
        InputError: there is a Delta table of others by a name that is needed.
        PublishError: a table cannot be written; the ones before it have the new version.
    """
    from deltalake import CommitProperties, DeltaTable, write_deltalake
    from deltalake.exceptions import DeltaError

    build_id = published.build.build_id
    tables = {table.name: table for table in published.tables}
    old = {
        path.parent.name: [commit.get(_BUILD) for commit in DeltaTable(path.parent).history()]
        for path in folder.glob(f"{FOLDER}/*/_delta_log")
        if DeltaTable.is_deltatable(str(path.parent))
    }
    for name in sorted({*tables, *old}):
        place = folder / FOLDER / name
        if name in tables and not any(old.get(name, [build_id])):
            raise InputError(
                f"{place} is a Delta table that biasledger did not publish; name another folder."
            )
    for name in sorted({*tables, *old}):
        place = folder / FOLDER / name
        builds = old.get(name, [])
        if next(filter(None, builds), None) == build_id:
            continue
        try:
            commit = CommitProperties(custom_metadata={_BUILD: build_id})
            if name in tables:
                place.mkdir(parents=True, exist_ok=True)
                rows = published.connection.sql(_select(tables[name]))
                write_deltalake(
                    place,
                    rows,
                    mode="overwrite",
                    schema_mode="overwrite",
                    description=tables[name].comment,
                    commit_properties=commit,
                )
            elif any(builds):
                DeltaTable(place).delete(commit_properties=commit)
        except (DeltaError, OSError) as error:
            raise PublishError(f"{place} cannot be written: {error}") from error
    return sum(table.n_rows for table in published.tables)


def _select(table: Table) -> str:
    columns = ", ".join(
        f"cast({identifier(one.name)} as {_CASTS[one.type]}) as {identifier(one.name)}"
        if one.type in _CASTS
        else identifier(one.name)
        for one in table.columns
    )
    return f"select {columns} from {table.source}"
