"""Reading a journal: one append-only file of JSON Lines a run.

A line is canonical JSON of position, kind, body, previous and hash, see `collector.journal.chain`. Anybody may read it while one
process writes.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from collector.errors import InputError, LedgerError
from collector.files.lock import is_locked
from collector.files.plain import open_plain
from collector.hashing import canonical_bytes
from collector.journal.chain import (
    FIELDS,
    ZERO,
    Seal,
    next_hash,
    record_digest,
    unhashed_keys,
)
from collector.journal.records import changed_tables

FOLDER = "journal"
TAIL_BYTES = 1 << 14
# Far more than an answer with its raw body takes; a hole in a file reads as a line without end.
MAX_LINE_BYTES = 256 << 20
N_KEYS = 5  # of a line: position, kind, body, previous, hash
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """A place between two records: the number of records before it, the last one's hash, and the byte where the next begins."""

    count: int = 0
    head_hash: str = ZERO
    offset: int = 0

    @property
    def seal(self) -> Seal:
        """The seal of everything before this place."""
        return Seal(self.count, self.head_hash)


START = Mark()


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a journal; `digest` is its body's, see `collector.journal.chain`, `end` the place after it."""

    position: int
    kind: str
    body: dict[str, Any]
    digest: str
    previous: str
    hash: str
    end: Mark


def journal_folder(ledger_path: Path) -> Path:
    """Return the folder of a ledger's journals."""
    return ledger_path.parent / FOLDER


