"""Test that the warehouse's numbers for imported predictions equal those of `lmrec evaluate`."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from biasledger.measures.recommenders.table import averaged
from biasledger.model_inputs.recommenders import read_predictions, recommender_quality
from collector.importers.predictions import import_predictions
from lmrec.evaluation import evaluate_model


def test_the_numbers_are_those_of_the_evaluation(
    example_files: tuple[Path, Path], model_folder: Path, tmp_path: Path
) -> None:
    evaluated = evaluate_model(model_folder, example_files[1], tmp_path)
    written = (tmp_path / "predictions.csv").read_text(encoding="utf-8")
    # The same again as another city's, so that there is a mean.
    (tmp_path / "other.csv").write_text(written.replace("\nBoston,", "\nYork,"), encoding="utf-8")
    expected = [*evaluated, *(replace(row, city="York") for row in evaluated)]
    expected += averaged(expected)
    # Another recommender with the same predictions changes nothing.
    for name in ("a", "b"):
        import_predictions(
            [tmp_path / "predictions.csv", tmp_path / "other.csv"], tmp_path / "l.duckdb", name=name
        )
    with duckdb.connect(str(tmp_path / "l.duckdb"), read_only=True) as connection:
        kept = connection.sql("from raw.predictions")
        found = recommender_quality(read_predictions(kept)).to_pandas()
    assert len(found) == len(expected)
    for row, one in zip(found.itertuples(index=False), expected, strict=True):
        assert row[1:6] == astuple(one)[:5]
        stated = [
            np.nan if number is None else number for number in (one.value, one.low, one.high, one.n_texts)
        ]
        assert list(row[6:]) == pytest.approx(stated, nan_ok=True)
