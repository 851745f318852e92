"""The ledger's records of a run: each record of raw.chain next to the current content of its table."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

from collector.hashing import canonical_json, hash_of, tagged_hash
from collector.journal.chain import ERASABLE, ERASED, FIELDS, Seal, event_body, record_digest, record_key
from collector.ledger.database import READ_LIMIT
from collector.rows import (
    BASELINE_HASH,
    ItemRow,
    MarkerRow,
    PredictionRow,
    ProbeRow,
    RelevanceRow,
    hash_of_baseline,
    hash_of_items,
    hash_of_predictions,
)

if TYPE_CHECKING:
    import duckdb

    from collector.journal.chain import Seal

BATCH_ROWS = 2000
_Row = TypeVar("_Row", RelevanceRow, MarkerRow, ProbeRow, ItemRow, PredictionRow)
# Kind of record -> the table of its rows.
TABLES: Mapping[str, str] = {
    "run": "raw.runs",
    "analysis": "raw.analysis_settings",
    "prompt": "raw.prompts",
    "response": "raw.responses",
    "event": "raw.run_events",
    "erasure": "raw.erasures",
}

_RESPONSE_KEY = "prompt_id || '.' || trial || '.' || attempt"
# A record of a run's chain that precedes one of a lower position in the table, if there is one; found without sorting.
_OUT_OF_ORDER = """
    select 1
    from (select position, lag(position) over () as before from raw.chain where run_id = ?)
    where position <= before
    limit 1
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A record as the ledger holds it.

    Attributes:
        kind, key: which one.
        position: where it is in the chain; None where a table holds a row that the chain does not have.
        digest: the digest that the chain keeps of it; None where `position` is.
        body: what its table says now; None where the row is gone.
        returned: names of texts that were erased and are there again.
        is_repeated: its table holds the row more than once.
    """

    kind: str
    key: str
    position: int | None
    digest: str | None
    body: Mapping[str, Any] | None
    returned: tuple[str, ...] = ()
    is_repeated: bool = False

    @property
    def is_as_kept(self) -> bool:
        """Return whether the row exists exactly once, unchanged."""
        if self.body is None or self.digest is None or self.returned or self.is_repeated:
            return False
        try:
            return record_digest(self.kind, self.body) == self.digest
        except (
            ValueError,
            RecursionError,
        ):  # a number that JSON lacks, or a depth, that was never written
            return False


def held_records(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[Held]:
    """Yield every record of a run, kind by kind, each kind in the chain's order and then what the chain does not have."""
    with _unbounded(connection):
        yield from _matched(connection, run_id, "run", _runs(connection, run_id))
        yield from _matched(connection, run_id, "analysis", _analyses(connection, run_id))
        yield from _prompts(connection, run_id)
        erasures = _erasures(connection, run_id)
    yield from _responses(connection, run_id, erasures)
    with _unbounded(connection):
        yield from _matched(connection, run_id, "event", _events(connection, run_id))
        yield from _matched(connection, run_id, "erasure", erasures)


def chain_links(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield (position, kind, key, digest, hash) of a run's chain, in order."""
    links = "select position, kind, key, digest, hash from raw.chain where run_id = ?"
    if _is_in_order(connection, run_id):
        yield from _fetch_rows(connection, links, [run_id])
        return
    with _unbounded(connection):
        yield from _fetch_rows(connection, f"{links} order by position, hash", [run_id])


def hashed_content(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str, str]]:
    """Yield (description, stated hash, hash of the content) of everything that is kept by its content's hash."""
    from collector.spec.markers import hash_of_markers
    from collector.spec.subjects import hash_of_relevance

    for audit, analysis, stated in connection.execute(
        "select audit, analysis, analysis_hash from raw.analysis_settings order by rowid"
    ).fetchall():
        yield f"the analysis of {audit!r}", stated, hash_of(_json(analysis))
    for (stated,) in connection.execute(
        "select distinct relevance_hash from raw.relevance order by relevance_hash"
    ).fetchall():
        relevance = _rows(connection, "relevance", RelevanceRow, relevance_hash=stated)
        yield "the table of relevance", stated, hash_of_relevance(relevance) or ""
    for (stated,) in connection.execute(
        "select markers_hash from raw.markers union select markers_hash from raw.probes order by markers_hash"
    ).fetchall():
        markers = _rows(connection, "markers", MarkerRow, markers_hash=stated)
        probes = _rows(connection, "probes", ProbeRow, markers_hash=stated)
        yield "the markers and probes", stated, hash_of_markers(markers, probes) or ""
    for catalogue, stated, imported_at in connection.execute(
        "select distinct catalogue, catalogue_hash, imported_at from raw.items order by imported_at, catalogue"
    ).fetchall():
        key = {"catalogue": catalogue, "catalogue_hash": stated, "imported_at": imported_at}
        # Categories are JSON in the table.
        items = [
            replace(one, categories=_names(str(one.categories)))
            for one in _rows(connection, "items", ItemRow, **key)
        ]
        yield f"the catalogue {catalogue!r}", stated, hash_of_items(items)
    for recommender, stated, imported_at in connection.execute(
        "select distinct recommender, predictions_hash, imported_at from raw.predictions order by imported_at, recommender"
    ).fetchall():
        key = {"recommender": recommender, "predictions_hash": stated, "imported_at": imported_at}
        predicted = _rows(connection, "predictions", PredictionRow, **key)
        yield f"the predictions of {recommender!r}", stated, hash_of_predictions(predicted)
    for audit, target, file_hash, manifest in connection.execute(
        "select audit, target, file_hash, manifest from raw.baselines where file_hash is not null order by set_at"
    ).fetchall():
        head = _json(manifest)
        found = connection.execute(
            "select part, content from raw.baseline_rows where file_hash = ? order by rowid", [file_hash]
        ).fetchall()
        lines = [canonical_json({"part": part, "row": _json(content)}) for part, content in found]
        # Baselines of before their hash was kept have none.
        if stated := head.pop(BASELINE_HASH, None):
            yield f"the baseline of {audit!r} and {target!r}", stated, hash_of_baseline(head, lines) or ""


