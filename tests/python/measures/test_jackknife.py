"""Test two groups' jackknife against textbook errors: Welch's, paired, dealt to groups, and a single cluster."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import sparse, stats

from biasledger.measures.engine import resampling
from biasledger.measures.engine.jackknife import DeleteGroups, two_sample_jackknife


class TestDeleteGroups:
    def mean_errors(self, values, clusters, labels, **settings):
        """Standard errors and degrees of freedom of the difference of both groups' means."""
        values, labels = np.asarray(values, dtype=float), np.asarray(labels, dtype=np.int8)
        deleted = DeleteGroups.of(np.asarray(clusters), labels, **settings)

        def difference(kept):
            sums, sizes = (
                np.bincount(labels[kept], weights=weights, minlength=2) for weights in (values[kept], None)
            )
            return np.diff(sums / np.where(sizes > 0, sizes, np.nan))[0]

        left_out = [difference(deleted.of_unit != group) for group in range(deleted.cells.size)]
        return deleted.errors(np.array(left_out), np.array(difference(np.ones(labels.size, dtype=bool))))

    def test_clusters_of_one_label_give_welchs_error_and_degrees(self):
        rng = np.random.default_rng(1)
        values, labels = np.concatenate([rng.normal(0, 1, 9), rng.normal(0, 4, 14)]), [0] * 9 + [1] * 14
        welch = stats.ttest_ind(values[9:], values[:9], equal_var=False)
        error, degrees = self.mean_errors(values, range(23), labels)
        assert error == pytest.approx((values[9:].mean() - values[:9].mean()) / welch.statistic)
        assert degrees == pytest.approx(welch.df)

    def test_clusters_of_both_labels_give_the_paired_error(self):
        values = np.random.default_rng(2).normal(size=(12, 2)) + np.arange(12)[:, np.newaxis]
        error, degrees = self.mean_errors(values.ravel(), np.repeat(np.arange(12), 2), np.tile([0, 1], 12))
        assert error == pytest.approx(stats.sem(values[:, 1] - values[:, 0]))
        assert degrees == 11

    def test_many_clusters_are_dealt_to_groups(self):
        values = np.random.default_rng(3).normal(size=2000)
        labels = np.repeat([0, 1], 1000)
        error, _ = self.mean_errors(values, range(2000), labels)
        one_by_one, _ = self.mean_errors(values, range(2000), labels, max_groups=1000)
        assert error == pytest.approx(one_by_one, rel=0.15)
        assert DeleteGroups.of(np.arange(2000), labels.astype(np.int8)).cells.size == 400

    def test_a_single_cluster_of_a_label_leaves_the_error_unknown(self):
        assert np.isnan(self.mean_errors([1, 2, 4, 9], range(4), [0, 0, 0, 1])[0])

    def test_what_does_not_depend_on_a_single_cluster_keeps_its_error(self):
        labels = np.array([0, 0, 0, 1], dtype=np.int8)
        deleted = DeleteGroups.of(np.arange(4), labels)
        values = np.array([1.0, 2.0, 6.0, 9.0])
        reference = [values[(deleted.of_unit != group) & (labels == 0)].mean() for group in range(4)]
        error, degrees = deleted.errors(np.array(reference), np.array(3.0))
        assert (error, degrees) == pytest.approx((stats.sem(values[:3]), 2))

    def test_sums_are_those_of_the_units_left_out(self):
        deleted = DeleteGroups.of(np.array([5, 3, 5, 9]), np.array([0, 0, 1, 1], dtype=np.int8))
        assert deleted.cells.tolist() == [0, 0, 0]
        assert deleted.sums(np.array([[1.0], [2.0], [4.0], [8.0]])).tolist() == [[2.0], [5.0], [8.0]]


