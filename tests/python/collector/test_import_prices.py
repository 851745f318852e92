"""Test imports of recommended items: rows of items, rows with counts, counted categories, whole replies, wrong cells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.answers.recommendations.items import Item, items_text
from collector.errors import InputError
from collector.rows import response_hash
from tests.python.collector.importing import ANSWERS, BringRuns, Query, Refused, Row, changed
from tests.python.collector.specs import Change, is_message

ITEMS_AUDIT = """
audit: dinner
attributes:
  race: {reference: white, groups: [white, black]}
answer: {kind: items, k: 20}
import:
  columns:
    template: question
    domain: city
    descriptor: name
    item: shown
    price: level
    category: tags
    count: n
    order: place
    attributes: {race: race}
"""
COUNTS_AUDIT = """
audit: tags
attributes:
  race: {reference: white, groups: [white, black]}
answer: {kind: items, k: 20}
import:
  columns: {descriptor: name, category: tag, count: n, attributes: {race: race}}
analysis:
  prices: {items_per_answer: 40}
"""


def item(*cells: object) -> Row:
    columns = ("name", "race", "shown", "level", "tags", "place", "n")
    cells = (*cells, 1)[: len(columns)]
    return {"question": "q1", "city": "Boston", **dict(zip(columns, cells, strict=True))}


ITEMS = [
    item("Nia", "black", " Blue  Door", "$$", "Bars, Wine & Spirits/pubs", 2),
    item("Anne", "white", "Mill", "", "", 1, 2.5),
    item("Nia", "black", "Mill", 1.0, "Pizza", 1),
    item("Anne", "white", "Blue Door", "2", "bars", 10, "3.0"),
]
COUNTS: list[Row] = [
    {"name": "Nia", "race": "black", "tag": "Pubs ", "n": 30},
    {"name": "Anne", "race": "white", "tag": "Thai", "n": 40},
    {"name": "Nia", "race": "black", "tag": "bars, all", "n": 7.5},
    {"name": "Nia", "race": "black", "tag": "pubs", "n": 10},
]


def kept(query: Query) -> dict[tuple[str, int], Any]:
    """Return what is kept of each descriptor's answers, by descriptor and trial."""
    rows = query(
        "select distinct descriptor, trial, answer_text from raw.responses "
        "inner join raw.prompt_attributes using (run_id, prompt_id)"
    )
    return {(descriptor, trial): json.loads(text) for descriptor, trial, text in rows}


def test_rows_of_a_prompt_are_one_answer(bring_rows: BringRuns, query: Query) -> None:
    (summary,) = bring_rows(ITEMS_AUDIT, ITEMS)
    assert (summary.n_prompts, summary.n_responses, summary.counts, summary.warnings) == (2, 2, {"ok": 2}, ())
    nia = items_text([Item("Mill", 1, ("pizza",)), Item("Blue Door", 2, ("bars", "wine & spirits", "pubs"))])
    anne = items_text([Item("Mill", None, (), 2.5), Item("Blue Door", 2, ("bars",), 3)])
    columns = "group_name, descriptor, slot, template, domain, trial, response_text, answer_text, weight"
    of_groups = f"{ANSWERS} inner join raw.prompt_attributes using (run_id, prompt_id)"
    assert query(f"select {columns} from {of_groups} order by descriptor") == [
        ("white", "Anne", 1, "q1", "Boston", 1, None, anne, 1.0),
        ("black", "Nia", 1, "q1", "Boston", 1, None, nia, 1.0),
    ]
    hashes = f"select prompts.content_hash, answer_text, responses.content_hash from {ANSWERS}"
    for prompt_hash, text, content_hash in query(hashes):
        assert content_hash == response_hash(prompt_hash, "ok", text)


