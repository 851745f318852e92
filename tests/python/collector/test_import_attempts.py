"""Test imported attempts at a question: they are kept like those of a collected run, and are no trials of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.ledger.summary import RunSummary
from tests.python.collector.importing import ANSWERS, Bring, Query

AUDIT = """
audit: again
attributes: {g: {reference: man, groups: [man, woman]}}
answer: {kind: label, labels: [reject, accept]}
import: {columns: {text: answer, subject: n, attempt: attempt, attributes: {g: g}}}
"""
SORRY = "I'm sorry but I can't help with that."
WITH_TRIAL = ("attempt: attempt", "attempt: attempt, trial: trial")


@pytest.fixture
def bring(bring_as: Bring, tmp_path: Path) -> Bring:
    def run(rows: Sequence[str], *changes: tuple[str, str]) -> RunSummary:
        file = tmp_path / "rows.csv"
        file.write_text("\n".join(["n,g,answer,attempt,trial", *rows, ""]), encoding="utf-8")
        return bring_as(AUDIT, file, *changes)

    return run


KEPT = f"select subject, trial, attempt, status, answer_text from {ANSWERS} order by all"


def test_attempts_are_kept_as_those_of_collected_runs(bring: Bring, query: Query) -> None:
    rows = [
        "1,man,accept,1,",
        f"1,woman,{SORRY},1,",
        f"1,woman,{SORRY},2,",
        "1,woman,accept,3,",
        "2,man,reject,1,",
        f"2,woman,{SORRY},1,",
        "2,woman,perhaps,2,",
        "2,woman,reject,1,",
    ]
    summary = bring(rows)
    assert (summary.n_responses, summary.n_attempts) == (5, 8)
    assert summary.counts == {"ok": 4, "unread": 1}
    assert summary.asked_again == "2 asked again: 2 woman"
    assert query(KEPT) == [
        ("1", 1, 1, "ok", "accept"),
        ("1", 1, 1, "refused", None),
        ("1", 1, 2, "refused", None),
        ("1", 1, 3, "ok", "accept"),
        ("2", 1, 1, "ok", "reject"),
        ("2", 1, 1, "refused", None),
        ("2", 1, 2, "unread", None),
        ("2", 2, 1, "ok", "reject"),
    ]


def test_a_column_of_trials_tells_attempts_apart_in_any_order(bring: Bring, query: Query) -> None:
    rows = ["1,man,accept,2,7", "1,man,reject,1,8", f"1,man,{SORRY},1,7", "1,woman,accept,1,7"]
    summary = bring(rows, WITH_TRIAL)
    assert (summary.n_responses, summary.asked_again) == (3, "1 asked again: 1 man")
    assert [row[1:4] for row in query(KEPT)] == [(7, 1, "ok"), (7, 1, "refused"), (7, 2, "ok"), (8, 1, "ok")]


@pytest.mark.parametrize(("rows", "changes", "message"), [
    (["1,man,accept,0,1"], [], "row 1 has '0' as 'attempt'; attempt should be a whole number from 1"),
    (["1,man,accept,,1"], [], "row 1 has nothing as 'attempt'; attempt should be a whole number from 1"),
    (["1,man,accept,2,1"], [], "row 1 has 2 as 'attempt', and does not follow attempt 1 at the same question"),
    (["1,man,accept,1,1", "1,man,accept,3,1"], [], "row 2 has 3 as 'attempt', and does not follow attempt 2"),
    # Several trials could be meant.
    (["1,man,accept,1,1", "1,man,accept,1,2", "1,woman,accept,1,1", "1,man,accept,2,1"], [],
     "follow attempt 1 at the same question; name the column that numbers the repetitions of a question as import.column"),
    (["1,man,accept,1,1", "1,man,accept,3,1"], [WITH_TRIAL],
     "row 2 has 3 as 'attempt', and an earlier attempt at the same question is missing"),
    (["1,man,accept,1,1", "1,man,accept,1,1"], [WITH_TRIAL],
     "rows 1 and 2 are both trial 1 of the same prompt; each 'trial' and 'attempt' of a prompt may occur once"),
])  # fmt: skip
def test_attempts_that_do_not_add_up_are_refused(
    bring: Bring, rows: list[str], changes: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(InputError) as error:
        bring(rows, *changes)
    assert message in str(error.value)


def test_retries_of_one_trial_need_not_stand_together(bring: Bring) -> None:
    rows = [f"1,man,{SORRY},1,", "1,woman,accept,1,", "1,man,accept,2,"]
    assert bring(rows).counts == {"ok": 2}
