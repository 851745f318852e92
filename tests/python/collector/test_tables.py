"""Test the one reader of all tables: separators, encodings, Unicode, paths into JSON, folders, a column for each group."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import InputError
from collector.tables.columns import find_column, json_paths
from collector.tables.rows import read_rows
from collector.tables.source import (
    ANSWER_COLUMN,
    GROUP_COLUMN,
    ROW_COLUMN,
    Form,
    content_hash,
    open_source,
    source_columns,
)


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def cells(path: Path, columns: list[str], **options: Any) -> list[tuple[Any, ...]]:
    with open_source(path, columns, **options) as source, source.readable():
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        return source.connection.execute(f"select {names} from source order by row_number").fetchall()


NAMES = [{"name": "Ayşe", "origin": "türkisch"}, {"name": "Jörg, d. Ä.", "origin": "deutsch"}]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ('name,origin\nAyşe,türkisch\n"Jörg, d. Ä.",deutsch\n', "utf-8"),
        ('name, origin\n Ayşe , türkisch\n"Jörg, d. Ä." , deutsch\n', "utf-8"),
        ("name;origin\r\nAyşe;türkisch\r\nJörg, d. Ä.;deutsch\r\n", "utf-8-sig"),
        ("name\torigin\r\nAyşe\ttürkisch\r\nJörg, d. Ä.\tdeutsch\r\n", "utf-16"),
        ("name\torigin\nAyşe\ttürkisch\nJörg, d. Ä.\tdeutsch\n", "utf-16-le"),
        ("sep=;\r\nname;origin\r\nAyşe;türkisch\r\nJörg, d. Ä.;deutsch\r\n", "utf-8-sig"),
        ('"sep=|"\nname|origin\r\nAyşe|türkisch\nJörg, d. Ä.|deutsch\r\n', "utf-8"),
        ("\n;;\nname;origin;;\n\nAyşe;türkisch;;\n;;;\nJörg, d. Ä.;deutsch;;\n", "utf-8"),
        (decomposed("name;origin\nAyşe;türkisch\nJörg, d. Ä.;deutsch\n"), "utf-8"),
        ("name;origin\nAyşe;türkisch\nJörg, d. Ä.;deutsch\n", "cp1254"),
    ],
)
def test_every_form_of_csv_is_the_same_table(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "names.csv"
    path.write_bytes(text.encode(encoding))
    stated = encoding if encoding == "cp1254" else None
    assert read_rows(path, "a row for each name", ["name"], hoped=["origin"], encoding=stated) == NAMES


def test_other_tables_hold_subjects_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in NAMES), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(NAMES), encoding="utf-8")
    for name in ("a.jsonl", "a.json"):
        assert read_rows(tmp_path / name, "a row for each name", ["name"]) == NAMES


@pytest.mark.parametrize(("content", "message"), [
    (b"name;origin\nJ\xf6rg;deutsch\n", "line 2 is not UTF-8; save the file as UTF-8, or name its encoding in the spec"),
    (b"sep=;\nname;origin\nA;b;c\n", "line 3 has 3 cells and the header 2"),
    (b"sep=;\n\n", "is empty; it should hold a header and a row for each name."),
])  # fmt: skip
def test_errors_in_a_table_are_reported(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)):
        read_rows(tmp_path / "a.csv", "a row for each name", ["name"])


def test_cells_keep_their_line_ends_where_rows_end_in_several_ways(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\r\n1,"x\r\ny"\n2,"say ""hi""\nz"\r\n3,plain\n')
    assert cells(path, ["a", "b"]) == [("1", "x\r\ny"), ("2", 'say "hi"\nz'), ("3", "plain")]


def test_columns_are_found_in_any_unicode_form(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(decomposed(" größe ,antwort\ngroß,ja\n"), encoding="utf-8")
    assert cells(path, ["größe"]) == [(decomposed("groß"),)]
    assert source_columns(path, lambda _: True) == ["größe", "antwort"]
    (tmp_path / "b.jsonl").write_text(json.dumps({decomposed("größe"): "x"}), encoding="utf-8")
    assert cells(tmp_path / "b.jsonl", ["größe"]) == [("x",)]


ROWS = [
    {
        "id": 1,
        "response": {"score": 7, "text": "Hello", "odd.name": "dotted"},
        "turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a1"}],
    },
    {"id": 2, "response": {"score": None, "text": "Hi", "2": "two"}, "turns": [{"role": "user", "content": "a2"}]},
]  # fmt: skip


@pytest.fixture(params=["jsonl", "json", "parquet", "csv", "folder"])
def nested(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same rows in every form that holds them."""
    path = tmp_path / f"rows.{request.param}"
    if request.param == "json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    elif request.param == "folder":
        path.mkdir()
        (path / "b.json").write_text(json.dumps(ROWS[1]), encoding="utf-8")
        (path / "a.json").write_text(json.dumps(ROWS[:1]), encoding="utf-8")
        (path / ".hidden.json").write_text("none", encoding="utf-8")
    else:
        jsonl = tmp_path / "rows.jsonl"
        jsonl.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
        if request.param == "parquet":
            duckdb.sql(f"copy (from read_json('{jsonl}')) to '{path}' (format parquet)")
        if request.param == "csv":
            duckdb.sql(
                f"copy (select id, response::json as response, turns::json as turns from read_json('{jsonl}')) to '{path}'"
            )
    return path


