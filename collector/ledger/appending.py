"""Rows into one open transaction on the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from collector.hashing import canonical_json, hash_of
from collector.journal.chain import ERASABLE, FIELDS, Chain, ChainRecord, Seal
from collector.rows import (
    ItemRow,
    MarkerRow,
    PredictionRow,
    ProbeRow,
    RelevanceRow,
    ResponseRow,
    RunRow,
    ScoreRow,
    utc_now,
)

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from collector.spec.prompts import Prompt

# Analyses of a run's audit, oldest first, and whether each is independent of retracted runs: it came with no such run, or another
# run that counts was started under it.
_READINGS_OF_AUDIT = """
with run_analysis_settings as (
    select
        runs.run_id,
        runs.audit,
        chain.key as analysis_hash,
        runs.started_at,
        min(events.happened_at) filter (where events.event = 'started') as read_at,
        min(events.happened_at) filter (where events.event = 'retracted') as retracted_at
    from raw.runs
    inner join raw.chain as chain on chain.run_id = runs.run_id and chain.kind = 'analysis'
    inner join raw.run_events as events on events.run_id = runs.run_id
    group by runs.run_id, runs.audit, chain.key, runs.started_at
)
select
    analyses.audit,
    analyses.analysis,
    taken_back.retracted_at,
    not exists (
        from run_analysis_settings as brought
        where
            brought.audit = analyses.audit
            and brought.analysis_hash = analyses.analysis_hash
            and brought.retracted_at is not null
            and analyses.registered_at between brought.started_at and brought.read_at
    )
    or exists (
        from run_analysis_settings as kept
        where
            kept.audit = analyses.audit
            and kept.analysis_hash = analyses.analysis_hash
            and kept.retracted_at is null
            and kept.read_at >= analyses.registered_at
    ) as is_standing,
    exists (
        from run_analysis_settings as gone
        where gone.audit = analyses.audit and gone.retracted_at = analyses.registered_at
    ) as is_restored
