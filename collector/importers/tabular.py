"""Imports a file of responses, a table or a log of another tool, streamed, in one transaction.

Two passes over the file. The first leaves out the answers: it checks every row and works out prompts, trials and order in
tables of short columns. The second streams the answers in batches through the same classification as a collection.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.answers.failures import UnknownReasons
from collector.answers.replies import load_rules
from collector.answers.unread_reasons import UnreadReasons
from collector.asking.asked_again import AskedAgain
from collector.asking.progress import Advance, progress
from collector.errors import InputError
from collector.hints import quoted
from collector.importers.chained import ChainedRun
from collector.importers.conditions import Conditions, conditions_of
from collector.importers.data_warnings import Shares
from collector.importers.gathered import ItemPlan, RankingPlan
from collector.importers.missing import MissingAnswers
from collector.importers.plan import (
    Plan,
    PlannedAnswer,
    form_of,
    needed_columns,
)
from collector.importers.reading import KnownPrompt, open_reader
from collector.importers.responses import RowPlan
from collector.journal.records import AnalysisSettings
from collector.ledger.database import Ledger
from collector.ledger.summary import RunSummary, all_versions, new_run_id
from collector.rows import SHORT_CHARACTERS, ResponseRow, RunRow, ScoreRow, utc_now
from collector.spec.audit import Audit
from collector.spec.methods.lists import MATCHED
from collector.tables.source import MEMORY_LIMIT, ROW_COLUMN, Source, content_hash, open_source

if TYPE_CHECKING:
    from collector.journal.chain import Seal
    from collector.ledger.appending import Append
    from collector.spec.importing import Import
    from collector.spec.prompts import Prompt
    from collector.tables.source import Form


@dataclass(slots=True)
class _Counted:
    """The counts of a run: its trials by the status of the last attempt, and which questions were asked again.

    `retried` are the attempts at trials that have several: the trial, the attempt, its status, the rule that gave it, and whether
    it is the last one.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    retried: list[tuple[tuple[str, int], int, str, str | None, bool]] = field(default_factory=list)
    asked_again: str | None = None

    def note(self, row: ResponseRow) -> None:
        """Count a row of the file."""
        if row.is_last:
            self.statuses[row.status] += 1
        if row.attempt > 1 or not row.is_last:
            self.retried.append(
                ((row.prompt_id, row.trial), row.attempt, row.status, row.read_by, row.is_last)
            )

    def name_groups(self, prompts: Iterable[Prompt]) -> None:
        """Say about which groups the questions were that were asked again; `prompts` are the run's."""
        if not self.retried:
            return
        again = AskedAgain()
        # A file may hold attempts in any order.
        for (prompt_id, trial), _, status, read_by, is_last in sorted(self.retried, key=lambda one: one[:2]):
            again.note(prompt_id, trial, status=status, read_by=read_by, is_last=is_last)
        self.asked_again = again.sentence(prompts)


def import_file(audit: Audit, audit_path: Path, file: Path, ledger_path: Path, **options: Any) -> RunSummary:
    """Import a file that makes one run: `import_runs` for an audit whose import is not split.

    Raises:
        ValueError: the file makes several runs.
    """
    (summary,) = import_runs(audit, audit_path, file, ledger_path, **options)
    return summary


