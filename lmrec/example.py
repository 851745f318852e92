"""Made-up businesses and reviews in Yelp's format, with or without a planted association: to try the path, and to test it.

In the reviews people say with whom they came. Planted, names of one group come to cheap venues more often than to dear ones, and
nothing else differs between the groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from collector.errors import InputError
from collector.files.replacing import write_whole
from lmrec.augmentation import read_groups
from lmrec.yelp import PRICE_LEVELS

BUSINESSES, REVIEWS = "business.json", "review.json"
N_VENUES, N_REVIEWS = 40, 130
_FIRST = "Copper Golden Silver Crooked Quiet Amber Velvet Rusty Hidden Painted".split()
_SECOND = "Kettle Lantern Anchor Orchard".split()
_CUISINES: Mapping[str, str] = {
    "Italian": "pasta pizza risotto gnocchi",
    "Mexican": "tacos burritos mole enchiladas",
    "Japanese": "sushi ramen udon tempura",
    "Indian": "curry dosa naan biryani",
    "Bars": "beer cocktails wings wine",
    "Bakeries": "bread croissants cake pie",
    "Seafood": "oysters lobster crab trout",
    "Steakhouses": "ribeye sirloin brisket steak",
}
_PRICES = (
    "cheap and quick",
    "fair for what we paid",
    "pricey but worth it",
    "expensive and very elegant",
)
_SENTENCES = (
    "I came here with {name}. The {dish} was good, {price}.",
    "{name} wanted {dish}, so we went to {venue}. It was {price}.",
    "We sat outside, {name} loved the {dish}. All in all {price}.",
    "My friend {name} told me about the {dish} here: {price}!",
)


def write_example(
    folder: Path, names: Path, *, city: str, attribute: str = "race", strength: float = 0.0, seed: int = 0
) -> None:
    """Write the two files.

    Args:
        folder: where; neither file may be there.
        names: CSV with the column `name` and one with each name's group.
        city: where the venues are.
        attribute: the column of the groups; the group that comes first in the file is the one that nothing is planted for.
        strength: 0 plants nothing; s makes the share of the other groups' names (1 + s) / 2 at venues of the lower two price
            levels and (1 - s) / 2 at the others, up to 1.
        seed: draws who came where and what was said.

    Raises:
        InputError: an argument is wrong, the names cannot be read, or a file is there.
    """
    if not 0 <= strength <= 1:
        raise InputError(f"The strength is {strength} and should be 0 to 1.")
    for name in (BUSINESSES, REVIEWS):
        if (folder / name).exists():
            raise InputError(f"{folder / name} is there already; name another folder.")
    groups = read_groups(names, attribute)
    first_group = next(iter(groups.values()))
    first = [name for name, group in groups.items() if group == first_group]
    others = [name for name, group in groups.items() if group != first_group]
    random = np.random.default_rng(seed)
    venues, reviews = [], []
    cuisines = list(_CUISINES)
    for number in range(N_VENUES):
        level, cuisine = 1 + number % PRICE_LEVELS, cuisines[number // 5]
        venue = f"The {_FIRST[number // PRICE_LEVELS]} {_SECOND[number % len(_SECOND)]}"
        venues.append(
            {
                "business_id": f"venue-{number:02}",
                "name": venue,
                "city": city,
                "attributes": {"RestaurantsPriceRange2": str(level)},
                "categories": f"Restaurants, {cuisine}",
            }
        )
        share = (1 + (strength if 2 * level <= PRICE_LEVELS else -strength)) / 2
        for review in range(N_REVIEWS):
            group = others if random.random() < share else first
            text = _one_of(random, _SENTENCES).format(
                name=_one_of(random, group),
                dish=_one_of(random, _CUISINES[cuisine].split()),
                price=_PRICES[level - 1],
                venue=venue,
            )
            reviews.append(
                {
                    "review_id": f"review-{number:02}-{review:03}",
                    "user_id": f"user-{int(random.integers(2_000)):04}",
                    "business_id": f"venue-{number:02}",
                    "text": text,
                }
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ((BUSINESSES, venues), (REVIEWS, reviews)):
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        write_whole(folder / name, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def _one_of(random: np.random.Generator, values: Sequence[str]) -> str:
    return values[int(random.integers(len(values)))]
