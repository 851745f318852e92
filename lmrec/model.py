"""A trained recommender: its folder, and its recommendations.

The folder holds `model.json`, the model card, written last; `catalogue.jsonl`, the venues, as `biasledger import-items` reads
them; `names.json`, the masked names; and the encoder's arrays. No file holds code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from collector.errors import InputError
from collector.files.plain import read_plain
from collector.files.replacing import write_whole
from collector.hashing import hash_of_file
from collector.hints import did_you_mean, quoted, shown
from lmrec.encoders.bert import Bert
from lmrec.encoders.tfidf import Scores, Tfidf
from lmrec.fairness import Fair, fair_order, levels_of
from lmrec.masking import DESCRIPTIONS, Masker
from lmrec.yelp import Venue

CARD = "model.json"
CATALOGUE = "catalogue.jsonl"
NAMES = "names.json"
ENCODERS: Mapping[str, type[Tfidf] | type[Bert]] = {encoder.KIND: encoder for encoder in (Tfidf, Bert)}
FORMAT = 1
_MAX_BYTES = 1 << 30


class Encoder(Protocol):
    """From texts to a score for each venue."""

    KIND: str

    def scores(self, texts: Sequence[str]) -> Scores:
        """Return (texts, venues): the logarithm of each venue's odds, up to a constant of the text."""
        ...

    def save(self, folder: Path) -> list[str]:
        """Write it into a folder, as data that hold no code; return the files' names, seen from the folder."""
        ...


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A venue, with the texts about it, and those of them that were trained from; without one it is never recommended."""

    venue: Venue
    n_reviews: int
    n_train: int


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A venue and its probability under the model, among all its venues."""

    venue: Venue
    probability: float


class Recommender:
    """A trained recommender.

    Args:
        card: its data and its accuracy; see `training.train`.
        catalogue: its venues.
        encoder: scores the venues that have training texts, in their order.
        masker: takes names out of a text.
    """

    def __init__(
        self, card: Mapping[str, Any], catalogue: Sequence[CatalogueRow], encoder: Encoder, masker: Masker
    ) -> None:
        self.card = card
        self.catalogue = tuple(catalogue)
        self.encoder = encoder
        self.masker = masker
        self.rows = tuple(row for row in self.catalogue if row.n_train)

    @property
    def venues(self) -> Sequence[Venue]:
        """The venues that it can recommend, in the order of the scores."""
        return [row.venue for row in self.rows]

    @cached_property
    def cities(self) -> Mapping[str, str]:
        """Its venues' cities in lower case -> as they are written."""
        return {row.venue.city.casefold(): row.venue.city for row in self.rows if row.venue.city}

    def scores(self, texts: Sequence[str]) -> Scores:
        """Return (texts, venues) scores, after masking."""
        return self.encoder.scores([self.masker(text) for text in texts])

    def recommend(
        self, question: str, k: int, *, city: str | None = None, fair: Fair = False
    ) -> list[Recommendation]:
        """Return the k venues that a question is most likely about, the likeliest first; of equal ones the first by id.

        Args:
            question: a person's wish.
            k: how many; fewer where there are no more.
            city: only venues there.
            fair: price levels or categories as often as the venues that may be recommended have them; see fairness.

        Raises:
            InputError: no venue is in the city.
        """
        if city is not None and city.casefold() not in self.cities:
            raise InputError(
                f"The model has no venue in {shown(city)}{did_you_mean(city, list(self.cities.values()))}"
            )
        (scores,) = self.scores([question])
        odds = np.exp(scores - scores.max())
        probabilities = odds / odds.sum()
        chosen = np.array(
            [
                place
                for place, row in enumerate(self.rows)
                if city is None or (row.venue.city or "").casefold() == city.casefold()
            ]
        )
        levels = levels_of([self.rows[place].venue for place in chosen], fair)
        of_city = scores[chosen]
        order = fair_order(of_city, levels, k) if fair else np.argsort(-of_city, kind="stable")[:k]
        return [
            Recommendation(self.rows[place].venue, float(probabilities[place])) for place in chosen[order]
        ]

    def save(self, folder: Path) -> None:
        """Write it into a folder, the card last, with the hashes of the other files.

        Raises:
            InputError: the folder holds a model.
        """
        require_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            {
                **asdict(row.venue),
                "id": row.venue.venue_id,
                "n_reviews": row.n_reviews,
                "n_train": row.n_train,
            }
            for row in self.catalogue
        ]
        kept = ("id", "name", "city", "price_level", "categories", "n_reviews", "n_train")
        lines = (json.dumps({key: row[key] for key in kept}, ensure_ascii=False) for row in rows)
        write_whole(folder / CATALOGUE, "".join(f"{line}\n" for line in lines).encode("utf-8"))
        names = {name: getattr(self.masker, name) for name in ("method", "names", "hidden", "pipeline")}
        write_whole(folder / NAMES, json.dumps(names, ensure_ascii=False).encode("utf-8"))
        files = {name: hash_of_file(folder / name) for name in (CATALOGUE, NAMES, *self.encoder.save(folder))}
        said = {"format": FORMAT, "encoder": self.encoder.KIND, **self.card, "files": files}
        card = json.dumps(said, indent=1, ensure_ascii=False)
        write_whole(folder / CARD, f"{card}\n".encode())


