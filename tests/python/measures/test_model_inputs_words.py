"""Test that comparisons of words, read a run at a time, equal one reading of everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from biasledger.model_inputs import words
from biasledger.model_inputs.sharing import shared_results, sharing
from biasledger.model_inputs.words import read_comparisons, read_pairs

N_WORDS = 7


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def frames() -> dict[str, pd.DataFrame]:
    """Two runs of six texts; the first is compared in `b` and `c`, the second in `a` and, without texts, in `d`."""
    rng = np.random.default_rng(1)
    runs = {"b": "first", "c": "first", "a": "second", "d": "second"}
    comparisons = pd.DataFrame(
        [
            {
                **dict.fromkeys(("mitigation", "attribute", "group_name", "reference_group"), "x"),
                "comparison_key": key,
                "run_id": run,
                "scheme": "words",
                "comparison": "against_reference",
                "moves_prompts": False,
                "weighting": "tfidf",
                "n_permutations": 99,
                "alpha": 0.05,
                "seed": 1,
            }
            for key, run in runs.items()
        ]
    )
    units = {"b": range(4), "c": range(2, 6), "a": range(6, 12)}
    codes = (
        "stratum_id",
        "cluster_id",
        "prompt_id",
        "name_stratum_id",
        "name_id",
        "descriptor_id",
        "first_seq",
    )
    members = pd.DataFrame(
        [
            {
                **dict.fromkeys(codes, unit),
                "comparison_key": key,
                "unit_id": unit,
                "label": unit % 2,
                "n_responses": 1.0 + unit,
                "n_trials": 1.0,
            }
            for key, inside in units.items()
            for unit in inside
        ]
    )
    counts = rng.poisson(0.8, size=(12, N_WORDS))
    counts[:, 0] = 1
    unit_ids, word_ids = np.nonzero(counts)
    features = pd.DataFrame(
        {
            "run_id": np.where(unit_ids < 6, "first", "second"),
            "unit_id": unit_ids,
            "word_id": word_ids,
            "n_occurrences": counts[unit_ids, word_ids],
        }
    ).sample(frac=1, random_state=1)
    vocabulary = pd.DataFrame(
        {"word_id": range(N_WORDS), "word": [f"w{number}" for number in range(N_WORDS)]}
    )
    return {
        "comparisons": comparisons,
        "members": members,
        "features": features,
        "vocabulary": vocabulary,
        "counts": counts,
    }


def read(connection: duckdb.DuckDBPyConnection, given: dict[str, Any]) -> dict[str, Any]:
    names = ("comparisons", "members", "features", "vocabulary")
    relations = (connection.from_df(given[name]) for name in names)
    return {one.key: one for one in read_comparisons(*relations)}


def test_each_has_its_texts_words_and_the_counts_of_its_run(connection: duckdb.DuckDBPyConnection) -> None:
    given = frames()
    found = read(connection, given)
    assert list(found) == ["b", "c", "a", "d"], "a run after the other"
    for key, units, run in (("b", range(4), range(6)), ("a", range(6, 12), range(6, 12))):
        texts = found[key].units
        counts = given["counts"][list(units)]
        used = np.flatnonzero(counts.sum(axis=0))
        np.testing.assert_array_equal(texts.features.toarray(), counts[:, used])
        assert texts.words.tolist() == [f"w{number}" for number in used]
        weights = 1.0 + np.array(run)
        corpus = weights @ given["counts"][list(run)]
        np.testing.assert_allclose(texts.prior, corpus[used])
        assert texts.prior_total == corpus.sum()
    assert found["d"].units.features.shape[0] == 0


def test_it_does_not_matter_how_many_texts_are_read_at_once(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = frames()
    # The last word occurs in one text only: parts have different widths.
    is_last = given["features"]["word_id"] == N_WORDS - 1
    given["features"] = given["features"][~is_last | (given["features"]["unit_id"] == 1)]
    at_once = read(connection, given)
    for size in (1, 4, 5):
        monkeypatch.setattr(words, "UNITS_AT_ONCE", size)
        in_parts = read(connection, given)
        assert list(in_parts) == list(at_once)
        for key, one in in_parts.items():
            for name in ("data", "indices", "indptr"):
                array, expected = (getattr(each.units.features, name) for each in (one, at_once[key]))
                np.testing.assert_array_equal(array, expected)
                assert array.dtype == expected.dtype
            np.testing.assert_array_equal(one.units.prior, at_once[key].units.prior)
            assert one.units.words.tolist() == at_once[key].units.words.tolist()


def test_of_a_run_without_pairs_nothing_is_read(connection: duckdb.DuckDBPyConnection) -> None:
    given = frames()
    given["features"] = given["features"][given["features"]["unit_id"] >= 6]
    comparisons = connection.from_df(given["comparisons"])
    rest = [connection.from_df(given[name]) for name in ("members", "features", "vocabulary")]
    for keys in (["a", "d"], []):
        pairs = comparisons.filter(f"list_contains({keys}::varchar[], comparison_key)")
        assert [one.key for one in read_pairs(pairs, *rest, comparisons)] == keys


def test_pairs_have_the_corpus_of_all_comparisons(connection: duckdb.DuckDBPyConnection) -> None:
    given = frames()
    everything = read(connection, given)
    comparisons = connection.from_df(given["comparisons"])
    rest = (connection.from_df(given[name]) for name in ("members", "features", "vocabulary"))
    [pair] = read_pairs(comparisons.filter("comparison_key = 'b'"), *rest, comparisons)
    assert pair.key == "b"
    np.testing.assert_array_equal(pair.units.prior, everything["b"].units.prior)


def test_models_side_by_side_share_a_corpus_as_long_as_one_measures_it(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, n_read = frames(), 0
    counts_of = words._counts_of

    def counted(*arguments: Any) -> Any:
        nonlocal n_read
        n_read += 1
        return counts_of(*arguments)

    monkeypatch.setattr(words, "_counts_of", counted)

    def reading(of: dict[str, Any]) -> Iterator[Any]:
        names = ("comparisons", "members", "features", "vocabulary")
        return read_comparisons(*(connection.from_df(of[name]) for name in names))

    with sharing("build"):
        one, other = reading(given), reading(given)
        first = next(one), next(other)
        assert n_read == 1
        assert (first[0].units.features != first[1].units.features).nnz == 0
        with sharing("another build"):
            next(reading(given))
        assert n_read == 2
        del one, other
        next(reading(given))
        assert n_read == 3
    one, other = reading(given), reading(given)
    next(one), next(other)
    assert n_read == 5, "outside a build everyone reads"


def test_what_is_handed_on_is_of_one_comparison_and_one_build() -> None:
    assert shared_results("a") is None
    with sharing("one build"):
        place = shared_results("a")
        assert place == {}
        place["found"] = 1
        assert shared_results("b") == {}
    with sharing("one build"):
        assert shared_results("a") == {"found": 1}
    with sharing("the next"):
        assert shared_results("a") == {}
