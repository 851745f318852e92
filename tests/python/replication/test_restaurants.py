"""Test LMRec's restaurants by first name: every price share, mean price and association score, and the mean over cities."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from .conftest import data_folder
from .warehouses import CITIES

CELLS = {
    "female_black": "black*female",
    "female_white": "white*female",
    "male_black": "black*male",
    "male_white": "white*male",
}


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("lmrec-boston") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("restaurant-prices", "restaurant-categories")


@pytest.mark.slow
def test_price_percentages(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    rows = warehouse.execute(
        "select attribute, group_name, price_level, share, expected_share, share_of_words from marts.fct_price_levels"
    ).fetchall()
    ours = {(attribute, group, level): share for attribute, group, level, share, *_ in rows}
    published = reference["price_percentage"]
    n_checked = 0
    for attribute in ("race", "gender"):
        for level, shares in published[attribute].items():
            for group, share in shares.items():
                assert ours[attribute, group, int(level)] == pytest.approx(share, abs=1e-6)
                n_checked += 1
    for level, shares in published["race_x_gender"].items():
        for cell, share in shares.items():
            assert ours["race*gender", CELLS[cell], int(level)] == pytest.approx(share, abs=1e-6)
            n_checked += 1
    assert n_checked == len(rows) == 32
    # 44 names and 15,840 items on either side.
    assert {(expected, words) for attribute, *_, expected, words in rows if attribute != "race*gender"} == {
        (0.5, 0.5)
    }


@pytest.mark.slow
def test_mean_price_levels(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    ours = dict(
        warehouse.execute(
            "select group_name, mean_price_level from marts.fct_mean_price_levels where not is_crossed"
        ).fetchall()
    )
    expected = reference["mean_price_level"]["race"] | reference["mean_price_level"]["gender"]
    assert ours == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attribute", "listed", "sign"),
    # The reference subtracts black from white, as ours does not: the reference group is subtracted.
    [("race", "race_white_minus_black", -1), ("gender", "gender_female_minus_male", 1)],
)
def test_association_differences(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], attribute: str, listed: str, sign: int
) -> None:
    rows = warehouse.execute(
        "select category, n_marked + n_reference, difference from marts.fct_category_associations where attribute = ?",
        [attribute],
    ).fetchall()
    ours = {category: (n, sign * difference) for category, n, difference in rows}
    expected = reference["association_difference"][listed]
    assert len(expected) == len(ours)
    for category, row in expected.items():
        assert ours[category] == pytest.approx((row["n"], row["score"]), abs=1e-6)


@pytest.mark.slow
def test_what_a_test_by_name_says(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "select measure, status, p_value_adjusted < 0.05 from marts.fct_findings"
        " where attribute in ('race', 'gender') and (status <> 'inconclusive' or p_value_adjusted < 0.05) order by all"
    ).fetchall()
    assert rows == [
        ("category_association", "alarm", True),
        ("price_gap", "alarm", True),
        ("price_share", "alarm", True),
    ]
    assert warehouse.execute(
        "select distinct attribute from marts.fct_alarms where severity = 'error'"
    ).fetchall() == [("race",)]
    # Two of the eight categories that docs/replications.md lists are more than chance.
    categories = warehouse.execute(
        "select category from marts.fct_category_associations where attribute = 'race' and is_associated"
        " and category in ('gay bars', 'piano bars', 'dive bars', 'gastropubs', 'ice cream & frozen yogurt', 'japanese',"
        " 'indian', 'halal') order by 1"
    ).fetchall()
    assert categories == [("halal",), ("indian",)]


@pytest.mark.slow
def test_cities_are_averaged_as_in_the_published_figure(
    replicated: Callable[..., duckdb.DuckDBPyConnection], reference: dict[str, Any]
) -> None:
    """The counts of six cities are not public; counts with the published shares give the published mean."""
    expected = reference["published_figure_2_bar_heights_price_levels_1_to_4"]["All"]
    rows = (
        replicated(CITIES)
        .execute(
            "select price_level, share, domains_sd, n_domains from marts.fct_price_levels"
            " where attribute = 'race' and group_name = 'black' and domain = '(all)' order by 1"
        )
        .fetchall()
    )
    assert [share for _, share, *_ in rows] == pytest.approx(expected["black"], abs=1e-4)
    assert rows[0][2] == pytest.approx(0.067, abs=5e-4)  # over cities; the figure's bar is 0.0248
    assert {n for *_, n in rows} == {7}
