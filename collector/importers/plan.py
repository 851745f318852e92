"""The first pass over a file: every row checked, prompts found, trials and order worked out in tables of short columns.

A plan is the same for every form of file; `RowPlan` is the one for files with one row a response.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from collector.answers.decisions import currencies_of, decimal_of
from collector.answers.texts.stored_text import storable
from collector.errors import InputError
from collector.hashing import canonical_json
from collector.hints import shown
from collector.importers.conditions import Conditions
from collector.importers.data_warnings import mixing_sentences
from collector.importers.missing import (
    LEAST_RECURRING,
    TOKEN_CHARACTERS,
    MissingAnswers,
    absent,
    missing_answer,
    present,
    tokens_for_nothing,
    trimmed,
)
from collector.spec.markers import AskedProbe, one_sided
from collector.spec.methods.markers import ALL_PROBES
from collector.spec.parts import DECISIONS, MINIMUM_SUBJECTS, MINIMUM_TRIALS, PLAIN
from collector.spec.prompts import Prompt
from collector.sql import literal
from collector.tables.log_rows import no_rows
from collector.tables.missing import missing_sentence, sql_is_missing
from collector.tables.source import ANSWER_COLUMN, MADE_COLUMNS, ROW_COLUMN, Form, Source

if TYPE_CHECKING:
    from collector.importers.conditions import Stated
    from collector.spec.audit import Audit
    from collector.spec.importing import Columns, Import

BATCH_ROWS = 10_000
MAX_TRIAL = 2**31 - 1
# The format of amounts is found from this many different answers; a longer text is no amount.
AMOUNTS_READ = 10_000
AMOUNT_CHARACTERS = 2_000
WHOLE_FILE_TEMPLATE = "imported"
# Wide enough for nanosecond timestamps and for decimals, exact where DOUBLE is not.
NUMBER = "decimal(38, 10)"
_PLACE = f"value = floor(value) and value between 1 and {MAX_TRIAL}"
# Role -> the condition on a number as SQL, the same in words, and whether a cell may be empty.
NUMBER_ROLES = {
    "trial": (f"value = floor(value) and value between 0 and {MAX_TRIAL}", "a whole number from 0", False),
    "attempt": (_PLACE, "a whole number from 1", False),
    "order": ("true", "a number", False),
    "weight": ("value > 0", "a number above 0", False),
    "slot": (_PLACE, "a whole number from 1, the place at which a candidate was shown", False),
    "rank": (_PLACE, "a whole number from 1, which is best", True),
    "count": ("value > 0", "a number above 0, how many items the row stands for", False),
}
# Selection rates and their tests count people, so fractions are not allowed.
DECISION_WEIGHT = (
    "value = floor(value) and value > 0",
    "a whole number from 1, how many answers the row stands for",
    False,
)
# Prompts are compared as they are, and answers are not needed in the first pass.
ASKED_ROLES = ("prompt", "system_prompt")
ANSWER_ROLES = ("text", "finish_reason", "error", "reasoning")
# Why there is no answer, or why it ended; empty if the cell has no value.
_SAID_ROLES = ("finish_reason", "error")
# Names; #N/A and the like are not names.
NAMED_ROLES = ("subject", "expected", "cluster", "block")
PROMPT_ROLES = (*ASKED_ROLES, "template", "subject", "domain", "expected", "cluster", "block")
ROLES = (
    *ANSWER_ROLES,
    *ASKED_ROLES,
    "template",
    "subject",
    "domain",
    "cluster",
    "block",
    "trial",
    "attempt",
    "expected",
    "order",
    "weight",
    "model",
    "descriptor",
    "response",
    "slot",
    "rank",
    "missing",
    "item",
    "price",
    "category",
    "count",
)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to be: its number from 1, the model that answered (None where several did, or the file names none), and its counts.

    `n_responses` are trials, the last attempt of each counts; `n_attempts` are all that the file holds.
    """

    number: int
    model: str | None
    n_prompts: int
    n_responses: int
    n_attempts: int


@dataclass(frozen=True, slots=True)
class PlannedPrompt:
    """A prompt of a run, under the number that its answers name it by."""

    run: int
    number: int
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class AmountColumn:
    """The format of the amounts in a column: their decimal separator and their currency, None if unknown."""

    decimal: Literal[".", ","] | None = None
    currency: str | None = None


