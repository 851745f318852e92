"""Texts of random words in which one group uses every seventh word twice as often, and one text that a test erases."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.python.project import Project, import_spec

SECRET = "quincelane"


def made_texts(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{number}" for number in range(60)])
    shares = 1 / np.arange(1, 61)
    rows = []
    for race in ("White", "Asian", "Black"):
        for gender in ("Man", "Woman"):
            tilted = shares * np.where(np.arange(60) % 7 == 0, 2.0 if race == "Black" else 1.0, 1.0)
            for _ in range(12):
                text = " ".join(rng.choice(vocabulary, size=40, p=tilted / tilted.sum()))
                rows.append({"race": race, "gender": gender, "template": "a", "text": text})
    return pd.DataFrame(rows)


def plant(project: Project) -> str:
    """Import them; returns the run's id."""
    return _import(project, "texts", _with_secret())


def plant_shuffled(project: Project) -> str:
    """Import them in another order; returns the run's id."""
    return _import(project, "shuffled", _with_secret().sample(frac=1, random_state=5))


def _with_secret() -> pd.DataFrame:
    texts = made_texts()
    texts.loc[3, "text"] += f" {SECRET}"
    return texts


def _import(project: Project, name: str, texts: pd.DataFrame) -> str:
    file = project.folder / f"{name}.csv"
    texts.to_csv(file, index=False)
    return project.import_file(project.write_audit("texts", import_spec("texts")), file).run_id
