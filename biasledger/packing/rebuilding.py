"""Recompute a pack's figures: from the ledger, in a folder of its own, with the settings that the pack was judged by.

The pack may come from anybody. Only checked values of it reach dbt (see `biasledger.packing.judged`), only known
columns of settings become files, and dbt's SQL may open no other file.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from biasledger.opening import connect_read_only
from biasledger.packing.archive import FINDINGS, REPORT, SUMMARY, Pack
from biasledger.packing.contents import parse_table, read_table, warehouse_files
from biasledger.packing.judged import read_judged
from biasledger.packing.summary import summary_files
from biasledger.project import SETTINGS, dbt_source
from collector.errors import InputError
from collector.files.scratch import scratch_folder
from collector.sql import identifier

if TYPE_CHECKING:
    import duckdb

KEY = "finding_id"
_TOLD_OF_A_FINDING = (KEY, "measure", "attribute", "group_name", "reference_group")
# Whether a run is the latest depends on what was asked later.
_NOT_COMPARED = {"is_current"}
# The same engine gives the same digits; another processor's linear algebra may round the last ones otherwise.
RELATIVE_ERROR = 1e-6
_ABSOLUTE_ERROR = 1e-12
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")


def rebuild(
    pack: Pack,
    ledger_path: Path,
    on_step: Callable[[int, int, str], None] = lambda *_: None,
    *,
    texts: Collection[str] = (SUMMARY, REPORT),
) -> dict[str, list[str]]:
    """Build the warehouse of the pack's run alone, and compare the result with the pack.

    Neither the ledger nor any project is changed: a copy of the ledger is built from, in a temporary folder.

    Args:
        pack: as read from its zip.
        ledger_path: a ledger that holds the run as it was.
        on_step: called with (steps done, steps in all, name of the step).
        texts: which of summary and report are recreated, too.

    Returns:
        For each recreated file a sentence for each difference; none if it is the same.

    Raises:
        InputError: a value of the pack's build or one of its tables has the wrong type.
        BiasledgerError: the tables could not be built.
    """
    from biasledger.building.build import build_warehouse
    from biasledger.project import init_project

    run_id = str(pack.manifest["run_id"])
    variables = read_judged(pack).variables()
    packed = {name: read_table(pack, name) for name in _compared_tables(pack)}
    for name in _TOLD_OF_A_FINDING:
        if any(name not in row for row in packed[FINDINGS]):
            raise InputError(f"{FINDINGS} of the pack has no column {name!r}.")
    with scratch_folder() as temporary:
        project = temporary / "project"
        init_project(project)
        # Analyses come from the pack and not from the audits that are shipped today.
        shutil.rmtree(project / "audits")
        _write_settings(pack, project, variables)
        ledger_copy = project / "ledger.duckdb"
        _copy_run(pack, ledger_path, ledger_copy)
        warehouse = project / "warehouse.duckdb"
        build_warehouse(project, ledger_copy, warehouse, is_closed=True, on_step=on_step)
        tables = _tables(warehouse, run_id, list(packed))
        message = summary_files(warehouse, run_id, with_report=REPORT in texts) if texts else {}
    differences = {
        name: list((_differences if name == FINDINGS else _different_rows)(packed[name], rows))
        for name, rows in tables.items()
    }
    for name, content in message.items():
        differences[name] = (
            [] if same_text(pack.files[name], content) else ["It is not what comes out again."]
        )
    return differences


def _compared_tables(pack: Pack) -> list[str]:
    """Return the tables that a build makes; the settings are taken from the pack."""
    own = {f"settings/{name}" for name in SETTINGS}
    return [name for name in sorted(pack.files) if name.endswith(".csv") and name not in own]


def _write_settings(pack: Pack, project: Path, variables: Mapping[str, Any]) -> None:
    for name in SETTINGS:
        if f"settings/{name}" in pack.files:
            seed = project / "seeds" / name
            seed.write_bytes(
                _known_columns(read_table(pack, f"settings/{name}"), dbt_source() / "seeds" / name)
            )
    path = project / "dbt_project.yml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["vars"] = {"biasledger": dict(variables)}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _known_columns(rows: list[dict[str, str]], shipped: Path) -> bytes:
    """Settings as a seed; a column that nothing asks for would become part of a statement by its name."""
    with shipped.open(encoding="utf-8-sig", newline="") as file:
        known = next(csv.reader(file))
    text = io.StringIO()
    present = [name for name in known if not rows or name in rows[0]]
    writer = csv.DictWriter(text, present, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _copy_run(pack: Pack, ledger_path: Path, path: Path) -> None:
    """Copy the ledger, leave out the other runs and what came after the pack's seal, and read the run as the pack says."""
    import duckdb

    from collector.journal.chain import Seal
    from collector.ledger.database import Ledger
    from collector.ledger.evidence import cut_after

    run_id, audit = str(pack.manifest["run_id"]), str(pack.manifest["audit"])
    stated = pack.manifest["seal"]
    shutil.copyfile(ledger_path, path)
    with duckdb.connect(str(path)) as connection:
        tables = connection.execute(
            "select table_name from information_schema.columns where table_schema = 'raw' and column_name = 'run_id'"
        ).fetchall()
        for (table,) in tables:
            if table not in _views(connection):
                connection.execute(f"delete from raw.{identifier(table)} where run_id <> ?", [run_id])
        if stated is not None:
            cut_after(connection, Seal.parse(stated))
    ledger = Ledger(path)
    ledger.update()
    with ledger.append() as append:
        append.analysis(audit, json.loads(pack.files["analysis.json"])["analysis"])


