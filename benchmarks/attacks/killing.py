"""Processes killed at random moments of an import, a load, an erasure or publishing, ended by signals, and without room."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from benchmarks.attacks import Attack
from benchmarks.attacks.collecting import (
    CONCURRENCY,
    SECONDS,
    _collect,
    _collector,
    _incomplete,
    _journaled,
    _run_id,
    _serving,
)
from benchmarks.attacks.evidence import IMPORTED, copied
from biasledger.publishing.files import DUCKDB_FILE, FORMATS, MANIFEST
from biasledger.publishing.public import PublicTable
from biasledger.publishing.warehouse import BuildInfo, publish_warehouse
from biasledger.verify import verify_ledger

_PARENT = Path(__file__).resolve().parents[2]
_N_ANSWERS = 600
_N_ROWS = 20_000
_TABLES = (PublicTable("marts", "dim_runs", ("run_id",)),)
_COMMAND = "from biasledger.cli import main; main()"
_LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "


@dataclass(frozen=True)
class Work:
    """Something that a process does, and what has to be so wherever it was stopped.

    prepare: lays out a folder and returns the arguments of the process. is_as_before_or_after: a folder in which it was stopped
    to what is wrong with it, or None. is_done: the same of one in which it was then done again. modules: what
    the process imports before its work begins, so that no moment falls into that. script: what it runs then.
    """

    prepare: Callable[[Path], list[str]]
    is_as_before_or_after: Callable[[Path], str | None]
    is_done: Callable[[Path], str | None]
    modules: str
    script: str = _COMMAND
    # What it is refused with when it was done to its end before it was stopped.
    refused_with: str | None = None

    def start(self, folder: Path, arguments: list[str], before: str = "") -> subprocess.Popen[str]:
        """Start the process and return when its work begins."""
        prepared = f"import {self.modules}; from pathlib import Path; print('ready', flush=True); "
        path = os.pathsep.join(filter(None, [str(_PARENT), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-c", before + prepared + self.script, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def finish(self, folder: Path, arguments: list[str]) -> str | None:
        """Do it to its end; say what is wrong then."""
        process = self.start(folder, arguments)
        _, told = process.communicate(timeout=SECONDS)
        if process.returncode and (self.refused_with is None or self.refused_with not in told):
            return f"Done again it ended with {process.returncode}: {told}"
        return self.is_done(folder)


@cache
def _seconds(work: Work) -> float:
    """How long the process works."""
    with TemporaryDirectory(prefix="measured-") as name:
        folder = Path(name)
        process = work.start(folder, work.prepare(folder))
        start = time.monotonic()
        _, told = process.communicate(timeout=SECONDS)
        if process.returncode:
            raise RuntimeError(f"It did not work when nobody disturbed it: {told}")
        return time.monotonic() - start


def _killed(work: Work) -> Callable[[int, Path], str | None]:
    def trial(seed: int, folder: Path) -> str | None:
        moment = random.Random(seed).uniform(0, 1.1) * _seconds(work)
        arguments = work.prepare(folder)
        process = work.start(folder, arguments)
        time.sleep(moment)
        process.kill()
        process.communicate()
        return work.is_as_before_or_after(folder) or work.finish(folder, arguments)

    return trial


def _no_room(work: Work, most: int) -> Callable[[int, Path], str | None]:
    """No file can grow over a number of bytes, which is drawn each time: what the process is told is as of a full disk."""

    def trial(seed: int, folder: Path) -> str | None:
        # Alike on a scale of powers: much method and little.
        n_bytes = int(most ** random.Random(seed).uniform(0.5, 1))
        arguments = work.prepare(folder)
        process = work.start(folder, arguments, _LIMITED.format(n_bytes))
        _, told = process.communicate(timeout=SECONDS)
        if process.returncode < 0 or "Traceback" in told:
            return f"With {n_bytes} bytes it ended with {process.returncode}: {told}"
        return work.is_as_before_or_after(folder) or work.finish(folder, arguments)

    return trial


def _not_intact(folder: Path) -> str | None:
    for verdict in verify_ledger(folder / "ledger.duckdb"):
        if verdict.state != "intact":
            return f"verify calls {verdict.name} {verdict.state}: {verdict.fault}"
    return None


def _query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def _to_import(folder: Path) -> list[str]:
    copied(folder)
    # Another run than the one that is there.
    (folder / "more.yml").write_text(IMPORTED.replace("audit: imported", "audit: more"), encoding="utf-8")
    races = ("White", "Asian")
    rows = [f"Who?,{races[number % 2]},Answer {number}" for number in range(_N_ANSWERS)]
    (folder / "more.csv").write_text("\n".join(["question,race,answer", *rows]) + "\n", encoding="utf-8")
    return ["import", "more.yml", "more.csv"]


_OF_MORE = "from raw.responses inner join raw.runs using (run_id) where audit = 'more'"


def _imported_or_not(folder: Path) -> str | None:
    [(n,)] = _query(folder / "ledger.duckdb", f"select count(*) {_OF_MORE}")
    return _not_intact(folder) if n in (0, _N_ANSWERS) else f"{n} of {_N_ANSWERS} answers were imported."


def _imported(folder: Path) -> str | None:
    found = _query(folder / "ledger.duckdb", f"select count(*), count(distinct run_id) {_OF_MORE}")
    return _not_intact(folder) if found == [(_N_ANSWERS, 1)] else f"Answers and runs imported: {found}."


def _to_load(folder: Path) -> list[str]:
    """A journal whose ledger is gone, and a second one beside it."""
    copied(folder).ledger.unlink()
    return []


def _all_loaded(folder: Path) -> str | None:
    [path] = (folder / "journal").glob("*.jsonl")
    n_kept = path.read_text(encoding="utf-8").count('"kind":"response"')
    found = _query(folder / "ledger.duckdb", "select count(*), count(distinct seq) from raw.responses")
    return _not_intact(folder) if found == [(n_kept, n_kept)] else f"{found} of {n_kept} answers were loaded."


def _to_erase(folder: Path) -> list[str]:
    kept = copied(folder)
    [(prompt_id,)] = kept.rows(f"select min(prompt_id) from raw.responses where run_id = '{kept.collected}'")
    return ["erase", kept.collected, "--prompt", prompt_id, "--trial", "1", "--reason", "a name", "--yes"]


_N_LEFT = "select count(*), count(*) filter (response_text is null and status = 'ok') from raw.responses"


def _nothing_else_erased(folder: Path) -> str | None:
    [(n, n_erased)] = _query(folder / "ledger.duckdb", _N_LEFT)
    [path] = (folder / "journal").glob("*.jsonl")
    n_kept = path.read_text(encoding="utf-8").count('"erased":"sha256:')
    return None if n and n_erased in (0, 1) and n_kept <= 4 else f"{n_erased} of {n} answers were erased."


def _erased(folder: Path) -> str | None:
    [(_, n_erased)] = _query(folder / "ledger.duckdb", _N_LEFT)
    return _not_intact(folder) if n_erased == 1 else f"{n_erased} answers were erased."


@cache
def _works() -> tuple[TemporaryDirectory[str], tuple[Path, Path]]:
    """Work files of two builds; the folder goes when Python ends."""
    folder = TemporaryDirectory(prefix="worked-")
    paths = (Path(folder.name) / "1.duckdb", Path(folder.name) / "2.duckdb")
    for number, path in enumerate(paths, start=1):
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                f"create schema marts; create table marts.dim_runs as select {number} as build, range as run_id, "
                f"md5(range::varchar) as text from range({_N_ROWS})"
            )
    return folder, paths


def _publish_build(folder: Path, number: int) -> None:
    """Publish one of the two builds as the folder's warehouse, as the end of `biasledger build` does."""
    info = BuildInfo(f"build-{number}", datetime(2026, 1, number), "0.1.0", "1")
    publish_warehouse(
        folder / f"{number}.work", folder / DUCKDB_FILE, _TABLES, info, ledger=folder / "ledger.duckdb"
    )


