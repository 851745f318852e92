"""The same data give the same numbers, whatever the row order, the threads or the other runs of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from .conftest import Project, import_spec

NUMBERS = """
    select * exclude (finding_id, run_id, target, is_current)
    from marts.fct_findings where run_id = '{run_id}'
    order by variant, measure, attribute, group_name
"""
WORDS = "select * exclude (run_id) from marts.fct_marked_words where run_id = '{run_id}' order by all"


def _texts(seed: int = 1) -> pd.DataFrame:
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


def test_row_order_threads_and_repetition(new_project: Callable[[], Project], tmp_path: Path) -> None:
    project = new_project()
    audit = project.write_audit("texts", import_spec("texts"))
    texts = _texts()
    texts.to_csv(tmp_path / "texts.csv", index=False)
    texts.sample(frac=1, random_state=5).to_csv(tmp_path / "shuffled.csv", index=False)

    first = project.import_file(audit, tmp_path / "texts.csv").run_id
    project.build(threads=1)
    alone = project.query(NUMBERS.format(run_id=first)), project.query(WORDS.format(run_id=first))

    second = project.import_file(audit, tmp_path / "shuffled.csv").run_id
    project.build(threads=2, full_refresh=True)
    again = project.query(NUMBERS.format(run_id=first)), project.query(WORDS.format(run_id=first))
    shuffled = project.query(NUMBERS.format(run_id=second)), project.query(WORDS.format(run_id=second))

    assert len(alone[0]) == 9  # three measures of three contrasts
    assert len(alone[1]) > 100
    for numbers, words in (again, shuffled):
        pd.testing.assert_frame_equal(numbers, alone[0], check_exact=True)
        pd.testing.assert_frame_equal(words, alone[1], check_exact=True)
