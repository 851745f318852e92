"""The first pass over a file whose answers are in several rows each: rankings, and recommended items."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.answers.decisions.rankings import Placed, ranking_text
from collector.answers.recommendations.items import Item, category_counts_text, items_text, split_categories
from collector.answers.recommendations.key_words import meaning_of
from collector.answers.recommendations.prices import Amount, Price
from collector.errors import InputError
from collector.importers.conditions import Stated
from collector.importers.plan import BATCH_ROWS, NUMBER, Plan, PlannedAnswer
from collector.importers.roles import PROMPT_ROLES, column_of
from collector.spec.methods.prices import Prices

TRUE, FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
_SHOWN = "shown"


class GatheredPlan(Plan):
    """A file with several rows an answer, which is put together from them."""

    def _answers(self) -> Iterator[list[PlannedAnswer]]:
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


class RankingPlan(GatheredPlan):
    """A file with one row a candidate: the rows of one `response` about a subject are one answer to one prompt."""

    def _check(self) -> None:
        self._read_keys()
        self._require_filled("response", "name or number of the answer that the row belongs to")
        self._require_filled("subject", "subject that the answer is about")
        self._require_truth()
        self._number_candidates()
        self._require_places()
        who = ["slot", *self._mapped("descriptor"), *self._conditions.names]
        self._gather(
            "candidates",
            self._mapped(*PROMPT_ROLES),
            {_SHOWN: (who, "slot"), "answer": (["slot", "rank", "is_missing"], "slot")},
        )
        self._number_prompts("gathered")

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        return self._mixed_models()

    @property
    def _names(self) -> list[str]:
        return [*self._mapped(*PROMPT_ROLES), _SHOWN]

    def _stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the groups of all candidates that a prompt shows."""
        candidates = map(self._conditions.stated, json.loads(found[_SHOWN]))
        return Stated(tuple(attribute for one in candidates for attribute in one.attributes))

    def _require_truth(self) -> None:
        if "missing" not in self._roles:
            return
        for row, value in self._fetch(
            f"select row_number, missing from keys where missing is null or lower(missing) not in {(*TRUE, *FALSE)} "
            f"order by row_number limit 1"
        ):
            given = "nothing" if value is None else repr(value)
            raise InputError(
                f"{self._path}: row {row} has {given} as {self._roles['missing']!r}; it should be 1 (the answer does not name "
                f"the candidate) or 0."
            )

    def _number_candidates(self) -> None:
        """Make `candidates`: every row with its answer's number, the place at which it was shown and the one it was given."""
        answer = ", ".join(["run", *self._mapped("template", "subject", "domain"), "response"])
        missing = f"lower(missing) in {TRUE}" if "missing" in self._roles else "rank is null"
        self._connection.execute(
            f"create table candidates as select * replace ({self._number('slot', 'slot')}::integer as slot, "
            f"{self._number('rank', 'rank')}::integer as rank), {missing} as is_missing, "
            f"dense_rank() over (order by {answer}) as answer_number from resolved"
        )

    def _require_places(self) -> None:
        """Raise for an answer whose slots are not 1 to n, or whose ranks are missing, too large or given twice."""
        for row, slot, n in self._fetch(
            "select row_number, slot, n from (select *, count(*) over (partition by answer_number) as n from candidates) "
            "where n < 2 or slot > n or rank > n order by row_number limit 1"
        ):
            if n < 2:
                problem = f"is the only one of its {self._roles['response']!r}; a ranking has a row for each candidate"
            else:
                role = "slot" if slot > n else "rank"
                problem = f"has a {self._roles[role]!r} above {n}, the number of candidates that the same answer has"
            raise InputError(f"{self._path}: row {row} {problem}.")
        for row in self._fetch(
            "select row_number from candidates where rank is null and not is_missing order by row_number limit 1"
        ):
            raise InputError(
                f"{self._path}: row {row[0]} has no {self._roles['rank']!r} and is not marked as missing from its answer."
            )
        for role, where in (("slot", "true"), ("rank", "not is_missing")):
            for first, second, place in self._fetch(
                f"select min(row_number), max(row_number), {role} from candidates where {where} "
                f"group by answer_number, {role} having count(*) > 1 order by 1 limit 1"
            ):
                raise InputError(
                    f"{self._path}: rows {first} and {second} are both {role} {place} of the same answer; each "
                    f"{self._roles[role]!r} of an answer may occur once."
                )

    def _answer_text(self, answer: str) -> str:
        return ranking_text([Placed(**one) for one in json.loads(answer)])


