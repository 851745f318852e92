"""Test classifier accuracy against scikit-learn on raw texts: columns, folds, the ridge test and the interval's limit."""

from __future__ import annotations

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from biasledger.measures.engine.design import Design, Moves
from biasledger.measures.engine.resampling import Draws
from biasledger.measures.words import classifier_accuracy as module
from biasledger.measures.words.classifier_accuracy import (
    assign_folds,
    classifier_accuracy,
)
from biasledger.measures.words.kernel_ridge import RIDGE, ridge_folds, text_kernel
from biasledger.measures.words.units import judged_texts
from tests.python.measures.designs import design_of
from tests.python.measures.simulated_texts import corpus, counts_matrix, spelling, texts
from tests.python.measures.simulated_words import named, unbalanced, unequal


def three_groups(rng: np.random.Generator, n_units: int, effect: float) -> tuple[sparse.csr_array, Design]:
    """Three groups of n_units texts each; each uses a word of its own exp(effect) times as often."""
    counts = []
    for group in range(3):
        shares = np.ones(60)
        shares[group] *= np.exp(effect)
        counts.append(rng.multinomial(40, shares / shares.sum(), size=n_units))
    labels = np.repeat(np.arange(3), n_units).astype(np.int8)
    return counts_matrix(np.concatenate(counts)), Design(labels, np.tile(np.arange(n_units) % 2, 3))


def answered(n_answers: np.ndarray, *, one_stratum: bool = False) -> tuple[Design, Moves]:
    """Prompts of two groups in pairs, or all in one stratum, and the answers to each: (n_prompts,) how many."""
    prompts = np.arange(n_answers.size)
    strata = np.zeros_like(prompts) if one_stratum else prompts // 2
    units = Design((prompts % 2).astype(np.int8), strata)
    of_row = np.repeat(prompts, n_answers)
    return units.of(of_row), Moves(units, of_row)


def draws(n_permutations: int, seed: int, stop_after: int | None) -> Draws:
    return {"n_permutations": n_permutations, "seed": seed, "stop_after": stop_after}


