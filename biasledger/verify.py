"""Checks the evidence: that what was asked and answered stands in the ledger as it was kept, and in the journals too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from collector.errors import InputError, LedgerError
from collector.hints import did_you_mean
from collector.journal.chain import ZERO, Seal, next_hash
from collector.journal.reader import Record, is_being_written, journal_folder, journal_path, read_journal
from collector.ledger.database import Ledger
from collector.ledger.evidence import (
    TABLES,
    Held,
    chain_links,
    doubled_shared_rows,
    has_seal,
    hashed_content,
    held_records,
    odd_rows_of_runs,
)
from collector.ledger.loading import read_head
from collector.ledger.schema import changed_definitions
from collector.rows import LATER_EVENTS

if TYPE_CHECKING:
    import duckdb

_NOWHERE = 1 << 62  # the place of a fault that is at no record
_SHOWN_VALUES = 3
_FIRST_WITH_CHAINS = 5  # the ledger's schema that has raw.chain

State = Literal["intact", "broken", "unsealed", "unchecked"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking a run, or data that runs share.

    Attributes:
        name: the run, or what else was checked.
        state: 'unsealed' if there is no chain, as in runs from before chains existed; 'unchecked' for a part of a pack that
            nothing here can be compared with.
        seal: the chain's current length and head.
        fault: the first fault, as a sentence; None unless broken.
        n_faults: the number of faults.
        notes: notes, one sentence each.
    """

    name: str
    state: State
    seal: Seal | None = None
    fault: str | None = None
    n_faults: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def broken(cls, name: str, *faults: str, notes: Iterable[str] = ()) -> Verdict:
        """Return the verdict on something with these faults, the first one first."""
        return cls(name, "broken", fault=faults[0], n_faults=len(faults), notes=tuple(notes))

    @classmethod
    def lost_seal(cls, seal: Seal) -> Verdict:
        """Return the verdict where none of several runs has a seal that was kept elsewhere."""
        return cls.broken(
            "seal",
            f"No run has the seal {seal}: the run that it was printed for was changed, cut or removed.",
        )


@dataclass(slots=True)
class _Faults:
    """The fault nearest to the chain's beginning, and how many there are."""

    first: str | None = None
    position: int = _NOWHERE + 1
    held: Held | None = None
    count: int = 0

    def add(self, position: int | None, sentence: str, held: Held | None = None) -> None:
        self.count += 1
        at = _NOWHERE if position is None else position
        if at < self.position:
            self.first, self.position, self.held = sentence, at, held


@dataclass(slots=True)
class Run:
    """The ledger's statements about a run, next to its chain."""

    run_id: str
    is_collected: bool = False
    started_at: datetime | None = None
    is_older: bool = False
    seals: dict[int, str] = field(default_factory=dict)
    n_erasures: int = 0
    retracted: str | None = None


def verify_ledger(
    ledger_path: Path,
    run_ids: Sequence[str] = (),
    seal: Seal | None = None,
    *,
    needs_journals: bool = True,
) -> list[Verdict]:
    """Recompute the chains of runs from the rows that the ledger holds.

    Args:
        ledger_path: the ledger; its journals are expected next to it.
        run_ids: which runs; none checks all of them, what they share, and journals that the ledger knows nothing of.
        seal: one that was kept elsewhere; a run must have had exactly these records first. With several runs, one of them.
        needs_journals: whether a collected run without its journal is broken; if not, a note says so.

    Returns:
        A verdict a run in the order given, or of their start, and then of what they share.

    Raises:
        InputError: a run that is nowhere.
        LedgerError: the ledger cannot be read.
    """
    ledger = Ledger(ledger_path)
    with ledger.read_through() as connection:
        known = known_runs(connection)
        unknown = [run_id for run_id in run_ids if run_id not in known]
        if unknown:
            hint = did_you_mean(unknown[0], list(known)) or "; `biasledger runs` lists them."
            raise InputError(f"There is no run {unknown[0]!r} in {ledger_path}{hint}")
        chosen = [known[run_id] for run_id in run_ids] or list(known.values())
        only = seal if len(chosen) == 1 else None
        verdicts = [
            verify_run(connection, run, only, ledger_path, needs_journal=needs_journals) for run in chosen
        ]
        if (
            seal is not None
            and only is None
            and not any(has_seal(connection, run.run_id, seal) for run in chosen)
        ):
            verdicts.append(Verdict.lost_seal(seal))
        if not run_ids:
            verdicts += _verify_definitions(connection)
            verdicts += verify_shared(connection)
            verdicts += _verify_rows_of_runs(connection)
            verdicts += _verify_unknown_journals(ledger_path, known)
    return verdicts


