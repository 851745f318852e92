"""The training data of a recommender, by city: Tables 2 and 4 of the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lmrec.model import CatalogueRow
from lmrec.yelp import PRICE_LEVELS

_TOP = 5


@dataclass(frozen=True, slots=True)
class CatalogueStatistics:
    """A row of `catalogue_statistics.csv`.

    Attributes:
        city: where the venues are; (all) for all of them, empty where the file names none.
        n_reviews: texts about them, held-out ones among them.
        n_venues: how many there are.
        max_reviews: of the venue with the most.
        n_categories: how many different ones they have.
        max_categories: of the venue with the most; an upper bound is 16 in the source.
        top_categories: the five that most venues have, with semicolons between; without those that nearly all have.
        n_priced: venues with a price level.
        price_1, price_2, price_3, price_4: which share of these has each level, 0 to 1; None without any.
    """

    city: str
    n_reviews: int
    n_venues: int
    max_reviews: int
    n_categories: int
    max_categories: int
    top_categories: str
    n_priced: int
    price_1: float | None
    price_2: float | None
    price_3: float | None
    price_4: float | None


def catalogue_statistics(catalogue: Sequence[CatalogueRow]) -> list[CatalogueStatistics]:
    """Return a row for each city in the order of the alphabet, and before them, of several cities, one for all."""
    by_city: dict[str, list[CatalogueRow]] = {}
    for row in catalogue:
        by_city.setdefault(row.venue.city or "", []).append(row)
    listed = [_of(city, rows) for city, rows in sorted(by_city.items())]
    return listed if len(listed) == 1 else [_of("(all)", catalogue), *listed]


def _of(city: str, rows: Sequence[CatalogueRow]) -> CatalogueStatistics:
    categories = Counter(name for row in rows for name in row.venue.distinct_categories)
    # Ties are broken by the alphabet, so that the same files give the same row.
    top = sorted(categories, key=lambda name: (-categories[name], name))[:_TOP]
    levels = Counter(row.venue.price_level for row in rows)
    n_priced = sum(n for level, n in levels.items() if level is not None)
    shares = [levels[level] / n_priced if n_priced else None for level in range(1, PRICE_LEVELS + 1)]
    return CatalogueStatistics(
        city,
        sum(row.n_reviews for row in rows),
        len(rows),
        max(row.n_reviews for row in rows),
        len({name for row in rows for name in row.venue.categories}),
        max(len(row.venue.categories) for row in rows),
        "; ".join(top),
        n_priced,
        *shares,
    )
