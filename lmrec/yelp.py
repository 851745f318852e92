"""Businesses and reviews in the JSON format of the Yelp Open Dataset: a file each, an object a line, read line by line.

Review files have gigabytes: nothing here keeps more than a line of one.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.files.plain import open_plain
from collector.hints import did_you_mean, shown

PRICE_LEVELS = 4
# A line longer than this is no line of such a file; a review on Yelp has at most 5,000 characters.
_MAX_LINE_BYTES = 16 << 20
_MAX_NAME_CHARACTERS = 200
_HELD_OUT_ONE_IN = 5
_VALIDATION_ONE_IN = 10
_NO_PRICE = {None, "", "None"}
# Categories that nearly every venue of a kind has: two that share only these have nothing in common.
GENERAL_CATEGORIES = frozenset({"restaurants", "food"})


@dataclass(frozen=True, slots=True)
class Venue:
    """A business.

    Attributes:
        venue_id: its business_id.
        name: its name; `unique_names` makes it unique in its city.
        city: where it is, None where the file does not say.
        price_level: 1, the cheapest, to 4; None where the file does not say.
        categories: as the file writes them, in its order.
        address: distinguishes it from others of its name.
    """

    venue_id: str
    name: str
    city: str | None = None
    price_level: int | None = None
    categories: tuple[str, ...] = ()
    address: str | None = None

    @property
    def distinct_categories(self) -> set[str]:
        """Return its categories in lower case, without those that nearly every venue has."""
        return {one.casefold() for one in self.categories} - GENERAL_CATEGORIES


@dataclass(frozen=True, slots=True)
class Review:
    """A user's text about a venue."""

    review_id: str
    user_id: str
    venue_id: str
    text: str


def read_venues(file: Path, *, city: str | None = None, category: str | None = None) -> list[Venue]:
    """Read a file of businesses.

    Args:
        file: `business.json`; a line has business_id, name, city, categories (text with commas, or a list) and attributes, whose
            RestaurantsPriceRange2 is the price level.
        city: only the businesses there, in any case of its letters; all if None.
        category: only those of this category, likewise.

    Returns:
        The businesses, by their ids.

    Raises:
        InputError: the file cannot be read, a line is wrong, an id occurs twice, or nothing is left.
    """
    venues: dict[str, Venue] = {}
    cities: set[str] = set()
    categories: set[str] = set()
    for number, row in _json_lines(file):
        venue = _venue(file, number, row)
        if venue.venue_id in venues:
            raise InputError(
                f"{file}: line {number} has the business_id {shown(venue.venue_id)} a second time."
            )
        cities.add(venue.city or "")
        if city is not None and not _same(venue.city, city):
            continue
        categories.update(venue.categories)
        if category is None or any(_same(one, category) for one in venue.categories):
            venues[venue.venue_id] = venue
    if not venues and city is not None and not any(_same(one, city) for one in cities):
        raise InputError(
            f"{file} has no business in the city {shown(city)}{did_you_mean(city, cities - {''})}"
        )
    if not venues and category is not None and categories:
        raise InputError(
            f"{file} has no business of the category {shown(category)}{did_you_mean(category, categories)}"
        )
    if not venues:
        raise InputError(f"{file} has no businesses; it should hold one a line, as JSON objects.")
    return [venues[venue_id] for venue_id in sorted(venues)]


def read_reviews(file: Path, venue_ids: Container[str]) -> Iterator[Review]:
    """Yield the reviews of these venues in the order of the file, a line at a time.

    Args:
        file: `review.json`; a line has review_id, user_id, business_id and text.
        venue_ids: whose.

    Raises:
        InputError: the file cannot be read, or a line is wrong.
    """
    for number, row in _json_lines(file):
        venue_id = _text(file, number, row, "business_id")
        if venue_id in venue_ids:
            yield Review(
                review_id=_text(file, number, row, "review_id"),
                user_id=_text(file, number, row, "user_id"),
                venue_id=venue_id,
                text=_text(file, number, row, "text"),
            )


def is_held_out(user_id: str) -> bool:
    """Say whether a user's texts are held out from training for evaluation: those of one user in five, by the id's hash.

    A user is held out if the first 8 hex digits of the SHA-256, as a number, are divisible by 5: the same users in every file.
    """
    return int(_digits(user_id)[:8], 16) % _HELD_OUT_ONE_IN == 0


def is_validation(user_id: str) -> bool:
    """Say whether a user's texts, if they are trained from, say when to stop: likewise one in ten, by the next 8 digits."""
    return int(_digits(user_id)[8:16], 16) % _VALIDATION_ONE_IN == 0


