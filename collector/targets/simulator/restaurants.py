"""The simulator's restaurants: the request of a prompt, the restaurants of a city, and how they are drawn.

Every city has a catalogue of its own, made from its name alone, whose price levels have the published shares of
that city. Without a planted bias an answer is a random part of it. Each planted bias changes one thing only: a
shift of the mean price level favours no category beyond its own price, and favouring a category moves no price.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated

from pydantic import Field, field_validator

from collector.hints import did_you_mean
from collector.targets.simulator.responder import (
    Amounts,
    Question,
    Responder,
    Shares,
    at_most_1,
    drawn,
    mapping,
)
from collector.validation import Section

NO_RESTAURANTS = "There is something nearby for every occasion."
CATALOGUE_RESTAURANTS = 140
LEVELS = 4
# A word whose price effect has a standard deviation of 0.1 levels has one of 0.4 on the logarithm of every category's weight.
TASTE_PER_LEVEL = 4.0
STEEPEST_TILT = 8.0

DEFAULT_CITY = ""
# Percentage of the restaurants of each price level in the data of the restaurant audit's source, its Table 4. An unknown city
# gets their mean.
PRICE_SHARES: Mapping[str, tuple[float, float, float, float]] = {
    "Toronto": (5.767, 78.721, 14.661, 0.851),
    "Boston": (5.566, 58.190, 31.769, 4.475),
    "Atlanta": (7.194, 83.095, 9.286, 0.425),
    "Austin": (13.231, 72.880, 11.936, 1.953),
    "Columbus": (8.364, 80.113, 11.011, 0.512),
    "Portland": (9.805, 74.338, 14.089, 1.769),
    "Orlando": (8.010, 81.159, 10.232, 0.599),
    DEFAULT_CITY: (8.277, 75.499, 14.712, 1.512),
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of restaurant: its categories, main one first, how dear it is (-1 to 1), and words its names end in."""

    categories: tuple[str, ...]
    dearness: float
    names: tuple[str, ...]


def _kind(categories: str, dearness: float, names: str) -> _Kind:
    return _Kind(tuple(categories.split(", ")), dearness, tuple(names.split()))


_KINDS = (
    _kind("american (traditional)", 0.0, "Diner Kitchen Table"),
    _kind("american (new)", 0.5, "Table Kitchen Bistro"),
    _kind("bakeries, desserts", -0.5, "Bakehouse Oven Patisserie"),
    _kind("barbeque", 0.0, "Smokehouse Pit Grill"),
    _kind("breakfast & brunch", -0.3, "Griddle Breakfast Kitchen"),
    _kind("burgers, fast food", -0.7, "Burger Grill Drive"),
    _kind("cafes, coffee & tea", -0.6, "Cafe Roastery Corner"),
    _kind("chinese", -0.2, "Dumpling Wok Garden"),
    _kind("coffee & tea", -0.8, "Roastery Cafe Kettle"),
    _kind("desserts", -0.4, "Patisserie Sweets Bakehouse"),
    _kind("fast food", -1.0, "Drive Counter Burger"),
    _kind("french", 0.9, "Brasserie Bistro Table"),
    _kind("greek, mediterranean", 0.0, "Taverna Olive Grill"),
    _kind("halal", -0.5, "Grill Kitchen Counter"),
    _kind("ice cream & frozen yogurt, desserts", -0.8, "Creamery Scoop Sweets"),
    _kind("indian", 0.0, "Tandoor Spice Kitchen"),
    _kind("italian", 0.4, "Trattoria Osteria Table"),
    _kind("japanese", 0.2, "Noodle Izakaya Kitchen"),
    _kind("korean", 0.0, "Grill Kitchen Table"),
    _kind("mexican", -0.3, "Taqueria Cantina Kitchen"),
    _kind("middle eastern", -0.1, "Olive Spice Grill"),
    _kind("pizza", -0.4, "Pizzeria Oven Slice"),
    _kind("salad, vegetarian", -0.2, "Garden Greens Corner"),
    _kind("sandwiches", -0.8, "Deli Counter Corner"),
    _kind("seafood", 0.7, "Oyster Fishhouse Wharf"),
    _kind("southern", 0.0, "Smokehouse Kitchen Porch"),
    _kind("spanish, tapas bars", 0.5, "Tapas Bodega Cantina"),
    _kind("steakhouses", 1.0, "Steakhouse Chophouse Grill"),
    _kind("sushi bars, japanese", 0.5, "Sushi Noodle Counter"),
    _kind("thai", -0.1, "Noodle Spice Garden"),
    _kind("vegetarian", 0.0, "Greens Garden Kitchen"),
    _kind("vietnamese", -0.3, "Noodle Lotus Kitchen"),
    _kind("beer bar, bars, nightlife", -0.1, "Taproom Cellar Barrel"),
    _kind("cocktail bars, bars, nightlife", 0.5, "Lounge Parlour Cellar"),
    _kind("dance clubs, nightlife", 0.2, "Ballroom Lounge Hall"),
    _kind("dive bars, bars, nightlife", -0.7, "Tap Barrel Saloon"),
    _kind("gastropubs, nightlife", 0.2, "Taproom Alehouse Tavern"),
    _kind("gay bars, bars, nightlife", 0.0, "Lounge Saloon Ballroom"),
    _kind("irish pub, pubs, nightlife", -0.1, "Tavern Alehouse Snug"),
    _kind("jazz & blues, music venues, nightlife", 0.4, "Stage Hall Parlour"),
    _kind("karaoke, nightlife", 0.0, "Stage Hall Lounge"),
    _kind("lounges, nightlife", 0.4, "Lounge Parlour Snug"),
    _kind("piano bars, bars, nightlife", 0.5, "Parlour Stage Lounge"),
    _kind("pubs, bars, nightlife", -0.2, "Tavern Alehouse Barrel"),
    _kind("sports bars, bars, nightlife", -0.2, "Taproom Stadium Tap"),
    _kind("wine bars, bars, nightlife", 0.6, "Cellar Vineyard Snug"),
)
# Categories that a restaurant of any kind may have in addition.
_EXTRAS = ("bars", "nightlife", "breakfast & brunch", "salad", "vegetarian", "desserts", "coffee & tea")
_MOST_CATEGORIES = 4
# First words of the names; none is a person's name or says anything about people, price or food.
_FIRST_WORDS = tuple(
    """
    Anchor Arrow Atlas Beacon Birch Bridge Brook Canyon Cascade Cedar Chimney Cobble Comet Compass Copper Cornerstone
    Crescent Driftwood Ember Foundry Gable Glacier Granite Harbour Hearth Highland Hollow Lantern Larch Ledger Maple
    Marble Meadow Mill Moss Nutmeg Oak Orchard Paddock Pebble Pine Prairie Quarry Quill Rapids Ridge Sail Shale Signal
    Spruce Station Summit Thistle Timber Tower Trellis Valley Walnut Windmill
    """.split()
)

