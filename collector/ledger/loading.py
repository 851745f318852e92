"""Load journals into the ledger: missing records are written in short appends, so that the ledger can be rebuilt from journals.

The end of the ledger's own chain shows how much is loaded; a journal's records and their chain are written in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.errors import LedgerError
from collector.journal.chain import ChainRecord, Seal, record_extra, record_key
from collector.journal.reader import START, Mark, end_of, is_being_written, journal_folder, read_journal
from collector.journal.records import analysis_of, event_of, prompt_of, response_of, run_of
from collector.journal.writer import SHOWN_CHARACTERS, sync_journal
from collector.ledger.database import Ledger, LedgerLockedError

if TYPE_CHECKING:
    from collector.journal.reader import Record
    from collector.ledger.appending import Append
    from collector.rows import RunRow

BATCH_RECORDS = 5_000
BATCH_BYTES = 1 << 24
# A checkpoint may rewrite the table's last 122,880 rows, however few were added: without bounds it takes a gigabyte. The rows
# must fit, however long their texts are.
MEMORY_BYTES = 128_000_000
MEMORY_PER_BYTE = 4
THREADS = 1
# run, analysis, started: the records before the prompts.
N_HEAD = 3


@dataclass(frozen=True, slots=True)
class Head:
    """The first records of a journal: the run, the detail of its event 'started', the ledger that it was collected for."""

    path: Path
    run: RunRow
    started: Mapping[str, Any]
    ledger_name: str

    @property
    def run_id(self) -> str:
        """The run."""
        return self.run.run_id


def read_head(path: Path) -> Head:
    """Read the first records of a journal.

    Raises:
        LedgerError: the journal is broken, has no head, or is another run's by its name.
    """
    records = list(islice(read_journal(path), N_HEAD))
    if [record.kind for record in records] != ["run", "analysis", "event"]:
        raise LedgerError(
            f"{path} is no run's journal: it does not begin with a run, its analysis and its start."
        )
    run, _, started = (record.body for record in records)
    try:
        head = Head(path, run_of(run), started["detail"], str(started["detail"]["ledger"]))
    except (KeyError, TypeError, ValueError):
        raise LedgerError(
            f"{path} is no run's journal: its first lines lack what a run and its start say."
        ) from None
    require_own_name(path, head.run_id)
    return head


def read_heads(ledger_path: Path) -> tuple[list[Head], list[str]]:
    """Return the heads of a ledger's journals, and the error of each journal whose head cannot be read."""
    heads, notes = [], []
    for path in sorted(journal_folder(ledger_path).glob("*.jsonl")):
        try:
            head = read_head(path)
        except LedgerError as error:
            notes.append(str(error))
            continue
        if head.ledger_name == ledger_path.name:
            heads.append(head)
    return heads, notes


def require_own_name(path: Path, run_id: str) -> None:
    """Make sure that a journal is called after its run: a copy next to it would go into the ledger as a second run.

    Raises:
        LedgerError: it is not.
    """
    if path.stem != run_id:
        raise LedgerError(
            f"{path} is the journal of run {run_id} under another name: call it {run_id}.jsonl again or, if it is a copy, put it "
            f"elsewhere."
        )


class JournalLoader:
    """Loads one journal into the ledger, repeatedly while the journal grows.

    Args:
        path: the journal.
        ledger: the ledger; its file exists.

    Attributes:
        leaves_row_groups: the ledger keeps what each append brought in row groups of its own, so that few appends are better.
    """

    def __init__(self, path: Path, ledger: Ledger) -> None:
        self.leaves_row_groups = False
        self._path = path
        self._ledger = ledger
        self._run_id = path.stem
        self._mark: Mark | None = None

    def load(self, stop: int | None = None, *, seal: bool = False, wait_seconds: float | None = None) -> int:
        """Write the missing records, at most BATCH_RECORDS or about BATCH_BYTES in a transaction.

        Args:
            stop: the journal's byte at which to end; None loads all of it.
            seal: write the chain's seal when all is loaded.
            wait_seconds: overrides how long to wait for a locked ledger.

        Returns:
            The number of records written.

        Raises:
            LedgerError: the ledger cannot be written now, the journal is broken, or they contradict each other.
        """
        n_written = 0
        is_done = False
        while not is_done:
            # Read before the ledger is opened, to hold it for short moments only.
            batch = None if self._mark is None else self._batch(self._mark, stop)
            with self._ledger.append(
                wait_seconds=wait_seconds, threads=THREADS, may_merge=not self.leaves_row_groups
            ) as append:
                end = append.chain_end(self._run_id) or START.seal
                if self._mark is None or batch is None or end != self._mark.seal:
                    # Another process may have loaded records meanwhile, so find the place again.
                    self._mark = _place_of(self._path, end)
                    batch = self._batch(self._mark, stop)
                at_once = max(_size(self._mark, batch), append.merged_bytes or 0)
                append.limit_memory(MEMORY_BYTES + MEMORY_PER_BYTE * at_once)
                self.leaves_row_groups = append.merged_bytes is None
                if batch and batch[0].kind == "run":
                    require_own_name(self._path, batch[0].body["run_id"])
                with _raise_on_malformed_record(self._path, self._mark.count):
                    _write(append, self._run_id, batch)
                after = batch[-1].end if batch else self._mark
                is_done = not _is_full(self._mark, batch)
                if seal and is_done and after.count:
                    append.seal(self._run_id, after.seal)
            self._mark = after
            n_written += len(batch)
        return n_written

    def _batch(self, start: Mark, stop: int | None) -> list[Record]:
        batch: list[Record] = []
        for record in read_journal(self._path, start, stop):
            batch.append(record)
            if _is_full(start, batch):
                break
        return batch


