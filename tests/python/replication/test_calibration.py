"""Test alarms on real texts: none where nothing differs, and intervals that cover the differences there are."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from benchmarks import calibration
from benchmarks.calibration import Judged, Texts
from benchmarks.processes import BenchmarkError

N_SPLITS = 40
N_PERMUTATIONS = 199
SEED = 20260201
# A calibrated test fires more often than this in one of ten thousand such runs.
MOST_FALSE_ALARMS = int(binom.ppf(0.9999, N_SPLITS, 0.05))
MOST_MISSES = int(binom.ppf(0.9999, N_SPLITS, 0.07))


@pytest.fixture(scope="module")
def texts() -> Texts:
    try:
        data = calibration.find_data(None)
    except BenchmarkError as error:
        pytest.skip(str(error))
    return calibration.read_texts(data)


@pytest.fixture(scope="module")
def null(texts: Texts) -> list[Judged]:
    return calibration.null_splits(texts, n_splits=N_SPLITS, n_permutations=N_PERMUTATIONS, seed=SEED)


def _most_alarms(judged: list[Judged]) -> int:
    fired = calibration.alarms(judged, calibration.read_thresholds())
    return max(count for rule, count in fired.items() if not rule.startswith("published"))


def test_our_alarms_stay_silent_on_random_splits_of_one_persona(null: list[Judged]) -> None:
    assert _most_alarms(null) <= MOST_FALSE_ALARMS


def test_published_rules_fire_on_random_splits_of_one_persona(null: list[Judged]) -> None:
    fired = calibration.alarms(null, calibration.read_thresholds())
    assert fired["published: JSD > 0.10 bits"] == fired["published: JSD > 0.10 nats"] == N_SPLITS
    assert fired["published: any |z| > 1.96"] > N_SPLITS / 2


def test_intervals_hold_no_difference_where_there_is_none(null: list[Judged]) -> None:
    assert sum(not calibration.covers(one.jsd_interval, 0.0) for one in null) <= MOST_MISSES
    assert sum(not calibration.covers(one.accuracy_interval, 0.5) for one in null) <= MOST_MISSES


def test_strata_keep_a_confounded_attribute_from_raising_alarms(texts: Texts) -> None:
    splits = {
        stratified: calibration.confounded_splits(
            texts, n_splits=N_SPLITS, n_permutations=N_PERMUTATIONS, seed=SEED, stratified=stratified
        )
        for stratified in (True, False)
    }
    assert _most_alarms(splits[True]) <= MOST_FALSE_ALARMS
    # The same texts with labels moved across genders: without strata the check above would fail.
    assert _most_alarms(splits[False]) > MOST_FALSE_ALARMS


def test_true_contrasts_are_seen_and_never_called_clear(texts: Texts) -> None:
    thresholds = calibration.read_thresholds()
    jsd_limit, accuracy_limit = thresholds["word_divergence"], thresholds["classifier_accuracy"]
    missed_jsd = missed_accuracy = detected = 0
    for attribute, group in texts.contrasts():
        units, labels, strata = calibration.true_contrast(texts, attribute, group)
        truth = calibration.judge(texts.counts[units], labels, strata, N_PERMUTATIONS, seed=SEED)
        assert truth.jsd_debiased > jsd_limit.threshold
        assert truth.accuracy > accuracy_limit.threshold
        drawn = calibration.subsamples(
            texts, attribute, group, n_subsamples=4, n_permutations=N_PERMUTATIONS, seed=SEED
        )
        assert all(one.jsd_interval[1] >= jsd_limit.clear_threshold for one in drawn), group
        assert all(one.accuracy_interval[1] >= accuracy_limit.clear_threshold for one in drawn), group
        missed_jsd += sum(not calibration.covers(one.jsd_interval, truth.jsd_debiased) for one in drawn)
        missed_accuracy += sum(not calibration.covers(one.accuracy_interval, truth.accuracy) for one in drawn)
        detected += sum(one.jsd_p < jsd_limit.alpha for one in drawn)
    n_drawn = 4 * len(texts.contrasts())
    assert max(missed_jsd, missed_accuracy) <= int(binom.ppf(0.9999, n_drawn, 0.07))
    assert detected >= int(binom.ppf(0.0001, n_drawn, 0.8))
