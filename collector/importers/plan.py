"""The first pass over a file: every row checked, prompts found, trials and order worked out in tables of short columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from collector.answers.texts.stored_text import storable
from collector.errors import InputError
from collector.hints import ended, shown
from collector.importers.conditions import Conditions
from collector.importers.data_warnings import mixing_sentences
from collector.importers.missing import absent, present, trimmed
from collector.importers.roles import DECISION_WEIGHT, PROMPT_ROLES, ROLES, column_of, roles_of
from collector.spec.methods.markers import ALL_PROBES
from collector.spec.parts import DECISIONS, PLAIN
from collector.spec.prompts import Prompt
from collector.tables.log_rows import no_rows
from collector.tables.source import Form, Source

if TYPE_CHECKING:
    from collector.importers.conditions import Stated
    from collector.spec.audit import Audit
    from collector.spec.importing import Import

BATCH_ROWS = 10_000
WHOLE_FILE_TEMPLATE = "imported"
# Wide enough for nanosecond timestamps and for decimals, exact where DOUBLE is not.
NUMBER = "decimal(38, 10)"


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


class Plan(ABC):
    """The contents of a file, found in its first pass; each form of file has a plan of its own.

    Attributes:
        n_rows: its rows.
        runs: the runs it makes, in order of their models' names.
    """

    def __init__(self, audit: Audit, conditions: Conditions, source: Source) -> None:
        assert audit.imported is not None
        self.n_rows = 0
        self.runs: Sequence[PlannedRun] = ()
        self._audit = audit
        self._imported: Import = audit.imported
        self._conditions = conditions
        self._source = source
        self._path = source.path
        self._connection = source.connection
        self._is_split = audit.imported.split is not None
        self._roles = roles_of(audit.imported.columns)
        # The columns of the view `source`, in the order of `needed_columns`.
        numbers = count(len(conditions.columns))
        self._role_at = {role: f"c{next(numbers)}" for role in self._roles}
        self._score_at = {scorer: f"c{next(numbers)}" for scorer in audit.imported.columns.scores}
        self._option_at = {label: f"c{next(numbers)}" for label in audit.answer.labels_from}
        self._keep_at = {column: f"c{next(numbers)}" for column in audit.imported.keep}

    @abstractmethod
    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""

    @abstractmethod
    def _check(self) -> None:
        """Read the file and make the tables `prompts` and `numbered`."""

    @abstractmethod
    def _answers(self) -> Iterator[list[PlannedAnswer]]:
        """Yield every answer, in batches; `answers` reports errors of the file."""

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        with self._source.readable():
            self._check()

    def answers(self) -> Iterator[list[PlannedAnswer]]:
        """Yield every answer in the file's order, in batches."""
        # Errors of whoever takes the batches, such as the ledger's, are not raised in here.
        with self._source.readable():
            yield from self._answers()

    def prompts(self) -> Iterator[list[PlannedPrompt]]:
        """Yield every run's prompts, in batches."""
        columns = ["run", "prompt_number", *self._names]
        with self._source.readable():
            cursor = self._connection.cursor().execute(
                f"select {', '.join(columns)} from prompts "
                "inner join (select distinct run, prompt_number from numbered) as asked using (prompt_number) "
                "order by run, prompt_number"
            )
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield [self._planned(dict(zip(columns, row, strict=True))) for row in rows]

    @property
    def _names(self) -> list[str]:
        """The columns that distinguish prompts."""
        return [*self._mapped(*PROMPT_ROLES, "descriptor"), *self._conditions.names]

    def _stated(self, found: Mapping[str, Any]) -> Stated:
        """Return whom a row of `prompts` is about."""
        return self._conditions.stated(found)

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
        for role in self._roles:
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
        self._connection.execute(
            f"create view resolved as select {self._own_columns()}, models.run, {self._conditions.selected}, "
            f"{self._conditions.names_group} as names_group from keys "
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
            kind, cell = ROLES[role].cell, trimmed(at)
            if role == "template":
                listed.append(f"coalesce({cell}, '{WHOLE_FILE_TEMPLATE}') as template")
            elif kind == "word":
                listed.append(f"{cell} as {column_of(role)}")
            elif kind == "name":
                known = self._known_names(role)
                listed += [f"{present(cell, known)} as {role}", f"{absent(cell, known)} as missing_{role}"]
            elif kind == "asked":
                listed.append(f"nullif({at}, '') as {role}")
        return ", ".join(listed)

    def _known_names(self, role: str) -> Sequence[str]:
        """Return the words that are a subject, or a right answer, whatever they look like; none of other roles."""
        if role == "subject":
            return [one.name for one in self._audit.subject_rows]
        return self._audit.answer.labels if role == "expected" else ()

    def left_out(self, run: int) -> dict[str, Any]:
        """Return notes on a run's rows that answers do not show, empty if none: the cells of each attribute without a group."""
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

    def _require_number(self, role: str) -> None:
        number = ROLES[role].number
        if number is None:
            return
        if role == "weight" and self._audit.answer.kind in DECISIONS:
            number = DECISION_WEIGHT
        column = column_of(role)
        for row, value in self._fetch(
            f"select file_row, text from (select row_number, file_row, {column} as text, "
            f"try_cast({column} as {NUMBER}) as value "
            f"from keys) where (value is null or not ({number.rule})) and (text is not null or not {number.may_be_empty}) "
            f"order by row_number limit 1"
        ):
            given = "nothing" if value is None else repr(value)
            raise InputError(
                f"{self._path}: row {row} has {given} as {self._roles[role]!r}; {role} should be {number.right}."
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
                sentence = (
                    f"{self._path}: row {row} has {shown(value)} as {self._roles['expected']!r}, {error}"
                )
                raise InputError(ended(sentence)) from None
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

    def _planned(self, found: Mapping[str, Any]) -> PlannedPrompt:
        """Return the prompt of a row of `prompts`."""

        def text(column: str) -> str | None:
            value = found.get(column)
            return storable(value) if value is not None else None

        stated = self._stated(found)
        prompt = Prompt(
            template=text("template") or WHOLE_FILE_TEMPLATE,
            language=stated.language or self._imported.language or "en",
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

    def _mixing(self) -> list[str]:
        """Return a sentence for each attribute whose groups no block holds together, or were asked at different times."""
        block = self._roles.get("block")
        # The order of items is their place in an answer.
        order = self._roles.get("order") if self._imported.columns.has_replies else None
        if not (block or order) or not self._audit.attributes:
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

    def _number_prompts(self, table: str) -> None:
        """Make `prompts` and `numbered` from a table with one row a response.

        `prompts` is each distinct combination of the columns `_names`, numbered by first appearance; `numbered` has run,
        prompt_number, trial, seq, weight, model, attempt and is_last of every response. The same attempt at a trial of a prompt
        twice is refused.
        """
        names = self._names
        listed = ", ".join(names)
        self._connection.execute(
            f"create table prompts as select row_number() over (order by first_row) as prompt_number, {listed} "
            f"from (select min(row_number) as first_row, {listed} from {table} group by {listed})"
        )
        same = " and ".join(f"prompts.{name} is not distinct from answered.{name}" for name in names)
        numbers = {
            role: self._number(f"answered.{column_of(role)}", role)
            for role in ("trial", "order", "weight", "attempt")
        }
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

    def _number(self, expression: str, role: str) -> str:
        return f"try_cast({expression} as {NUMBER})" if role in self._roles else "null"

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()


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
