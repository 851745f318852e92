"""The ledger: a DuckDB file that keeps prompts and responses as evidence, and the only code that writes it.

While one process writes a DuckDB file, no other can read it. So each append opens the file, waits if another process has it
open, and closes it again. Each append is one transaction.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from collector.errors import LedgerError
from collector.files.replacing import replace_file
from collector.ledger.appending import Append
from collector.ledger.schema import migrate, require_current, roll_back
from collector.rows import INTERRUPTED, NO_PROGRESS, utc_now
from collector.sql import literal

if TYPE_CHECKING:
    import duckdb

    from collector.spec.methods import Method

WAIT_SECONDS = 10.0
POLL_SECONDS = 0.1
# A checkpoint merges small row groups, and reads 2,048 of their rows at once, which must fit into memory. If a row group has
# longer rows than this on average, all stay as they are.
MERGED_ROW_BYTES = 1 << 16
VECTOR_ROWS = 2048
# Row groups of this size are not merged: they would be rewritten many times, up to 122,880 rows, for little gain.
MERGED_GROUP_BYTES = 1 << 25
# DuckDB's memory while all of a ledger is read: blocks of the file, and so many times the longest rows that it reads at once.
READ_BYTES = 64_000_000
READ_PER_BYTE = 4
# The exact limit in a variable of the connection, because DuckDB reports the setting rounded.
READ_LIMIT = "read_limit"
# Texts of the longest row that there could be: the longest of each column.
_LONGEST_ROW = """
select coalesce(sum(n_bytes), 0)
from (
    select max(stats.max_string_length::bigint) as n_bytes
    from pragma_storage_info('raw.responses')
    where segment_type = 'VARCHAR'
    group by column_id
)
"""
_LARGEST_ROW_GROUPS = """
select coalesce(max(n_bytes / n_rows), 0), coalesce(max(n_bytes), 0)
from (
    select
        sum(stats.total_string_length::bigint) as n_bytes,
        sum(count) filter (column_id = 0) as n_rows
    from pragma_storage_info('raw.responses')
    where segment_type = 'VARCHAR'
    group by row_group_id
)
"""

# Audit, the hash of its latest analysis, and each part of that.
_PARTS = """
    select audit, analysis_hash, unnest(json_keys(analysis)) as part
    from (
        select *
        from raw.analysis_settings
        qualify row_number() over (partition by audit order by registered_at desc, analysis_hash) = 1
    )
