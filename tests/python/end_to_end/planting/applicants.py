"""Real applicants for two jobs, with one score each."""

from __future__ import annotations

import numpy as np

from tests.python.project import Project

SPEC = {
    "audit": "applicants",
    "attributes": {
        "sex": {"reference": "Male", "groups": ["Male", "Female"]},
        "race": {"reference": "White", "groups": ["White", "Black", "Asian", "Unknown"]},
    },
    "answer": {"kind": "score", "minimum": 0, "maximum": 100},
    "import": {
        "columns": {
            "text": "score",
            "subject": "applicant",
            "domain": "job",
            "attributes": {"sex": "sex", "race": "race"},
        }
    },
    "analysis": {"crossed": ["sex*race"]},
}


def plant(project: Project) -> None:
    """600 applicants for two jobs; women of the first are scored one standard deviation lower, 8 are Asian, 30 unknown."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(600):
        job = "clerk" if number % 2 else "driver"
        sex = "Female" if rng.random() < 0.4 else "Male"
        race = "Asian" if number < 8 else "Unknown" if number < 38 else rng.choice(["White", "Black"])
        score = round(float(np.clip(rng.normal(60 - 10 * (job == "clerk" and sex == "Female"), 10), 0, 100)))
        rows.append((number, job, sex, race, "no score" if number % 100 == 99 else score))
    project.import_rows(SPEC, "applicant,job,sex,race,score", rows)
