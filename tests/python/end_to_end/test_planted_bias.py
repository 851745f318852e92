"""Test the whole path on a simulated model: alarms only where bias was planted."""

from __future__ import annotations

import json
import re
from collections import Counter

import duckdb
import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from tests.python.project import Project

REMOVED = {
    *("she he him her his hers herself himself they them their theirs themself themselves").split(),
    *("asian asians black blacks white whites latino latinos latina latinas latine latinx hispanic").split(),
    *("middle-eastern man men man's men's woman women woman's women's nonbinary non-binary").split(),
    *("male males female females mr mrs ms mx").split(),
}


def test_planted_race_bias_fires_on_every_measure(planted: Project) -> None:
    alarms = planted.rows(
        "select measure, attribute, group_name from marts.fct_alarms where severity = 'error' order by all"
    )
    races = ("Asian", "Black", "Latino", "Middle-Eastern")
    measures = ("classifier_accuracy", "marked_words", "word_divergence")
    assert alarms == [(measure, "race", race) for measure in measures for race in races]


def test_untouched_attribute_is_silent(planted: Project) -> None:
    statuses = planted.rows("select distinct status from marts.fct_findings where attribute = 'gender'")
    assert {status for (status,) in statuses} <= {"clear", "inconclusive"}


def test_the_published_rule_would_call_the_untouched_attribute_biased(planted: Project) -> None:
    fired = planted.rows(
        "select count(*) from marts.fct_marked_words"
        " where attribute = 'gender' and scheme = 'words' and is_marked_published"
    )
    assert fired[0][0] > 0


def test_product_types_are_marked_where_they_were_steered_alone(planted: Project) -> None:
    rows = planted.rows(
        "select attribute, bool_or(is_marked) from marts.fct_marked_words where scheme = 'keys' group by 1 order by 1"
    )
    assert rows == [("gender", False), ("race", True)]
    counted = planted.rows(
        "select word, n_group_uses, n_reference_uses from marts.fct_marked_words"
        " where scheme = 'keys' and attribute = 'race' and group_name = 'Black'"
    )
    with duckdb.connect(str(planted.ledger), read_only=True) as ledger:
        answers = ledger.execute(
            "select group_name, response_text from raw.responses join raw.prompt_attributes using (run_id, prompt_id)"
            " where attribute = 'race' and group_name in ('Black', 'White') and status = 'ok'"
        ).fetchall()
    found = {"Black": Counter[str](), "White": Counter[str]()}
    for group, text in answers:
        found[group].update(key.lower() for key in json.loads(text))
    assert {word: (marked, reference) for word, marked, reference in counted} == {
        word: (found["Black"][word], found["White"][word]) for word in found["Black"] | found["White"]
    }


def test_failing_rows_stay_queryable(planted: Project) -> None:
    rows = planted.work_rows("select measure, count(*) from alarms.alarm_words group by 1 order by 1")
    assert rows == [("classifier_accuracy", 4), ("marked_words", 4), ("word_divergence", 4)]


def test_everything_is_labelled_simulated(planted: Project) -> None:
    assert planted.rows("select distinct is_simulated from marts.fct_findings") == [(True,)]
    assert planted.rows("select is_simulated, n_prompts, n_responses from marts.dim_runs") == [
        (True, 120, 240)
    ]


def test_divergence_equals_an_independent_computation(planted: Project) -> None:
    """Tokenised, anonymised and summed in Python from the ledger's texts, divergence by scipy."""
    with duckdb.connect(str(planted.ledger), read_only=True) as ledger:
        rows = ledger.execute(
            "select attributes.group_name, responses.answer_text from raw.responses as responses"
            " join raw.prompt_attributes as attributes using (run_id, prompt_id)"
            " where attributes.attribute = 'race' and responses.status = 'ok'"
        ).fetchall()
    counts: dict[str, Counter[str]] = {}
    for group, text in rows:
        words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text.lower().replace("’", "'"))
        counts.setdefault(group, Counter()).update(word for word in words if word not in REMOVED)
    vocabulary = sorted(set(counts["Black"]) | set(counts["White"]))
    black, white = (np.array([counts[group][word] for word in vocabulary]) for group in ("Black", "White"))
    ((jsd,),) = planted.rows(
        "select jsd from marts.fct_word_divergence"
        " where scheme = 'words' and group_name = 'Black' and comparison = 'against_reference'"
    )
    assert jsd == pytest.approx(jensenshannon(black, white, base=2) ** 2, abs=1e-12)
    contributions = planted.rows(
        "select sum(contribution), sum(abs(signed_share)) from marts.fct_word_divergence_words"
        " where scheme = 'words' and group_name = 'Black' and comparison = 'against_reference'"
    )
    assert contributions[0] == pytest.approx((jsd, 1.0), abs=1e-9)


def test_no_identity_word_reaches_the_measures(planted: Project) -> None:
    words = {
        word
        for (word,) in planted.rows("select distinct word from marts.fct_marked_words where scheme = 'words'")
    }
    assert len(words) > 100
    assert not words & REMOVED


def test_what_judges_nothing_draws_a_quarter_of_the_least_number(planted: Project) -> None:
    drawn = planted.work_rows(
        "select scheme = 'words', comparison = 'against_reference', contains(attribute, '*'), max(n_permutations)"
        " from intermediate.int_words_comparisons where scheme <> 'keys' group by all order by all"
    )
    # Judged together: three measures of six groups, by a margin of ten; of intersections twice is less than the least number.
    judged = round(10 * 3 * 6 / 0.05) - 1
    assert {row[3] for row in drawn if not row[0]} == {0}
    assert [row[1:] for row in drawn if row[0]] == [
        (False, False, 499),
        (False, True, 499),
        (True, False, judged),
        (True, True, 1999),
    ]
    keys = planted.work_rows(
        "select distinct n_permutations from intermediate.int_words_comparisons where scheme = 'keys'"
    )
    assert keys == [(499,)]


def test_every_group_is_accounted_for(planted: Project) -> None:
    rows = planted.rows(
        "select attribute, count(*), sum(n_answers), sum(n_ok) from marts.fct_answer_quality group by 1 order by 1"
    )
    assert rows == [("gender", 3, 240, 240), ("race", 5, 240, 240), ("race*gender", 15, 240, 240)]


def test_top_coefficients_name_ten_words_a_pair(planted: Project) -> None:
    rows = planted.rows(
        "select group_name, count(*), max(coefficient_rank) from marts.fct_classifier_words"
        " where scheme = 'words' and attribute = 'race' group by 1 order by 1"
    )
    assert rows == [(race, 10, 10) for race in ("Asian", "Black", "Latino", "Middle-Eastern")]


def test_every_finding_carries_its_provenance(planted: Project) -> None:
    missing = planted.rows(
        "select count(*) from marts.fct_findings"
        " where spec_hash not like 'sha256:%' or analysis_hash not like 'sha256:%' or threshold_hash is null"
        " or seed is null or explanation is null or engine_version is null"
    )
    assert missing == [(0,)]
