"""Measuring a recommender by the texts that were kept from training: what each text's ranking was, and Table 3 of it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collector.errors import InputError
from collector.files.replacing import write_whole
from lmrec import quality
from lmrec.categories import distinct_categories
from lmrec.model import Recommender, load
from lmrec.statistics import CatalogueStatistics, catalogue_statistics
from lmrec.yelp import Review, is_held_out, read_reviews

_AT_ONCE = 256
_LEVEL = 95


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of `quality.csv`.

    Attributes:
        city: the model's city, (all) for one of all cities.
        system: model, or popularity: the venues with the most training texts, whatever is asked.
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
    """What a recommender made of the held-out texts; all arrays are (texts,) in their order.

    Attributes:
        reviews: review_id, user_id and venue_id of each, without its text.
        predicted: the venue that is named first, as a column of the scores.
        venues: the text's own, quality.UNKNOWN where it has no training text.
        by_venue, by_category: the model's measures; `rank` is among the first.
        popular: the measures of popularity, by venue.
    """

    reviews: Sequence[tuple[str, str, str]]
    predicted: npt.NDArray[np.int64]
    venues: npt.NDArray[np.int64]
    by_venue: Mapping[str, quality.Floats]
    by_category: Mapping[str, quality.Floats]
    popular: Mapping[str, quality.Floats]


def held_out(reviews_file: Path, recommender: Recommender) -> Iterator[Review]:
    """Yield the texts about the model's venues that were kept from training.

    Raises:
        InputError: as of read_reviews.
    """
    venue_ids = {row.venue.venue_id for row in recommender.catalogue}
    return (one for one in read_reviews(reviews_file, venue_ids) if is_held_out(one.user_id))


def predict(recommender: Recommender, reviews: Iterable[Review]) -> Predictions:
    """Rank the venues for each text, some texts at once.

    Raises:
        InputError: there is no text.
    """
    columns = {venue.venue_id: column for column, venue in enumerate(recommender.venues)}
    shares = _shared_categories(recommender)
    popularity = np.array([row.n_train for row in recommender.rows], dtype=np.float64)
    parts = []
    waiting = iter(reviews)
    while batch := list(islice(waiting, _AT_ONCE)):
        scores = recommender.scores([one.text for one in batch])
        venues = np.array([columns.get(one.venue_id, quality.UNKNOWN) for one in batch])
        rank = quality.ranks(scores, venues)
        popular = quality.ranks(np.broadcast_to(popularity, scores.shape), venues)
        parts.append(
            Predictions(
                reviews=[(one.review_id, one.user_id, one.venue_id) for one in batch],
                predicted=scores.argmax(axis=1),
                venues=venues,
                by_venue={"rank": rank, **quality.venue_measures(rank)},
                by_category=quality.category_measures(
                    scores, np.array([shares[one.venue_id] for one in batch])
                ),
                popular=quality.venue_measures(popular),
            )
        )
    if not parts:
        raise InputError(
            "No text was kept from training: of the users who wrote about the model's venues, none is held out."
        )
    return _joined(parts)


def measures(recommender: Recommender, found: Predictions, *, seed: int = 0) -> list[Measure]:
    """Return Table 3: each measure with its interval, of all texts and of those whose venue is known."""
    city = recommender.card["city"] or "(all)"
    users = np.array([user for _, user, _ in found.reviews])
    is_seen = found.venues != quality.UNKNOWN
    by_venue = {name: values for name, values in found.by_venue.items() if name != "rank"}
    listed = []
    for texts, chosen in (("all", np.ones(len(users), dtype=bool)), ("seen", is_seen)):
        if not chosen.any():
            continue
        groups = {
            ("model", "venue"): _of(by_venue, chosen),
            ("popularity", "venue"): _of(found.popular, chosen),
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
                Measure(city, system, texts, relevant, measure, _or_none(value), low, high, n_texts)
            )
    return listed


def evaluate_model(model: Path, reviews_file: Path, folder: Path, *, seed: int = 0) -> list[Measure]:
    """Measure a model by the held-out texts of a file, and write `quality.csv`, `predictions.csv` and `catalogue_statistics.csv`.

    Raises:
        InputError: the model or the file cannot be read, or no text is held out.
    """
    recommender = load(model)
    found = predict(recommender, held_out(reviews_file, recommender))
    rows = measures(recommender, found, seed=seed)
    write_measures(folder / "quality.csv", rows)
    _write_rows(
        folder / "catalogue_statistics.csv", CatalogueStatistics, catalogue_statistics(recommender.catalogue)
    )
    write_predictions(folder / "predictions.csv", recommender, found)
    return rows


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


def write_measures(file: Path, rows: Iterable[Measure]) -> None:
    """Write a table of measures as CSV."""
    _write_rows(file, Measure, rows)


def write_predictions(file: Path, recommender: Recommender, found: Predictions) -> None:
    """Write what was made of each text as CSV, its rank and category measures among it; without the texts themselves."""
    venues = recommender.venues
    columns = {
        "rank": found.by_venue["rank"],
        **{f"category_{name}": v for name, v in found.by_category.items()},
    }
    header = ["review_id", "user_id", "business_id", "predicted_business_id", *columns]
    rows = (
        [*review, venues[named].venue_id, *(_or_none(float(values[place])) for values in columns.values())]
        for place, (review, named) in enumerate(zip(found.reviews, found.predicted, strict=True))
    )
    _write(file, header, rows)


def _write_rows(file: Path, kind: type[Measure | CatalogueStatistics], rows: Iterable[Any]) -> None:
    _write(file, [field.name for field in fields(kind)], map(astuple, rows))


def _write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.getvalue().encode("utf-8"))


def _shared_categories(recommender: Recommender) -> dict[str, quality.Flags]:
    """Return business_id -> (venues,) whether each venue that can be recommended shares a category with that business."""
    own = {row.venue.venue_id: distinct_categories(row.venue) for row in recommender.catalogue}
    of_venues = [own[venue.venue_id] for venue in recommender.venues]
    place_of = {name: place for place, name in enumerate(sorted(set().union(*own.values())))}
    holds = np.zeros((len(of_venues), len(place_of)), dtype=bool)
    for row, names in enumerate(of_venues):
        holds[row, [place_of[name] for name in names]] = True
    return {
        venue_id: np.asarray(holds[:, [place_of[name] for name in names]].any(axis=1))
        for venue_id, names in own.items()
    }


def _joined(parts: Sequence[Predictions]) -> Predictions:
    def of(name: str) -> dict[str, quality.Floats]:
        return {
            measure: np.concatenate([getattr(part, name)[measure] for part in parts])
            for measure in getattr(parts[0], name)
        }

    return Predictions(
        reviews=[one for part in parts for one in part.reviews],
        predicted=np.concatenate([part.predicted for part in parts]),
        venues=np.concatenate([part.venues for part in parts]),
        by_venue=of("by_venue"),
        by_category=of("by_category"),
        popular=of("popular"),
    )


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


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