# Not frozen: frozen slot classes pickle slowly.
@dataclass(slots=True)
class PlannedAnswer:
    """A response of a run: `text` is what came back, or of a plan whose answers are kept, the answer as it is kept.

    `finish_reason` is why the model stopped, `error` why nothing came back, `reasoning` what it thought, where the file says so.
    `scores` are the labels it has already: (scorer, label). `options` are the question's own: label -> text. `column` is what the
    column of the answers shows about amounts. `attempt` is the number of the attempt at the trial, from 1. `source_row` is the
    row of the file, from 1, and `kept` canonical JSON of its columns that are kept.
    """

    run: int
    prompt_number: int
    trial: int
    seq: int
    weight: float
    model: str | None
    text: str | None
    finish_reason: str | None = None
    error: str | None = None
    reasoning: str | None = None
    scores: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, str] | None = None
    column: AmountColumn | None = None
    attempt: int = 1
    is_last: bool = True
    source_row: int | None = None
    kept: str | None = None


class Plan(Protocol):
    """The contents of a file, found in its first pass.

    Attributes:
        n_rows: its rows.
        runs: the runs it makes, in order of their models' names.
        has_replies: whether the answers are given as text; else they are put together from the rows.
    """

    n_rows: int
    runs: Sequence[PlannedRun]
    has_replies: bool

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        ...

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        ...

    def left_out(self, run: int) -> dict[str, Any]:
        """Return notes on a run's rows that answers do not show: cells without a group, and repeated rows; empty if none."""
        ...

    def prompts(self) -> Iterator[list[PlannedPrompt]]:
        """Yield every run's prompts, in batches."""
        ...

    def answers(self) -> Iterator[list[PlannedAnswer]]:
        """Yield every answer in the file's order, in batches."""
        ...

    def readable(self) -> Any:
        """Return the context that turns DuckDB's complaints about the file into InputError."""
        ...


