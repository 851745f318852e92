"""Test measures of a recommender against scikit-learn and cases that can be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score, precision_recall_fscore_support

from biasledger.measures.recommenders.quality import (
    UNKNOWN,
    category_measures,
    class_measures,
    means,
    ranks,
    resampled_weights,
    venue_measures,
)

RANDOM = np.random.default_rng(5)


def test_a_rank_counts_the_higher_and_half_of_the_equal() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 2.0 + 1e-12, 0.0], [1.0, 2.0, 3.0]])
    found = ranks(scores, np.array([1, 0, 0, UNKNOWN]))
    assert found.tolist() == [2.0, 2.0, 1.5, math.inf]


def test_venue_measures_of_ranks() -> None:
    found = venue_measures(np.array([1.0, 4.0, 15.0, math.inf]))
    assert {name: values.tolist() for name, values in found.items()} == {
        "accuracy": [1, 0, 0, 0],
        "hit_rate_at_5": [1, 1, 0, 0],
        "hit_rate_at_10": [1, 1, 0, 0],
        "hit_rate_at_20": [1, 1, 1, 0],
        "mrr": [1, 0.25, 1 / 15, 0],
    }


def test_category_measures_by_hand() -> None:
    scores = -np.arange(6.0)[None, :]
    relevant = np.array([[False, True, False, True, False, False]])
    found = {name: values[0] for name, values in category_measures(scores, relevant).items()}
    assert found == pytest.approx(
        {
            "precision_at_5": 2 / 5,
            "precision_at_10": 2 / 6,
            "precision_at_20": 2 / 6,
            "r_precision": 1 / 2,
            "map": (1 / 2 + 2 / 4) / 2,
            "mrr": 1 / 2,
            "ndcg": (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)),
        }
    )


def test_category_measures_are_scikit_learn_s() -> None:
    scores, relevant = RANDOM.normal(size=(40, 30)), RANDOM.random((40, 30)) < 0.2
    relevant[:, 0] = True
    found = category_measures(scores, relevant)
    for row in range(40):
        one = relevant[row : row + 1], scores[row : row + 1]
        assert found["map"][row] == pytest.approx(label_ranking_average_precision_score(*one))
        assert found["ndcg"][row] == pytest.approx(ndcg_score(*one))


def test_a_text_without_a_relevant_venue_is_left_out() -> None:
    found = category_measures(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[False, False], [True, False]]))
    assert all(math.isnan(values[0]) for values in found.values())
    assert means(found, np.ones(2))["mrr"] == 0.5
    assert math.isnan(means(found, np.array([1.0, 0.0]))["mrr"])


def test_class_measures_are_scikit_learn_s_weighted_ones() -> None:
    own, named = RANDOM.integers(-1, 8, 200), RANDOM.integers(0, 9, 200)
    weights = RANDOM.integers(0, 4, 200).astype(float)
    precision, recall, f1, _ = precision_recall_fscore_support(
        own, named, average="weighted", zero_division=0, sample_weight=weights
    )
    found = class_measures(named, own, weights)
    assert found == pytest.approx({"precision": precision, "recall": recall, "f1": f1})
    assert found["recall"] == pytest.approx(np.average(own == named, weights=weights))


def test_all_texts_of_a_user_are_drawn_together() -> None:
    drawn = list(resampled_weights(["a", "b", "a", "c"], 3))
    assert all(one[0] == one[2] for one in drawn)
    assert {float(one[[0, 1, 3]].sum()) for one in drawn} == {3.0}
    assert [one.tolist() for one in resampled_weights(["a", "b", "a", "c"], 3)] == [
        one.tolist() for one in drawn
    ]
