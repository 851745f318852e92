"""Test the journal: an entry is on disk as a whole or not at all, one process writes, and any process may read."""

from __future__ import annotations

import errno
import json
import math
import os
import random
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from collector.errors import InputError, LedgerError
from collector.files.lock import lock
from collector.hashing import canonical_bytes, canonical_json, hash_of
from collector.journal import writer as journal
from collector.journal.chain import ZERO, record_digest
from collector.journal.reader import end_of, is_being_written, journal_line, journal_path, read_journal
from collector.journal.records import AnalysisSettings, analysis_of, prompt_of, response_of, run_of
from collector.journal.writer import JournalWriter
from collector.rows import RelevanceRow, ResponseRow
from collector.spec.prompts import Prompt, PromptAttribute
from collector.spec.subjects import hash_of_relevance
from tests.python.rows import a_run

MOMENT = datetime(2026, 11, 21, 8, 30, 0, 250)
SPEC = {"version": 1, "share": 0.5}
RUN = a_run(
    "small-sim-1", spec=SPEC, parameters={"temperature": 1.0}, versions={"python": "3.11"}, started_at=MOMENT
)
RELEVANCE = (RelevanceRow("Adele", None, "Hello", 2.0),)
ANALYSIS = AnalysisSettings("small", {"version": 1}, MOMENT, hash_of_relevance(RELEVANCE), RELEVANCE)
PROMPTS = [
    Prompt(
        "one", "en", "plain", f"Ask {name} 🍵", attributes=(PromptAttribute(1, "race", name, f"a {name}"),)
    )
    for name in ("White", "Asian")
]
N_HEAD = 5


def answered(number: int, text: str | None = "{}") -> ResponseRow:
    row = ResponseRow(
        PROMPTS[0].prompt_id, number, 1, seq=0, status="ok", content_hash="sha256:1", response_text=text
    )
    return replace(row, latency_ms=12, requested_at=MOMENT, is_last=number % 2 == 0)


@pytest.fixture(name="path")
def path_fixture(ledger_path: Path) -> Path:
    return journal_path(ledger_path, "small-sim-1")


@pytest.fixture(name="writer")
def writer_fixture(path: Path) -> JournalWriter:
    return JournalWriter.create(path, RUN, ANALYSIS, PROMPTS, {"seed": 0})


FLOATS = [
    0.0,
    -0.0,
    1e-4,
    9.999999999999999e-05,
    1e-7,
    1e15,
    9999999999999998.0,
    1e16,
    1e22,
    5e-324,
    0.1,
    1 / 3,
    123456.789,
]


@pytest.mark.parametrize(
    "value",
    [
        *FLOATS,
        *(-one for one in FLOATS),
        2**53 + 1,
        2**63,
        2**64,
        -(2**70),
        True,
        False,
        None,
        "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000)])),
        "\U0001f375\U0010ffff",
        {"erased": "sha256:1"},
        [1.5, None],
        {},
    ],
)
def test_a_line_is_canonical_json_to_the_byte(value: object) -> None:
    """Older journals and their hashes stay valid, however a value is written."""
    body = {"z": value, "é": 1, "\U0001f375": 2, "\uffff": 3, "answer_text": "a"}
    content = {"position": 7, "kind": "response", "body": body, "previous": ZERO, "hash": ZERO}
    assert journal_line(7, "response", body, ZERO, ZERO).decode() == canonical_json(content) + "\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_does_not_have_is_in_no_line(value: object) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant|surrogates"):
        journal_line(7, "response", {"value": value}, ZERO, ZERO)


def test_any_number_is_written_as_ever() -> None:
    numbers = random.Random(1)
    for _ in range(20_000):
        (value,) = struct.unpack("<d", numbers.randbytes(8))
        for one in (value, numbers.uniform(-1, 1) * 10 ** numbers.randint(-8, 20)):
            if math.isfinite(one):
                assert canonical_bytes({"latency_ms": one}).decode() == canonical_json({"latency_ms": one})


def test_what_is_written_comes_back(path: Path, writer: JournalWriter) -> None:
    texts = ["plain", 'quotes " \\ and\nlines\r\n', "nul \x00, bell \x07, \u2028, 🍵", None]
    rows = [answered(number, text) for number, text in enumerate(texts, start=1)]
    writer.append(rows[:3])
    writer.event("resumed", {"kept": 3})
    writer.append(rows[3:])
    records = list(read_journal(path))
    kinds = ["run", "analysis", "event", "prompt", "prompt", *["response"] * 3, "event", "response"]
    assert [record.kind for record in records] == kinds
    assert [record.position for record in records] == list(range(10))
    assert run_of(records[0].body) == RUN
    assert analysis_of(records[1].body) == ANALYSIS
    assert [prompt_of(record.body) for record in records[3:5]] == PROMPTS
    back = [response_of(record.body) for record in records if record.kind == "response"]
    assert back == rows
    assert [row.seq for row in back] == [1, 2, 3, 4]
    assert writer.n_responses == 4
    assert (records[-1].end, str(writer.seal)) == (writer.mark, f"10:{records[-1].hash}")
    assert end_of(path) == writer.mark
    assert writer.mark.offset == path.stat().st_size


