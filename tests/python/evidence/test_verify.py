"""Test `verify` on ledgers and journals that were tampered with."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.verify import Verdict, verify_ledger
from collector.errors import InputError, LedgerError
from collector.hashing import tagged_hash
from collector.importers.catalogue import import_items
from collector.journal.chain import Chain, Seal
from collector.journal.reader import read_journal
from collector.journal.writer import JournalWriter
from collector.ledger import database
from collector.ledger.database import Ledger
from collector.ledger.evidence import held_records
from collector.ledger.loading import load_all, load_journal
from collector.rows import RelevanceRow, ResponseRow
from collector.spec.subjects import hash_of_relevance
from tests.python.collector.test_ledger import register_analysis
from tests.python.evidence.conftest import (
    CHAINS_CAME_LATER,
    SECRET,
    Kept,
    collect_answers,
    import_answers,
    write_audit,
)
from tests.python.running import biasledger

N_RECORDS = 20  # run, analysis, started, 4 prompts, 12 responses, finished


def verdict_of(kept: Kept, *, seal: Seal | None = None) -> Verdict:
    (verdict,) = verify_ledger(kept.ledger_path, [kept.run_id], seal)
    return verdict


def found(kept: Kept, *, seal: Seal | None = None) -> str:
    """The sentence about the first thing wrong."""
    verdict = verdict_of(kept, seal=seal)
    assert verdict.state == "broken"
    assert verdict.fault is not None
    assert verdict.n_faults >= 1
    return verdict.fault


def forge(kept: Kept) -> None:
    """Recompute chain and seal over the changed rows, as an attacker who knows this program could."""
    with duckdb.connect(str(kept.ledger_path)) as connection:
        rows = [one for one in held_records(connection, kept.run_id) if one.body is not None]
        connection.execute("delete from raw.chain")
        connection.execute("delete from raw.seals")
    order = ["run", "analysis", "prompt", "response", "event", "erasure"]
    chain = Chain()
    records = [
        chain.add(one.kind, one.body or {}) for one in sorted(rows, key=lambda one: order.index(one.kind))
    ]
    with Ledger(kept.ledger_path).append() as append:
        append.chain(kept.run_id, records)
        append.seal(kept.run_id, chain.seal)


def test_what_was_kept_is_intact(kept: Kept) -> None:
    assert kept.seal.count == N_RECORDS
    verdict = verdict_of(kept, seal=kept.seal)
    assert verdict == Verdict(kept.run_id, "intact", kept.seal)
    assert verify_ledger(kept.ledger_path) == [verdict]
    assert kept.query("select n_records, head_hash from raw.seals") == [(N_RECORDS, kept.seal.head_hash)]


CHANGES = {
    "a text": (
        "update raw.responses set response_text = response_text || ' ' where seq = 4",
        r"Response \w{16}\.1\.1 \(record \d+, seq 4, ok\) was changed: its row does not match its hash",
    ),
    "a text taken out": (
        "update raw.responses set response_text = null where seq = 4",
        r"Response \w{16}\.1\.1 \(record \d+, seq 4, ok\) was changed",
    ),
    "a status": (
        "update raw.responses set status = 'refused' where seq = 5",
        r"Response \w{16}\.2\.1 \(record \d+, seq 5, refused\) was changed",
    ),
    "no number": ("update raw.responses set weight = 'nan' where seq = 4", r"Response .* was changed"),
    "the order": (
        "update raw.responses set seq = 9 - seq where seq in (4, 5)",
        r"Response \w{16}\.1\.1 \(record \d+, seq 5, ok\) was changed",
    ),
    "a relabelled group": (
        "update raw.prompt_attributes set group_name = 'Asian' where group_name = 'White'",
        r"Prompt \w{16} \(record 3, race Asian, gender Man\) was changed",
    ),
    "a group taken out": (
        "delete from raw.prompt_attributes where group_name = 'White'",
        r"Prompt \w{16} \(record 3, gender Man\) was changed",
    ),
    "a group put in": (
        (
            "insert into raw.prompt_attributes select run_id, prompt_id, 2, attribute, group_name, descriptor "
            "from raw.prompt_attributes limit 1"
        ),
        r"Prompt \w{16} \(record \d, .*\) was changed",
    ),
    "a group of no prompt": (
        (
            "insert into raw.prompt_attributes select run_id, 'x', 1, attribute, group_name, descriptor "
            "from raw.prompt_attributes limit 1"
        ),
        r"Prompt x is in raw.prompts and not in the chain",
    ),
    "a prompt": (
        "update raw.prompts set prompt_text = 'Recommend anything' where prompt_id = (select min(prompt_id) from raw.prompts)",
        r"Prompt \w{16} \(record \d, .*\) was changed",
    ),
    "a deleted prompt": (
        "delete from raw.prompts where rowid = 0",
        r"Prompt \w{16} \(record 3.*\) (was changed|is gone)",
    ),
    "a deleted row": (
        "delete from raw.responses where seq = 7",
        r"Response \w{16}\.1\.1 \(record \d+\) is gone from raw.responses",
    ),
    "a row put in": (
        "insert into raw.responses select * replace (99 as trial) from raw.responses where seq = 7",
        r"Response \w{16}\.99\.1 is in raw.responses and not in the chain: it was put in later",
    ),
    "a row twice": (
        "insert into raw.responses from raw.responses where seq = 7",
        r"Response \w{16}\.1\.1 \(record \d+\) is in raw.responses more than once",
    ),
    "what was asked": (
        """update raw.runs set spec = json_merge_patch(spec, '{"trials": 9}')""",
        r"The run itself \(record 0\) was changed",
    ),
    "the run taken out": ("delete from raw.runs", r"The run itself \(record 0\) is gone from raw.runs"),
    "the analysis": (
        "delete from raw.analysis_settings",
        r"Analysis sha256:\w+ \(record 1\) is gone from raw.analysis_settings",
    ),
    "an event": (
        "update raw.run_events set detail = '{}' where event = 'finished'",
        r"Event finished .* \(record \d+\) was changed",
    ),
    "an event put in": (
        "insert into raw.run_events select * replace ('resumed' as event) from raw.run_events limit 1",
        r"Event resumed .* is in raw.run_events and not in the chain",
    ),
    "an erasure that was none": (
        (
            "insert into raw.erasures select run_id, prompt_id, trial, attempt, '{}', 'none', now()::timestamp "
            "from raw.responses where seq = 4"
        ),
        r"Erasure \w{16}\.1\.1 is in raw.erasures and not in the chain",
    ),
    "a digest": (
        "update raw.chain set digest = (select digest from raw.chain where position = 4) where position = 5",
        r"Record 5 of its chain \(prompt \w{16}\) does not follow on the one before",
    ),
    "a record taken out of the chain": (
        "delete from raw.chain where position = 6",
        r"Record 6 of its chain is missing",
    ),
    "a record of the chain twice": (
        "insert into raw.chain from raw.chain where position = 6",
        r"(Record 6 of its chain is there twice|Prompt \w{16} \(record 6\) is in raw.prompts more than once)",
    ),
    "two records of the chain swapped": (
        "update raw.chain set position = 17 - position where position in (8, 9)",
        r"Record 8 of its chain \(response \w{16}\.\d\.1\) does not follow on the one before",
    ),
    "another key in the chain": (
        "update raw.chain set key = 'x' where position = 9",
        r"Response x \(record 9\) is gone from raw.responses",
    ),
    "something next to a hash": (
        """update raw.chain set extra = '{"status": "ok", "more": 1}' where position = 9""",
        r"Response .* \(record 9, .*\) was changed",
    ),
    "a seal": (
        f"update raw.seals set head_hash = '{tagged_hash('x')}'",
        r"The chain has another hash at record 19 than the ledger's own seal",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_and_named(kept: Kept, what: str) -> None:
    statement, message = CHANGES[what]
    kept.change(statement)
    assert re.match(message, found(kept)), found(kept)


def test_what_stands_next_to_a_hash_hides_nothing(kept: Kept) -> None:
    kept.change(
        "update raw.responses set status = 'refused' where seq = 4",
        """update raw.chain set extra = json_merge_patch(coalesce(extra, '{}'), '{"status": "ok"}')
           where key in (select prompt_id || '.' || trial || '.1' from raw.responses where seq = 4)""",
    )
    assert "seq 4, refused) was changed" in found(kept)


def test_a_text_replaced_under_cover_of_an_erasure(kept: Kept) -> None:
    kept.change(
        "insert into raw.erasures select run_id, prompt_id, trial, attempt, "
        "json_object('response_text', 'sha256:' || sha256(response_text)), 'none', now()::timestamp "
        "from raw.responses where seq = 4",
        "update raw.responses set response_text = 'another' where seq = 4",
    )
    assert "was erased, and its response_text is there again" in found(kept)


def test_the_first_of_several_changes_is_reported(kept: Kept) -> None:
    kept.change(
        "update raw.responses set status = 'refused' where seq in (9, 5, 7)",
        "delete from raw.responses where seq = 11",
    )
    verdict = verdict_of(kept)
    assert verdict.n_faults == 4
    assert verdict.fault is not None
    assert "seq 5, refused" in verdict.fault


def test_a_deleted_tail_is_found_by_the_ledger_s_seal(kept: Kept) -> None:
    kept.change("delete from raw.chain where position >= 15", "delete from raw.responses where seq > 8")
    assert found(kept) == "The last 5 of the 20 records that it was sealed with are gone."


def cut(kept: Kept) -> None:
    """Cut off the last records and make the rest look whole."""
    kept.change(
        "delete from raw.responses where seq > 8", "delete from raw.run_events where event = 'finished'"
    )
    forge(kept)


def test_a_deleted_tail_is_found_by_a_seal_kept_elsewhere(imported: Kept) -> None:
    cut(imported)
    # Nothing in the ledger itself can show this.
    assert imported.state() == "intact"
    assert (
        found(imported, seal=imported.seal) == "The last 5 of the 20 records that the seal counts are gone."
    )
    verdicts = verify_ledger(imported.ledger_path, seal=imported.seal)
    assert [one.state for one in verdicts] == ["broken"]


def test_a_deleted_tail_is_found_by_the_journal(collected: Kept) -> None:
    cut(collected)
    assert "is not the one in its journal" in found(collected)


def test_a_tail_deleted_as_if_it_had_not_been_loaded_yet(collected: Kept) -> None:
    collected.change(
        "delete from raw.chain where position >= 15",
        "delete from raw.responses where seq > 8",
        "delete from raw.run_events where event = 'finished'",
        "delete from raw.seals",
    )
    assert found(collected) == (
        "The last 5 records of its journal are not in the ledger, from record 15 on; `biasledger build` loads them."
    )
    load_journal(collected.journal, Ledger(collected.ledger_path))
    assert collected.state(collected.seal) == "intact"


def test_a_seal_taken_out_with_the_tail(imported: Kept) -> None:
    imported.change(
        "delete from raw.seals",
        "delete from raw.chain where position = 19",
        "delete from raw.run_events where event = 'finished'",
    )
    assert found(imported) == "Its seal is gone, so nothing shows where its chain should end."


PINNED = "insert into raw.baselines (audit, target, run_id, set_at) select {}, now() from raw.runs"
UNDEFINED = " not defined as biasledger defines what a ledger holds"


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("delete from raw.seals", "Its chain has no seal at its end: .*; `biasledger build` writes it"),
        (
            "insert into raw.seals from raw.seals",
            r"The seal of 20 records .* is in raw\.seals more than once",
        ),
        (
            "insert into raw.analysis_settings from raw.analysis_settings limit 1",
            r"The analysis of 'small' of .* is in raw\.analysis_settings more than once",
        ),
        (
            PINNED.format("'other', target, run_id"),
            "for 'other' and .*, which is no run of these in the ledger",
        ),
        (PINNED.format("audit, target, 'gone'"), r"raw\.baselines pins gone for"),
        ("alter table raw.responses add column added varchar", rf"raw\.responses is{UNDEFINED}"),
        ("drop view raw.kept_prompts", rf"raw\.kept_prompts is{UNDEFINED}"),
        (
            "create or replace view raw.kept_responses as from raw.responses where answer_text not like '%a%'",
            rf"raw\.kept_responses is{UNDEFINED}",
        ),
        ("create table raw.other (a int)", rf"raw\.other is{UNDEFINED}"),
        ("create macro raw.other(a) as a + 1", rf"raw\.other is{UNDEFINED}"),
    ],
)
def test_edits_of_what_no_chain_covers(collected: Kept, statement: str, sentence: str) -> None:
    collected.change(statement)
    verdicts = verify_ledger(collected.ledger_path)
    [broken] = [one for one in verdicts if one.state == "broken"]
    assert re.search(sentence, broken.fault or "")


@pytest.mark.parametrize(
    "statement",
    [
        PINNED.format("audit, target, run_id"),
        "insert into raw.analysis_settings select * replace (now() as registered_at) from raw.analysis_settings limit 1",
    ],
)
def test_edits_that_docs_evidence_md_says_are_not_found(collected: Kept, statement: str) -> None:
    collected.change(statement)
    assert {one.state for one in verify_ledger(collected.ledger_path)} == {"intact"}


def test_records_after_the_seal(imported: Kept) -> None:
    chain = Chain(imported.seal.count, imported.seal.head_hash)
    body = {"event": "resumed", "detail": {}, "happened_at": "2026-01-01T00:00:00"}
    with Ledger(imported.ledger_path).append() as append:
        append.chain(imported.run_id, [chain.add("event", body)])
    imported.change("insert into raw.run_events select run_id, 'resumed', '{}', '2026-01-01' from raw.runs")
    assert found(imported) == "1 records stand after its seal."


def test_a_forged_ledger_is_found_by_a_seal_kept_elsewhere(imported: Kept) -> None:
    imported.change("update raw.prompt_attributes set group_name = 'Asian' where group_name = 'White'")
    forge(imported)
    assert imported.state() == "intact"
    assert found(imported, seal=imported.seal).startswith(
        "The first 20 records are not those of the seal 20:sha256:"
    )


def test_a_forged_ledger_is_found_by_the_journal(collected: Kept) -> None:
    collected.change("update raw.responses set response_text = 'nothing' where seq = 4")
    forge(collected)
    assert re.match(r"Record \d+ of its chain \(.*\) is not the one in its journal", found(collected))


def test_the_journal_says_what_a_changed_row_said(collected: Kept) -> None:
    collected.change("update raw.responses set finish_reason = 'length', status = 'truncated' where seq = 4")
    assert found(collected).endswith("; it differs from the journal in status, finish_reason.")
    collected.change(
        "update raw.prompt_attributes set group_name = 'Asian' where group_name = 'White' and "
        f"prompt_id = '{collected.prompts[1]}'"
    )
    assert found(collected).endswith("; by the journal race was 'White'.")


def edit_line(path: Path, number: int, old: str, new: str) -> None:
    """Replace the first place of a text in a line of a journal."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    path.write_text("".join(lines), encoding="utf-8")