def journal_path(ledger_path: Path, run_id: str) -> Path:
    """Return where a run's journal is.

    Raises:
        InputError: the text cannot be a run's name.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise InputError(f"{run_id!r} is no run's name; `biasledger runs` lists the runs.")
    return journal_folder(ledger_path) / f"{run_id}.jsonl"


def journal_line(position: int, kind: str, body: Mapping[str, Any], previous: str, linked: str) -> bytes:
    """Return a record as a journal's line: canonical JSON, in UTF-8.

    Args:
        position, kind, body: the record.
        previous, linked: the hash of the record before it, and its own.
    """
    # The keys in their order; but for the body nothing needs escaping, and this is written for every answer.
    rest = f',"hash":"{linked}","kind":"{kind}","position":{position},"previous":"{previous}"}}\n'
    return b'{"body":' + canonical_bytes(body) + rest.encode("ascii")


def next_line(before: Mark, kind: str, body: Mapping[str, Any]) -> tuple[bytes, Mark]:
    """Return the journal line of a record that is written after `before`, and the mark after that line."""
    linked = next_hash(before.count, kind, record_digest(kind, body), before.head_hash)
    line = journal_line(before.count, kind, body, before.head_hash, linked)
    return line, Mark(before.count + 1, linked, before.offset + len(line))


def read_journal(
    path: Path, start: Mark = START, stop: int | None = None, *, to_the_byte: bool = False
) -> Iterator[Record]:
    """Yield a journal's records one by one, each checked against its hash and the one before; a torn last line is no record.

    A line holds the keys that its hash covers and nothing else: one with unknown keys is broken. If a key occurs twice, the
    last one counts, which the hash then covers.

    Args:
        path: the journal; another process may be writing it.
        start: where to begin: `Record.end` or `JournalWriter.mark`.
        stop: the byte at which to end; None reads everything.
        to_the_byte: whether lines have to be spelled as they are written, too: spacing, order of keys, escapes, no key twice.

    Raises:
        LedgerError: there is no such journal, or a line before the last one is broken; the message names the line.
    """
    with _opened(path) as stream:
        stream.seek(start.offset)
        mark = start
        while stop is None or mark.offset < stop:
            line = stream.readline(MAX_LINE_BYTES)
            if not line.endswith(b"\n"):
                if len(line) == MAX_LINE_BYTES:
                    raise LedgerError(f"{path} is broken at line {mark.count + 1}: it has no end.")
                return
            record = _parsed(line, mark)
            if to_the_byte and isinstance(record, Record):
                written = journal_line(
                    record.position, record.kind, record.body, record.previous, record.hash
                )
                record = record if line == written else _otherwise(line)
            if isinstance(record, str):
                # A crash may leave part of the last lines, which is not always at their end.
                if not _is_json(line) and not stream.read(1):
                    return
                raise LedgerError(f"{path} is broken at line {mark.count + 1}: {record}.")
            mark = record.end
            yield record


def end_of(path: Path) -> Mark:
    """Return the place after a journal's last whole line, found from the end, without checking anything before.

    Raises:
        LedgerError: the journal cannot be read, or its last line is broken.
    """
    try:
        with _opened(path) as stream:
            line, end = _last_line(stream)
    except OSError as error:
        raise _not_readable(path, error) from None
    try:
        content = json.loads(line)
        return Mark(content["position"] + 1, content["hash"], end)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LedgerError(f"{path} is broken at its last line: it is no record.") from None


def _opened(path: Path) -> BinaryIO:
    """Open a journal for reading.

    Raises:
        LedgerError: there is none, it is no regular file, or it cannot be read.
    """
    try:
        return open_plain(path)
    except InputError as error:
        raise LedgerError(str(error)) from None
    except OSError as error:
        raise _not_readable(path, error) from None


def _last_line(stream: BinaryIO) -> tuple[bytes, int]:
    """Return the last whole line and the byte after it; an empty one where there is none."""
    position = stream.seek(0, os.SEEK_END)
    tail = b""
    while position > 0 and tail.count(b"\n") < 2 and len(tail) < MAX_LINE_BYTES:
        step = min(max(TAIL_BYTES, len(tail)), position)
        position = stream.seek(position - step)
        tail = stream.read(step) + tail
    whole = tail[: tail.rfind(b"\n") + 1]
    return whole[whole.rfind(b"\n", 0, -1) + 1 :], position + len(whole)


def _parsed(line: bytes, before: Mark) -> Record | str:
    """Return the record of a line, or what is wrong with it."""
    record = _checked(line, before, orjson.loads)
    # If the hash does not fit, Python's own reader decides: orjson does not read integers of any length, for one.
    return (
        record if isinstance(record, Record) else _checked(line, before, lambda one: json.loads(one.decode()))
    )


def _checked(line: bytes, before: Mark, read: Callable[[bytes], Any]) -> Record | str:
    try:
        content = read(line)
        kind, body, linked = content["kind"], content["body"], content["hash"]
        record = Record(
            position=content["position"],
            kind=kind,
            body=body,
            digest=record_digest(kind, body),
            previous=content["previous"],
            hash=linked,
            end=Mark(before.count + 1, linked, before.offset + len(line)),
        )
        n_keys = len(content)
    except RecursionError:
        return "it is nested more deeply than a record ever is"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "it is no record"
    if record.position != before.count:
        return f"its position is {record.position} and should be {before.count}"
    if record.previous != before.head_hash:
        return "it does not follow on the line before"
    if record.hash != next_hash(record.position, kind, record.digest, record.previous):
        return "its content does not match its hash"
    return _unhashed(kind, body, n_keys) or record


def _unhashed(kind: str, body: Mapping[str, Any], n_keys: int) -> str | None:
    """Say which part of a line its hash does not cover, as it could have been added by anybody."""
    if kind not in FIELDS:
        return f"it is of the kind {kind!r}, which no record is"
    if names := unhashed_keys(kind, body):
        return f"it has {names[0]!r}, which no {kind} has"
    if n_keys > N_KEYS:
        return "it has keys besides those of a record"
    if kind == "analysis":
        return _unhashed_additions(body)
    return None


def _unhashed_additions(body: Mapping[str, Any]) -> str | None:
    try:
        what = changed_tables(body)
    except (KeyError, TypeError, ValueError):
        return "it is no analysis with its tables"
    return f"its {what} do not match their hash" if what else None


def _otherwise(line: bytes) -> str:
    """Return how a line's spelling differs from canonical JSON, though its content is the same."""
    repeated: list[list[tuple[str, Any]]] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) < len(pairs):
            repeated.append(pairs)

    json.loads(line, object_pairs_hook=note)
    return "it has a key twice" if repeated else "it says the same as its record in other bytes"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:
        pass
    return True


def is_being_written(path: Path) -> bool:
    """Return whether a process holds the journal at this moment.

    Raises:
        LedgerError: the file cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _not_readable(path, error) from None
    try:
        return is_locked(descriptor)
    finally:
        os.close(descriptor)


def no_journal(path: Path) -> str:
    """Return the sentence about a journal that is not there."""
    where = "--ledger says next to which ledger their journals are"
    return f"There is no journal {path}; `biasledger runs` lists the runs, and {where}."


def _not_readable(path: Path, error: OSError) -> LedgerError:
    if isinstance(error, FileNotFoundError):
        return LedgerError(no_journal(path))
    return LedgerError(f"The journal {path} cannot be read: {error.strerror or error}.")
