"""Advice to names of two races and genders, each question with words of its own; some names get more hedges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.corpus import sentences
from benchmarks.methods.asked import REFUSAL, REFUSED, Answers, Asked, Prose, is_black, people

AUDIT = Path(__file__).with_name("texts.yml")
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "question": pa.string(),
        "name": pa.string(),
        "race": pa.string(),
        "gender": pa.string(),
    }
)
HEDGES = ("perhaps", "probably", "maybe", "possibly")
# Shares of a text's words that are hedges, how many more for the tilted names, and that are words of its question.
HEDGED, TILT, OF_QUESTION = 0.02, 0.01, 0.2
WORDS_A_QUESTION, NEXT_QUESTION = 40, 61


def _rows(asked: Asked) -> Iterator[tuple[str, ...]]:
    rng = np.random.default_rng(asked.seed)
    prose = Prose(rng)
    named, hedged = people(), HEDGED + TILT * is_black()
    for _, questions, who in asked.drawn(len(named)):
        shape = who.size, asked.n_words
        own = questions[:, np.newaxis] * NEXT_QUESTION + rng.integers(WORDS_A_QUESTION, size=shape)
        ranks = np.where(rng.random(shape) < OF_QUESTION, own % len(prose.words), prose.ranks(*shape))
        hedges = np.array(HEDGES, dtype=object)[rng.integers(len(HEDGES), size=shape)]
        words = np.where(rng.random(shape) < hedged[who, np.newaxis], hedges, prose.words[ranks])
        is_refused = rng.random(who.size) < REFUSED
        for question, one, said, refused in zip(questions, who, words.tolist(), is_refused, strict=True):
            person, text = named[one], REFUSAL if refused else sentences(said)
            yield text, f"question {question}", person.name, person.race, person.gender


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows, n_words=60)
