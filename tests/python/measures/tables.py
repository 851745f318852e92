"""What tables of measures have in common."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from biasledger.measures.schema import LISTS


def assert_typed(frame: pd.DataFrame, table: Callable[..., pd.DataFrame]) -> None:
    """The same columns and types as when there is nothing to compare; of columns that pandas has no type for it is told."""
    empty = table([])
    assert empty.empty
    pd.testing.assert_series_equal(frame.dtypes, empty.dtypes)
    assert set(empty.dtypes[empty.dtypes == "object"].index) == set(empty.attrs[LISTS])