def test_a_changed_journal(collected: Kept) -> None:
    edit_line(collected.journal, 10, '"status":"ok"', '"status":"refused"')
    assert (
        found(collected) == f"{collected.journal} is broken at line 11: its content does not match its hash."
    )


UNHASHED = {
    "a key twice": ('"status":"ok"', '"status":"refused","status":"ok"', "it has a key twice"),
    "a line's key twice": ('"kind":', '"kind":"prompt","kind":', "it has a key twice"),
    "an extra key": ('"kind":', '"approved":true,"kind":', "it has keys besides those of a record"),
    "a key that says null": ('"status":', '"seen":null,"status":', "it has 'seen', which no response has"),
    "a space": ('"status":', '"status": ', "it says the same as its record in other bytes"),
    "an escape": ('"ok"', '"\\u006fk"', "it says the same as its record in other bytes"),
}


@pytest.mark.parametrize(("old", "new", "message"), UNHASHED.values(), ids=list(UNHASHED))
def test_what_no_hash_covers_is_in_no_journal(collected: Kept, old: str, new: str, message: str) -> None:
    edit_line(collected.journal, 10, old, new)
    assert found(collected) == f"{collected.journal} is broken at line 11: {message}."


TWICE = [name for name in UNHASHED if name.endswith("twice")]


