"""Test the gap of lengths: its value, its test and the texts that it leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.words.lengths import length_gap
from tests.python.measures.simulated_texts import comparison as compared
from tests.python.measures.simulated_texts import corpus
from tests.python.measures.simulated_words import Answer, comparison, lengths, repeats


def test_is_the_log_ratio_of_geometric_means():
    counts = np.diag([10.0, 20.0, 40.0, 80.0])
    answers = [Answer(1, 0, 0, 1, 2), Answer(1, 0, 0, 1, 3), Answer(0, 0, 1, 0, 0), Answer(0, 0, 1, 0, 1)]
    result = length_gap(comparison(answers, counts, 1).units, n_permutations=99, alpha=0.05, seed=1)
    assert result is not None
    assert (result.tokens_marked, result.tokens_reference) == (60, 15)
    assert result.gap.adjusted_gap == pytest.approx(np.log(4))


def test_answers_that_are_as_long_have_no_gap():
    features, design = corpus(np.random.default_rng(1), 20, 20)
    result = length_gap(compared(features, design).units, n_permutations=99, alpha=0.05, seed=1)
    assert result is not None
    assert result.gap.adjusted_gap == pytest.approx(0, abs=1e-12)
    assert result.gap.test is not None
    assert result.gap.test.p_value > 0.5


def test_answers_three_times_shorter_are_found_and_equal_ones_are_not():
    p_values = []
    for seed in range(20):
        shorter = length_gap(
            lengths(seed, 15, 15, times_shorter=3.0).units, n_permutations=99, alpha=0.05, seed=seed
        )
        assert shorter is not None
        assert shorter.gap.test is not None
        assert shorter.gap.test.p_value == 0.01
        assert shorter.gap.adjusted_high < np.log(1 / 1.25)
        alike = length_gap(
            lengths(seed, 15, 15, times_shorter=1.0).units, n_permutations=99, alpha=0.05, seed=seed
        )
        assert alike is not None
        assert alike.gap.test is not None
        p_values.append(alike.gap.test.p_value)
    assert sum(p <= 0.05 for p in p_values) <= stats.binom.ppf(0.9999, 20, 0.05)


def test_prompts_move_with_all_their_answers():
    result = length_gap(repeats(1, 0.5, 0.5).units, n_permutations=99, alpha=0.05, seed=1)
    assert result is not None
    assert result.gap.n_cases == 12


def test_a_comparison_without_a_group_has_none():
    features, design = corpus(np.random.default_rng(2), 0, 5)
    assert length_gap(compared(features, design).units, n_permutations=99, alpha=0.05, seed=1) is None