class TestTwoSampleJackknife:
    @staticmethod
    def with_ones(values: np.ndarray) -> sparse.csr_array:
        return sparse.csr_array(np.column_stack([values, np.ones(values.size)]))

    @staticmethod
    def difference(marked: np.ndarray, reference: np.ndarray) -> np.ndarray:
        return marked[:, 0] / marked[:, 1] - reference[:, 0] / reference[:, 1]

    def test_linear_statistic_gives_the_textbook_error_and_no_bias(self):
        rng = np.random.default_rng(2)
        labels = np.repeat([1, 0], [13, 22]).astype(np.int8)
        values = rng.exponential(2.0, size=35) + 3 * labels
        marked, reference = values[labels == 1], values[labels == 0]
        result = two_sample_jackknife(self.with_ones(values), labels, self.difference)
        assert result.standard_error == pytest.approx(
            sqrt(marked.var(ddof=1) / 13 + reference.var(ddof=1) / 22)
        )
        assert result.corrected == pytest.approx(marked.mean() - reference.mean())

    def test_bias_of_a_quadratic_statistic_is_removed_exactly(self):
        rng = np.random.default_rng(3)
        labels = np.repeat([0, 1], [9, 14]).astype(np.int8)
        values = rng.normal(size=23)
        marked, reference = values[labels == 1], values[labels == 0]
        result = two_sample_jackknife(self.with_ones(values), labels, lambda m, r: self.difference(m, r) ** 2)
        unbiased = (
            (marked.mean() - reference.mean()) ** 2 - marked.var(ddof=1) / 14 - reference.var(ddof=1) / 9
        )
        assert result.corrected == pytest.approx(unbiased)

    @pytest.mark.parametrize(("n_units", "max_groups"), [(600, 60), (610, 60), (300, 200)])
    def test_delete_group_agrees_with_delete_one(self, n_units, max_groups):
        rng = np.random.default_rng(4)
        labels = (np.arange(n_units) % 2).astype(np.int8)
        values = rng.gamma(2.0, size=n_units) + labels
        single = two_sample_jackknife(self.with_ones(values), labels, self.difference, max_groups=n_units)
        grouped = two_sample_jackknife(self.with_ones(values), labels, self.difference, max_groups=max_groups)
        # The squared error of G groups has about 2 / G relative variance, and there are two samples.
        assert grouped.standard_error == pytest.approx(
            single.standard_error, rel=3 * sqrt(2 / (2 * max_groups)) / 2
        )
        assert grouped.corrected == pytest.approx(single.corrected, abs=single.standard_error / 4)

    def test_delete_group_is_exact_for_linear_statistics_of_equal_groups(self):
        rng = np.random.default_rng(5)
        labels = np.repeat([1, 0], 40).astype(np.int8)
        values = rng.normal(size=80)
        grouped = two_sample_jackknife(self.with_ones(values), labels, self.difference, max_groups=10)
        means = {label: values[labels == label].reshape(4, 10).mean(axis=0) for label in (0, 1)}
        textbook = sqrt(sum(means[label].var(ddof=1) / 10 for label in (0, 1)))
        assert grouped.standard_error == pytest.approx(textbook)
        assert grouped.corrected == pytest.approx(values[:40].mean() - values[40:].mean())

    @pytest.mark.parametrize("sizes", [(3, 5), (230, 450)])
    def test_it_is_the_same_in_any_parts(self, sizes, monkeypatch):
        rng = np.random.default_rng(3)
        features = sparse.csr_array(rng.poisson(2.0, size=(sum(sizes), 4)).astype(np.uint8))
        labels = np.repeat([0, 1], sizes).astype(np.int8)

        def statistic(marked: np.ndarray, reference: np.ndarray) -> np.ndarray:
            return (np.log1p(marked) - np.log1p(reference)).max(axis=1)

        whole = two_sample_jackknife(features, labels, statistic)
        for n_cells in (1, 10, 333):
            monkeypatch.setattr(resampling, "_CACHED_SUMS", n_cells)
            assert two_sample_jackknife(features, labels, statistic) == whole
