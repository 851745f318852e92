"""Table 3 of a recommender from its predictions for held-out texts: each measure with its interval, and the mean over cities.

Pure functions on arrays, for `biasledger lmrec evaluate` and for the warehouse, whose numbers are therefore the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biasledger.measures.recommenders import quality

_LEVEL = 95


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of `quality.csv` and of `fct_recommender_quality`.

    Attributes:
        city: the model's city, (all) for one of all cities.
        system: model, or popularity: always the venues with the most training texts.
        texts: all held-out texts, or seen: those whose venue has training texts.
        relevant: venue, where only the text's own venue is right; category, where every venue is that shares a category with it.
        measure: its name.
        value: 0 to 1; None where no text has it.
        low, high: the ends of its 95 % interval, from 1,000 draws of users with replacement.
        n_texts: the texts that have it.
    """

    city: str
    system: str
    texts: str
    relevant: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    n_texts: int


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of a recommender for the held-out texts of a city; all arrays are (texts,) in one order.

    Attributes:
        city: where its venues are; (all) for one of all cities.
        users: who wrote each text.
        venues: the venue of each text, as a number; quality.UNKNOWN if the recommender cannot name it.
        predicted: the venue that is named first, in the same numbers.
        rank: of the text's own venue; infinity if it cannot be named.
        popularity_rank: likewise, of an order by the number of training texts.
        by_category: the category measures of each text.
    """

    city: str
    users: Sequence[str]
    venues: quality.Integers
    predicted: quality.Integers
    rank: quality.Floats
    popularity_rank: quality.Floats
    by_category: Mapping[str, quality.Floats]


def measures(found: Predictions, *, seed: int = 0) -> list[Measure]:
    """Return Table 3: each measure with its interval, of all texts and of those whose venue is known."""
    users = np.asarray(found.users, dtype=np.str_)
    is_seen = found.venues != quality.UNKNOWN
    by_venue, popular = quality.venue_measures(found.rank), quality.venue_measures(found.popularity_rank)
    listed = []
    for texts, chosen in (("all", np.ones(len(users), dtype=bool)), ("seen", is_seen)):
        if not chosen.any():
            continue
        groups = {
            ("model", "venue"): _of(by_venue, chosen),
            ("popularity", "venue"): _of(popular, chosen),
            ("model", "category"): _of(found.by_category, chosen),
        }
        classes = found.predicted[chosen], found.venues[chosen]
        once = np.ones(int(chosen.sum()))
        values = _values(groups, classes, once)
        drawn = [
            _values(groups, classes, weights)
            for weights in quality.resampled_weights(users[chosen].tolist(), seed)
        ]
        for (system, relevant, measure), value in values.items():
            low, high = _interval([one[system, relevant, measure] for one in drawn])
            has = groups[system, relevant].get(measure)
            n_texts = len(once) if has is None else int((~np.isnan(has)).sum())
            listed.append(
                Measure(
                    found.city, system, texts, relevant, measure, value_or_none(value), low, high, n_texts
                )
            )
    return listed


def averaged(rows: Sequence[Measure]) -> list[Measure]:
    """Return the mean over cities, as the last row of Table 3, with the interval of a mean of so many cities (Student's t)."""
    from scipy.stats import t

    by_measure: dict[tuple[str, str, str, str], list[Measure]] = {}
    for row in rows:
        by_measure.setdefault((row.system, row.texts, row.relevant, row.measure), []).append(row)
    listed = []
    for key, several in by_measure.items():
        values = np.array([row.value for row in several if row.value is not None])
        mean = float(values.mean()) if len(values) else None
        half = math.nan
        if len(values) > 1:
            half = float(
                t.ppf(0.5 + _LEVEL / 200, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
            )
        low, high = (None, None) if mean is None or math.isnan(half) else (mean - half, mean + half)
        listed.append(Measure("(mean)", *key, mean, low, high, sum(row.n_texts for row in several)))
    return listed


def value_or_none(value: float) -> float | None:
    """Return a number, None if it is NaN or infinite."""
    return value if math.isfinite(value) else None


def _of(found: Mapping[str, quality.Floats], chosen: quality.Flags) -> dict[str, quality.Floats]:
    return {name: values[chosen] for name, values in found.items()}


def _values(
    groups: Mapping[tuple[str, str], Mapping[str, quality.Floats]],
    classes: tuple[quality.Integers, quality.Integers],
    weights: quality.Floats,
) -> dict[tuple[str, str, str], float]:
    found = {
        ("model", "venue", name): value for name, value in quality.class_measures(*classes, weights).items()
    }
    for (system, relevant), group in groups.items():
        found |= {(system, relevant, name): value for name, value in quality.means(group, weights).items()}
    return found


def _interval(drawn: Sequence[float]) -> tuple[float | None, float | None]:
    values = np.array([one for one in drawn if not math.isnan(one)])
    if not len(values):
        return None, None
    low, high = np.percentile(values, [50 - _LEVEL / 2, 50 + _LEVEL / 2])
    return float(low), float(high)
