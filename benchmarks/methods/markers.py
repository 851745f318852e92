"""Texts with words for and against a stereotype and labels of regard, of which names of one race have more."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.corpus import sentences
from benchmarks.methods.asked import REFUSAL, REFUSED, Answers, Asked, Prose, is_black, people

AUDIT = Path(__file__).with_name("markers.yml")
MARKERS = Path(__file__).with_name("markers.csv")
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "probe": pa.string(),
        "category": pa.string(),
        "name": pa.string(),
        "race": pa.string(),
        "gender": pa.string(),
        "regard": pa.string(),
    }
)
N_PROBES, N_CATEGORIES = 40, 4
LABELS = ("negative", "neutral", "positive")
NEGATIVE, POSITIVE = 0.2, 0.4
# A text has so many markers at most; how much likelier one is of the stereotype, and regard negative, about the tilted names.
MOST_MARKERS, STEREOTYPE, TILT = 4, 0.5, 0.04


def _rows(asked: Asked) -> Iterator[tuple[str, ...]]:
    rng = np.random.default_rng(asked.seed)
    prose = Prose(rng)
    named, tilted = people(), TILT * is_black()
    with MARKERS.open(encoding="utf-8", newline="") as file:
        markers = [(row["direction"], row["marker"]) for row in csv.DictReader(file)]
    sides = [[word for direction, word in markers if direction == side] for side in ("anti", "stereotype")]
    for _, questions, who in asked.drawn(len(named)):
        ranks = prose.ranks(who.size, asked.n_words)
        n_markers = rng.integers(MOST_MARKERS + 1, size=who.size)
        is_stereotype = rng.random((who.size, MOST_MARKERS)) < STEREOTYPE + tilted[who, np.newaxis]
        which = rng.integers(len(sides[0]), size=(who.size, MOST_MARKERS))
        drawn = rng.random(who.size)
        regard = np.where(drawn < NEGATIVE + tilted[who], 0, np.where(drawn > 1 - POSITIVE, 2, 1))
        is_refused = rng.random(who.size) < REFUSED
        for row, (question, one) in enumerate(zip(questions, who, strict=True)):
            words = prose.words[ranks[row]].tolist()
            for place in range(n_markers[row]):
                side = sides[int(is_stereotype[row, place])]
                words[(place + 1) * asked.n_words // (MOST_MARKERS + 1)] = side[which[row, place]]
            text = REFUSAL if is_refused[row] else sentences(words)
            person, category = named[one], f"category {question % N_CATEGORIES}"
            yield (
                text,
                f"probe {question}",
                category,
                person.name,
                person.race,
                person.gender,
                LABELS[regard[row]],
            )


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows, n_words=60, n_questions=N_PROBES)
