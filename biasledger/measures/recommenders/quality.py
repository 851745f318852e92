"""Measures of how well a recommender finds the venue of a held-out text, and venues of its categories: Table 3 of the source.

Pure functions on arrays. A text is a row; venues are the columns, counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from biasledger.measures.engine.sums import numbered

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

CUTOFFS = (5, 10, 20)
# Scores that differ by less are one rank.
TOLERANCE = 1e-9
UNKNOWN = -1
N_RESAMPLES = 1_000


def ranks(scores: Floats, venues: Integers) -> Floats:
    """Return the rank of each text's own venue: 1 + the venues with a higher score + half of those with the same.

    Args:
        scores: (texts, venues).
        venues: (texts,) the own venue; UNKNOWN for one that the recommender cannot name.

    Returns:
        (texts,) from 1; infinity for an unknown venue, which is found at no depth and whose reciprocal rank is 0.
    """
    own = np.take_along_axis(scores, np.maximum(venues, 0)[:, None], axis=1)
    higher = (scores > own + TOLERANCE).sum(axis=1)
    same = (np.abs(scores - own) <= TOLERANCE).sum(axis=1) - 1
    return np.where(venues == UNKNOWN, np.inf, 1.0 + higher + same / 2)


def venue_measures(rank: Floats) -> dict[str, Floats]:
    """Return each text's reciprocal rank and hits from the rank of its venue, by measure; their means are the measures."""
    hits = {f"hit_rate_at_{k}": (rank <= k).astype(np.float64) for k in CUTOFFS}
    return {"accuracy": (rank <= 1).astype(np.float64), **hits, "mrr": 1.0 / rank}


def category_measures(scores: Floats, relevant: Flags) -> dict[str, Floats]:
    """Return how well each text's ranking covers the categories of its venue, by measure.

    Args:
        scores: (texts, venues); of venues with one score the first counts as the better.
        relevant: (texts, venues) whether a venue shares a category with the text's own.

    Returns:
        (texts,) precision at 5, 10 and 20 (of a ranking that is shorter, at its end), R-precision, average precision, reciprocal
        rank of the first relevant venue, and nDCG over the whole ranking with a gain of 1, all 0 to 1; NaN for a text without a
        relevant venue.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    hit = np.take_along_axis(relevant, order, axis=1)
    n_relevant = hit.sum(axis=1)
    place = np.arange(1, hit.shape[1] + 1)
    found = hit.cumsum(axis=1)
    rows = np.arange(len(hit))
    discount = 1.0 / np.log2(place + 1)
    ideal = np.append(0.0, discount.cumsum())[n_relevant]
    with np.errstate(invalid="ignore", divide="ignore"):
        measures = {
            **{f"precision_at_{k}": found[:, min(k, len(place)) - 1] / min(k, len(place)) for k in CUTOFFS},
            "r_precision": found[rows, np.maximum(n_relevant, 1) - 1] / n_relevant,
            "map": (hit * found / place).sum(axis=1) / n_relevant,
            "mrr": 1.0 / (hit.argmax(axis=1) + 1),
            "ndcg": (hit * discount).sum(axis=1) / ideal,
        }
    return {name: np.where(n_relevant > 0, values, np.nan) for name, values in measures.items()}


def class_measures(predicted: Integers, venues: Integers, weights: Floats) -> dict[str, float]:
    """Return precision, recall and F1 of the first venue, each the mean over venues, weighted by how many texts are about one.

    A venue that is never predicted has a precision of 0, as in scikit-learn's `average="weighted"`; recall is then the accuracy.

    Args:
        predicted: (texts,) the venue named first.
        venues: (texts,) the own venue; any number that is no venue's for an unknown one.
        weights: (texts,) how often each text counts.
    """
    codes = numbered(np.concatenate([venues, predicted]))
    own, named = codes[: len(venues)], codes[len(venues) :]
    size = int(codes.max()) + 1
    n_own, n_named, n_right = (
        np.bincount(of, weights=counted, minlength=size).astype(np.float64)
        for of, counted in ((own, weights), (named, weights), (own, weights * (own == named)))
    )
    share = n_own / weights.sum()
    return {
        "precision": float(share @ _ratio(n_right, n_named)),
        "recall": float(share @ _ratio(n_right, n_own)),
        "f1": float(share @ _ratio(2 * n_right, n_own + n_named)),
    }


def means(measures: Mapping[str, Floats], weights: Floats) -> dict[str, float]:
    """Return each measure's mean over the texts that have it; NaN where none has."""
    found = {}
    for name, values in measures.items():
        has = ~np.isnan(values)
        total = weights[has].sum()
        found[name] = float(values[has] @ weights[has] / total) if total else float("nan")
    return found


def resampled_weights(users: Sequence[str], seed: int) -> Iterator[Floats]:
    """Yield how often each text counts, (texts,), when users are drawn with replacement, all texts of a user together."""
    user_of = numbered(np.asarray(users, dtype=np.str_))
    n_users = int(user_of.max()) + 1
    random = np.random.default_rng(seed)
    for _ in range(N_RESAMPLES):
        drawn = np.bincount(random.integers(n_users, size=n_users), minlength=n_users)
        yield drawn[user_of].astype(np.float64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