def _rows(connection: duckdb.DuckDBPyConnection, table: str, row: type[_Row], **key: object) -> list[_Row]:
    """Return the rows of a table that have a key."""
    names = ", ".join(one.name for one in fields(row))
    has_key = " and ".join(f"{name} = ?" for name in key)
    found = connection.execute(f"select {names} from raw.{table} where {has_key}", list(key.values()))
    return [row(*values) for values in found.fetchall()]


def doubled_shared_rows(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Yield a sentence for each row of what runs share that is there more than once, which biasledger never writes."""
    for audit, moment in connection.execute(
        "select audit, registered_at from raw.analysis_settings "
        "group by audit, analysis_hash, registered_at having count(*) > 1 order by all"
    ).fetchall():
        yield f"The analysis of {audit!r} of {moment:%Y-%m-%d %H:%M:%S} UTC is in raw.analysis_settings more than once."
    for audit, target in connection.execute(
        "select audit, target from raw.baselines group by audit, target, set_at having count(*) > 1 order by all"
    ).fetchall():
        yield f"A baseline of {audit!r} and {target!r} is in raw.baselines more than once."


def odd_rows_of_runs(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Yield a sentence for each doubled seal, and for each pin of a run that the ledger does not hold; it holds all runs."""
    for run_id, n_records in connection.execute(
        "select run_id, n_records from raw.seals group by all having count(*) > 1 order by all"
    ).fetchall():
        yield f"The seal of {n_records:,} records of the run {run_id} is in raw.seals more than once."
    for audit, target, run_id in connection.execute(
        "select audit, target, run_id from raw.baselines as baselines where file_hash is null and run_id is not null "
        "and not exists (from raw.runs as runs where runs.run_id = baselines.run_id "
        "and runs.audit = baselines.audit and runs.target = baselines.target) order by set_at"
    ).fetchall():
        yield f"raw.baselines pins {run_id} for {audit!r} and {target!r}, which is no run of these in the ledger."


def has_seal(connection: duckdb.DuckDBPyConnection, run_id: str, seal: Seal) -> bool:
    """Return whether a run's chain has a seal's last record."""
    found = connection.execute(
        "select 1 from raw.chain where run_id = ? and position = ? and hash = ?",
        [run_id, seal.count - 1, seal.head_hash],
    ).fetchall()
    return bool(found)


def cut_after(connection: duckdb.DuckDBPyConnection, seal: Seal) -> None:
    """Take responses, their scores and events that came after a seal out of a copy of a ledger that holds one run; what was
    erased stays erased.
    """
    later = "(select key from raw.chain where kind = ? and position >= ?)"
    connection.execute(
        f"delete from raw.responses where {_RESPONSE_KEY} in {later}", ["response", seal.count]
    )
    connection.execute(
        f"delete from raw.response_scores where {_RESPONSE_KEY} in {later}", ["response", seal.count]
    )
    rows = connection.execute(
        "select rowid, event, happened_at from raw.run_events order by rowid desc"
    ).fetchall()
    keys = Counter(key for (key,) in connection.execute(later, ["event", seal.count]).fetchall())
    for rowid, event, happened_at in rows:
        key = record_key("event", {"event": event, "happened_at": happened_at.isoformat()})
        if keys[key]:
            keys[key] -= 1
            connection.execute("delete from raw.run_events where rowid = ?", [rowid])


def responses_of_trial(
    connection: duckdb.DuckDBPyConnection, run_id: str, prompt_id: str, trial: int
) -> list[dict[str, Any]]:
    """Return the rows of a trial's attempts as bodies, in order."""
    names = FIELDS["response"]
    rows = connection.execute(
        f"select {', '.join(names)} from raw.responses "
        "where run_id = ? and prompt_id = ? and trial = ? order by attempt",
        [run_id, prompt_id, trial],
    ).fetchall()
    return [_as_body(names, row) for row in rows]


def _matched(
    connection: duckdb.DuckDBPyConnection, run_id: str, kind: str, bodies: Sequence[Mapping[str, Any]]
) -> Iterator[Held]:
    """Match the few rows of a kind with the chain's records by their keys."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in bodies:
        found[record_key(kind, one)].append(one)
    chained = connection.execute(
        "select position, key, digest, extra from raw.chain where run_id = ? and kind = ? order by position",
        [run_id, kind],
    ).fetchall()
    for position, key, digest, extra in chained:
        body: Mapping[str, Any] | None = found[key].pop(0) if found[key] else None
        yield Held(kind, key, position, digest, None if body is None else {**_extra(extra), **body})
    for key, left in found.items():
        yield from (Held(kind, key, None, None, one) for one in left)


def _runs(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[dict[str, Any]]:
    names = (*FIELDS["run"], "spec_hash")
    rows = connection.execute(
        f"select {', '.join(names)} from raw.runs where run_id = ?", [run_id]
    ).fetchall()
    bodies = [_as_body(names, row) for row in rows]
    for body in bodies:
        # The spec is part of the record and its hash is not, unless it is another text's.
        if body["spec_hash"] == tagged_hash(body["spec"]):
            del body["spec_hash"]
        for name in ("spec", "parameters", "versions"):
            body[name] = _json(body[name])
    return bodies


def _analyses(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[dict[str, Any]]:
    """Return the analyses that the run's chain names: later ones are the audit's, not the run's."""
    rows = connection.execute(
        "select audit, analysis from raw.analysis_settings where (audit, analysis_hash) in "
        "(select runs.audit, chain.key from raw.chain as chain inner join raw.runs as runs using (run_id) "
        "where chain.run_id = ? and chain.kind = 'analysis') "
        "qualify row_number() over (partition by audit, analysis_hash order by rowid) = 1",
        [run_id],
    ).fetchall()
    return [{"audit": audit, "analysis": _json(analysis)} for audit, analysis in rows]


def _events(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[dict[str, Any]]:
    rows = connection.execute(
        "select event, detail, happened_at from raw.run_events where run_id = ? order by happened_at, rowid",
        [run_id],
    ).fetchall()
    return [event_body(event, _json(detail), happened_at) for event, detail, happened_at in rows]


def _erasures(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[dict[str, Any]]:
    names = FIELDS["erasure"]
    rows = connection.execute(
        f"select {', '.join(names)} from raw.erasures where run_id = ? order by erased_at, rowid", [run_id]
    ).fetchall()
    bodies = [_as_body(names, row) for row in rows]
    return [{**body, "texts": _json(body["texts"])} for body in bodies]


def _prompts(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[Held]:
    names = tuple(name for name in FIELDS["prompt"] if name not in ("prompt_id", "attributes"))
    held = f"""
        select
            coalesce(prompts.prompt_id, stated.prompt_id) as held_key,
            held_key as prompt_id,
            {", ".join(names)},
            coalesce(stated.attributes, []) as attributes
        from (select * from raw.prompts where run_id = $run_id) as prompts
        full outer join (
            select
                prompt_id,
                list({{'slot': slot, 'attribute': attribute, 'group_name': group_name, 'descriptor': descriptor}}) as attributes
            from raw.prompt_attributes
            where run_id = $run_id
            group by prompt_id
        ) as stated on stated.prompt_id = prompts.prompt_id
    """
    rows = _next_to_chain(connection, run_id, "prompt", held, "held_key")
    yield from _joined("prompt", ("prompt_id", *names, "attributes"), rows, lambda body: (body, ()))


def _responses(
    connection: duckdb.DuckDBPyConnection, run_id: str, erasures: Sequence[Mapping[str, Any]]
) -> Iterator[Held]:
    erased = {record_key("erasure", body): body["texts"] for body in erasures}

    def with_erased(body: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        texts = erased.get(record_key("response", body), {})
        returned = tuple(name for name in texts if body.get(name) is not None)
        marks = {name: {ERASED: texts[name]} for name in ERASABLE if name in texts}
        return {**body, **marks}, returned

    rows = (_side_by_side if _have_same_order(connection, run_id) else _full_join)(connection, run_id)
    yield from _joined("response", FIELDS["response"], rows, with_erased)


def _is_in_order(connection: duckdb.DuckDBPyConnection, run_id: str) -> bool:
    """Return whether raw.chain holds a run's records in their order, and none twice."""
    return not connection.execute(_OUT_OF_ORDER, [run_id]).fetchall()


def _have_same_order(connection: duckdb.DuckDBPyConnection, run_id: str) -> bool:
    """Return whether a run's responses are the same in their table and in its chain, and in the same order."""
    if not _is_in_order(connection, run_id):
        return False
    chained = _fetch_rows(
        connection, "select key from raw.chain where run_id = ? and kind = 'response'", [run_id]
    )
    held = _fetch_rows(connection, f"select {_RESPONSE_KEY} from raw.responses where run_id = ?", [run_id])
    return all(link == row for link, row in zip_longest(chained, held))


def _full_join(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[tuple[Any, ...]]:
    """Yield every response of the chain with its row, and the rows that the chain does not have last."""
    held = f"""
        select {_RESPONSE_KEY} as held_key, {", ".join(FIELDS["response"])}
        from raw.responses
        where run_id = $run_id
    """
    rows = _next_to_chain(connection, run_id, "response", held, "seq")
    with _unbounded(connection):
        yield from rows


def _next_to_chain(
    connection: duckdb.DuckDBPyConnection, run_id: str, kind: str, held: str, order: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the chain's records of a kind next to the rows of a query, whose first column is their key.

    Rows that the chain does not have come last, by `order`.
    """
    return _fetch_rows(
        connection,
        f"""
        with held as ({held}),
        chained as (
            select position, key, digest, extra from raw.chain where run_id = $run_id and kind = '{kind}'
        )
        select chained.*, held.*
        from chained full outer join held on held.held_key = chained.key
        order by chained.position nulls last, held.{order}
        """,
        {"run_id": run_id},
    )


def _side_by_side(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[tuple[Any, ...]]:
    """Yield what `_full_join` would of tables that `_have_same_order`, without holding on to anything."""
    chained = _fetch_rows(
        connection,
        "select position, key, digest, extra from raw.chain where run_id = ? and kind = 'response'",
        [run_id],
    )
    held = _fetch_rows(
        connection,
        f"select {_RESPONSE_KEY}, {', '.join(FIELDS['response'])} from raw.responses where run_id = ?",
        [run_id],
    )
    for link, row in zip(chained, held, strict=True):
        yield *link, *row


def _joined(
    kind: str,
    names: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    finish: Callable[[dict[str, Any]], tuple[dict[str, Any], tuple[str, ...]]],
) -> Iterator[Held]:
    """Yield the records of rows of position, key, digest and extra of the chain, a table's key and its columns."""
    previous: int | None = None
    for position, key, digest, extra, held_key, *values in rows:
        body: dict[str, Any] | None = None
        returned: tuple[str, ...] = ()
        if held_key is not None:
            # The columns come last, so that keys next to the hash cannot replace them.
            body, returned = finish({**_extra(extra), **_as_body(names, values)})
        is_repeated = position is not None and position == previous
        yield Held(kind, key or held_key, position, digest, body, returned, is_repeated)
        previous = position


@contextmanager
def _unbounded(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let DuckDB hold what joining and sorting take, also where `Ledger.read_through` bounds what only passes through it."""
    import duckdb

    ((limit,),) = connection.execute(f"select getvariable('{READ_LIMIT}')").fetchall()
    if limit is not None:
        connection.execute("reset memory_limit")
    try:
        yield
    finally:
        # A caller that stops halfway may have closed it.
        with suppress(duckdb.ConnectionException):
            if limit is not None:
                connection.execute("set memory_limit = ?", [limit])


def _fetch_rows(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] | Mapping[str, Any]
) -> Iterator[tuple[Any, ...]]:
    cursor = connection.cursor().execute(sql, values)
    while rows := cursor.fetchmany(BATCH_ROWS):
        yield from rows


def _as_body(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Return columns as a body has them: moments as text."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in zip(names, values, strict=True)
    }


def _extra(text: str | None) -> dict[str, Any]:
    extra = {} if text is None else _json(text)
    return extra if isinstance(extra, dict) else {"extra": extra}


def _names(text: str) -> tuple[Any, ...]:
    names = _json(text)
    return tuple(names) if isinstance(names, list) else (names,)


def _json(text: str) -> Any:
    """Return the value of JSON text, or the text itself if it was changed into something else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
