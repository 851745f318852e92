"""Writing a journal: it is synced to disk before a response counts as kept.

One process at a time may write a journal: it holds a lock on the file.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.answers.texts.stored_text import storable
from collector.errors import InputError, LedgerError
from collector.files.lock import lock
from collector.files.replacing import sync_folder
from collector.journal.chain import (
    Seal,
    event_body,
    prompt_body,
    run_body,
)
from collector.journal.reader import (
    MAX_LINE_BYTES,
    START,
    Mark,
    Record,
    next_line,
    no_journal,
    read_journal,
)
from collector.journal.records import AnalysisSettings, analysis_body, response_body
from collector.rows import utc_now

if TYPE_CHECKING:
    from collector.rows import ResponseRow, RunRow
    from collector.spec.prompts import Prompt

# A build may be reading the journal for a moment; a collector holds it for hours.
LOCK_SECONDS = 1.0
BUFFER_BYTES = 1 << 22
SHOWN_CHARACTERS = 200
logger = logging.getLogger(__name__)


class JournalWriter:
    """The one process that writes a run's journal; get it from `create` or `resume`. Threads may share it."""

    def __init__(self, path: Path, descriptor: int, mark: Mark, n_responses: int) -> None:
        self.path = path
        self._descriptor = descriptor
        # The end on disk, and the written end: the records between would survive this process, but not a power failure.
        self._mark = self._written = mark
        self._n_responses = self._n_written = n_responses
        self._lock = threading.Lock()
        # One sync at a time: the system reports a failed one only once, and another thread would take the data as kept.
        self._sync_lock = threading.Lock()
        self._is_open = True
        # Why nothing is written any more.
        self._failure: LedgerError | None = None

    @classmethod
    def create(
        cls,
        path: Path,
        run: RunRow,
        analysis: AnalysisSettings,
        prompts: Iterable[Prompt],
        started: Mapping[str, Any] | None = None,
    ) -> JournalWriter:
        """Begin the journal of a new run; when this returns, what will be asked is on disk.

        Args:
            path: the file, see `journal_path`; it may not exist yet.
            run, analysis, prompts: the run, its analysis and its prompts.
            started: the detail of the event 'started', which comes third, before the prompts.

        Raises:
            LedgerError: the file exists or cannot be written.
        """
        # A journal appears with all its prompts or not at all.
        unfinished = path.with_name(f"{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LedgerError(f"The journal {path} cannot be made: {error.strerror or error}.") from None
        try:
            lock(descriptor)
            writer = cls(path, descriptor, START, 0)
            event = event_body("started", started or {}, run.started_at)
            head = [("run", run_body(run)), ("analysis", analysis_body(analysis)), ("event", event)]
            writer._write(chain(head, (("prompt", prompt_body(prompt)) for prompt in prompts)))
            writer._sync()
            # Unlike a renaming, a link never replaces a file.
            os.link(unfinished, path)
            unfinished.unlink()
            for folder in (path.parent, path.parent.parent):
                sync_folder(folder)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.close(descriptor)
            unfinished.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise LedgerError(f"The journal {path} cannot be made: {error.strerror or error}.") from None
            raise
        return writer

    @classmethod
    def resume(cls, path: Path, visit: Callable[[Record], None] | None = None) -> JournalWriter:
        """Go on writing a journal: its lines are read and checked, and a torn last one is cut off.

        Args:
            path: the file.
            visit: called with every record in order.

        Raises:
            InputError: another process is writing it; or there is no such journal.
            LedgerError: it is broken, or cannot be written.
        """
        descriptor = _open_locked(path)
        try:
            mark, n_responses = START, 0
            for record in read_journal(path):
                mark = record.end
                n_responses += record.kind == "response"
                if visit is not None:
                    visit(record)
            _cut(path, descriptor, mark.offset)
            # The bytes of a killed process may still be in memory only.
            os.fsync(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise LedgerError(f"The journal {path} cannot be written: {error.strerror or error}.") from None
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, mark, n_responses)

    @property
    def mark(self) -> Mark:
        """The place after the last record on disk."""
        return self._mark

    @property
    def seal(self) -> Seal:
        """The number of records on disk and the last one's hash."""
        return self._mark.seal

    @property
    def n_responses(self) -> int:
        """The number of responses on disk: the last one's `seq`."""
        return self._n_responses

    def append(self, rows: Sequence[ResponseRow]) -> None:
        """Keep responses: give them their `seq`, write them and return when they are on disk, with one sync for all.

        Raises:
            LedgerError: they could not be kept, for instance because the disk is full; see `write` and `sync`.
        """
        self.write(rows)
        self.sync()

    def write(self, rows: Sequence[ResponseRow]) -> None:
        """Give responses their `seq` and write them; the end of this process does not take them away, and `sync` keeps them.

        Raises:
            LedgerError: they could not be written; the journal ends where it did before.
        """
        with self._lock:
            for number, row in enumerate(rows, start=self._n_written + 1):
                row.seq = number
            self._write_or_undo(("response", response_body(row)) for row in rows)
            self._n_written += len(rows)

    def sync(self) -> None:
        """Return when all that was written before is on disk; others may write meanwhile.

        Raises:
            LedgerError: it could not be brought there. It stays in the file, where `resume` finds it; this writer writes no more.
        """
        with self._sync_lock:
            try:
                self._sync()
            except OSError as error:
                with self._lock:
                    self._failure = _not_written(self.path, error)
                raise self._failure from None

    def event(self, event: str, detail: Mapping[str, Any], happened_at: datetime | None = None) -> None:
        """Write an event, with the current time unless another is given. Characters that cannot be stored become U+FFFD.

        Raises:
            LedgerError: as `append`.
        """
        body = event_body(event, _storable(detail), happened_at or utc_now())
        with self._lock:
            self._write_or_undo([("event", body)])
        self.sync()

    def close(self) -> None:
        """Give the journal free; a second call does nothing."""
        with self._sync_lock, self._lock:
            if self._is_open:
                self._is_open = False
                os.close(self._descriptor)

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _sync(self) -> None:
        """Sync; `mark` moves last, so that it never goes beyond the bytes on disk."""
        with self._lock:
            self._require_open()
            written, n_written = self._written, self._n_written
        if written == self._mark:
            return
        os.fsync(self._descriptor)
        with self._lock:
            self._mark, self._n_responses = written, n_written

    def _require_open(self) -> None:
        if self._failure is not None:
            raise self._failure
        if not self._is_open:
            raise LedgerError(f"The journal {self.path} is closed.")

    def _write_or_undo(self, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        self._require_open()
        try:
            self._write(records)
        except BaseException as error:
            self._undo()
            if isinstance(error, OSError):
                raise _not_written(self.path, error) from None
            raise

    def _write(self, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Write records, all of them or none; `sync` brings them to disk."""
        mark = self._written
        buffer = bytearray()
        for kind, body in records:
            line, mark = next_line(mark, kind, body)
            if len(line) >= MAX_LINE_BYTES:
                raise LedgerError(
                    f"{self.path}: a {kind} takes {len(line):,} bytes, and less than {MAX_LINE_BYTES:,} can be read back; it "
                    f"is not kept."
                )
            buffer += line
            if len(buffer) >= BUFFER_BYTES:
                _write_all(self._descriptor, buffer)
                buffer.clear()
        _write_all(self._descriptor, buffer)
        self._written = mark

    def _undo(self) -> None:
        """Cut off the bytes after the last whole record. A journal that cannot be cut is not written again."""
        try:
            os.ftruncate(self._descriptor, self._written.offset)
            os.lseek(self._descriptor, self._written.offset, os.SEEK_SET)
        except OSError as error:
            logger.warning("%s cannot be cut back either: %s", self.path, error)
            self._failure = _not_written(self.path, error)


def _storable(value: Any) -> Any:
    """Return a document whose texts can be stored: an error may quote anything."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {name: _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if isinstance(value, list | tuple) else value


def _write_all(descriptor: int, content: bytearray) -> None:
    rest = bytes(content)
    while rest:
        # A file system that is nearly full takes a part first.
        rest = rest[os.write(descriptor, rest) :]


def sync_journal(path: Path) -> None:
    """Sync a journal to disk, because data of a killed collector may be in memory only.

    Raises:
        LedgerError: it cannot be brought there.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise LedgerError(
            f"The journal {path} cannot be brought to disk: {error.strerror or error}."
        ) from None


def _open_locked(path: Path) -> int:
    """Open a journal for writing and lock it."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise InputError(no_journal(path)) from None
        except OSError as error:
            raise LedgerError(f"The journal {path} cannot be written: {error.strerror or error}.") from None
        try:
            is_mine = lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if not is_mine:
            os.close(descriptor)
            if time.monotonic() >= deadline:
                raise InputError(
                    f"Run {path.stem} is being collected by another process{_holder(path)}; wait until it ends, or stop it."
                ) from None
            time.sleep(LOCK_SECONDS / 20)
            continue
        # An erasure replaces the file, so the lock has to be on the current one.
        if _is_same_file(descriptor, path):
            return descriptor
        os.close(descriptor)


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    """Name the process that holds a lock on a file, if the system reports it."""
    try:
        inode = path.stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
    held = re.search(rf"FLOCK\s+ADVISORY\s+WRITE\s+(?P<pid>\d+)\s+\w+:\w+:{inode}\s", locks)
    return f" (pid {held['pid']})" if held else ""


def _cut(path: Path, descriptor: int, length: int) -> None:
    """Cut off the bytes after the last whole record; the log keeps a copy of their beginning."""
    torn = os.pread(descriptor, SHOWN_CHARACTERS, length)
    if torn:
        size = os.fstat(descriptor).st_size - length
        text = torn.decode("utf-8", errors="backslashreplace")
        logger.warning(
            "%s: cut off a torn last line of %d bytes, which was never acknowledged: %s", path, size, text
        )
        os.ftruncate(descriptor, length)
    os.lseek(descriptor, length, os.SEEK_SET)


def _not_written(path: Path, error: OSError) -> LedgerError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        advice = "make space there and go on with"
    else:
        advice = "put that right and go on with"
    return LedgerError(
        f"The journal {path} cannot be written ({error.strerror or error}); everything kept before is safe: {advice} "
        f"`biasledger collect --resume {path.stem}`."
    )