@pytest.mark.parametrize("name", TWICE)
def test_of_a_key_that_stands_twice_what_the_hash_covers_is_read(collected: Kept, name: str) -> None:
    """Finding it costs a call a line, so only verify looks."""
    before = list(read_journal(collected.journal))
    old, new, _ = UNHASHED[name]
    edit_line(collected.journal, 10, old, new)
    assert [one.hash for one in read_journal(collected.journal)] == [one.hash for one in before]
    assert [one.body for one in read_journal(collected.journal)] == [one.body for one in before]


def test_a_journal_of_before_there_were_markers(collected: Kept) -> None:
    for name, value in {"markers": "[]", "markers_hash": "null", "probes": "[]"}.items():
        edit_line(collected.journal, 1, f'"{name}":{value},', "")
    assert collected.state(collected.seal) == "intact"
    collected.ledger_path.unlink()
    load_all(collected.ledger_path)
    assert collected.state(collected.seal) == "intact"


def test_relevance_that_was_changed_in_the_journal(collected: Kept) -> None:
    edit_line(collected.journal, 1, '"relevance":[]', '"relevance":[["Adele",null,"Hello",1.0]]')
    assert found(collected).endswith("is broken at line 2: its rows of relevance do not match their hash.")


def test_deep_nesting_is_named(collected: Kept) -> None:
    depth = 100_000
    edit_line(collected.journal, 10, '"status":"ok"', f'"status":{"[" * depth}{"]" * depth}')
    assert found(collected).endswith("is broken at line 11: it is nested more deeply than a record ever is.")
    collected.change(
        f"update raw.run_events set detail = repeat('[', {depth}) || repeat(']', {depth}) where event = 'finished'"
    )
    (verdict,) = verify_ledger(collected.ledger_path)
    assert verdict.state == "broken"


