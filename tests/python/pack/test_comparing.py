"""Test when figures that were computed twice count as the same."""

from __future__ import annotations

import pytest

from biasledger.packing.rebuilding import _differences, _different_rows, same_text, same_value

FINDING = {
    "finding_id": "f",
    "measure": "gap",
    "attribute": "race",
    "group_name": "Black",
    "reference_group": "White",
    "status": "alarm",
    "is_current": "True",
}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.1", "0.1000000001", True),
        ("0.1", "0.1001", False),
        ("", "0.1", False),
        ("", "", True),
        ("nan", "nan", True),
        ("White", "Black", False),
    ],
)
def test_cells(one: str, other: str, same: bool) -> None:
    assert same_value(one, other) is same


def test_texts_may_differ_in_the_last_digits_alone() -> None:
    assert same_text(b"at 0.12345678901 of 3", b"at 0.12345678902 of 3")
    assert not same_text(b"at 0.123 of 3", b"at 0.124 of 3")
    assert not same_text(b"3 alarms", b"3 alarm")
    assert not same_text(b"3", b"\xff")
    assert not same_text(b"<h1>All clear</h1>", b"<h1>3 alarms</h1>")


def test_a_column_left_out_or_put_in_is_a_difference() -> None:
    assert not list(_differences([FINDING], [{**FINDING, "is_current": "False"}]))
    fewer = {name: cell for name, cell in FINDING.items() if name != "status"}
    assert "status None and now 'alarm'" in next(_differences([fewer], [FINDING]))
    assert "status 'alarm' and now None" in next(_differences([FINDING], [fewer]))
    assert next(_differences([FINDING, FINDING], [FINDING])).startswith("Two findings")


def test_rows_of_other_tables_are_compared_in_their_order() -> None:
    rows = [{"group_name": "Black", "n": "3"}, {"group_name": "White", "n": "4"}]
    assert not list(_different_rows(rows, [dict(row) for row in rows]))
    assert list(_different_rows(rows, rows[:1])) == ["It has 2 rows in the pack, and 1 come out."]
    assert list(_different_rows(rows, [rows[0], {**rows[1], "n": "5"}])) == [
        "Row 3 differs: in the pack n '4' and now '5'."
    ]
