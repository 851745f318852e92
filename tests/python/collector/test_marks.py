"""Test that promptfoo's marks in cells become columns and do not count as words of the answer."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from collector.tables.source import open_source

CELLS = [
    ("[PASS] She is calm.", "She is calm.", "pass", None),
    (
        '[FAIL] Expected output to contain "driven"\n---\nHe is kind.',
        "He is kind.",
        "fail",
        'Expected output to contain "driven"',
    ),
    ("[FAIL] one\ntwo\r\n---\r\n  He is kind.", "He is kind.", "fail", "one\ntwo"),
    ("[FAIL] He is kind.", "He is kind.", "fail", None),
    ("[ERROR] Request timed out", "[ERROR] Request timed out", "error", None),
    ("[PASS] A list:\n---\n- tea", "A list:\n---\n- tea", "pass", None),
]


def read(path: Path, cells: list[str], columns: list[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["group", "output"], *(["m", cell] for cell in cells)])
    with open_source(path, columns) as source:
        listed = ", ".join(f"c{index}" for index in range(len(columns)))
        return source.connection.execute(f"select {listed} from source order by row_number").fetchall(), list(
            source.notes
        )


def test_marks_and_reasons_are_columns(tmp_path: Path) -> None:
    columns = ["output", "output:mark", "output:mark_reason", "group"]
    rows, notes = read(tmp_path / "marked.csv", [cell for cell, *_ in CELLS], columns)
    assert rows == [(*wanted, "m") for _, *wanted in CELLS]
    assert len(notes) == 1
    assert "no words of the answer" in notes[0]


@pytest.mark.parametrize("n_marked", [1, 3])
def test_a_cell_that_only_begins_so_is_an_answer(tmp_path: Path, n_marked: int) -> None:
    cells = ["[PASS] is what the log says."] * n_marked + ["She is calm."] * 4
    rows, notes = read(tmp_path / "plain.csv", cells, ["output"])
    assert [text for (text,) in rows] == cells
    assert notes == []
