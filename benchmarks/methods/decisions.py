"""Levels given to resumes under names of two races and genders, of which one race is rated a little lower."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.methods.asked import REFUSAL, REFUSED, Answers, Asked, is_black, people

AUDIT = Path(__file__).with_name("decisions.yml")
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "resume": pa.string(),
        "level": pa.string(),
        "name": pa.string(),
        "race": pa.string(),
        "gender": pa.string(),
    }
)
LEVELS = ("junior", "mid", "senior")
# Shares of answers that are one level too low or too high, and how much more often the first befalls the tilted names.
LOWER, HIGHER, TILT = 0.10, 0.10, 0.03


def _rows(asked: Asked) -> Iterator[tuple[str, str, str, str, str, str]]:
    rng = np.random.default_rng(asked.seed)
    named = people()
    lower = LOWER + TILT * is_black()
    for _, resumes, who in asked.drawn(len(named)):
        drawn = rng.random(who.size)
        moved = np.where(drawn < lower[who], -1, np.where(drawn > 1 - HIGHER, 1, 0))
        given = np.clip(resumes % len(LEVELS) + moved, 0, len(LEVELS) - 1)
        is_refused = rng.random(who.size) < REFUSED
        for resume, one, level, refused in zip(resumes, who, given, is_refused, strict=True):
            person = named[one]
            text = REFUSAL if refused else LEVELS[level]
            yield (
                text,
                f"resume {resume}",
                LEVELS[resume % len(LEVELS)],
                person.name,
                person.race,
                person.gender,
            )


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows)