def test_prices_of_rows_may_be_amounts(bring_rows: BringRuns, query: Query) -> None:
    rows = changed(changed(ITEMS, 1, level="1.299,00 €"), 4, level="349")
    rows = changed(rows, 3, level="2 €")
    sentence = r"row 1 has '1\.299,00 €' as 'level'; .*write answer: {prices: amounts} into the spec"
    with pytest.raises(InputError, match=sentence):
        bring_rows(ITEMS_AUDIT, rows)
    bring_rows(ITEMS_AUDIT, rows, ("k: 20", "k: 20, prices: amounts"))
    shown = {descriptor: answer["items"] for (descriptor, _), answer in kept(query).items()}
    assert [
        (one["name"], one["price"], one["currency"], one["price_level"])
        for one in shown["Nia"] + shown["Anne"]
    ] == [
        ("Mill", 2, "EUR", None),
        ("Blue Door", 1299, "EUR", None),
        ("Mill", None, None, None),
        ("Blue Door", 349, None, None),
    ]
    sentence = r"row 3 has '\$\$' as 'level'; price should be an amount of money, such as 349 or 349 €"
    with pytest.raises(InputError, match=sentence):
        bring_rows(ITEMS_AUDIT, changed(rows, 3, level="$$"), ("k: 20", "k: 20, prices: amounts"))


def test_responses_trials_and_models_tell_answers_apart(bring_rows: BringRuns, query: Query) -> None:
    rows = [{**ITEMS[0], "r": r, "model": m, "t": t} for r, m, t in ((1, "a", 1), (2, "a", 1), (1, "b", 2))]
    columns = ("    order: place\n", "    order: place\n    response: r\n    model: model\n")
    (summary,) = bring_rows(ITEMS_AUDIT, rows, columns)
    assert (summary.n_prompts, summary.n_responses) == (1, 3)
    of_models, of_groups = summary.warnings
    assert "answers of several models (a, b)" in of_models
    assert of_groups == "No row names a group that the audit declares: 'white' of race."
    assert sorted(kept(query)) == [("Nia", 1), ("Nia", 2), ("Nia", 3)]


def test_trials_of_a_file_are_its_own(bring_rows: BringRuns, query: Query) -> None:
    rows = [{**row, "t": t} for t in (4, 2) for row in ITEMS]
    bring_rows(ITEMS_AUDIT, rows, ("    order: place\n", "    trial: t\n"))
    assert sorted(kept(query)) == [("Anne", 2), ("Anne", 4), ("Nia", 2), ("Nia", 4)]
    # Without a column for the order, items keep the order of the file.
    assert [one["name"] for one in kept(query)["Nia", 2]["items"]] == ["Blue Door", "Mill"]


def test_one_run_a_model(bring_rows: BringRuns) -> None:
    rows = [{**row, "model": model} for model in ("b", "a") for row in ITEMS]
    changes = ("import:\n", "import:\n  split: model\n"), ("    order:", "    model: model\n    order:")
    first, second = bring_rows(ITEMS_AUDIT, rows, *changes)
    assert (first.target, second.target) == ("a", "b")
    assert first.n_responses == second.n_responses == 2


def test_prices_alone_are_counted(bring_rows: BringRuns, query: Query) -> None:
    prices = ITEMS_AUDIT.replace("    item: shown\n", "").replace("    category: tags\n", "")
    bring_rows(prices, ITEMS, ("    order: place\n", ""))
    assert kept(query)["Anne", 1]["items"] == [
        {"categories": [], "n": 2.5, "name": None, "price_level": None},
        {"categories": [], "n": 3, "name": None, "price_level": 2},
    ]


def test_counted_categories(bring_rows: BringRuns, query: Query) -> None:
    (summary,) = bring_rows(COUNTS_AUDIT, COUNTS)
    assert (summary.n_prompts, summary.n_responses, summary.counts) == (2, 2, {"ok": 2})
    assert kept(query) == {
        ("Anne", 1): {"categories": [{"category": "thai", "n": 40}], "n_items": 40},
        ("Nia", 1): {
            "categories": [{"category": "bars, all", "n": 7.5}, {"category": "pubs", "n": 40}],
            "n_items": 40,
        },
    }


def test_the_row_order_does_not_matter_where_the_file_states_one(bring_rows: BringRuns, query: Query) -> None:
    bring_rows(ITEMS_AUDIT, ITEMS)
    first = kept(query)
    bring_rows(ITEMS_AUDIT, ITEMS[::-1])
    assert kept(query) == first
    assert len(query("select distinct content_hash from raw.responses")) == 2


