"""Test that erasing removes the bytes from every file and that the chain still verifies."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import pytest

from biasledger.verify import verify_ledger
from collector.asking.runner import CollectOptions, collect
from collector.errors import InputError, LedgerError, TargetError
from collector.hashing import tagged_hash
from collector.journal.chain import Chain, Seal
from collector.journal.writer import JournalWriter
from collector.ledger import erasure
from collector.ledger.database import Ledger, LedgerLockedError
from collector.ledger.erasure import erase, find_erasable
from collector.ledger.loading import load_journal
from collector.ledger.overview import list_runs
from collector.spec.loading import load_audit
from collector.targets.python_function import of_function
from tests.python.collector.test_ledger import held_by_another_process
from tests.python.evidence.conftest import (
    CHAINS_CAME_LATER,
    SECRET,
    Kept,
    answer_of,
    collect_answers,
    import_answers,
    write_audit,
)
from tests.python.running import biasledger, rows_in

REASON = "names a private person"


def holders(folder: Path, text: str = SECRET) -> list[str]:
    """The files that hold a text, as it is or escaped for JSON."""
    needles = {text.encode(), json.dumps(text)[1:-1].encode()}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    )


def secret_of(kept: Kept) -> tuple[str, int]:
    ((prompt_id, trial),) = kept.query("select prompt_id, trial from raw.responses where seq = 4")
    return prompt_id, trial


def test_the_bytes_are_gone_and_the_chain_holds(kept: Kept) -> None:
    folder = kept.ledger_path.parent
    # The next assertions show something only if the text can be found in the files.
    assert "ledger.duckdb" in holders(folder)
    has_journal = kept.journal.is_file()
    assert has_journal == (f"journal/{kept.run_id}.jsonl" in holders(folder))
    prompt_id, trial = secret_of(kept)
    before = kept.query("select * from raw.responses order by seq")
    others = {path.name for path in folder.rglob("*")}

    done = erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=f" {REASON} ")

    assert holders(folder) == []
    assert {path.name for path in folder.rglob("*")} == others
    assert done.has_journal == has_journal
    assert [str(one) for one in done.responses] == [f"{prompt_id}.{trial}.1"]
    assert done.seal is not None
    assert done.seal.count == kept.seal.count + 1
    texts = {"response_text", "answer_text"} | ({"raw_body"} if has_journal else set())
    assert set(done.responses[0].texts) == texts
    ((stored, reason),) = kept.query("select texts::varchar, reason from raw.erasures")
    assert json.loads(stored) == done.responses[0].texts
    assert json.loads(stored)["response_text"] == tagged_hash(SECRET)
    assert reason == REASON
    # Only the texts of this one row are gone.
    after = kept.query("select * from raw.responses order by seq")
    assert [row for row in after if row[4] != 4] == [row for row in before if row[4] != 4]
    (gone,) = [row for row in after if row[4] == 4]
    (was,) = [row for row in before if row[4] == 4]
    assert [new for new, old in zip(gone, was, strict=True) if new != old] == [None] * len(texts)

    for seal in (None, done.seal, kept.seal):
        assert kept.state(seal) == "intact"
    (verdict,) = verify_ledger(kept.ledger_path)
    assert verdict.notes == ("the texts of one response were erased; raw.erasures says which and why.",)


def test_an_erased_row_is_still_protected(kept: Kept) -> None:
    prompt_id, trial = secret_of(kept)
    erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=REASON)
    for statement, undo in (
        ("update raw.responses set response_text = 'new' where seq = 4", "null"),
        ("update raw.responses set answer_text = '' where seq = 4", "null"),
    ):
        kept.change(statement)
        assert "there is no" not in kept.state()
        assert "was erased, and its" in kept.state()
        kept.change(statement.replace("'new'", undo).replace("''", undo))
        assert kept.state() == "intact"
    kept.change('update raw.erasures set texts = json_merge_patch(texts, \'{"response_text": "sha256:0"}\')')
    assert "was changed: its row does not match its hash" in kept.state()
    kept.change("delete from raw.erasures")
    assert "was changed: its row does not match its hash" in kept.state()


def test_a_ledger_made_anew_from_the_journal_has_the_erasure_too(collected: Kept) -> None:
    prompt_id, trial = secret_of(collected)
    done = erase(collected.ledger_path, collected.run_id, prompt_id, trial, reason=REASON)
    tables = ("responses", "erasures", "chain")
    before = [collected.query(f"from raw.{table} order by all") for table in tables]
    collected.ledger_path.unlink()
    Ledger(collected.ledger_path).create()
    load_journal(collected.journal, Ledger(collected.ledger_path))
    assert [collected.query(f"from raw.{table} order by all") for table in tables] == before
    assert collected.state(done.seal) == "intact"


def test_the_journal_goes_on_after_an_erasure(collected: Kept) -> None:
    prompt_id, trial = secret_of(collected)
    done = erase(collected.ledger_path, collected.run_id, prompt_id, trial, reason=REASON)
    with JournalWriter.resume(collected.journal) as writer:
        assert writer.seal == done.seal
        writer.event("resumed", {})
        seal = writer.seal
    load_journal(collected.journal, Ledger(collected.ledger_path))
    assert collected.state(seal) == "intact"


def test_several_erasures(kept: Kept) -> None:
    for seq in (4, 5, 8):
        ((prompt_id, trial),) = kept.query(f"select prompt_id, trial from raw.responses where seq = {seq}")
        done = erase(kept.ledger_path, kept.run_id, prompt_id, trial, 1, reason=REASON)
    assert kept.state(done.seal) == "intact"
    assert kept.query("select count(*) from raw.erasures") == [(3,)]
    assert holders(kept.ledger_path.parent, answer_of(8)) == []
    assert kept.query("select count(*) from raw.responses where response_text is null and status = 'ok'") == [
        (3,)
    ]


def test_erasing_twice_changes_nothing(kept: Kept) -> None:
    prompt_id, trial = secret_of(kept)
    first = erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=REASON)
    journal = kept.journal.read_bytes() if first.has_journal else b""
    second = erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason="again")
    assert second == erasure.Erasure((), first.seal, first.has_journal)
    assert (kept.journal.read_bytes() if first.has_journal else b"") == journal
    assert kept.query("select reason from raw.erasures") == [(REASON,)]


def test_an_erasure_stopped_between_journal_and_ledger_is_finished_by_the_next(
    collected: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt_id, trial = secret_of(collected)

    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    calls: list[object] = []

    def second_call_stops(path: Path, ledger: Ledger) -> int:
        calls.append(path)
        return stop() if len(calls) == 2 else load_journal(path, ledger)

    with monkeypatch.context() as patched:
        patched.setattr(erasure, "load_journal", second_call_stops)
        with pytest.raises(KeyboardInterrupt):
            erase(collected.ledger_path, collected.run_id, prompt_id, trial, reason=REASON)
    assert holders(collected.ledger_path.parent) == ["ledger.duckdb"]
    assert "records of its journal are not in the ledger" in collected.state()
    done = erase(collected.ledger_path, collected.run_id, prompt_id, trial, reason="again")
    assert holders(collected.ledger_path.parent) == []
    assert collected.state(done.seal) == "intact"
    assert collected.query("select reason from raw.erasures") == [(REASON,)]


def test_a_run_of_before_chains(imported: Kept) -> None:
    imported.change(
        *("delete from raw.chain", "delete from raw.seals"),
        "insert into raw.unchained_runs select run_id from raw.runs",
        CHAINS_CAME_LATER,
    )
    prompt_id, trial = secret_of(imported)
    done = erase(imported.ledger_path, imported.run_id, prompt_id, trial, reason=REASON)
    assert done.seal is None
    assert holders(imported.ledger_path.parent) == []
    assert imported.query("select count(*) from raw.chain") == [(0,)]
    assert imported.state() == "unsealed"


def test_all_attempts_or_one(imported: Kept) -> None:
    prompt_id, trial = secret_of(imported)
    imported.change(
        "insert into raw.responses select * replace (2 as attempt) from raw.responses where seq = 4"
    )
    one = find_erasable(imported.ledger_path, imported.run_id, prompt_id, trial, 2)
    assert [response.attempt for response in one] == [2]
    both = find_erasable(imported.ledger_path, imported.run_id, prompt_id, trial)
    assert [response.attempt for response in both] == [1, 2]
    assert both[0].n_characters == 2 * len(SECRET)
    erase(imported.ledger_path, imported.run_id, prompt_id, trial, 2, reason=REASON)
    assert imported.query("select attempt from raw.responses where response_text is null") == [(2,)]
    erase(imported.ledger_path, imported.run_id, prompt_id, trial, reason=REASON)
    assert holders(imported.ledger_path.parent) == []


def test_what_cannot_be_erased(collected: Kept) -> None:
    prompt_id, trial = secret_of(collected)
    before = collected.ledger_path.read_bytes(), collected.journal.read_bytes()

    def message(match: str, *arguments: object, reason: str = REASON) -> None:
        with pytest.raises(InputError, match=match):
            erase(collected.ledger_path, *arguments, reason=reason)

    message("An erasure needs a reason", collected.run_id, prompt_id, trial, reason=" ")
    message(r"has no response to prompt x, trial 1; raw\.responses", collected.run_id, "x", 1)
    message(rf"has no response to prompt {prompt_id}, trial 9;", collected.run_id, prompt_id, 9)
    message(rf"trial {trial}, attempt 2;", collected.run_id, prompt_id, trial, 2)
    message("Run none in .* has no response", "none", prompt_id, trial)
    with JournalWriter.resume(collected.journal):
        message("is being collected by another process", collected.run_id, prompt_id, trial)
    with pytest.raises(LedgerError, match="There is no ledger"):
        erase(collected.ledger_path.with_name("none.duckdb"), collected.run_id, prompt_id, 1, reason=REASON)
    assert (collected.ledger_path.read_bytes(), collected.journal.read_bytes()) == before


def test_a_response_without_text(imported: Kept) -> None:
    prompt_id, trial = secret_of(imported)
    imported.change("update raw.responses set response_text = null, answer_text = null where seq = 4")
    with pytest.raises(InputError, match=r"has no text, so there is nothing to erase"):
        erase(imported.ledger_path, imported.run_id, prompt_id, trial, reason=REASON)


def test_a_locked_ledger_is_left_alone(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt_id, trial = secret_of(kept)
    before = kept.journal.read_bytes() if kept.journal.is_file() else b""
    monkeypatch.setattr(erasure, "Ledger", partial(Ledger, wait_seconds=0.2))
    with held_by_another_process(kept.ledger_path, 60), pytest.raises(LedgerLockedError):
        erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=REASON)
    assert (kept.journal.read_bytes() if kept.journal.is_file() else b"") == before
    assert kept.state() == "intact"


def test_a_full_disk_leaves_the_old_files(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt_id, trial = secret_of(kept)
    folder = kept.ledger_path.parent
    names = {path.name for path in folder.rglob("*")}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        for module in ("collector.ledger.erasure", "collector.ledger.database"):
            patched.setattr(f"{module}.replace_file", full)
        with pytest.raises(LedgerError, match="No space left on device"):
            erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=REASON)
    assert {path.name for path in folder.rglob("*")} == names
    assert kept.state() == "intact"
    erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason=REASON)
    assert holders(folder) == []


def test_a_rewritten_ledger_is_the_same(kept: Kept) -> None:
    def schema_and_rows() -> list[object]:
        tables = rows_in(kept.ledger_path, "select table_name, sql from duckdb_tables() order by table_name")
        rows = [
            rows_in(kept.ledger_path, f"select rowid, * from raw.{name} order by rowid") for name, _ in tables
        ]
        return [*tables, *rows]

    before = schema_and_rows()
    kept.ledger_path.chmod(0o640)
    inode = kept.ledger_path.stat().st_ino
    Ledger(kept.ledger_path).rewrite()
    assert schema_and_rows() == before
    assert kept.ledger_path.stat().st_ino != inode
    assert kept.ledger_path.stat().st_mode & 0o777 == 0o640


def test_what_stands_in_a_write_ahead_log_is_rewritten_too(imported: Kept) -> None:
    # A killed process leaves its log behind; what it committed must not be lost.
    with duckdb.connect(str(imported.ledger_path)) as connection:
        connection.execute("set wal_autocheckpoint = '1GB'")
        connection.execute(
            "insert into raw.run_events select run_id, 'late', '{}', '2026-01-01' from raw.runs"
        )
        wal = imported.ledger_path.with_name(f"{imported.ledger_path.name}.wal")
        copies = wal.read_bytes(), imported.ledger_path.read_bytes()
    wal.write_bytes(copies[0])
    imported.ledger_path.write_bytes(copies[1])
    Ledger(imported.ledger_path).rewrite()
    assert not wal.exists()
    assert imported.query("select count(*) from raw.run_events where event = 'late'") == [(1,)]


def test_a_ledger_behind_a_link(imported: Kept, tmp_path: Path) -> None:
    prompt_id, trial = secret_of(imported)
    link = tmp_path / "elsewhere" / "link.duckdb"
    link.parent.mkdir()
    link.symlink_to(imported.ledger_path)
    erase(link, imported.run_id, prompt_id, trial, reason=REASON)
    assert link.is_symlink()
    assert holders(tmp_path) == []


@pytest.mark.parametrize("keep", [import_answers, collect_answers])
def test_the_commands(keep: Callable[[Path], Kept], tmp_path: Path) -> None:
    kept = keep(tmp_path)
    prompt_id, trial = secret_of(kept)
    ledger = ("--ledger", str(kept.ledger_path))
    result = biasledger("verify", *ledger)
    assert (result.exit_code, result.output) == (0, f"{kept.run_id}: intact, seal {kept.seal}\n")

    of_response = ("--prompt", prompt_id, "--trial", trial)
    command = ("erase", kept.run_id, *ledger, *of_response, "--reason", REASON)
    refused = biasledger(*command, typed="n\n", code=130)
    assert f"Response {prompt_id}.{trial}.1, ok, " in refused.output
    assert SECRET not in refused.output
    assert "ledger.duckdb" in holders(tmp_path)

    erased = biasledger(*command, "--yes", code=0)
    assert f"of response {prompt_id}.{trial}.1 in run {kept.run_id}." in erased.output
    assert f"  seal {kept.seal.count + 1}:sha256:" in erased.output
    assert ("no journal of this run" in erased.output) == (not kept.journal.exists())
    assert (
        "Tables of earlier builds still hold its words: the next build rebuilds all of them." in erased.output
    )
    assert holders(tmp_path) == []
    assert "was erased before" in biasledger(*command, "--yes").output

    result = biasledger("verify", kept.run_id, *ledger, "--seal", str(kept.seal), code=0)
    assert "the texts of one response were erased" in result.output
    kept.change("delete from raw.responses where seq = 7")
    result = biasledger("verify", *ledger, code=3)
    assert f"{kept.run_id}: broken\n  Response " in result.output
    result = biasledger("verify", *ledger, "--seal", "nonsense", code=3)
    assert result.stderr.startswith("Error: 'nonsense' is no seal")


def test_an_empty_ledger_has_nothing_to_verify(tmp_path: Path) -> None:
    ledger_path = tmp_path / "ledger.duckdb"
    Ledger(ledger_path).create()
    result = biasledger("verify", "--ledger", str(ledger_path))
    assert (result.exit_code, result.output) == (0, f"There is no run in {ledger_path}.\n")


def test_the_seal_of_nothing_is_the_zero() -> None:
    assert Chain().seal == Seal(0, "sha256:" + "0" * 64)


def test_what_ended_a_run_is_not_quoted_where_it_cannot_be_erased(tmp_path: Path) -> None:
    def ask(prompt: str, system_prompt: str | None, seed: int | None) -> str:
        raise ValueError(SECRET)

    ledger_path = tmp_path / "ledger.duckdb"
    target = of_function(ask, name="mine")
    with pytest.raises(TargetError, match="None of the first 10 questions was answered"):
        collect(load_audit(write_audit(tmp_path)), target, ledger_path, CollectOptions(backoff_seconds=0))
    ((run,), _) = list_runs(ledger_path)
    assert len(holders(tmp_path)) == 2
    with duckdb.connect(str(ledger_path), read_only=True) as connection:
        failed = connection.execute("select distinct prompt_id, trial from raw.responses").fetchall()
        message = connection.execute("select detail ->> 'reason' from raw.run_events where event = 'failed'")
        assert message.fetchall() == [("The target was given up; the error of its last response says why.",)]
    for prompt_id, trial in failed:
        erase(ledger_path, run.run_id, prompt_id, trial, reason=REASON)
    assert holders(tmp_path) == []
