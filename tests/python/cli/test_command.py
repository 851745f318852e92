"""Test the command line's help, start-up time, errors and exit codes."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from biasledger import __version__
from biasledger.cli import _sentence
from tests.python.cli.conftest import add_run
from tests.python.running import ROOT, biasledger, run_python

HEAVY = {
    "dbt", "duckdb", "numpy", "pandas", "pydantic", "requests", "rich", "scipy", "sklearn", "torch", "transformers", "yaml"
}  # fmt: skip
COMMANDS = "init collect import build findings report runs score label tune publish lmrec".split()


def test_the_command_line_imports_nothing_heavy() -> None:
    code = "import sys, biasledger.cli; print(*{name.split('.')[0] for name in sys.modules})"
    done = run_python("-c", code, code=0)
    assert not HEAVY & set(done.stdout.split())


def test_help_answers_at_once() -> None:
    def processor_seconds() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    seconds = []
    for _ in range(3):  # processor time: what else the machine does must not fail the test
        before = processor_seconds()
        done = run_python("-m", "biasledger.cli", "--help")
        seconds.append(processor_seconds() - before)
    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert min(seconds) < 0.4


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_in_whole_sentences(command: str) -> None:
    listed = next(
        line for line in biasledger("--help").output.splitlines() if line.startswith(f"  {command} ")
    )
    assert listed.endswith(".")
    assert not listed.endswith("...")
    assert biasledger(command, "--help").exit_code == 0


def test_a_pipe_that_nobody_reads_ends_every_command_quietly() -> None:
    # Long enough that the reader is gone before the end; the exit code is not that of alarms.
    code = (
        "import click\nfrom biasledger.cli import cli\n"
        "@cli.command()\ndef long():\n"
        "    for _ in range(20_000): click.echo('line of a long output')\n"
        "cli.main(['long'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.readline()
        writer.stdout.close()
        assert writer.stderr.read() == b""
        assert writer.wait() == 141


def test_version() -> None:
    assert biasledger("--version").output == f"biasledger, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("build", "--no-such-option"),
        ("collect",),
        ("build", "--threads", "0"),
        ("findings", "--status", "bad"),
    ],
)
def test_wrong_use_ends_with_3(arguments: tuple[str, ...]) -> None:
    result = biasledger(*arguments, code=3)
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_the_package_can_be_run() -> None:
    assert run_python("-m", "biasledger", "--version").stdout == f"biasledger, version {__version__}\n"
    for module in ("biasledger", "biasledger.cli"):
        run_python("-m", module, "build", "--no-such-option", code=3)


def test_errors_are_one_sentence_and_debug_shows_the_traceback(tmp_path: Path) -> None:
    plain = biasledger("findings", "--warehouse", tmp_path / "none.duckdb", code=3)
    assert plain.stdout == ""
    assert (
        plain.stderr
        == f"Error: There is no warehouse at {tmp_path}/none.duckdb: `biasledger build` makes it.\n"
    )
    debug = biasledger("--debug", "findings", "--warehouse", tmp_path / "none.duckdb", code=3)
    assert "Traceback" in debug.stderr
    assert debug.stderr.endswith(plain.stderr)


def test_a_fault_of_ours_is_called_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr("biasledger.project.init_project", broken)
    result = biasledger("init", tmp_path / "new", code=3)
    assert (
        result.stderr == "Error: unexpected KeyError: 'inside' (biasledger --debug COMMAND … shows where).\n"
    )


@pytest.mark.parametrize(("message", "shown"), [("", "Stopped."), ("Stopped; 7 answers are kept.",) * 2])
def test_an_interrupt_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, message: str, shown: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt(message)

    monkeypatch.setattr("biasledger.project.init_project", interrupted)
    result = biasledger("init", tmp_path / "new", code=130)
    assert result.stderr.strip() == shown


def test_a_file_that_may_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = biasledger("init", tmp_path / "file" / "below", code=3)
    assert result.stderr == f"Error: Not a directory: {tmp_path}/file/below.\n"


def test_runs_lists_what_the_ledger_holds(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.duckdb"
    missing = biasledger("runs", "--ledger", ledger, code=3)
    assert str(ledger) in missing.stderr
    add_run(ledger, "products")
    add_run(ledger, "[red]letters\x1b[0m", run_id="run-2")
    result = biasledger("runs", "--ledger", ledger, code=0)
    assert "robot (simulated)" in result.output
    assert "started, not finished" in result.output
    assert r"[red]letters\x1b[0m" in result.output, "names must not steer the terminal"


def test_tables_of_another_version_are_named() -> None:
    with pytest.raises(duckdb.CatalogException) as caught:
        duckdb.sql("select * from fct_exclusions")
    assert _sentence(caught.value) == (
        "Table with name fct_exclusions does not exist: another version built the tables; "
        "`biasledger build` rebuilds the warehouse."
    )