"""
_RECORDS_OUTSIDE_CHAINS = (
    "select audit, target, run_id, file_hash, set_at from raw.baselines order by all",
    "select catalogue, catalogue_hash, count(*), max(imported_at) from raw.items group by all order by all",
    "select recommender, predictions_hash, count(*), max(imported_at) from raw.predictions group by all order by all",
    "select relevance_hash, count(*) from raw.relevance group by all order by all",
    "select markers_hash, count(*) from raw.markers group by all order by all",
)


class LedgerLockedError(LedgerError):
    """Another process has the ledger open; trying again later may work."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as the ledger lists it.

    Attributes:
        state: its last event, such as started, finished, failed or batch_submitted; interrupted if the user ended it.
        is_finished: whether it was finished at some time, though it may have been resumed since.
        is_retracted: whether it was retracted, so that no table uses it.
        n_responses: trials, not attempts.
    """

    run_id: str
    audit: str
    target: str
    target_kind: str
    is_simulated: bool
    model_asked: str | None
    origin: str
    started_at: datetime
    state: str | None
    is_finished: bool
    is_retracted: bool
    n_responses: int


@dataclass(frozen=True, slots=True)
class HeldAnalysisSettings:
    """The analyses that a ledger holds.

    Attributes:
        audits: the audits of runs that were not retracted.
        latest: audit -> the hash of its latest analysis.
        named: the hashes of relevance, markers and probes that analyses name.
    """

    audits: frozenset[str]
    latest: dict[str, str]
    named: frozenset[str]


class Ledger:
    """A ledger file.

    Args:
        path: the DuckDB file; `create` makes it and its folders.
        wait_seconds: how long to wait for another process that has the file open.
    """

    def __init__(self, path: Path, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = path
        self.wait_seconds = wait_seconds

    def create(self, *, wait_seconds: float | None = None) -> None:
        """Make the file if it is absent and bring its schema up to date.

        Args:
            wait_seconds: overrides how long to wait for a locked file.

        Raises:
            LedgerError: the file is no ledger, is locked, was written by a newer version, or cannot be made.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"The folder {self.path.parent} cannot be made: {error.strerror or error}."
            ) from None
        with self._connect(read_only=False, wait_seconds=wait_seconds) as connection:
            migrate(connection, self.path)

    def update(self) -> None:
        """Bring the schema of an existing file up to date.

        Raises:
            LedgerError: the file is absent, is no ledger, is locked, or was written by a newer version.
        """
        self._require_file()
        self.create()

    @contextmanager
    def append(
        self,
        *,
        wait_seconds: float | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
        may_merge: bool = True,
    ) -> Iterator[Append]:
        """Open one transaction; it is committed at the end of the block and undone if the block raises.

        Args:
            wait_seconds: overrides how long to wait for a locked file.
            memory_limit: bounds what DuckDB holds in memory during a large append, such as '1GB'.
            threads: bounds the threads that write; each compresses texts in memory of its own, which no limit counts.
            may_merge: whether small row groups may be written together, which takes a look at all of them; false once an append
                said that they stay.

        Raises:
            LedgerLockedError: another process has the file open.
            LedgerError: the file is absent, is no ledger, has another schema, or cannot be written, as on a full disk.
        """
        import duckdb

        self._require_file()
        with self._connect(read_only=False, wait_seconds=wait_seconds) as connection:
            require_current(connection, self.path)
            if memory_limit is not None:
                connection.execute("set memory_limit = ?", [memory_limit])
            if threads is not None:
                connection.execute("set threads = ?", [threads])
            merged_bytes = _merged_bytes(connection) if may_merge else None
            if merged_bytes is not None:
                connection.execute("reset max_vacuum_tasks")
            connection.execute("begin transaction")
            try:
                yield Append(connection, merged_bytes)
            except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
                # A large append writes long before it is committed.
                roll_back(connection)
                raise _not_written(self.path, error) from None
            except BaseException:
                roll_back(connection)
                raise
            _commit(connection, self.path)

    @contextmanager
    def read(self, *, wait_seconds: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file read-only for the block.

        Raises:
            LedgerLockedError: another process writes it.
            LedgerError: the file is absent, is no ledger, or has another schema.
        """
        self._require_file()
        with self._connect(read_only=True, wait_seconds=wait_seconds) as connection:
            require_current(connection, self.path)
            yield connection

    @contextmanager
    def read_through(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file as `read` does, to go through all of it: DuckDB holds no more of a large ledger than of a small
        one, as long as rows only pass through it. The file should not be open elsewhere in this process, because DuckDB's
        settings belong to the file.
        """
        with ExitStack() as stack:
            # The folder of the ledger may be read-only. Without a scratch folder, too large queries fail with an error.
            scratch = ""
            with suppress(OSError):
                scratch = stack.enter_context(TemporaryDirectory(prefix="biasledger-"))
            connection = stack.enter_context(self.read())
            # Before anything is read: once DuckDB has written into one folder, there is no other.
            connection.execute("set temp_directory = ?", [scratch])
            ((row_bytes,),) = connection.execute(_LONGEST_ROW).fetchall()
            wanted = READ_BYTES + READ_PER_BYTE * VECTOR_ROWS * int(row_bytes)
            ((free,),) = connection.execute("select current_setting('memory_limit')").fetchall()
            if wanted < _n_bytes(free):
                connection.execute("set memory_limit = ?", [f"{wanted}B"])
                connection.execute(f"set variable {READ_LIMIT} = '{wanted}B'")
            connection.execute("set threads = 1")
            yield connection

    def rewrite(self) -> None:
        """Write the file again and replace the old one, so that it no longer has the bytes of removed rows.

        Raises:
            LedgerError: the file is absent, locked or no ledger, or there is no space for a second one.
        """
        import duckdb

        self._require_file()
        path = self.path.resolve()
        new = path.with_name(f"{path.name}.new")
        # Opened for writing, the file takes in what its write-ahead log holds.
        self._connect(read_only=False).close()
        connection = duckdb.connect(":memory:")
        try:
            new.unlink(missing_ok=True)
            # Attached read-only, the old file cannot be written by anybody until the new one has its name.
            connection.execute(f"attach {literal(path)} as old (read_only)")
            if path.with_name(f"{path.name}.wal").exists():
                raise _locked(path, "", 0)
            connection.execute(f"attach {literal(new)} as new")
            connection.execute("copy from database old to new")
            connection.execute("detach new")
            replace_file(new, path)
        except (duckdb.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise LedgerError(
                f"{path} could not be rewritten, so it may still have the bytes of what was removed: {reason}; free it or "
                f"make space there and try again."
            ) from None
        finally:
            connection.close()
            for left in (new, new.with_name(f"{new.name}.wal")):
                left.unlink(missing_ok=True)

    def catalogues(self) -> frozenset[str]:
        """Return the names of the catalogues imported.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            rows = connection.execute("select distinct catalogue from raw.items").fetchall()
        return frozenset(str(name) for (name,) in rows)

    def runs(self) -> list[RunInfo]:
        """Return all runs, oldest first.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            rows = connection.execute(
                """
                with counted as (
                    select run_id, count(*) as n_responses
                    from (select distinct run_id, prompt_id, trial from raw.responses)
                    group by run_id
                ),
                states as (
                    select
                        run_id,
                        arg_max(if(event = 'failed' and detail ->> 'reason' = $interrupted, $interrupted, event), rowid) as state,
                        bool_or(event = 'finished') as is_finished, bool_or(event = 'retracted') as is_retracted
                    from raw.run_events
                    where not list_contains($no_progress, event)
                    group by run_id
                )
                select
                    runs.run_id, runs.audit, runs.target, runs.target_kind, runs.is_simulated, runs.model_asked,
                    runs.origin, runs.started_at, states.state, coalesce(states.is_finished, false),
                    coalesce(states.is_retracted, false), coalesce(counted.n_responses, 0)
                from raw.runs as runs
                left join counted on counted.run_id = runs.run_id
                left join states on states.run_id = runs.run_id
                order by runs.started_at, runs.run_id
                """,
                {"interrupted": INTERRUPTED, "no_progress": list(NO_PROGRESS)},
            ).fetchall()
        return [RunInfo(*row) for row in rows]

    def chain_lengths(self) -> dict[str, int]:
        """Return run -> how many records of its chain the ledger holds.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            rows = connection.execute("select run_id, count(*) from raw.chain group by run_id").fetchall()
        return dict(rows)

    def parts_read(self) -> frozenset[str]:
        """Return which parts the analyses of the ledger's runs have, the methods among them.

        An audit's latest analysis counts, and retracted runs do not. Scores of classifiers and predictions of
        recommenders count for the methods that read any, independently of the analyses.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            rows = connection.execute(
                f"select distinct part from ({_PARTS}) where audit in (select audit from raw.kept_runs)"
            ).fetchall()
            parts = frozenset(str(part) for (part,) in rows)
            return parts.union(
                _parts_of(connection, "kept_response_scores", lambda one: one.reads_scores),
                _parts_of(connection, "predictions", lambda one: one.reads_predictions),
            )

    def heads_by_part(self) -> dict[str, str]:
        """Return part of the analyses -> a text that changes whenever any record of its runs does.

        It holds the head of each run's chain, which covers all questions, answers and erasures, how the run is read, and
        the records outside of chains: baselines, catalogues, relevance and markers. A part is left out if it has a run from
        before chains existed, or if it reads scores and there are any: they may belong to any run, and are in no chain.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            others = [str(connection.execute(query).fetchall()) for query in _RECORDS_OUTSIDE_CHAINS]
            rows = connection.execute(
                f"""
                with heads as (
                    select run_id, max(position) as length, arg_max(hash, position) as head
                    from raw.chain
                    where run_id not in (select run_id from raw.unchained_runs)
                    group by run_id
                )
                select
                    parts.part,
                    string_agg(concat_ws(' ', runs.run_id, parts.analysis_hash, heads.length, heads.head), '; '
                        order by runs.run_id)
                from raw.kept_runs as runs
                inner join ({_PARTS}) as parts on runs.audit = parts.audit
                left join heads on runs.run_id = heads.run_id
                group by parts.part
                having bool_and(heads.head is not null)
                """
            ).fetchall()
            left_out = _parts_of(connection, "kept_response_scores", lambda one: one.reads_scores)
        return {part: "\n".join([head, *others]) for part, head in rows if part not in left_out}

    def held_analysis_settings(self) -> HeldAnalysisSettings:
        """Return the analyses that the ledger holds.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        with self.read() as connection:
            audits = connection.execute("select distinct audit from raw.kept_runs").fetchall()
            latest = connection.execute(
                "select audit, analysis_hash from raw.analysis_settings where registered_at <= $now "
                "qualify row_number() over (partition by audit order by registered_at desc, rowid desc) = 1",
                {"now": utc_now()},
            ).fetchall()
            named = connection.execute(
                "select relevance_hash from raw.relevance union select markers_hash from raw.markers "
                "union select markers_hash from raw.probes"
            ).fetchall()
        return HeldAnalysisSettings(
            frozenset(audit for (audit,) in audits), dict(latest), frozenset(one for (one,) in named)
        )

    def _require_file(self) -> None:
        if not self.path.is_file():
            raise LedgerError(
                f"There is no ledger at {self.path}; `biasledger collect` or `biasledger import` makes it."
            )

    def _connect(self, *, read_only: bool, wait_seconds: float | None = None) -> duckdb.DuckDBPyConnection:
        import duckdb

        wait_seconds = self.wait_seconds if wait_seconds is None else wait_seconds
        deadline = time.monotonic() + wait_seconds
        config: dict[str, str | bool | int | float | list[str]] = {} if read_only else {"max_vacuum_tasks": 0}
        while True:
            try:
                connection = duckdb.connect(str(self.path), read_only=read_only, config=config)
                # It would be drawn on standard output, also where that is a pipe.
                connection.execute("set enable_progress_bar = false")
                return connection
            except duckdb.Error as error:
                message = str(error)
                if not _is_lock(message):
                    raise _not_openable(self.path, message) from None
                if time.monotonic() >= deadline:
                    raise _locked(self.path, message, wait_seconds) from None
            time.sleep(POLL_SECONDS)


def _commit(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Commit, which is when everything is written."""
    import duckdb

    try:
        connection.execute("commit")
    except (duckdb.IOException, duckdb.TransactionException, duckdb.OutOfMemoryException) as error:
        raise _not_written(path, error) from None
    except duckdb.FatalException as error:
        # Committed rows are in the write-ahead log, and are read from there when the file is opened next.
        raise LedgerError(
            f"{path} took in what was written, but could not be brought to its end ({_reason(error)}): put that right and try "
            f"again."
        ) from None


def _merged_bytes(connection: duckdb.DuckDBPyConnection) -> int | None:
    """Return the bytes of texts that a checkpoint reads at once where it writes small row groups together, None where it had
    better leave them: their rows are long, or a row group is large enough.
    """
    ((row_bytes, group_bytes),) = connection.execute(_LARGEST_ROW_GROUPS).fetchall()
    if row_bytes > MERGED_ROW_BYTES or group_bytes > MERGED_GROUP_BYTES:
        return None
    return int(row_bytes * VECTOR_ROWS)


def _n_bytes(sentence: str) -> int:
    """Return the bytes of a rounded size from DuckDB, such as 18.7 GiB."""
    number, unit = sentence.split()
    return int(float(number) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit))


def _not_written(path: Path, error: Exception) -> LedgerError:
    return LedgerError(
        f"{path} cannot be written ({_reason(error)}); it is as it was before: put that right and try again."
    )


def _reason(error: Exception) -> str:
    first_line = str(error).splitlines()[0]
    for introduction in ("Failed to commit: ", "Failed to create checkpoint because of error: "):
        first_line = first_line.split(introduction)[-1]
    return first_line.removeprefix("IO Error: ").rstrip(".")


def _is_lock(message: str) -> bool:
    return ("lock" in message and "Could not set" in message) or "different configuration" in message


def _locked(path: Path, message: str, waited: float) -> LedgerLockedError:
    holder = re.search(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)", message)
    who = f"process {holder['pid']} ({Path(holder['program']).name})" if holder else "another process"
    how_long = f" and was not free within {waited:.0f} s" if waited >= 1 else ""
    return LedgerLockedError(
        f"{path} is in use by {who}{how_long}; a build, a notebook or a BI tool may have it "
        f"open: close it there and try again."
    )


def _not_openable(path: Path, message: str) -> LedgerError:
    first_line = message.splitlines()[0].removeprefix("IO Error: ")
    if "version number" in message or "newer version" in message:
        return LedgerError(
            f"{path} was written by a newer DuckDB than the one installed; upgrade duckdb. ({first_line})"
        )
    if "not a valid DuckDB" in message:
        return LedgerError(f"{path} is not a DuckDB file, so it is no ledger; name another file.")
    return LedgerError(f"{path} cannot be opened: {first_line}")


def _parts_of(
    connection: duckdb.DuckDBPyConnection, table: str, reads: Callable[[Method], bool]
) -> frozenset[str]:
    """Return the methods that read scores of classifiers or predictions of recommenders, where the ledger holds any.

    Args:
        connection: the ledger.
        table: the table of scores or of predictions.
        reads: whether a method reads that table.
    """
    if not connection.execute(f"select 1 from raw.{table} limit 1").fetchall():
        return frozenset()
    # It takes longer to import than to ask.
    from collector.spec.methods import methods

    return frozenset(name for name, method in methods().items() if reads(method))
