"""Test that each missing response of a journal is loaded into the ledger once, in any order and by any process."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from biasledger.verify import verify_ledger
from collector.errors import LedgerError
from collector.journal.reader import journal_path
from collector.journal.records import AnalysisSettings
from collector.journal.writer import JournalWriter
from collector.ledger import loading
from collector.ledger.database import Ledger
from collector.ledger.loading import JournalLoader, load_all, load_journal, read_head
from collector.ledger.overview import list_runs
from collector.rows import RelevanceRow, ResponseRow, utc_now
from collector.spec.prompts import Prompt, PromptAttribute
from collector.spec.subjects import hash_of_relevance
from tests.python.collector.scripted import Query
from tests.python.rows import a_run

PROMPTS = [
    Prompt("one", "en", "plain", f"Ask {name}", attributes=(PromptAttribute(1, "race", name, f"a {name}"),))
    for name in ("White", "Asian")
]


def begin(
    ledger_path: Path,
    run_id: str = "run-1",
    *,
    analysis: int = 1,
    minutes: int = 0,
    ledger_name: str | None = None,
) -> JournalWriter:
    started_at = utc_now() - timedelta(minutes=minutes)
    run = a_run(run_id, model_asked="m", started_at=started_at)
    started = {
        "ledger": ledger_name or ledger_path.name,
        "prompts": 2,
        "planned": 20_000,
        "trials_of": {"one": 10_000},
        "seed": 0,
    }
    relevance = (RelevanceRow("Adele", None, "Hello", 2.0),)
    said = AnalysisSettings(
        "small", {"version": analysis}, started_at, hash_of_relevance(relevance), relevance
    )
    return JournalWriter.create(journal_path(ledger_path, run_id), run, said, PROMPTS, started)


def answered(first: int, n: int) -> list[ResponseRow]:
    return [
        ResponseRow(
            prompt_id=PROMPTS[0].prompt_id,
            trial=trial,
            attempt=1,
            seq=0,
            status="ok",
            content_hash="sha256:1",
            response_text=f"nul \x00 bell \x07 🍵 {trial}".replace("\x00", "�"),
            latency_ms=1.5,
            requested_at=utc_now(),
        )
        for trial in range(first, first + n)
    ]


def test_only_what_is_lacking_is_written(ledger: Ledger, query: Query) -> None:
    with begin(ledger.path) as writer:
        writer.append(answered(1, 3))
        assert load_journal(writer.path, ledger) == 8
        assert load_journal(writer.path, ledger) == 0
        writer.append(answered(4, 2))
        writer.event("finished", {"responses": 5})
        assert load_journal(writer.path, ledger) == 3
        seal = writer.seal
    assert query("select trial, seq, response_text from raw.responses order by seq") == [
        (trial, trial, f"nul � bell \x07 🍵 {trial}") for trial in range(1, 6)
    ]
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("finished",)]
    for table, n in {
        "runs": 1,
        "analysis_settings": 1,
        "relevance": 1,
        "prompts": 2,
        "prompt_attributes": 2,
    }.items():
        assert query(f"select count(*) from raw.{table}") == [(n,)]
    assert query("select count(*), max(position), count(distinct hash) from raw.chain") == [(11, 10, 11)]
    assert query("select n_records, head_hash from raw.seals order by n_records desc limit 1") == [
        (seal.count, seal.head_hash)
    ]


def test_long_journals_go_in_by_pieces(ledger: Ledger, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "BATCH_RECORDS", 100)
    opened = []
    append = ledger.append
    monkeypatch.setattr(ledger, "append", lambda **options: opened.append(1) or append(**options))
    with begin(ledger.path) as writer:
        writer.append(answered(1, 995))
        assert load_journal(writer.path, ledger) == 1000
    assert 10 <= len(opened) <= 11
    assert query("select count(*), count(distinct seq), max(seq) from raw.responses") == [(995, 995, 995)]
    assert query("select max(n_records) from raw.seals") == [(1000,)]


def test_two_that_load_at_once_write_everything_once(ledger_path: Path, query: Query) -> None:
    Ledger(ledger_path).create()
    with begin(ledger_path) as writer:
        writer.append(answered(1, 50))
        loaders = [JournalLoader(writer.path, Ledger(ledger_path)) for _ in range(2)]
        written = []

        def load(loader: JournalLoader) -> None:
            written.append(loader.load())

        for first in (51, 101):
            writer.append(answered(first, 50))
            threads = [threading.Thread(target=load, args=(loader,)) for loader in loaders]
            for thread in threads:
                thread.start()
                thread.join()
    assert sum(written) == 155
    assert query("select count(*), count(distinct seq) from raw.responses") == [(150, 150)]


def test_nothing_is_half_written(ledger: Ledger, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    with begin(ledger.path) as writer:
        writer.append(answered(1, 5))
        with monkeypatch.context() as patched:
            patched.setattr(loading, "record_key", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                load_journal(writer.path, ledger)
        assert query("select count(*) from raw.runs") == [(0,)]
        assert query("select count(*) from raw.responses") == [(0,)]
        assert load_journal(writer.path, ledger) == 10


def test_a_ledger_that_holds_something_else_is_not_touched(ledger: Ledger, query: Query) -> None:
    with begin(ledger.path) as writer:
        writer.append(answered(1, 5))
        load_journal(writer.path, ledger)
    whole = writer.path.read_bytes()
    # A journal that lost its tail after it was loaded.
    writer.path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]))
    with pytest.raises(LedgerError, match=r"records of run run-1 are not those of .*run-1\.jsonl"):
        load_journal(writer.path, ledger)
    (sentence,) = load_all(ledger.path)
    assert "biasledger verify run-1" in sentence
    # One that was made anew with other answers.
    writer.path.unlink()
    with begin(ledger.path) as writer:
        writer.append(answered(7, 9))
    with pytest.raises(LedgerError, match="are not those of"):
        load_journal(writer.path, ledger)
    assert query("select min(trial), max(trial) from raw.responses") == [(1, 5)]


def test_all_journals_make_a_ledger(ledger_path: Path, query: Query) -> None:
    for name, minutes, analysis in (("a", 10, 2), ("b", 30, 1), ("c", 20, 1)):
        with begin(ledger_path, name, minutes=minutes, analysis=analysis) as writer:
            writer.append(answered(1, 4))
    with begin(ledger_path, "other", ledger_name="another.duckdb") as writer:
        writer.append(answered(1, 4))
    assert not ledger_path.exists()
    assert load_all(ledger_path) == [f"Run {name}: 9 records loaded from its journal." for name in "bca"]
    assert load_all(ledger_path) == []
    assert query("select run_id, count(*) from raw.responses group by all order by all") == [
        ("a", 4),
        ("b", 4),
        ("c", 4),
    ]
    # As if they had been collected one after the other: the analysis of c is that of b, and a's is the latest.
    assert query("select analysis ->> 'version' from raw.analysis_settings order by registered_at") == [
        ("1",),
        ("2",),
    ]
    listed, notes = list_runs(ledger_path)
    assert [(run.run_id, run.n_kept, run.n_planned, run.state) for run in listed] == [
        (name, 4, 20_000, "started") for name in "bca"
    ]
    assert notes == []


def test_an_older_reading_does_not_replace_a_newer_one(ledger: Ledger, query: Query) -> None:
    with ledger.append() as append:
        append.analysis("small", {"version": 9})
    with begin(ledger.path, minutes=5, analysis=1) as writer:
        load_journal(writer.path, ledger)
    assert query("select analysis ->> 'version' from raw.analysis_settings order by registered_at") == [
        ("1",),
        ("9",),
    ]


def test_what_is_no_journal_is_named(ledger_path: Path) -> None:
    with begin(ledger_path):
        pass
    folder = journal_path(ledger_path, "x").parent
    (folder / "notes.jsonl").write_text("{}\n", encoding="utf-8")
    (folder / "empty.jsonl").write_text("", encoding="utf-8")
    (folder / "begun.jsonl.new").write_text("", encoding="utf-8")
    sentences = load_all(ledger_path)
    assert sentences[0].startswith(f"{folder / 'empty.jsonl'} is no run's journal")
    assert sentences[1] == f"{folder / 'notes.jsonl'} is broken at line 1: it is no record. It is left out."
    assert sentences[2:] == ["Run run-1: 5 records loaded from its journal."]
    assert read_head(folder / "run-1.jsonl").started["planned"] == 20_000
    listed, notes = list_runs(ledger_path)
    assert [run.run_id for run in listed] == ["run-1"]
    assert len(notes) == 2


@pytest.mark.parametrize("keeps_own", [True, False], ids=["copy", "renamed"])
def test_a_journal_under_another_name_is_not_loaded(ledger_path: Path, query: Query, keeps_own: bool) -> None:
    with begin(ledger_path) as writer:
        writer.append(answered(1, 4))
    # It comes first in the folder's order.
    other = writer.path.with_name("a copy of run-1.jsonl")
    other.write_bytes(writer.path.read_bytes())
    if not keeps_own:
        writer.path.unlink()
    message = (
        f"{other} is the journal of run run-1 under another name: call it run-1.jsonl again or, if it is a copy, put it "
        f"elsewhere."
    )
    loaded = ["Run run-1: 9 records loaded from its journal."] if keeps_own else []
    assert load_all(ledger_path) == [f"{message} It is left out.", *loaded]
    Ledger(ledger_path).create()
    with pytest.raises(LedgerError, match="is the journal of run run-1 under another name"):
        load_journal(other, Ledger(ledger_path))
    assert query("select distinct run_id from raw.responses") == ([("run-1",)] if keeps_own else [])
    listed, notes = list_runs(ledger_path)
    assert [run.run_id for run in listed] == (["run-1"] if keeps_own else [])
    assert notes == [message]
    verdicts = {verdict.name: verdict for verdict in verify_ledger(ledger_path)}
    assert verdicts[other.stem].fault == message
    if keeps_own:
        assert verdicts["run-1"].state == "intact"


def test_what_is_loaded_and_not_sealed_is_sealed_by_the_next_build(ledger: Ledger, query: Query) -> None:
    """As a collector leaves it that is killed right after it brought its last answers into the ledger."""
    with begin(ledger.path) as writer:
        writer.append(answered(1, 4))
        JournalLoader(writer.path, ledger).load()
    assert query("select * from raw.seals") == []
    assert load_all(ledger.path) == []
    assert query("select n_records, head_hash from raw.seals") == [(writer.seal.count, writer.seal.head_hash)]
    # Put away, the journal is no longer there to say where the chain ends.
    writer.path.unlink()
    (verdict,) = verify_ledger(ledger.path, ["run-1"], needs_journals=False)
    assert verdict.state == "intact"


def test_a_clock_that_was_put_back_changes_no_order_of_events(ledger: Ledger) -> None:
    with begin(ledger.path) as writer:
        writer.event("resumed", {"kept": 0})
        writer.event("finished", {}, utc_now() - timedelta(hours=1))
        load_journal(writer.path, ledger)
    assert [run.state for run in ledger.runs()] == ["finished"]
