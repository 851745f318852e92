"""Test the ledger: migrations, short appends, other processes, and files that are no ledger."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import LedgerError
from collector.hashing import canonical_json, hash_of, hash_of_file, tagged_hash
from collector.ledger import database as module
from collector.ledger.database import Ledger, LedgerLockedError
from collector.ledger.schema import migrations
from collector.rows import RelevanceRow, ResponseRow, response_hash, utc_now
from tests.python.collector.importing import Query
from tests.python.collector.scripted import hold
from tests.python.rows import a_run


def register_analysis(
    ledger_path: Path,
    audit: str,
    document: Mapping[str, Any],
    relevance_hash: str | None = None,
    relevance: Sequence[RelevanceRow] = (),
) -> bool:
    Ledger(ledger_path).create()
    with Ledger(ledger_path).append() as append:
        append.relevance(relevance_hash, relevance)
        return append.analysis(audit, document)


@contextmanager
def held_by_another_process(path: Path, seconds: float) -> Iterator[int]:
    """Let another process hold the file for some seconds, from before the block on."""
    process = hold(path, seconds)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_a_new_ledger_has_every_migration_once(ledger_path: Path, query: Query) -> None:
    ledger = Ledger(ledger_path)
    ledger.create()
    ledger.create()
    applied = query("select version, name from raw.schema_migrations order by version")
    assert applied == [(version, name) for version, name, _ in migrations()]
    assert [version for version, _, _ in migrations()] == list(range(1, len(applied) + 1))
    tables = {row[0] for row in query("select table_name from duckdb_tables() where schema_name = 'raw'")}
    assert {"runs", "run_events", "analysis_settings", "prompts", "prompt_attributes", "responses"} <= tables


def test_folders_are_made(tmp_path: Path) -> None:
    Ledger(tmp_path / "deep" / "er" / "ledger.duckdb").create()
    assert (tmp_path / "deep" / "er" / "ledger.duckdb").is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=r"The folder .* cannot be made"):
        Ledger(tmp_path / "file" / "ledger.duckdb").create()


def test_rows_come_back_as_they_went_in(ledger: Ledger, query: Query) -> None:
    moment = datetime(2026, 1, 1, 12)
    text = "héllo 👋 \n 'quoted'"
    full = ResponseRow(
        "p", trial=1, attempt=2, seq=2, status="ok", content_hash="sha256:0", response_text=text, answer_text="日本",
        raw_body="{}", finish_reason="stop", model_answered="m", prompt_tokens=3, completion_tokens=4, latency_ms=1.5,
        error="none", requested_at=moment, weight=2.5, reasoning_text="why", read_by="text", read_text="日",
        answer_language="ja", source_row=7, kept='{"version":"2"}', turn=2, is_judged=False,
    )  # fmt: skip
    empty = ResponseRow(prompt_id="p", trial=1, attempt=1, seq=1, status="error", content_hash="sha256:1")
    with ledger.append() as append:
        append.run(a_run("r", spec={"b": 1, "a": "é"}))
        append.responses("r", [full, empty])
        append.responses("r", [])
    assert query("select * from raw.responses order by seq desc") == [
        (
            *("r", "p", 1, 2, 2, "ok", text, "日本", "{}", "stop", "m", 3, 4, 1.5, "none", moment, 2.5),
            *("sha256:0", "why", "text", "日", "ja", 7, '{"version":"2"}', 2, False),
        ),
        ("r", "p", 1, 1, 1, "error", *[None] * 10, 1.0, "sha256:1", *[None] * 8),
    ]
    assert query("select spec::varchar, spec_hash, is_simulated from raw.runs") == [
        ('{"a":"é","b":1}', tagged_hash('{"a":"é","b":1}'), True)
    ]


def test_a_block_that_raises_writes_nothing(ledger: Ledger, query: Query) -> None:

    def failing() -> None:
        with ledger.append() as append:
            append.run(a_run("r"))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        failing()
    assert query("select count(*) from raw.runs") == [(0,)]


def test_runs_are_listed_with_their_state(ledger: Ledger) -> None:
    with ledger.append() as append:
        for run_id in ("one", "two"):
            append.run(a_run(run_id))
            append.event(run_id, "started", {})
        append.event("two", "failed", {"reason": "x"})
        rows = [ResponseRow("p", 1, 1, 1, "malformed", "h"), ResponseRow("p", 1, 2, 2, "ok", "h")]
        append.responses("two", rows)
    found = [(run.run_id, run.state, run.n_responses) for run in ledger.runs()]
    assert found == [("one", "started", 0), ("two", "failed", 1)]


def test_an_analysis_is_written_only_when_it_changes(ledger_path: Path, query: Query) -> None:
    first, second = {"version": 1, "crossed": []}, {"version": 1, "crossed": [["a", "b"]]}
    written = [register_analysis(ledger_path, "small", one) for one in (first, first, second, second, first)]
    assert written == [True, False, True, False, True]
    assert register_analysis(ledger_path, "other", first)
    settings = "select analysis::varchar, analysis_hash from raw.analysis_settings"
    rows = query(f"{settings} where audit = 'small' order by registered_at")
    assert rows == [(canonical_json(one), hash_of(one)) for one in (first, second, first)]


def test_relevance_is_written_once_for_each_hash(ledger_path: Path, query: Query) -> None:
    rows = [RelevanceRow("Adele", "music", "Hello", 2.5), RelevanceRow("Abba", None, "Waterloo", 1.0)]
    analysis = {"version": 1}
    register_analysis(ledger_path, "small", analysis, "sha256:a", rows)
    register_analysis(ledger_path, "other", analysis, "sha256:a", rows)
    register_analysis(ledger_path, "small", analysis, "sha256:b", rows[:1])
    register_analysis(ledger_path, "none", analysis)
    assert query("select * from raw.relevance order by relevance_hash, subject desc") == [
        ("sha256:a", "Adele", "music", "Hello", 2.5),
        ("sha256:a", "Abba", None, "Waterloo", 1.0),
        ("sha256:b", "Adele", "music", "Hello", 2.5),
    ]
    with Ledger(ledger_path).append() as append:
        written = [append.relevance(name, rows) for name in ("sha256:c", "sha256:c", None)]
    assert written == [True, False, False]


def test_a_ledger_of_the_first_schema_is_brought_up_to_date(ledger_path: Path, query: Query) -> None:
    with duckdb.connect(str(ledger_path)) as connection:
        (_, name, first), *_ = migrations()
        connection.execute(
            "create schema raw; create table raw.schema_migrations "
            "(version integer primary key, name varchar not null, applied_at timestamp not null)"
        )
        connection.execute(first.read_text(encoding="utf-8"))
        connection.execute("insert into raw.schema_migrations values (1, ?, now()::timestamp)", [name])
        connection.execute(
            "insert into raw.prompts (run_id, prompt_id, template, language, mitigation, content_hash) "
            "values ('r', 'p', 't', 'en', 'plain', 'sha256:0')"
        )
    Ledger(ledger_path).create()
    kept = query("select prompt_id, domain, cluster, block from raw.kept_prompts")
    assert kept == [("p", None, None, None)]
    assert query("select count(*) from raw.relevance") == [(0,)]


def test_a_locked_ledger_is_waited_for_then_named(ledger_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(ledger_path).create()
    with held_by_another_process(ledger_path, 30) as pid:
        with pytest.raises(LedgerLockedError) as caught, Ledger(ledger_path, wait_seconds=0.3).append():
            pass
        assert f"process {pid}" in str(caught.value)
        assert "close it there and try again" in str(caught.value)
    with held_by_another_process(ledger_path, 60) as pid:
        # The lock is released when another process was seen to wait for it.
        monkeypatch.setattr(module.time, "sleep", lambda _: os.kill(pid, signal.SIGKILL))
        with Ledger(ledger_path, wait_seconds=60).append() as append:
            assert append.run_of_source("none", "sha256:0") is None


def test_a_ledger_that_is_missing_is_not_made_by_reading_or_appending(tmp_path: Path) -> None:
    missing = tmp_path / "missing.duckdb"
    with pytest.raises(LedgerError, match="There is no ledger at"):
        Ledger(missing).runs()
    with pytest.raises(LedgerError, match="There is no ledger at"), Ledger(missing).append():
        pass
    assert not missing.exists()


def write_text(path: Path) -> None:
    path.write_text("not a database")


def write_other_tables(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table sales (a integer)")


def write_no_table(path: Path) -> None:
    duckdb.connect(str(path)).close()


@pytest.mark.parametrize(
    ("write", "sentence", "is_made_a_ledger"),
    [
        (write_text, "is not a DuckDB file", False),
        (write_other_tables, r"no ledger \(it holds main.sales\)", False),
        (write_no_table, "is an empty DuckDB file", True),
    ],
)
def test_files_that_are_no_ledger(
    tmp_path: Path, write: Callable[[Path], None], sentence: str, is_made_a_ledger: bool
) -> None:
    path = tmp_path / "file.duckdb"
    write(path)
    with pytest.raises(LedgerError, match=sentence):
        Ledger(path).runs()
    if is_made_a_ledger:
        Ledger(path).create()
        assert list(Ledger(path).runs()) == []
    else:
        with pytest.raises(LedgerError, match=sentence):
            Ledger(path).create()


def test_schemas_of_other_versions(ledger_path: Path) -> None:
    Ledger(ledger_path).create()
    with duckdb.connect(str(ledger_path)) as connection:
        connection.execute("insert into raw.schema_migrations values (9999, 'later', now()::timestamp)")
    for use in (lambda: Ledger(ledger_path).runs(), Ledger(ledger_path).create):
        with pytest.raises(LedgerError, match="has schema 9999 and this version of biasledger knows"):
            use()
    with duckdb.connect(str(ledger_path)) as connection:
        connection.execute("delete from raw.schema_migrations")
    with pytest.raises(LedgerError, match="has an older schema"):
        Ledger(ledger_path).runs()


def test_hashes(tmp_path: Path) -> None:
    assert tagged_hash("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert hash_of({"b": [1], "a": "é"}) == hash_of({"a": "é", "b": [1]})
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
    path = tmp_path / "file"
    path.write_bytes("é".encode() * 700_000)
    assert hash_of_file(path) == tagged_hash("é" * 700_000)
    texts = {response_hash("sha256:p", "ok", text) for text in (None, "", "none", "a\nb", "a")}
    assert len(texts) == 5
    assert utc_now().tzinfo is None


def test_a_full_disk_leaves_the_ledger_as_it_was(ledger_path: Path, query: Query, repository: Path) -> None:
    Ledger(ledger_path).create()
    script = f"""
        import resource
        from pathlib import Path
        from collector.errors import LedgerError
        from collector.ledger.database import Ledger

        # To a process, this is a disk on which no file can grow any more.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        try:
            with Ledger(Path({str(ledger_path)!r})).append() as append:
                append.event("run-1", "started", {{"text": "x" * 1_000_000}})
        except LedgerError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"{ledger_path} cannot be written ("), done.stderr
    assert "File too large" in done.stdout
    assert done.stdout.endswith("; it is as it was before: put that right and try again.\n")
    assert query("select count(*) from raw.run_events") == [(0,)]


@pytest.mark.parametrize("kind", [duckdb.IOException, duckdb.OutOfMemoryException])
def test_a_disk_full_before_a_commit(
    ledger: Ledger, ledger_path: Path, query: Query, kind: type[duckdb.Error]
) -> None:
    """A large append writes, and spills what memory does not hold, long before it is committed."""

    def fill_the_disk() -> None:
        with ledger.append() as append:
            append.event("run-1", "started", {})
            raise kind("IO Error: Could not write file: No space left on device")

    with pytest.raises(LedgerError) as caught:
        fill_the_disk()
    assert str(caught.value) == (
        f"{ledger_path} cannot be written (Could not write file: No space left on device); it is as it was before: put that "
        f"right and try again."
    )
    assert query("select count(*) from raw.run_events") == [(0,)]