from raw.analysis_settings as analyses
inner join run_analysis_settings as taken_back on taken_back.audit = analyses.audit and taken_back.run_id = $run_id
order by analyses.registered_at, analyses.rowid
"""

_PROMPT_COLUMNS = tuple(name for name in FIELDS["prompt"] if name != "attributes")
_ATTRIBUTE_COLUMNS = ("slot", "attribute", "group_name", "descriptor")
_IS_RESPONSE = "run_id = ? and prompt_id = ? and trial = ? and attempt = ?"


class Append:
    """An open transaction on the ledger; get it from `Ledger.append`.

    Args:
        connection: the ledger's.
        merged_bytes: bytes of texts that the checkpoint at its end may read at once where it writes small row groups together;
            None where it leaves them.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, merged_bytes: int | None = 0) -> None:
        self.merged_bytes = merged_bytes
        self._connection = connection
        self._buffers: dict[tuple[str, int], dict[str, NDArray[np.object_]]] = {}

    def limit_memory(self, n_bytes: int) -> None:
        """Bound what DuckDB holds in memory from here on."""
        self._connection.execute("set memory_limit = ?", [f"{n_bytes}B"])

    def run(self, run: RunRow) -> None:
        """Insert a run."""
        values = {name: getattr(run, name) for name in FIELDS["run"]}
        documents = {name: canonical_json(values[name]) for name in ("spec", "parameters", "versions")}
        self._insert_row("runs", {**values, **documents, "spec_hash": hash_of(run.spec)})

    def event(
        self, run_id: str, event: str, detail: Mapping[str, Any], happened_at: datetime | None = None
    ) -> None:
        """Insert a run event (started, resumed, finished, failed) that happens now, or happened at a moment in UTC."""
        values = {"event": event, "detail": canonical_json(detail), "happened_at": happened_at or utc_now()}
        self._insert_row("run_events", {"run_id": run_id, **values})

    def prompts(self, run_id: str, prompts: Sequence[Prompt]) -> None:
        """Insert prompts with their attributes."""
        self._insert("prompts", _columns_of(prompts, _PROMPT_COLUMNS), run_id=run_id)
        pairs = [(prompt.prompt_id, one) for prompt in prompts for one in prompt.attributes]
        attributes = _columns_of([one for _, one in pairs], _ATTRIBUTE_COLUMNS)
        self._insert(
            "prompt_attributes", {"prompt_id": [name for name, _ in pairs], **attributes}, run_id=run_id
        )

    def responses(self, run_id: str, rows: Sequence[ResponseRow]) -> None:
        """Insert responses."""
        self._insert("responses", _columns_of(rows, FIELDS["response"]), run_id=run_id)

    def chain(self, run_id: str, records: Sequence[ChainRecord]) -> None:
        """Insert records of a run's chain; their rows are inserted in the same transaction."""
        self._insert("chain", _columns_of(records, _names_of(ChainRecord)), run_id=run_id)

    def extend_chain(self, run_id: str, kind: str, bodies: Sequence[Mapping[str, Any]]) -> None:
        """Append records of one kind to a run's chain and seal it. Do nothing if the run is older than chains."""
        if (end := self.chain_end(run_id)) is not None:
            chain = Chain(end.count, end.head_hash)
            self.chain(run_id, [chain.add(kind, body) for body in bodies])
            self.seal(run_id, chain.seal)

    def seal(self, run_id: str, seal: Seal) -> None:
        """Insert how long a run's chain is and its last hash, unless that is the run's latest seal already."""
        latest = self._connection.execute(
            "select n_records, head_hash from raw.seals where run_id = ? order by n_records desc limit 1",
            [run_id],
        ).fetchall()
        if latest != [(seal.count, seal.head_hash)]:
            values = {"n_records": seal.count, "head_hash": seal.head_hash, "sealed_at": utc_now()}
            self._insert_row("seals", {"run_id": run_id, **values})

    def chain_end(self, run_id: str) -> Seal | None:
        """Return the length and the last hash of the chain that the ledger holds of a run, None where it holds none."""
        rows = self._connection.execute(
            "select position + 1, hash from raw.chain where run_id = ? order by position desc limit 1",
            [run_id],
        ).fetchall()
        return Seal(*rows[0]) if rows else None

    def sealed_ends(self) -> dict[str, Seal]:
        """Return run -> the length and the last hash of the chain that the ledger holds of it, where it ends with its seal."""
        rows = self._connection.execute(
            "select run_id, n_records, head_hash from raw.seals where (run_id, n_records, head_hash) in "
            "(select (run_id, max(position) + 1, arg_max(hash, position)) from raw.chain group by run_id)"
        ).fetchall()
        return {run_id: Seal(count, head_hash) for run_id, count, head_hash in rows}

    def erasure(self, run_id: str, body: Mapping[str, Any]) -> None:
        """Remove the texts of a response and insert a row to record this, if it is missing; `body` is an erasure's record."""
        key = {"run_id": run_id, **{name: body[name] for name in ("prompt_id", "trial", "attempt")}}
        values = list(key.values())
        names = ", ".join(f"{name} = null" for name in body["texts"] if name in ERASABLE)
        self._connection.execute(f"update raw.responses set {names} where {_IS_RESPONSE}", values)
        self._connection.execute(f"update raw.response_scores set reason = null where {_IS_RESPONSE}", values)
        if not self._first(f"select 1 from raw.erasures where {_IS_RESPONSE}", values):
            texts, erased_at = canonical_json(body["texts"]), datetime.fromisoformat(body["erased_at"])
            self._insert_row(
                "erasures", {**key, "texts": texts, "reason": body["reason"], "erased_at": erased_at}
            )

    def run_of_source(self, audit: str, source_hash: str, table: str | None = None) -> str | None:
        """Return the first finished import of a file's content for an audit that was not retracted, or None.

        Another sheet of a workbook is other content where both imports state theirs.
        """
        found = self._first(
            "select runs.run_id from raw.kept_runs as runs "
            "inner join raw.run_events as events on events.run_id = runs.run_id and events.event = 'finished' "
            "where runs.audit = ? and runs.source_hash = ? "
            "and coalesce(runs.parameters ->> '$.table' = ?, true) order by runs.started_at limit 1",
            [audit, source_hash, table],
        )
        return None if found is None else str(found)

    def analysis(
        self, audit: str, document: Mapping[str, Any], registered_at: datetime | None = None
    ) -> bool:
        """Insert an analysis, registered now or at a moment in UTC, unless it equals the audit's latest one before that; say
        whether a row was written.
        """
        moment = registered_at or utc_now()
        latest = self._first(
            "select analysis_hash from raw.analysis_settings where audit = ? and registered_at <= ? "
            "order by registered_at desc, rowid desc limit 1",
            [audit, moment],
        )
        analysis_hash = hash_of(document)
        if latest == analysis_hash:
            return False
        values = {
            "analysis": canonical_json(document),
            "analysis_hash": analysis_hash,
            "registered_at": moment,
        }
        self._insert_row("analysis_settings", {"audit": audit, **values})
        return True

    def restore_analysis_settings(self, run_id: str) -> bool:
        """Register the previous analysis if the current one came only with retracted runs; say whether a row was written.

        An analysis came with a run if it was registered as that run started. One that an audit file registered stays, and so
        does one that another run was started under. The row has the time of the run's event `retracted`: the analysis is in force
        again from then on.
        """
        rows = self._connection.execute(_READINGS_OF_AUDIT, {"run_id": run_id}).fetchall()
        in_force = [row for row in rows if row[3] and not row[4]]
        if not in_force or rows[-1] == in_force[-1]:
            return False
        audit, analysis, retracted_at, *_ = in_force[-1]
        return self.analysis(audit, json.loads(analysis), retracted_at)

    def restore_all_analysis_settings(self) -> None:
        """Call `restore_analysis_settings` for every retracted run, in that order; what was restored before stays."""
        rows = self._connection.execute(
            "select run_id from raw.retracted_runs order by retracted_at, run_id"
        ).fetchall()
        for (run_id,) in rows:
            self.restore_analysis_settings(run_id)

    def relevance(self, relevance_hash: str | None, rows: Sequence[RelevanceRow]) -> bool:
        """Insert the relevance rows that an analysis names by their hash, unless it names none or they are there; say which."""
        if relevance_hash is None or self._first(
            "select 1 from raw.relevance where relevance_hash = ? limit 1", [relevance_hash]
        ):
            return False
        columns = _columns_of(rows, _names_of(RelevanceRow))
        self._insert("relevance", columns, relevance_hash=relevance_hash)
        return True

    def markers(
        self, markers_hash: str | None, markers: Sequence[MarkerRow], probes: Sequence[ProbeRow]
    ) -> bool:
        """Insert the markers and probes that an analysis names by hash, unless it names none or they are there; say which."""
        if markers_hash is None or self._first(
            "select 1 from (select markers_hash from raw.markers union all select markers_hash from raw.probes) "
            "where markers_hash = ? limit 1",
            [markers_hash],
        ):
            return False
        self._insert("markers", _columns_of(markers, _names_of(MarkerRow)), markers_hash=markers_hash)
        self._insert("probes", _columns_of(probes, _names_of(ProbeRow)), markers_hash=markers_hash)
        return True

    def scores(self, run_id: str, rows: Sequence[ScoreRow]) -> None:
        """Insert scores of a run's responses."""
        self._insert("response_scores", _columns_of(rows, _names_of(ScoreRow)), run_id=run_id)

    def items(self, catalogue: str, catalogue_hash: str, rows: Sequence[ItemRow]) -> bool:
        """Insert a catalogue's items unless its latest import has the same hash; say whether rows were written."""
        if self._latest_import("items", "catalogue_hash", "catalogue", catalogue) == catalogue_hash:
            return False
        columns = _columns_of(rows, _names_of(ItemRow))
        columns["categories"] = [canonical_json(row.categories) for row in rows]
        self._insert(
            "items",
            columns,
            catalogue=catalogue,
            catalogue_hash=catalogue_hash,
            imported_at=utc_now(),
        )
        return True

    def predictions(self, recommender: str, predictions_hash: str, rows: Sequence[PredictionRow]) -> bool:
        """Insert a recommender's predictions unless its latest import has the same hash; say whether rows were written."""
        if (
            self._latest_import("predictions", "predictions_hash", "recommender", recommender)
            == predictions_hash
        ):
            return False
        self._insert(
            "predictions",
            _columns_of(rows, _names_of(PredictionRow)),
            recommender=recommender,
            predictions_hash=predictions_hash,
            imported_at=utc_now(),
        )
        return True

    def baseline(
        self,
        audit: str,
        target: str,
        run_id: str | None,
        *,
        file_hash: str | None = None,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        """Insert which run later ones are compared with, None for none; file_hash and manifest where a file brought it."""
        # The latest row counts, and two may be written within the clock's resolution.
        latest = self._first(
            "select max(set_at) from raw.baselines where audit = ? and target = ?", [audit, target]
        )
        now = utc_now()
        self._insert_row(
            "baselines",
            {
                "audit": audit,
                "target": target,
                "run_id": run_id,
                "file_hash": file_hash,
                "manifest": None if manifest is None else canonical_json(manifest),
                "set_at": now if latest is None or latest < now else latest + timedelta(microseconds=1),
            },
        )

    def clear_baselines_of(self, run_id: str) -> bool:
        """Take a run's pin as a baseline away, unless a file brought it; say whether there was one."""
        pinned = self._connection.execute(
            "select audit, target from (select * from raw.baselines "
            "qualify row_number() over (partition by audit, target order by set_at desc, rowid desc) = 1) "
            "where run_id = ? and file_hash is null",
            [run_id],
        ).fetchall()
        for audit, target in pinned:
            self.baseline(audit, target, None)
        return bool(pinned)

    def baseline_rows(self, file_hash: str, rows: Sequence[tuple[str, str]]) -> None:
        """Insert the rows of a baseline's file (part, row as JSON), unless they are there."""
        if self._first("select 1 from raw.baseline_rows where file_hash = ? limit 1", [file_hash]):
            return
        columns = {"part": [part for part, _ in rows], "content": [content for _, content in rows]}
        self._insert("baseline_rows", columns, file_hash=file_hash)

    def rows_of_run(self, table: str, file: Path, run_id: str) -> None:
        """Insert the rows of a run that a Parquet file holds, in their order; the file has no column run_id."""
        self._connection.execute(
            f"insert into raw.{table} by name select *, cast(? as varchar) as run_id "
            "from read_parquet(?, hive_partitioning = false)",
            [run_id, str(file)],
        )

    def scores_of_run(self, file: Path, run_id: str) -> int:
        """Insert the scores that the ledger lacks of a run, of those that a Parquet file holds; returns how many."""
        key = ("prompt_id", "trial", "attempt", "scorer")
        is_same = " and ".join(f"old.{name} = new.{name}" for name in key)
        inserted: int = self._first(
            "insert into raw.response_scores by name select *, cast($run_id as varchar) as run_id "
            "from read_parquet($file, hive_partitioning = false) as new "
            f"where not exists (from raw.response_scores as old where old.run_id = $run_id and {is_same})",
            {"run_id": run_id, "file": str(file)},
        )
        return inserted

    def without_rows_of_run(self, table: str, run_id: str) -> None:
        """Delete the rows of a run from a table, before they are inserted again."""
        self._connection.execute(f"delete from raw.{table} where run_id = ?", [run_id])

    def shared_rows(self, table: str, file: Path, key: Sequence[str]) -> None:
        """Insert the rows of a Parquet file whose key the table has not, in their order."""
        is_same = " and ".join(f"old.{name} is not distinct from new.{name}" for name in key)
        self._connection.execute(
            f"insert into raw.{table} by name select * from read_parquet(?, hive_partitioning = false) as new "
            f"where not exists (from raw.{table} as old where {is_same})",
            [str(file)],
        )

    def unchained(self, run_id: str) -> None:
        """Note that a run was kept before chains were."""
        self._insert_row("unchained_runs", {"run_id": run_id})

    def date_migrations(self, moments: Mapping[int, datetime]) -> None:
        """Set when each migration of the schema was applied; runs from before may have no chain."""
        for version, moment in moments.items():
            self._connection.execute(
                "update raw.schema_migrations set applied_at = ? where version = ?", [moment, version]
            )

    def _first(self, sql: str, values: list[Any] | dict[str, Any]) -> Any:
        """Return the first value of the first row, or None."""
        # All rows are fetched: an unfinished result would bar the connection from what comes next.
        rows = self._connection.execute(sql, values).fetchall()
        return rows[0][0] if rows else None

    def _latest_import(self, table: str, hash_column: str, owner_column: str, owner: str) -> Any:
        """Return the hash of the latest import of a catalogue or of a recommender's predictions, or None."""
        return self._first(
            f"select {hash_column} from raw.{table} where {owner_column} = ? order by imported_at desc, rowid desc limit 1",
            [owner],
        )

    def _insert_row(self, table: str, values: Mapping[str, Any]) -> None:
        marks = ", ".join("?" for _ in values)
        self._connection.execute(
            f"insert into raw.{table} ({', '.join(values)}) values ({marks})", list(values.values())
        )

    def _insert(self, table: str, columns: Mapping[str, list[Any]], **shared: Any) -> None:
        """Insert columns of equal length at once, and next to them values that all rows share.

        DuckDB reads the columns from NumPy object arrays, and casts them to the table's types.
        """
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
        marks = ", ".join("?" for _ in shared)
        self._connection.execute(
            f"insert into raw.{table} ({', '.join((*shared, *columns))}) select {marks}, {', '.join(columns)} from batch",
            list(shared.values()),
        )
        # Not after an error: an aborted transaction accepts no statement, and a second error would hide the first.
        self._connection.unregister("batch")


def _names_of(row: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(row))


def _columns_of(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [getattr(row, name) for row in rows] for name in names}
