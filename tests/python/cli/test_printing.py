"""Test that all output passes one function, which removes terminal codes, keys and forged lines."""

from __future__ import annotations

import ast
import contextlib
import io
import logging
import os
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from rich.table import Table
from rich.text import Text

import collector.terminal
from biasledger.commands.display import findings_table, status_counts
from biasledger.findings import Finding
from collector import terminal
from tests.python.running import biasledger

ROOT = Path(__file__).parents[3]
HOSTILE = "a\x1b[31m\x9b2J\u202eb\u2066\u200f\x07\ud800\r"
STEERING = set("\x1b\x9b\x07\r\u202e\u2066\u200f\ud800")
SECRET = "sk-live/0123456789+abc"


def steers(text: str) -> set[str]:
    return STEERING & set(text)


# --- no path goes around it

_STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
_PRINTING = {
    *("Console", "StreamHandler", "basicConfig", "print_exc", "print_exception", "print_last", "print_stack"),
    *("pprint", "echo", "secho", "echo_via_pager", "progressbar", "prompt", "pause"),
}

_MAY_PRINT = re.compile(
    "|".join([*_PRINTING, "print", "input", "std(?:out|err)", "confirm", r"os\.", "subprocess"])
)


def around(source: str) -> list[str]:
    """Return what in a module prints without passing collector.terminal: 'line: code'."""
    if not _MAY_PRINT.search(source):
        return []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return [f"{node.lineno}: {ast.unparse(node)}" for node in ast.walk(tree) if _goes_around(node)]


def _goes_around(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        if node.module == "sys" and names & _STREAMS:
            return True
        is_for_types = isinstance(
            parent := getattr(node, "parent", None), ast.If
        ) and "TYPE_CHECKING" in ast.unparse(parent.test)
        return bool(names & _PRINTING) and not is_for_types
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value) == "sys" and node.attr in _STREAMS
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    name = called.rpartition(".")[2]
    if name == "confirm":
        asked = node.args[0]
        return not isinstance(asked, ast.Constant) and not ast.unparse(asked).startswith("visible(")
    if called in ("print", "input", "rich.print"):
        return True
    if called in ("os.write", "os.system"):
        return called == "os.system" or isinstance(node.args[0], ast.Constant)
    if called in ("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call"):
        given = {one.arg for one in node.keywords}
        return not ("capture_output" in given or {"stdout", "stderr"} <= given)
    return name in _PRINTING and not called.startswith(("parser.", "self._pace.", "askers."))


@pytest.mark.parametrize(
    "line",
    [
        "print(1)",
        "import sys; sys.stdout.write('a')",
        "from sys import stderr",
        "import json, sys; json.dump({}, sys.stdout)",
        "click.echo('a')",
        "from click import secho",
        "from rich.console import Console",
        "rich.console.Console()",
        "traceback.print_exc()",
        "logging.basicConfig()",
        "os.write(1, b'a')",
        "click.confirm(f'{a}?')",
        "subprocess.run(['a'])",
    ],
)
def test_what_goes_around_is_seen(line: str) -> None:
    assert around(line)


@pytest.mark.parametrize(
    "line",
    [
        "say('a')",
        "if TYPE_CHECKING:\n    from rich.console import Console",
        "click.confirm('Really?')",
        "click.confirm(visible(f'{a}?'))",
        "subprocess.run(['a'], capture_output=True)",
        "os.write(descriptor, b'a')",
    ],
)
def test_what_does_not_is_let_be(line: str) -> None:
    assert not around(line)


