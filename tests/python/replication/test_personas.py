"""Test published and reference numbers of the GPT-4 personas to the digits given."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from .conftest import data_folder

GROUPS = {
    "a Black vs a White": "Black",
    "an Asian vs a White": "Asian",
    "a Middle-Eastern vs a White": "Middle-Eastern",
    "a Latine vs a White": "Latine",
    "W vs M": "W",
    "N vs M": "N",
}
PLAIN = "comparison = 'against_reference' and attribute in ('race', 'gender')"


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("personas-gpt4") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("personas")


@pytest.mark.slow
@pytest.mark.parametrize("pair", GROUPS)
def test_z_scores_of_the_reference_formula(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], pair: str
) -> None:
    expected = reference["reference_code"]["marked_words"][pair]
    rows = warehouse.execute(
        "select word, z_score_informative from marts.fct_marked_words"
        f" where {PLAIN} and scheme = 'reference' and group_name = ? and z_score_informative > 1.96"
        " order by z_score_informative desc",
        [GROUPS[pair]],
    ).fetchall()
    assert {word for word, _ in rows} == {word for word, _ in expected}
    scores = dict(rows)
    assert all(scores[word] == pytest.approx(z, abs=5.1e-5) for word, z in expected)


@pytest.mark.slow
@pytest.mark.parametrize("pair", GROUPS)
@pytest.mark.parametrize(
    ("scheme", "key"),
    [("reference", "jsd_base2"), ("reference_anonymised", "jsd_base2_after_reference_anonymise")],
)
def test_divergence_raw_and_anonymised(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], pair: str, scheme: str, key: str
) -> None:
    ((jsd,),) = warehouse.execute(
        f"select jsd from marts.fct_word_divergence where {PLAIN} and scheme = ? and group_name = ?",
        [scheme, GROUPS[pair]],
    ).fetchall()
    assert jsd == pytest.approx(reference["reference_code"]["jsd"][pair][key], abs=5.1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("pair", GROUPS)
def test_top_contributors_of_the_divergence(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], pair: str
) -> None:
    rows = warehouse.execute(
        "select word, contribution, signed_share > 0 from marts.fct_word_divergence_words"
        f" where {PLAIN} and scheme = 'reference' and group_name = ? order by contribution_rank limit 10",
        [GROUPS[pair]],
    ).fetchall()
    expected = reference["reference_code"]["jsd"][pair]["top10_contributors"]
    assert [(word, "+" if more else "-") for word, _, more in rows] == [
        (word, sign) for word, _, sign in expected
    ]
    assert [bits for _, bits, _ in rows] == pytest.approx([bits for _, bits, _ in expected], abs=5.1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("pair", GROUPS)
def test_the_seed_document_s_numbers(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], pair: str
) -> None:
    expected = reference["seed_snippet"][pair]
    rows = warehouse.execute(
        f"select word, z_score from marts.fct_marked_words where {PLAIN} and scheme = 'seed' and group_name = ?"
        " order by z_score desc, word",
        [GROUPS[pair]],
    ).fetchall()
    assert sum(z > 1.96 for _, z in rows) == expected["n_words_z_gt_1_96"]
    assert sum(z < -1.96 for _, z in rows) == expected["n_words_z_lt_minus_1_96"]
    for ours, theirs in ((rows[:10], expected["top10"]), (rows[::-1][:10], expected["bottom10"])):
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        assert [z for _, z in ours] == pytest.approx([z for _, z in theirs], abs=5.1e-5)
    ((nats,),) = warehouse.execute(
        f"select jsd_nats from marts.fct_word_divergence where {PLAIN} and scheme = 'seed_vectors' and group_name = ?",
        [GROUPS[pair]],
    ).fetchall()
    assert nats == pytest.approx(expected["jsd_nats"], abs=5.1e-7)
    ((mean, sd),) = warehouse.execute(
        "select published_accuracy_mean, published_accuracy_sd from marts.fct_classifier_accuracy"
        f" where {PLAIN} and scheme = 'seed_vectors' and group_name = ?",
        [GROUPS[pair]],
    ).fetchall()
    assert (mean, sd) == pytest.approx((expected["svm_cv5_mean"], expected["svm_cv5_std"]), abs=5.1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attribute", "key"), [("race", "race"), ("gender", "gender"), ("race*gender", "racegender")]
)
def test_one_vs_rest_accuracies(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any], attribute: str, key: str
) -> None:
    expected = reference["reference_code"]["svm_one_vs_rest"][key]
    ((mean, sd),) = warehouse.execute(
        "select published_accuracy_mean, published_accuracy_sd from marts.fct_classifier_accuracy"
        " where comparison = 'all_groups' and scheme = 'reference_vectors' and attribute = ?",
        [attribute],
    ).fetchall()
    assert (mean, sd) == pytest.approx((expected["mean"], expected["std"]), abs=5.1e-7)


@pytest.mark.slow
def test_six_true_contrasts_are_significant_beyond_the_threshold(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    rows = warehouse.execute(
        "select group_name, value, p_value_adjusted, status from marts.fct_findings"
        " where measure = 'word_divergence' and attribute in ('race', 'gender')"
    ).fetchall()
    assert {group for group, *_ in rows} == set(GROUPS.values())
    # Compared at equal lengths, so that they lie below the divergences of the texts as they are.
    assert all(0.045 < value < 0.15 and p < 0.05 and status == "alarm" for _, value, p, status in rows)
