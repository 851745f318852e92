"""Test the pager for long output, and the shell's completion."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from pathlib import Path

import click
import duckdb
import pytest
from click.shell_completion import BashComplete

from biasledger.cli import cli
from collector.terminal import paged, say
from tests.python.cli.conftest import add_run
from tests.python.running import biasledger


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def paging(monkeypatch: pytest.MonkeyPatch) -> tuple[Terminal, list[str]]:
    """A terminal of 24 lines, and what a pager is given."""
    terminal, given = Terminal(), list[str]()
    monkeypatch.setattr(click, "echo_via_pager", given.append)
    monkeypatch.delenv("PAGER", raising=False)
    monkeypatch.delenv("LESS", raising=False)
    for name, value in (("LINES", "24"), ("COLUMNS", "80")):
        monkeypatch.setenv(name, value)
    return terminal, given


@pytest.mark.parametrize(("n_lines", "is_paged"), [(10, False), (30, True)])
def test_what_is_longer_than_the_terminal_goes_to_a_pager(
    paging: tuple[Terminal, list[str]], n_lines: int, is_paged: bool
) -> None:
    terminal, given = paging
    text = "a line\n" * n_lines
    with contextlib.redirect_stdout(terminal):
        with paged():
            say(text, end="")
        assert sys.stdout is terminal
    assert (terminal.getvalue(), given) == (("", [text]) if is_paged else (text, []))


def test_what_was_printed_before_an_error_is_shown(paging: tuple[Terminal, list[str]]) -> None:
    terminal, _ = paging

    @paged()
    def fails() -> None:
        say("so far")
        raise ValueError("wrong")

    with contextlib.redirect_stdout(terminal), pytest.raises(ValueError, match="wrong"):
        fails()
    assert terminal.getvalue() == "so far\n"


@pytest.mark.parametrize("off", ["PAGER=cat", "PAGER=", "--no-pager", "no terminal"])
def test_a_pager_can_be_off(
    paging: tuple[Terminal, list[str]], monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    terminal, given = paging
    name, _, value = off.partition("=")
    if name == "PAGER":
        monkeypatch.setenv("PAGER", value)
    if off == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    with contextlib.redirect_stdout(terminal), paged(is_wanted=off != "--no-pager"):
        say("a line\n" * 30)
        assert terminal.getvalue()
    assert given == []


@pytest.mark.parametrize("command", ["findings", "query", "explain", "runs"])
def test_commands_with_long_output_have_a_pager(command: str) -> None:
    assert "--no-pager" in biasledger(command, "--help").output


def completed(*words: str, incomplete: str = "") -> list[str]:
    shell = BashComplete(cli, {}, "biasledger", "_BIASLEDGER_COMPLETE")
    return [one.value for one in shell.get_completions(list(words), incomplete)]


@pytest.mark.parametrize(
    "words",
    [
        ("findings", "--run"),
        ("verify",),
        ("retract",),
        ("evidence",),
        ("collect", "--resume"),
        ("baseline", "set"),
    ],
)
def test_runs_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASLEDGER_LEDGER", raising=False)
    assert completed(*words, incomplete="prod") == []
    assert completed(*words, incomplete="la") == ["latest"]
    add_run(tmp_path / "ledger.duckdb", "products", "products-robot-1")
    assert completed(*words, incomplete="prod") == ["products-robot-1"]


def test_a_ledger_that_is_in_use_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASLEDGER_LEDGER", str(tmp_path / "ledger.duckdb"))
    add_run(tmp_path / "ledger.duckdb", "products", "products-robot-1")

    def wait(_seconds: float) -> None:
        pytest.fail("it waits")

    with duckdb.connect(str(tmp_path / "ledger.duckdb")):
        monkeypatch.setattr(time, "sleep", wait)
        assert completed("verify") == ["latest", "previous"]
    assert completed("verify") == ["latest", "previous", "products-robot-1"]


def test_analyses_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "top_marked_words" in completed("query", incomplete="top_")
    assert "top_marked_words" in completed("sql", incomplete="top_")


def test_a_warehouse_that_cannot_be_read_completes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASLEDGER_WAREHOUSE", str(tmp_path / "warehouse.duckdb"))
    assert completed("explain") == []
    (tmp_path / "warehouse.duckdb").write_bytes(os.urandom(9000))
    assert completed("explain") == []
