"""The first pass over a file of responses, which has one row for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from collector.answers.decisions import currencies_of, decimal_of
from collector.answers.texts.stored_text import storable
from collector.hashing import canonical_json
from collector.importers.missing import (
    LEAST_RECURRING,
    TOKEN_CHARACTERS,
    MissingAnswers,
    missing_answer,
    tokens_for_nothing,
    trimmed,
)
from collector.importers.plan import BATCH_ROWS, AmountColumn, Plan, PlannedAnswer
from collector.importers.roles import ANSWER_ROLES, ROLES
from collector.spec.markers import AskedProbe, one_sided
from collector.spec.parts import DECISIONS, MINIMUM_SUBJECTS, MINIMUM_TRIALS
from collector.sql import literal
from collector.tables.missing import missing_sentence, sql_is_missing
from collector.tables.source import MADE_COLUMNS

# The format of amounts is found from this many different answers; a longer text is no amount.
AMOUNTS_READ = 10_000
AMOUNT_CHARACTERS = 2_000


class RowPlan(Plan):
    """A file with one row a response; no answer is kept in memory."""

    # Rows of the file that repeat an earlier one exactly and are not left out, and those that are.
    n_repeated = 0
    n_dropped = 0

    def _check(self) -> None:
        self._read_keys()
        self._number_prompts("resolved")
        if self._imported.duplicates is None:
            self.n_repeated = self._source.n_repeated()
        elif self._imported.duplicates == "drop":
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
            *self._mixing(),
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

    def missing(self) -> list[str]:
        """Return a sentence for each short column that lacks values: how many, and how they are marked."""
        cells: dict[str, tuple[str, str]] = {}
        for index, (column, known) in enumerate(
            zip(self._conditions.columns, self._conditions.known, strict=True)
        ):
            if known is not None:
                cells.setdefault(column, (f"a{index}", f"m{index}"))
        cells |= {
            self._roles[role]: (role, f"missing_{role}") for role in self._roles if ROLES[role].cell == "name"
        }
        counted = (
            (column, self._counted_missing(*cell))
            for column, cell in cells.items()
            if column not in MADE_COLUMNS
        )
        return [missing_sentence(column, counts) for column, counts in counted if counts]

    def _counted_missing(self, cell: str, nothing: str) -> dict[str, int]:
        """Return the content of a column's cells without a value -> the number of rows with it."""
        # An empty cell is meant where a file of long form has neutral rows, and where there is no right answer.
        may_be_empty = cell == "expected" or self._imported.columns.attribute is not None
        rows = self._fetch(
            f"select coalesce({nothing}, ''), count(distinct file_row) from keys "
            f"where {cell} is null{f' and {nothing} is not null' if may_be_empty else ''} group by all"
        )
        return {str(word): int(n) for word, n in rows}

    def _answers(self) -> Iterator[list[PlannedAnswer]]:
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
        if at is None or ROLES[role].cell != "said":
            return at or "null"
        return f"case when not {sql_is_missing(trimmed(at))} then {at} end"

    def counted_answers(self) -> tuple[MissingAnswers, dict[str, int]]:
        """Return the cells without an answer, and recurring texts that may mean no answer -> how many cells."""
        cell = trimmed(self._role_at["text"])
        answer = self._audit.answer
        longest = max([TOKEN_CHARACTERS, *map(len, answer.missing)])
        declared = "".join(f" or word = {literal(word)}" for word in answer.missing)
        with self._source.readable():
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
        columns = self._imported.columns
        return list(columns.texts.values()) or [columns.text or ""]

    def _scores(self, labelled: Sequence[str | None]) -> tuple[tuple[str, str], ...]:
        """Return (scorer, label) of a row, for the columns that hold one."""
        # In lower case like classifiers' labels, so that NEGATIVE is negative.
        return tuple(
            (scorer, storable(self._imported.score_labels.get(label, label).lower()))
            for scorer, label in zip(self._score_at, labelled, strict=True)
            if label is not None
        )

    def _few(self) -> list[str]:
        kind = self._audit.answer.kind
        if kind == "items" or kind in DECISIONS or not self._audit.attributes:
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
        is_first = f"{self._number('attempt', 'attempt')} = 1" if "attempt" in self._roles else "true"
        # Rows that name no group at all are no group, unless they are of long form.
        is_of_group = "true" if self._imported.columns.attribute is not None else "names_group"
        fewest = self._least(
            f"select count(*) as n from resolved where {is_of_group} and {is_first} group by {names}"
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
