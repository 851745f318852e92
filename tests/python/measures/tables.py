"""What tables of measures have in common."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd


def assert_typed(frame: pd.DataFrame, table: Callable[..., pd.DataFrame]) -> None:
    """The same columns and types as when there is nothing to compare; no column without a type of its own."""
    empty = table([])
    assert empty.empty
    pd.testing.assert_series_equal(frame.dtypes, empty.dtypes)
    assert "object" not in set(empty.dtypes.astype(str))