def _views(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {
        str(name)
        for (name,) in connection.execute(
            "select table_name from information_schema.tables where table_schema = 'raw' and table_type = 'VIEW'"
        ).fetchall()
    }


def _tables(warehouse: Path, run_id: str, names: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    with connect_read_only(warehouse) as connection:
        files = warehouse_files(connection, run_id)
    return {name: parse_table(files[name], name) if name in files else [] for name in names}


def _differences(packed: list[dict[str, str]], found: list[dict[str, str]]) -> Iterator[str]:
    before, now = ({row[KEY]: row for row in rows} for rows in (packed, found))
    if len(before) < len(packed):
        yield "Two findings in the pack have the same finding_id."
    for key in sorted(before.keys() - now.keys()):
        yield f"Finding {_short_description(before[key])} is in the pack and does not come out again."
    for key in sorted(now.keys() - before.keys()):
        yield f"Finding {_short_description(now[key])} comes out and is not in the pack."
    for key in sorted(before.keys() & now.keys()):
        if other := _different_cells(before[key], now[key]):
            yield f"Finding {_short_description(before[key])} differs: in the pack {other}."


def _different_rows(packed: list[dict[str, str]], found: list[dict[str, str]]) -> Iterator[str]:
    """Yield the same of tables whose rows are all compared, in their order."""
    if len(packed) != len(found):
        yield f"It has {len(packed):,} rows in the pack, and {len(found):,} come out."
        return
    for number, (before, now) in enumerate(zip(packed, found, strict=True), start=2):
        if other := _different_cells(before, now):
            yield f"Row {number} differs: in the pack {other}."


def _different_cells(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    names = [name for name in {**before, **now} if name not in _NOT_COMPARED]
    other = [
        name
        for name in names
        if name not in before or name not in now or not same_value(before[name], now[name])
    ]
    return ", ".join(f"{name} {before.get(name)!r} and now {now.get(name)!r}" for name in other)


def _short_description(row: Mapping[str, str]) -> str:
    groups = " vs ".join(filter(None, (row["group_name"], row["reference_group"])))
    return " ".join(filter(None, (row[KEY][:8], f"({row['measure']}", row["attribute"], groups))) + ")"


def same_value(one: str, other: str) -> bool:
    """Return whether two cells hold the same text, or the same number."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=RELATIVE_ERROR, abs_tol=_ABSOLUTE_ERROR)
    except ValueError:
        return False


def same_text(one: bytes, other: bytes) -> bool:
    """Return whether two texts in UTF-8 are the same but for the last digits of their numbers."""
    if one == other:
        return True
    try:
        first, second = (_NUMBER.split(content.decode()) for content in (one, other))
    except UnicodeDecodeError:
        return False
    return len(first) == len(second) and all(map(same_value, first, second))
