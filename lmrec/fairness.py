"""Fair ranking of an answer: every beginning of it has each price level, or some categories, about as often as the catalogue.

A mitigation that section 5 of the source names. The rule is DetGreedy of Geyik, Ambler & Kenthapadi (2019, KDD, algorithm 1), and
the catalogue's shares are what is desired. At place k, a level that has been recommended less than floor(share · k) times comes
first, or else any that has been less than ceil(share · k) times; among these the venue with the highest score.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from biasledger.measures.recommenders.quality import Floats, Integers
from lmrec.yelp import Venue

# True for price levels, or the names of categories that are compared with all others together.
Fair: TypeAlias = bool | Sequence[str]
_ROUNDING = 1e-9


def levels_of(venues: Sequence[Venue], fair: Fair) -> list[int | None]:
    """Return what is ranked fairly: each venue's price level, or 1 for one of these categories and 0 for the others."""
    if isinstance(fair, bool):
        return [venue.price_level for venue in venues]
    names = {name.casefold() for name in fair}
    return [int(not names.isdisjoint(map(str.casefold, venue.categories))) for venue in venues]


def fair_order(scores: Floats, levels: Sequence[int | None], k: int) -> Integers:
    """Return the places of the k venues that are recommended, in their order; fewer where there are no more.

    Args:
        scores: (venues,); of venues with one score the first counts as the better.
        levels: of each venue, as in levels_of; venues without a level form one of their own.
        k: how many.
    """
    shares = {level: n / len(levels) for level, n in Counter(levels).items()}
    waiting: dict[int | None, deque[int]] = defaultdict(deque)
    for place in np.argsort(-scores, kind="stable"):
        waiting[levels[place]].append(int(place))
    n_ranked: Counter[int | None] = Counter()
    order: list[int] = []
    while waiting and len(order) < k:
        length = len(order) + 1
        behind = [one for one in waiting if n_ranked[one] < math.floor(shares[one] * length + _ROUNDING)]
        open_ = [one for one in waiting if n_ranked[one] < math.ceil(shares[one] * length - _ROUNDING)]
        # Where a level has no venue left, the others fill its places.
        level = max(behind or open_ or waiting, key=lambda one: (scores[waiting[one][0]], -waiting[one][0]))
        order.append(waiting[level].popleft())
        n_ranked[level] += 1
        if not waiting[level]:
            del waiting[level]
    return np.array(order, dtype=np.int64)


def fair_scores(scores: Floats, levels: Sequence[int | None], k: int) -> Floats:
    """Return scores whose k highest are those of `fair_order`, in its order; the others stay as they are.

    Args:
        scores: (texts, venues).
        levels, k: as in fair_order.
    """
    ranked = scores.copy()
    for row in ranked:
        order = fair_order(row, levels, k)
        row[order] = row.max() + np.arange(len(order), 0, -1)
    return ranked
