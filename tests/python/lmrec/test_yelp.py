"""Test the reading of businesses and reviews in Yelp's format, and the messages about wrong lines."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InputError
from lmrec.yelp import Venue, is_held_out, read_reviews, read_venues, unique_names
from tests.python.lmrec.conftest import write_lines

BUSINESS: dict[str, Any] = {
    "business_id": "b1",
    "name": "Blue  Door",
    "address": "1 Main St",
    "city": "Boston",
    "stars": 4.5,
    "attributes": {"RestaurantsPriceRange2": "3", "WiFi": "u'free'"},
    "categories": "Restaurants, Wine Bars, Restaurants",
}
REVIEW = {"review_id": "r1", "user_id": "u1", "business_id": "b1", "stars": 5, "text": "Fine."}


def test_a_business_is_read_with_its_price_and_categories(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "b.json", [BUSINESS])
    assert read_venues(file) == [
        Venue("b1", "Blue Door", "Boston", 3, ("Restaurants", "Wine Bars"), "1 Main St")
    ]


@pytest.mark.parametrize(
    ("attributes", "level"),
    [
        (None, None),
        ({}, None),
        ({"RestaurantsPriceRange2": "None"}, None),
        ({"RestaurantsPriceRange2": 2}, 2),
    ],
)
def test_a_price_may_be_missing(tmp_path: Path, attributes: object, level: int | None) -> None:
    (venue,) = read_venues(write_lines(tmp_path / "b.json", [{**BUSINESS, "attributes": attributes}]))
    assert venue.price_level == level


def test_categories_may_be_a_list_or_missing(tmp_path: Path) -> None:
    rows = [
        {**BUSINESS, "categories": ["Thai", " Bars "]},
        {**BUSINESS, "business_id": "b2", "categories": None},
    ]
    assert [one.categories for one in read_venues(write_lines(tmp_path / "b.json", rows))] == [
        ("Thai", "Bars"),
        (),
    ]


def test_a_city_and_a_category_are_chosen_whatever_their_case(tmp_path: Path) -> None:
    rows = [
        BUSINESS,
        {**BUSINESS, "business_id": "b2", "city": "Austin"},
        {**BUSINESS, "business_id": "b3", "categories": "Dentists"},
        {**BUSINESS, "business_id": "b4", "city": None},
    ]
    file = write_lines(tmp_path / "b.json", rows)
    assert [one.venue_id for one in read_venues(file, city="boston", category="wine bars")] == ["b1"]
    with pytest.raises(InputError, match=r"no business in the city 'Bostn'; did you mean 'Boston'\?"):
        read_venues(file, city="Bostn")
    with pytest.raises(InputError, match=r"no business of the category 'Dentist'; did you mean 'Dentists'\?"):
        read_venues(file, category="Dentist")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"business_id": None}, "line 2 has a NoneType as business_id, which should be text"),
        ({"business_id": "b1"}, "line 2 has the business_id 'b1' a second time"),
        ({"name": " "}, "line 2 has the name '', which should have 1 to 200 characters"),
        ({"attributes": "cheap"}, "line 2 has attributes that should be an object or null"),
        ({"attributes": {"RestaurantsPriceRange2": "5"}}, "line 2 has RestaurantsPriceRange2 '5'"),
        ({"categories": [1]}, "line 2 has categories that should be names"),
        ({"city": 3}, "line 2 has a int as city"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    file = write_lines(tmp_path / "b.json", [BUSINESS, {**BUSINESS, "business_id": "b2", **change}])
    with pytest.raises(InputError) as raised:
        read_venues(file)
    assert f"b.json: {sentence}" in str(raised.value)


def test_what_is_no_json_object_is_named_by_its_line(tmp_path: Path) -> None:
    for line in ("[1]", "{", "[" * 100_000, "\x00"):
        (tmp_path / "r.json").write_text(f"\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"r\.json: line 2 is no JSON object"):
            list(read_reviews(tmp_path / "r.json", {"b1"}))


def test_what_is_no_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_venues(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        read_venues(tmp_path)
    (tmp_path / "empty.json").touch()
    with pytest.raises(InputError, match="has no businesses"):
        read_venues(tmp_path / "empty.json")


def test_reviews_are_those_of_the_businesses_and_read_a_line_at_a_time(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [REVIEW, {**REVIEW, "review_id": "r2", "business_id": "b2"}, {"text": "?"}]
    reviews = read_reviews(write_lines(tmp_path / "r.json", rows), {"b1"})
    assert next(reviews).text == "Fine."
    with pytest.raises(InputError, match="line 3 has no business_id, which should be text"):
        next(reviews)


def test_half_a_surrogate_pair_can_be_written_afterwards(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.json", [{**REVIEW, "text": "a\ud800b"}])
    assert next(read_reviews(file, {"b1"})).text == "a?b"


def test_one_user_in_five_is_held_out_by_the_hash_of_the_id() -> None:
    users = [f"user-{number}" for number in range(5_000)]
    held = [one for one in users if is_held_out(one)]
    assert held == [one for one in users if int(hashlib.sha256(one.encode()).hexdigest()[:8], 16) % 5 == 0]
    assert 900 < len(held) < 1_100


def test_names_of_a_chain_are_distinguished_by_address_and_then_by_number() -> None:
    venues = [
        Venue("1", "Café Uno", "Boston", address="1 Main St"),
        Venue("2", "CAFE UNO", "Boston", address="2 Main St"),
        Venue("3", "Cafe Uno", "Austin"),
        Venue("4", "Duo", "Boston"),
        Venue("5", "Duo!", "Boston"),
    ]
    assert [one.name for one in unique_names(venues)] == [
        "Café Uno, 1 Main St",
        "CAFE UNO, 2 Main St",
        "Cafe Uno",
        "Duo (1)",
        "Duo! (2)",
    ]