def test_a_journal_cut_short(collected: Kept) -> None:
    lines = collected.journal.read_bytes().splitlines(keepends=True)
    collected.journal.write_bytes(b"".join(lines[:12]))
    assert found(collected) == (
        f"Its journal {collected.journal} ends after record 11, and 8 more are in the ledger."
    )


def test_a_torn_last_line_of_the_journal_is_no_record(collected: Kept) -> None:
    with collected.journal.open("ab") as stream:
        stream.write(b'{"body":{"eve')
    verdict = verdict_of(collected, seal=collected.seal)
    assert verdict.state == "intact"
    assert verdict.notes == ("its journal ends with 13 bytes that are no record, as a crash leaves them.",)


def test_a_missing_journal_is_reported(collected: Kept) -> None:
    collected.journal.unlink()
    assert found(collected, seal=collected.seal) == (
        f"Its journal is not at {collected.journal}: it was deleted, or left behind when the ledger was moved. Put it back, or "
        f"check the ledger alone with --without-journals."
    )
    (verdict,) = verify_ledger(
        collected.ledger_path, [collected.run_id], collected.seal, needs_journals=False
    )
    assert verdict.state == "intact"
    assert [note for note in verdict.notes if note.startswith("its journal is not at ")] == list(
        verdict.notes
    )
    assert len(verdict.notes) == 1