def test_paths_lead_into_nested_columns(nested: Path) -> None:
    columns = ["response.score", "response.text", "turns[0].content", "turns.0.content", "turns[-1].content"]
    assert cells(nested, ["id", *columns]) == [
        ("1", "7", "Hello", "q", "q", "a1"),
        ("2", None, "Hi", "a2", "a2", "a2"),
    ]
    assert cells(nested, ["response['odd.name']", "response.2"]) == [("dotted", None), (None, "two")]
    whole = [json.loads(turns) for (turns,) in cells(nested, ["turns"])]
    assert whole == [row["turns"] for row in ROWS]


def test_a_missing_path_is_reported_with_the_existing_ones(nested: Path) -> None:
    with pytest.raises(InputError, match=r"has no column 'response.scor'; did you mean 'response.score'\?"):
        cells(nested, ["response.scor"])
    if nested.suffix != ".csv":
        assert {"response.score", "response.text"} <= set(source_columns(nested, lambda _: True))


def test_a_column_with_the_very_name_goes_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a.b": "literal", "a": {"b": "nested", "c": "inner"}}', encoding="utf-8")
    assert cells(path, ["a.b", "a.c"]) == [("literal", "inner")]
    assert find_column("a.b.c", ["a", "a.b"]) == find_column("a.b['c']", ["a", "a.b"])
    assert find_column("a.b]", ["a"]) is None
    assert json_paths(("0", -1)) == ['$."0"[#-1]', "$[0][#-1]"]


def test_a_folder_of_json_files_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "2.json").write_text('[{"reply": "b", "score": NaN}, {"reply": "c"}]', encoding="utf-16")
    (folder / "1.json").write_text('{"reply": "a", "score": 1.5}', encoding="utf-8-sig")
    (folder / "3.jsonl").write_text('{"reply": "d"}\n\n{"reply": "e", "file": "own"}\n', encoding="utf-8")
    (folder / "notes.txt").write_text("none of it", encoding="utf-8")
    assert cells(folder, ["file", "reply", "score"]) == [
        ("1", "a", "1.5"),
        ("2", "b", "NaN"),
        ("2", "c", None),
        ("3", "d", None),
        ("own", "e", None),
    ]
    before = content_hash(folder)
    (folder / "3.jsonl").write_text('{"reply": "f"}\n', encoding="utf-8")
    assert content_hash(folder) != before
    (folder / "4.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match=r"4\.json: element 1 is a JSON int; it should be an object\."):
        cells(folder, ["reply"])
    (folder / "4.json").write_bytes(b'{"reply": "\xe9"}')
    with pytest.raises(InputError, match=r"4\.json: line 1 is not UTF-8"):
        cells(folder, ["reply"])
    (folder / "4.json").unlink()
    assert cells(folder, ["reply"], form=Form(encoding="utf-8"))[-1] == ("f",)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_row_with_an_answer_for_each_group_becomes_one_for_each(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    rows = [{"case": f"c{n}", "him": f"he {n}", "her": None if n == 2 else f"she {n}"} for n in (1, 2)]
    if ending == "csv":
        path.write_text("case,him,her\nc1,he 1,she 1\nc2,he 2,\n", encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = cells(
        path, [GROUP_COLUMN, ANSWER_COLUMN, "case", ROW_COLUMN], answers={"male": "him", "female": "her"}
    )
    assert found == [
        ("male", "he 1", "c1", "1"),
        ("female", "she 1", "c1", "1"),
        ("male", "he 2", "c2", "2"),
        ("female", None, "c2", "2"),
    ]
