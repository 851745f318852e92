"""Test the reading of recommended items: every form of reply, price levels, categories, and replies without items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.recommendations.items import (
    Item,
    category_counts_text,
    find_items,
    items_text,
    split_categories,
)
from collector.answers.recommendations.prices import read_price
from collector.answers.replies import Answer, classify

ONE = Item("Blue Door", 2, ("thai", "bars"))
TWO = Item("Mill", 1, ("pizza",))
Shown = tuple[str | None, int | None, tuple[str, ...]]


def found(text: str) -> list[Shown]:
    return [(one.name, one.price_level, one.categories) for one in find_items(text, 4).items]


def read(text: str | None, finish_reason: str | None = None, *, k: int = 2) -> Answer:
    return classify(text, "items", 10_000, finish_reason, k=k, levels=4)


LEVELS: dict[int | None, list[object]] = {
    2: [
        2, 2.0, "2", "2.0", "$$", "€€", "$$ (moderate)", "$$ - moderate", "2/4", "2 out of 4", "**$$**", "Moderate ($$)",
        "moderate (2)", "2 ($$)", "$$ ($11-30)", "💲💲", "level two", r"\$\$",
    ],
    3: ["Price level 3", "price_level: 3"],
    4: ["$$$$"],
    # A range, an amount, something between two levels, another scale and a word are no level.
    None: [
        "$$-$$$", "$$ – $$$", "1-2", "1 to 2", "$10-20", "$15", 2.5, "2.5", "$$+", "2 ($$$)", "cheap (20)", "$$ out of $$$$",
        "US$", "$€", "2 out of 5", "moderate", "", 0, 5, -1, "$$$$$", "1" * 10_000, True, None, [2],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("level", "written"), [(level, one) for level, listed in LEVELS.items() for one in listed]
)
def test_price_levels(level: int | None, written: object) -> None:
    assert read_price(written, 4) == level


def test_the_number_of_levels_is_the_audits() -> None:
    assert (read_price("$$$", 3), read_price("$$$$", 3), read_price(5, 5)) == (3, None, 5)
    reply = '[{"name": "Mill", "price": 4}]'
    (kept,) = json.loads(classify(reply, "items", 99, levels=3).answer_text or "")["items"]
    assert kept["price_level"] is None


@pytest.mark.parametrize("text", [
    ('[{"name": "Blue Door", "price_level": 2, "categories": ["Thai", "Bars"]},'
      ' {"name": "Mill", "price_level": 1, "categories": ["pizza"]}]'),
    ('Here you are:\n```json\n{"restaurants": [{"Name": " Blue  Door", "Price Range": "$$ (moderate)", "Cuisine":'
      ' "Thai, Bars"},'
      ' {"name": "Mill", "price-tier": "$", "CUISINES": ["Pizza", "pizza "]},]}\n```\nEnjoy!'),
    ('{"city": "Boston", "count": 2, "answer": {"items": [{"business": "Blue Door", "cost": "2", "tags": "Thai/Bars"},'
      ' {"title": "Mill", "price": 1, "type": "Pizza"}]}}'),
    '{"name": "Blue Door", "price": "2", "category": "Thai; Bars"}\n{"name": "Mill", "price": "1", "category": "Pizza"}',
    '{"Blue Door": {"price": "$$", "categories": ["Thai", "Bars"]}, "Mill": {"price": "$", "categories": ["Pizza"]}}',
    ('{"1": {"name": "Blue Door", "price": 2, "categories": ["thai", "bars"]},'
      ' "2": {"name": "Mill", "price": 1, "categories": ["pizza"]}}'),
    ('{"Thai": [{"name": "Blue Door", "price": 2, "categories": [{"title": "Thai"}, {"title": "Bars"}]}],'
      ' "Italian": [{"restaurant": {"name": "Mill", "price": 1, "categories": ["pizza"]}}]}'),
    ('[{"restaurant_name": "Blue Door", "price": "2/4", "categories": ["thai", "bars"]},'
      ' {"Mill": {"price": 1, "categories": ["pizza"]}}]'),
])  # fmt: skip
def test_objects_that_describe_items(text: str) -> None:
    assert find_items(text, 4).items == (ONE, TWO)
    assert read(text) == Answer("ok", answer_text=items_text([ONE, TWO]), n_items=2, read_by="json")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('["Blue Door", "Mill"]', ["Blue Door", "Mill"]),
        ('{"restaurants": ["Blue Door", "Mill"]}', ["Blue Door", "Mill"]),
        ('{"type": "list", "restaurants": ["Blue Door", "Mill"]}', ["Blue Door", "Mill"]),
        ('{"restaurant 1": "Blue Door", "restaurant 2": "Mill"}', ["Blue Door", "Mill"]),
        ("1. Blue Door\n2. **Mill** - pizza since 1990", ["Blue Door", "Mill"]),
        ("Sure!\n\n- Blue Door\n- Mill\n", ["Blue Door", "Mill"]),
        ("I recommend Blue Door, Mill and Café 21.", ["Blue Door", "Mill", "Café 21"]),
        ('[{"name": "Blue Door", "dishes": ["Soup", "Rice"]}]', ["Blue Door"]),
    ],
)
def test_names_alone(text: str, names: list[str]) -> None:
    assert found(text) == [(name, None, ()) for name in names]


def test_prices_behind_names() -> None:
    listed = found("1. Blue Door ($$)\n2. Mill [$]\n3. Bar ($$$$$)")
    assert listed == [("Blue Door", 2, ()), ("Mill", 1, ()), ("Bar", None, ())]
    assert found('{"Blue Door": "$$", "Cafe 21": "$"}') == [("Blue Door", 2, ()), ("Cafe 21", 1, ())]


Priced = list[tuple[str | None, int | None]]


def priced(text: str) -> Priced:
    return [(one.name, one.price_level) for one in find_items(text, 4).items]


LINES: dict[tuple[str | None, int | None], list[str]] = {
    ("Blue Door", 2): [
        "**Blue Door** ($$) - Italian", "**Blue Door** – $$ – cozy place, mains $20", "**Blue Door ($$)** - Italian",
        "**Blue Door** *($$)* – Italian", "**Blue Door:** $$ · Italian", "*Blue Door* — **$$**: grill", "Blue Door: $$",
        "Blue Door `$$`", "Blue Door (\\$\\$)", "Blue Door ($$, Italian)", "Blue Door (4.5 stars, $$) – Italian",
        "Blue Door ($$, $15–25 per person)", "Blue Door, $$, Italian", "Blue Door [$$]", "Blue Door | $$ | Italian",
        "Blue Door | Italian | $$", "Blue Door — price level 2", "Blue Door (Price Level: 2, Italian)",
        "Blue Door, price level two", "Blue Door – Price: 2/4 – Italian", "$$ - Blue Door",
        "[Blue Door](https://example.org/a) - $$ - Italian", "Blue Door €€",
    ],
    # No level is stated, or two are.
    ("Blue Door", None): [
        "Blue Door ($$-$$$)", "Blue Door ($$+)", "Blue Door ($$ or $$$)", "Blue Door – lunch $, dinner $$$",
        "Blue Door (Price: 2/5)", "Blue Door - price level 2-3", "**Blue Door** costs 20 $ for two",
        "**Blue Door**, price: 20",
    ],
    # Nothing is cut off.
    (None, None): [
        "Blue Door ($15-25)", "Blue Door costs $20", "Level 2 Bar", "Ca$h Bar",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "level"),
    [(line, name or line, level) for (name, level), lines in LINES.items() for line in lines],
)
@pytest.mark.parametrize("mark", ["1. {}\n2. **Mill** ($) - pizza", "- {}\n- **Mill** ($) - pizza"])
def test_names_and_prices_of_lines(mark: str, line: str, name: str, level: int | None) -> None:
    assert priced(mark.format(line)) == [(name, level), ("Mill", 1)]


@pytest.mark.parametrize(
    "answer", yaml.safe_load(Path(__file__).with_name("item_answers.yml").read_text("utf-8"))
)
def test_realistic_answers_in_plain_text(answer: dict[str, Any]) -> None:
    expected = [(name, level, tuple(*categories)) for name, level, *categories in answer["items"]]
    assert found(answer["text"]) == expected


@pytest.mark.parametrize(("text", "items"), [
    ('{"restaurants": ["A", "B"], "note": ["ok"]}', [("A", None), ("B", None)]),
    ('{"note": ["x", "y", "z"], "restaurants": ["A", "B"]}', [("A", None), ("B", None)]),
    ('{"title": "In Boston", "restaurants": ["A", "B"], "sources": ["x"]}', [("A", None), ("B", None)]),
    ('{"cities": ["x"], "top_restaurants": ["A"], "hours": ["y"]}', [("A", None)]),
    ('{"stuff": [{"name": "A"}, {"name": "B"}], "others": ["x", "y", "z"]}', [("A", None), ("B", None)]),
    # Groups of one answer.
    ('{"Italian": ["A", "B"], "Thai": ["C"], "notes": ["x"]}', [("A", None), ("B", None), ("C", None)]),
    (('{"city": "Boston", "cuisines": ["x"], "recommendations": {"fine": [{"name": "A", "price_level": 4}],'
      ' "casual": [{"name": "B", "price_level": "Moderate ($$)"}]}}'), [("A", 4), ("B", 2)]),
    ('["A ($$)", "B - Turkish, $$$", "C - Pizza", "D - lunch for $10"]',
     [("A", 2), ("B", 3), ("C", None), ("D", None)]),
    (('[{"name": "A ($$)"}, {"name": "B ($$)", "price": 3}, {"restaurant": {"name": "C"}, "priceLevel": 1},'
      ' {"name": "$$"}]'), [("A", 2), ("B", 3), ("C", 1), ("$$", None)]),
])  # fmt: skip
def test_which_lists_of_an_object_count(text: str, items: Priced) -> None:
    assert priced(text) == items


def test_category_folding() -> None:
    folded = ("wine bars", "caf\u00e9", "pubs")
    assert split_categories("**Wine_Bars** | 'Cafe\u0301' • CAF\u00c9. / [Pubs]") == folded
    assert found('[{"name": "A", "cuisineType": "Thai"}]') == [("A", None, ("thai",))]


_PRICED = st.tuples(st.sampled_from(["Blue Door", "75 Chestnut", "Toro & Sons", "L'Oca"]), st.integers(1, 4))
_FORMS = (
    "{n} ({p})",
    "**{n}** ({p}) - text",
    "{n}: {p}",
    "{n} – {p} – text, $20",
    "{n} | {p}",
    "**{n}**\n   - Price: {p}",
)


@given(st.lists(_PRICED, min_size=2), st.sampled_from(_FORMS), st.sampled_from(["1", "-"]))
def test_every_price_stays_with_its_name(items: list[tuple[str, int]], form: str, mark: str) -> None:
    lines = [
        f"{mark if mark == '-' else f'{place}.'} {form.format(n=name, p='$' * level)}"
        for place, (name, level) in enumerate(items, start=1)
    ]
    assert priced("Here you are:\n\n" + "\n".join(lines)) == items


@given(st.text(st.sampled_from("$€|-–:()[]*_#.,\n 12Aprice level"), max_size=80))
def test_any_text_of_marks_is_read(text: str) -> None:
    for one in find_items(text, 4).items:
        assert one.price_level in (None, 1, 2, 3, 4)


def test_what_an_object_leaves_out_is_unknown() -> None:
    text = '[{"name": "Mill", "price": "$$-$$$"}, {"price_level": 3, "name": null}, {"cuisine": "Thai"}]'
    assert found(text) == [("Mill", None, ()), (None, 3, ()), (None, None, ("thai",))]
    assert found('[{"rating": 4}, 3, null, ["x"], {"name": "Mill"}]') == [("Mill", None, ())]


def test_categories_are_split_and_never_at_an_ampersand() -> None:
    split = ("wine & spirits", "bars", "pubs", "tapas bars")
    assert split_categories(" Wine & Spirits, Bars/Pubs ;bars,, Tapas  Bars ") == split
    assert split_categories("") == ()
    # Only text is split: each element of an array is one category.
    listed = found('[{"name": "Mill", "categories": ["Bars / Pubs", 3, null, "Bars / pubs"]}]')
    assert listed == [("Mill", None, ("bars / pubs", "3"))]


def test_items_as_they_are_kept() -> None:
    assert items_text([ONE, Item(n=2.5)]) == (
        '{"items":[{"categories":["thai","bars"],"n":1,"name":"Blue Door","price_level":2},'
        '{"categories":[],"n":2.5,"name":null,"price_level":null}]}'
    )
    assert category_counts_text({"pubs": 3.0, "bars": 0.5}, 20) == (
        '{"categories":[{"category":"bars","n":0.5},{"category":"pubs","n":3}],"n_items":20}'
    )


@pytest.mark.parametrize(
    ("text", "finish_reason", "status", "error"),
    [
        ("[]", None, "malformed", "The list is empty."),
        ('{"restaurants": []}', None, "malformed", "The list is empty."),
        ('{"message": "There are many.", "n": 3}', None, "malformed", "The list is empty."),
        ("There are many restaurants.", None, "malformed", "The answer holds no list."),
        ("", None, "malformed", "The answer is empty."),
        (None, None, "malformed", "The answer is empty."),
        ("I'm sorry, but I can't help with that.", None, "refused", "(rule en-cannot)"),
        ('["A", "B"]', "content_filter", "refused", "(rule filtered)"),
        ('[{"name": "A", "price_level": 2}, {"na', None, "truncated", "The JSON list is not closed."),
        ("1. A", "length", "truncated", "(rule "),
        ('["A", "B"]' + " " * 10_000, None, "malformed", "the limit is 10000"),
    ],
)
def test_replies_without_items(text: str | None, finish_reason: str | None, status: str, error: str) -> None:
    answer = read(text, finish_reason)
    assert (answer.status, answer.answer_text, answer.n_items) == (status, None, None)
    assert error in (answer.error or "")


def test_a_list_that_is_longer_than_asked_is_kept() -> None:
    answer = read('["A", "B", "C"]')
    assert (answer.status, answer.n_items) == ("ok", 3)


def test_a_list_that_is_long_enough_is_no_longer_cut_off() -> None:
    assert read('["A", "B", "C', "length").status == "ok"
    assert read('[{"name": "I\'m sorry, I can\'t help"}, {"name": "B"}]').status == "ok"


def test_nul_in_a_name_is_replaced() -> None:
    kept = read('[{"name": "Mi\\u0000ll", "categories": ["b\\u0000"]}]').answer_text
    assert kept == items_text([Item("Mi�ll", None, ("b�",))])


_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
    lambda name: not set("$€£¥₹＄💲💰") & set(name) and "price" not in name.lower()
)
_CATEGORIES = st.lists(st.sampled_from(["bars", "thai", "wine & spirits", "pubs"]), unique=True)


@given(st.lists(st.tuples(_NAMES, st.none() | st.integers(1, 4), _CATEGORIES), min_size=1))
def test_items_of_json_come_back(items: list[tuple[str, int | None, list[str]]]) -> None:
    keys = ("name", "price_level", "categories")
    text = json.dumps([dict(zip(keys, one, strict=True)) for one in items])
    assert found(text) == [(name, level, tuple(listed)) for name, level, listed in items]


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["name", "price", "categories", "items", "1"]) | st.text(), inner)
    ),
)


@given(_JSON.map(json.dumps) | st.text())
def test_any_reply_is_classified_and_kept_as_json(text: str) -> None:
    answer = read(text)
    if answer.status == "ok":
        items = json.loads(answer.answer_text or "")["items"]
        assert len(items) == answer.n_items
        assert all(one["price_level"] in (None, 1, 2, 3, 4) and one["n"] == 1 for one in items)
    else:
        assert answer.error
