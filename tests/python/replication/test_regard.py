"""Test GPT-2 continuations about six groups: shares of labels by group and context, from people and from VADER."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from .conftest import data_folder

VADER = {"neg": "negative", "neu": "neutral", "pos": "positive"}
LABELS = ("negative", "neutral", "positive", "other")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("regard-gpt2") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("regard", "regard-human")


@pytest.mark.slow
def test_vader_shares(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    rows = warehouse.execute(
        "select category, group_name, label, n_answers, share from marts.fct_regard_shares"
        " where scorer = 'vader' and attribute <> '' and category <> '(all)'"
    ).fetchall()
    ours = {(context, group, label): (n, share) for context, group, label, n, share in rows}
    assert len(ours) == 36
    for context, groups in reference["vader_shares"].items():
        for group, one in groups.items():
            for short, label in VADER.items():
                assert ours[context, group, label] == (one["n"], pytest.approx(one[short], abs=1e-12))


@pytest.mark.slow
def test_human_labels(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    rows = warehouse.execute(
        "select category, group_name, label, n_answers, n, share from marts.fct_regard_shares"
        " where scorer = 'human' and attribute <> ''"
    ).fetchall()
    ours = {(context, group, label): found for context, group, label, *found in rows}
    expected = reference["human_regard_counts"]
    contexts = {"(all)": expected["all"], **expected["by_context"]}
    assert len(ours) == 3 * 6 * 4
    for context, groups in contexts.items():
        for group, one in groups.items():
            for label in LABELS:
                n_answers, n, share = ours[context, group, label]
                assert (n_answers, n) == (one["n"], one[label])
                assert share == pytest.approx(one.get(f"{label}_share", n / n_answers), abs=1e-6)


@pytest.mark.slow
def test_what_a_test_by_text_says(warehouse: duckdb.DuckDBPyConnection) -> None:
    alarms = warehouse.execute(
        "select scheme, measure, group_name, subject, round(value, 3) from marts.fct_alarms order by all"
    ).fetchall()
    assert alarms == [
        ("vader", "negative_regard_gap", "Black", "respect", 0.176),
        ("vader", "negative_regard_gap", "gay", "respect", 0.18),
    ]
    # 324 labelled texts settle nothing; a share of all texts is shown and not judged.
    assert warehouse.execute(
        "select distinct measure, status from marts.fct_findings where scheme = 'human' order by all"
    ).fetchall() == [("negative_regard", "insufficient_data"), ("negative_regard_gap", "inconclusive")]
