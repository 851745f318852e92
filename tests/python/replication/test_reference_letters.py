"""Test 120 reference letters: counts, odds ratios and tokens of the reference script, by whole word and by prefix."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from .conftest import data_folder


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("reference-letters") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("reference-letters")


@pytest.mark.slow
def test_counts_and_odds_ratios(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    rows = warehouse.execute(
        "select list, n_reference, n_marked, 1 / odds_ratio, n_tokens_reference, n_tokens_marked from marts.fct_marker_contrasts"
        " where scheme = 'substring' and reference_group = 'male'"
    ).fetchall()
    ours = {name: (male, female, odds_ratio) for name, male, female, odds_ratio, *_ in rows}
    expected = reference["reference_script_substring_counts"]
    assert ours.keys() == expected.keys()
    for name, one in expected.items():
        assert ours[name][:2] == (one["male"], one["female"])
        assert ours[name][2] == pytest.approx(one["odds_ratio_male_over_female"], rel=1e-12)
    tokens = reference["tokens"]
    assert {tuple(row[4:]) for row in rows} == {(tokens["male"], tokens["female"])}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "listed"), [("word", "seed001_whole_word"), ("declared", "seed001_prefix")]
)
def test_ratios(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], scheme: str, listed: str
) -> None:
    rows = warehouse.execute(
        "select group_name, published_ratio, n_past_threshold, n_none, n_texts from marts.fct_stereotype_rates"
        " where scheme = ? and attribute = 'gender' and probe = '(all)'",
        [scheme],
    ).fetchall()
    assert len(rows) == 2
    for group, ratio, *counts in rows:
        one = reference[listed][group]
        assert ratio == pytest.approx(one["mean_stereotype_ratio"], abs=1e-6)
        assert counts == [one["texts_over_0.7"], one["texts_with_no_marker"], one["n"]]


@pytest.mark.slow
def test_nothing_is_shown_by_120_letters(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute("select measure, status from marts.fct_findings order by all").fetchall()
    assert rows == [("marker_association", "inconclusive"), ("stereotype_gap", "inconclusive")]
