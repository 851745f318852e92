"""The same generated ledger built on DuckDB and on Apache Spark: what either takes, by size, and whether they say the same.

`run_features` only cuts and counts texts, for sizes that one machine cannot measure.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.family import Family, run_family
from benchmarks.processes import PACKAGE_PARENT, BenchmarkError
from benchmarks.records import Record
from benchmarks.same import differences
from benchmarks.speed import AUDIT, SEED
from benchmarks.warehouses import ALARMS, RUN_DBT, listed, slowest_models
from biasledger.building import BUILT
from biasledger.building.targets import runs_on_spark
from biasledger.project import init_project, link_package
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit

ENGINES = {"DuckDB": "warehouse", "Spark": "spark"}
DONE = (0, ALARMS)
# Texts cut into words and counted, and the groups, labels and strata of each: what measures are made of.
FEATURES = ("+int_words_features", "+int_words_members")

# (part, unit) -> value.
Took = dict[tuple[str, str], float]


def require_spark() -> None:
    """See whether a build on Spark can be started here.

    Raises:
        InputError: it cannot; one sentence.
    """
    with tempfile.TemporaryDirectory() as scratch:
        init_project(Path(scratch) / "project")
        runs_on_spark(Path(scratch) / "project", ENGINES["Spark"])


def run(*, n_responses: int, n_words: int, run_size: int, master: str) -> list[Record]:
    """Measure one size and print it. Runs have `run_size` responses at most, as ledgers grow by runs.

    Raises:
        InputError: Spark cannot be started here.
        BenchmarkError: a build failed, or both say something else.
    """
    require_spark()
    with tempfile.TemporaryDirectory(prefix="biasledger-spark-") as scratch:
        folder = Path(scratch)
        ledger = _written_ledger(folder, n_responses, n_words, run_size)
        took: dict[str, Took] = {}
        slowest: dict[str, dict[str, float]] = {}
        for engine, target in ENGINES.items():
            init_project(folder / engine)
            shutil.copyfile(ledger, folder / engine / "ledger.duckdb")
            family = run_family(
                [sys.executable, "-m", "biasledger", "build", "--target", target],
                folder=folder / engine,
                environment={"BIASLEDGER_SPARK": master},
                expected=DONE,
            )
            took[engine] = dict(_took(family, folder / engine / BUILT))
            slowest[engine] = slowest_models(folder / engine)
        message = differences(*(folder / engine / "warehouse.duckdb" for engine in ENGINES), digits=9)
    if message:
        raise BenchmarkError(f"DuckDB and Spark do not say the same: {' '.join(message)}")
    _print(took, n_responses, n_words, run_size, master, said="Both published the same to nine decimals.")
    for engine, models in slowest.items():
        Console(width=110, highlight=False).print(f"Slowest models on {engine}, wall s: {listed(models)}.")
    return _records("spark", took, n_responses)


def run_features(*, n_responses: int, n_words: int, run_size: int, master: str) -> list[Record]:
    """Measure how long texts of one size take to be cut and counted on either engine, and print it; nothing else is built.

    Raises:
        InputError: Spark cannot be started here.
        BenchmarkError: dbt failed.
    """
    require_spark()
    selected = ("--select", *FEATURES, "--exclude-resource-type", "test", "unit_test")
    took: dict[str, Took] = {}
    with tempfile.TemporaryDirectory(prefix="biasledger-spark-") as scratch:
        folder = Path(scratch)
        ledger = _written_ledger(folder, n_responses, n_words, run_size)
        for engine, target in ENGINES.items():
            project = folder / engine
            init_project(project)
            link_package(project)
            options = ("--target", target, "--project-dir", ".", "--profiles-dir", ".")
            family = run_family(
                [sys.executable, "-c", RUN_DBT, "build", *selected, *options],
                folder=project,
                environment={
                    "BIASLEDGER_SPARK": master,
                    "BIASLEDGER_LEDGER": str(ledger),
                    "BIASLEDGER_METHODS": "words",
                },
                expected=(0,),
            )
            took[engine] = dict(_family_took(family))
            shutil.rmtree(project)
    _print(took, n_responses, n_words, run_size, master, said="Texts were cut and counted, and nothing else.")
    return _records("spark features", took, n_responses)


def _written_ledger(folder: Path, n_responses: int, n_words: int, run_size: int) -> Path:
    ledger, corpus = folder / "ledger.duckdb", folder / "corpus.parquet"
    for number, first in enumerate(range(0, n_responses, run_size)):
        size = min(run_size, n_responses - first)
        write_corpus(corpus, n_responses=size, n_words=n_words, seed=SEED + number)
        import_file(load_audit(AUDIT), AUDIT, corpus, ledger, simulated=True, show_progress=False)
    corpus.unlink()
    return ledger


def _records(name: str, took: Mapping[str, Took], n_responses: int) -> list[Record]:
    return [
        Record(f"{name}: {engine}: {part}", n_responses, unit, value)
        for engine, values in took.items()
        for (part, unit), value in values.items()
    ]


def _took(family: Family, built: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """What a build took: as a whole, by kind of process, and by kind of node, whose seconds are added up: two run at a time."""
    yield from _family_took(family)
    document = json.loads(built.read_text(encoding="utf-8"))
    python = {place.stem for place in (PACKAGE_PARENT / "models").rglob("*.py")}
    of_kind = {"SQL models": 0.0, "Python models": 0.0, "seeds": 0.0, "tests": 0.0}
    for one in document["results"]:
        kind, _, name = one["unique_id"].partition(".")
        if kind == "model":
            kind = "Python model" if name.rpartition(".")[2] in python else "SQL model"
        of_kind[f"{kind}s"] = of_kind.get(f"{kind}s", 0.0) + one["seconds"]
    for kind, seconds in of_kind.items():
        yield (kind, "wall s"), seconds
    # On Spark tables go into the DuckDB file as they are made, too, which counts as their models' time.
    yield ("publishing", "wall s"), family.ended - built.stat().st_mtime


def _family_took(family: Family) -> Iterator[tuple[tuple[str, str], float]]:
    yield ("build", "wall s"), family.wall
    yield ("build", "processor s"), sum(family.cpu.values())
    yield ("build", "peak bytes"), float(family.peak_bytes)
    for kind, seconds in family.cpu.items():
        yield (kind, "processor s"), seconds


def _print(
    took: Mapping[str, Took], n_responses: int, n_words: int, run_size: int, master: str, *, said: str
) -> None:
    table = Table("", *took)
    for part, unit in dict.fromkeys(key for values in took.values() for key in values):
        found = [values.get((part, unit), 0.0) for values in took.values()]
        is_memory = unit == "peak bytes"
        shown = [f"{value / 2**30:.2f}" if is_memory else f"{value:.1f}" for value in found]
        table.add_row(f"{part}, {'peak GiB' if is_memory else unit}", *shown)
    console = Console(width=110, highlight=False)
    console.print(
        f"{n_responses:,} responses of {n_words} words in runs of {run_size:,}, Spark on {master}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end. {said}"
    )
    console.print(table)