def test_a_line_is_canonical_and_chained_as_documented(path: Path, writer: JournalWriter) -> None:
    writer.append([answered(1)])
    previous = ZERO
    for position, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        content = json.loads(line)
        assert line == canonical_json(content)
        assert set(content) == {"position", "kind", "body", "previous", "hash"}
        digest = record_digest(content["kind"], content["body"])
        linked = {"position": position, "kind": content["kind"], "digest": digest, "previous": previous}
        assert content["previous"] == previous
        assert content["hash"] == hash_of(linked)
        previous = content["hash"]


def test_reading_begins_and_ends_at_the_given_places(path: Path, writer: JournalWriter) -> None:
    middle = writer.mark
    writer.append([answered(1), answered(2)])
    after = writer.mark
    writer.append([answered(3)])
    assert [record.body["trial"] for record in read_journal(path, middle, after.offset)] == [1, 2]
    assert [record.body["trial"] for record in read_journal(path, middle)] == [1, 2, 3]
    assert list(read_journal(path, writer.mark)) == []


def test_a_torn_last_line_is_no_record_wherever_it_is_torn(path: Path, writer: JournalWriter) -> None:
    writer.append([answered(1)])
    before = writer.mark
    writer.append([answered(2, "🍵" * 20)])
    writer.close()
    whole = path.read_bytes()
    for length in range(before.offset, len(whole), 5):
        path.write_bytes(whole[:length])
        assert sum(1 for _ in read_journal(path)) == N_HEAD + 1
        assert end_of(path) == before
    # A file system may also have made the file longer than what it wrote.
    path.write_bytes(whole[: before.offset] + b"\0" * 4096)
    assert sum(1 for _ in read_journal(path)) == N_HEAD + 1


def test_resuming_cuts_off_a_torn_line_and_goes_on(
    path: Path, writer: JournalWriter, caplog: pytest.LogCaptureFixture
) -> None:
    writer.append([answered(1), answered(2)])
    seal = writer.seal
    writer.close()
    with path.open("ab") as stream:
        stream.write(b'{"body":{"response_text":"half')
    visited = []
    with JournalWriter.resume(path, visited.append) as resumed:
        assert resumed.seal == seal
        assert len(visited) == seal.count
        resumed.append([answered(3)])
    (sentence,) = [record.message for record in caplog.records]
    assert "cut off a torn last line of 30 bytes" in sentence
    assert 'response_text":"half' in sentence
    assert [one.body["seq"] for one in read_journal(path) if one.kind == "response"] == [1, 2, 3]


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda lines: [*lines[:5], b"{}\n", *lines[6:]], "line 6: it is no record"),
    (lambda lines: [*lines[:5], b"\xff\n", *lines[6:]], "line 6: it is no record"),
    (lambda lines: [*lines[:5], *lines[6:]], "line 6: its position is 6 and should be 5"),
    (lambda lines: [*lines[:5], lines[6], lines[5], lines[7]], "line 6: its position is 6 and should be 5"),
    (lambda lines: [*lines[:6], lines[6].replace(b"first", b"other"), lines[7]],
     "line 7: its content does not match its hash"),
    (lambda lines: [*lines[:7], lines[7].replace(b"first", b"other")],
     "line 8: its content does not match its hash"),
    (lambda lines: [*lines[:6], lines[6].replace(b'"previous":"sha256:', b'"previous":"sha256:0', 1), lines[7]],
     "line 7: it does not follow on the line before"),
])  # fmt: skip
def test_a_broken_line_is_named(
    path: Path, writer: JournalWriter, change: Callable[[list[bytes]], list[bytes]], sentence: str
) -> None:
    writer.append([answered(number, "first") for number in (1, 2, 3)])
    writer.close()
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == N_HEAD + 3
    path.write_bytes(b"".join(change(lines)))
    with pytest.raises(LedgerError, match=sentence) as caught:
        list(read_journal(path))
    assert str(caught.value).startswith(str(path))
    with pytest.raises(LedgerError, match=sentence):
        JournalWriter.resume(path)
    assert not is_being_written(path)


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_what_cannot_be_written_leaves_the_journal_as_it_was(
    path: Path, writer: JournalWriter, monkeypatch: pytest.MonkeyPatch, call: str, reason: int
) -> None:
    writer.append([answered(1)])
    seal, content = writer.seal, path.read_bytes()
    real_write = os.write

    def fail(*arguments: object) -> int:
        if call == "write" and len(arguments[1]) > 10:
            # A disk that fills up takes a part first.
            return real_write(arguments[0], arguments[1][:10])
        raise OSError(reason, os.strerror(reason))

    rows = [answered(2), answered(3)]
    with monkeypatch.context() as patched:
        patched.setattr(journal.os, call, fail)
        with pytest.raises(LedgerError, match="cannot be written") as caught:
            writer.append(rows)
    assert os.strerror(reason) in str(caught.value)
    assert "biasledger collect --resume small-sim-1" in str(caught.value)
    assert writer.seal == seal
    if call == "write":
        assert path.read_bytes() == content
        writer.append(rows)
    else:
        # They may or may not be on disk: this writer stops, and a resumed run finds them.
        for again in (writer.sync, lambda: writer.append([answered(4)]), lambda: writer.event("failed", {})):
            with pytest.raises(LedgerError, match=os.strerror(reason)):
                again()
        assert (writer.seal, writer.n_responses) == (seal, 1)
        writer.close()
        writer = JournalWriter.resume(path)
        assert writer.n_responses == 3
    assert [row.seq for row in rows] == [2, 3]
    assert sum(1 for _ in read_journal(path)) == N_HEAD + 3


