"""The first pass over a file of recommended items, which has one row for each item, or for several alike, of each answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from collector.answers.recommendations.items import Item, category_counts_text, items_text, split_categories
from collector.answers.recommendations.key_words import meaning_of
from collector.answers.recommendations.prices import Amount, Price
from collector.errors import InputError
from collector.importers.gathered import GatheredPlan
from collector.importers.plan import NUMBER, PROMPT_ROLES, PlannedPrompt, column_of
from collector.spec.methods.prices import Prices


class ItemPlan(GatheredPlan):
    """A file with one row an item: all rows of a prompt, or those of one `response` to it, are one answer.

    Where `category` is alone, a row is a category of an answer, and `count` is how many of the answer's items have it.
    """

    def check(self) -> None:
        """Read the file once; raise InputError for the first thing wrong in it."""
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
        self._number_prompts("gathered", self._names)

    def left_out(self, run: int) -> dict[str, Any]:  # noqa: ARG002
        """Return nothing: rows are items, and no answers."""
        return {}

    def warnings(self) -> list[str]:
        """Return warnings, one sentence each."""
        return [*self._mixed_models(), *self.mixing()]

    def prompts(self) -> Iterator[list[PlannedPrompt]]:
        """Yield every run's prompts, in batches."""
        for rows in self._prompt_rows(self._names):
            yield [self._planned(found, self._conditions.stated(found)) for found in rows]

    @property
    def _names(self) -> list[str]:
        return [*self._mapped(*PROMPT_ROLES, "descriptor"), *self._conditions.names]

    @property
    def _items_per_answer(self) -> int | None:
        """Return how many items an answer has, where its rows count categories."""
        assert self._audit.imported is not None
        counts_categories = self._audit.imported.columns.counts_categories
        prices: Prices = self._audit.analysis.prices
        return prices.items_per_answer if counts_categories else None

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


def _item(row: Mapping[str, Any]) -> Item:
    return Item(
        " ".join((row["item"] or "").split()) or None,
        row["price_level"],
        split_categories(row["category"] or ""),
        row["n"],
        None if row["amount"] is None else Amount(row["amount"], row["currency"]),
    )
