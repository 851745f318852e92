"""Recommended items in replies: every form they come in, price levels, categories, and replies that hold none."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers import Answer, classify
from collector.item_answers import (
    Item,
    category_counts_text,
    find_items,
    items_text,
    read_price,
    split_categories,
)

ONE = Item("Blue Door", 2, ("thai", "bars"))
TWO = Item("Mill", 1, ("pizza",))
Shown = tuple[str | None, int | None, tuple[str, ...]]


def found(text: str) -> list[Shown]:
    return [(one.name, one.price_level, one.categories) for one in find_items(text, 4).items]


def read(text: str | None, finish_reason: str | None = None, *, k: int = 2) -> Answer:
    return classify(text, "items", 10_000, finish_reason, k=k, levels=4)


@pytest.mark.parametrize(
    ("written", "level"),
    [
        (2, 2),
        (2.0, 2),
        ("2", 2),
        ("2.0", 2),
        ("$$", 2),
        ("$$$$", 4),
        ("€€", 2),
        ("$$ (moderate)", 2),
        ("$$ - moderate", 2),
        ("Price level 3", 3),
        ("price_level: 3", 3),
        ("2/4", 2),
        ("2 out of 4", 2),
        ("**$$**", 2),
        (r"\$\$", 2),
        # A range, an amount, something between two levels, another scale and a word are no level.
        ("$$-$$$", None),
        ("$$ – $$$", None),
        ("1-2", None),
        ("1 to 2", None),
        ("$10-20", None),
        ("$15", None),
        (2.5, None),
        ("2.5", None),
        ("$$+", None),
        ("$€", None),
        ("2 out of 5", None),
        ("moderate", None),
        ("", None),
        (0, None),
        (5, None),
        (-1, None),
        ("$$$$$", None),
        ("1" * 10_000, None),
        (True, None),
        (None, None),
        ([2], None),
    ],
)
def test_price_levels(written: object, level: int | None) -> None:
    assert read_price(written, 4) == level


def test_the_number_of_levels_is_the_audits() -> None:
    assert (read_price("$$$", 3), read_price("$$$$", 3), read_price(5, 5)) == (3, None, 5)
    reply = '[{"name": "Mill", "price": 4}]'
    assert (
        json.loads(classify(reply, "items", 99, levels=3).answer_text or "")["items"][0]["price_level"]
        is None
    )


@pytest.mark.parametrize(
    "text",
    [
        (
            '[{"name": "Blue Door", "price_level": 2, "categories": ["Thai", "Bars"]},'
            ' {"name": "Mill", "price_level": 1, "categories": ["pizza"]}]'
        ),
        (
            'Here you are:\n```json\n{"restaurants": [{"Name": " Blue  Door", "Price Range": "$$ (moderate)", "Cuisine":'
            ' "Thai, Bars"},'
            ' {"name": "Mill", "price-tier": "$", "CUISINES": ["Pizza", "pizza "]},]}\n```\nEnjoy!'
        ),
        (
            '{"city": "Boston", "count": 2, "answer": {"items": [{"business": "Blue Door", "cost": "2", "tags": "Thai/Bars"},'
            ' {"title": "Mill", "price": 1, "type": "Pizza"}]}}'
        ),
        '{"name": "Blue Door", "price": "2", "category": "Thai; Bars"}\n{"name": "Mill", "price": "1", "category": "Pizza"}',
        '{"Blue Door": {"price": "$$", "categories": ["Thai", "Bars"]}, "Mill": {"price": "$", "categories": ["Pizza"]}}',
        (
            '{"1": {"name": "Blue Door", "price": 2, "categories": ["thai", "bars"]},'
            ' "2": {"name": "Mill", "price": 1, "categories": ["pizza"]}}'
        ),
        (
            '{"Thai": [{"name": "Blue Door", "price": 2, "categories": [{"title": "Thai"}, {"title": "Bars"}]}],'
            ' "Italian": [{"restaurant": {"name": "Mill", "price": 1, "categories": ["pizza"]}}]}'
        ),
        (
            '[{"restaurant_name": "Blue Door", "price": "2/4", "categories": ["thai", "bars"]},'
            ' {"Mill": {"price": 1, "categories": ["pizza"]}}]'
        ),
    ],
)
def test_objects_that_describe_items(text: str) -> None:
    assert find_items(text, 4).items == (ONE, TWO)
    assert read(text) == Answer("ok", answer_text=items_text([ONE, TWO]), n_items=2)


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
    assert found("1. Blue Door ($$)\n2. Mill [$]\n3. Bar ($$$$$)") == [
        ("Blue Door", 2, ()),
        ("Mill", 1, ()),
        ("Bar ($$$$$)", None, ()),
    ]
    assert found('{"Blue Door": "$$", "Cafe 21": "$"}') == [("Blue Door", 2, ()), ("Cafe 21", 1, ())]


def test_what_an_object_leaves_out_is_unknown() -> None:
    assert found(
        '[{"name": "Mill", "price": "$$-$$$"}, {"price_level": 3, "name": null}, {"cuisine": "Thai"}]'
    ) == [
        ("Mill", None, ()),
        (None, 3, ()),
        (None, None, ("thai",)),
    ]
    assert found('[{"rating": 4}, 3, null, ["x"], {"name": "Mill"}]') == [("Mill", None, ())]


def test_categories_are_split_and_never_at_an_ampersand() -> None:
    assert split_categories(" Wine & Spirits, Bars/Pubs ;bars,, Tapas  Bars ") == (
        "wine & spirits",
        "bars",
        "pubs",
        "tapas bars",
    )
    assert split_categories("") == ()
    # Only text is split: what stands in an array is one category.
    assert found('[{"name": "Mill", "categories": ["Bars / Pubs", 3, null, "Bars / pubs"]}]') == [
        ("Mill", None, ("bars / pubs", "3"))
    ]


def test_items_as_they_are_kept() -> None:
    assert items_text([ONE, Item(n=2.5)]) == (
        '{"items":[{"categories":["thai","bars"],"n":1,"name":"Blue Door","price_level":2},'
        '{"categories":[],"n":2.5,"name":null,"price_level":null}]}'
    )
    assert category_counts_text({"pubs": 3.0, "bars": 0.5}, 20) == (
        '{"categories":[{"category":"bars","n":0.5},{"category":"pubs","n":3}],"n_items":20}'
    )


def test_more_items_than_asked_for_are_kept() -> None:
    answer = read('["A", "B", "C"]')
    assert (answer.status, answer.n_items) == ("ok", 3)


@pytest.mark.parametrize(
    ("text", "finish_reason", "status", "error"),
    [
        ("[]", None, "malformed", "The list is empty."),
        ('{"restaurants": []}', None, "malformed", "The list is empty."),
        ('{"message": "There are many.", "n": 3}', None, "malformed", "The list is empty."),
        ("There are many restaurants.", None, "malformed", "The answer holds no list."),
        ("", None, "malformed", "The answer is empty."),
        (None, None, "malformed", "The answer is empty."),
        ("I'm sorry, but I can't help with that.", None, "refused", "(rule apology)"),
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


def test_a_list_that_is_long_enough_is_no_longer_cut_off() -> None:
    assert read('["A", "B", "C', "length").status == "ok"
    assert read('[{"name": "I\'m sorry, I can\'t help"}, {"name": "B"}]').status == "ok"


def test_nul_in_a_name_is_replaced() -> None:
    kept = read('[{"name": "Mi\\u0000ll", "categories": ["b\\u0000"]}]').answer_text
    assert kept == items_text([Item("Mi�ll", None, ("b�",))])


_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
    lambda name: "(" not in name
)
_CATEGORIES = st.lists(st.sampled_from(["bars", "thai", "wine & spirits", "pubs"]), unique=True)


@given(st.lists(st.tuples(_NAMES, st.none() | st.integers(1, 4), _CATEGORIES), min_size=1))
def test_items_of_json_come_back(items: list[tuple[str, int | None, list[str]]]) -> None:
    text = json.dumps(
        [{"name": name, "price_level": level, "categories": listed} for name, level, listed in items]
    )
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


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ' * 3_000 + "1" + "}" * 3_000,
        "[" * 3_000 + "]" * 3_000,
        json.dumps([{"name": "price" + " " * 60_000, "price": "price" + " " * 60_000 + "x"}]),
        json.dumps([{"name": "(" * 60_000, "price": "$" * 60_000}]),
        json.dumps([{"name": "($" * 60_000, "categories": "/ " * 60_000}]),
    ],
)
def test_hostile_replies_are_read_quickly(text: str) -> None:
    start = time.perf_counter()
    classify(text, "items", 1_000_000)
    assert time.perf_counter() - start < 2