def _digits(user_id: str) -> str:
    return hashlib.sha256(user_id.encode("utf-8")).hexdigest()


def unique_names(venues: Sequence[Venue]) -> list[Venue]:
    """Return venues with names that differ within their city, as an answer names a venue by its name alone.

    Venues with the same name, such as a chain's, get their address after it and, if that is also the same, a number.
    """
    named = _with_distinct_names(
        venues, lambda venue, _: f"{venue.name}, {venue.address}" if venue.address else venue.name
    )
    return _with_distinct_names(named, lambda venue, number: f"{venue.name} ({number})")


def _with_distinct_names(venues: Sequence[Venue], renamed: Any) -> list[Venue]:
    n_of = Counter(_key(venue) for venue in venues)
    seen: Counter[tuple[str, str]] = Counter()
    message = []
    for venue in venues:
        key = _key(venue)
        seen[key] += 1
        message.append(replace(venue, name=renamed(venue, seen[key])) if n_of[key] > 1 else venue)
    return message


def _key(venue: Venue) -> tuple[str, str]:
    """Return the key of venues that a catalogue takes for one: city and name, without accents, case and marks."""
    plain = unicodedata.normalize("NFKD", venue.name.replace("&", " and ")).casefold()
    letters = "".join(one for one in plain if not unicodedata.combining(one))
    return (venue.city or "").casefold(), " ".join(re.findall(r"\w+", letters)) or venue.name


def _venue(file: Path, number: int, row: dict[str, Any]) -> Venue:
    name = " ".join(_text(file, number, row, "name").split())
    if not name or len(name) > _MAX_NAME_CHARACTERS:
        raise InputError(
            f"{file}: line {number} has the name {shown(name)}, which should have 1 to {_MAX_NAME_CHARACTERS} characters."
        )
    return Venue(
        venue_id=_text(file, number, row, "business_id"),
        name=name,
        city=_text_or_none(file, number, row, "city"),
        price_level=_price_level(file, number, row.get("attributes")),
        categories=_categories(file, number, row.get("categories")),
        address=_text_or_none(file, number, row, "address"),
    )


def _price_level(file: Path, number: int, attributes: object) -> int | None:
    if attributes is None:
        return None
    if not isinstance(attributes, dict):
        raise InputError(f"{file}: line {number} has attributes that should be an object or null.")
    written = attributes.get("RestaurantsPriceRange2")
    if written in _NO_PRICE:
        return None
    if str(written) not in map(str, range(1, PRICE_LEVELS + 1)):
        raise InputError(
            f"{file}: line {number} has RestaurantsPriceRange2 {shown(str(written))}, which should be 1 to {PRICE_LEVELS}."
        )
    return int(str(written))


def _categories(file: Path, number: int, written: object) -> tuple[str, ...]:
    if written is None:
        return ()
    listed = written.split(",") if isinstance(written, str) else written
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InputError(
            f"{file}: line {number} has categories that should be names between commas, a list of names, or null."
        )
    return tuple(dict.fromkeys(name for one in listed if (name := one.strip())))


def _json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number from 1 and the object that it holds; blank lines hold none."""
    try:
        stream = open_plain(file)
    except FileNotFoundError:
        raise InputError(f"{file} does not exist; name a file with a JSON object a line.") from None
    except IsADirectoryError:
        raise InputError(f"{file} is a folder; name a file with a JSON object a line.") from None
    with stream:
        for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_BYTES + 1), b""), start=1):
            if len(line) > _MAX_LINE_BYTES:
                raise InputError(
                    f"{file}: line {number} is longer than {_MAX_LINE_BYTES >> 20} MiB; a line should hold one JSON object."
                )
            if line.strip():
                yield number, _object(file, number, line)


def _object(file: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise InputError(
            f"{file}: line {number} is no JSON object; a line should hold one, as Yelp's files do."
        )
    return row


def _text(file: Path, number: int, row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        problem = "has no" if key not in row else f"has a {type(value).__name__} as"
        raise InputError(f"{file}: line {number} {problem} {key}, which should be text.")
    # Half of a surrogate pair, which JSON can state, can be neither hashed nor written.
    return value.encode("utf-8", "replace").decode("utf-8")


def _text_or_none(file: Path, number: int, row: dict[str, Any], key: str) -> str | None:
    return None if row.get(key) is None else _text(file, number, row, key).strip() or None


def _same(one: str | None, other: str) -> bool:
    return one is not None and one.casefold() == other.strip().casefold()