def exact_svm() -> LinearSVC:
    return LinearSVC(class_weight="balanced", dual=False, tol=1e-8, max_iter=10_000)


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classifier goes on until it has found the minimum."""
    monkeypatch.setattr(module, "SVM_TOLERANCE", 1e-8)


@pytest.mark.usefixtures("exactly")
class TestPublishedColumns:
    @pytest.mark.parametrize(
        ("weighting", "vectoriser"), [("counts", CountVectorizer), ("tfidf", TfidfVectorizer)]
    )
    def test_equal_a_pipeline_refitted_on_raw_texts_inside_the_folds(self, weighting, vectoriser):
        features, design = corpus(np.random.default_rng(1), 23, 31, length=30, effect=0.5)
        clusters = np.arange(54)
        folds = assign_folds(design, clusters, seed=7)
        documents = np.array(texts(features), dtype=object)
        predicted = np.empty(54, dtype=int)
        accuracies = []
        for fold in range(5):
            held_out = folds == fold
            pipeline = make_pipeline(vectoriser(min_df=2), exact_svm())
            pipeline.fit(documents[~held_out], design.labels[~held_out])
            predicted[held_out] = pipeline.predict(documents[held_out])
            accuracies.append((predicted[held_out] == design.labels[held_out]).mean())
        result = classifier_accuracy(
            features, design, clusters, n_permutations=0, seed=7, weighting=weighting
        )
        assert result.accuracy_mean == pytest.approx(np.mean(accuracies))
        assert result.accuracy_sd == pytest.approx(np.std(accuracies))
        assert result.balanced_accuracy == pytest.approx(balanced_accuracy_score(design.labels, predicted))
        assert result.chance == pytest.approx(31 / 54)
        assert result.test is None

    @pytest.mark.parametrize(
        ("weighting", "vectoriser"), [("counts", CountVectorizer), ("tfidf", TfidfVectorizer)]
    )
    def test_coefficients_are_those_of_a_fit_on_all_texts(self, weighting, vectoriser):
        features, design = corpus(np.random.default_rng(2), 20, 20, length=30, effect=0.8)
        pipeline = make_pipeline(vectoriser(min_df=2), exact_svm())
        pipeline.fit(texts(features), design.labels)
        expected = dict(zip(pipeline[0].get_feature_names_out(), pipeline[1].coef_[0], strict=True))
        result = classifier_accuracy(
            features, design, np.arange(40), n_permutations=0, seed=1, weighting=weighting
        )
        words = spelling(features.shape[1])
        assert result.coefficients == pytest.approx([expected.get(word, 0.0) for word in words], abs=1e-6)
        assert result.coefficients[0] > 0 > result.coefficients[1]

    def test_where_a_group_has_no_text_nothing_is_learnt(self):
        features, design = corpus(np.random.default_rng(5), 10, 10)
        design = Design((design.labels * 2).astype(np.int8), design.strata)
        result = classifier_accuracy(features, design, np.arange(20), n_permutations=19, seed=1)
        assert np.isnan([result.accuracy_mean, result.balanced_accuracy, result.interval_high]).all()

    def test_words_of_one_text_alone_still_leave_something_to_fit(self):
        features, design = (
            counts_matrix(np.eye(12)),
            design_of(np.tile([0, 1], 6)),
        )
        result = classifier_accuracy(features, design, np.arange(12), n_permutations=19, seed=1)
        assert 0 <= result.balanced_accuracy <= 1


class TestAssignFolds:
    def test_clusters_never_straddle_folds(self):
        rng = np.random.default_rng(3)
        for seed in range(20):
            clusters = rng.integers(0, 25, size=80)
            design = Design(rng.integers(0, 2, size=80).astype(np.int8), rng.integers(0, 4, size=80))
            folds = assign_folds(design, clusters, seed=seed)
            assert all(np.unique(folds[clusters == cluster]).size == 1 for cluster in np.unique(clusters))

    @pytest.mark.parametrize("per_stratum", [1, 2, 3, 15])
    def test_groups_of_a_stratum_share_folds_and_folds_are_even(self, per_stratum):
        n_strata = 30
        strata = np.tile(np.repeat(np.arange(n_strata), per_stratum), 2)
        labels = np.repeat([1, 0], n_strata * per_stratum).astype(np.int8)
        folds = assign_folds(Design(labels, strata), np.arange(labels.size), seed=1)
        for stratum in range(n_strata):
            inside = strata == stratum
            assert sorted(folds[inside & (labels == 1)]) == sorted(folds[inside & (labels == 0)])
        for label in (0, 1):
            assert np.ptp(np.bincount(folds[labels == label], minlength=5)) <= 1

    def test_a_missing_unit_does_not_keep_the_other_labels_from_moving(self):
        # Thirty templates, one text each: without the first template's reference the other pairs still share folds.
        strata = np.concatenate([np.arange(30), np.arange(1, 30)])
        labels = np.repeat([1, 0], [30, 29]).astype(np.int8)
        design = Design(labels, strata)
        folds = assign_folds(design, np.arange(59), seed=1)
        assert (folds[1:30] == folds[30:]).all()
        assert design.within(folds).can_move()

    def test_a_small_group_lies_in_every_fold(self):
        labels = np.repeat([0, 1], [90, 10]).astype(np.int8)
        strata = np.concatenate([np.arange(90) % 3, np.arange(10) % 3])
        folds = assign_folds(Design(labels, strata), np.arange(100), seed=2)
        assert np.bincount(folds[labels == 1], minlength=5).min() >= 1

    def test_copies_in_both_groups_leave_every_training_set_both_groups(self):
        # Nine of ten marked texts are copies of reference texts, which are many.
        clusters = np.concatenate([np.arange(100), np.arange(9), [100]])
        labels = np.repeat([0, 1], [100, 10]).astype(np.int8)
        for seed in range(50):
            folds = assign_folds(design_of(labels), clusters, seed=seed)
            assert np.bincount(folds[labels == 1], minlength=5).min() >= 1

    def test_seed_alone_decides(self):
        _, design = corpus(np.random.default_rng(4), 30, 30)
        first, again, other = (assign_folds(design, np.arange(60), seed=seed) for seed in (1, 1, 2))
        assert (first == again).all()
        assert (first != other).any()


class TestRidge:
    def test_statistic_is_that_of_ridge_classifiers_fitted_one_by_one(self):
        features, design = corpus(np.random.default_rng(6), 20, 20, effect=0.4)
        folds = assign_folds(design, np.arange(40), seed=1)
        result = module._ridge_test(features, design, folds, draws(49, 3, None))
        # A linear kernel's features are recovered from its eigenvectors.
        values, vectors = np.linalg.eigh(text_kernel(features))
        points = vectors * np.sqrt(np.clip(values, 0, None))
        predicted = np.empty(40)
        for fold in range(5):
            held_out = folds == fold
            signs = np.where(design.labels[~held_out] == 1, 1.0, -1.0)
            ridge = Ridge(alpha=RIDGE).fit(points[~held_out], signs)
            predicted[held_out] = ridge.predict(points[held_out]) > signs.mean()
        assert result.observed == pytest.approx(balanced_accuracy_score(design.labels, predicted))

    def test_of_three_groups_the_last_score_is_what_the_others_leave(self):
        features, design = three_groups(np.random.default_rng(9), 20, 2.0)
        folds = assign_folds(design, np.arange(60), seed=1)
        # Some texts are learnt from in no fold that they could be.
        learnt = [(folds != fold) & (np.arange(60) % 9 != fold) for fold in range(5)]
        result = module._ridge_test(features, design, folds, draws(49, 3, None), training=learnt)
        kernel, predicted = text_kernel(features), np.empty(60)
        for fold in range(5):
            held_out = folds == fold
            [ridge] = ridge_folds(kernel, [learnt[fold]], [held_out])
            members = design.labels[learnt[fold]] == np.arange(3)[:, np.newaxis]
            # Every group's score by itself, coded by the inverse of its size.
            predicted[held_out] = ((members / members.sum(axis=1, keepdims=True)) @ ridge.hat.T).argmax(
                axis=0
            )
        assert result.observed == pytest.approx(balanced_accuracy_score(design.labels, predicted))
        assert 0.4 < result.observed < 1

    @pytest.mark.parametrize("n_groups", [2, 3])
    def test_between_equal_texts_the_first_group_is_chosen_however_sums_round(self, monkeypatch, n_groups):
        own = corpus(np.random.default_rng(11), 6, 6)[0]
        features = sparse.csr_array(sparse.vstack([own] * n_groups))
        labels = np.repeat(np.arange(n_groups), 12).astype(np.int8)
        design = design_of(labels)
        # Copies are in one fold, so that each held-out text is as near to every group.
        folds = np.tile(np.arange(12) % 4, n_groups)
        kernel = text_kernel(features)
        result = module._ridge_test(features, design, folds, draws(99, 3, None))
        shaken = kernel * (1 + 1e-14 * np.random.default_rng(12).standard_normal(kernel.shape))
        monkeypatch.setattr(module, "text_kernel", lambda _: (shaken + shaken.T) / 2)
        assert module._ridge_test(features, design, folds, draws(99, 3, None)) == result
        assert result.observed == pytest.approx(1 / n_groups)

    def test_a_kernel_that_is_there_is_the_one_that_would_be_made(self):
        features, design = corpus(np.random.default_rng(10), 20, 20, effect=0.4)
        folds = assign_folds(design, np.arange(40), seed=1)
        kernel = text_kernel(features)
        made = module._ridge_test(features, design, folds, draws(49, 3, None))
        assert module._ridge_test(features, design, folds, draws(49, 3, None), kernel=kernel) == made
        limits = [module._limit_of_accuracy(features, design, 0.7, kernel=one) for one in (None, kernel)]
        assert limits[0] == limits[1]

    def test_folds_that_are_left_with_no_text_to_learn_from_say_nothing(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_UNITS_FOR_P", 40)
        rng = np.random.default_rng(3)
        # Nearly all answers are one refusal, which the fold that holds it out cannot learn from.
        design, moves = answered(np.full(100, 20), one_stratum=True)
        features, clusters = np.zeros((2000, 30), dtype=int), np.zeros(2000, dtype=np.int64)
        features[:, :2] = 1
        for label in (0, 1):
            own = rng.choice(np.flatnonzero(design.labels == label), 12, replace=False)
            clusters[own] = 1 + label * 12 + np.arange(12)
            features[own] = rng.poisson(0.3, size=(12, 30)) + 1
        learnt: list[int] = []

        def noted(kernel, masks, held_out):
            learnt.extend(int(mask.sum()) for mask in masks)
            return ridge_folds(kernel, masks, held_out)

        monkeypatch.setattr(module, "ridge_folds", noted)
        result = classifier_accuracy(
            sparse.csr_array(features), design, clusters, n_permutations=49, seed=1, moved=moves
        )
        assert min(learnt) == 0
        assert result.test is not None
        assert result.test.p_value > 0.05


class TestClassifierAccuracyTest:
    def nulls(self, n_marked: int, n_reference: int, n_nulls: int) -> tuple[np.ndarray, np.ndarray]:
        """p-values of corpora without a difference, and the SVM's balanced accuracy on the first 30 of them."""
        rng = np.random.default_rng(8)
        p_values, accuracies = [], []
        for seed in range(n_nulls):
            features, design = corpus(rng, n_marked, n_reference, n_words=60, length=25)
            folds = assign_folds(design, np.arange(design.n_units), seed=seed)
            p_values.append(module._ridge_test(features, design, folds, draws(99, seed, 50)).p_value)
            if seed < 30:
                found = classifier_accuracy(
                    features, design, np.arange(design.n_units), n_permutations=0, seed=seed
                )
                accuracies.append(found.balanced_accuracy)
        return np.array(p_values), np.array(accuracies)

    def test_p_is_uniform_or_larger_under_the_null(self):
        p_values, accuracies = self.nulls(15, 15, 150)
        for alpha in (0.05, 0.2, 0.5):
            assert (p_values <= alpha).mean() <= alpha + 3 * sqrt(alpha * (1 - alpha) / 150)
        # Ties make p larger, never much: the test is not merely silent.
        assert (p_values <= 0.5).mean() > 0.25
        assert accuracies.mean() == pytest.approx(0.5, abs=0.06)

    @pytest.mark.slow
    def test_unequal_groups_do_not_look_separable(self):
        p_values, accuracies = self.nulls(10, 90, 60)
        assert (p_values <= 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 60)
        assert accuracies.mean() == pytest.approx(0.5, abs=0.06)

    @pytest.mark.parametrize(("n_marked", "n_reference"), [(20, 20), (12, 108)])
    def test_planted_bias_fires(self, n_marked, n_reference):
        features, design = corpus(np.random.default_rng(9), n_marked, n_reference, effect=1.2)
        result = classifier_accuracy(features, design, np.arange(design.n_units), n_permutations=199, seed=1)
        assert result.test is not None
        assert result.test.p_value < 0.02
        assert result.interval_low > 0.5

    def test_copies_do_not_leak(self):
        # Each text occurs once in answer to each of two prompts; no group differs, and copies predict one another perfectly.
        rng = np.random.default_rng(10)
        accuracies = []
        for seed in range(15):
            features, _ = corpus(rng, 15, 15, n_words=60, length=25)
            twice = sparse.csr_array(sparse.vstack([features, features]))
            labels, clusters = np.tile(np.repeat([1, 0], 15), 2).astype(np.int8), np.tile(np.arange(30), 2)
            design = Design(labels, np.repeat([0, 1], 30))
            accuracies.append(
                classifier_accuracy(twice, design, clusters, n_permutations=0, seed=seed).balanced_accuracy
            )
        assert np.mean(accuracies) == pytest.approx(0.5, abs=0.1)

    def test_perfect_separation_keeps_an_interval(self):
        labels = np.repeat([1, 0], 15).astype(np.int8)
        noise = np.random.default_rng(11).poisson(1.0, size=(30, 20))
        features = counts_matrix(np.column_stack([20 * labels, 20 * (1 - labels), noise]))
        result = classifier_accuracy(
            features, Design(labels, np.tile(np.arange(3), 10)), np.arange(30), n_permutations=199, seed=1
        )
        assert result.balanced_accuracy == 1.0
        assert result.standard_error > 0.01
        assert 0.5 < result.interval_low < 1.0
        assert result.interval_high == pytest.approx(1.0, abs=0.01)

    def test_three_groups(self):
        features, design = three_groups(np.random.default_rng(12), 20, 2.0)
        result = classifier_accuracy(features, design, np.arange(60), n_permutations=199, seed=1)
        assert result.test is not None
        assert result.test.p_value == 1 / 200
        assert result.test.null_mean == pytest.approx(1 / 3, abs=0.03)
        assert result.coefficients.size == 0
        assert result.chance == pytest.approx(1 / 3)
        assert 1 / 3 < result.interval_low < result.balanced_accuracy < result.interval_high <= 1

    def test_three_groups_without_a_difference(self):
        rng = np.random.default_rng(13)
        p_values = []
        for seed in range(40):
            features, design = three_groups(rng, 12, 0.0)
            folds = assign_folds(design, np.arange(36), seed=seed)
            p_values.append(module._ridge_test(features, design, folds, draws(99, seed, 50)).p_value)
        assert (np.array(p_values) <= 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 40)

    def test_labels_that_cannot_move_give_no_p(self):
        features, _ = corpus(np.random.default_rng(14), 12, 12)
        design = Design(np.repeat([1, 0], 12).astype(np.int8), np.repeat([0, 1], 12))
        result = classifier_accuracy(features, design, np.arange(24), n_permutations=99, seed=1)
        assert result.test is None
        assert np.isnan([result.interval_low, result.interval_high, result.standard_error]).all()

    def test_same_seed_same_numbers(self):
        features, design = corpus(np.random.default_rng(15), 15, 15, effect=0.3)
        first, again = (
            classifier_accuracy(features, design, np.arange(30), n_permutations=49, seed=5) for _ in range(2)
        )
        assert first.coefficients.tolist() == again.coefficients.tolist()
        assert (first.test, first.interval_high) == (again.test, again.interval_high)


