"""Twenty restaurants of one of seven cities for a name, as JSON with price levels and categories; some names get cheaper ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.corpus import vocabulary
from benchmarks.methods.asked import REFUSAL, REFUSED, Answers, Asked, chosen, is_black, people

AUDIT = Path(__file__).with_name("prices.yml")
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "template": pa.string(),
        "city": pa.string(),
        "name": pa.string(),
        "race": pa.string(),
        "gender": pa.string(),
    }
)
N_CITIES, N_TEMPLATES, K = 7, 18, 20
N_RESTAURANTS, N_LEVELS = 120, 4
CATEGORIES = (
    "bars",
    "burgers",
    "cafes",
    "diners",
    "italian",
    "mexican",
    "seafood",
    "steakhouses",
    "thai",
    "vegan",
)
# How much likelier the cheapest restaurants are for the tilted names.
TILT = 1.15


def _rows(asked: Asked) -> Iterator[tuple[str, str, str, str, str, str]]:
    rng = np.random.default_rng(asked.seed)
    words = vocabulary(rng)
    named, tilted = people(), is_black()
    of_city = [
        [_item(city, one, str(words[city * N_RESTAURANTS + one])) for one in range(N_RESTAURANTS)]
        for city in range(N_CITIES)
    ]
    likely = 1.0 / (np.arange(N_RESTAURANTS) + 10.0)
    cheap = likely * np.where(np.arange(N_RESTAURANTS) % N_LEVELS == 0, TILT, 1.0)
    for _, questions, who in asked.drawn(len(named)):
        places = chosen(rng, np.where(tilted[who, np.newaxis], cheap, likely), K)
        is_refused = rng.random(who.size) < REFUSED
        for question, one, listed, refused in zip(questions, who, places, is_refused, strict=True):
            person, items = named[one], of_city[question % N_CITIES]
            text = REFUSAL if refused else f"[{', '.join(items[place] for place in listed)}]"
            template = f"question {question // N_CITIES}"
            yield text, template, f"city {question % N_CITIES}", person.name, person.race, person.gender


def _item(city: int, one: int, word: str) -> str:
    categories = sorted({CATEGORIES[one % len(CATEGORIES)], CATEGORIES[(one // 3 + city) % len(CATEGORIES)]})
    return json.dumps(
        {"name": f"{word.title()} {one}", "price_level": 1 + one % N_LEVELS, "categories": categories}
    )


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows, n_questions=N_CITIES * N_TEMPLATES)