def test_what_one_thread_could_not_bring_to_disk_another_one_does_not_take_as_kept(
    path: Path, writer: JournalWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes one sync, slowly, and fails the next, which another thread begins meanwhile."""
    real_sync = os.fsync
    sentence: list[str] = []

    def event() -> None:
        try:
            writer.event("batch_submitted", {})
        except LedgerError as error:
            sentence.append(str(error))

    other = threading.Thread(target=event)

    def sync(descriptor: int) -> None:
        if threading.current_thread() is other:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        other.start()
        other.join(0.3)
        real_sync(descriptor)

    monkeypatch.setattr(journal.os, "fsync", sync)
    writer.append([answered(1)])
    other.join()
    assert len(sentence) == 1
    records = list(read_journal(path))
    assert (writer.n_responses, writer.seal.count) == (1, N_HEAD + 1)
    assert records[writer.seal.count - 1].hash == writer.seal.head_hash


def test_a_line_that_could_not_be_read_back_is_not_written(
    path: Path, writer: JournalWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = path.read_bytes()
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 2_000)
    sentence = r"a response takes 2,\d\d\d bytes, and less than 2,000 can be read"
    with pytest.raises(LedgerError, match=sentence):
        writer.append([answered(1, "x" * 2_000)])
    assert path.read_bytes() == content
    writer.append([answered(1)])
    assert writer.n_responses == 1


def test_a_journal_appears_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(journal.os, "fsync", fail)
        with pytest.raises(LedgerError, match="cannot be made: No space left on device"):
            JournalWriter.create(path, RUN, ANALYSIS, PROMPTS)
    assert list(path.parent.iterdir()) == []
    JournalWriter.create(path, RUN, ANALYSIS, PROMPTS).close()
    with pytest.raises(LedgerError, match="cannot be made: File exists"):
        JournalWriter.create(path, RUN, ANALYSIS, PROMPTS)
    assert [one.name for one in path.parent.iterdir()] == ["small-sim-1.jsonl"]


def test_one_opening_writes(path: Path, writer: JournalWriter) -> None:
    assert is_being_written(path)
    # Another process is refused like another opening of the file.
    with pytest.raises(InputError, match="Run small-sim-1 is being collected by another process"):
        JournalWriter.resume(path)
    writer.append([answered(1)])
    writer.close()
    writer.close()
    assert not is_being_written(path)
    with pytest.raises(LedgerError, match="is closed"):
        writer.append([answered(2)])


def test_a_lock_is_on_the_file_that_is_there_now(path: Path, writer: JournalWriter) -> None:
    writer.append([answered(1)])
    writer.close()
    old = os.open(path, os.O_RDWR)
    replacement = path.with_suffix(".other")
    replacement.write_bytes(path.read_bytes())
    replacement.rename(path)
    assert lock(old)
    # A process that still holds the replaced file blocks nobody.
    JournalWriter.resume(path).close()
    os.close(old)


def test_many_threads_share_a_writer(path: Path, writer: JournalWriter) -> None:
    def append(first: int) -> None:
        for number in range(first, first + 20):
            writer.append([answered(number)])

    threads = [threading.Thread(target=append, args=(100 * one,)) for one in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [one for one in read_journal(path) if one.kind == "response"]
    assert [one.body["seq"] for one in records] == list(range(1, 161))
    assert len({one.body["trial"] for one in records}) == 160


@pytest.mark.parametrize("name", ["../other", "", "a/b", ".hidden"])
def test_a_path_is_no_runs_name(ledger_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is no run's name"):
        journal_path(ledger_path, name)


def test_a_journal_that_is_missing(path: Path) -> None:
    for call in (lambda: list(read_journal(path)), lambda: end_of(path), lambda: is_being_written(path)):
        with pytest.raises(LedgerError, match="There is no journal"):
            call()
    with pytest.raises(InputError, match="There is no journal"):
        JournalWriter.resume(path)


def test_rows_survive_this_process_and_are_kept_once_synced(path: Path, writer: JournalWriter) -> None:
    before = writer.mark
    writer.write([answered(1)])
    assert (writer.mark, writer.n_responses) == (before, 0)
    # Another process reads it already.
    assert [record.kind for record in read_journal(path)][-1] == "response"
    writer.sync()
    assert (writer.mark, writer.n_responses) == (end_of(path), 1)
