"""Test a recommender trained on restaurant dialogues against a baseline's reference numbers, by city and pooled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasledger.measures.recommenders.table import measures
from lmrec.evaluation import held_out, predict
from lmrec.training import TrainSettings, train

from .conftest import data_folder

SEEN = {"all": None, "seen": "seen_only"}


@pytest.mark.parametrize("city", ["San Francisco", "Berkeley", pytest.param(None, marks=pytest.mark.slow)])
def test_the_baseline_s_numbers_are_reproduced(city: str | None, tmp_path: Path) -> None:
    folder = data_folder("restaurant-dialogues")
    expected = json.loads((folder / "reference.json").read_text(encoding="utf-8"))["baseline"][
        city or "(all)"
    ]
    reviews = folder / "review.jsonl"
    settings = TrainSettings(city=city, min_reviews=1, mask="venues")
    trained = train(folder / "business.jsonl", reviews, tmp_path / "model", settings)
    counts = trained.card["counts"]
    assert (counts["texts_trained"], counts["texts_held_out"]) == (expected["n_train"], expected["n_test"])
    assert counts["venues_trained"] == expected["classes"]
    assert trained.card["fit"]["terms"] == expected["vocabulary"]
    _, predictions = predict(trained, held_out(reviews, trained))
    rows = measures(predictions)
    found = {(row.system, row.texts, row.measure): row.value for row in rows if row.relevant == "venue"}
    for system, name in (("model", "logistic_regression"), ("popularity", "popularity")):
        for texts, part in SEEN.items():
            numbers = expected[name] if part is None else expected[name][part]
            for measure in ("accuracy", "hit_rate_at_5", "hit_rate_at_10", "hit_rate_at_20", "mrr"):
                assert found[system, texts, measure] == pytest.approx(numbers[measure], abs=1e-6)
    (n_seen,) = {row.n_texts for row in rows if row.texts == "seen" and row.relevant == "venue"}
    assert n_seen == expected["n_test_seen"]
