"""Test that SIGTERM and SIGHUP end a collection like Ctrl-C and keep the answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from biasledger.__main__ import main
from biasledger.cli import cli
from biasledger.commands.common import interrupted_by_signals
from collector.errors import InputError
from tests.python.running import ROOT, run_python

ENDING = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
AUDIT = """
audit: small
templates: [{id: one, text: 'Recommend products for a {race} customer.'}]
attributes: {race: {reference: White, groups: [White, Black]}}
trials: 2000
answer: {kind: text}
"""
SLOW = """
import time


def ask(prompt, system_prompt, seed):
    print("asked", flush=True)
    time.sleep(0.01)
    return "An answer."
"""


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_what_was_answered_is_kept(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "audit.yml").write_text(AUDIT, encoding="utf-8")
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    # A shell that runs the tests in the background may ignore some signals.
    script = (
        "import signal; from biasledger.cli import main; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "[signal.signal(one, signal.SIG_DFL) for one in (signal.SIGTERM, signal.SIGHUP)]; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "collect", "audit.yml", "--target", "python:slow:ask"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(30):
        assert process.stdout.readline() == "asked\n", process.stderr and process.stderr.read()
    process.send_signal(number)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    message = re.search(r"Interrupted: run (\S+) keeps (\d+) of 4000 responses", errors)
    assert message is not None, errors
    with duckdb.connect(str(tmp_path / "ledger.duckdb"), read_only=True) as connection:
        ((kept,),) = connection.execute("select count(*) from raw.responses").fetchall()
        ((event,),) = connection.execute(
            "select arg_max(event, rowid) from raw.run_events where run_id = ?", [message[1]]
        ).fetchall()
    assert kept == int(message[2]) > 0
    assert event == "failed"


def test_ctrl_c_while_modules_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "biasledger.cli", SimpleNamespace(main=interrupted))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Stopped.\n"


# A thin project over the small models, as of the fixture.
BUILD = """
import pathlib, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from biasledger import project
from biasledger.building import build
project.dbt_source = lambda: pathlib.Path({models!r})
build.check_settings = lambda _: None
from biasledger.__main__ import main
main()
"""


@pytest.mark.slow
def test_ctrl_c_in_a_build_leaves_the_tables_and_the_next_build_works(
    small_project: Path, small_models: Path
) -> None:
    def command() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", BUILD.format(models=str(small_models)), "build"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish() -> None:
        process = command()
        said, _ = process.communicate(timeout=900)
        assert process.returncode == 1, said

    finish()
    warehouse, log = small_project / "warehouse.duckdb", small_project / "logs/dbt.log"
    before, begun = warehouse.read_bytes(), log.stat().st_size
    endless = small_project / "models" / "endless.sql"
    endless.parent.mkdir()
    endless.write_text("select sum(one.range * other.range) from range(10000000) one, range(10000000) other")
    process = command()
    while b"endless" not in log.read_bytes()[begun:].partition(b"START")[2]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    # A terminal sends it to all processes of a command: the build's own and dbt's.
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 130, said
    assert "Stopped: warehouse.duckdb is as it was." in said
    assert "Traceback" not in said
    assert warehouse.read_bytes() == before
    endless.unlink()
    finish()


LOST = """
import os, signal, sys, time, types, weakref

class Gone:
    pass

def run():
    gone = Gone()
    kept = weakref.ref(gone, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del gone
    print("goes on", flush=True)
    time.sleep(3600)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.modules["biasledger.cli"] = types.SimpleNamespace(main=run)
from biasledger.__main__ import main
main()
"""


def test_ctrl_c_that_python_cannot_raise_comes_again() -> None:
    # Each import has such a callback, in which Python prints an error and drops it.
    done = run_python("-c", LOST)
    assert (done.returncode, done.stdout, done.stderr) == (130, "goes on\n", "Stopped.\n")


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Query interrupted"),
        ImportError("KeyboardInterrupt: "),
    ],
    ids=["DuckDB's own", "a library's"],
)
@pytest.mark.parametrize("is_sentence", [True, False])
def test_ctrl_c_that_became_another_error(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    *,
    is_sentence: bool,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        if not is_sentence:
            raise error
        raise InputError("A file cannot be read.") from error

    monkeypatch.setattr(cli.commands["runs"], "callback", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli.main(["runs"])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_an_error_that_only_speaks_of_ctrl_c_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failed(*_: object, **__: object) -> None:
        raise InputError("There is no column KeyboardInterrupt.")

    monkeypatch.setattr(cli.commands["runs"], "callback", failed)
    with pytest.raises(SystemExit) as ended:
        cli.main(["runs"])
    assert ended.value.code == 3
    assert "There is no column KeyboardInterrupt." in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_handlers_are_put_back_and_what_is_ignored_stays_so(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with interrupted_by_signals():
            assert signal.getsignal(number) is signal.SIG_IGN
            signal.raise_signal(number)
        signal.signal(number, signal.SIG_DFL)
        with pytest.raises(KeyboardInterrupt), interrupted_by_signals():
            signal.raise_signal(number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
