"""Test results as table, CSV, JSON and Markdown: exact for programs, safe for people."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from biasledger.cli import cli
from biasledger.querying.formats import write_csv, write_json, write_markdown
from biasledger.querying.statements import Result
from biasledger.querying.table import show_table
from collector.terminal import visible
from tests.python.docs.shell import run as run_in_shell

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \u202egnol\u202c \x9b2J <script>alert(1)</script> | *bold* [a](b)\r\nnext"
)
TABLES = """
    create schema marts;
    create table marts.t as
    select i as n, 0.1 * i as x, 'a,"' || chr(10) || 'b' as s, if(i % 2 = 0, '', null) as e, [1, null] as l
    from range(250) r(i);
    create table marts.hostile as select $text as answer;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        *creations, hostile = TABLES.strip().rstrip(";").split(";")
        for one in creations:
            connection.execute(one)
        connection.execute(hostile, {"text": HOSTILE})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASLEDGER_WAREHOUSE", raising=False)
    return tmp_path


def query(*arguments: str) -> tuple[str, str]:
    done = CliRunner().invoke(cli, ["query", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def written(write: Any, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    sink = io.StringIO()
    write(Result(columns, iter(rows)), sink)
    return sink.getvalue()


def test_a_table_shows_a_hundred_rows_and_says_so(folder: Path) -> None:
    out, err = query("select n from t order by n")
    assert len(out.splitlines()) == 2 + 100
    assert "There are more than these 100 rows: --limit N shows more." in err
    out, err = query("select n from t order by n", "--limit", "250")
    assert len(out.splitlines()) == 2 + 250
    assert err == ""
    assert query("select n from t where n < 0")[1] == "No rows.\n"


def test_other_formats_give_all_rows(folder: Path) -> None:
    assert len(query("select n from t", "--format", "csv")[0].splitlines()) == 251
    assert len(json.loads(query("select n from t", "--format", "json")[0])) == 250
    assert json.loads(query("select n from t where n < 0", "--format", "json")[0]) == []
    out, err = query("select n from t order by n", "--format", "csv", "--limit", "2")
    assert out == "n\n0\n1\n"
    assert "more than these 2 rows" in err


def test_csv_keeps_null_and_empty_text_apart_and_reads_back(folder: Path) -> None:
    query("select n, x, s, e from t order by n", "--output", "t.csv")
    read = (
        "read_csv('t.csv', quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, all_varchar=true)"
    )
    with duckdb.connect() as connection:
        found = connection.execute(
            f"select n::bigint, x::double, s, e from {read} order by n::bigint"
        ).fetchall()
        connection.execute("attach 'warehouse.duckdb' as w (read_only)")
        assert found == connection.execute("select n, x::double, s, e from w.marts.t order by n").fetchall()


def test_no_spreadsheet_takes_a_text_for_a_formula(folder: Path) -> None:
    sql = "select '=HYPERLINK(1)' as s, -1 as n"
    assert query(sql, "--format", "csv")[0] == "s,n\n'=HYPERLINK(1),-1\n"
    assert json.loads(query(sql, "--format", "json")[0])[0]["s"] == "=HYPERLINK(1)"


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(), st.text(), st.integers(), st.booleans()), min_size=1, max_size=5))
def test_csv_is_exact(rows: list[tuple[float, str, int, bool]]) -> None:
    text = written(write_csv, ("x", "s", "n", "b"), rows)
    read = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert len(read) == len(rows)
    for (x, s, n, b), (x_text, s_text, n_text, b_text) in zip(rows, read, strict=True):
        assert repr(float(x_text)) == repr(x)
        assert (s_text, int(n_text), b_text) == (s, n, str(b).lower())


