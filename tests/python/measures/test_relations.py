"""Test that rows are read for the requested keys only, in order."""

from __future__ import annotations

import duckdb
import pytest

from biasledger.model_inputs.relations import RowsByKey, keys_of


@pytest.fixture
def rows() -> duckdb.DuckDBPyRelation:
    """Rows of three keys, out of order; reading the value of the second one fails."""
    return duckdb.connect().sql(
        "select key, n, if(key = 'b''', error('it was read'), n) as value "
        "from (values ('c', 2), ('a', 1), ('b''', 1), ('c', 1)) as rows (key, n)"
    )


def test_only_keys_that_are_asked_for_are_read(rows: duckdb.DuckDBPyRelation) -> None:
    by_key = RowsByKey(rows, "key", "n", of={"a", "c", "of no row"})
    assert by_key["c"]["value"].tolist() == [1, 2]
    assert by_key["a"]["value"].tolist() == [1]
    assert by_key["of no row"]["value"].tolist() == []
    assert [key for key, _ in by_key] == ["a", "c"]
    with pytest.raises(duckdb.InvalidInputException, match="it was read"):
        RowsByKey(rows, "key", of={"b'"})["b'"]
    with pytest.raises(duckdb.InvalidInputException, match="it was read"):
        RowsByKey(rows, "key", of=None)["a"]


def test_where_no_key_is_asked_for_nothing_is_read(rows: duckdb.DuckDBPyRelation) -> None:
    assert list(RowsByKey(rows, "key", of=frozenset())) == []


def test_keys_of_records_are_read_once_and_none_is_no_key() -> None:
    records = [{"comparison_key": "x", "other": None}, {"comparison_key": "x", "other": "y"}]
    assert keys_of(records) == {"x"}
    assert keys_of(records, "other") == {"y"}
