"""Generated responses of known make: Zipf-distributed words, five races by three genders, a slight tilt for each race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_VOCABULARY = 8_000
WORDS_A_SENTENCE = 14
GENDERS = ("man", "woman", "nonbinary")
# How much more often each race's own words are drawn; the reference has none. A linear SVM on counts then tells the four
# from the reference with accuracies spread over 0.55 to 0.95.
TILTS = {"White": 1.0, "Asian": 2.0, "Black": 1.6, "Latino": 1.2, "Middle-Eastern": 1.4}
# Words of middling frequency, dealt in turn to the four marked races.
TILTED_RANKS = slice(100, 500)
# A million texts are not held at once.
ROWS_AT_ONCE = 10_000
SCHEMA = pa.schema({"text": pa.string(), "race": pa.string(), "gender": pa.string(), "position": pa.int64()})


def write_corpus(path: Path, *, n_responses: int, n_words: int, seed: int) -> None:
    """Write generated responses as Parquet, columns text, race, gender, position; texts of n_words words.

    Every text names the person it is written for, so that removing identity terms has something to remove.
    """
    rows = responses(n_responses=n_responses, n_words=n_words, seed=seed)
    with pq.ParquetWriter(path, SCHEMA) as writer:
        while batch := list(islice(rows, ROWS_AT_ONCE)):
            writer.write_table(pa.table(list(zip(*batch, strict=True)), schema=SCHEMA))


def responses(*, n_responses: int, n_words: int, seed: int) -> Iterator[tuple[str, str, str, int]]:
    """Yield the rows of `write_corpus`."""
    rng = np.random.default_rng(seed)
    words = vocabulary(rng)
    cells = [(race, gender) for race in TILTS for gender in GENDERS]
    cumulated = {race: np.cumsum(word_shares(race)) for race in TILTS}
    for position in range(n_responses):
        race, gender = cells[position % len(cells)]
        drawn = np.searchsorted(cumulated[race], rng.random(n_words) * cumulated[race][-1], side="right")
        yield _text(race, gender, words[drawn].tolist()), race, gender, position


def vocabulary(rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """N_VOCABULARY distinct words of two to four syllables."""
    syllables = np.array([consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"])
    words: dict[str, None] = {}
    while len(words) < N_VOCABULARY:
        words["".join(rng.choice(syllables, size=int(rng.integers(2, 5))))] = None
    return np.array(list(words), dtype=object)


def word_shares(race: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Probability of each word in texts for a race: Zipf's law, the race's own words tilted; sums to 1."""
    shares = 1.0 / (np.arange(N_VOCABULARY) + 3.0)
    marked = [name for name in TILTS if name != "White"]
    if race in marked:
        own = np.arange(N_VOCABULARY)[TILTED_RANKS][marked.index(race) :: len(marked)]
        shares[own] *= TILTS[race]
    return np.asarray(shares / shares.sum())


def _text(race: str, gender: str, words: list[str]) -> str:
    return f"For a {race} {gender}: {sentences(words)}"


def sentences(words: Sequence[str]) -> str:
    """Words as sentences of WORDS_A_SENTENCE."""
    return " ".join(
        " ".join(words[start : start + WORDS_A_SENTENCE]).capitalize() + "."
        for start in range(0, len(words), WORDS_A_SENTENCE)
    )
