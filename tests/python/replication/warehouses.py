"""Replications as docs/replications.md prints them: its commands, run in one project, and each audit's rows of the warehouse."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb

from biasledger.project import init_project
from tests.python.docs.shell import ROOT, blocks, run

CITIES = "restaurant-prices-by-city"
"""The prices of seven cities, of made-up counts; its data are the reference that they are made from."""
DATA_OF = {
    "personas": "personas-gpt4",
    "recs-music": "recs-gemini-music",
    "resume-seniority": "resume-seniority-llm",
    "resume-ranking": "resume-ranking-gpt35",
    "restaurant-prices": "lmrec-boston",
    "restaurant-categories": "lmrec-boston",
    "occupations": "occupation-probes",
    "reference-letters": "reference-letters",
    "regard": "regard-gpt2",
    "regard-human": "regard-gpt2",
    "fep-library": "fep-library",
    CITIES: "lmrec-boston",
}


def find_data(name: str) -> Path | None:
    """The folder of one data set: in BIASLEDGER_DATA, or next to the repository; None where it is absent."""
    places = [Path(os.environ["BIASLEDGER_DATA"])] if "BIASLEDGER_DATA" in os.environ else []
    places.append(ROOT.parent / "shared" / "data")
    return next((place / name for place in places if (place / name).is_dir()), None)


def import_and_build(folder: Path, find: Callable[[str], Path | None]) -> None:
    """Lay out a project, run the documented imports of the data sets that `find` has, and build once."""
    init_project(folder)
    commands = [command for block in blocks("docs/replications.md") for command in block.splitlines()]
    imports = [command for command in commands if command.startswith("biasledger import")]
    # Every block after the imports of a data set has to be `biasledger build`.
    assert set(commands) - set(imports) == {"biasledger build"}
    assert {_audit_of(command) for command in imports} == DATA_OF.keys() - {CITIES}
    script = []
    for command in imports:
        if data := find(DATA_OF[_audit_of(command)]):
            shutil.copy(data / command.split()[-1], folder)
            script.append(command)
    if data := find(DATA_OF[CITIES]):
        script.append(_cities(folder, data / "reference.json"))
    # Alarms are findings, not failures.
    finished = run("\n".join([*script, 'biasledger build || test "$?" -eq 1']), folder)
    assert finished.returncode == 0, finished.stderr


def _audit_of(command: str) -> str:
    return Path(command.split()[2]).stem


def _cities(folder: Path, reference: Path) -> str:
    """Counts of seven cities with the published shares, as the counts of six are not public; the command that imports them."""
    published = json.loads(reference.read_text(encoding="utf-8"))[
        "published_figure_2_bar_heights_price_levels_1_to_4"
    ]
    with (folder / "cities.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["template_id", "city", "name", "gender", "race", "price_level", "n"])
        for city in published.keys() - {"All"}:
            for race in ("black", "white"):
                for level, share in enumerate(published[city][race], start=1):
                    writer.writerow([1, city, f"a {race} name", "female", race, level, round(share * 10_000)])
    audits = folder / "audits" / "replications"
    spec = (audits / "restaurant-prices.yml").read_text(encoding="utf-8")
    spec = spec.replace("audit: restaurant-prices\n", f"audit: {CITIES}\n")
    spec = spec.replace("    descriptor: name\n", "    descriptor: name\n    domain: city\n")
    (audits / f"{CITIES}.yml").write_text(spec, encoding="utf-8")
    return f"biasledger import audits/replications/{CITIES}.yml cities.csv"


def rows_of(warehouse: Path, *audits: str) -> duckdb.DuckDBPyConnection:
    """The public tables under their names, with the rows of these audits' runs alone."""
    connection = duckdb.connect()
    connection.execute(f"attach '{warehouse}' as built (read_only)")
    connection.execute("create schema marts")
    tables = connection.execute(
        "select table_name, bool_or(column_name = 'run_id') from duckdb_columns()"
        " where database_name = 'built' and schema_name = 'marts' group by table_name"
    ).fetchall()
    runs = f"select run_id from built.marts.dim_runs where audit in {(*audits, '')}"
    for table, has_runs in tables:
        condition = f"where run_id in ({runs})" if has_runs else ""
        connection.execute(f"create view marts.{table} as select * from built.marts.{table} {condition}")
    return connection