def test_the_command_needs_journals_by_default(collected: Kept) -> None:
    collected.journal.unlink()
    ledger = ("--ledger", str(collected.ledger_path))
    refused = biasledger("verify", *ledger, code=3)
    assert "check the ledger alone with --without-journals" in refused.output
    done = biasledger("verify", *ledger, "--without-journals", code=0)
    assert "so the ledger's own chain is all that was checked" in done.output


def test_a_run_that_is_being_collected(collected: Kept) -> None:
    with JournalWriter.resume(collected.journal) as writer:
        writer.event("resumed", {})
        verdict = verdict_of(collected)
    assert verdict.state == "intact"
    assert verdict.notes == (
        "it is being collected: 1 records are in the journal and not in the ledger yet.",
    )
    assert "The last 1 records of its journal are not in the ledger" in found(collected)


def test_a_journal_of_which_the_ledger_knows_nothing(tmp_path: Path) -> None:
    kept = collect_answers(tmp_path, load=False)
    (verdict,) = verify_ledger(kept.ledger_path)
    assert verdict.name == kept.run_id
    assert verdict.state == "broken"
    assert verdict.fault == (
        f"The ledger has nothing of this run, and {kept.journal} has; `biasledger build` loads it."
    )
    # Another ledger's journals may lie in the same folder.
    other = tmp_path / "other.duckdb"
    Ledger(other).create()
    assert verify_ledger(other) == []


