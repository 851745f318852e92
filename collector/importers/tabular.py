"""Imports a file of responses: CSV, TSV, JSON Lines or Parquet, streamed, in one transaction.

Two passes over the file. The first leaves out the answers: it checks every row and works out prompts, trials and order in
tables of short columns. The second streams the answers in batches through the same classification as a collection.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.answers import classify, load_rules, storable
from collector.errors import InputError
from collector.hashing import hash_of_file
from collector.importers.conditions import conditions_of
from collector.importers.plan import Plan, needed_columns
from collector.importers.source import MEMORY_LIMIT, open_source, readable
from collector.ledger import Append, Ledger
from collector.progress import Advance, progress
from collector.rows import ResponseRow, RunRow, response_hash, utc_now
from collector.summary import RunSummary, all_versions, new_run_id

if TYPE_CHECKING:
    from collector.spec import Audit, Import


@dataclass(frozen=True, slots=True)
class _Known:
    """What the answers' pass needs of a prompt."""

    prompt_id: str
    content_hash: str


def import_file(
    audit: Audit,
    audit_path: Path,
    file: Path,
    ledger_path: Path,
    *,
    name: str | None = None,
    again: bool = False,
    simulated: bool = False,
    show_progress: bool | None = None,
    versions: Mapping[str, str] | None = None,
) -> RunSummary:
    """Import a file of responses by the mapping in an audit's `import`.

    Args:
        audit: the spec.
        audit_path: its file, for error sentences.
        file: the responses.
        ledger_path: the ledger, made if absent; a file that cannot be imported leaves it as it was.
        name: what to call the target that answered; the file's name without its ending if absent.
        again: import content that was imported for this audit before.
        simulated: label the answers as simulated.
        show_progress: None shows a bar on a terminal only.
        versions: what to store as versions beside Python's and DuckDB's.

    Raises:
        InputError: the spec has no import, or the file is wrong; the message names file and row or column.
        LedgerError: the ledger cannot be used.
    """
    if audit.imported is None:
        raise InputError(
            f"{audit_path}: the key import is missing; it says which column of a file holds what."
        )
    started, started_at = time.monotonic(), utc_now()
    columns = audit.imported.columns
    conditions = conditions_of(audit, file)
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-") as scratch,
        open_source(
            file, needed_columns(conditions, columns), audit.imported.format, Path(scratch)
        ) as source,
    ):
        with readable(file, source.format):
            plan = Plan(audit, conditions, source)
            plan.check()
        source_hash = hash_of_file(file)
        target = name or file.stem
        run = RunRow(
            run_id=new_run_id(audit.audit, target, started_at),
            audit=audit.audit,
            spec=audit.asked(),
            target=target,
            target_kind="import",
            is_simulated=simulated,
            model_asked=plan.models[0] if len(plan.models) == 1 else None,
            parameters=_mapping(audit.imported),
            answer_rules_version=load_rules().version,
            versions=all_versions(versions),
            origin="imported",
            source_name=file.name,
            source_hash=source_hash,
            started_at=started_at,
        )
        ledger = Ledger(ledger_path)
        ledger.create()
        with ledger.append(memory_limit=MEMORY_LIMIT) as append:
            earlier = append.run_of_source(audit.audit, source_hash)
            if earlier is not None and not again:
                raise InputError(
                    f"{file} was imported for the audit {audit.audit!r} before, as run {earlier}; use --again to import "
                    f"it a second time."
                )
            append.reading(audit.audit, audit.reading_document())
            append.relevance(audit.relevance_hash, audit.relevance_rows)
            append.run(run)
            append.event(run.run_id, "started", {"prompts": plan.n_prompts, "rows": plan.n_rows})
            with progress(plan.n_rows, f"import {file.name}", show_progress) as advance:
                counts = _write(append, run.run_id, plan, audit, advance)
            append.event(run.run_id, "finished", {"responses": counts.total(), "counts": dict(counts)})
        warnings = tuple(plan.warnings())
    return RunSummary(
        run_id=run.run_id,
        audit=audit.audit,
        target=target,
        is_simulated=simulated,
        n_prompts=plan.n_prompts,
        n_responses=plan.n_rows,
        n_attempts=plan.n_rows,
        counts=dict(counts),
        seconds=time.monotonic() - started,
        warnings=warnings,
    )


def _mapping(imported: Import) -> dict[str, Any]:
    """Return how a file was read, as plain data: its columns and, in long form, what it calls things."""
    mapping: dict[str, Any] = {"columns": imported.columns.model_dump(exclude_none=True)}
    if imported.conditions:
        mapping["conditions"] = {
            name: condition.model_dump(exclude_defaults=True)
            for name, condition in imported.conditions.items()
        }
    return mapping


def _write(append: Append, run_id: str, plan: Plan, audit: Audit, advance: Advance) -> Counter[str]:
    """The second pass: prompts, then every answer, classified and hashed, in the file's order."""
    known: dict[int, _Known] = {}
    for batch in plan.prompts():
        append.prompts(run_id, [prompt for _, prompt in batch])
        known.update({number: _Known(prompt.prompt_id, prompt.content_hash) for number, prompt in batch})
    counts: Counter[str] = Counter()
    answers = plan.answers()
    while True:
        # Only the reading side is wrapped: an error of the ledger must not be told as one of the file.
        with plan.readable():
            rows = next(answers, None)
        if rows is None:
            return counts
        batch_rows = [_response(known[number], rest, audit) for number, *rest in rows]
        append.responses(run_id, batch_rows)
        counts.update(row.status for row in batch_rows)
        advance(counts.total(), counts.total() - counts["ok"])


def _response(prompt: _Known, values: list[Any], audit: Audit) -> ResponseRow:
    trial, seq, weight, model, text = values
    text = storable(text) if text is not None else None
    answer = classify(text, audit.answer.kind, audit.answer.max_characters, k=audit.answer.k)
    return ResponseRow(
        prompt_id=prompt.prompt_id,
        trial=trial,
        attempt=1,
        seq=seq,
        status=answer.status,
        content_hash=response_hash(prompt.content_hash, answer.status, text),
        response_text=text,
        answer_text=storable(answer.answer_text) if answer.answer_text is not None else None,
        model_answered=storable(model) if model is not None else None,
        error=answer.error,
        weight=weight,
    )