class ItemPlan(GatheredPlan):
    """A file with one row an item: all rows of a prompt, or those of one `response` to it, are one answer.

    Where `category` is alone, a row is a category of an answer, and `count` is how many of the answer's items have it.
    """

    def _check(self) -> None:
        self._read_keys()
        self._require_filled("response", "name or number of the answer that the row belongs to")
        self._require_filled("item", "item's name")
        if self._items_per_answer is not None:
            self._require_filled("category", "category that the row counts")
        self._read_prices()
        self._number_answers()
        self._require_possible_counts()
        self._gather(
            "recommended",
            self._names,
            {
                "answer": (
                    ["item", "price_level", "amount", "currency", "category", "n"],
                    "(place, row_number)",
                )
            },
        )
        self._number_prompts("gathered")

    def left_out(self, _run: int) -> dict[str, Any]:
        """Return nothing: rows are items, and no answers."""
        return {}

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        return [*self._mixed_models(), *self._mixing()]

    @property
    def _items_per_answer(self) -> int | None:
        """Return how many items an answer has, where its rows count categories."""
        prices: Prices = self._audit.analysis.prices
        return prices.items_per_answer if self._imported.columns.counts_categories else None

    def _read_prices(self) -> None:
        """Make `prices_read`, the level or amount of each price in the file; raise for the first invalid price."""
        rules = self._audit.answer.item_rules
        self._connection.execute(
            "create table prices_read (price varchar, price_level integer, amount double, currency varchar)"
        )
        if "price" not in self._roles:
            return
        found = self._fetch(
            "select min(row_number) as first_row, price from keys where price is not null group by price order by first_row"
        )
        currency = meaning_of(self._roles["price"]).currency
        meaning: list[list[Any]] = []
        for row, written in found:
            price = rules.of_key(written, currency)
            if isinstance(price, Amount) and rules.are_amounts:
                meaning.append([written, None, price.value, price.currency])
            elif isinstance(price, int):
                meaning.append([written, price, None, None])
            else:
                raise InputError(
                    f"{self._path}: row {row} has {written!r} as {self._roles['price']!r}; {self._wanted(price)}."
                )
        if meaning:
            self._connection.executemany("insert into prices_read values (?, ?, ?, ?)", meaning)

    def _wanted(self, price: Price | None) -> str:
        """Return what an invalid price should be."""
        rules = self._audit.answer.item_rules
        if rules.are_amounts:
            return "price should be an amount of money, such as 349 or 349 €, and empty where it is not known"
        wanted = f"price should be a level from 1 to {rules.levels} or as many $ signs, and empty where it is not known"
        return (
            f"{wanted}; write answer: {{prices: amounts}} into the spec if prices are money"
            if price is not None
            else wanted
        )

    def _number_answers(self) -> None:
        """Make `recommended`: every row with its answer's number, its item and its count."""
        answer = ", ".join(["run", *self._names, *self._mapped("trial", "response", "model")])
        read = {
            "item": "item" if "item" in self._roles else "null::varchar",
            "price_level": "prices_read.price_level" if "price" in self._roles else "null::integer",
            "amount": "prices_read.amount" if "price" in self._roles else "null::double",
            "currency": "prices_read.currency" if "price" in self._roles else "null::varchar",
            "category": "category" if "category" in self._roles else "null::varchar",
            "n": f"coalesce({self._number(column_of('count'), 'count')}, 1)::double",
            "place": f"{self._number('position', 'order')}::{NUMBER}",
        }
        kept = [
            *self._names,
            *self._mapped("trial", "weight", "model"),
            *(["position"] if "order" in self._roles else []),
        ]
        joined = "left join prices_read using (price)" if "price" in self._roles else ""
        self._connection.execute(
            f"create table recommended as select row_number, run, {''.join(f'{name}, ' for name in kept)}"
            f"{', '.join(f'{expression} as {name}' for name, expression in read.items())}, "
            f"dense_rank() over (order by {answer}) as answer_number from resolved {joined}"
        )

    def _require_possible_counts(self) -> None:
        """Raise for a category that more items of an answer have than the answer has items."""
        n_items = self._items_per_answer
        if n_items is None:
            return
        for row, category, n in self._fetch(
            f"select max(row_number) as row, arg_max(category, row_number), sum(n) from recommended "
            f"group by answer_number, lower(category) having sum(n) > {n_items} order by row limit 1"
        ):
            raise InputError(
                f"{self._path}: row {row} brings the items of its answer with the category {category!r} to {n:g}, and "
                f"analysis.prices.items_per_answer is {n_items}."
            )

    def _answer_text(self, answer: str) -> str:
        rows = json.loads(answer)
        if self._items_per_answer is None:
            return items_text(map(_item, rows), with_amounts=self._audit.answer.item_rules.are_amounts)
        counts: Counter[str] = Counter()
        for row in rows:
            counts[" ".join(row["category"].lower().split())] += row["n"]
        return category_counts_text(counts, self._items_per_answer)


def _struct(columns: Sequence[str]) -> str:
    return "{" + ", ".join(f"'{column}': {column}" for column in columns) + "}"


def _item(row: Mapping[str, Any]) -> Item:
    return Item(
        " ".join((row["item"] or "").split()) or None,
        row["price_level"],
        split_categories(row["category"] or ""),
        row["n"],
        None if row["amount"] is None else Amount(row["amount"], row["currency"]),
    )