class TestThinning:
    def test_many_units_are_thinned_evenly(self):
        design = Design((np.arange(3000) % 2).astype(np.int8), np.arange(3000) // 2 % 3)
        folds = assign_folds(design, np.arange(3000), seed=1)
        kept = module._thin(design, folds, module.MAX_UNITS_FOR_P)
        assert kept.size == module.MAX_UNITS_FOR_P
        assert np.unique(kept).size == kept.size
        cells = np.unique(
            np.column_stack([design.labels, design.strata, folds])[kept], axis=0, return_counts=True
        )[1]
        assert cells.size == 2 * 3 * 5
        assert np.ptp(cells) <= 2

    def test_a_small_group_next_to_a_huge_one_is_kept_whole(self):
        labels = np.zeros(30_000, dtype=np.int8)
        labels[::3000] = 1
        kept = module._thin(design_of(labels), np.arange(30_000) % 5, module.MAX_UNITS_FOR_P)
        assert labels[kept].sum() == 10
        assert kept.size <= module.MAX_UNITS_FOR_P

    def test_thinned_tests_find_planted_bias_and_nothing_else(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_UNITS_FOR_P", 60)
        rng = np.random.default_rng(16)
        p_values = []
        for seed, effect in enumerate([1.0, 0.0, 0.0, 0.0]):
            features, design = corpus(rng, 100, 100, effect=effect)
            result = classifier_accuracy(features, design, np.arange(200), n_permutations=99, seed=seed)
            assert result.test is not None
            p_values.append(result.test.p_value)
        assert p_values[0] == 0.01
        assert min(p_values[1:]) > 0.01

    def test_a_classifier_is_given_so_many_texts_evenly(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_TEXTS", 120)
        features, design = corpus(np.random.default_rng(17), 200, 200, effect=1.0)
        drawn, alone = (
            classifier_accuracy(features[rows], design.of(rows), rows, n_permutations=99, seed=1)
            for rows in (np.arange(400), module._drawn(design, 120))
        )
        assert drawn.n_texts == alone.n_texts == 120
        assert (drawn.balanced_accuracy, drawn.test) == (alone.balanced_accuracy, alone.test)

    def test_of_many_pairs_whole_ones_are_drawn(self):
        # One question of the marked group is missing, which must not part the others.
        design = Design(np.tile([0, 1], 5_000)[1:].astype(np.int8), np.repeat(np.arange(5_000), 2)[1:])
        kept = module._drawn(design, 1_000)
        assert kept.size == pytest.approx(1_000, abs=2)
        assert np.unique(design.strata[kept], return_counts=True)[1].sum() == kept.size
        assert (np.unique(design.strata[kept][1:], return_counts=True)[1] == 2).mean() > 0.99

    def test_where_no_whole_stratum_fits_one_is_drawn(self):
        design = Design(np.tile([0, 1], 30).astype(np.int8), np.repeat(np.arange(3), 20))
        assert module._drawn(design, 5).size == 20

    @pytest.mark.parametrize(
        ("per_group", "n_answers", "one_stratum", "expected"),
        [
            (12, 2_000, False, 833),
            (8, 5_000, True, 1_250),
            (5, 10_001, False, 2_000),
            (5, 10_001, True, 2_000),
            (1, 50_000, False, 10_000),
        ],
    )
    def test_every_prompt_is_kept_and_its_answers_are_thinned(
        self, per_group, n_answers, one_stratum, expected
    ):
        design, moved = answered(np.full(2 * per_group, n_answers), one_stratum=one_stratum)
        kept = module._drawn_texts(design, moved)
        assert set(np.bincount(moved.of_row[kept])) == {expected}
        for unit in range(2 * per_group):
            gaps = np.diff(kept[moved.of_row[kept] == unit])
            assert np.ptp(gaps) <= 1
        assert kept.tolist() == module._drawn_texts(design, moved).tolist()

    def test_prompts_of_few_answers_keep_all(self):
        design, moved = answered(np.array([3, 30_000, 4_999, 5_000]))
        assert np.bincount(moved.of_row[module._drawn_texts(design, moved)]).tolist() == [
            3,
            5_000,
            4_999,
            5_000,
        ]

    def test_up_to_the_cap_every_text_is_kept(self):
        design, moved = answered(np.full(20, 1_000))
        assert module._drawn_texts(design, moved).tolist() == list(range(20_000))

    def test_of_more_prompts_than_texts_whole_pairs_are_drawn_with_a_text_each(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_TEXTS", 100)
        design, moved = answered(np.full(300, 2))
        kept = module._drawn_texts(design, moved)
        assert np.bincount(design.labels[kept]).tolist() == [50, 50]
        assert set(np.bincount(design.strata[kept])) == {0, 2}
        assert np.bincount(moved.of_row[kept]).max() == 1

    def test_how_prompts_rows_lie_between_each_other_does_not_matter(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_TEXTS", 100)
        design, moved = answered(np.array([40, 31, 5, 17, 60, 22]))
        kept = module._drawn_texts(design, moved)
        rng = np.random.default_rng(18)
        mixed = np.argsort(rng.permutation(moved.of_row), kind="stable").argsort()
        again = module._drawn_texts(design.of(mixed), Moves(moved.design, moved.of_row[mixed]))
        assert np.any(mixed != np.arange(mixed.size))
        assert np.sort(mixed[again]).tolist() == kept.tolist()
        # In any order at all, each prompt keeps as many.
        shuffled = Moves(moved.design, rng.permutation(moved.of_row))
        sizes = np.bincount(shuffled.of_row[module._drawn_texts(design, shuffled)])
        assert sizes.tolist() == np.bincount(moved.of_row[kept]).tolist() == [16, 16, 5, 16, 16, 16]

    def test_a_capped_classifier_of_prompts_keeps_their_arrangements(self, monkeypatch):
        features, design, moved = TestPromptsAndNames().prompts(1, 1.0)
        whole = classifier_accuracy(features, design, np.arange(360), n_permutations=99, seed=1, moved=moved)
        assert whole.n_texts == 360
        monkeypatch.setattr(module, "MAX_TEXTS", 100)
        kept = module._drawn_texts(design, moved)
        assert set(np.bincount(moved.of_row[kept])) == {4}
        capped, alone = (
            classifier_accuracy(
                features[rows], design.of(rows), rows, n_permutations=99, seed=1, moved=moved.of(rows)
            )
            for rows in (np.arange(360), kept)
        )
        assert capped.n_texts == alone.n_texts == 96
        assert (capped.balanced_accuracy, capped.test) == (alone.balanced_accuracy, alone.test)


class TestInterval:
    def test_limit_inverts_the_learning_curve(self):
        features, design = corpus(np.random.default_rng(17), 25, 25)
        dimensions = module.DIMENSION_FACTOR * module._effective_dimensions(features, design)
        for accuracy in (0.55, 0.7, 0.9):
            limit = module._limit_of_accuracy(features, design, accuracy)
            distance = 2 * stats.norm.ppf(limit)
            with_40_texts = stats.norm.cdf(distance**2 / (2 * sqrt(distance**2 + 4 * dimensions / 40)))
            assert with_40_texts == pytest.approx(accuracy, abs=1e-9)
            assert limit > accuracy

    def test_effective_dimensions_are_estimated_without_bias(self, monkeypatch):
        variances = np.array([4.0, 2.0, 1.0, 1.0, 0.5])
        truth = variances.sum() ** 2 / (variances**2).sum()
        rng = np.random.default_rng(18)
        monkeypatch.setattr(module, "text_kernel", lambda points: points @ points.T)
        design = design_of(np.repeat([0, 1], 40))
        estimates = []
        for _ in range(200):
            points = rng.normal(size=(80, 5)) * np.sqrt(variances)
            points[40:] += 3.0
            estimates.append(module._effective_dimensions(points, design))
        assert np.mean(estimates) == pytest.approx(truth, rel=0.06)

    def test_effective_dimensions_are_those_of_all_pairs_of_pairs(self, monkeypatch):
        """tr(S²) is the mean of ((x_i - x_j)·(x_k - x_l))² / 4 over four different texts, written out."""
        monkeypatch.setattr(module, "text_kernel", lambda points: points @ points.T)
        sizes = 5, 6
        points = np.random.default_rng(21).normal(size=(sum(sizes), 3)) * (2.0, 1.0, 0.5)
        design = design_of(np.repeat([0, 1], sizes))
        expected = []
        for group in (points[: sizes[0]], points[sizes[0] :]):
            of_pairs = [((a - b) @ (c - d)) ** 2 / 4 for a, b, c, d in permutations(group, 4)]
            expected.append(group.var(axis=0, ddof=1).sum() ** 2 / np.mean(of_pairs))
        assert module._effective_dimensions(points, design) == pytest.approx(
            np.average(expected, weights=sizes)
        )

    @pytest.mark.parametrize("n_groups", [2, 3, 5])
    def test_error_at_chance_is_the_spread_of_the_null(self, n_groups):
        assert module._standard_error(1 / n_groups, 0.04, 10**6, n_groups) == pytest.approx(0.04, rel=1e-4)

    def test_error_shrinks_as_a_binomial_away_from_chance(self):
        at_chance, high = (module._standard_error(accuracy, 0.05, 10**6, 2) for accuracy in (0.5, 0.9))
        assert high / at_chance == pytest.approx(sqrt(0.9 * 0.1) / 0.5, rel=1e-4)

    @pytest.mark.parametrize(("n_marked", "n_reference"), [(15, 300), (30, 600)])
    def test_a_small_group_next_to_a_large_one_is_not_called_alike(self, n_marked, n_reference):
        results = [unequal(seed, n_marked, n_reference, 0.81) for seed in range(3)]
        assert all(result.interval_low <= 0.81 <= result.interval_high for result in results)
        # The classifier sides with the larger group: its balanced accuracy is far below what the words allow.
        assert all(result.balanced_accuracy < 0.7 for result in results)

    def test_unequal_groups_count_as_few_as_they_are(self):
        features, design = corpus(np.random.default_rng(19), 20, 180)
        limits = [
            module._limit_of_accuracy(features, design, 0.7, units)
            for units in (None, Design(design.labels[:38], design.strata[:38]))
        ]
        # 4 · 20 · 180 / 200 = 72, and 4 · 20 · 18 / 38 = 37.9: fewer texts leave more open.
        assert limits[0] < limits[1]


class TestChanceOfUnbalancedTemplates:
    def test_knowing_the_template_is_no_skill(self):
        results = [unbalanced(seed, 0.85) for seed in range(4)]
        assert all(result.test is not None and result.test.null_mean > 0.65 for result in results)
        assert all(result.balanced_accuracy > 0.65 for result in results)
        assert np.mean([result.beyond_chance for result in results]) == pytest.approx(0.5, abs=0.06)
        assert all(result.interval_low < 0.5 < result.interval_high for result in results)

    def test_balanced_templates_leave_the_accuracy_as_it_is(self):
        scale = module._Scale.of(0.47, 2)
        assert [scale(accuracy) for accuracy in (0.5, 0.7, 1.0)] == pytest.approx([0.5, 0.7, 1.0])
        uneven = module._Scale.of(0.8, 2)
        assert [uneven(accuracy) for accuracy in (0.8, 0.9, 1.0)] == pytest.approx([0.5, 0.75, 1.0])
        assert module._Scale.of(0.6, 3)(0.6) == pytest.approx(1 / 3)


class TestPromptsAndNames:
    def prompts(self, seed: int, own: float) -> tuple[sparse.csr_array, Design, Moves]:
        """Twelve questions to each of two groups that do not differ, fifteen answers each; every prompt has words of its own."""
        rng = np.random.default_rng([20, seed])
        counts, labels, strata, units = [], [], [], []
        for unit in range(24):
            shares = np.exp(rng.normal(0, own, 60))
            counts.append(rng.multinomial(30, shares / shares.sum(), size=15))
            labels += [unit % 2] * 15
            strata += [unit // 2] * 15
            units += [unit] * 15
        design = Design(np.array(labels, dtype=np.int8), np.array(strata))
        of_units = Design((np.arange(24) % 2).astype(np.int8), np.arange(24) // 2)
        return counts_matrix(np.concatenate(counts)), design, Moves(of_units, np.array(units))

    @pytest.mark.slow
    def test_prompts_of_their_own_are_no_difference_of_groups(self):
        p_values, accuracies = [], []
        for seed in range(20):
            features, design, moved = self.prompts(seed, 1.0)
            result = classifier_accuracy(
                features, design, np.arange(360), n_permutations=99, seed=seed, moved=moved
            )
            assert result.test is not None
            p_values.append(result.test.p_value)
            accuracies.append(result.beyond_chance)
        assert (np.array(p_values) <= 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 20)
        # No split cuts a prompt, so its own words do not predict the held-out ones.
        assert np.mean(accuracies) == pytest.approx(0.5, abs=0.1)

    def test_copies_of_held_out_texts_are_not_learnt_from(self):
        _, design, moved = self.prompts(1, 0.0)
        clusters = np.arange(360) % 7
        folds, training = module._splits(design, clusters, moved, 1)
        for fold, learnt in zip(np.unique(folds), training, strict=True):
            assert not np.isin(clusters[learnt], clusters[folds == fold]).any()
            assert all(np.unique(folds[moved.of_row == unit]).size == 1 for unit in range(24))
        # Seven texts in all prompts leave nothing to learn from.
        features, design, moved = self.prompts(1, 0.0)
        result = classifier_accuracy(features, design, clusters, n_permutations=99, seed=1, moved=moved)
        assert np.isnan(result.balanced_accuracy)
        assert result.test is None

    def test_names_with_words_of_their_own_are_no_difference_and_planted_words_are(self):
        p_values = {effect: [] for effect in (0.0, 1.2)}
        for effect, found in p_values.items():
            for seed in range(20):
                judged = judged_texts(named(seed, 6, 3, sd=0.4, effect=effect))
                assert judged.descriptors is not None
                test = module.descriptors_test(
                    judged.rows.features,
                    judged.row_descriptors,
                    judged.descriptors.design,
                    n_permutations=199,
                    seed=seed,
                )
                found.append(test.p_value)
        assert sum(p <= 0.05 for p in p_values[0.0]) <= stats.binom.ppf(0.9999, 20, 0.05)
        assert np.mean([p <= 0.05 for p in p_values[1.2]]) > 0.9


def test_a_name_with_many_texts_counts_as_one_with_few():
    """The statistic, from the mean of each name's rows, one after another."""
    rng = np.random.default_rng(11)
    of_descriptor = np.repeat(np.arange(6), [1, 9, 2, 5, 1, 3])
    features = counts_matrix(rng.poisson(1.0, size=(of_descriptor.size, 12)))
    descriptors = design_of([0, 1, 0, 1, 1, 0])
    weighted = TfidfTransformer().fit_transform(features).toarray()
    means = [weighted[of_descriptor == name].mean(axis=0) for name in range(6)]
    marked, reference = (
        np.mean([means[i] for i in range(6) if descriptors.labels[i] == of], axis=0) for of in (1, 0)
    )
    found = module.descriptors_test(features, of_descriptor, descriptors, n_permutations=99, seed=1)
    assert found.observed == pytest.approx(((marked - reference) ** 2).sum())
