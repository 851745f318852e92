"""The first pass over a file: every row checked, prompts found, trials and order worked out in tables of short columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from collector.answers import storable
from collector.errors import InputError
from collector.importers.conditions import Conditions
from collector.importers.source import Source, no_rows, readable
from collector.prompts import Prompt
from collector.spec import MINIMUM_SUBJECTS, MINIMUM_TRIALS, PLAIN

if TYPE_CHECKING:
    from collector.spec import Audit, Columns

BATCH_ROWS = 10_000
MAX_TRIAL = 2**31 - 1
WHOLE_FILE_TEMPLATE = "imported"
# A number with room for nanosecond timestamps and for decimals, exact where DOUBLE is not.
NUMBER = "decimal(38, 10)"


def needed_columns(conditions: Conditions, columns: Columns) -> list[str]:
    """Return the columns of the file in the order of the view's c0, c1, …: conditions first, then the roles mapped."""
    return [*conditions.columns, *_roles(columns).values()]


def _roles(columns: Columns) -> dict[str, str]:
    roles = (
        "text",
        "prompt",
        "template",
        "subject",
        "domain",
        "trial",
        "expected",
        "order",
        "weight",
        "model",
    )
    return {role: column for role in roles if (column := getattr(columns, role)) is not None}


class Plan:
    """The first pass: every row checked, prompts found, trials and order worked out, no answer kept in memory."""

    def __init__(self, audit: Audit, conditions: Conditions, source: Source) -> None:
        assert audit.imported is not None
        self._audit = audit
        self._conditions = conditions
        self._path = source.path
        self._format = source.format
        self._connection = source.connection
        self._roles = _roles(audit.imported.columns)
        first = len(conditions.columns)
        self._role_at = {role: f"c{first + index}" for index, role in enumerate(self._roles)}
        self.n_rows = 0
        self.n_prompts = 0
        self.models: list[str] = []

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
        self._connection.execute(f"create table keys as select row_number, {self._key_list()} from source")
        self.n_rows = self._count("keys")
        if self.n_rows == 0:
            raise no_rows(self._path)
        self._conditions.check(self._connection)
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
        return [*sentences, *(self._few_subjects() if self._has_subjects else self._few_answers())]

    @property
    def _has_subjects(self) -> bool:
        return self._audit.answer.kind == "list" and "subject" in self._roles

    def _few_answers(self) -> list[str]:
        names = ", ".join(self._conditions.names)
        fewest = self._least(f"select count(*) as n from resolved group by {names}")
        if fewest >= MINIMUM_TRIALS:
            return []
        sentence = (
            f"{fewest} response{'s' if fewest > 1 else ''} of the smallest group give low statistical power; the method's "
            f"source asks for at least {MINIMUM_TRIALS}."
        )
        return [sentence]

    def _few_subjects(self) -> list[str]:
        domain = "domain" if "domain" in self._roles else "null::varchar"
        fewest = self._least(f"select count(distinct subject) as n from keys group by {domain}")
        if fewest >= MINIMUM_SUBJECTS:
            return []
        where = "in the smallest domain " if "domain" in self._roles else ""
        sentence = (
            f"{fewest} subject{'' if fewest == 1 else 's'} {where}give low statistical power; the method's source asks for at "
            f"least {MINIMUM_SUBJECTS} to 100."
        )
        return [sentence]

    def _least(self, counts: str) -> int:
        rows = self._connection.execute(f"select min(n) from ({counts})").fetchall()
        return int(rows[0][0] or 0)

    def prompts(self) -> Iterator[list[tuple[int, Prompt]]]:
        """Yield the distinct prompts with their numbers, in batches."""
        names = ["prompt_number", *self._prompt_columns(), *self._conditions.names]
        cursor = self._connection.execute(f"select {', '.join(names)} from prompts order by prompt_number")
        while rows := cursor.fetchmany(BATCH_ROWS):
            batch = []
            for row in rows:
                found = dict(zip(names, row, strict=True))
                batch.append((int(found["prompt_number"]), self._prompt(found)))
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

    def _prompt(self, found: Mapping[str, Any]) -> Prompt:
        def text(column: str) -> str | None:
            value = found.get(column)
            return storable(value) if value is not None else None

        stated = self._conditions.stated(found)
        return Prompt(
            template=text("template") or WHOLE_FILE_TEMPLATE,
            language=stated.language,
            perturbation=stated.perturbation,
            variant=PLAIN,
            prompt_text=text("prompt"),
            domain=text("domain"),
            subject=text("subject"),
            expected_label=text("expected"),
            attributes=stated.attributes,
        )

    def _key_list(self) -> str:
        """Return the short columns of the first pass: trimmed, empty as null, numbers not yet read."""
        listed = [f"nullif(trim(c{index}), '') as a{index}" for index in range(len(self._conditions.columns))]
        for role, at in self._role_at.items():
            if role == "prompt":
                # A prompt's text is compared as it is; outer spaces are part of what was asked.
                listed.append(f"nullif({at}, '') as prompt")
            elif role != "text":
                listed.append(f"nullif(trim({at}), '') as {_column(role)}")
        return ", ".join(listed)

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
        return [
            role for role in ("prompt", "template", "subject", "domain", "expected") if role in self._roles
        ]

    def _number_prompts(self) -> None:
        """Make `prompts` (each distinct prompt, numbered by first appearance) and `grouped` (each row's prompt)."""
        names = [*self._prompt_columns(), *self._conditions.names]
        self._connection.execute(
            f"create view resolved as select keys.*, {self._conditions.selected} from keys {self._conditions.joins}"
        )
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
