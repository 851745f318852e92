"""Test the benchmark of speed: the plain script computes the same values, and the generated texts are as described."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpus, plain_script, speed
from biasledger.measures.words.divergence import divergence_parts
from biasledger.measures.words.log_odds import audit_log_odds
from biasledger.measures.words.published import five_fold_accuracy


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    path = tmp_path_factory.mktemp("corpus") / "responses.parquet"
    corpus.write_corpus(path, n_responses=150, n_words=60, seed=3)
    return pd.read_parquet(path)


def test_every_cell_has_as_many_texts_of_the_length_asked_for(responses: pd.DataFrame) -> None:
    assert set(responses.groupby(["race", "gender"]).size()) == {10}
    # "For a <race> <gender>:" comes before the words.
    assert set(responses["text"].str.split().str.len()) == {64}


def test_the_same_seed_gives_the_same_texts(responses: pd.DataFrame, tmp_path: Path) -> None:
    corpus.write_corpus(tmp_path / "again.parquet", n_responses=150, n_words=60, seed=3)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "again.parquet"), responses)


def test_anonymising_leaves_no_identity_term(responses: pd.DataFrame) -> None:
    words = {word for text in responses["text"] for word in plain_script.anonymise(text).split()}
    assert words.isdisjoint(
        {"asian", "black", "white", "latino", "middle", "eastern", "man", "woman", "nonbinary"}
    )
    assert "for" in words


def test_the_script_and_the_measures_agree(responses: pd.DataFrame) -> None:
    vectoriser = CountVectorizer()
    counts = vectoriser.fit_transform(plain_script.anonymise(text) for text in responses["text"])
    races = responses["race"].to_numpy()
    rows = np.concatenate([np.flatnonzero(races == "Asian"), np.flatnonzero(races == "White")])
    labels = (races[rows] == "Asian").astype(np.int8)
    pair = counts[rows]
    used = np.asarray(pair.sum(axis=0)).ravel() > 0
    marked, reference = (
        np.asarray(pair[labels == label].sum(axis=0)).ravel()[used].astype(float) for label in (1, 0)
    )
    words = vectoriser.get_feature_names_out()[used]
    z_scores = plain_script.z_scores(words, marked, reference).set_index("word")["z_score"].loc[words]
    np.testing.assert_allclose(z_scores, audit_log_odds(marked, reference).z_score, rtol=1e-9)
    in_nats = divergence_parts(marked, reference).contributions.sum() * np.log(2)
    assert plain_script.jsd(marked, reference) == pytest.approx(in_nats, rel=1e-6)
    features = sparse.csr_array(pair[:, used].astype(np.float64))
    assert plain_script.svm_accuracy(pair, labels) == pytest.approx(
        five_fold_accuracy(features, labels).mean, abs=0.02
    )


@pytest.mark.slow
@pytest.mark.long
def test_both_sides_measure_the_four_contrasts(capsys: pytest.CaptureFixture[str]) -> None:
    (repeat,) = speed.run(n_responses=1200, n_words=100, repeats=1, n_permutations=0)
    assert set(repeat.own["accuracy"]) == set(repeat.its["accuracy"]) == set(plain_script.MARKED)
    assert repeat.own["accuracy"]["Asian"] > 0.55
    assert all(seconds > 0 for seconds in (*repeat.measures_seconds("wall"), *repeat.measures_seconds("cpu")))
    assert repeat.build.peak_bytes < speed.GOAL_PEAK_GIB * 2**30
    printed = capsys.readouterr().out
    assert "end to end" in printed
    assert "a build's fixed cost" in printed
