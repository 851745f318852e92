"""Test that loading a journal needs bounded memory and takes texts of any length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collector.asking.costs import CostMeter
from collector.asking.runner import CollectOptions, collect
from collector.errors import LedgerError
from collector.ledger import database, loading
from collector.ledger.database import Ledger
from collector.ledger.loading import JournalLoader, load_journal
from collector.rows import ResponseRow
from collector.spec.loading import load_audit
from collector.targets.base import Reply, Request
from tests.python.collector.scripted import Query, Scripted
from tests.python.collector.test_loading import answered, begin

# Row groups of raw.responses.
ROW_GROUPS = "select count(distinct row_group_id) from pragma_storage_info('raw.responses')"


def test_a_text_larger_than_the_bound_is_written(
    small_spec: Path, ledger_path: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MEMORY_BYTES", 10_000_000)
    text = '{"Tea": "' + "warm " * 1_000_000 + '"}'  # 5 MB, three times a row

    def answer(request: Request) -> Reply:
        return Reply(text if request.trial == 1 else '{"Tea": "Warm."}', text, "stop")

    target = Scripted(answer)
    collect(
        load_audit(small_spec),
        target,
        ledger_path,
        CollectOptions(show_progress=False, meter=CostMeter(None)),
    )
    assert query("select count(*), min(length(raw_body)), max(length(response_text)) from raw.responses") == [
        (8, len(text), len(text))
    ]


def long_answers(first: int, n: int, length: int) -> list[ResponseRow]:
    text = "warm " * (length // 5)
    return [replace(one, response_text=text, answer_text=text, raw_body=text) for one in answered(first, n)]


@pytest.mark.slow
def test_any_number_of_long_answers_are_written(
    ledger: Ledger, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint that writes them together with those of before would need memory for all of them."""
    monkeypatch.setattr(loading, "MEMORY_BYTES", 8_000_000)
    monkeypatch.setattr(loading, "BATCH_BYTES", 2_000_000)
    with begin(ledger.path) as writer:
        writer.append(long_answers(1, 80, 250_000))
        assert load_journal(writer.path, ledger) == 85
        assert query(
            "select count(*), min(length(raw_body)), min(length(answer_text)) from raw.responses"
        ) == [(80, 250_000, 250_000)]
        assert query(ROW_GROUPS)[0][0] >= 20
        # Later answers, short or long, do not rewrite the row groups either.
        writer.append(answered(81, 3))
        assert load_journal(writer.path, ledger) == 3
        assert query(ROW_GROUPS)[0][0] >= 21


def test_short_answers_are_written_together(ledger: Ledger, query: Query) -> None:
    with begin(ledger.path) as writer:
        for first in range(1, 41, 10):
            writer.append(answered(first, 10))
            assert load_journal(writer.path, ledger) >= 10
    assert query(ROW_GROUPS) == [(1,)]


def test_large_row_groups_are_left_as_they_are(
    ledger: Ledger, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing all of them anew for a few answers would take memory and time, and more of both the more there are."""
    monkeypatch.setattr(database, "MERGED_GROUP_BYTES", 30_000)
    with begin(ledger.path) as writer:
        loader = JournalLoader(writer.path, ledger)
        for first in range(1, 31, 10):
            writer.append(long_answers(first, 10, 500))
            loader.load()
        # Two together are large.
        assert query(ROW_GROUPS) == [(2,)]
        assert loader.leaves_row_groups
        monkeypatch.setattr(database, "_merged_bytes", None)
        writer.append(answered(31, 3))
        assert loader.load() == 3
    assert query(ROW_GROUPS) == [(3,)]


def test_a_ledger_that_needs_more_memory_than_there_is_says_so(ledger: Ledger, query: Query) -> None:

    def write() -> None:
        with ledger.append() as append:
            append.limit_memory(8_000_000)
            append.responses("run", long_answers(1, 20, 1_000_000))

    with pytest.raises(LedgerError, match=r"ledger\.duckdb .*put that right and try again\.$"):
        write()
    assert query("select count(*) from raw.responses") == [(0,)]
