"""Imports a file of responses: CSV, TSV, JSON Lines or Parquet, streamed, in one transaction.

Two passes over the file. The first leaves out the answers: it checks every row and works out prompts, trials and order in
tables of short columns. The second streams the answers in batches through the same classification as a collection.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.answers import classify, load_rules, storable
from collector.errors import InputError
from collector.hashing import hash_of_file
from collector.hints import did_you_mean
from collector.importers.source import MEMORY_LIMIT, Source, no_rows, open_source, readable
from collector.ledger import Append, Ledger
from collector.progress import Advance, progress
from collector.prompts import Prompt, PromptAttribute
from collector.rows import ResponseRow, RunRow, response_hash, utc_now
from collector.spec import MINIMUM_TRIALS, PLAIN
from collector.summary import RunSummary, all_versions, new_run_id

if TYPE_CHECKING:
    from collector.spec import Audit, Columns

BATCH_ROWS = 10_000
MAX_TRIAL = 2**31 - 1
WHOLE_FILE_TEMPLATE = "imported"
# A number with room for nanosecond timestamps and for decimals, exact where DOUBLE is not.
NUMBER = "decimal(38, 10)"


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
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-") as scratch,
        open_source(file, _needed(columns), audit.imported.format, Path(scratch)) as source,
    ):
        with readable(file, source.format):
            plan = _Plan(audit, source)
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
            parameters={"columns": columns.model_dump(exclude_none=True)},
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


def _needed(columns: Columns) -> list[str]:
    """Return the columns of the file in the order of the view's c0, c1, …: attributes first, then the roles mapped."""
    return [*columns.attributes.values(), *(column for column in _roles(columns).values())]


def _roles(columns: Columns) -> dict[str, str]:
    roles = ("text", "prompt", "template", "subject", "trial", "expected", "order", "weight", "model")
    return {role: column for role in roles if (column := getattr(columns, role)) is not None}