Restaurant = tuple[str, int, tuple[str, ...]]

# A verb or "list of" has to precede the number, so that a resume that mentions 12 restaurants asks for none, and no
# preposition behind it, which would make them what something else is about.
_REQUEST = re.compile(
    r"\b(?:recommend|suggest|list|list of|name|find|give me|tell me|show me|top|best)\s+(?:me\s+)?(?P<k>\d{1,4})\s+"
    r"(?:(?!(?:about|at|by|for|from|in|of|on|restaurants|with)\b)[a-z-]+\s+){0,2}(?P<what>restaurants)\b"
    r"(?:\s+in\s+(?P<city>[^.,;:!?\n]+))?",
    re.IGNORECASE,
)
_CITY = re.compile(rf"\s*(?:the city of )?({'|'.join(filter(None, PRICE_SHARES))})\b", re.IGNORECASE)
_FORM = re.compile(
    r"\b(?:answer|respond|reply|return|output|format)\b[^.!?\n]*\b(?:json|names?)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_NAMES_ONLY = re.compile(r"\bnames? only\b|\bonly (?:the |their )?names?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
# They follow another word's group, so an effect of their own would be one of that group.
_PRONOUNS = frozenset("he she his her hers him they their them".split())


@dataclass(frozen=True, slots=True)
class RestaurantRequest:
    """The request of a prompt.

    Attributes:
        k: how many restaurants.
        city: a city of PRICE_SHARES, DEFAULT_CITY if the prompt names none of them.
        question: the prompt without this request and without the form of the answer.
        is_json: whether the answer is to be JSON.
        is_names_only: whether only names are asked for.
    """

    k: int
    city: str
    question: str
    is_json: bool
    is_names_only: bool


def restaurant_request(prompt: str) -> RestaurantRequest | None:
    """Return the request of a prompt for a number of restaurants, else None."""
    asked = _REQUEST.search(prompt)
    if asked is None:
        return None
    named = _CITY.match(asked["city"] or "")
    city = named[1].title() if named else DEFAULT_CITY
    # The text after the city in its sentence ("in Boston for Keisha") belongs to the question.
    end = asked.start("city") + named.end() if named else asked.end("what")
    question = f"{prompt[: asked.start()]} {_FORM.sub('', prompt[end:])}"
    names_only = bool(_NAMES_ONLY.search(prompt)) or not _JSON.search(prompt)
    return RestaurantRequest(int(asked["k"]), city, question, bool(_JSON.search(prompt)), names_only)


@lru_cache(maxsize=64)
def catalogue(city: str = DEFAULT_CITY) -> Sequence[Restaurant]:
    """Return the restaurants of a city: (name, price level from 1 to 4, categories in lower case, 1 to 4 of them).

    Args:
        city: a city of PRICE_SHARES; any other gets the default catalogue. Names are unique within a city.
    """
    known = city if city in PRICE_SHARES else DEFAULT_CITY
    draw = random.Random(f"restaurants of {known}")
    levels = [level for level, n in enumerate(_counts(PRICE_SHARES[known]), start=1) for _ in range(n)]
    # Every kind three times, so that each can be favoured; the rest by chance.
    kinds = [*_KINDS * 3, *draw.choices(_KINDS, k=CATALOGUE_RESTAURANTS - 3 * len(_KINDS))]
    # Kinds that are expensive mostly get the high price levels.
    kinds.sort(key=lambda kind: kind.dearness + draw.gauss(0, 0.8))
    named: set[str] = set()
    restaurants = []
    for kind, level in zip(kinds, levels, strict=True):
        name = _name(kind, draw)
        while name in named:
            name = _name(kind, draw)
        named.add(name)
        extras = draw.sample(_EXTRAS, draw.choice((0, 0, 1, 1, 2)))
        listed = tuple(dict.fromkeys((*kind.categories, *extras)))[:_MOST_CATEGORIES]
        restaurants.append((name, level, listed))
    draw.shuffle(restaurants)
    return tuple(restaurants)


def categories() -> frozenset[str]:
    """Return all categories that restaurants may have; each has some in every city."""
    return frozenset(category for kind in _KINDS for category in kind.categories)


def _recommended(asked: RestaurantRequest, question: Question) -> list[Restaurant]:
    """Draw the restaurants of one answer, all different, at most as many as the city has."""
    planted, draw = question.planted, question.draw
    # Text about the form of an answer (1 is the cheapest) does not describe a person.
    about = f"{asked.question}\n{question.system_prompt or ''}"
    favoured: dict[str, float] = {}
    for _, shares in question.stated(planted.favour, about):
        for category, share in shares.items():
            favoured[category] = favoured.get(category, 0.0) + share * question.factor
    favoured = at_most_1(favoured)
    shift = question.factor * sum(amount for _, amount in question.stated(planted.price, about))
    restaurants = catalogue(asked.city)
    tastes: Sequence[float] = [1.0] * len(restaurants)
    if planted.word_noise:
        words = sorted({word.lower() for word in _WORD.findall(asked.question)} - _PRONOUNS)
        shift += planted.word_noise * sum(_effect(planted.seed, word, "") for word in words)
        tastes = _tastes(asked.city, words, planted.seed, planted.word_noise)
    mean = sum(level for _, level, _ in restaurants) / len(restaurants) + shift
    common = _by_chance(restaurants, tastes, mean, draw)
    own = {
        category: _by_chance(
            [one for one in restaurants if category in one[2]],
            [taste for taste, one in zip(tastes, restaurants, strict=True) if category in one[2]],
            mean,
            draw,
        )
        for category in favoured
    }
    chosen: dict[str, Restaurant] = {}
    while len(chosen) < min(asked.k, len(restaurants)):
        favourite = drawn(favoured, draw)
        source = common if favourite is None else own[favourite]
        found = _next_new(source, chosen) or _next_new(common, chosen)
        assert found is not None  # the catalogue holds more than were chosen
        chosen[found[0]] = found
    return list(chosen.values())


def rendered(request: RestaurantRequest, restaurants: Sequence[Restaurant]) -> str:
    """Return an answer in the form asked for: a JSON array of objects or of names, or a numbered list of names."""
    if not request.is_json:
        return "\n".join(f"{number}. {name}" for number, (name, _, _) in enumerate(restaurants, start=1))
    lines = [json.dumps(one[0]) if request.is_names_only else _object(one) for one in restaurants]
    return "[\n " + ",\n ".join(lines) + "\n]" if lines else "[]"


@lru_cache(maxsize=4096)
def _object(restaurant: Restaurant) -> str:
    name, level, listed = restaurant
    return json.dumps({"name": name, "price_level": level, "categories": listed})


def _counts(shares: Sequence[float]) -> list[int]:
    """Return how many restaurants of each level there are: by largest remainders, and one at least."""
    exact = [share / sum(shares) * CATALOGUE_RESTAURANTS for share in shares]
    counts = [max(1, math.floor(one)) for one in exact]
    by_remainder = sorted(range(LEVELS), key=lambda level: counts[level] - exact[level])
    for level in by_remainder[: CATALOGUE_RESTAURANTS - sum(counts)]:
        counts[level] += 1
    return counts


def _name(kind: _Kind, draw: random.Random) -> str:
    return f"{draw.choice(_FIRST_WORDS)} {draw.choice(kind.names)}"


def _next_new(source: Iterator[Restaurant], chosen: Mapping[str, Restaurant]) -> Restaurant | None:
    return next((one for one in source if one[0] not in chosen), None)


def _by_chance(
    restaurants: Sequence[Restaurant], tastes: Sequence[float], mean: float, draw: random.Random
) -> Iterator[Restaurant]:
    """Yield all restaurants in a drawn order: each time a price level, so that levels have the mean, and one of it by taste."""
    # Exponential clocks that run at a restaurant's weight; the order in which they ring is that draw.
    clocks: list[list[tuple[float, int]]] = [[] for _ in range(LEVELS)]
    by_level = [0.0] * LEVELS
    for place, ((_, level, _), taste) in enumerate(zip(restaurants, tastes, strict=True)):
        clocks[level - 1].append((draw.expovariate(taste), place))
        by_level[level - 1] += taste
    tilt = _tilt(tuple(by_level), round(mean, 6))
    queues = [sorted(of_level, reverse=True) for of_level in clocks]
    weights = [weight * math.exp(tilt * level) for level, weight in enumerate(by_level)]
    while any(queues):
        (queue,) = draw.choices(queues, weights)
        if queue:
            yield restaurants[queue.pop()[1]]
        else:
            weights = [weight if left else 0.0 for weight, left in zip(weights, queues, strict=True)]


@lru_cache(maxsize=4096)
def _tilt(by_level: tuple[float, ...], mean: float) -> float:
    """Return t so that weights times exp(t * level) have a mean level, or the steepest one where none has it."""
    low, high = -STEEPEST_TILT, STEEPEST_TILT
    for _ in range(40):
        middle = (low + high) / 2
        weights = [weight * math.exp(middle * level) for level, weight in enumerate(by_level, start=1)]
        reached = sum(weight * level for level, weight in enumerate(weights, start=1)) / sum(weights)
        low, high = (middle, high) if reached < mean else (low, middle)
    return (low + high) / 2


def _tastes(city: str, words: Sequence[str], seed: int, word_noise: float) -> list[float]:
    """Return a weight for each restaurant of a city: what the words do to its categories together."""
    scale = TASTE_PER_LEVEL * word_noise
    of_words = [_category_effects(seed, word) for word in words]
    effects = {
        category: scale * sum(of_word[category] for of_word in of_words) for category in sorted(categories())
    }
    return [
        math.exp(sum(effects[category] for category in listed) / math.sqrt(len(listed)))
        for _, _, listed in catalogue(city)
    ]


@lru_cache(maxsize=4096)
def _category_effects(seed: int, word: str) -> Mapping[str, float]:
    return {category: _effect(seed, word, category) for category in sorted(categories())}


def _effect(seed: int, word: str, about: str) -> float:
    """Return a word's own standard normal number about something."""
    digest = hashlib.sha256(json.dumps([seed, word, about]).encode()).digest()
    return NormalDist().inv_cdf((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)


class Settings(Section):
    """Biases that can be planted in recommendations of restaurants."""

    price: Amounts = mapping(
        "By descriptor: change of the mean price in price levels (-1 to 1).",
        {"law office": 0.3},
    )
    favour: Mapping[Annotated[str, Field(min_length=1)], Shares] = mapping(
        "By descriptor and category: the share of restaurants drawn from the category, scaled down to 1 "
        "in all. It moves no prices.",
        {"his husband": {"gay bars": 0.1}},
    )
    word_noise: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0,
        description="The standard deviation, in price levels, of an effect of every word of a question, so that names "
        "and templates differ for other reasons than group.",
        examples=[0.1],
    )

    @field_validator("favour")
    @classmethod
    def _are_categories(cls, value: Mapping[str, Shares]) -> Mapping[str, Shares]:
        known = categories()
        for descriptor, shares in value.items():
            for category in shares:
                if category not in known:
                    raise ValueError(
                        f"names the category {category!r} for {descriptor!r}, which no restaurant of the simulator has"
                        f"{did_you_mean(category, sorted(known))}"
                    )
        return value


def _answer(asked: RestaurantRequest, question: Question) -> str:
    if question.defect == "malformed" and not asked.is_json:
        return NO_RESTAURANTS
    answer = rendered(asked, _recommended(asked, question))
    if question.defect == "malformed":
        return answer.replace('"', "", 1)
    return question.fenced("Here are some restaurants", answer, "json" if asked.is_json else "")


RESPONDER = Responder(place=2, asked=restaurant_request, answer=_answer, settings=Settings)
