"""Test the units whose labels are permuted for texts, and the equal lengths of compared texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasledger.measures.words import units as module
from biasledger.measures.words.units import common_lengths, equal_lengths, judged_texts
from tests.python.measures.designs import design_of
from tests.python.measures.simulated_texts import counts_matrix
from tests.python.measures.simulated_words import Answer, comparison

TEXTS = np.array([[3.0, 1, 0], [0, 2, 5], [1, 1, 1]])


class TestLengths:
    def test_ranks_of_a_stratum_share_the_shorter_length(self):
        design = design_of([1, 1, 0, 0, 1], [0, 0, 0, 0, 1])
        assert common_lengths(np.array([30.0, 10, 20, 40, 7]), design).tolist() == [30, 10, 10, 30, 7]

    def test_a_larger_group_is_held_against_the_quantiles_of_the_smaller(self):
        design = design_of([1, 0, 0, 0], [0, 0, 0, 0])
        assert common_lengths(np.array([20.0, 10, 20, 90]), design).tolist() == [20, 10, 20, 20]

    def test_all_groups_are_held_against_each_other(self):
        design = design_of([0, 1, 2], [0, 0, 0])
        assert common_lengths(np.array([30.0, 20, 25]), design).tolist() == [20, 20, 20]

    def test_texts_are_thinned_to_that_length_and_keep_their_words_shares(self):
        counts = np.tile([[600.0, 300, 100], [60, 30, 10]], (200, 1))
        design = design_of([1, 0] * 200, [0] * 400)
        thinned = equal_lengths(counts_matrix(counts), design, seed=1).toarray()
        assert (thinned[1::2] == counts[1::2]).all()
        long = thinned[::2]
        assert long.sum(axis=1).mean() == pytest.approx(100, rel=0.05)
        assert long.sum(axis=0) / long.sum() == pytest.approx([0.6, 0.3, 0.1], abs=0.02)

    def test_the_same_seed_thins_alike_and_equal_lengths_are_left_alone(self):
        rng = np.random.default_rng(2)
        features = counts_matrix(rng.poisson(3.0, size=(20, 30)))
        design = design_of([1, 0] * 10, [0] * 20)
        once, again, other = (equal_lengths(features, design, seed).toarray() for seed in (1, 1, 2))
        assert (once == again).all()
        assert (once != other).any()
        same = counts_matrix(np.tile([[2.0, 1, 4]], (20, 1)))
        assert equal_lengths(same, design, seed=1) is same

    def test_names_and_numbers_of_words_do_not_matter(self):
        rng = np.random.default_rng(3)
        counts = rng.poisson(np.repeat([0.2, 0.6], 20)[:, np.newaxis], size=(40, 200)).astype(float)
        design = design_of([0] * 20 + [1] * 20, [0] * 40)
        order = rng.permutation(200)
        named, numbered = (
            equal_lengths(counts_matrix(table), design, seed=1).toarray()
            for table in (counts, counts[:, order])
        )
        assert named.sum() < counts.sum()
        assert (named[:, order] == numbered).all()


class TestWhatMoves:
    def test_every_trial_is_an_observation_where_a_group_was_asked_once(self):
        answers = [Answer(1, 0, 0, 1, 0)] * 3 + [
            Answer(1, 0, 0, 1, 1),
            *[Answer(0, 0, 1, 0, 2)] * 2,
            Answer(0, 0, 1, 0, 1),
        ]
        judged = judged_texts(comparison(answers, TEXTS, 1))
        assert judged.first.name == "trials"
        assert (judged.first.design.count(1), judged.first.design.count(0)) == (4, 3)
        assert judged.descriptors is None

    def test_a_prompt_with_one_answer_counts_once(self):
        answers = [*[Answer(1, 0, 0, 1, 0)] * 15, *[Answer(0, 0, 1, 0, 2)] * 14, Answer(0, 0, 1, 0, 1)]
        judged = judged_texts(comparison(answers, TEXTS, 1))
        assert (judged.first.design.count(1), judged.first.design.count(0)) == (1, 15)

    def test_all_answers_to_a_prompt_move_together_where_a_group_was_asked_several(self):
        answers = [
            Answer(label, subject, 2 * subject + label, label, (subject + trial) % 2)
            for subject in range(6)
            for label in (0, 1)
            for trial in range(15)
        ]
        judged = judged_texts(comparison(answers, TEXTS, 1))
        assert judged.first.name == "prompts"
        assert judged.first.design.n_units == 12
        assert judged.first.design.can_move()
        assert judged.rows.moves.of_row.size == 180
        assert np.bincount(judged.rows.moves.of_row).tolist() == [15] * 12

    @pytest.mark.parametrize(("n_names", "are_judged"), [(4, False), (5, True)])
    def test_names_are_judged_from_five_a_group_on(self, n_names, are_judged):
        answers = [
            Answer(label, subject, (2 * subject + label) * 10 + name, label * 10 + name, (name + subject) % 3)
            for subject in range(3)
            for label in (0, 1)
            for name in range(n_names)
        ]
        judged = judged_texts(comparison(answers, TEXTS, 1))
        assert (judged.descriptors is not None) == are_judged
        assert len(judged.all_units) == 1 + are_judged
        if judged.descriptors is not None:
            assert judged.descriptors.design.n_units == 2 * n_names
            # Names bring all their texts, so that both groups have the same lengths again.
            assert judged.descriptors.features.shape == (10, 3)

    def test_names_that_stand_next_to_other_groups_do_not_change_places(self):
        answers = [
            Answer(label, subject, (2 * subject + label) * 10 + name, label * 10 + name, name % 3)
            for subject in range(2)
            for label in (0, 1)
            for name in range(6)
        ]
        given = comparison(answers, TEXTS, 1)
        apart, alone = (
            replace(given, units=replace(given.units, name_strata=strata.astype(np.int64)))
            for strata in (given.units.classes % 2, given.units.classes)
        )
        assert np.unique(judged_texts(apart).descriptors.design.strata).tolist() == [0, 1]
        assert judged_texts(alone).descriptors is None

    def test_counted_answers_stay_within_memory(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_TRIALS", 100)
        trials = module.whole_trials(np.array([1e9, 1e9, 0.25, 3.0]))
        assert trials.tolist() == [50, 50, 1, 1]
        assert module.whole_trials(np.array([2.0, 0.3])).tolist() == [2, 1]