class _Plan:
    """The first pass: every row checked, prompts found, trials and order worked out, no answer kept in memory."""

    def __init__(self, audit: Audit, source: Source) -> None:
        assert audit.imported is not None
        self._audit = audit
        self._path = source.path
        self._format = source.format
        self._connection = source.connection
        self._columns = audit.imported.columns
        self._attributes = list(self._columns.attributes)
        self._roles = _roles(self._columns)
        first = len(self._attributes)
        self._role_at = {role: f"c{first + index}" for index, role in enumerate(self._roles)}
        self._attribute_at = {attribute: f"c{index}" for index, attribute in enumerate(self._attributes)}
        self.n_rows = 0
        self.n_prompts = 0
        self.models: list[str] = []

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        self._connection.execute(f"create table keys as select row_number, {self._key_list()} from source")
        self.n_rows = self._count("keys")
        if self.n_rows == 0:
            raise no_rows(self._path)
        for attribute in self._attributes:
            self._check_attribute(attribute)
        for role, rule in (
            ("trial", f"value = floor(value) and value between 0 and {MAX_TRIAL}"),
            ("order", "true"),
            ("weight", "value > 0"),
        ):
            if role in self._roles:
                self._check_number(role, rule)
        self._number_prompts()
        self._number_rows()
        if "model" in self._roles:
            self.models = [
                str(model)
                for (model,) in self._connection.execute(
                    "select distinct model from keys where model is not null order by model limit 100"
                ).fetchall()
            ]

    def warnings(self) -> list[str]:
        """Return what is allowed but should be known, one sentence each."""
        sentences = []
        if len(self.models) > 1:
            shown = ", ".join(self.models[:5]) + (", …" if len(self.models) > 5 else "")
            sentences.append(
                f"{self._path.name} holds answers of several models ({shown}); they stand in one run."
            )
        groups = ", ".join(f"group_{index}" for index in range(len(self._attributes)))
        smallest = self._first_row(
            f"select min(n) from (select count(*) as n from resolved group by {groups})"
        )
        fewest = int(smallest[0]) if smallest else 0
        if fewest < MINIMUM_TRIALS:
            sentences.append(
                f"{fewest} response{'s' if fewest > 1 else ''} of the smallest group give low statistical power; the method's "
                f"source asks for at least {MINIMUM_TRIALS}."
            )
        return sentences

    def prompts(self) -> Iterator[list[tuple[int, Prompt]]]:
        """Yield the distinct prompts with their numbers, in batches."""
        groups = {name: self._audit.attributes[name].groups for name in self._attributes}
        names = [
            "prompt_number",
            *self._prompt_columns(),
            *(f"group_{index}" for index in range(len(self._attributes))),
        ]
        cursor = self._connection.execute(f"select {', '.join(names)} from prompts order by prompt_number")
        while rows := cursor.fetchmany(BATCH_ROWS):
            batch = []
            for row in rows:
                found = dict(zip(names, row, strict=True))
                attributes = tuple(
                    PromptAttribute(1, name, found[f"group_{index}"], groups[name][found[f"group_{index}"]])
                    for index, name in enumerate(self._attributes)
                )
                batch.append((int(found["prompt_number"]), self._prompt(found, attributes)))
            yield batch

    def answers(self) -> Iterator[list[tuple[Any, ...]]]:
        """Yield (prompt_number, trial, seq, weight, model, text) of every row, in the file's order, in batches."""
        # Two cursors side by side in place of a join, which would hold on to the texts.
        texts = self._connection.execute(f"select {self._role_at['text']} from source")
        rows = self._connection.cursor().execute(
            "select prompt_number, trial, seq, weight, model from numbered order by row_number"
        )
        while batch := texts.fetchmany(BATCH_ROWS):
            yield [(*row, text) for row, (text,) in zip(rows.fetchmany(len(batch)), batch, strict=True)]

    def readable(self) -> Any:
        """Return the context that turns DuckDB's complaints about the file into InputError."""
        return readable(self._path, self._format)

    def _prompt(self, found: Mapping[str, Any], attributes: tuple[PromptAttribute, ...]) -> Prompt:
        def text(column: str) -> str | None:
            value = found.get(column)
            return storable(value) if value is not None else None

        return Prompt(
            template=text("template") or WHOLE_FILE_TEMPLATE,
            language="en",
            variant=PLAIN,
            prompt_text=text("prompt"),
            subject=text("subject"),
            expected_label=text("expected"),
            attributes=attributes,
        )

    def _key_list(self) -> str:
        """Return the short columns of the first pass: trimmed, empty as null, numbers not yet read."""
        listed = [
            f"nullif(trim({at}), '') as a{index}" for index, at in enumerate(self._attribute_at.values())
        ]
        for role, at in self._role_at.items():
            if role == "prompt":
                # A prompt's text is compared as it is; outer spaces are part of what was asked.
                listed.append(f"nullif({at}, '') as prompt")
            elif role != "text":
                listed.append(f"nullif(trim({at}), '') as {_column(role)}")
        return ", ".join(listed)

    def _check_attribute(self, attribute: str) -> None:
        """Raise for the first value that is neither a group's name nor its carrier; keep the others' meaning."""
        index = self._attributes.index(attribute)
        column = self._columns.attributes[attribute]
        groups = self._audit.attributes[attribute].groups
        meaning = {word: group for group, carrier in groups.items() for word in (carrier, group)}
        self._connection.execute(f"create table words_{index} (word varchar, group_name varchar)")
        self._connection.executemany(
            f"insert into words_{index} values (?, ?)", [list(one) for one in meaning.items()]
        )
        wrong = self._first_row(
            f"select row_number, a{index} from keys "
            f"where a{index} is null or a{index} not in (select word from words_{index}) order by row_number limit 1"
        )
        if wrong is None:
            return
        row, value = wrong
        if value is None:
            raise InputError(
                f"{self._path}: row {row} has no {column!r}; it should be one of {', '.join(map(repr, groups))}."
            )
        hint = did_you_mean(value, meaning)
        known = "" if hint.startswith("; known") else f" (known: {', '.join(map(repr, groups))})"
        raise InputError(
            f"{self._path}: row {row} has {value!r} as {column!r}, which is no group of {attribute}{hint}{known}"
        )

    def _check_number(self, role: str, rule: str) -> None:
        column = _column(role)
        wrong = self._first_row(
            f"select row_number, text from (select row_number, {column} as text, try_cast({column} as {NUMBER}) as value "
            f"from keys) where value is null or not ({rule}) order by row_number limit 1"
        )
        if wrong is None:
            return
        row, value = wrong
        right = {"trial": "a whole number from 0", "order": "a number", "weight": "a number above 0"}[role]
        given = "nothing" if value is None else repr(value)
        raise InputError(
            f"{self._path}: row {row} has {given} as {self._roles[role]!r}; {role} should be {right}."
        )

    def _prompt_columns(self) -> list[str]:
        return [role for role in ("prompt", "template", "subject", "expected") if role in self._roles]

    def _number_prompts(self) -> None:
        """Make `prompts` (each distinct prompt, numbered by first appearance) and `grouped` (each row's prompt)."""
        names = [*self._prompt_columns(), *(f"group_{index}" for index in range(len(self._attributes)))]
        groups = ", ".join(
            f"words_{index}.group_name as group_{index}" for index in range(len(self._attributes))
        )
        joins = " ".join(
            f"inner join words_{index} on words_{index}.word = keys.a{index}"
            for index in range(len(self._attributes))
        )
        self._connection.execute(f"create view resolved as select keys.*, {groups} from keys {joins}")
        self._connection.execute(
            f"create table prompts as select row_number() over (order by first_row) as prompt_number, {', '.join(names)} "
            f"from (select min(row_number) as first_row, {', '.join(names)} from resolved group by {', '.join(names)})"
        )
        self.n_prompts = self._count("prompts")
        same = " and ".join(f"prompts.{name} is not distinct from resolved.{name}" for name in names)
        self._connection.execute(
            f"create table grouped as select resolved.row_number, prompts.prompt_number, {self._number('trial')} as trial, "
            f"{self._number('order')} as position, {self._number('weight')} as weight, "
            f"{'resolved.model' if 'model' in self._roles else 'null::varchar'} as model "
            f"from resolved inner join prompts on {same}"
        )

    def _number(self, role: str) -> str:
        return f"try_cast(resolved.{_column(role)} as {NUMBER})" if role in self._roles else "null"

    def _number_rows(self) -> None:
        """Make `numbered`: trial and seq of every row; refuse the same trial of a prompt twice."""
        by_order = "position, row_number"
        trial = (
            "trial"
            if "trial" in self._roles
            else f"row_number() over (partition by prompt_number order by {by_order})"
        )
        if "trial" in self._roles:
            twice = self._first_row(
                "select min(row_number), max(row_number), trial from grouped group by prompt_number, trial "
                "having count(*) > 1 order by 1 limit 1"
            )
            if twice is not None:
                first, second, number = twice
                raise InputError(
                    f"{self._path}: rows {first} and {second} are both trial {int(number)} of the same prompt; each "
                    f"{self._roles['trial']!r} of a prompt may stand once."
                )
        self._connection.execute(
            f"create table numbered as select row_number, prompt_number, ({trial})::integer as trial, "
            f"row_number() over (order by {by_order}) as seq, coalesce(weight, 1)::double as weight, model from grouped"
        )

    def _count(self, table: str) -> int:
        rows = self._connection.execute(f"select count(*) from {table}").fetchall()
        return int(rows[0][0])

    def _first_row(self, sql: str) -> tuple[Any, ...] | None:
        rows = self._connection.execute(sql).fetchall()
        return rows[0] if rows else None


def _column(role: str) -> str:
    """Return the role's column name in SQL, where `order` is a keyword."""
    return "position" if role == "order" else role


def _write(append: Append, run_id: str, plan: _Plan, audit: Audit, advance: Advance) -> Counter[str]:
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
    answer = classify(text, audit.answer.kind, audit.answer.max_characters)
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
