"""What training and measuring a recommender cost as reviews grow, on generated files in Yelp's format."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.processes import Measured, run_measured
from benchmarks.records import Record, print_growth
from collector.errors import InputError
from lmrec.example import BUSINESSES, REVIEWS
from lmrec.model import CARD

if TYPE_CHECKING:
    import numpy.typing as npt

SIZES = (20_000, 200_000, 1_000_000)
SEED = 1
N_VOCABULARY = 200_000
MEAN_WORDS, LEAST_WORDS, MOST_WORDS = 100, 5, 900
MIN_REVIEWS = 100
REVIEWS_A_USER = 4
# A venue's own words, how often one of them is said, and how common they are otherwise.
N_OWN, OWN_SHARE, OWN_RANKS = 40, 0.04, (100, 20_000)
_WORDS_A_SENTENCE = 12
_AT_ONCE = 10_000
_SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"]
GIB = 1 << 30


def run(*, sizes: Sequence[int], n_venues: int) -> list[Record]:
    """Print processor seconds, seconds on the wall and peak memory of each part by number of reviews, and how they grow.

    Raises:
        BenchmarkError: a part failed.
        InputError: a size leaves a venue with fewer than MIN_REVIEWS reviews.
    """
    console = Console(width=110, highlight=False)
    table = Table("reviews", "part", "processor s", "wall s", "peak GiB", "said")
    records: list[Record] = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="biasledger-recommender-") as scratch:
            folder = Path(scratch)
            write_reviews(folder, n_reviews=size, n_venues=n_venues)
            for part, (done, said) in _parts(folder).items():
                table.add_row(
                    f"{size:,}", part, f"{done.cpu:.0f}", f"{done.wall:.0f}",
                    f"{done.peak_bytes / GIB:.2f}", said,
                )  # fmt: skip
                records += [
                    Record(f"recommender: {part}", size, "processor s", done.cpu),
                    Record(f"recommender: {part}", size, "peak GiB", done.peak_bytes / GIB),
                ]
        console.print(f"{size:,} reviews are measured.")
    console.print(table)
    print_growth(console, records)
    return records


def _parts(folder: Path) -> dict[str, tuple[Measured, str]]:
    """Train, evaluate and ask, each as the command of its own that a user gives, with what is worth saying of it."""
    files = ["--businesses", str(folder / BUSINESSES), "--reviews", str(folder / REVIEWS)]
    model = folder / "model"
    trained = _command(folder, "train", str(model), *files, "--min-reviews", str(MIN_REVIEWS))
    card = json.loads((model / CARD).read_text(encoding="utf-8"))
    fit = card["fit"]
    evaluated = _command(folder, "evaluate", str(model), "--reviews", str(folder / REVIEWS))
    asked = _command(folder, "recommend", str(model), "Where should we have dinner?")
    of_fit = f"{fit['solver']}, {fit['iterations']} iterations, {fit['terms']:,} words"
    of_metrics = (
        f"accuracy {card['metrics']['venue']['accuracy']:.3f} of {card['counts']['texts_held_out']:,}"
    )
    return {"train": (trained, of_fit), "evaluate": (evaluated, of_metrics), "recommend": (asked, "")}


def _command(folder: Path, name: str, *arguments: str) -> Measured:
    return run_measured([sys.executable, "-m", "biasledger", "lmrec", name, *arguments], folder=folder)


def write_reviews(folder: Path, *, n_reviews: int, n_venues: int, seed: int = SEED) -> None:
    """Write business.json and review.json: words after Zipf's law, lengths as of reviews, some venues far oftener than others.

    Each venue has MIN_REVIEWS reviews, and what is left goes by its rank. It is told by words of its own that others use, too,
    and a review in three names it.

    Raises:
        InputError: there are fewer reviews than that.
    """
    if n_reviews < MIN_REVIEWS * n_venues:
        raise InputError(
            f"{n_reviews:,} reviews are fewer than {MIN_REVIEWS} for each of {n_venues:,} venues; "
            f"give more reviews, or fewer venues."
        )
    rng = np.random.default_rng(seed)
    vocabulary = np.array([_word(number) for number in range(N_VOCABULARY)], dtype=object)
    cumulated = np.cumsum(1.0 / (np.arange(N_VOCABULARY) + 3.0))
    own = rng.integers(*OWN_RANKS, size=(n_venues, N_OWN))
    names = [f"The {vocabulary[-1 - venue].title()} Kitchen" for venue in range(n_venues)]
    with (folder / BUSINESSES).open("w", encoding="utf-8") as stream:
        for venue, name in enumerate(names):
            business = {
                "business_id": f"venue-{venue}",
                "name": name,
                "city": "Boston",
                "attributes": {"RestaurantsPriceRange2": str(1 + venue % 4)},
                "categories": f"Restaurants, {vocabulary[venue % 30].title()}",
            }
            stream.write(json.dumps(business) + "\n")
    shares = 1.0 / (np.arange(n_venues) + 10.0)
    counts = MIN_REVIEWS + rng.multinomial(n_reviews - MIN_REVIEWS * n_venues, shares / shares.sum())
    venues = rng.permutation(np.repeat(np.arange(n_venues), counts))
    with (folder / REVIEWS).open("w", encoding="utf-8") as stream:
        for start in range(0, n_reviews, _AT_ONCE):
            chosen = venues[start : start + _AT_ONCE]
            users = rng.integers(max(1, n_reviews // REVIEWS_A_USER), size=chosen.size)
            for place, (words, venue) in enumerate(
                zip(_drawn(rng, chosen, own, cumulated), chosen, strict=True)
            ):
                review = {
                    "review_id": f"review-{start + place}",
                    "user_id": f"user-{users[place]}",
                    "business_id": f"venue-{venue}",
                    "text": _text(vocabulary[words].tolist(), names[venue] if rng.random() < 1 / 3 else None),
                }
                stream.write(json.dumps(review) + "\n")


def _drawn(
    rng: np.random.Generator,
    venues: npt.NDArray[np.int64],
    own: npt.NDArray[np.int64],
    cumulated: npt.NDArray[np.float64],
) -> list[npt.NDArray[np.int64]]:
    """Numbers of the words of a review of each of these venues."""
    lengths = np.clip(rng.lognormal(np.log(MEAN_WORDS) - 0.25, 0.7, venues.size), LEAST_WORDS, MOST_WORDS)
    ends = np.cumsum(lengths.astype(np.int64))
    words = np.searchsorted(cumulated, rng.random(ends[-1]) * cumulated[-1], side="right")
    of_word = np.repeat(venues, np.diff(ends, prepend=0))
    is_own = rng.random(ends[-1]) < OWN_SHARE
    words[is_own] = own[of_word[is_own], rng.integers(N_OWN, size=int(is_own.sum()))]
    return np.split(words, ends[:-1])


def _text(words: list[str], name: str | None) -> str:
    sentences = [
        " ".join(words[start : start + _WORDS_A_SENTENCE]).capitalize()
        for start in range(0, len(words), _WORDS_A_SENTENCE)
    ]
    return ". ".join([*sentences, *([f"We went to {name} again"] if name else [])]) + "."


def _word(number: int) -> str:
    """A word of two syllables or more for each number."""
    base = len(_SYLLABLES)
    text = ""
    while number >= base or not text:
        text = _SYLLABLES[number % base] + text
        number //= base
    return _SYLLABLES[number] + text
