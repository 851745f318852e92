"""Standard errors over clusters: Welch's, paired, dealt to groups, and what a single cluster leaves unknown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.engine.jackknife import DeleteGroups


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
