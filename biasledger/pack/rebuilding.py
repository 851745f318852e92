"""Computes a pack's findings anew: from the ledger, in a folder of its own, with the settings that the pack was judged by."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from biasledger.pack.archive import Pack
from biasledger.pack.contents import csv_bytes
from biasledger.project import SETTINGS

if TYPE_CHECKING:
    import duckdb

FINDINGS = "findings.csv"
KEY = "finding_id"
# The same engine gives the same digits; another processor's linear algebra may round the last ones otherwise.
RELATIVE_ERROR = 1e-6
# Whether a run is the latest depends on what was asked later.
_NOT_COMPARED = {"is_current"}


def rebuild_findings(
    pack: Pack, ledger_path: Path, on_step: Callable[[int, int, str], None] = lambda *_: None
) -> list[str]:
    """Build the warehouse of the pack's run alone, and hold its findings against the pack's.

    Neither the ledger nor any project is changed: a copy of the ledger is built from, in a temporary folder.

    Args:
        pack: as read from its zip.
        ledger_path: a ledger that holds the run as it was.
        on_step: called with (steps done, steps in all, name of the step).

    Returns:
        A sentence for each difference; none if every finding is the same.

    Raises:
        BiasledgerError: the tables could not be built.
    """
    from biasledger.build import build_warehouse
    from biasledger.project import init_project

    with tempfile.TemporaryDirectory(prefix="biasledger-") as temporary:
        project = Path(temporary) / "project"
        init_project(project)
        # Readings come from the pack and not from the audits that are shipped today.
        shutil.rmtree(project / "audits")
        _write_settings(pack, project)
        ledger_copy = project / "ledger.duckdb"
        _copy_run(pack, ledger_path, ledger_copy)
        warehouse = project / "warehouse.duckdb"
        build_warehouse(project, ledger_copy, warehouse, on_step=on_step)
        found = _findings(warehouse, str(pack.manifest["run_id"]))
    return list(_differences(packed_findings(pack), found))


def packed_findings(pack: Pack) -> list[dict[str, str]]:
    """The pack's findings, one row each as it stands in its CSV."""
    return _rows(pack.files[FINDINGS])


def _write_settings(pack: Pack, project: Path) -> None:
    for name in SETTINGS:
        content = pack.files.get(f"settings/{name}")
        if content is not None:
            (project / "seeds" / name).write_bytes(content)
    build: Mapping[str, Any] = json.loads(pack.files["build.json"])
    names = ("alpha", "permutations", "min_permutations", "all_groups", "seed")
    variables = {**{name: build[name] for name in names}, "today": build["judged_on"]}
    path = project / "dbt_project.yml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["vars"] = {"biasledger": variables}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _copy_run(pack: Pack, ledger_path: Path, path: Path) -> None:
    """Copy the ledger, leave the other runs out, and read the run as the pack says."""
    import duckdb

    from collector.ledger import Ledger

    run_id, audit = str(pack.manifest["run_id"]), str(pack.manifest["audit"])
    shutil.copyfile(ledger_path, path)
    with duckdb.connect(str(path)) as connection:
        tables = connection.execute(
            "select table_name from information_schema.columns where table_schema = 'raw' and column_name = 'run_id'"
        ).fetchall()
        for (table,) in tables:
            if table not in _views(connection):
                connection.execute(f'delete from raw."{table}" where run_id <> ?', [run_id])
    ledger = Ledger(path)
    ledger.update()
    with ledger.append() as append:
        append.reading(audit, json.loads(pack.files["reading.json"])["reading"])


def _views(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {
        str(name)
        for (name,) in connection.execute(
            "select table_name from information_schema.tables where table_schema = 'raw' and table_type = 'VIEW'"
        ).fetchall()
    }


def _findings(warehouse: Path, run_id: str) -> list[dict[str, str]]:
    import duckdb

    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return _rows(csv_bytes(connection, "select * from marts.fct_findings where run_id = ?", [run_id]))


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def _differences(packed: list[dict[str, str]], found: list[dict[str, str]]) -> Iterator[str]:
    before, now = ({row[KEY]: row for row in rows} for rows in (packed, found))
    for key in sorted(before.keys() - now.keys()):
        yield f"Finding {_told(before[key])} is in the pack and does not come out again."
    for key in sorted(now.keys() - before.keys()):
        yield f"Finding {_told(now[key])} comes out and is not in the pack."
    for key in sorted(before.keys() & now.keys()):
        names = [name for name in before[key] if name not in _NOT_COMPARED]
        other = [name for name in names if not _same(before[key][name], now[key].get(name, ""))]
        if other:
            told = ", ".join(f"{name} {before[key][name]!r} and now {now[key].get(name)!r}" for name in other)
            yield f"Finding {_told(before[key])} differs: in the pack {told}."


def _told(row: Mapping[str, str]) -> str:
    groups = " vs ".join(filter(None, (row["group_name"], row["reference_group"])))
    return " ".join(filter(None, (row[KEY][:8], f"({row['measure']}", row["attribute"], groups))) + ")"


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=RELATIVE_ERROR, abs_tol=1e-12)
    except ValueError:
        return False