def _to_publish_build(folder: Path) -> list[str]:
    _, works = _works()
    for number, path in enumerate(works, start=1):
        shutil.copyfile(path, folder / f"{number}.work")
    _publish_build(folder, 1)
    return []


_WHOLE = f"select count(distinct run_id), min(build), max(build) from {{}} having count(*) = {_N_ROWS}"


def _one_build(path: Path, source: str = "marts.dim_runs") -> int | None:
    """Which build a file is of; None where it is not whole or of both."""
    n_rows, first, last = (_query(path, _WHOLE.format(source)) or [(0, 0, 0)])[0]
    return int(str(first)) if n_rows == _N_ROWS and first == last else None


def _either_build(folder: Path) -> str | None:
    found = _one_build(folder / DUCKDB_FILE)
    return None if found in (1, 2) else "The warehouse is not of one build."


def _second_build(folder: Path) -> str | None:
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    if left:
        return f"{left[0]} was left."
    return None if _one_build(folder / DUCKDB_FILE) == 2 else "The warehouse is not of the second build."


_PUBLISHED = "published"


def _to_publish(folder: Path) -> list[str]:
    from biasledger.publishing.files import publish_files
    from biasledger.publishing.published import open_published

    _to_publish_build(folder)
    with open_published(folder / DUCKDB_FILE) as published:
        publish_files(published, folder / _PUBLISHED, FORMATS)
    _publish_build(folder, 2)
    return ["publish", "--to", _PUBLISHED]