def test_no_path_goes_around_it() -> None:
    # dbt's process prints JSON in ASCII to the process that started it.
    building = ROOT / "biasledger" / "building"
    others = {
        Path(collector.terminal.__file__),
        # Writes nothing itself and flushes what was written before it ends.
        building / "dbt_process.py",
        # Writes one fixed word where the others are not loaded yet.
        ROOT / "biasledger" / "__main__.py",
        # Writes the rows that it read, pickled, to the process that started it.
        ROOT / "collector" / "importers" / "reading.py",
    }
    places = [
        path for folder in ("biasledger", "collector", "lmrec") for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(places) > 200
    found = {
        str(path.relative_to(ROOT)): lines
        for path in places
        if path not in others and (lines := around(path.read_text(encoding="utf-8")))
    }
    assert found == {}


# --- the function itself


def test_what_steers_is_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(HOSTILE)
    terminal.say(HOSTILE, err=True)
    printed = capsys.readouterr()
    expected = r"a\x1b[31m\x9b2J\u202eb\u2066\u200f\x07\ud800\x0d" + "\n"
    assert (printed.out, printed.err) == (expected, expected)
    assert terminal.on_one_line("a\nb\tc") == r"a\nb\tc"


def test_other_text_stays_as_it_is() -> None:
    text = "naïve 日本 \N{MAN}\u200d\N{PERSONAL COMPUTER} עברית العربية\n\t–"
    assert terminal.visible(text) == text


def test_tables_and_their_styles() -> None:
    into = io.StringIO()
    console = terminal.console(into)
    table = Table(HOSTILE)
    table.add_row(Text(HOSTILE, style="bold"))
    console.print(table)
    console.print(HOSTILE.replace("\ud800", ""), style="bold")
    assert not steers(into.getvalue())
    assert into.getvalue().count(r"a\x1b[31m") == 3


def test_data_is_exact_for_a_program_and_harmless_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HOSTILE.replace("\ud800", "")
    terminal.print_data(text)
    assert capsys.readouterr().out == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    terminal.print_data(text)
    assert not steers(capsys.readouterr().out)


def filled(text: str | None = None) -> Finding:
    """A finding with a text in all its texts, or with their names."""
    values = {"str": text, "str | None": text, "float | None": None, "bool": True}
    kinds = {name: kind for name, kind in Finding.__annotations__.items() if kind in values}
    return Finding(
        **{name: values[kind] if "str" not in kind else text or name for name, kind in kinds.items()}
    )


def test_no_line_of_a_table_ends_in_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    row = filled()
    findings_table([row, replace(row, measure="a much longer measure")], explain=True)
    printed = capsys.readouterr().out
    assert "a much longer measure" in printed
    assert all(line == line.rstrip() for line in printed.splitlines())


# --- what comes from elsewhere


def test_labels_of_groups_and_names_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    row = filled(HOSTILE)
    findings_table([row], explain=True)
    terminal.say(status_counts([replace(row, status="clear")]))
    printed = capsys.readouterr().out
    assert r"\u202e" in printed
    assert not steers(printed)


def test_names_in_a_heading_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    row = filled("[bold]")
    findings_table([row])
    assert capsys.readouterr().out.startswith("[bold], target [bold] (simulated), run [bold]\n")


def test_an_error_of_the_database(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts; create schema settings")
        connection.execute(
            "create table marts.fct_findings as select ? as finding_id", [HOSTILE.replace("\ud800", "")]
        )
    failed = biasledger("query", "select finding_id::int from fct_findings", "--warehouse", path, code=3)
    assert r"\x1b[31m\x9b2J\u202e" in failed.stderr
    assert not steers(failed.stderr)


@contextlib.contextmanager
def answering(line: bytes) -> Iterator[int]:
    """A service whose every reply is this line and no HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(line)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert not thread.is_alive()


def test_a_status_line_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY", SECRET)
    (tmp_path / "a.yml").write_text(
        "audit: a\ntemplates: [{id: one, text: 'A {a race} person.'}]\ntrials: 5\n"
        "attributes: {race: {reference: White, groups: [White, Asian]}}\n"
    )
    reply = b"HTTP/1.1 \x1b[31m\xc2\x9b2J\x07 " + SECRET.encode() + b"\r\n\r\n"
    with answering(reply) as port:
        (tmp_path / "targets.yml").write_text(
            f"targets: {{x: {{kind: openai, base_url: 'http://127.0.0.1:{port}/v1', model: m, api_key_env: A_KEY, "
            f"max_retries: 0}}}}\n"
        )
        done = biasledger("collect", "a.yml", "--target", "x", "--ledger", tmp_path / "ledger.duckdb")
    assert done.exit_code == 3
    assert not steers(done.output)
    assert SECRET not in done.output


# --- secrets


def test_a_key_that_a_targets_file_names_is_struck_out_of_every_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY", SECRET)
    # The file is no valid YAML, and its names are still read.
    (tmp_path / "targets.yml").write_text("targets: {x: [api_key_env: A_KEY  # HOME\n")
    for shown in (SECRET, SECRET[::-1]):
        failed = biasledger("findings", "--warehouse", f"{shown}.duckdb".replace("/", "%2f"), code=3)
        assert "[key]" in failed.stderr or "/" in shown


def test_nothing_else_that_a_targets_file_says_is_struck_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("model", "a-model-of-mine")
    monkeypatch.setenv("A_KEY", os.fsdecode(b"\xff0123456789"))
    (tmp_path / "targets.yml").write_text("targets: {HOME: {model: PATH, api_key_env: A_KEY}}\n")
    place = Path.home() / "a-model-of-mine.duckdb"
    assert str(place) in "".join(biasledger("findings", "--warehouse", place).stderr.split("\n"))


def test_a_traceback_is_cleaned_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_KEY", SECRET)
    (tmp_path / "elsewhere.yml").write_text("targets: {x: {api_key_env: A_KEY}}")
    failed = biasledger(
        "--debug",
        "collect",
        f"{SECRET.replace('/', '%2F')}\x1b[31m.yml",
        "--target",
        "x",
        "--targets",
        "elsewhere.yml",
    )
    assert "Traceback" in failed.stderr
    assert "[key]" in failed.stderr
    assert SECRET.partition("/")[2] not in failed.stderr
    assert not steers(failed.stderr)


# --- closed pipes


def test_a_log_line_that_nobody_reads_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    record = logging.LogRecord("collector", logging.WARNING, __file__, 1, "%s is refused", ("x",), None)
    with io.TextIOWrapper(io.FileIO(writing, "w"), write_through=True) as stream:
        monkeypatch.setattr("sys.stderr", stream)
        with pytest.raises(BrokenPipeError):
            terminal.say("x", err=True)
        terminal.LogHandler().handle(record)


def test_a_log_line_that_cannot_be_printed_is_named_without_its_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = logging.LogRecord("collector", logging.WARNING, "asking.py", 7, "%d", (SECRET,), None)
    terminal.LogHandler().handle(record)
    assert capsys.readouterr().err == "What asking.py:7 logs cannot be printed.\n"
