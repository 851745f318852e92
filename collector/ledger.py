"""The ledger: a DuckDB file that keeps prompts and responses as evidence, and the only code that writes it.

DuckDB lets one process write a file and nobody else read it meanwhile. So the file is opened for each append, waited for
where another process has it open, and closed again. Each append is one transaction.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.chain import ERASABLE, ChainRecord, Seal
from collector.errors import LedgerError
from collector.hashing import canonical_json, hash_of
from collector.replacing import replace_file
from collector.rows import (
    ItemRow,
    MarkerRow,
    ProbeRow,
    RelevanceRow,
    ResponseRow,
    RunRow,
    ScoreRow,
    utc_now,
)

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from collector.prompts import Prompt

MIGRATIONS_FOLDER = Path(__file__).with_name("migrations")
MIGRATION_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
WAIT_SECONDS = 10.0
POLL_SECONDS = 0.1

_RUN_COLUMNS = {
    "run_id": "varchar",
    "audit": "varchar",
    "spec": "json",
    "spec_hash": "varchar",
    "target": "varchar",
    "target_kind": "varchar",
    "is_simulated": "boolean",
    "model_asked": "varchar",
    "parameters": "json",
    "answer_rules_version": "varchar",
    "versions": "json",
    "origin": "varchar",
    "source_name": "varchar",
    "source_hash": "varchar",
    "started_at": "timestamp",
}
_PROMPT_COLUMNS = {
    "prompt_id": "varchar",
    "template": "varchar",
    "language": "varchar",
    "perturbation": "varchar",
    "variant": "varchar",
    "subject": "varchar",
    "domain": "varchar",
    "expected_label": "varchar",
    "system_prompt": "varchar",
    "prompt_text": "varchar",
    "content_hash": "varchar",
}
_ATTRIBUTE_COLUMNS = {
    "prompt_id": "varchar",
    "slot": "integer",
    "attribute": "varchar",
    "group_name": "varchar",
    "carrier": "varchar",
}
_RELEVANCE_COLUMNS = {
    "subject": "varchar",
    "domain": "varchar",
    "item": "varchar",
    "grade": "double",
}
_PROBE_COLUMNS = {
    "probe": "varchar",
    "category": "varchar",
    "target_group": "varchar",
    "prompt": "varchar",
}
_MARKER_COLUMNS = {
    "probe": "varchar",
    "category": "varchar",
    "list": "varchar",
    "direction": "varchar",
    "group_name": "varchar",
    "kind": "varchar",
    "marker": "varchar",
}
_SCORE_COLUMNS = {
    "prompt_id": "varchar",
    "trial": "integer",
    "attempt": "integer",
    "scorer": "varchar",
    "label": "varchar",
    "score": "double",
    "is_short": "boolean",
    "scored_at": "timestamp",
}
_ITEM_COLUMNS = {
    "catalogue_hash": "varchar",
    "item_id": "varchar",
    "name": "varchar",
    "price_level": "integer",
    "categories": "json",
    "domain": "varchar",
    "imported_at": "timestamp",
}
_RESPONSE_COLUMNS = {
    "prompt_id": "varchar",
    "trial": "integer",
    "attempt": "integer",
    "seq": "bigint",
    "status": "varchar",
    "response_text": "varchar",
    "answer_text": "varchar",
    "raw_body": "varchar",
    "finish_reason": "varchar",
    "model_answered": "varchar",
    "prompt_tokens": "integer",
    "completion_tokens": "integer",
    "latency_ms": "double",
    "error": "varchar",
    "requested_at": "timestamp",
    "weight": "double",
    "content_hash": "varchar",
}


_CHAIN_COLUMNS = {
    "position": "bigint",
    "kind": "varchar",
    "key": "varchar",
    "extra": "json",
    "digest": "varchar",
    "hash": "varchar",
}
# The last attempt of a trial is the one that counts. Texts that are scored already stay in the file.
_ANSWERS_TO_SCORE = """
    with answers as (
        select responses.*, runs.audit, runs.started_at
        from raw.responses as responses
        inner join raw.runs as runs on runs.run_id = responses.run_id
        where
            ($run_id is null or runs.run_id = $run_id)
            and (
                json_extract_string(runs.spec, '$.answer.kind') = 'text'
                or ($run_id is not null and json_extract_string(runs.spec, '$.answer.kind') = 'json_object')
            )
        qualify row_number() over (partition by responses.run_id, prompt_id, trial order by attempt desc) = 1
    ),
    readings as (
        select audit, json_extract_string(reading, '$.markers.hash') as markers_hash
        from raw.readings
        qualify row_number() over (partition by audit order by registered_at desc, rowid desc) = 1
    ),
    words as (
        select run_id, prompt_id, unnest([carrier, group_name]) as word from raw.prompt_attributes
        union
        select prompts.run_id, prompts.prompt_id, probes.target_group
        from raw.prompts as prompts
        inner join raw.runs as runs on runs.run_id = prompts.run_id
        inner join readings on readings.audit = runs.audit
        inner join raw.probes as probes
            on probes.markers_hash = readings.markers_hash
            and probes.probe = prompts.subject
            and probes.category is not distinct from prompts.domain
    ),
    words_by_prompt as (
        select run_id, prompt_id, list(distinct word order by word) as words
        from words
        where word is not null
        group by run_id, prompt_id
    ),
    scored as (
        select distinct run_id, prompt_id, trial, attempt from raw.response_scores where scorer = $scorer
    )
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.attempt,
        case when scored.run_id is null then answers.answer_text end,
        coalesce(words_by_prompt.words, []),
        scored.run_id is not null
    from answers
    left join words_by_prompt
        on words_by_prompt.run_id = answers.run_id and words_by_prompt.prompt_id = answers.prompt_id
    left join scored
        on scored.run_id = answers.run_id
        and scored.prompt_id = answers.prompt_id
        and scored.trial = answers.trial
        and scored.attempt = answers.attempt
    where answers.status = 'ok' and answers.answer_text is not null
    order by answers.started_at, answers.run_id, answers.seq