def _builds_published(folder: Path) -> list[int | None]:
    """Which build each file is of."""
    published = folder / _PUBLISHED
    with duckdb.connect() as connection:
        rows = [
            connection.execute(_WHOLE.format(f"'{published}/{kind}/dim_runs.{kind}'")).fetchall()
            for kind in ("parquet", "csv")
        ]
    builds: list[int | None] = [
        found[0][1] if found and found[0][0] == _N_ROWS and found[0][1] == found[0][2] else None
        for found in rows
    ]
    manifest = (published / MANIFEST).read_text(encoding="utf-8")
    stated = [number for number in (1, 2) if f'"build-{number}"' in manifest]
    return [*builds, _one_build(published / DUCKDB_FILE), stated[0] if len(stated) == 1 else None]


def _each_file_whole(folder: Path) -> str | None:
    found = _builds_published(folder)
    return None if set(found) <= {1, 2} else f"Files of the builds {found} are published."


def _all_published(folder: Path) -> str | None:
    if (folder / _PUBLISHED / ".publishing").exists():
        return "What was being written was left."
    found = _builds_published(folder)
    return None if set(found) == {2} else f"Files of the builds {found} are published."


def _anything(_: Path) -> None:
    """Loading has nothing to keep as it was: the journal does."""


_READING = "duckdb, biasledger.cli, biasledger.commands.common"
_IMPORT = Work(
    _to_import,
    _imported_or_not,
    _imported,
    f"{_READING}, biasledger.commands.importing, collector.importers.tabular, collector.spec.loading",
    refused_with="was imported for the audit 'more' before",
)
_LOAD = Work(
    _to_load,
    _anything,
    _all_loaded,
    "collector.ledger.loading",
    "print(collector.ledger.loading.load_all(Path('ledger.duckdb')))",
)
_ERASE = Work(
    _to_erase,
    _nothing_else_erased,
    _erased,
    f"{_READING}, biasledger.commands.evidence, collector.ledger.erasure",
)
_PUBLISH_BUILD = Work(
    _to_publish_build,
    _either_build,
    _second_build,
    "datetime, duckdb, biasledger.publishing.public, biasledger.publishing.warehouse as warehouse",
    "warehouse.publish_warehouse(Path('2.work'), Path('warehouse.duckdb'), "
    "[biasledger.publishing.public.PublicTable('marts', 'dim_runs', ('run_id',))], "
    "warehouse.BuildInfo('build-2', datetime.datetime(2026, 1, 2), '0.1.0', '1'), ledger=Path('ledger.duckdb'))",
)
_PUBLISH = Work(
    _to_publish,
    _each_file_whole,
    _all_published,
    f"{_READING}, biasledger.commands.building, biasledger.publishing.files, biasledger.publishing.published, "
    f"biasledger.publishing.erasures",
)