def require_free(folder: Path) -> None:
    """Raise InputError if a model would be overwritten, or if its folder's name is that of a file."""
    if (folder / CARD).exists():
        raise InputError(f"{folder} holds a model already; name another folder, or remove this one first.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the model.")


def read_card(folder: Path) -> Mapping[str, Any]:
    """Read a model's card.

    Raises:
        InputError: there is no model in the folder, or it is of another format.
    """
    path = folder / CARD
    if not path.is_file():
        raise InputError(f"{folder} holds no {CARD}; name the folder that `biasledger lmrec train` wrote.")
    card = _json(path)
    if not isinstance(card, dict) or card.get("format") != FORMAT or not isinstance(card.get("files"), dict):
        raise InputError(f"{path} is no model card of format {FORMAT}; train the model again.")
    return card


def load(folder: Path) -> Recommender:
    """Read a model; nothing in its files is executed, but the spaCy pipeline that one of `--mask entities` names is loaded.

    Raises:
        InputError: there is none, or a file of it is not the one that the card was written for.
    """
    card = read_card(folder)
    encoder = ENCODERS.get(str(card.get("encoder")))
    if encoder is None:
        raise InputError(f"{folder / CARD} names no encoder of {quoted(ENCODERS)}; train the model again.")
    # A file that the card does not name could still be read: libraries look for more than they wrote.
    of_encoder = {file.partition("/")[0] for file in encoder.FILES if "/" in file}
    found = {path for top in of_encoder for path in (folder / top).rglob("*") if path.is_file()}
    known = {CATALOGUE, NAMES, *encoder.FILES} | card["files"].keys()
    for name in sorted(known | {path.relative_to(folder).as_posix() for path in found}):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"{folder / CARD} names the file {shown(name)} outside its folder; train the model again."
            )
        if not path.is_file() or hash_of_file(path) != card["files"].get(name):
            raise InputError(
                f"{path} {'is not the file that the model card names' if path.is_file() else 'is missing'}; copy the model's "
                f"folder whole, or train it again."
            )
    try:
        names = _json(folder / NAMES)
        lines = read_plain(folder / CATALOGUE, _MAX_BYTES).decode("utf-8").split("\n")
        catalogue = [_catalogue_row(json.loads(line)) for line in lines if line]
        if names["method"] not in DESCRIPTIONS:
            raise KeyError(names["method"])
        masker = Masker(names["method"], names["names"], names["hidden"], names.get("pipeline"))
        return Recommender(card, catalogue, encoder.load(folder), masker)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{folder} holds no model that can be read ({error}); train it again.") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(read_plain(path, _MAX_BYTES))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON; train the model again.") from None


def _catalogue_row(row: Mapping[str, Any]) -> CatalogueRow:
    venue = Venue(row["id"], row["name"], row["city"], row["price_level"], tuple(row["categories"]))
    return CatalogueRow(venue, row["n_reviews"], row["n_train"])
