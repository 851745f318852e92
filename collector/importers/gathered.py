"""The first pass over a file whose answers are in several rows each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from collector.importers.plan import BATCH_ROWS, Plan, PlannedAnswer


class GatheredPlan(Plan):
    """A file with several rows an answer, which is put together from them."""

    has_replies = False

    def answers(self) -> Iterator[list[PlannedAnswer]]:
        """Yield every answer in the file's order, in batches."""
        cursor = self._connection.cursor().execute(
            "select numbered.run, prompt_number, numbered.trial, seq, numbered.weight, numbered.model, gathered.answer "
            "from numbered inner join gathered using (row_number) order by row_number"
        )
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield [
                PlannedAnswer(run, number, trial, seq, weight, model, self._answer_text(answer))
                for run, number, trial, seq, weight, model, answer in rows
            ]

    @abstractmethod
    def _answer_text(self, answer: str) -> str:
        """Return an answer as it is kept, from the JSON list `answer` of what its rows say."""

    def _gather(
        self, table: str, names: Sequence[str], lists: Mapping[str, tuple[Sequence[str], str]]
    ) -> None:
        """Make `gathered`, one row an answer.

        Args:
            table: rows with run, row_number and answer_number, which is the same for the rows of an answer.
            names: columns in which an answer's rows should agree; the first row counts, as it does for trial, weight and
                model.
            lists: new column -> the columns that it lists, as JSON, and its order. One of them is `answer`.
        """
        kept = [*names, *self._mapped("trial", "weight", "model")]
        listed = ", ".join(
            [
                "min(row_number) as row_number",
                "any_value(run) as run",
                *(f"arg_min({column}, row_number) as {column}" for column in kept),
                f"min({self._number('position', 'order')}) as position",
                *(
                    f"to_json(list({_struct(columns)} order by {order}))::varchar as {name}"
                    for name, (columns, order) in lists.items()
                ),
            ]
        )
        self._connection.execute(
            f"create table gathered as select {listed} from {table} group by answer_number"
        )


def _struct(columns: Sequence[str]) -> str:
    return "{" + ", ".join(f"'{column}': {column}" for column in columns) + "}"