def import_runs(
    audit: Audit | Sequence[Audit],
    audit_path: Path,
    file: Path,
    ledger_path: Path,
    *,
    name: str | None = None,
    again: bool = False,
    simulated: bool = False,
    show_progress: bool | None = None,
    versions: Mapping[str, str] | None = None,
) -> tuple[RunSummary, ...]:
    """Import a file of responses by the mapping in an audit's `import`.

    Args:
        audit: the spec, or the audits of its outcomes, all of which are imported or none.
        audit_path: its file, for error sentences.
        file: the responses.
        ledger_path: the ledger, made if absent; a file that cannot be imported leaves it as it was.
        name: what to call the target that answered; if absent the sheet's name, where one is stated, or the
            file's. Runs that the import splits by model are called after their models.
        again: import content that was imported for this audit before.
        simulated: label the answers as simulated.
        show_progress: None shows a bar on a terminal only.
        versions: what to store as versions next to Python's and DuckDB's.

    Returns:
        The run of each audit, or one for each model in the order of their names.

    Raises:
        InputError: the spec has no import, or the file is wrong; the message names file and row or column.
        LedgerError: the ledger cannot be used.
    """
    audits = [audit] if isinstance(audit, Audit) else list(audit)
    started, started_at = time.monotonic(), utc_now()
    kept: list[tuple[_Checked, _Kept]] = []
    with ExitStack() as stack:
        checked = [stack.enter_context(_checked(one, audits, audit_path, file, name=name)) for one in audits]
        ledger = Ledger(ledger_path)
        ledger.create()
        with ledger.append(memory_limit=MEMORY_LIMIT) as append:
            for one in checked:
                if not again:
                    _refuse_repeated(append, one.audit, file, one.source_hash)
                runs = _run_rows(
                    one,
                    file,
                    started_at,
                    name=name,
                    is_simulated=simulated,
                    versions=all_versions(versions),
                )
                kept.append((one, _append(append, runs, one, file, started_at, show_progress)))
            if any(content_hash(file, one.form) != one.source_hash for one in checked):
                # Keep nothing: the file changed, so rows would mix two versions.
                raise InputError(f"{file} was changed while it was read: import it again when it is whole.")
        warnings = tuple(
            dict.fromkeys(
                sentence
                for one, made in kept
                for sentence in (
                    *one.audit.unjudged_labels(),
                    *one.source.notes,
                    *one.plan.warnings(),
                    *made.sentences,
                )
            )
        )
    seconds = time.monotonic() - started
    return tuple(
        RunSummary(
            run_id=made.runs[planned.number].run_id,
            audit=one.audit.audit,
            target=made.runs[planned.number].target,
            is_simulated=simulated,
            n_prompts=planned.n_prompts,
            n_responses=planned.n_responses,
            n_attempts=planned.n_attempts,
            counts=dict(made.counted[planned.number].statuses),
            seconds=seconds,
            warnings=warnings,
            seal=made.seals[planned.number],
            asked_again=made.counted[planned.number].asked_again,
        )
        for one, made in kept
        for planned in one.plan.runs
    )


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file that was read once for an audit, and is right."""

    audit: Audit
    form: Form
    source: Source
    source_hash: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class _Kept:
    """The runs written from a file for an audit, by number, with counts and seals; and warnings."""

    runs: Mapping[int, RunRow]
    counted: Mapping[int, _Counted]
    seals: Mapping[int, Seal]
    sentences: Sequence[str]


@contextmanager
def _checked(
    audit: Audit, audits: Sequence[Audit], audit_path: Path, file: Path, *, name: str | None
) -> Iterator[_Checked]:
    """Open a file for one of the audits that are read from it, and check all of its rows.

    Raises:
        InputError: as `import_runs`.
    """
    if audit.imported is None:
        raise InputError(
            f"{audit_path}: the key import is missing; it says which column of a file holds what."
        )
    if audit.imported.split is not None and name is not None:
        raise InputError(
            f"{audit_path} makes a run for each model in {file.name} and calls it after the model; leave the name out."
        )
    conditions = conditions_of(audit, file)
    form = form_of(audit.imported)
    source_hash = content_hash(file, form) if file.exists() else ""
    columns = needed_columns(conditions, audit)
    if form.duplicates is not None:
        # Rows with other outcomes are other rows.
        columns += [
            column
            for one in audits
            if one is not audit and one.imported is not None and (column := one.imported.columns.text)
        ]
    with open_source(file, columns, form, audit.imported.columns.texts) as source:
        plan = plan_of(audit, conditions, source)
        plan.check()
        yield _Checked(audit, form, source, source_hash, plan)


def plan_of(audit: Audit, conditions: Conditions, source: Source) -> Plan:
    """Return how a file is read, by the kind of its answers."""
    assert audit.imported is not None
    if audit.imported.columns.has_replies:
        return RowPlan(audit, conditions, source)
    kind = RankingPlan if audit.answer.kind == "ranking" else ItemPlan
    return kind(audit, conditions, source)


def _mapping(imported: Import) -> dict[str, Any]:
    """Return how a file was read, as plain data: its columns and the values of its cells."""
    mapping: dict[str, Any] = {"columns": imported.columns.model_dump(exclude_none=True)}
    # Keys of later versions are left out where unused, so that older mappings keep their form.
    for later in ("scores", "descriptors", "texts"):
        if not mapping["columns"][later]:
            del mapping["columns"][later]
    # The row itself is no column of the file.
    if mapping["columns"].get("subject") == ROW_COLUMN:
        del mapping["columns"]["subject"]
    if imported.keep:
        mapping["keep"] = list(imported.keep)
    for stated in ("table", "encoding", "split"):
        if (value := getattr(imported, stated)) is not None:
            mapping[stated] = value
    if imported.values:
        mapping["values"] = {attribute: dict(values) for attribute, values in imported.values.items()}
    if imported.score_labels:
        mapping["score_labels"] = dict(imported.score_labels)
    if imported.conditions:
        mapping["conditions"] = {
            name: condition.model_dump(exclude_defaults=True)
            for name, condition in imported.conditions.items()
        }
    return mapping


def _run_rows(
    checked: _Checked,
    file: Path,
    started_at: datetime,
    *,
    name: str | None,
    is_simulated: bool,
    versions: Mapping[str, str],
) -> dict[int, RunRow]:
    """Return the runs to be by their numbers, called after their models where the import is split by model."""
    audit, plan = checked.audit, checked.plan
    assert audit.imported is not None
    asked, rules_version = audit.asked(), load_rules().version
    # Sheets of a workbook are often those of several vendors.
    sheet = audit.imported.table if file.suffix.lower() == ".xlsx" else None
    runs = {}
    for planned in plan.runs:
        # A file that comes under another name each month still holds the answers of the one model that it names.
        target = (
            (planned.model if audit.imported.split is not None else name or planned.model)
            or sheet
            or file.stem
        )
        runs[planned.number] = RunRow(
            run_id=new_run_id(audit.audit, target, started_at),
            audit=audit.audit,
            spec=asked,
            target=target,
            target_kind="import",
            is_simulated=is_simulated,
            model_asked=planned.model,
            parameters=_mapping(audit.imported),
            answer_rules_version=rules_version,
            versions=versions,
            origin="imported",
            source_name=file.name,
            source_hash=checked.source_hash,
            started_at=started_at,
        )
    return runs


def _refuse_repeated(append: Append, audit: Audit, file: Path, source_hash: str) -> None:
    earlier = append.run_of_source(audit.audit, source_hash, audit.imported.table if audit.imported else None)
    if earlier is not None:
        raise InputError(
            f"{file} was imported for the audit {audit.audit!r} before, as run {earlier}; use --again to import it a second time."
        )


def _append(
    append: Append,
    runs: Mapping[int, RunRow],
    checked: _Checked,
    file: Path,
    started_at: datetime,
    show_progress: bool | None,
) -> _Kept:
    """Write the runs, how their answers are read, and all that the plan holds.

    Raises:
        InputError: prompts cannot be kept as they are.
    """
    audit, plan = checked.audit, checked.plan
    analysis = AnalysisSettings(
        audit.audit,
        audit.analysis_document(),
        started_at,
        audit.relevance_hash,
        markers_hash=audit.markers_hash,
    )
    append.analysis(analysis.audit, analysis.document)
    append.relevance(audit.relevance_hash, audit.relevance_rows)
    append.markers(audit.markers_hash, audit.marker_rows, audit.probe_rows)
    chained = {number: ChainedRun(append, run, analysis) for number, run in runs.items()}
    for planned in plan.runs:
        counts = {"prompts": planned.n_prompts, "rows": planned.n_attempts}
        chained[planned.number].event("started", counts | plan.left_out(planned.number))
    n_attempts = sum(planned.n_attempts for planned in plan.runs)
    with progress(n_attempts, f"import {file.name}", show_progress) as advance:
        counted, message = _write(chained, plan, audit, file, advance)
    for number, run in chained.items():
        statuses = counted[number].statuses
        run.event("finished", {"responses": statuses.total(), "counts": dict(statuses)})
    return _Kept(runs, counted, {number: run.seal() for number, run in chained.items()}, message)


def _write(
    runs: Mapping[int, ChainedRun], plan: Plan, audit: Audit, file: Path, advance: Advance
) -> tuple[dict[int, _Counted], list[str]]:
    """Return the second pass: prompts, then every answer, classified and hashed, in the file's order.

    Returns:
        Number of the run -> what it holds; and what should be known of the file.

    Raises:
        InputError: as `_write_prompts`.
    """
    missing = MissingAnswers(plan.answer_columns) if isinstance(plan, RowPlan) else None
    reasons, shares = UnknownReasons(), Shares()
    counted = {number: _Counted() for number in runs}
    unread = UnreadReasons()
    n_read = n_ok = 0
    now = utc_now()
    with open_reader(audit, plan.n_rows) as reader:
        known = _write_prompts(runs, plan, audit, file)
        for found, read in reader.read(plan.answers(), known):
            for number, run in runs.items():
                answered = [one for one in found if one.run == number]
                rows = [row for one, row in zip(found, read, strict=True) if one.run == number]
                run.responses(rows)
                run.scores(
                    [score for one in answered for score in _scores(known[one.prompt_number], one, now)]
                )
                for one, row in zip(answered, rows, strict=True):
                    counted[number].note(row)
                    shares.add(audit, row.answer_text, known[one.prompt_number].groups)
                    if row.status == "unread":
                        unread.note(row.error, row.response_text)
                n_read += len(rows)
                n_ok += sum(row.status == "ok" for row in rows)
            if missing is not None:
                missing.add((one.text for one in found), audit.answer)
            for one in found:
                reasons.note(one.finish_reason)
            advance(n_read, n_read - n_ok)
    for number, run_counted in counted.items():
        run_counted.name_groups(
            asked.prompt for batch in plan.prompts() for asked in batch if asked.run == number
        )
    lacking = missing.sentences() if missing is not None else []
    notes = [*lacking, *unread.sentences(), *reasons.sentences(), *shares.sentences()]
    named = {group for one in known.values() for group in one.groups}
    return counted, [*_silent_sentences(audit, named), *notes]


def _write_prompts(
    runs: Mapping[int, ChainedRun], plan: Plan, audit: Audit, file: Path
) -> dict[int, KnownPrompt]:
    """Write the prompts.

    Returns:
        Number of the prompt -> what its answers need of it.

    Raises:
        InputError: two prompts are one as they are kept, or several are neutral, and the analysis does not say which one counts.
    """
    known: dict[int, KnownPrompt] = {}
    # Each combination of groups once: many prompts name the same.
    combinations: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = {}
    neutral: set[str] = set()
    for batch in plan.prompts():
        neutral.update(one.prompt.template for one in batch if not one.prompt.attributes)
        for number, run in runs.items():
            run.prompts([one.prompt for one in batch if one.run == number])
        for asked in batch:
            groups = tuple((stated.attribute, stated.group_name) for stated in asked.prompt.attributes)
            groups = combinations.setdefault(groups, groups)
            known[asked.number] = KnownPrompt(asked.prompt.prompt_id, asked.prompt.content_hash, groups)
    if len({one.prompt_id for one in known.values()}) < len(known):
        raise InputError(
            f"{file}: two prompts that differ in the file are one as they are kept, as where only a NUL differs; write "
            f"them alike."
        )
    # A file does not say which neutral prompt goes with which other, as templates do.
    if audit.answer.kind == "list" and audit.analysis.lists.neutral == MATCHED and len(neutral) > 1:
        raise InputError(
            f"{file} has neutral prompts of several templates: {quoted(sorted(neutral))}; name the one that lists are compared "
            f"with as analysis.lists.neutral."
        )
    return known


def _silent_sentences(audit: Audit, named: Container[tuple[str, str]]) -> list[str]:
    """Return the sentence on declared groups that no row names, if there are any."""
    silent = {
        name: [group for group in attribute.groups if (name, group) not in named]
        for name, attribute in audit.attributes.items()
    }
    listed = [f"{quoted(groups)} of {name}" for name, groups in silent.items() if groups]
    return [f"No row names a group that the audit declares: {'; '.join(listed)}."] if listed else []


def _scores(prompt: KnownPrompt, found: PlannedAnswer, now: datetime) -> list[ScoreRow]:
    """Return the labels that an answer has already; a label without a number has the score 1."""
    return [
        ScoreRow(
            prompt_id=prompt.prompt_id,
            trial=found.trial,
            attempt=found.attempt,
            scorer=scorer,
            label=label,
            score=1.0,
            is_short=len(found.text or "") < SHORT_CHARACTERS,
            scored_at=now,
        )
        for scorer, label in found.scores
    ]
