"""Fixtures that tests of several methods share, and which tests a worker of pytest-xdist takes together."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from biasledger.building import parsed, running
from collector.ledger.database import Ledger
from tests.python.audited import make_audited
from tests.python.docs.shell import blocks, run
from tests.python.preloaded import Preloaded
from tests.python.running import ROOT, run_python

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The time of an example depends on the machine and its load.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# The longest tests start first, so that no worker is left with one of them at the end.
_FIRST = (
    *("end_to_end", "replication", "docs", "query", "explain", "benchmarks", "cli", "packaging", "tuning"),
    *("evidence", "serving", "report", "notebook", "building"),
)
# Fixtures that are built once: files that use the same one go to one worker. The pattern finds it among a function's parameters;
# of a file that uses several the first counts.
_BUILT = {
    # A worker builds `odd` for itself alone; all workers share `audited`.
    "odd": re.compile(r"[(,]\s*(odd|alone): "),
    "audited": re.compile(r"[(,]\s*(audited|shipped|explorer|hostile): "),
    "first audit": re.compile(r"[(,]\s*(first_audit|planted): "),
    "wheel": re.compile(r"[(,]\s*(wheel|installed): "),
}
# Tests that use these fixtures or lie in these folders take minutes: a warehouse of their own, published data, a benchmark.
_SLOW_FIXTURES = frozenset({"odd", "alone", "new_project"})
_SLOW_FOLDERS = frozenset({"replication", "benchmarks", "fuzz"})

# A browser's own first, then those that Linux distributions package.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Milliseconds after which a page hangs, however busy the machine is; playwright's own thirty seconds it may well take.
HANGS = 1_200_000


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, before marks are looked at, and order files by how long they take."""
    for item in items:
        takes = _SLOW_FIXTURES & set(getattr(item, "fixturenames", ()))
        if takes or item.path.parent.name in _SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: (*_FIRST, item.path.parent.name).index(item.path.parent.name))


NOTE = "note"  # a property of a test: a sentence that pytest prints under its summary


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print notes of tests, such as how long a new user takes."""
    for report in terminalreporter.stats.get("passed", ()):
        for name, sentence in getattr(report, "user_properties", ()):
            if name == NOTE:
                terminalreporter.line(sentence)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out files, those that use one built project together; xdist's own groups need marks that pytest 9 hides from it."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid.partition("::")[0])

    return Scheduling(config, log)


@cache
def _group(file: str) -> str:
    text = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
    if "/replication/" in file and "replicated: " in text:
        return "replications"
    return next((group for group, used in _BUILT.items() if used.search(text)), file)


@pytest.fixture(scope="session", autouse=True)
def _dbt_ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, Preloaded() as processes:
        patch.setattr(running, "subprocess", processes)
        # Also of programs that tests start, and never the user's own.
        patch.setenv(parsed.CACHE, str(_shared_by_workers(tmp_path_factory) / "parsed"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _copied_ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new ledger begins as a copy of an empty one: its migrations take longer than most of what tests do with it."""
    empty = Ledger(tmp_path_factory.mktemp("empty") / "ledger.duckdb")
    create = Ledger.create

    def begin(ledger: Ledger, **options: Any) -> None:
        if not ledger.path.exists() and ledger.path.parent.is_dir():
            if not empty.path.exists():
                create(empty)
            # `create` reports folders that cannot be written.
            with contextlib.suppress(OSError):
                shutil.copyfile(empty.path, ledger.path)
        create(ledger, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "create", begin)
        yield


def _shared_by_workers(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` fills, once for all workers: to be read only."""
    shared = _shared_by_workers(factory)
    folder, made = shared / name, shared / f"{name}.made"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


@dataclass(frozen=True)
class FirstAudit:
    """The project folder that the README's commands made, and what they printed."""

    folder: Path
    finished: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def first_audit(tmp_path_factory: pytest.TempPathFactory) -> FirstAudit:
    (script,) = [block for block in blocks("README.md") if "biasledger init" in block]
    script = re.sub(r"^pip install .*$", "", script, flags=re.MULTILINE)
    # Alarms are what the simulator is there to raise.
    script = re.sub(
        r"^biasledger build.*$", 'biasledger build || test "$?" -eq 1', script, flags=re.MULTILINE
    )
    printed = "printed.json"

    def make(folder: Path) -> None:
        done = run(script, folder)
        (folder / printed).write_text(json.dumps([done.returncode, done.stdout, done.stderr]))

    folder = once(tmp_path_factory, "readme", make)
    finished = subprocess.CompletedProcess("biasledger", *json.loads((folder / printed).read_text()))
    return FirstAudit(folder / "my-audit", finished)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("biasledger-*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of packages into which pip installed the wheel; what it depends on is this environment's."""
    site = tmp_path_factory.mktemp("installed") / "site"
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", site)
    done = run_python("-m", "pip", "install", *options, wheel)
    assert done.returncode == 0, done.stdout + done.stderr
    return site


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project with all kinds of audits; see `make_audited` for what is planted. To be read only."""
    return once(tmp_path_factory, "audited", lambda folder: make_audited(folder / "project")) / "project"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one browser of a worker: playwright does not run twice in one thread, as two fixtures of the session would have it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("BIASLEDGER_BROWSER") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    with sync_api.sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        if program is None and not own.exists():
            pytest.skip(
                "there is no Chromium here: install your system's package or `playwright install chromium`"
            )
        # Without a sandbox of its own, which containers do not allow: the pages are ours.
        opened = playwright.chromium.launch(
            executable_path=program or own, args=["--no-sandbox"], timeout=HANGS
        )
        yield opened
        opened.close()