"""


class LedgerLockedError(LedgerError):
    """Another process has the ledger open; trying again later may work."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as the ledger lists it; `state` is its last event, such as started, finished, failed or batch_submitted."""

    run_id: str
    audit: str
    target: str
    target_kind: str
    is_simulated: bool
    model_asked: str | None
    origin: str
    started_at: datetime
    state: str | None
    n_responses: int


@dataclass(frozen=True, slots=True)
class AnswerToScore:
    """A text answer, with the words that name whom its question was about: carriers, groups, the probe's target group."""

    run_id: str
    prompt_id: str
    trial: int
    attempt: int
    text: str
    group_words: tuple[str, ...]


class Append:
    """One open transaction on the ledger; get it from `Ledger.append`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._buffers: dict[tuple[str, int], dict[str, NDArray[np.object_]]] = {}

    def limit_memory(self, n_bytes: int) -> None:
        """Bound what DuckDB holds in memory from here on."""
        self._connection.execute("set memory_limit = ?", [f"{n_bytes}B"])

    def run(self, run: RunRow) -> None:
        """Insert a run."""
        values = {
            **{name: getattr(run, name) for name in _RUN_COLUMNS if name != "spec_hash"},
            "spec": canonical_json(run.spec),
            "spec_hash": hash_of(run.spec),
            "parameters": canonical_json(run.parameters),
            "versions": canonical_json(run.versions),
        }
        names = ", ".join(_RUN_COLUMNS)
        marks = ", ".join("?" for _ in _RUN_COLUMNS)
        self._connection.execute(
            f"insert into raw.runs ({names}) values ({marks})",
            [values[name] for name in _RUN_COLUMNS],
        )

    def event(
        self, run_id: str, event: str, detail: Mapping[str, Any], happened_at: datetime | None = None
    ) -> None:
        """Insert a run event (started, resumed, finished, failed) that happens now, or happened at a moment in UTC."""
        self._connection.execute(
            "insert into raw.run_events (run_id, event, detail, happened_at) values (?, ?, ?, ?)",
            [run_id, event, canonical_json(detail), happened_at or utc_now()],
        )

    def prompts(self, run_id: str, prompts: Sequence[Prompt]) -> None:
        """Insert prompts with their attributes."""
        self._insert(
            "raw.prompts",
            run_id,
            _PROMPT_COLUMNS,
            {name: [getattr(prompt, name) for prompt in prompts] for name in _PROMPT_COLUMNS},
        )
        pairs = [(prompt.prompt_id, one) for prompt in prompts for one in prompt.attributes]
        columns: dict[str, list[Any]] = {
            name: [getattr(one, name) for _, one in pairs]
            for name in _ATTRIBUTE_COLUMNS
            if name != "prompt_id"
        }
        self._insert(
            "raw.prompt_attributes",
            run_id,
            _ATTRIBUTE_COLUMNS,
            {"prompt_id": [prompt_id for prompt_id, _ in pairs], **columns},
        )

    def responses(self, run_id: str, rows: Sequence[ResponseRow]) -> None:
        """Insert responses."""
        self._insert(
            "raw.responses",
            run_id,
            _RESPONSE_COLUMNS,
            {name: [getattr(row, name) for row in rows] for name in _RESPONSE_COLUMNS},
        )

    def chain(self, run_id: str, records: Sequence[ChainRecord]) -> None:
        """Insert records of a run's chain; their rows are inserted in the same transaction."""
        self._insert(
            "raw.chain",
            run_id,
            _CHAIN_COLUMNS,
            {name: [getattr(record, name) for record in records] for name in _CHAIN_COLUMNS},
        )

    def seal(self, run_id: str, seal: Seal) -> None:
        """Insert how long a run's chain is and its last hash, unless that is the run's latest seal already."""
        latest = self._connection.execute(
            "select n_records, head_hash from raw.seals where run_id = ? order by n_records desc limit 1",
            [run_id],
        ).fetchall()
        if latest != [(seal.count, seal.head_hash)]:
            self._connection.execute(
                "insert into raw.seals (run_id, n_records, head_hash, sealed_at) values (?, ?, ?, ?)",
                [run_id, seal.count, seal.head_hash, utc_now()],
            )

    def chain_end(self, run_id: str) -> Seal | None:
        """Return the length and the last hash of the chain that the ledger holds of a run, None where it holds none."""
        rows = self._connection.execute(
            "select position + 1, hash from raw.chain where run_id = ? order by position desc limit 1",
            [run_id],
        ).fetchall()
        return Seal(*rows[0]) if rows else None

    def chain_ends(self) -> dict[str, Seal]:
        """Return run -> the length and the last hash of the chain that the ledger holds of it."""
        rows = self._connection.execute(
            "select run_id, max(position) + 1, arg_max(hash, position) from raw.chain group by run_id"
        ).fetchall()
        return {run_id: Seal(count, head_hash) for run_id, count, head_hash in rows}

    def erasure(self, run_id: str, body: Mapping[str, Any]) -> None:
        """Remove the texts of a response and insert the row that says so, unless it is there; `body` is an erasure's record."""
        key = [run_id, body["prompt_id"], body["trial"], body["attempt"]]
        names = ", ".join(f"{name} = null" for name in body["texts"] if name in ERASABLE)
        self._connection.execute(
            f"update raw.responses set {names} where run_id = ? and prompt_id = ? and trial = ? and attempt = ?",
            key,
        )
        if self._first(
            "select 1 from raw.erasures where run_id = ? and prompt_id = ? and trial = ? and attempt = ?", key
        ):
            return
        self._connection.execute(
            "insert into raw.erasures (run_id, prompt_id, trial, attempt, texts, reason, erased_at) "
            "values (?, ?, ?, ?, ?, ?, ?)",
            [
                *key,
                canonical_json(body["texts"]),
                body["reason"],
                datetime.fromisoformat(body["erased_at"]),
            ],
        )

    def last_seq(self, run_id: str) -> int:
        """Return the highest seq the ledger holds of a run, 0 if none."""
        found = self._first("select coalesce(max(seq), 0) from raw.responses where run_id = ?", [run_id])
        return int(found)

    def run_of_source(self, audit: str, source_hash: str) -> str | None:
        """Return the first finished import of a file's content for an audit, or None."""
        found = self._first(
            "select runs.run_id from raw.runs as runs "
            "inner join raw.run_events as events on events.run_id = runs.run_id and events.event = 'finished' "
            "where runs.audit = ? and runs.source_hash = ? order by runs.started_at limit 1",
            [audit, source_hash],
        )
        return None if found is None else str(found)

    def reading(self, audit: str, document: Mapping[str, Any], registered_at: datetime | None = None) -> bool:
        """Insert a reading, registered now or at a moment in UTC, unless it equals the audit's latest one before that; say
        whether a row was written.
        """
        moment = registered_at or utc_now()
        latest = self._first(
            "select reading_hash from raw.readings where audit = ? and registered_at <= ? "
            "order by registered_at desc, rowid desc limit 1",
            [audit, moment],
        )
        reading_hash = hash_of(document)
        if latest == reading_hash:
            return False
        self._connection.execute(
            "insert into raw.readings (audit, reading, reading_hash, registered_at) values (?, ?, ?, ?)",
            [audit, canonical_json(document), reading_hash, moment],
        )
        return True

    def relevance(self, relevance_hash: str | None, rows: Sequence[RelevanceRow]) -> bool:
        """Insert the relevance rows that a reading names by their hash, unless it names none or they are there; say which."""
        if relevance_hash is None or self._first(
            "select 1 from raw.relevance where relevance_hash = ? limit 1", [relevance_hash]
        ):
            return False
        columns = {name: [getattr(row, name) for row in rows] for name in _RELEVANCE_COLUMNS}
        self._insert("raw.relevance", relevance_hash, _RELEVANCE_COLUMNS, columns, key="relevance_hash")
        return True

    def markers(
        self, markers_hash: str | None, markers: Sequence[MarkerRow], probes: Sequence[ProbeRow]
    ) -> bool:
        """Insert the markers and probes that a reading names by their hash, unless it names none or they are there; say which."""
        if markers_hash is None or self._first(
            "select 1 from (select markers_hash from raw.markers union all select markers_hash from raw.probes) "
            "where markers_hash = ? limit 1",
            [markers_hash],
        ):
            return False
        for table, types, rows in (
            ("raw.markers", _MARKER_COLUMNS, markers),
            ("raw.probes", _PROBE_COLUMNS, probes),
        ):
            columns = {name: [getattr(row, name) for row in rows] for name in types}
            self._insert(table, markers_hash, types, columns, key="markers_hash")
        return True

    def scores(self, run_id: str, rows: Sequence[ScoreRow]) -> None:
        """Insert scores of a run's responses."""
        columns = {name: [getattr(row, name) for row in rows] for name in _SCORE_COLUMNS}
        self._insert("raw.response_scores", run_id, _SCORE_COLUMNS, columns)

    def items(self, catalogue: str, catalogue_hash: str, rows: Sequence[ItemRow]) -> bool:
        """Insert a catalogue's items unless its latest import has the same hash; say whether rows were written."""
        latest = self._first(
            "select catalogue_hash from raw.items where catalogue = ? order by imported_at desc, rowid desc limit 1",
            [catalogue],
        )
        if latest == catalogue_hash:
            return False
        columns: dict[str, list[Any]] = {
            "catalogue_hash": [catalogue_hash] * len(rows),
            **{name: [getattr(row, name) for row in rows] for name in ("item_id", "name", "price_level")},
            "categories": [canonical_json(row.categories) for row in rows],
            "domain": [row.domain for row in rows],
            "imported_at": [utc_now()] * len(rows),
        }
        self._insert("raw.items", catalogue, _ITEM_COLUMNS, columns, key="catalogue")
        return True

    def _first(self, sql: str, values: list[Any]) -> Any:
        """Return the first value of the first row, or None."""
        # All rows are fetched: an unfinished result would bar the connection from what comes next.
        rows = self._connection.execute(sql, values).fetchall()
        return rows[0][0] if rows else None

    def _insert(
        self,
        table: str,
        owner: str,
        types: Mapping[str, str],
        columns: Mapping[str, list[Any]],
        *,
        key: str = "run_id",
    ) -> None:
        """Insert columns of equal length at once, all with the same key: DuckDB reads them from NumPy object arrays."""
        import numpy as np

        length = len(next(iter(columns.values())))
        if length == 0:
            return
        # DuckDB holds on to registered arrays until the transaction ends, so batches of one size share their arrays.
        batch = self._buffers.get((table, length))
        if batch is None:
            batch = self._buffers[table, length] = {name: np.empty(length, dtype=object) for name in columns}
        for name, values in columns.items():
            batch[name][:] = values
        self._connection.register("batch", batch)
        try:
            names = ", ".join(types)
            casts = ", ".join(f"{name}::{type_}" for name, type_ in types.items())
            self._connection.execute(
                f"insert into {table} ({key}, {names}) select ?, {casts} from batch",
                [owner],
            )
        finally:
            self._connection.unregister("batch")


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
        wait = self.wait_seconds if wait_seconds is None else wait_seconds
        connection = self._connect(read_only=False, wait_seconds=wait)
        try:
            _migrate(connection, self.path)
        finally:
            connection.close()

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
    ) -> Iterator[Append]:
        """Open one transaction; it is committed at the end of the block and undone if the block raises.

        Args:
            wait_seconds: overrides how long to wait for a locked file.
            memory_limit: bounds what DuckDB holds in memory during a large append, such as '1GB'.
            threads: bounds the threads that write; each compresses texts in memory of its own, which no limit counts.

        Raises:
            LedgerLockedError: another process has the file open.
            LedgerError: the file is absent, is no ledger, or has another schema.
        """
        self._require_file()
        wait = self.wait_seconds if wait_seconds is None else wait_seconds
        connection = self._connect(read_only=False, wait_seconds=wait)
        try:
            _require_current(connection, self.path)
            if memory_limit is not None:
                connection.execute("set memory_limit = ?", [memory_limit])
            if threads is not None:
                connection.execute("set threads = ?", [threads])
            connection.execute("begin transaction")
            try:
                yield Append(connection)
            except BaseException:
                _roll_back(connection)
                raise
            connection.execute("commit")
        finally:
            connection.close()

    @contextmanager
    def read(self, *, wait_seconds: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file read-only for the block.

        Raises:
            LedgerLockedError: another process writes it.
            LedgerError: the file is absent, is no ledger, or has another schema.
        """
        self._require_file()
        wait = self.wait_seconds if wait_seconds is None else wait_seconds
        connection = self._connect(read_only=True, wait_seconds=wait)
        try:
            _require_current(connection, self.path)
            yield connection
        finally:
            connection.close()

    def rewrite(self) -> None:
        """Write the file anew and put it in the old one's place, so that it no longer has the bytes of what was removed.

        Raises:
            LedgerError: the file is absent, locked or no ledger, or there is no room for a second one.
        """
        import duckdb

        self._require_file()
        path = self.path.resolve()
        new = path.with_name(f"{path.name}.new")
        # Opened for writing, the file takes in what its write-ahead log holds.
        self._connect(read_only=False, wait_seconds=self.wait_seconds).close()
        connection = duckdb.connect(":memory:")
        try:
            new.unlink(missing_ok=True)
            # Attached read-only, the old file cannot be written by anybody until the new one has its name.
            connection.execute(f"attach {_quoted(path)} as old (read_only)")
            if path.with_name(f"{path.name}.wal").exists():
                raise _locked(path, "", 0)
            connection.execute(f"attach {_quoted(new)} as new")
            connection.execute("copy from database old to new")
            connection.execute("detach new")
            replace_file(new, path)
        except (duckdb.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise LedgerError(
                f"{path} could not be written anew, so it may still have the bytes of what was removed: {reason}; free it or "
                f"make room there and try again."
            ) from None
        finally:
            connection.close()
            for left in (new, new.with_name(f"{new.name}.wal")):
                left.unlink(missing_ok=True)

    def append_items(self, catalogue: str, catalogue_hash: str, rows: Sequence[ItemRow]) -> bool:
        """Append the items of a catalogue in a transaction of its own, unless its latest import has the same hash.

        Args:
            catalogue: the catalogue's name.
            catalogue_hash: the tagged hash of its content.
            rows: its items.

        Returns:
            Whether rows were written.

        Raises:
            LedgerError: the ledger is absent, locked, or no ledger.
        """
        with self.append() as append:
            return append.items(catalogue, catalogue_hash, rows)

    def catalogues(self) -> frozenset[str]:
        """Return the names of the catalogues imported.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        self._require_file()
        connection = self._connect(read_only=True, wait_seconds=self.wait_seconds)
        try:
            _require_current(connection, self.path)
            rows = connection.execute("select distinct catalogue from raw.items").fetchall()
        finally:
            connection.close()
        return frozenset(str(name) for (name,) in rows)

    def runs(self) -> list[RunInfo]:
        """Return all runs, oldest first; `n_responses` counts trials, not attempts.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        self._require_file()
        connection = self._connect(read_only=True, wait_seconds=self.wait_seconds)
        try:
            _require_current(connection, self.path)
            rows = connection.execute(
                """
                with counted as (
                    select run_id, count(*) as n_responses
                    from (select distinct run_id, prompt_id, trial from raw.responses)
                    group by run_id
                ),
                states as (
                    select run_id, arg_max(event, (happened_at, rowid)) as state from raw.run_events group by run_id
                )
                select
                    runs.run_id, runs.audit, runs.target, runs.target_kind, runs.is_simulated, runs.model_asked,
                    runs.origin, runs.started_at, states.state, coalesce(counted.n_responses, 0)
                from raw.runs as runs
                left join counted on counted.run_id = runs.run_id
                left join states on states.run_id = runs.run_id
                order by runs.started_at, runs.run_id
                """
            ).fetchall()
        finally:
            connection.close()
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
        """Return which parts the readings of the ledger's runs have: words, lists, decisions, prices, markers.

        Scores of classifiers are read with the markers, whatever the reading of their run.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        self._require_file()
        connection = self._connect(read_only=True, wait_seconds=self.wait_seconds)
        try:
            _require_current(connection, self.path)
            rows = connection.execute(
                "select distinct unnest(json_keys(reading)) from raw.readings where audit in (select audit from raw.runs) "
                "union select 'markers' where exists (select 1 from raw.response_scores)"
            ).fetchall()
        finally:
            connection.close()
        return frozenset(str(part) for (part,) in rows)

    def answers_to_score(self, scorer: str, run_id: str | None = None) -> tuple[list[AnswerToScore], int]:
        """Return the text answers that a scorer has not scored, in the order of runs and answers, and how many it has.

        Args:
            scorer: its name in raw.response_scores.
            run_id: only this run, whose answers may be JSON objects too; None takes all runs with answers of kind text.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        self._require_file()
        connection = self._connect(read_only=True, wait_seconds=self.wait_seconds)
        try:
            _require_current(connection, self.path)
            rows = connection.execute(_ANSWERS_TO_SCORE, {"scorer": scorer, "run_id": run_id}).fetchall()
        finally:
            connection.close()
        left = [
            AnswerToScore(run, prompt, trial, attempt, text, tuple(words))
            for run, prompt, trial, attempt, text, words, is_scored in rows
            if not is_scored
        ]
        return left, len(rows) - len(left)

    def answer_texts(self, response_hashes: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return response hash -> prompt text (empty where an import does not know it) and answer text, of those found.

        Raises:
            LedgerError: the file is absent, locked, or no ledger.
        """
        self._require_file()
        connection = self._connect(read_only=True, wait_seconds=self.wait_seconds)
        try:
            _require_current(connection, self.path)
            rows = connection.execute(
                """
                select responses.content_hash, any_value(coalesce(prompts.prompt_text, '')), any_value(responses.answer_text)
                from raw.responses as responses
                inner join raw.prompts as prompts
                    on prompts.run_id = responses.run_id and prompts.prompt_id = responses.prompt_id
                where list_contains(?, responses.content_hash) and responses.answer_text is not null
                group by responses.content_hash
                """,
                [list(response_hashes)],
            ).fetchall()
        finally:
            connection.close()
        return {str(key): (str(prompt), str(answer)) for key, prompt, answer in rows}

    def _require_file(self) -> None:
        if not self.path.is_file():
            raise LedgerError(
                f"There is no ledger at {self.path}; `biasledger collect` or `biasledger import` makes it."
            )

    def _connect(self, *, read_only: bool, wait_seconds: float) -> duckdb.DuckDBPyConnection:
        import duckdb

        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                connection = duckdb.connect(str(self.path), read_only=read_only)
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


def register_reading(
    ledger_path: Path,
    audit_name: str,
    document: Mapping[str, Any],
    relevance_hash: str | None = None,
    relevance: Sequence[RelevanceRow] = (),
) -> bool:
    """Register how an audit's answers are read from now on; a row is written only if it differs from the latest.

    Args:
        ledger_path: the ledger, made if absent.
        audit_name: the audit.
        document: its `Audit.reading_document()`.
        relevance_hash, relevance: its `Audit.relevance_hash` and `Audit.relevance_rows`.

    Returns:
        Whether a row was written.

    Raises:
        LedgerError: the ledger cannot be used.
    """
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        append.relevance(relevance_hash, relevance)
        return append.reading(audit_name, document)


def runs(ledger_path: Path) -> list[RunInfo]:
    """Return all runs of a ledger, oldest first.

    Raises:
        LedgerError: the ledger is absent or cannot be used.
    """
    return Ledger(ledger_path).runs()


def migrations() -> list[tuple[int, str, Path]]:
    """Return (version, name, file) of every migration this version knows, in order."""
    found = []
    for path in sorted(MIGRATIONS_FOLDER.glob("*.sql")):
        matched = MIGRATION_NAME.fullmatch(path.name)
        if matched is None:
            raise LedgerError(
                f"{path.name} is not a migration's name; it should be like 0001_what_it_does.sql."
            )
        found.append((int(matched[1]), matched[2], path))
    return found


def _migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    _require_ledger_or_empty(connection, path)
    connection.execute("create schema if not exists raw")
    connection.execute(
        "create table if not exists raw.schema_migrations "
        "(version integer primary key, name varchar not null, applied_at timestamp not null)"
    )
    applied = _applied_versions(connection)
    known = migrations()
    _refuse_newer(applied, known, path)
    for version, name, file in known:
        if version in applied:
            continue
        connection.execute("begin transaction")
        try:
            connection.execute(file.read_text(encoding="utf-8"))
            connection.execute(
                "insert into raw.schema_migrations values (?, ?, ?)", [version, name, utc_now()]
            )
        except BaseException:
            _roll_back(connection)
            raise
        connection.execute("commit")


def _require_ledger_or_empty(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a DuckDB file that holds something else, so that a mistyped path does not mix two databases."""
    tables = {
        f"{schema}.{table}"
        for schema, table in connection.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = current_database()"
        ).fetchall()
    }
    if tables and "raw.schema_migrations" not in tables:
        raise LedgerError(
            f"{path} is a DuckDB file, but no ledger (it holds {sorted(tables)[0]}); name another file."
        )


def _require_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    _require_ledger_or_empty(connection, path)
    import duckdb

    try:
        applied = _applied_versions(connection)
    except duckdb.CatalogException:
        raise LedgerError(
            f"{path} is an empty DuckDB file; `biasledger collect` or `biasledger import` fills it."
        ) from None
    known = migrations()
    _refuse_newer(applied, known, path)
    if any(version not in applied for version, _, _ in known):
        raise LedgerError(
            f"{path} has an older schema; the next `biasledger collect` or `biasledger import` updates it."
        )


def _applied_versions(connection: duckdb.DuckDBPyConnection) -> set[int]:
    return {
        int(version)
        for (version,) in connection.execute("select version from raw.schema_migrations").fetchall()
    }


def _refuse_newer(applied: set[int], known: Sequence[tuple[int, str, Path]], path: Path) -> None:
    newest = max(version for version, _, _ in known)
    if applied and max(applied) > newest:
        raise LedgerError(
            f"{path} has schema {max(applied)} and this version of biasledger knows schemas up to {newest}; "
            f"upgrade biasledger."
        )


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    import duckdb

    try:
        connection.execute("rollback")
    except duckdb.Error:
        # The transaction is already gone (an interrupt ends it); closing the connection discards what is left.
        return


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


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
