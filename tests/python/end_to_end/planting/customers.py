"""Answers to customers, who belong to one group each and have words of their own; and scores of days with one group each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.python.project import Project

N_CUSTOMERS, N_ANSWERS = 24, 3
ATTRIBUTES = {"race": {"reference": "white", "groups": ["white", "black"]}}
TEXTS: dict[str, Any] = {
    "audit": "customers",
    "attributes": ATTRIBUTES,
    "answer": {"kind": "text"},
    "import": {"columns": {"text": "text", "cluster": "customer", "attributes": {"race": "race"}}},
}
DAYS: dict[str, Any] = {
    "audit": "days",
    "attributes": ATTRIBUTES,
    "answer": {"kind": "score", "minimum": 0, "maximum": 100},
    "import": {
        "columns": {"text": "text", "subject": "customer", "block": "day", "attributes": {"race": "race"}}
    },
}


def plant(project: Project) -> None:
    """Texts of 60 words from each customer's own distribution, and a score for each customer, asked on one of four days."""
    rng = np.random.default_rng(1)
    words = np.array([f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"])
    texts, days = [], []
    for number in range(N_CUSTOMERS):
        race = "black" if number % 2 else "white"
        own = rng.dirichlet(np.full(words.size, 0.5))
        texts += [(number, race, " ".join(rng.choice(words, 60, p=own))) for _ in range(N_ANSWERS)]
        days.append((number, race, f"day {number % 4}", f"{rng.normal(60, 5):.1f}"))
    project.import_rows(TEXTS, "customer,race,text", texts)
    project.import_rows(DAYS, "customer,race,day,text", days)