def known_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, Run]:
    """Return every run of which the ledger holds anything, those with a row in raw.runs first, in the order of their start."""
    runs: dict[str, Run] = {}
    for run_id, origin, started_at, is_older in connection.execute(
        "select run_id, origin, started_at, run_id in (from raw.unchained_runs) from raw.runs order by started_at, run_id"
    ).fetchall():
        runs[run_id] = Run(run_id, origin == "collected", started_at, is_older)
    tables = ("chain", "seals", "prompts", "prompt_attributes", "responses", "run_events", "erasures")
    for (run_id,) in connection.execute(
        " union ".join(f"select distinct run_id from raw.{table}" for table in tables) + " order by run_id"
    ).fetchall():
        runs.setdefault(run_id, Run(run_id))
    for run_id, n_records, head_hash in connection.execute(
        "select run_id, n_records, head_hash from raw.seals"
    ).fetchall():
        runs[run_id].seals[n_records] = head_hash
    for run_id, n in connection.execute(
        "select run_id, count(*) from raw.erasures group by run_id"
    ).fetchall():
        runs[run_id].n_erasures = n
    for run_id, retracted_at, reason in connection.execute(
        "select run_id, retracted_at, reason from raw.retracted_runs"
    ).fetchall():
        if run_id in runs:
            day = retracted_at.date().isoformat()
            runs[run_id].retracted = f"it was retracted on {day} and counts for nothing any more: {reason}"
    return runs


def verify_run(
    connection: duckdb.DuckDBPyConnection,
    run: Run,
    seal: Seal | None,
    ledger_path: Path | None = None,
    *,
    needs_journal: bool = False,
) -> Verdict:
    """Recompute a run's chain from its rows, and hold its journal against it.

    Args:
        connection: whose schema `raw` is a ledger's.
        run: as `known_runs` gives it.
        seal: one that was kept elsewhere.
        ledger_path: the ledger next to which the journal should lie; None where none would, as in an export.
        needs_journal: whether the run is broken without it, if it was collected.
    """
    faults = _Faults()
    path = None
    if ledger_path is not None:
        try:
            path = journal_path(ledger_path, run.run_id)
        except InputError:
            return Verdict.broken(run.run_id, f"{run.run_id!r} is no name that a run is ever given.")
    journal = path if path is not None and path.is_file() else None
    has_journal = journal is not None
    end, digests_hold = _walk(connection, run, seal, faults)
    if end.count == 0 and not run.seals and run.is_older and not has_journal:
        return _verify_unchained(connection, run, seal)
    for held in held_records(connection, run.run_id):
        if not held.is_as_kept:
            faults.add(held.position, _what_is_wrong(held), held)
    _check_end(run, end, seal, has_journal, faults)
    notes = []
    if journal is not None:
        notes += _compare_journal(connection, journal, run, end, faults)
    elif path is not None and run.is_collected and needs_journal:
        faults.add(
            None,
            f"Its journal is not at {path}: it was deleted, or left behind when the ledger was moved. Put it back, or check the "
            f"ledger alone with --without-journals.",
        )
    elif path is not None and run.is_collected:
        notes.append(f"its journal is not at {path}, so the ledger's own chain is all that was checked.")
    if run.n_erasures:
        texts = "one response" if run.n_erasures == 1 else f"{run.n_erasures:,} responses"
        notes.append(f"the texts of {texts} were erased; raw.erasures says which and why.")
    notes += _retracted(run)
    if faults.first is None:
        return Verdict(run.run_id, "intact", end, notes=tuple(notes))
    message = faults.first
    if faults.held is not None and digests_hold and journal is not None:
        message = message.removesuffix(".") + _difference(journal, faults.held) + "."
    return Verdict(run.run_id, "broken", end, message, faults.count, tuple(notes))


