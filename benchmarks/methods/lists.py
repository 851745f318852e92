"""Lists of 25 titles for fans of invented artists, neutral and by four attributes, of which one group gets others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.corpus import vocabulary
from benchmarks.methods.asked import REFUSAL, REFUSED, Answers, Asked, chosen
from collector.spec.loading import load_audit

AUDIT = Path(__file__).with_name("lists.yml")
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "artist": pa.string(),
        "domain": pa.string(),
        "attribute": pa.string(),
        "value": pa.string(),
    }
)
N_NEUTRAL, K = 5, 25
N_TITLES, TITLES_AN_ARTIST, NEXT_ARTIST = 4_000, 60, 17
STEERED, TILT = "Black", 1.5


def _rows(asked: Asked) -> Iterator[tuple[str, str, str, str, str]]:
    rng = np.random.default_rng(asked.seed)
    words = vocabulary(rng)
    titles = [f"{words[one].title()} {words[one + N_TITLES].title()}" for one in range(N_TITLES)]
    cells = [("neutral", "")] * N_NEUTRAL
    cells += [(name, group) for name, one in load_audit(AUDIT).attributes.items() for group in one.groups]
    likely = 1.0 / (np.arange(TITLES_AN_ARTIST) + 3.0)
    # Every third title of an artist.
    tilted = likely * np.where(np.arange(TITLES_AN_ARTIST) % 3 == 0, TILT, 1.0)
    weights = np.array([tilted if value == STEERED else likely for _, value in cells])
    for _, artists, people in asked.drawn(len(cells)):
        places = chosen(rng, weights[people], K)
        is_refused = rng.random(people.size) < REFUSED
        for artist, person, of_list, refused in zip(artists, people, places, is_refused, strict=True):
            listed = [titles[(artist * NEXT_ARTIST + place) % N_TITLES] for place in of_list]
            text = "\n".join(f"{place}. {title}" for place, title in enumerate(listed, start=1))
            yield REFUSAL if refused else text, f"artist {artist}", "music", *cells[person]


ANSWERS = Answers(audit=AUDIT, schema=SCHEMA, rows=_rows)