def test_a_migration_notes_the_runs_of_before_chains(imported: Kept) -> None:
    imported.change(
        *(f"drop table raw.{table}" for table in ("chain", "seals", "erasures", "unchained_runs")),
        "delete from raw.schema_migrations where version = 5",
    )
    Ledger(imported.ledger_path).update()
    assert imported.query("from raw.unchained_runs") == [(imported.run_id,)]
    assert imported.state() == "unsealed"


def test_a_run_of_before_chains_is_unsealed(imported: Kept) -> None:
    imported.change(
        *("delete from raw.chain", "delete from raw.seals"),
        "insert into raw.unchained_runs select run_id from raw.runs",
    )
    assert found(imported) == (
        "Its chain is gone: it is noted as a run of before chains were kept, and is no such run."
    )
    imported.change(CHAINS_CAME_LATER)
    verdict = verdict_of(imported)
    assert verdict.state == "unsealed"
    assert verdict.notes == (
        "it was kept before chains were, in this ledger from 2100-01-01 00:00 UTC on, and nothing shows whether it was changed.",
    )
    assert "has no chain" in found(imported, seal=imported.seal)


def test_a_chain_taken_out_is_not_called_unsealed(kept: Kept) -> None:
    kept.change("delete from raw.chain", "delete from raw.seals")
    assert found(kept).startswith(
        ("Its chain is gone", "The last 20 records of its journal are not in the ledger")
    )


@pytest.mark.parametrize("table", ["chain", "responses"])
def test_rows_that_stand_in_another_order_are_the_same(kept: Kept, table: str) -> None:
    with duckdb.connect(str(kept.ledger_path)) as connection:
        connection.execute(f"create temp table turned as select * from raw.{table} order by rowid desc")
        connection.execute(f"delete from raw.{table}")
        connection.execute(f"insert into raw.{table} select * from turned order by rowid")
    assert verdict_of(kept, seal=kept.seal) == Verdict(kept.run_id, "intact", kept.seal)


def test_what_passes_through_is_bounded_and_joins_are_not(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "READ_BYTES", 10_000_000)
    with Ledger(kept.ledger_path).read_through() as connection:

        def limit() -> str:
            ((found,),) = connection.execute("select current_setting('memory_limit')").fetchall()
            return str(found)

        bound = limit()
        seen = {one.kind: limit() for one in held_records(connection, kept.run_id)}
        assert seen["response"] == limit() == bound
        assert seen["prompt"] != bound
    with duckdb.connect(str(kept.ledger_path)) as connection:
        connection.execute(
            "update raw.responses set response_text = repeat('warm ', 1_000_000) where seq = 1"
        )
        connection.execute("delete from raw.responses where seq = 2")
    assert verdict_of(kept).n_faults == 2


