"""Marks of results that promptfoo writes into the cells of its CSV files: `[PASS] …`, `[FAIL] reason`, `---`, `…`.

They are no words of the answer. A file whose cells have them is read without them, and a spec can name the columns
`output:mark` (pass, fail or error) and `output:mark_reason` of a column `output`. `[ERROR] …` stays: it is an error message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

MARK, REASON = ":mark", ":mark_reason"
# The number of rows that decide whether cells are marked, and the share of them that has to be.
SAMPLED_ROWS = 2_000
LEAST_SHARE = 0.8
LEAST_ROWS = 3
_IS_MARKED = r"'^\[(PASS|FAIL|ERROR)\]'"
_REASON = r"'^\[FAIL\]\s*(.*?)\r?\n---\r?\n\s*'"


def marked_column(column: str) -> str:
    """Return the column whose marks a column holds: `output` of `output:mark`; any other column itself."""
    return column.removesuffix(REASON).removesuffix(MARK)


def without_marks(
    connection: duckdb.DuckDBPyConnection, relation: str, cells: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Separate marks from the cells of the columns that have them.

    Args:
        connection: where the relation can be read.
        relation: the file, as SQL.
        cells: column -> its cell, as SQL.

    Returns:
        Column -> its cell without marks, with the columns of marks and their reasons; and a sentence for each marked column.
    """
    counted = ", ".join(
        f"count(*) filter (regexp_matches({cell}, {_IS_MARKED})), count({cell})" for cell in cells.values()
    )
    sampled = f"(select * from {relation} limit {SAMPLED_ROWS})"
    counts = connection.execute(f"select {counted} from {sampled}").fetchall()[0] if cells else ()
    separated: dict[str, str] = {}
    notes: list[str] = []
    for (column, cell), n_marked, n in zip(cells.items(), counts[::2], counts[1::2], strict=True):
        is_marked = n_marked >= max(LEAST_ROWS, LEAST_SHARE * n)
        mark = f"nullif(lower(regexp_extract({cell}, {_IS_MARKED}, 1)), '')"
        reason = f"nullif(regexp_extract({cell}, {_REASON}, 1, 's'), '')"
        separated[f"{column}{MARK}"] = mark
        separated[f"{column}{REASON}"] = reason
        if not is_marked:
            separated[column] = cell
            continue
        failed = f"regexp_replace(regexp_replace({cell}, {_REASON}, '', 's'), '^\\[FAIL\\]\\s*', '')"
        passed = f"regexp_replace({cell}, '^\\[PASS\\]\\s*', '')"
        separated[column] = (
            f"case when {mark} = 'fail' then {failed} when {mark} = 'pass' then {passed} else {cell} end"
        )
        notes.append(
            f"The cells of {column!r} begin with [PASS], [FAIL] or [ERROR]: these marks and their reasons are no words of the "
            f"answer. They are the columns '{column}{MARK}' and '{column}{REASON}'."
        )
    return separated, notes
