"""Test that a baseline's file is read exactly as it was exported, and that a damaged one never reaches the ledger."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasledger.comparing.baseline_file import read_baseline, write_baseline
from biasledger.comparing.baseline_rows import parts
from collector.errors import InputError
from collector.hashing import canonical_json
from collector.rows import hash_of_baseline

MODELS = Path(__file__).parents[3] / "models"
MANIFEST = {
    "audit": "products",
    "target": "robot",
    "run_id": "run-1",
    "spec": {"audit": "products"},
    "spec_hash": "sha256:1",
    "analysis_hash": "sha256:2",
    "engine_version": "3",
}
SAMPLES = {
    "varchar": "x",
    "double": 0.5,
    "bigint": 3,
    "integer": 3,
    "tinyint": 1,
    "boolean": True,
    "integer[]": [0, 1],
    "double[]": [1.0, 2],
}
FINDING = {column: SAMPLES[kind] for column, kind in parts()["finding"].columns.items()} | {"run_id": "run-1"}


def exported(path: Path) -> Path:
    rows = [
        (
            name,
            json.dumps(
                {column: SAMPLES[kind] for column, kind in part.columns.items()} | {"run_id": "run-1"}
            ),
        )
        for name, part in parts().items()
    ]
    assert write_baseline(path, dict(MANIFEST), rows) == len(parts())
    return path


def changed(path: Path, change: Callable[[list[str]], None], *, seal: bool = False) -> Path:
    """Return the file with other lines, sealed again by an attacker who knows the format."""
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    change(lines)
    if seal:
        head = json.loads(lines[0])
        head.pop("content_hash")
        lines[0] = canonical_json({**head, "content_hash": hash_of_baseline(head, lines[1:-1])})
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    content = read_baseline(exported(tmp_path / "b"))
    assert content.manifest.items() >= MANIFEST.items()
    assert [part for part, _ in content.rows] == list(parts())


@pytest.mark.parametrize("name", [*MANIFEST, "n_rows", "content_hash", "version"])
def test_a_changed_first_line_is_refused(tmp_path: Path, name: str) -> None:
    def change(lines: list[str]) -> None:
        lines[0] = canonical_json({**json.loads(lines[0]), name: "other"})

    with pytest.raises(InputError, match=r"was changed or cut off|format version 'other'"):
        read_baseline(changed(exported(tmp_path / "b"), change))


@pytest.mark.parametrize("name", [*MANIFEST, "n_rows"])
@pytest.mark.parametrize("value", [None, ["x"], True])
def test_a_first_line_of_other_types_is_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    def change(lines: list[str]) -> None:
        lines[0] = canonical_json({**json.loads(lines[0]), name: value})

    with pytest.raises(InputError, match=f"its first line should have .* as '{name}'"):
        read_baseline(changed(exported(tmp_path / "b"), change, seal=True))


def test_rows_that_are_cut_off_or_not_counted_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was changed or cut off"):
        read_baseline(changed(exported(tmp_path / "b"), lambda lines: lines.pop(1) and None))
    with pytest.raises(InputError, match="has 7 rows, and its first line says 8"):
        read_baseline(changed(exported(tmp_path / "b"), lambda lines: lines.pop(1) and None, seal=True))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"x": 1}', "is no row of a baseline"),
        ('{"x":', "is no row of a baseline"),
        ("[" * 100_000, "is no row of a baseline"),
        ('{"part": "finding", "row": {"value": NaN}}', "is no row of a baseline"),
        ('{"part": "secret", "row": {}}', "is of the part 'secret'; it should be one of finding"),
        ('{"part": "finding", "row": []}', "is no object"),
        ({"value": "' or 1=1"}, "has \"' or 1=1\" as 'value'; it should be a number or null"),
        ({"value": True}, "has True as 'value'; it should be a number or null"),
        ({"n_units": 1.5}, "has 1.5 as 'n_units'; it should be a whole number or null"),
        ({"n_units": 1 << 63}, f"has {1 << 63} as 'n_units'; it should be a whole number or null"),
        ({"measure": 3}, "has 3 as 'measure'; it should be a text or null"),
        ({"run_id": "run-2"}, "has 'run-2' as 'run_id'; it should be the baseline's, 'run-1'"),
    ],
)
def test_a_row_that_a_build_would_break_on_is_named(
    tmp_path: Path, row: str | dict[str, Any], message: str
) -> None:
    text = row if isinstance(row, str) else json.dumps({"part": "finding", "row": {**FINDING, **row}})

    def change(lines: list[str]) -> None:
        lines[3] = text

    with pytest.raises(InputError, match=re.escape(f"b: row 4 {message}")):
        read_baseline(changed(exported(tmp_path / "b"), change, seal=True))


def test_columns_are_those_that_the_models_read() -> None:
    calls: dict[str, dict[str, str]] = {}
    for path in MODELS.rglob("*.sql"):
        for part, fields in re.findall(r'imported_rows\("(\w+)", (\{.*?\})\)', path.read_text(), re.DOTALL):
            calls[part] = json.loads(re.sub(r",\s*\}", "}", fields))
    assert calls == {name: part.columns for name, part in parts().items()}