def test_no_more_is_held_than_duckdb_would(kept: Kept) -> None:
    with duckdb.connect(str(kept.ledger_path)) as connection:
        ((free,),) = connection.execute("select current_setting('memory_limit')").fetchall()
        connection.execute("update raw.responses set response_text = repeat('x', 10_000_000) where seq = 1")
    with Ledger(kept.ledger_path).read_through() as connection:
        assert connection.execute("select current_setting('memory_limit')").fetchall() == [(free,)]


def test_no_folder_to_write_in_is_no_fault(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(**_: str) -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(database, "TemporaryDirectory", nowhere)
    assert kept.state(kept.seal) == "intact"


def test_what_is_left_of_a_run_that_was_taken_out(imported: Kept) -> None:
    imported.change(
        "delete from raw.runs", "delete from raw.chain", "delete from raw.seals", "delete from raw.prompts"
    )
    (verdict,) = verify_ledger(imported.ledger_path)
    assert (verdict.name, verdict.state, verdict.fault) == (imported.run_id, "broken", "Its chain is gone.")


def test_a_seal_among_several_runs(tmp_path: Path) -> None:
    first, second = import_answers(tmp_path), collect_answers(tmp_path)
    assert [one.state for one in verify_ledger(first.ledger_path, seal=second.seal)] == ["intact", "intact"]
    second.change(f"delete from raw.chain where run_id = '{second.run_id}' and position = 19")
    *runs, seal = verify_ledger(first.ledger_path, seal=second.seal)
    assert sorted(one.state for one in runs) == ["broken", "intact"]
    assert seal.fault == (
        f"No run has the seal {second.seal}: the run that it was printed for was changed, cut or removed."
    )


def test_changed_readings_relevance_and_catalogues(imported: Kept, tmp_path: Path) -> None:
    rows = [RelevanceRow("Adele", "music", "Hello", 2.5), RelevanceRow("Abba", None, "Waterloo", 1.0)]
    register_analysis(imported.ledger_path, "other", {"version": 1}, hash_of_relevance(rows), rows)
    catalogue = tmp_path / "items.csv"
    catalogue.write_text(
        'name,price,categories,city\nA,$,thai,X\nB,$$,"bar, pub",X\nC,,,Y\n', encoding="utf-8"
    )
    import_items(catalogue, imported.ledger_path, name="boston")
    assert [one.state for one in verify_ledger(imported.ledger_path)] == ["intact"]
    for statement, undo, message in (
        (
            "update raw.items set price_level = 2 where name = 'A'",
            "update raw.items set price_level = 1 where name = 'A'",
            "The catalogue 'boston' was changed: its content does not match sha256:",
        ),
        (
            "update raw.relevance set grade = 3 where subject = 'Adele'",
            "update raw.relevance set grade = 2.5 where subject = 'Adele'",
            "The table of relevance was changed: its content does not match sha256:",
        ),
        (
            """update raw.analysis_settings set analysis = '{"version":2}' where audit = 'other'""",
            """update raw.analysis_settings set analysis = '{"version":1}' where audit = 'other'""",
            "The analysis of 'other' was changed: its content does not match sha256:",
        ),
    ):
        imported.change(statement)
        run, shared = verify_ledger(imported.ledger_path)
        assert run.state == "intact"
        assert (shared.name, shared.state, shared.n_faults) == ("analyses and catalogues", "broken", 1)
        assert shared.fault is not None
        assert shared.fault.startswith(message)
        imported.change(undo)
    assert [one.state for one in verify_ledger(imported.ledger_path)] == ["intact"]


def test_later_readings_are_the_audit_s_and_not_the_run_s(imported: Kept) -> None:
    assert register_analysis(imported.ledger_path, "small", {"version": 99})
    assert imported.state(imported.seal) == "intact"


def test_an_import_prints_its_seal(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("question,race,gender,answer\nWho?,White,Man,An answer\n", encoding="utf-8")
    ledger = ("--ledger", str(tmp_path / "ledger.duckdb"))
    result = biasledger("import", str(write_audit(tmp_path)), str(file), *ledger, code=0)
    (seal,) = re.findall(r"^  seal (\S+)$", result.output, re.MULTILINE)
    assert biasledger("verify", *ledger, "--seal", seal).exit_code == 0
    result = biasledger("verify", *ledger, "--seal", seal[:-1] + ("0" if seal[-1] != "0" else "1"), code=3)
    assert ": broken\n  The first 6 records are not those of the seal" in result.output


def test_what_cannot_be_verified(imported: Kept, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"There is no run '{imported.run_id}x' in .*did you mean"):
        verify_ledger(imported.ledger_path, [imported.run_id + "x"])
    with pytest.raises(LedgerError, match="There is no ledger at"):
        verify_ledger(tmp_path / "none.duckdb")


ODD_TEXTS = (
    *(
        "",
        " ",
        "\r\n\t",
        "\x01\x1b[31m\x7f",
        "\u2028\u2029\ufeff",
        "e\u0301 é",
        "👩‍👩‍👧 日本 \U0010ffff",
        "\ufffd",
    ),
    *(
        "'; drop table raw.responses; --",
        "=cmd|' /C calc'!A0",
        "<script>alert(1)</script>",
        "null",
        "\\u0041 \\n",
        "{}",
    ),
    "x" * 1_000_000,
)


def test_whatever_was_answered_is_intact(tmp_path: Path) -> None:
    kept = collect_answers(tmp_path)
    with JournalWriter.resume(kept.journal) as writer:
        for number, text in enumerate(ODD_TEXTS, start=10):
            row = ResponseRow(
                kept.prompts[0], number, 1, 0, "ok", "sha256:0", text, text, text, text, text, error=text
            )
            row.latency_ms, row.requested_at = 0.1 + 0.2, datetime(2026, 1, 1, 0, 0, 0, number % 2)
            row.prompt_tokens, row.completion_tokens, row.weight = 2**31 - 1, 0, 1e-300
            row.is_last = number % 2 == 0
            writer.append([row])
        writer.event("finished", {"é": [1.5, None, True, {"a": ""}], "big": 2**53, "text": ODD_TEXTS[3]})
        seal = writer.seal
    load_journal(kept.journal, Ledger(kept.ledger_path))
    assert kept.state(seal) == "intact"


def test_the_journal_s_lines_and_the_ledger_s_rows_have_the_same_digests(collected: Kept) -> None:
    lines = [json.loads(line) for line in collected.journal.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == N_RECORDS
    assert collected.query("select position, kind, hash from raw.chain order by position") == [
        (line["position"], line["kind"], line["hash"]) for line in lines
    ]
    assert any(SECRET in str(line["body"].get("response_text")) for line in lines)


def test_nothing_is_written(kept: Kept) -> None:
    def state() -> dict[str, Any]:
        folder = kept.ledger_path.parent
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = state()
    verify_ledger(kept.ledger_path)
    assert state() == before


def test_a_run_whose_name_was_changed_hides_no_other(kept: Kept) -> None:
    kept.change(
        f"insert into raw.seals select '../{kept.run_id}', n_records, head_hash, sealed_at from raw.seals"
    )
    verdicts = {verdict.name: verdict for verdict in verify_ledger(kept.ledger_path)}
    assert verdicts[kept.run_id].state == "intact"
    assert verdicts[f"../{kept.run_id}"].fault == f"'../{kept.run_id}' is no name that a run is ever given."


def test_an_emptied_journal(collected: Kept) -> None:
    collected.journal.write_bytes(b"")
    (verdict,) = verify_ledger(collected.ledger_path)
    assert verdict.fault == f"Its journal {collected.journal} has no record, and 20 more are in the ledger."