def _verify_unchained(connection: duckdb.DuckDBPyConnection, run: Run, seal: Seal | None) -> Verdict:
    """Judge a run that the ledger notes as kept before it kept chains: nothing else excuses that there is none."""
    ((since, is_later),) = connection.execute(
        "select max(applied_at), bool_or(exists (from raw.run_events where run_id = $run_id "
        "and not list_contains($later, event) and happened_at >= applied_at)) from raw.schema_migrations "
        "where version = $version",
        {"run_id": run.run_id, "version": _FIRST_WITH_CHAINS, "later": list(LATER_EVENTS)},
    ).fetchall()
    message = None
    if seal is not None:
        message = f"Run {run.run_id} has no chain, so it cannot have had the seal {seal}."
    elif run.started_at is None or since is None or is_later or run.started_at >= since:
        message = "Its chain is gone: it is noted as a run of before chains were kept, and is no such run."
    if message is not None:
        return Verdict.broken(run.run_id, message)
    note = (
        f"it was kept before chains were, in this ledger from {since:%Y-%m-%d %H:%M} UTC on, and nothing shows whether it was "
        f"changed."
    )
    return Verdict(run.run_id, "unsealed", notes=(note, *_retracted(run)))


def _retracted(run: Run) -> list[str]:
    return [] if run.retracted is None else [run.retracted]


def _walk(
    connection: duckdb.DuckDBPyConnection, run: Run, seal: Seal | None, faults: _Faults
) -> tuple[Seal, bool]:
    """Follow a run's chain from record to record.

    Returns:
        Its end, and whether every record follows on the one before.
    """
    count, head_hash = 0, ZERO
    for position, kind, key, digest, linked in chain_links(connection, run.run_id):
        if position != count:
            what = "is there twice" if position < count else "is missing"
            faults.add(min(position, count), f"Record {min(position, count)} of its chain {what}.")
        elif linked != next_hash(position, kind, digest, head_hash):
            faults.add(
                position,
                f"Record {position} of its chain ({_name(kind, key)}) does not follow on the one before.",
            )
        count, head_hash = position + 1, linked
        if run.seals.get(count, linked) != linked:
            faults.add(
                position, f"The chain has another hash at record {position} than the ledger's own seal."
            )
        if seal is not None and seal.count == count and seal.head_hash != linked:
            faults.add(position, f"The first {count:,} records are not those of the seal {seal}.")
    return Seal(count, head_hash), faults.count == 0


def _check_end(run: Run, end: Seal, seal: Seal | None, has_journal: bool, faults: _Faults) -> None:
    if seal is not None and seal.count > end.count:
        gone = seal.count - end.count
        faults.add(
            end.count, f"The last {gone:,} of the {seal.count:,} records that the seal counts are gone."
        )
    last = max(run.seals, default=0)
    if last > end.count:
        faults.add(
            end.count,
            f"The last {last - end.count:,} of the {last:,} records that it was sealed with are gone.",
        )
    # Where there is a journal, it says where the chain ends.
    if has_journal or last >= end.count > 0:
        return
    if end.count == 0:
        faults.add(0, "Its chain is gone.")
    elif not run.seals:
        faults.add(end.count, "Its seal is gone, so nothing shows where its chain should end.")
    else:
        faults.add(last, f"{end.count - last:,} records stand after its seal.")


def _compare_journal(
    connection: duckdb.DuckDBPyConnection, path: Path, run: Run, end: Seal, faults: _Faults
) -> list[str]:
    """Hold a run's journal against its chain, record by record; return notes."""
    links = chain_links(connection, run.run_id)
    n_lines, waiting, n_bytes = 0, 0, 0
    next_kept: Record | None = None
    try:
        for record in read_journal(path, to_the_byte=True):
            n_lines += 1
            n_bytes = record.end.offset
            link = next(links, None)
            if link is None:
                next_kept = next_kept or record
                waiting += 1
            elif (link[0], link[4]) != (record.position, record.hash):
                faults.add(
                    record.position,
                    f"Record {record.position} of its chain ({_name(link[1], link[2])}) is not the one in its journal.",
                )
                return []
    except LedgerError as error:
        faults.add(n_lines, str(error))
        return []
    if n_lines < end.count:
        ends = f"ends after record {n_lines - 1}" if n_lines else "has no record"
        faults.add(n_lines, f"Its journal {path} {ends}, and {end.count - n_lines:,} more are in the ledger.")
    if is_being_written(path):
        message = f"it is being collected: {waiting:,} records are in the journal and not in the ledger yet."
        return [message] if waiting else []
    torn = path.stat().st_size - n_bytes
    message = f"its journal ends with {torn:,} bytes that are no record, as a crash leaves them."
    notes = [message] if torn else []
    if next_kept is None:
        if end.count > max(run.seals, default=0) and not faults.count:
            faults.add(
                end.count,
                "Its chain has no seal at its end: the seal was deleted, or a crash came before it; `biasledger build` "
                "writes it.",
            )
        return notes
    faults.add(
        next_kept.position,
        f"The last {waiting:,} records of its journal are not in the ledger, from record {next_kept.position} on; "
        f"`biasledger build` loads them.",
    )
    return notes