def _ended_by(number: signal.Signals) -> Callable[[int, Path], str | None]:
    """A trial that ends a collector with a signal after some answers, and resumes."""

    def trial(seed: int, folder: Path) -> str | None:
        ends_at = random.Random(seed).randint(5, 100)
        reached = threading.Event()

        def react(_: object, place: int) -> tuple[int, str]:
            if place >= ends_at:
                reached.set()
            return 200, f"Tea, number {place}."

        with _serving(react, folder) as service:
            process = _collector(folder, "audit.yml", "--target", "mine")
            reached.wait(SECONDS)
            process.send_signal(number)
            _, told = process.communicate(timeout=SECONDS)
            n_lost = service.n - len(_journaled(folder))
            if process.returncode < 0 or "Traceback" in told:
                return f"It ended with {process.returncode}: {told}"
            if n_lost > CONCURRENCY:
                return f"{n_lost} answers were lost."
            code, told = _collect(folder, "--resume", _run_id(folder))
            if code:
                return f"Resuming ended with {code}: {told}"
        return _incomplete(folder, 120) or _not_intact(folder)

    return trial


def _collected_without_room(seed: int, folder: Path) -> str | None:
    """No file of a collector can grow over a number of bytes: its journal, or its ledger."""
    n_bytes = int(2_000_000 ** random.Random(seed).uniform(0.6, 1))
    with _serving(lambda _, number: (200, f"Tea, number {number}."), folder) as service:
        before = _LIMITED.format(n_bytes)
        process = _collector(folder, "audit.yml", "--target", "mine", before=before)
        _, told = process.communicate(timeout=SECONDS)
        if process.returncode < 0 or "Traceback" in told:
            return f"With {n_bytes} bytes it ended with {process.returncode}: {told}"
        if not list((folder / "journal").glob("*.jsonl")):
            # Not even its beginning fitted: nothing was asked.
            return f"{service.n} questions were asked without a journal." if service.n else None
        n_lost = service.n - len(_journaled(folder))
        if n_lost > 2 * CONCURRENCY:
            return f"With {n_bytes} bytes {n_lost} answers were lost."
        code, told = _collect(folder, "--resume", _run_id(folder))
        if code:
            return f"Resuming ended with {code}: {told}"
    return _incomplete(folder, 120) or _not_intact(folder)


ATTACKS: tuple[Attack, ...] = (
    Attack("12", "an import killed at any moment", "kills", 6, "held", _killed(_IMPORT)),
    Attack("12", "loading a journal killed at any moment", "kills", 6, "held", _killed(_LOAD)),
    Attack("12", "an erasure killed at any moment", "kills", 6, "held", _killed(_ERASE), in_suite=False),
    Attack(
        "12", "a build killed while it publishes", "kills", 6, "held", _killed(_PUBLISH_BUILD), in_suite=False
    ),
    Attack(
        "12", "publishing files killed at any moment", "kills", 6, "held", _killed(_PUBLISH), in_suite=False
    ),
    Attack(
        "12",
        "a collector ended by SIGTERM",
        "kills",
        3,
        "64 answers lost",
        _ended_by(signal.SIGTERM),
        in_suite=False,
    ),
    Attack(
        "12",
        "a collector ended by SIGHUP",
        "kills",
        3,
        "62 answers lost",
        _ended_by(signal.SIGHUP),
        in_suite=False,
    ),
    Attack("12", "no room: collecting", "faults", 3, "held", _collected_without_room, in_suite=False),
    Attack("12", "no room: an import", "faults", 3, "held", _no_room(_IMPORT, 4_000_000), in_suite=False),
    Attack("12", "no room: an erasure", "faults", 3, "held", _no_room(_ERASE, 4_000_000), in_suite=False),
    Attack(
        "12",
        "no room: publishing files",
        "faults",
        3,
        "not said",
        _no_room(_PUBLISH, 8_000_000),
        in_suite=False,
    ),
)