def test_long_form(bring_rows: BringRuns, query: Query) -> None:
    rows = [{**row, "what": "race", "who": row["race"]} for row in ITEMS]
    as_long = ("    descriptor: name\n", "    subject: name\n    attribute: what\n    value: who\n")
    (summary,) = bring_rows(ITEMS_AUDIT, rows, as_long, ("    attributes: {race: race}\n", ""))
    assert (summary.n_prompts, summary.n_responses) == (2, 2)
    # Without a column for it, the word of the row is the descriptor.
    assert set(kept(query)) == {("white", 1), ("black", 1)}


def test_the_rows_word_is_the_descriptor_of_a_group_with_several(bring_rows: BringRuns, query: Query) -> None:
    rows = [{**row, "race": word} for row, word in zip(ITEMS, ("niece", "son", "mom", "male"), strict=True)]
    several = "{reference: male, groups: {male: son, female: [mom, niece]}}"
    changes = ("{reference: white, groups: [white, black]}", several), ("    descriptor: name\n", "")
    (summary,) = bring_rows(ITEMS_AUDIT, rows, *changes)
    assert summary.n_prompts == 3
    kept = query("select group_name, descriptor from raw.prompt_attributes order by all")
    assert kept == [("female", "mom"), ("female", "niece"), ("male", "son")]


def test_whole_replies_are_classified(bring_rows: BringRuns, query: Query) -> None:
    rows = [
        {"race": "white", "said": '[{"name": "Mill", "price": "$$"}]'},
        {"race": "black", "said": "1. Blue Door\n2. Mill"},
        {"race": "black", "said": "I'm sorry, but I can't help with that."},
    ]
    text = f"{ITEMS_AUDIT.partition('  columns:')[0]}  columns: {{text: said, attributes: {{race: race}}}}\n"
    (summary,) = bring_rows(text, rows)
    assert (summary.n_prompts, summary.counts, summary.warnings) == (2, {"ok": 2, "refused": 1}, ())
    assert query("select response_text, answer_text from raw.responses order by seq")[0] == (
        rows[0]["said"],
        items_text([Item("Mill", 2)]),
    )


WRONG_ITEMS = [
    (2, {"level": 5}, "row 2 has '5' as 'level'; price should be a level from 1 to 4 or as many $ signs, and empty…"),
    (2, {"level": 0}, "row 2 has '0' as 'level'; …"),
    (3, {"level": "$$-$$$"}, "row 3 has '$$-$$$' as 'level'; …"),
    (3, {"n": 0}, "row 3 has '0' as 'n'; count should be a number above 0, how many items the row stands for."),
    (3, {"n": -1}, "row 3 has '-1' as 'n'; …"),
    (3, {"n": ""}, "row 3 has nothing as 'n'; …"),
    (1, {"shown": " "}, "row 1 has no 'shown'; it should hold the item's name."),
    (4, {"name": ""}, "row 4 has no 'name'; it should hold the descriptor, the name that states a row's groups."),
    (1, {"race": "blak"}, "row 1 has 'blak' as 'race', which is no group of race; did you mean 'black'?…"),
]  # fmt: skip
OF_RESPONSES = ("    order: place\n", "    order: place\n    response: r\n")
WRONG_ROWS: list[tuple[str, list[Row], list[Change], str]] = [
    *((ITEMS_AUDIT, changed(ITEMS, number, **cells), [], message) for number, cells, message in WRONG_ITEMS),
    (COUNTS_AUDIT, changed(COUNTS, 2, tag=""), [], "row 2 has no 'tag'; it should hold the category that the row counts."),
    (COUNTS_AUDIT, changed(COUNTS, 4, n=11), [],
     "row 4 brings the items of its answer with the category 'pubs' to 41, and analysis.prices.items_per_answer is 40."),
    (ITEMS_AUDIT, changed([{**row, "r": "a"} for row in ITEMS], 2, r=""), [OF_RESPONSES],
     "row 2 has no 'r'; it should hold the name or number of the answer…"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rows", "changes", "message"), WRONG_ROWS, ids=[row[-1] for row in WRONG_ROWS]
)
def test_wrong_rows(wrong_rows: Refused, text: str, rows: list[Row], changes: Any, message: str) -> None:
    assert is_message(found := wrong_rows(text, rows, *changes), message), found
