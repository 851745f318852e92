"""Test fair ranking: every prefix of an answer has the catalogue's shares, with the best of each level first."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import astuple
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lmrec.evaluation import evaluate_model
from lmrec.fairness import fair_order, fair_scores, levels_of
from lmrec.model import Recommender


def test_a_case_by_hand() -> None:
    # Half of the venues are of level 1, and all of these score lower.
    scores = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0])
    assert fair_order(scores, [1, 1, 1, 2, 2, 2], 4).tolist() == [5, 2, 4, 1]
    assert fair_order(scores, [1, 1, 1, 2, 2, 2], 9).tolist() == [5, 2, 4, 1, 3, 0]
    assert fair_order(scores, [None] * 6, 2).tolist() == [5, 4]
    assert fair_scores(scores[None], [1, 1, 1, 2, 2, 2], 2).tolist() == [[1, 2, 10, 7, 8, 11]]


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 2)), min_size=1, max_size=30), st.integers(1, 30))
def test_of_two_levels_every_beginning_has_its_share(rows: list[tuple[float, int]], k: int) -> None:
    scores, levels = np.array([score for score, _ in rows]), [level for _, level in rows]
    order = fair_order(scores, levels, k).tolist()
    assert len(order) == min(k, len(rows)) == len(set(order))
    for level, n in Counter(levels).items():
        for length in range(1, len(order) + 1):
            n_ranked = sum(levels[place] == level for place in order[:length])
            share = n * length / len(levels)
            assert math.floor(share + 1e-9) <= n_ranked <= math.ceil(share - 1e-9)
        own = [scores[place] for place in order if levels[place] == level]
        assert own == sorted(own, reverse=True)


def test_everybody_gets_the_same_prices_and_it_has_a_cost(
    example_files: tuple[Path, Path], model_folder: Path, recommender: Recommender, tmp_path: Path
) -> None:
    def prices(name: str, *, fair: bool) -> float:
        found = recommender.recommend(f"A table for {name}", 20, city="Boston", fair=fair)
        return float(np.mean([one.venue.price_level or 0 for one in found]))

    assert prices("Keisha", fair=False) < prices("Emily", fair=False)
    assert prices("Keisha", fair=True) == prices("Emily", fair=True) == 2.5
    fair = evaluate_model(model_folder, example_files[1], tmp_path, fair=True)
    [mrr] = [one.value for one in fair if astuple(one)[1:5] == ("model", "all", "venue", "mrr")]
    assert mrr is not None
    assert mrr < recommender.card["metrics"]["venue"]["mrr"] - 0.02


def test_everybody_gets_the_same_share_of_some_categories(recommender: Recommender) -> None:
    """Venues of two categories together are named as often as the city has them, in any case of the letters."""
    venues = recommender.venues
    named = sorted({category for venue in venues for category in venue.categories} - {"Restaurants"})[:2]
    levels = levels_of(venues, [name.upper() for name in named])
    expected = [bool(set(named) & set(venue.categories)) for venue in venues]
    assert levels == [int(one) for one in expected]
    assert 0 < sum(levels) < len(levels)
    for name in ("Keisha", "Emily"):
        found = recommender.recommend(f"A table for {name}", 20, city="Boston", fair=named)
        n = sum(bool(set(named) & set(one.venue.categories)) for one in found)
        assert n == round(20 * sum(levels) / len(levels))
