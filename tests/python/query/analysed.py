"""Rows of analyses, and assertions about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biasledger.querying.analyses import read_sql
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement

Row = dict[str, Any]


def run(warehouse: Path, source: str) -> list[Row]:
    with locked_warehouse(warehouse) as connection:
        result = run_statement(connection, read_sql(source))
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def categories(rows: list[Row]) -> None:
    assert rows[0]["smallest_p_value"] < 0.05
    assert {(row["attribute_x"], row["attribute_y"]) for row in rows} == {
        ("race", "gender"),
        ("first_relationship", "second_relationship"),
    }


def regard(rows: list[Row]) -> None:
    black, white = rows
    assert (black["group_name"], white["group_name"]) == ("Black", "White")
    assert (black["share_negative"], white["share_negative"]) == (0.8, 0.2)
    assert black["more_negative_by"] == pytest.approx(0.6)
    assert black["p_value"] < 0.05


def regard_by_formulas(rows: list[Row]) -> None:
    """Labels of people: of five texts about each person four are negative, or one."""
    black, white = (row for row in rows if row["audit"] == "regarded")
    assert [row["fraction"] for row in (black, white)] == [0.8, 0.2]
    assert {row[name] for row in (black, white) for name in ("expected_maximum", "probability")} == {1.0}
    assert black["weak_bias"] == pytest.approx(0.6)
    assert black["strict_bias"] == pytest.approx(0.6)
    assert (white["weak_bias"], white["strict_bias"]) == (None, None)
