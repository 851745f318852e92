"""Test that benchmark records are written, read and compared by the script of the same run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.processes import BenchmarkError
from benchmarks.records import Record, growth, read_records, write_records


def compared(tmp_path: Path, old: list[Record], new: list[Record], *options: str) -> tuple[int, str]:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, records in zip(paths, (old, new), strict=True):
        write_records(path, records)
    result = CliRunner().invoke(main, ["compare", *map(str, paths), *options])
    return result.exit_code, " ".join(result.output.split())


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = [Record("a", 20, "s", 1.5, 3.0), Record("b", 20, "s", 2.0)]
    write_records(tmp_path / "new" / "records.json", records)
    assert read_records(tmp_path / "new" / "records.json") == records
    assert [one.ratio for one in records] == [0.5, 2.0]
    (tmp_path / "other.json").write_text(json.dumps([{"name": "a"}]), encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"other\.json is no file of benchmarks' records"):
        read_records(tmp_path / "other.json")


def test_a_busy_machine_is_no_regression_and_a_slower_program_is(tmp_path: Path) -> None:
    old = [Record("a", 20, "s", 1.0, 10.0)]
    code, message = compared(tmp_path, old, [Record("a", 20, "s", 3.0, 30.0)])
    assert (code, "1.00" in message, "worse" in message) == (0, True, False)
    code, message = compared(tmp_path, old, [Record("a", 20, "s", 1.0, 5.0)])
    assert (code, "2.00 │ worse" in message) == (1, True)
    assert compared(tmp_path, old, [Record("a", 20, "s", 1.0, 5.0)], "--worse", "2.5")[0] == 0


def test_what_only_one_of_both_has_is_counted(tmp_path: Path) -> None:
    new = [Record("a", 20, "s", 1.0), Record("a", 40, "s", 1.0), Record("b", 20, "s", 1.0, 1.0)]
    _, message = compared(tmp_path, [new[0], Record("b", 20, "s", 1.0)], new)
    assert "2 of 3 measurements have no counterpart before." in message


def test_growth_is_the_exponent_of_size(tmp_path: Path) -> None:
    records = [Record("a", size, "s", 3e-4 * size**1.5) for size in (20_000, 200_000, 1_000_000)]
    grown = growth([*records, Record("once", 20_000, "s", 1.0)])
    assert grown == {("a", "s"): pytest.approx(1.5)}
    assert "grows as answers to the power of 1.50" in compared(tmp_path, records, records)[1]