class FilePlan:
    """The parts that every plan needs: the mapped columns, their checks, and the prompt of a row."""

    has_replies = True

    def __init__(self, audit: Audit, conditions: Conditions, source: Source) -> None:
        assert audit.imported is not None
        self.n_rows = 0
        self.runs: Sequence[PlannedRun] = ()
        self._audit = audit
        self._conditions = conditions
        self._source = source
        self._path = source.path
        self._connection = source.connection
        self._is_split = audit.imported.split is not None
        self._language = audit.imported.language or "en"
        self._roles = roles_of(audit.imported.columns)
        first = len(conditions.columns)
        self._role_at = {role: f"c{first + index}" for index, role in enumerate(self._roles)}
        first += len(self._roles)
        self._score_at = {
            scorer: f"c{first + index}" for index, scorer in enumerate(audit.imported.columns.scores)
        }
        first += len(self._score_at)
        self._option_at = {label: f"c{first + index}" for index, label in enumerate(audit.answer.labels_from)}
        first += len(self._option_at)
        self._keep_at = {column: f"c{first + index}" for index, column in enumerate(audit.imported.keep)}
        self._score_labels = audit.imported.score_labels
        self._is_long = audit.imported.columns.attribute is not None

    def readable(self) -> Any:
        """Return the context that turns DuckDB's complaints about the file into InputError."""
        return self._source.readable()

    def _read_keys(self) -> None:
        """Make `keys`, the file's short columns, and `resolved`, which adds what each row states; check both."""
        n_answers = self._source.n_answers
        self._connection.execute(
            f"create table keys as select row_number, (row_number - 1) // {n_answers} + 1 as file_row, {self._key_list()} "
            f"from source"
        )
        self.n_rows = int(self._fetch("select count(*) from keys")[0][0]) // n_answers
        if self.n_rows == 0:
            raise no_rows(self._path)
        self._conditions.check(self._connection)
        for role in NUMBER_ROLES:
            self._require_number(role)
        if self._is_split:
            self._require_filled("model", "model, by which import.split makes the runs")
        self._read_expected()
        if self._audit.analysis.markers is not None:
            self._refuse_all_probes()
        if self._audit.marker_rows:
            self._refuse_two_categories()
        # Without a split, all rows are one run.
        model = "model" if self._is_split else "null::varchar"
        self._connection.execute(
            f"create table models as select row_number() over (order by model) as run, model "
            f"from (select distinct {model} as model from keys)"
        )
        # A file may name no groups.
        selected = filter(None, [self._conditions.selected, f"{self._conditions.names_group} as names_group"])
        self._connection.execute(
            f"create view resolved as select {', '.join((self._own_columns(), 'models.run', *selected))} from keys "
            f"inner join models on models.model is not distinct from {'keys.model' if self._is_split else 'null'} "
            f"{self._conditions.joins}"
        )
        self._require_descriptors()

    def _own_columns(self) -> str:
        """Return the columns of `keys`; a name without a group states nothing, and does not distinguish prompts."""
        if "descriptor" not in self._roles:
            return "keys.*"
        return f"keys.* replace (case when {self._conditions.names_group} then keys.descriptor end as descriptor)"

    def _require_descriptors(self) -> None:
        """Raise an error for a row that names a group but no descriptor; neutral rows need none."""
        if "descriptor" not in self._roles:
            return
        for (row,) in self._fetch(
            "select file_row from resolved where descriptor is null and names_group order by row_number limit 1"
        ):
            raise InputError(
                f"{self._path}: row {row} has no {self._roles['descriptor']!r}; it should hold the descriptor, the name that "
                f"states a row's groups."
            )

    def _key_list(self) -> str:
        """Return the short columns of the first pass: trimmed, null without a value, numbers not yet read."""
        listed: list[str] = []
        for index, known in enumerate(self._conditions.known):
            cell = trimmed(f"c{index}")
            listed += (
                [f"{cell} as a{index}", f"null::varchar as m{index}"]
                if known is None
                else [f"{present(cell, known)} as a{index}", f"{absent(cell, known)} as m{index}"]
            )
        for role, at in self._role_at.items():
            if role in ASKED_ROLES:
                # Outer spaces are part of what was asked.
                listed.append(f"nullif({at}, '') as {role}")
            elif role == "template":
                listed.append(f"coalesce({trimmed(at)}, '{WHOLE_FILE_TEMPLATE}') as template")
            elif role in NAMED_ROLES:
                known = self._known_names(role)
                listed.append(f"{present(trimmed(at), known)} as {role}")
                listed.append(f"{absent(trimmed(at), known)} as missing_{role}")
            elif role not in ANSWER_ROLES:
                listed.append(f"{trimmed(at)} as {column_of(role)}")
        return ", ".join(listed)

    def _known_names(self, role: str) -> Sequence[str]:
        """Return the words that are a subject, or a right answer, whatever they look like; none of other roles."""
        if role == "subject":
            return [one.name for one in self._audit.subject_rows]
        return self._audit.answer.labels if role == "expected" else ()

    def missing(self) -> list[str]:
        """Return a sentence for each short column that lacks values: how many, and how they are marked."""
        cells: dict[str, tuple[str, str]] = {}
        for index, (column, known) in enumerate(
            zip(self._conditions.columns, self._conditions.known, strict=True)
        ):
            if known is not None:
                cells.setdefault(column, (f"a{index}", f"m{index}"))
        cells |= {self._roles[role]: (role, f"missing_{role}") for role in NAMED_ROLES if role in self._roles}
        counted = (
            (column, self._counted_missing(*cell))
            for column, cell in cells.items()
            if column not in MADE_COLUMNS
        )
        return [missing_sentence(column, counts) for column, counts in counted if counts]

    def left_out(self, run: int) -> dict[str, Any]:
        """Return this of cells without a group: attribute, what the cell holds, how many answers."""
        first = (
            f" and coalesce({self._number('attempt', 'attempt')}, 1) = 1" if "attempt" in self._roles else ""
        )
        found = [
            {"attribute": attribute, "cell": str(cell), "n": int(n)}
            for attribute, (names_none, cell) in self._conditions.without_group().items()
            for cell, n in self._fetch(
                f"select {cell}, sum(coalesce({self._number('weight', 'weight')}, 1)) from resolved "
                f"where run = {run} and {names_none}{first} group by all order by all"
            )
        ]
        return {"without_group": found} if found else {}

    def _counted_missing(self, cell: str, nothing: str) -> dict[str, int]:
        """Return the content of a column's cells without a value -> the number of rows with it."""
        # An empty cell is meant where a file of long form has neutral rows, and where there is no right answer.
        may_be_empty = cell == "expected" or self._is_long
        rows = self._fetch(
            f"select coalesce({nothing}, ''), count(distinct file_row) from keys "
            f"where {cell} is null{f' and {nothing} is not null' if may_be_empty else ''} group by all"
        )
        return {str(word): int(n) for word, n in rows}

    def _require_number(self, role: str) -> None:
        if role not in self._roles:
            return
        rule, right, may_be_empty = NUMBER_ROLES[role]
        if role == "weight" and self._audit.answer.kind in DECISIONS:
            rule, right, may_be_empty = DECISION_WEIGHT
        column = column_of(role)
        for row, value in self._fetch(
            f"select file_row, text from (select row_number, file_row, {column} as text, "
            f"try_cast({column} as {NUMBER}) as value "
            f"from keys) where (value is null or not ({rule})) and (text is not null or not {may_be_empty}) "
            f"order by row_number limit 1"
        ):
            given = "nothing" if value is None else repr(value)
            raise InputError(
                f"{self._path}: row {row} has {given} as {self._roles[role]!r}; {role} should be {right}."
            )

    def _require_filled(self, role: str, what: str) -> None:
        if role not in self._roles:
            return
        for (row,) in self._fetch(
            f"select file_row from keys where {column_of(role)} is null order by row_number limit 1"
        ):
            raise InputError(
                f"{self._path}: row {row} has no {self._roles[role]!r}; it should hold the {what}."
            )

    def _refuse_all_probes(self) -> None:
        """Raise for a probe or category that is called as all of them are in the results."""
        for role in ("subject", "domain"):
            if role not in self._roles:
                continue
            for (row,) in self._fetch(
                f"select file_row from keys where {column_of(role)} = '{ALL_PROBES}' order by row_number limit 1"
            ):
                raise InputError(
                    f"{self._path}: row {row} has {ALL_PROBES!r} as {self._roles[role]!r}, which stands for all of them in the "
                    f"results; rename it."
                )

    def _refuse_two_categories(self) -> None:
        """Raise for a probe in two categories, as markers and findings name it by its name alone."""
        if not {"subject", "domain"} <= self._roles.keys():
            return
        for subject, first, domain, row, other in self._fetch(
            "with firsts as ("
            "select subject, domain, min(file_row) as first_row from keys where subject is not null group by subject, domain) "
            "select one.subject, one.first_row, one.domain, other.first_row, other.domain from firsts as one "
            "inner join firsts as other on one.subject = other.subject and one.first_row < other.first_row "
            "order by other.first_row, one.first_row limit 1"
        ):
            raise InputError(
                f"{self._path}: rows {first} and {row} have {subject!r} as {self._roles['subject']!r} in the categories "
                f"{domain or ''!r} and {other or ''!r}; where analysis.markers names a file, a probe may be in one only, so "
                f"rename one."
            )

    def _read_expected(self) -> None:
        """Write expected answers in `keys` as answers are kept; raise for one that could never be given; it may be absent."""
        if "expected" not in self._roles:
            return
        meaning = []
        for row, value in self._fetch(
            "select min(file_row) as row, expected from keys where expected is not null group by expected order by row"
        ):
            try:
                kept = self._audit.answer.expected(value)
            except ValueError as error:
                stop = "" if str(error).endswith("?") else "."
                raise InputError(
                    f"{self._path}: row {row} has {shown(value)} as {self._roles['expected']!r}, {error}{stop}"
                ) from None
            if kept != value:
                meaning.append([value, kept])
        if not meaning:
            return
        # Prompts are distinguished by their stored form: Senior and senior are one label, 7 and 7.0 one score.
        self._connection.execute("create table expected_answers (written varchar, kept varchar)")
        self._connection.executemany("insert into expected_answers values (?, ?)", meaning)
        self._connection.execute(
            "update keys set expected = expected_answers.kept from expected_answers "
            "where keys.expected = expected_answers.written"
        )

    def _models(self) -> list[str]:
        if "model" not in self._roles:
            return []
        return [
            str(model)
            for (model,) in self._fetch(
                "select distinct model from keys where model is not null order by model limit 100"
            )
        ]

    def _planned(self, found: Mapping[str, Any], stated: Stated) -> PlannedPrompt:
        """Return the prompt of a row of `prompts`."""

        def text(column: str) -> str | None:
            value = found.get(column)
            return storable(value) if value is not None else None

        prompt = Prompt(
            template=text("template") or WHOLE_FILE_TEMPLATE,
            language=stated.language or self._language,
            perturbation=stated.perturbation,
            mitigation=PLAIN,
            prompt_text=text("prompt"),
            system_prompt=text("system_prompt"),
            domain=text("domain"),
            subject=text("subject"),
            expected_label=text("expected"),
            cluster=text("cluster"),
            block=text("block"),
            attributes=stated.attributes,
        )
        return PlannedPrompt(found["run"], found["prompt_number"], prompt)

    def _mapped(self, *roles: str) -> list[str]:
        return [role for role in roles if role in self._roles]

    def _mixed_models(self) -> list[str]:
        models = self._models()
        if self._is_split or len(models) < 2:
            return []
        shown = ", ".join(models[:5]) + (", …" if len(models) > 5 else "")
        return [f"{self._path.name} holds answers of several models ({shown}); they are in one run."]

    def mixing(self) -> list[str]:
        """Return a sentence for each attribute whose groups no block holds together, or were asked at different times."""
        block = self._roles.get("block")
        # The order of items is their place in an answer.
        order = self._roles.get("order") if self.has_replies else None
        if not (block or order) or not self._conditions.names:
            return []
        at = "prompts.block" if "block" in self._roles else "null"
        found = self._connection.execute(
            f"select prompt_number, dense_rank() over (order by run, {at}) as place from numbered "
            "inner join prompts using (prompt_number) order by place, seq"
        ).fetchnumpy()
        names = self._conditions.names
        stated = (
            (prompts, one.attribute, one.group_name)
            for prompts, *values in self._fetch(
                f"select list(prompt_number), {', '.join(names)} from prompts group by all order by min(prompt_number)"
            )
            for one in self._conditions.stated(dict(zip(names, values, strict=True))).attributes
        )
        return mixing_sentences(
            np.asarray(found["prompt_number"], int), np.asarray(found["place"], int), stated, order, block
        )

    def _number_prompts(self, table: str, names: Sequence[str]) -> None:
        """Make `prompts` and `numbered` from a table with one row a response.

        `prompts` is each distinct combination of the columns `names`, numbered by first appearance; `numbered` has run,
        prompt_number, trial, seq, weight, model, attempt and is_last of every response. The same attempt at a trial of a prompt
        twice is refused.
        """
        listed = ", ".join(names)
        self._connection.execute(
            f"create table prompts as select row_number() over (order by first_row) as prompt_number, {listed} "
            f"from (select min(row_number) as first_row, {listed} from {table} group by {listed})"
        )
        same = " and ".join(f"prompts.{name} is not distinct from answered.{name}" for name in names)
        numbers = {role: self._number(f"answered.{column_of(role)}", role) for role in NUMBER_ROLES}
        self._connection.execute(
            f"create table grouped as select answered.run, answered.row_number, prompts.prompt_number, "
            f"{numbers['trial']} as trial, {numbers['order']} as position, {numbers['weight']} as weight, "
            f"coalesce({numbers['attempt']}, 1)::integer as attempt, "
            f"{'answered.model' if 'model' in self._roles else 'null::varchar'} as model "
            f"from {table} as answered inner join prompts on {same}"
        )
        by_order = "position, row_number"
        trial = f"row_number() over (partition by run, prompt_number order by {by_order})"
        if "trial" in self._roles:
            trial = "trial"
            self._refuse_repeated_trials()
        elif "attempt" in self._roles:
            trial = f"count(*) filter (where attempt = 1) over (partition by run, prompt_number order by {by_order})"
            self._refuse_attempts_out_of_order(by_order)
        self._connection.execute(
            f"create table numbered as select run, row_number, prompt_number, ({trial})::integer as trial, "
            f"row_number() over (partition by run order by {by_order}) as seq, coalesce(weight, 1)::double as weight, model, "
            f"attempt from grouped"
        )
        if "attempt" in self._roles:
            self._refuse_missing_attempts()
        models = self._models()
        alone = models[0] if len(models) == 1 else None
        self.runs = [
            PlannedRun(run, model or alone, n_prompts, n_responses, n_attempts)
            for run, model, n_prompts, n_responses, n_attempts in self._fetch(
                "select run, any_value(models.model), count(distinct prompt_number), count(*) filter (where attempt = 1), "
                "count(*) from numbered inner join models using (run) group by run order by run"
            )
        ]

    def _refuse_repeated_trials(self) -> None:
        for first, second, number in self._fetch(
            "select min(row_number), max(row_number), trial from grouped group by run, prompt_number, trial, attempt "
            "having count(*) > 1 order by 1 limit 1"
        ):
            each = " and ".join(
                repr(self._roles[role]) for role in ("trial", "attempt") if role in self._roles
            )
            raise InputError(
                f"{self._path}: rows {self._file_row(first)} and {self._file_row(second)} are both trial {int(number)} of the "
                f"same prompt; each "
                f"{each} of a prompt may occur once."
            )

    def _refuse_attempts_out_of_order(self, by_order: str) -> None:
        """Raise for an attempt of which the file does not say at which trial it was made."""
        for row, attempt in self._fetch(
            "select row_number, attempt from (select *, "
            f"lag(attempt, 1, 0) over (partition by run, prompt_number order by {by_order}) as before, "
            f"lag(prompt_number) over (partition by run order by {by_order}) as prompt_before, "
            "count(*) filter (where attempt = 1) over (partition by run, prompt_number) as n_trials from grouped) "
            "where attempt > 1 and (attempt <> before + 1 or (n_trials > 1 and prompt_number <> prompt_before)) "
            "order by row_number limit 1"
        ):
            raise InputError(
                f"{self._path}: row {self._file_row(row)} has {attempt} as {self._roles['attempt']!r}, and does not follow "
                f"attempt {attempt - 1} at the same question; name the column that numbers the repetitions of a question as "
                f"import.columns.trial, or the one that orders the rows as import.columns.order."
            )

    def _refuse_missing_attempts(self) -> None:
        """Raise for a trial of which an earlier attempt is not in the file."""
        for row, attempt in self._fetch(
            "select arg_max(row_number, attempt), max(attempt) from numbered group by run, prompt_number, trial "
            "having max(attempt) > count(*) order by 1 limit 1"
        ):
            raise InputError(
                f"{self._path}: row {self._file_row(row)} has {attempt} as {self._roles['attempt']!r}, and an earlier attempt at "
                f"the same question is missing; attempts are numbered from 1."
            )

    def _file_row(self, row_number: int) -> int:
        """Return the row of the file that a row of the source comes from."""
        return (row_number - 1) // self._source.n_answers + 1

    def _prompt_rows(self, names: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield run, prompt_number and the named columns of every run's prompts, in batches."""
        columns = ["run", "prompt_number", *names]
        cursor = self._connection.cursor().execute(
            f"select {', '.join(columns)} from prompts "
            "inner join (select distinct run, prompt_number from numbered) as asked using (prompt_number) "
            "order by run, prompt_number"
        )
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield [dict(zip(columns, row, strict=True)) for row in rows]

    def _number(self, expression: str, role: str) -> str:
        return f"try_cast({expression} as {NUMBER})" if role in self._roles else "null"

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()


class RowPlan(FilePlan):
    """A file with one row a response; no answer is kept in memory."""

    # Rows of the file that repeat an earlier one exactly and are not left out, and those that are.
    n_repeated = 0
    n_dropped = 0

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        self._read_keys()
        self._number_prompts("resolved", self._names)
        assert self._audit.imported is not None
        if self._audit.imported.duplicates is None:
            self.n_repeated = self._source.n_repeated()
        elif self._audit.imported.duplicates == "drop":
            ((self.n_dropped,),) = self._fetch(
                "select (select count(*) from every_row) - (select count(*) from source)"
            )

    def left_out(self, run: int) -> dict[str, Any]:
        """Return this with the rows that repeat others, which are known of the whole file."""
        repeated = {"counted": self.n_repeated, "dropped": self.n_dropped}
        known = {name: n for name, n in repeated.items() if n}
        return {**super().left_out(run), **({"repeated_rows": known} if known else {})}

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        return [
            *self.missing(),
            *self._repeated(),
            *self._mixed_models(),
            *self.mixing(),
            *self._few(),
            *self._one_sided_probes(),
        ]

    def _repeated(self) -> list[str]:
        if not self.n_repeated:
            return []
        rows = "1 row repeats" if self.n_repeated == 1 else f"{self.n_repeated:,} rows repeat"
        columns = "every column" if self._source.are_whole else "every column that is read"
        sentence = (
            f"{rows} an earlier row in {columns}; each counts as a further answer. If rows were exported twice, write import: "
            f"{{duplicates: drop}}, which leaves out rows that repeat an earlier one in every column that is read."
        )
        return [sentence]

    def prompts(self) -> Iterator[list[PlannedPrompt]]:
        """Yield every run's prompts, in batches."""
        for rows in self._prompt_rows(self._names):
            yield [self._planned(found, self._conditions.stated(found)) for found in rows]

    def answers(self) -> Iterator[list[PlannedAnswer]]:
        """Yield every answer in the file's order, in batches."""
        # Two cursors instead of a join, which would keep all texts in memory.
        n_roles, n_scores = len(ANSWER_ROLES), len(self._score_at)
        column = self._amounts()
        came_back = [self._came_back(role) for role in ANSWER_ROLES]
        labels = [f"nullif(trim({at}), '')" for at in self._score_at.values()]
        options = self._option_at.values()
        kept = [trimmed(at) for at in self._keep_at.values()]
        texts = self._connection.execute(
            f"select {', '.join((*came_back, *labels, *options, *kept))} from source"
        )
        n_read = n_roles + n_scores + len(options)
        # A window over all rows takes its time.
        is_last = "true"
        if "attempt" in self._roles:
            is_last = "attempt = max(attempt) over (partition by run, prompt_number, trial)"
        rows = self._connection.cursor().execute(
            f"select run, prompt_number, trial, seq, weight, model, attempt, {is_last}, "
            f"(row_number - 1) // {self._source.n_answers} + 1 from numbered order by row_number"
        )
        while batch := texts.fetchmany(BATCH_ROWS):
            yield [
                PlannedAnswer(
                    *(
                        *known[:-3],
                        *row[:n_roles],
                        self._scores(row[n_roles : n_roles + n_scores]),
                        self._options(row[n_roles + n_scores : n_read]),
                        column,
                        *known[-3:],
                        self._kept_cells(row[n_read:]),
                    )
                )
                for known, row in zip(rows.fetchmany(len(batch)), batch, strict=True)
            ]

    def _kept_cells(self, cells: Sequence[str | None]) -> str | None:
        """Return canonical JSON of the kept cells with a value, None if there are none."""
        found = {
            column: storable(cell)
            for column, cell in zip(self._keep_at, cells, strict=True)
            if cell is not None
        }
        return canonical_json(found) if found else None

    def _options(self, texts: Sequence[str | None]) -> dict[str, str] | None:
        """Return the options of a question, None where the audit names none."""
        stated = {
            label: text for label, text in zip(self._option_at, texts, strict=True) if text and text.strip()
        }
        return stated or None

    def _amounts(self) -> AmountColumn | None:
        """Return the format of amounts in the column of answers, None if no score is asked for."""
        answer = self._audit.answer
        if answer.kind != "score":
            return None
        at = self._role_at["text"]
        rows = self._fetch(
            f"select distinct {at} from source where regexp_matches({at}, '[0-9]') limit {AMOUNTS_READ}"
        )
        texts = [text for (text,) in rows if len(text) <= AMOUNT_CHARACTERS]
        counts = currencies_of(texts)
        # An amount in another currency than most is no number on the same scale.
        currency = max(counts, key=lambda code: (counts[code], code)) if len(counts) > 1 else None
        return AmountColumn(decimal_of(texts), currency)

    def _came_back(self, role: str) -> str:
        """Return as SQL what came back; nothing where a program wrote nan for no error."""
        at = self._role_at.get(role)
        if at is None or role not in _SAID_ROLES:
            return at or "null"
        return f"case when not {sql_is_missing(trimmed(at))} then {at} end"

    def counted_answers(self) -> tuple[MissingAnswers, dict[str, int]]:
        """Return the cells without an answer, and recurring texts that may mean no answer -> how many cells."""
        cell = trimmed(self._role_at["text"])
        answer = self._audit.answer
        longest = max([TOKEN_CHARACTERS, *map(len, answer.missing)])
        declared = "".join(f" or word = {literal(word)}" for word in answer.missing)
        rows = self._fetch(
            f"select (row_number - 1) % {self._source.n_answers} as place, coalesce(word, ''), count(*) as n "
            f"from (select row_number, {cell} as word from source) "
            f"where word is null or length(word) <= {longest} group by place, word "
            f"having n >= {LEAST_RECURRING} or word is null or {sql_is_missing('word')}{declared}"
        )
        missing = MissingAnswers(self.answer_columns)
        others: Counter[str] = Counter()
        for place, word, n in rows:
            if not word or missing_answer(word, answer) is not None:
                missing.add_counted(place, word, n)
            else:
                others[word] += n
        n_answers = sum(run.n_attempts for run in self.runs)
        found = tokens_for_nothing(
            others, n_answers, answer.labels, are_labels=answer.kind in ("label", "score")
        )
        # Words that the audit reads as a refusal or an error need not be declared as missing.
        read = {word: answer.classify(word).status for word in found}
        return missing, {word: n for word, n in found.items() if read[word] not in ("refused", "error")}

    @property
    def answer_columns(self) -> list[str]:
        """The column of the answers, or the columns where each group has its own."""
        assert self._audit.imported is not None
        columns = self._audit.imported.columns
        return list(columns.texts.values()) or [columns.text or ""]

    def _scores(self, labelled: Sequence[str | None]) -> tuple[tuple[str, str], ...]:
        """Return (scorer, label) of a row, for the columns that hold one."""
        # In lower case like classifiers' labels, so that NEGATIVE is negative.
        return tuple(
            (scorer, storable(self._score_labels.get(label, label).lower()))
            for scorer, label in zip(self._score_at, labelled, strict=True)
            if label is not None
        )

    def _few(self) -> list[str]:
        kind = self._audit.answer.kind
        if kind == "items" or kind in DECISIONS or not self._conditions.names:
            return []
        return self._few_subjects() if kind == "list" and "subject" in self._roles else self._few_answers()

    def _one_sided_probes(self) -> list[str]:
        if not self._audit.marker_rows:
            return []
        subject, domain = (role if role in self._roles else "null" for role in ("subject", "domain"))
        asked = self._fetch(
            f"select {subject} as subject, {domain} as domain, bool_or(names_group) from resolved group by all order by all"
        )
        return one_sided(self._audit.marker_rows, [AskedProbe(*row) for row in asked])

    def _few_answers(self) -> list[str]:
        names = ", ".join(self._conditions.names)
        is_first = f" and {self._number('attempt', 'attempt')} = 1" if "attempt" in self._roles else ""
        # Rows that name no group at all are no group.
        fewest = self._least(
            f"select count(*) as n from resolved where coalesce({names}) is not null{is_first} group by {names}"
        )
        if fewest == 0 or fewest >= MINIMUM_TRIALS:
            return []
        some = "1 response of the smallest group gives"
        if fewest > 1:
            some = f"{fewest} responses of the smallest group give"
        sentence = f"{some} low statistical power; the method's source asks for at least {MINIMUM_TRIALS}."
        return [sentence]

    def _few_subjects(self) -> list[str]:
        domain = "domain" if "domain" in self._roles else "null::varchar"
        fewest = self._least(f"select count(distinct subject) as n from keys group by {domain}")
        if fewest >= MINIMUM_SUBJECTS:
            return []
        where = "in the smallest domain " if "domain" in self._roles else ""
        sentence = (
            f"{fewest} {'subject' if fewest == 1 else 'subjects'} {where}{'gives' if fewest == 1 else 'give'} low statistical "
            f"power; the method's source asks for at least {MINIMUM_SUBJECTS} to 100."
        )
        return [sentence]

    def _least(self, counts: str) -> int:
        return int(self._fetch(f"select min(n) from ({counts})")[0][0] or 0)

    @property
    def _names(self) -> list[str]:
        return [*self._mapped(*PROMPT_ROLES, "descriptor"), *self._conditions.names]


def form_of(imported: Import) -> Form:
    """Return how a file is to be read, as far as an import states it."""
    return Form(imported.format, imported.table, imported.encoding, duplicates=imported.duplicates)


def needed_columns(conditions: Conditions, audit: Audit) -> list[str]:
    """Return the columns of the file in the order of the view's c0, c1, …: conditions, roles, scores, options, kept."""
    assert audit.imported is not None
    columns = audit.imported.columns
    options = audit.answer.labels_from.values()
    return [
        *conditions.columns,
        *roles_of(columns).values(),
        *columns.scores.values(),
        *options,
        *audit.imported.keep,
    ]


def roles_of(columns: Columns) -> dict[str, str]:
    """Return role -> column of the file, for the roles that are mapped.

    Where each group has its own column of answers, a row of the file is what they are about if nothing else is named.
    """
    made = {"text": ANSWER_COLUMN, "subject": ROW_COLUMN} if columns.texts else {}
    return {
        role: column for role in ROLES if (column := getattr(columns, role) or made.get(role)) is not None
    }


def column_of(role: str) -> str:
    """Return the role's column name in SQL, where `order` is a keyword and `count` a function."""
    return {"order": "position", "count": "n_counted"}.get(role, role)