def _verify_definitions(connection: duckdb.DuckDBPyConnection) -> Iterator[Verdict]:
    changed = changed_definitions(connection)
    if changed:
        message = (
            f"{', '.join(changed[:_SHOWN_VALUES])} {'is' if len(changed) == 1 else 'are'} not defined as biasledger defines "
            f"what a ledger holds: a table, a view or a column was changed, added or removed."
        )
        yield replace(Verdict.broken("tables and views", message), n_faults=len(changed))


def _verify_rows_of_runs(connection: duckdb.DuckDBPyConnection) -> Iterator[Verdict]:
    if sentences := list(odd_rows_of_runs(connection)):
        yield Verdict.broken("seals and baselines", *sentences)


def verify_shared(connection: duckdb.DuckDBPyConnection) -> Iterator[Verdict]:
    """Recompute the hashes of analyses, relevance and catalogues; yield a verdict if one differs."""
    faults = [
        f"{what[0].upper()}{what[1:]} was changed: its content does not match {stated}."
        for what, stated, computed in hashed_content(connection)
        if stated != computed
    ]
    faults += doubled_shared_rows(connection)
    if faults:
        yield Verdict.broken("analyses and catalogues", *faults)


def _verify_unknown_journals(ledger_path: Path, known: Mapping[str, Run]) -> Iterator[Verdict]:
    for path in sorted(journal_folder(ledger_path).glob("*.jsonl")):
        if path.stem in known:
            continue
        try:
            # Journals of other ledgers may lie next to it.
            if read_head(path).ledger_name != ledger_path.name:
                continue
        except LedgerError as error:
            yield Verdict.broken(path.stem, str(error))
            continue
        if is_being_written(path):
            note = "it is being collected and not in the ledger yet."
            yield Verdict(path.stem, "unsealed", notes=(note,))
        else:
            yield Verdict.broken(
                path.stem, f"The ledger has nothing of this run, and {path} has; `biasledger build` loads it."
            )


def _what_is_wrong(held: Held) -> str:
    """Say in a sentence what is wrong with a record's row."""
    name, table = _name(held.kind, held.key), TABLES[held.kind]
    what = f"{name[0].upper()}{name[1:]}"
    if held.position is None:
        return f"{what} is in {table} and not in the chain: it was put in later."
    at = f"record {held.position}"
    if held.body is None:
        return f"{what} ({at}) is gone from {table}."
    if held.is_repeated:
        return f"{what} ({at}) is in {table} more than once."
    if held.returned:
        return f"{what} ({at}) was erased, and its {held.returned[0]} is there again."
    return f"{what} ({at}{_about(held)}) was changed: its row does not match its hash."


def _about(held: Held) -> str:
    """Describe the current content of a row, if that helps to find it."""
    assert held.body is not None
    if held.kind == "prompt":
        groups = [
            f"{one['attribute']} {one['group_name']}" for one in held.body["attributes"][:_SHOWN_VALUES]
        ]
        return "".join(f", {group}" for group in groups)
    if held.kind == "response":
        return f", seq {held.body['seq']}, {held.body['status']}"
    return ""


def _name(kind: str, key: str) -> str:
    return "the run itself" if kind == "run" else f"{kind} {key}"


def _difference(path: Path, held: Held) -> str:
    """Say what a changed row says otherwise than the journal, which is known to be whole; nothing if it is not changed."""
    if held.position is None or held.body is None or held.is_repeated or held.returned:
        return ""
    kept: Mapping[str, Any] = next(
        (record.body for record in read_journal(path) if record.position == held.position), {}
    )
    if held.kind == "prompt":
        before, now = _groups(kept), _groups(held.body)
        moved = [f"{name} was {before[name]!r}" for name in before if now.get(name) != before[name]]
        if moved:
            return f"; by the journal {', '.join(moved[:_SHOWN_VALUES])}"
    names = [name for name in held.body if held.body[name] != kept.get(name) and name != "attributes"]
    return f"; it differs from the journal in {', '.join(names)}" if names else ""


def _groups(body: Mapping[str, Any]) -> dict[str, str]:
    """Return what each person's attributes are: 'race' or, of a second person, 'race of slot 2' -> group."""
    return {
        one["attribute"] + (f" of slot {one['slot']}" if one["slot"] > 1 else ""): one["group_name"]
        for one in body.get("attributes") or ()
    }
