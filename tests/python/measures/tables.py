"""Assertions that the tests of the measures' tables share."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from biasledger.measures.schema import Table


def assert_typed(frame: pd.DataFrame, table: Callable[..., Table]) -> None:
    """The same columns and types as when there is nothing to compare; no column without a type of its own."""
    assert len(table([])) == 0
    empty = table([]).to_pandas()
    pd.testing.assert_series_equal(frame.dtypes, empty.dtypes)
    assert "object" not in set(empty.dtypes.astype(str))
