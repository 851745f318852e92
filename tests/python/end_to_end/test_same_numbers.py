"""Test that the same data give the same numbers, with any row order, number of threads or other runs in the ledger."""

from __future__ import annotations

import pandas as pd

from tests.python.project import Project

NUMBERS = """
    select * exclude (finding_id, contrast_id, run_id, target, is_current)
    from marts.fct_findings where run_id = '{run_id}'
    order by mitigation, measure, attribute, group_name
"""
WORDS = "select * exclude (contrast_id, run_id) from marts.fct_marked_words where run_id = '{run_id}' order by all"


def _runs(project: Project) -> list[str]:
    """The runs of the texts, in the order in which they were imported."""
    rows = project.rows("select run_id from marts.dim_runs where audit = 'texts' order by started_at")
    return [run_id for (run_id,) in rows]


def test_row_order_threads_and_other_runs(alone: Project, odd: Project) -> None:
    """`alone` was built with one thread; `odd` holds the run and its rows in another order among many other runs."""
    (run_id,) = _runs(alone)
    numbers, words = (alone.query(sql.format(run_id=run_id)) for sql in (NUMBERS, WORDS))
    assert len(numbers) == 12  # four measures of three contrasts
    assert len(words) > 100
    same, shuffled = _runs(odd)
    for other in (same, shuffled):
        pd.testing.assert_frame_equal(odd.query(NUMBERS.format(run_id=other)), numbers, check_exact=True)
        pd.testing.assert_frame_equal(odd.query(WORDS.format(run_id=other)), words, check_exact=True)
