"""Test the tables of word measures: types, edge cases, and that every number equals the measure's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biasledger.measures.engine.design import Design
from biasledger.measures.words.classifier_accuracy import classifier_accuracy
from biasledger.measures.words.divergence import Divergence, divergence
from biasledger.measures.words.judged import classifier_accuracies, divergences, word_statistics
from tests.python.measures.designs import design_of
from tests.python.measures.simulated_texts import comparison, corpus, counts_matrix
from tests.python.measures.tables import assert_typed


def of(n_marked: int, n_reference: int, seed: int = 1, **settings):
    features, design = corpus(np.random.default_rng(seed), n_marked, n_reference)
    return comparison(features, design, **settings)


@pytest.mark.parametrize("table", [word_statistics, divergences, classifier_accuracies])
class TestEveryTable:
    def test_is_typed_with_tested_untested_and_skipped_rows_together(self, table):
        frame = table(
            [
                of(12, 12, key="a"),
                of(12, 12, key="b", n_permutations=0),
                of(1, 3, key="c"),
                of(0, 12, key="d"),
            ]
        ).to_pandas()
        assert_typed(frame, table)
        # For a group without a text the classifier gives a reason for skipping it, and the other measures give no row.
        skipped = {"d"} if table is classifier_accuracies else set()
        assert set(frame["comparison_key"]) == {"a", "b", "c"} | skipped

    def test_labels_that_cannot_move_give_no_p_and_no_crash(self, table):
        features, design = corpus(np.random.default_rng(2), 12, 12)
        fixed = Design(design.labels, design.labels.astype(np.int64))
        frame = table([comparison(features, fixed)]).to_pandas()
        assert len(frame) >= 1
        assert frame["p_value"].isna().all()
        assert (frame["n_permutations"] == 0).all()

    def test_one_unit_in_a_group(self, table):
        frame = table([of(1, 14)]).to_pandas()
        assert len(frame) >= 1
        assert (frame["p_value"].isna() | (frame["p_value"] >= 0.01)).all()

    def test_same_comparison_same_numbers(self, table):
        pd.testing.assert_frame_equal(table([of(12, 12)]).to_pandas(), table([of(12, 12)]).to_pandas())

    def test_a_vocabulary_of_one_word(self, table):
        design = design_of(np.repeat([1, 0], 12))
        frame = table(
            [comparison(counts_matrix(np.ones((24, 1)) + np.arange(24)[:, np.newaxis] % 3), design)]
        ).to_pandas()
        assert len(frame) == 1


class TestWordStatistics:
    def test_a_word_that_appears_once_is_reported_and_not_tested(self):
        features, design = corpus(np.random.default_rng(3), 12, 12, length=25)
        frame = word_statistics([comparison(features, design)]).to_pandas()
        once = frame[(frame["n_marked"] + frame["n_reference"]) == 1]
        assert len(once) > 0
        assert (once["n_units_using"] == 1).all()
        assert once["p_value_adjusted"].isna().all()
        assert once["z_score"].notna().all()
        assert frame.loc[frame["n_units_using"] >= 2, "p_value"].notna().all()

    def test_answers_count_once_however_often_they_use_a_word(self):
        design = design_of([1, 1, 0, 0])
        features = counts_matrix(np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.0, 0.0]]))
        one = comparison(features, design)
        frame = word_statistics(
            [replace(one, units=replace(one.units, n_answers=np.array([5.0, 1.0, 2.0, 1.0])))]
        ).to_pandas()
        assert frame["n_marked_answers"].tolist() == [6.0, 1.0]
        assert frame["n_reference_answers"].tolist() == [0.0, 2.0]
        assert frame["n_marked"].tolist() == [16.0, 1.0]

    def test_contributions_sum_to_the_divergence(self):
        one = of(12, 12)
        words, [divergent] = (
            word_statistics([one]).to_pandas(),
            divergences([one]).to_pandas().to_dict("records"),
        )
        assert words["contribution"].sum() == pytest.approx(divergent["jsd"])
        assert words["signed_share"].abs().sum() == pytest.approx(1.0)
        more_marked = (
            words["n_marked"] / words["n_marked"].sum() > words["n_reference"] / words["n_reference"].sum()
        )
        assert (words.loc[words["contribution"] > 0, "signed_share"] > 0).equals(
            more_marked[words["contribution"] > 0]
        )

    def test_one_enormous_text_does_not_become_a_marked_word(self):
        # A 5 MB answer that repeats two words: the counts scream, one text is still one text.
        features, design = corpus(np.random.default_rng(4), 15, 15)
        counts = features.toarray()
        counts[0, :2] = 400_000
        frame = word_statistics([comparison(counts_matrix(counts), design, n_permutations=199)]).to_pandas()
        assert frame["z_score"].abs().max() > 20
        assert (frame["p_value_adjusted"].dropna() > 0.05).all()

    def test_comparisons_of_all_groups_have_no_words(self):
        assert word_statistics([of(12, 12, kind="all_groups")]).to_pandas().empty


class TestDivergences:
    def test_numbers_are_the_measures_own(self):
        one = of(12, 14, seed=5)
        [row] = divergences([one]).to_pandas().to_dict("records")
        seed = one.seed_for("marked_words")
        result = divergence(
            one.units.features,
            one.units.design.with_content(one.units.features),
            n_permutations=99,
            seed=seed,
        )
        assert result.test is not None
        assert row["seed"] == seed
        assert (row["jsd"], row["interval_low"], row["interval_high"]) == (
            result.jsd, result.interval_low, result.interval_high,
        )  # fmt: skip
        assert (row["null_mean"], row["p_value"], row["n_permutations"], row["is_stopped_early"]) == (
            result.test.null_mean, result.test.p_value, result.test.n_permutations, result.test.is_stopped_early,
        )  # fmt: skip

    @pytest.mark.parametrize("effect", [0.0, 2.0])
    def test_what_the_words_hand_on_is_what_a_divergence_says_alone(self, effect):
        features, design = corpus(np.random.default_rng(5), 12, 14, effect=effect)
        one = comparison(features, design)
        sharing = replace(one, shared={})
        pd.testing.assert_frame_equal(
            word_statistics([one]).to_pandas(), word_statistics([sharing]).to_pandas()
        )
        assert sharing.shared
        with_it = divergences([sharing]).to_pandas()
        assert sharing.shared == {}
        pd.testing.assert_frame_equal(with_it, divergences([one]).to_pandas())
        # It is taken, and not made anew.
        odd = replace(one, shared={"divergence": Divergence(9.0)})
        assert divergences([odd]).to_pandas()["jsd_judged"].tolist() == [9.0]
        # Without draws there are no outputs for the next measure.
        still = replace(one, shared={}, n_permutations=0)
        word_statistics([still]).to_pandas()
        assert still.shared == {}
        assert divergences([still]).to_pandas()["p_value"].isna().all()

    def test_one_enormous_text_is_no_divergence(self):
        features, design = corpus(np.random.default_rng(6), 15, 15)
        counts = features.toarray()
        counts[0, :2] = 400_000
        [row] = divergences([comparison(counts_matrix(counts), design)]).to_pandas().to_dict("records")
        assert row["jsd"] > 0.3
        assert row["p_value"] > 0.05
        assert row["interval_low"] == 0.0


class TestClassifierAccuracies:
    def test_numbers_are_the_measures_own(self):
        one = of(12, 14, seed=7)
        [row] = classifier_accuracies([one]).to_pandas().to_dict("records")
        result = classifier_accuracy(
            one.units.features,
            one.units.design.with_content(one.units.features),
            one.units.clusters,
            n_permutations=99,
            seed=one.seed_for("classifier_accuracy"),
        )
        assert result.test is not None
        assert (row["accuracy_mean"], row["balanced_accuracy"]) == (
            result.accuracy_mean,
            result.balanced_accuracy,
        )
        assert (row["interval_high"], row["p_value"]) == (result.interval_high, result.test.p_value)
        assert row["skipped_reason"] == ""
        weights = json.loads(row["coefficients"])
        assert len(weights) == 10
        assert {entry["word"] for entry in weights} <= set(one.units.words.tolist())
        sizes = [abs(entry["coefficient"]) for entry in weights]
        assert sizes == sorted(np.abs(result.coefficients), reverse=True)[:10]

    @pytest.mark.parametrize(("n_marked", "n_reference"), [(9, 30), (30, 9), (0, 30), (1, 1)])
    def test_a_group_below_ten_texts_is_skipped_with_a_reason(self, n_marked, n_reference):
        [row] = classifier_accuracies([of(n_marked, n_reference)]).to_pandas().to_dict("records")
        fewest = min(n_marked, n_reference)
        assert (
            row["skipped_reason"]
            == f"a group has {fewest} distinct text{'' if fewest == 1 else 's'}; a classifier needs at least 10 in each"
        )
        assert row["coefficients"] == "[]"
        assert np.isnan(row["accuracy_mean"])

    def test_copies_of_few_texts_are_skipped_too(self):
        # A target that refuses every prompt with the same sentence: twenty units, one text.
        features = counts_matrix(np.tile([[1.0, 2.0, 1.0]], (40, 1)))
        design = Design(np.repeat([1, 0], 20).astype(np.int8), np.tile(np.arange(20), 2))
        same = comparison(features, design, clusters=np.zeros(40, dtype=np.int64))
        [row] = classifier_accuracies([same]).to_pandas().to_dict("records")
        assert row["skipped_reason"].startswith("a group has 1 distinct text;")

    def test_seed_vectors_carry_the_published_five_folds(self):
        [row] = (
            classifier_accuracies([of(15, 15, scheme="seed_vectors", n_permutations=0)])
            .to_pandas()
            .to_dict("records")
        )
        assert 0 <= row["published_accuracy_mean"] <= 1
        assert np.isnan(row["p_value"])

    def test_reference_vectors_carry_the_published_split_of_all_groups(self):
        rows = (
            classifier_accuracies(
                [
                    of(15, 15, scheme="reference_vectors", kind="all_groups", n_permutations=0, key="a"),
                    of(15, 15, scheme="reference_vectors", n_permutations=0, key="b"),
                ]
            )
            .to_pandas()
            .set_index("comparison_key")["published_accuracy_mean"]
        )
        assert 0 <= rows["a"] <= 1
        assert np.isnan(rows["b"])

    @pytest.mark.parametrize("classes", [np.arange(30), np.arange(30) // 2])
    def test_classes_too_small_to_split_leave_the_published_column_empty(self, classes):
        one = of(15, 15, scheme="reference_vectors", kind="all_groups", classes=classes, n_permutations=0)
        [row] = classifier_accuracies([one]).to_pandas().to_dict("records")
        assert np.isnan(row["published_accuracy_mean"])
        assert 0 <= row["balanced_accuracy"] <= 1

    def test_published_numbers_follow_the_order_of_collection(self):
        features, design = corpus(np.random.default_rng(8), 15, 15, effect=0.3)
        shuffled = np.random.default_rng(9).permutation(30)
        moved = comparison(
            features[shuffled],
            Design(design.labels[shuffled], design.strata[shuffled]),
            scheme="seed_vectors",
            order=np.argsort(shuffled),
            n_permutations=0,
        )
        straight = comparison(features, design, scheme="seed_vectors", n_permutations=0)
        published = classifier_accuracies([moved, straight]).to_pandas()["published_accuracy_mean"]
        assert published[0] == published[1]
