"""Train a recommender from files in Yelp's format, and write its card."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from biasledger.measures.recommenders.quality import means, venue_measures
from collector.errors import InputError
from collector.hashing import hash_of, hash_of_file
from lmrec.augmentation import Swapper
from lmrec.encoders.bert import Bert
from lmrec.encoders.fitting import BertSettings, Text
from lmrec.encoders.tfidf import Tfidf, TfidfSettings
from lmrec.evaluation import held_out, predict
from lmrec.masking import DESCRIPTIONS, Masker, Method
from lmrec.model import CatalogueRow, Recommender, require_free
from lmrec.yelp import is_held_out, is_validation, read_reviews, read_venues, unique_names

MIN_REVIEWS = 100
# The state of an interrupted fit in the model's folder.
CHECKPOINT = "checkpoint"
_PACKAGES = ("numpy", "scikit-learn", "scipy")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The settings of a training.

    Attributes:
        city, category: only the businesses there, and of it; all if None.
        min_reviews: only the businesses with as many texts, held-out ones among them; the source takes 100.
        mask: which names are taken out of the texts (masking.DESCRIPTIONS).
        pipeline: of spaCy, for the mask `entities`.
        hidden: words that are left out of the texts altogether, such as people's names.
        swapped: name -> group: texts with such a name are learned a second time, with one of another group; see augmentation.
        encoder: how it is fitted.
    """

    city: str | None = None
    category: str | None = None
    min_reviews: int = MIN_REVIEWS
    mask: Method = "phrases"
    pipeline: str | None = None
    hidden: tuple[str, ...] = ()
    swapped: Mapping[str, str] = field(default_factory=dict)
    encoder: TfidfSettings | BertSettings = field(default_factory=TfidfSettings)


def train(
    businesses: Path,
    reviews: Path,
    folder: Path,
    settings: TrainSettings,
    *,
    note: Callable[[str], None] = lambda _: None,
) -> Recommender:
    """Train a recommender, measure it by the held-out texts, write it into a folder.

    The reviews are read three times, a line at a time: to count them, to fit, to measure. The same files and settings give the
    same model; an interrupted fit with a checkpoint is continued.

    Args:
        businesses, reviews: as in yelp.read_venues and yelp.read_reviews.
        folder: a new folder for the model.
        settings: as in TrainSettings.
        note: takes a sentence on what is done next.

    Raises:
        InputError: a file is wrong, too little is left to train from, or the folder holds a model.
    """
    require_free(folder)
    note(f"Reading {businesses} and counting {reviews} …")
    listed = read_venues(businesses, city=settings.city, category=settings.category)
    # Also from reviews left out below, because a review of one venue may name another.
    masker = Masker(settings.mask, [venue.name for venue in listed], settings.hidden, settings.pipeline)
    n_reviews: Counter[str] = Counter()
    n_train: Counter[str] = Counter()
    for review in read_reviews(reviews, {venue.venue_id for venue in listed}):
        n_reviews[review.venue_id] += 1
        n_train[review.venue_id] += not is_held_out(review.user_id)
    kept = [venue for venue in listed if n_reviews[venue.venue_id] >= settings.min_reviews]
    catalogue = [
        CatalogueRow(venue, n_reviews[venue.venue_id], n_train[venue.venue_id])
        for venue in unique_names(kept)
    ]
    columns = {
        venue_id: column
        for column, venue_id in enumerate(row.venue.venue_id for row in catalogue if row.n_train)
    }
    if len(columns) < 2:
        raise InputError(
            f"{reviews} leaves {len(columns)} businesses with {settings.min_reviews} reviews or more to train from; a "
            f"recommender needs two (--min-reviews sets how many reviews each has to have)."
        )
    note(f"Fitting {len(columns):,} venues …")
    texts = _texts(reviews, columns, masker, Swapper(settings.swapped, settings.encoder.seed))
    encoder: Tfidf | Bert
    if isinstance(settings.encoder, BertSettings):
        encoder, fit = Bert.fit(texts, settings.encoder, folder / CHECKPOINT, note=note)
    else:
        encoder, fit = Tfidf.fit(texts, settings.encoder)
    packages = ("biasledger", *_PACKAGES, *encoder.PACKAGES)
    card = {
        **_card(businesses, reviews, settings, catalogue),
        "fit": fit,
        "versions": {name: version(name) for name in packages},
    }
    recommender = Recommender(card, catalogue, encoder, masker)
    if any(row.n_reviews > row.n_train for row in catalogue):
        note("Measuring by the held-out texts …")
        recommender.card = {**recommender.card, "metrics": _metrics(recommender, reviews)}
    recommender.save(folder)
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    return recommender


def read_hidden(file: Path) -> tuple[str, ...]:
    """Return the words of the column `name` of a CSV file.

    Raises:
        InputError: there is no such file, column or word.
    """
    if not file.is_file():
        raise InputError(f"{file} does not exist; name a CSV file with the column 'name'.")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        words = [word for row in csv.DictReader(stream) if (word := (row.get("name") or "").strip())]
    if not words:
        raise InputError(f"{file} has no words in a column 'name'.")
    return tuple(dict.fromkeys(words))


def _texts(reviews: Path, columns: dict[str, int], masker: Masker, swapper: Swapper) -> Iterator[Text]:
    for review in read_reviews(reviews, columns):
        if not is_held_out(review.user_id):
            for text in (review.text, swapper(review.text)):
                if text is not None:
                    yield Text(masker(text), columns[review.venue_id], is_validation(review.user_id))


def _card(
    businesses: Path,
    reviews: Path,
    settings: TrainSettings,
    catalogue: Sequence[CatalogueRow],
) -> dict[str, Any]:
    hashes = {"businesses": hash_of_file(businesses), "reviews": hash_of_file(reviews)}
    n_train = sum(row.n_train for row in catalogue)
    return {
        "kind": "lmrec",
        "city": settings.city,
        "data": {**hashes, "hash": hash_of(hashes)},
        "settings": {**asdict(settings), "hidden": len(settings.hidden), "swapped": len(settings.swapped)},
        "masked": DESCRIPTIONS[settings.mask] + (f" ({settings.pipeline})" if settings.pipeline else ""),
        "counts": {
            "venues": len(catalogue),
            "venues_trained": sum(row.n_train > 0 for row in catalogue),
            "texts_trained": n_train,
            "texts_held_out": sum(row.n_reviews for row in catalogue) - n_train,
        },
        "metrics": {},
    }


def _metrics(recommender: Recommender, reviews: Path) -> dict[str, dict[str, float | None]]:
    """Return the means over all held-out texts, without their intervals, which `evaluate` computes."""
    import numpy as np

    keys, found = predict(recommender, held_out(reviews, recommender))
    once = np.ones(len(keys))
    by_venue = venue_measures(found.rank)
    return {
        relevant: {name: None if value != value else value for name, value in means(group, once).items()}
        for relevant, group in (("venue", by_venue), ("category", found.by_category))
    }