@contextmanager
def _raise_on_malformed_record(path: Path, count: int) -> Iterator[None]:
    """Raise LedgerError for a record whose hash is right but whose fields are not those of its kind."""
    import duckdb

    odd = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException):
        raise  # the disk or the memory failed, not the record
    except (*odd, duckdb.Error) as error:
        reason = " ".join(str(error).split())[:SHOWN_CHARACTERS]
        raise LedgerError(
            f"{path} has a record after line {count} that is none of its kind ({type(error).__name__}: {reason})."
        ) from None


def load_journal(path: Path, ledger: Ledger) -> int:
    """Write the records that the ledger lacks of a journal, and seal it; existing records stay.

    Returns:
        The number of records written.

    Raises:
        LedgerError: the ledger cannot be written, the journal is broken, or they contradict each other.
    """
    return JournalLoader(path, ledger).load(seal=True)


def load_all(ledger_path: Path) -> list[str]:
    """Load every journal next to a ledger that was collected for it and that no process is writing; make the ledger if need be.

    Returns:
        A sentence for each journal that gave something, or could not be loaded.

    Raises:
        LedgerError: the ledger cannot be used, or is locked.
    """
    heads, notes = read_heads(ledger_path)
    sentences = [f"{note} It is left out." for note in notes]
    if not heads:
        return sentences
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        ends = append.sealed_ends()
    # Oldest first: analyses replace each other in this order.
    n_before = len(sentences)
    for head in sorted(heads, key=lambda head: (head.run.started_at, head.run_id)):
        sentences += _load_one(head, ledger, ends.get(head.run_id))
    if len(sentences) > n_before:
        # Restoring the analysis of a retracted run depends on later runs, so do it after all journals are loaded.
        with ledger.append() as append:
            append.restore_all_analysis_settings()
    return sentences


def _load_one(head: Head, ledger: Ledger, sealed: Seal | None) -> list[str]:
    try:
        end = end_of(head.path)
        if is_being_written(head.path):
            return [
                f"Run {head.run_id} is being collected; what it adds now is loaded by itself or by the next build."
            ]
        torn = end.offset < head.path.stat().st_size
        n_loaded = 0
        # A killed process may have written its last records into the ledger but not their seal.
        if sealed != end.seal:
            # The ledger may not hold what a power failure could still take from the journal.
            sync_journal(head.path)
            n_loaded = load_journal(head.path, ledger)
    except LedgerLockedError:
        raise
    except LedgerError as error:
        return [f"{error} The journal of run {head.run_id} is left out."]
    sentences = []
    if n_loaded:
        sentences.append(
            f"Run {head.run_id}: {n_loaded:,} {'record' if n_loaded == 1 else 'records'} loaded from its journal."
        )
    if torn:
        sentences.append(
            f"Run {head.run_id}: the journal's last line is torn and left out; `biasledger collect --resume {head.run_id}` "
            f"asks for it again."
        )
    return sentences


def _place_of(path: Path, loaded: Seal) -> Mark:
    """Return the journal's place that corresponds to the end of the ledger's chain.

    Raises:
        LedgerError: the ledger holds what the journal does not.
    """
    if loaded.count == 0:
        return START
    count = offset = 0
    line = b""
    try:
        with path.open("rb") as stream:
            # Lines are only counted: they were read and checked when they were loaded.
            for line in islice(stream, loaded.count):
                count += 1
                offset += len(line)
    except OSError as error:
        raise LedgerError(f"The journal {path} cannot be read: {error.strerror or error}.") from None
    expected = f'"hash":"{loaded.head_hash}"'.encode("ascii")
    if count < loaded.count or not line.endswith(b"\n") or expected not in line:
        raise LedgerError(
            f"The ledger's records of run {path.stem} are not those of {path}; `biasledger verify {path.stem}` says which "
            f"differ."
        )
    return Mark(loaded.count, loaded.head_hash, offset)


def _is_full(start: Mark, batch: Sequence[Record]) -> bool:
    return len(batch) >= BATCH_RECORDS or _size(start, batch) >= BATCH_BYTES


def _size(start: Mark, batch: Sequence[Record]) -> int:
    """Return the bytes that a batch takes in the journal."""
    return batch[-1].end.offset - start.offset if batch else 0


def _write(append: Append, run_id: str, batch: Sequence[Record]) -> None:
    """Write records and their chain; responses and prompts many at once, which is much faster."""
    for record in batch:
        if record.kind == "run":
            append.run(run_of(record.body))
        elif record.kind == "analysis":
            analysis = analysis_of(record.body)
            append.analysis(analysis.audit, analysis.document, analysis.registered_at)
            append.relevance(analysis.relevance_hash, analysis.relevance)
            append.markers(analysis.markers_hash, analysis.markers, analysis.probes)
        elif record.kind == "event":
            event = event_of(record.body)
            append.event(run_id, event.event, event.detail, event.happened_at)
    append.prompts(run_id, [prompt_of(record.body) for record in batch if record.kind == "prompt"])
    append.responses(run_id, [response_of(record.body) for record in batch if record.kind == "response"])
    for record in batch:
        if record.kind == "erasure":
            append.erasure(run_id, record.body)
    append.chain(run_id, [_chain_record(record) for record in batch])


def _chain_record(record: Record) -> ChainRecord:
    return ChainRecord(
        record.position,
        record.kind,
        record_key(record.kind, record.body),
        record_extra(record.kind, record.body),
        record.digest,
        record.hash,
    )