def test_every_type_has_its_text() -> None:
    row = (
        None,
        True,
        Decimal("0.100"),
        datetime(2026, 1, 2, 3, 4, 5, 6),
        date(2026, 1, 2),
        b"\x00a",
        [1, None, "é"],
        {"a": [0.5]},
        float("nan"),
    )
    columns = tuple("abcdefghi")
    assert written(write_csv, columns, [row]).splitlines()[1] == (
        ',true,0.100,2026-01-02 03:04:05.000006,2026-01-02,\\x00\\x61,"[1, null, ""é""]","{""a"": [0.5]}",nan'
    )
    (found,) = json.loads(written(write_json, columns, [row]))
    assert list(found.values()) == [
        None,
        True,
        0.1,
        "2026-01-02 03:04:05.000006",
        "2026-01-02",
        "\\x00\\x61",
        [1, None, "é"],
        {"a": [0.5]},
        "nan",
    ]


def test_json_has_a_key_for_every_column() -> None:
    assert json.loads(written(write_json, ("run_id", "run_id", "run_id_2"), [(1, 2, 3)])) == [
        {"run_id": 1, "run_id_2": 2, "run_id_2_2": 3}
    ]


def test_markdown_shows_text_as_it_is() -> None:
    text = written(write_markdown, ("answer",), [(HOSTILE,)])
    assert len(text.splitlines()) == 3
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert r"\| \*bold\* \[a\](b)<br>next" in text


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_nothing_that_people_read_steers_a_terminal(folder: Path, form: str) -> None:
    out, _ = query("select answer from hostile", "--format", form)
    assert not set("\x1b\x07\x9b\u202e\r") & set(out)
    shown = " ".join(out.split())
    if form == "markdown":  # where a backslash of its own is one before another
        shown = re.sub(r"\\([\\\[\]])", r"\1", shown)
    assert r"\x1b[31mred\x1b]0;title\x07 \u202egnol\u202c \x9b2J" in shown


def test_what_is_visible_stays() -> None:
    assert visible("naïve 日本 🎵 👩‍🔬\n\tx") == "naïve 日本 🎵 👩‍🔬\n\tx"
    assert visible("\x00\x7f\u2066\ufeff\U000e0041") == r"\x00\x7f\u2066\ufeff\U000e0041"


def test_a_wide_result_stays_a_table_of_the_columns_that_fit() -> None:
    columns = ["same", *(f"column_{number}" for number in range(20))]
    rows = [["all", *range(20)], ["all", *["x" * 100] * 20]]
    console = Console(file=io.StringIO(), width=80, record=True)
    left_out = show_table(console, columns, rows)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[0].split() == ["column_0", "column_1"]
    assert left_out == ["same", *columns[3:]]
    assert "x" * 30 in text
    console = Console(file=io.StringIO(), width=80, record=True)
    assert show_table(console, columns, rows, wide=True) == []
    header, _, _, last = console.export_text().splitlines()
    assert header.split() == columns
    assert last.split() == ["all", *["x" * 100] * 20]
    assert console.width == 80


def test_a_wide_result_is_paged_by_columns() -> None:
    columns = ["same", *(f"column_{number}" for number in range(20))]
    rows = [["all", *range(20)], ["all", *range(20, 40)]]
    console = Console(file=io.StringIO(), width=80, record=True)
    assert show_table(console, columns, rows, paged=True) == []
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    headers = [line.split() for line in text.splitlines() if line.strip().startswith("row")]
    assert [name for header in headers for name in header[1:]] == [*columns[1:], "same"]
    assert text.splitlines()[0].startswith("Columns 1 to ")


def test_one_wide_row_is_a_list_of_names_and_values() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    columns = [f"column_{number}" for number in range(20)]
    assert show_table(console, columns, [["x" * 100] * 20]) == []
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in columns)
    assert "x" * 100 in "".join(line[len("column_19") + 2 :].strip() for line in text.splitlines())


