"""Measuring a recommender by the texts that were kept from training: what each text's ranking was, and the files of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from biasledger.measures.recommenders import quality
from biasledger.measures.recommenders.table import Measure, Predictions, measures, value_or_none
from collector.errors import InputError
from collector.files.replacing import write_whole
from lmrec.fairness import Fair, fair_scores, levels_of
from lmrec.masking import Masker
from lmrec.model import Recommender, load
from lmrec.statistics import CatalogueStatistics, catalogue_statistics
from lmrec.yelp import Review, is_held_out, read_reviews

_AT_ONCE = 256


def held_out(reviews_file: Path, recommender: Recommender) -> Iterator[Review]:
    """Yield the texts about the model's venues that were kept from training.

    Raises:
        InputError: as in read_reviews.
    """
    venue_ids = {row.venue.venue_id for row in recommender.catalogue}
    return (one for one in read_reviews(reviews_file, venue_ids) if is_held_out(one.user_id))


def predict(
    recommender: Recommender, reviews: Iterable[Review], *, fair: Fair = False
) -> tuple[list[tuple[str, str, str]], Predictions]:
    """Rank the venues for each text, some texts at once; `fair` ranks the first 20 fairly, see fairness.

    Returns:
        Each text's review_id, user_id and venue_id, and what was made of it, in the same order.

    Raises:
        InputError: there is no text.
    """
    columns = {venue.venue_id: column for column, venue in enumerate(recommender.venues)}
    shares = _shared_categories(recommender)
    popularity = np.array([row.n_train for row in recommender.rows], dtype=np.float64)
    levels = levels_of(recommender.venues, fair)
    keys: list[tuple[str, str, str]] = []
    parts: list[dict[str, quality.Floats]] = []
    named: list[quality.Integers] = []
    waiting = iter(reviews)
    while batch := list(islice(waiting, _AT_ONCE)):
        scores = recommender.scores([one.text for one in batch])
        if fair:
            scores = fair_scores(scores, levels, max(quality.CUTOFFS))
        venues = np.array([columns.get(one.venue_id, quality.UNKNOWN) for one in batch])
        relevant = np.array([shares[one.venue_id] for one in batch])
        keys += [(one.review_id, one.user_id, one.venue_id) for one in batch]
        named.append(scores.argmax(axis=1))
        parts.append(
            {
                "rank": quality.ranks(scores, venues),
                "popularity_rank": quality.ranks(np.broadcast_to(popularity, scores.shape), venues),
                **quality.category_measures(scores, relevant),
            }
        )
    if not parts:
        raise InputError(
            "No text was kept from training: of the users who wrote about the model's venues, none is held out."
        )
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return keys, Predictions(
        city=recommender.card["city"] or "(all)",
        users=[user for _, user, _ in keys],
        venues=np.array([columns.get(venue_id, quality.UNKNOWN) for *_, venue_id in keys]),
        predicted=np.concatenate(named),
        rank=joined.pop("rank"),
        popularity_rank=joined.pop("popularity_rank"),
        by_category=joined,
    )


def evaluate_model(
    model: Path,
    reviews_file: Path,
    folder: Path,
    *,
    seed: int = 0,
    fair: Fair = False,
    hidden: Sequence[str] = (),
) -> list[Measure]:
    """Measure a model by the held-out texts of a file, and write `quality.csv`, `predictions.csv` and `catalogue_statistics.csv`.

    `fair` ranks the first 20 fairly; words that are `hidden` are left out of what is asked, whatever the model
    learned from.

    Raises:
        InputError: the model or the file cannot be read, or no text is held out.
    """
    recommender = load(model)
    masker = recommender.masker
    recommender.masker = Masker(masker.method, masker.names, [*masker.hidden, *hidden], masker.pipeline)
    keys, found = predict(recommender, held_out(reviews_file, recommender), fair=fair)
    rows = measures(found, seed=seed)
    write_measures(folder / "quality.csv", rows)
    _write_rows(
        folder / "catalogue_statistics.csv", CatalogueStatistics, catalogue_statistics(recommender.catalogue)
    )
    write_predictions(folder / "predictions.csv", recommender, keys, found)
    return rows


def write_measures(file: Path, rows: Iterable[Measure]) -> None:
    """Write a table of measures as CSV."""
    _write_rows(file, Measure, rows)


def write_predictions(
    file: Path, recommender: Recommender, keys: Sequence[tuple[str, str, str]], found: Predictions
) -> None:
    """Write what was made of each text as CSV, its ranks and category measures; without the texts themselves.

    `biasledger import-predictions` reads it. A venue that cannot be named has no rank.
    """
    venues = recommender.venues
    columns = {
        "rank": found.rank,
        "popularity_rank": found.popularity_rank,
        **{f"category_{name}": values for name, values in found.by_category.items()},
    }
    header = ["city", "review_id", "user_id", "business_id", "predicted_business_id", *columns]
    rows = (
        [
            found.city,
            *key,
            venues[named].venue_id,
            *(value_or_none(float(values[place])) for values in columns.values()),
        ]
        for place, (key, named) in enumerate(zip(keys, found.predicted, strict=True))
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
    own = {row.venue.venue_id: row.venue.distinct_categories for row in recommender.catalogue}
    of_venues = [own[venue.venue_id] for venue in recommender.venues]
    place_of = {name: place for place, name in enumerate(sorted(set().union(*own.values())))}
    holds = np.zeros((len(of_venues), len(place_of)), dtype=bool)
    for row, names in enumerate(of_venues):
        holds[row, [place_of[name] for name in names]] = True
    return {
        venue_id: np.asarray(holds[:, [place_of[name] for name in names]].any(axis=1))
        for venue_id, names in own.items()
    }
