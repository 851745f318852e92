"""Answers against a fixed value: an independent reference, no difference, a planted one, and one at the threshold."""

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.decisions.fixed_values import MEASURES, ClusterMeans, FixedValueGap, fixed_value_gap

[MEASURE] = MEASURES


def gap_of(means: np.ndarray, *, lowest=0.0, highest=1.0, against=0.5, n_permutations=399) -> FixedValueGap:
    units = ClusterMeans(np.asarray(means, dtype=np.float64), lowest, highest, against)
    return fixed_value_gap(units, n_permutations=n_permutations, alpha=0.05, seed=1)


def shares(seed: int, n: int, share: float, *, trials: int = 5, size: float = 4.0) -> np.ndarray:
    """Shares of subjects that differ (Beta), each asked some times."""
    rng = np.random.default_rng([seed, n])
    return rng.binomial(trials, rng.beta(share * size, (1 - share) * size, n)) / trials


def is_alarm(found: FixedValueGap) -> bool:
    assert found.test is not None
    return (
        abs(found.gap) >= MEASURE.threshold.value
        and found.test.p_value < 0.05
        and not found.interval_low <= 0 <= found.interval_high
    )


def is_clear(found: FixedValueGap) -> bool:
    return max(found.interval_high, -found.interval_low) < MEASURE.threshold.value


def test_all_signs_are_gone_through_where_they_are_few():
    means = np.random.default_rng(1).uniform(-0.2, 1.0, 9)
    found = gap_of(means, lowest=-1.0, against=0.0, n_permutations=999)
    reference = stats.permutation_test(
        (means,), lambda x, axis: np.abs(x.mean(axis=axis)), permutation_type="samples", n_resamples=np.inf,
        alternative="greater",
    )  # fmt: skip
    assert found.test is not None
    assert found.p_signs == pytest.approx(reference.pvalue)
    assert found.test.n_permutations == 2**9
    assert (found.mean, found.gap) == pytest.approx((means.mean(), means.mean() / 2))


def test_limits_leave_the_value_out_at_their_own_p():
    means = shares(3, 30, 0.7)
    found = gap_of(means)
    again = fixed_value_gap(
        ClusterMeans(means, 0.0, 1.0, 0.5), n_permutations=0, alpha=found.p_limits, seed=1
    )
    assert again.interval_low == pytest.approx(0, abs=1e-6)
    assert again.test is None


@pytest.mark.parametrize("against", [0.1, 0.5])
@pytest.mark.parametrize(("n", "trials"), [(10, 1), (20, 5), (60, 5)])
def test_answers_at_the_value_raise_no_alarm(n: int, trials: int, against: float):
    found = [gap_of(shares(seed, n, against, trials=trials), against=against) for seed in range(150)]
    assert sum(one.test is not None and one.test.p_value < 0.05 for one in found) <= stats.binom.ppf(
        0.999, 150, 0.05
    )


def test_a_planted_difference_is_found():
    assert sum(is_alarm(gap_of(shares(seed, 60, 0.75))) for seed in range(40)) >= 36


def test_a_difference_of_the_threshold_is_not_cleared():
    found = [gap_of(shares(seed, 100, 0.6)) for seed in range(150)]
    assert sum(map(is_clear, found)) <= stats.binom.ppf(0.999, 150, 0.025)


def test_many_alike_are_cleared_and_what_nobody_showed_is_allowed_for():
    assert is_clear(gap_of(shares(1, 400, 0.5)))
    unseen = gap_of(np.zeros(10), against=0.1)
    assert unseen.interval_high == pytest.approx(1 - 0.025 ** (1 / 10) - 0.1)


def test_what_cannot_be_is_refused():
    for means, message in (([], "no subject has an answer"), ([1.2], "a mean lies outside 0.0 to 1.0")):
        with pytest.raises(ValueError, match=message):
            gap_of(np.array(means))
    with pytest.raises(ValueError, match=r"the fixed value 1.5 lies outside"):
        gap_of(np.array([0.5]), against=1.5)
    alone = gap_of(np.array([0.5]))
    assert alone.test is None
    assert np.isnan(alone.interval_low)