def test_a_narrow_one_is_a_table() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    show_table(console, ["name", "n"], [["a", 1], ["b", None], [None, 0.123456789]])
    header, rule, *lines = [line.split() for line in console.export_text().splitlines()]
    assert header == ["name", "n"]
    assert set("".join(rule)) == {"─"}
    assert lines == [["a", "1"], ["b", "–"], ["–", "0.123457"]]


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.csv", "n\n0\n"), ("a.json", '[\n{"n": 0}'), ("a.md", "| n |\n| --- |\n| 0 |"), ("a.txt", "n")],
)
def test_the_file_s_ending_says_the_format(folder: Path, name: str, start: str) -> None:
    out, err = query("select n from t order by n limit 3", "--output", name)
    assert out == ""
    assert err == f"Wrote 3 rows to {name}.\n"
    assert (folder / name).read_text().startswith(start)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert (folder / name).stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_is_replaced_whole_or_not_at_all(folder: Path) -> None:
    (folder / "out.csv").write_text("as it was")
    failing = "select if(n < 249, n, cast('x' || n as integer)) as n from t"
    done = CliRunner().invoke(cli, ["query", failing, "--output", "out.csv"])
    assert done.exit_code == 3
    assert (folder / "out.csv").read_text() == "as it was"
    assert sorted(path.name for path in folder.iterdir()) == ["out.csv", "warehouse.duckdb"]
    done = CliRunner().invoke(cli, ["query", "select 1", "--output", "nowhere/out.csv"])
    assert done.exit_code == 3
    assert "There is no folder nowhere to write out.csv in." in done.stderr


def test_a_folder_is_no_file_to_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out").mkdir()
    done = CliRunner().invoke(cli, ["query", "select 1", "--output", "out"])
    assert done.exit_code == 3
    assert "out is a folder: name the file to write." in done.stderr

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", fail)
    assert CliRunner().invoke(cli, ["query", "select 1", "--output", "new.csv"]).exit_code == 3
    assert sorted(path.name for path in folder.iterdir()) == ["out", "warehouse.duckdb"]


def test_sql_that_begins_with_a_comment_comes_on_standard_input(folder: Path) -> None:
    sql = "-- how many\nselect count(*) as n from t"
    done = CliRunner().invoke(cli, ["query", "-", "--format", "csv"], input=sql)
    assert done.stdout == "n\n250\n"
    for command in (["query"], ["sql", "--dialect", "spark"]):
        refused = CliRunner().invoke(cli, [*command, sql])
        assert refused.exit_code == 3
        assert f"give it on standard input, as in `biasledger {command[0]} - < FILE`" in refused.stderr
    assert "No such option" in CliRunner().invoke(cli, ["query", "--limt", "3"]).stderr


@pytest.mark.parametrize("form", ["csv", "table", "json"])
def test_an_output_that_lacks_a_character_gets_an_escape(folder: Path, form: str) -> None:
    sql = "select chr(246) || chr(33590) as a"
    done = run_in_shell(
        f'PYTHONIOENCODING=latin-1:strict biasledger query "{sql}" --format {form} | iconv -f latin1', folder
    )
    assert done.returncode == 0, done.stderr
    assert "\\u8336" in done.stdout


def test_sql_that_is_not_utf_8_is_refused(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["query", "-"], input="select 'gr\u00f6\u00dfe'".encode("latin-1"))
    assert done.exit_code == 3
    assert done.stderr.startswith("Error: Standard input is not UTF-8; save it as UTF-8")


def test_a_pipe_that_is_closed_early_is_no_error(folder: Path) -> None:
    done = run_in_shell("biasledger query 'select * from t, range(2000)' --format csv | head -2", folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("n,x,s,e,l")


def test_help_answers_without_the_heavy_modules() -> None:
    script = (
        "import sys; from biasledger.cli import cli\n"
        "try: cli.main(['query', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'duckdb', 'sqlglot', 'rich', 'jinja2', 'yaml', 'pandas'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "heavy: []" in done.stdout


def test_the_list_of_analyses(folder: Path) -> None:
    out, _ = query("--list")
    assert "top_marked_words" in out
    assert "Which words are written more for each group?" in out
    done = CliRunner().invoke(cli, ["query"])
    assert done.exit_code == 3
    assert "--list shows the names" in done.stderr
