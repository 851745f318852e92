"""Test log-odds and divergence against numbers by hand, independent loops and scipy, with nulls and planted bias."""

from __future__ import annotations

from itertools import combinations
from math import log, sqrt
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.spatial.distance import jensenshannon
from scipy.stats import binom

from biasledger.measures.engine.design import Design
from biasledger.measures.engine.group_sums import group_sums, sums_in_parts
from biasledger.measures.engine.jackknife import two_sample_jackknife
from biasledger.measures.words.condensed import CondensedWords
from biasledger.measures.words.differences import (
    difference,
    difference_by_units,
    divergence_by_units,
    words_by_units,
)
from biasledger.measures.words.divergence import divergence, divergence_parts, jensen_shannon_of_sums
from biasledger.measures.words.judged import divergences
from biasledger.measures.words.log_odds import (
    audit_log_odds,
    informative_log_odds,
    log_odds_of_sums,
    marked_words,
)
from biasledger.measures.words.units import MovedTexts, judged_texts
from tests.python.measures.designs import design_of
from tests.python.measures.simulated_texts import corpus, counts_matrix, word_shares
from tests.python.measures.simulated_words import Answer, comparison, judge, lengths, named, repeats

COUNTS = hnp.arrays(np.float64, (2, 6), elements=st.integers(0, 30)).filter(
    lambda c: (c.sum(axis=1) > 0).all()
)


def loop_audit_formula(marked: list[float], reference: list[float]) -> tuple[list[float], list[float]]:
    """The audit's description, step 5, read line by line."""
    everything = sum(marked) + sum(reference)
    prior = [(m + r) / everything for m, r in zip(marked, reference, strict=True)]
    marked, reference = [m + 0.5 for m in marked], [r + 0.5 for r in reference]
    total_marked, total_reference = sum(marked), sum(reference)
    log_odds, variance = [], []
    for m, r, a in zip(marked, reference, prior, strict=True):
        log_odds.append(
            log((m + a) / (total_marked - m + 1 - a)) - log((r + a) / (total_reference - r + 1 - a))
        )
        variance.append(1 / (m + a) + 1 / (r + a))
    return log_odds, variance


def loop_monroe(
    marked: list[float], reference: list[float], prior: list[float], prior_total: float
) -> list[float]:
    """Monroe, Colaresi & Quinn (2008), equations 16, 20 and 22."""
    n_marked, n_reference = sum(marked), sum(reference)
    z_scores = []
    for y_i, y_j, a in zip(marked, reference, prior, strict=True):
        odds_i = (y_i + a) / (n_marked + prior_total - y_i - a)
        odds_j = (y_j + a) / (n_reference + prior_total - y_j - a)
        z_scores.append((log(odds_i) - log(odds_j)) / sqrt(1 / (y_i + a) + 1 / (y_j + a)))
    return z_scores


class TestAuditLogOdds:
    def test_a_case_worked_by_hand(self):
        # Priors 4/8, 2/8, 2/8; smoothed totals 5.5 and 5.5. First word: x = 4, rest 2.5 against y = 2, rest 4.5.
        result = audit_log_odds(np.array([3.0, 1.0, 0.0]), np.array([1.0, 1.0, 2.0]))
        assert result.log_odds == pytest.approx([log(3.6), 0.0, log(0.75 / 5.75) - log(2.75 / 3.75)])
        assert result.variance == pytest.approx([0.75, 2 / 1.75, 1 / 0.75 + 1 / 2.75])
        assert result.z_score[0] == pytest.approx(1.4790950)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(COUNTS)
    def test_agrees_with_the_description_read_line_by_line(self, counts):
        result = audit_log_odds(counts[0], counts[1])
        log_odds, variance = loop_audit_formula(counts[0].tolist(), counts[1].tolist())
        assert result.log_odds == pytest.approx(log_odds)
        assert result.variance == pytest.approx(variance)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(COUNTS)
    def test_swapping_the_groups_turns_the_sign(self, counts):
        there, back = audit_log_odds(counts[0], counts[1]), audit_log_odds(counts[1], counts[0])
        assert there.z_score == pytest.approx(-back.z_score, abs=1e-12)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(COUNTS, st.integers(1, 6))
    def test_words_left_out_count_in_the_totals_alone(self, counts, kept):
        totals = counts.sum(axis=0)
        of_sums = log_odds_of_sums(np.append(totals[:kept], totals[kept:].sum()), 6 - kept)
        sums = np.append(counts[:, :kept], counts[:, kept:].sum(axis=1, keepdims=True), axis=1)
        # Either group may be the marked one: several arrangements at once.
        there, back = (audit_log_odds(*tables).log_odds for tables in (counts, counts[::-1]))
        assert of_sums(sums) == pytest.approx(np.stack([there, back])[:, :kept], rel=1e-12, abs=1e-13)

    def test_tables_of_several_arrangements_are_taken_at_once(self):
        tables = np.random.default_rng(0).poisson(3.0, size=(4, 2, 7)).astype(float)
        together = audit_log_odds(tables[:, 0], tables[:, 1]).log_odds
        assert together == pytest.approx(np.stack([audit_log_odds(*table).log_odds for table in tables]))


class TestInformativeLogOdds:
    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(COUNTS, st.integers(1, 500))
    def test_agrees_with_monroe(self, counts, elsewhere):
        prior = counts.sum(axis=0) + 2
        result = informative_log_odds(counts[0], counts[1], prior, prior.sum() + elsewhere)
        expected = loop_monroe(
            counts[0].tolist(), counts[1].tolist(), prior.tolist(), prior.sum() + elsewhere
        )
        assert result.z_score == pytest.approx(expected, abs=1e-12)

    def test_a_stronger_prior_shrinks(self):
        marked, reference, prior = np.array([9.0, 3.0]), np.array([2.0, 11.0]), np.array([11.0, 14.0])
        weak = informative_log_odds(marked, reference, prior, prior.sum())
        strong = informative_log_odds(marked, reference, 100 * prior, 100 * prior.sum())
        assert (np.abs(strong.log_odds) < np.abs(weak.log_odds)).all()

    def test_a_vocabulary_of_one_word_has_no_log_odds(self):
        result = informative_log_odds(np.array([4.0]), np.array([2.0]), np.array([6.0]), 6.0)
        assert np.isnan(result.z_score).all()


def jensen_shannon(marked: np.ndarray, reference: np.ndarray) -> np.ndarray:
    return np.asarray(divergence_parts(marked, reference).contributions.sum(axis=-1))


class TestJensenShannon:
    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(COUNTS)
    def test_agrees_with_scipy_and_is_symmetric_and_bounded(self, counts):
        value = jensen_shannon(counts[0], counts[1])
        assert value == pytest.approx(jensenshannon(counts[0], counts[1], base=2) ** 2, abs=1e-12)
        assert value == pytest.approx(jensen_shannon(counts[1], counts[0]), abs=1e-12)
        assert 0 <= value <= 1 + 1e-12

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(COUNTS)
    def test_parts_are_never_negative_and_their_shares_name_the_group(self, counts):
        parts = divergence_parts(counts[0], counts[1])
        assert (parts.contributions >= 0).all()
        total = parts.contributions.sum()
        assert np.abs(parts.signed_shares) * total == pytest.approx(parts.contributions)
        uses_more = counts[0] * counts[1].sum() - counts[1] * counts[0].sum()
        assert (parts.signed_shares * uses_more >= 0).all()

    def test_is_one_where_nothing_is_shared(self):
        assert jensen_shannon(np.array([3.0, 2, 0, 0]), np.array([0.0, 0, 7, 1])) == pytest.approx(1.0)

    def test_is_zero_where_shares_are_the_same(self):
        counts = np.array([3.0, 1.0, 0.0, 11.0])
        assert jensen_shannon(counts, 7 * counts) == pytest.approx(0.0, abs=1e-15)
        parts = divergence_parts(counts, 7 * counts)
        assert parts.contributions == pytest.approx(np.zeros(4), abs=1e-15)
        assert parts.signed_shares.tolist() == [0.0, 0.0, 0.0, 0.0]

    def test_an_empty_group_gives_nan(self):
        assert np.isnan(jensen_shannon(np.zeros(3), np.ones(3)))

    def test_a_case_worked_by_hand(self):
        # P = (1, 0), Q = (1/2, 1/2): H(3/4, 1/4) - 1/2.
        expected = 0.75 * np.log2(4 / 3) + 0.25 * 2 - 0.5
        assert jensen_shannon(np.array([2.0, 0.0]), np.array([5.0, 5.0])) == pytest.approx(expected)


class TestDivergence:
    def rare_words(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(6)
        counts = rng.poisson(0.4, size=(6, 30)).astype(float)
        counts[:, 0] = 1 + np.arange(6)
        counts[4, 1:] *= 3
        return counts[:, counts.sum(axis=0) > 0], np.array([1, 1, 1, 0, 0, 0], dtype=np.int8)

    def test_leaving_single_unit_words_together_changes_no_labelling(self):
        counts, _ = self.rare_words()
        assert ((counts > 0).sum(axis=0) == 1).sum() >= 5
        features = counts_matrix(counts)
        for chosen in combinations(range(6), 3):
            labels = np.isin(np.arange(6), chosen).astype(np.int8)
            observed = divergence(features, design_of(labels), n_permutations=2, seed=1)
            full = jensen_shannon(counts[labels == 1].sum(axis=0), counts[labels == 0].sum(axis=0))
            assert observed.test is not None
            assert observed.test.observed == pytest.approx(full, abs=1e-13)
            assert observed.jsd == pytest.approx(full, abs=1e-13)

    def test_error_is_the_jackknife_of_the_full_table(self):
        counts, labels = self.rare_words()
        result = divergence(counts_matrix(counts), design_of(labels), n_permutations=19, seed=1)
        full = two_sample_jackknife(counts_matrix(counts), labels, jensen_shannon)
        assert result.standard_error == pytest.approx(full.standard_error, rel=1e-9)

    @pytest.mark.parametrize(
        ("n_words", "length", "corrected_is_larger"), [(200, 60, False), (1000, 40, True)]
    )
    def test_interval_reaches_up_from_the_larger_estimate(self, n_words, length, corrected_is_larger):
        features, design = corpus(
            np.random.default_rng(30), 20, 20, n_words=n_words, length=length, effect=1.0
        )
        result = divergence(features, design, n_permutations=99, seed=1)
        corrected = two_sample_jackknife(features, design.labels, jensen_shannon).corrected
        assert result.test is not None
        debiased = result.test.debiased
        assert (corrected > debiased) == corrected_is_larger
        width = 1.959964 * result.standard_error
        assert result.interval_low == pytest.approx(max(0.0, debiased - width))
        assert result.interval_high == pytest.approx(max(debiased, corrected) + width)

    def test_null_draws_are_divergences_of_permuted_labels(self):
        counts, labels = self.rare_words()
        design = design_of(labels)
        every = [
            jensen_shannon(
                counts[list(chosen)].sum(axis=0), counts.sum(axis=0) - counts[list(chosen)].sum(axis=0)
            )
            for chosen in combinations(range(6), 3)
        ]
        result = divergence(counts_matrix(counts), design, n_permutations=4000, seed=3, stop_after=None)
        assert result.test is not None
        assert result.test.null_mean == pytest.approx(np.mean(every), abs=4 * np.std(every) / sqrt(4000))
        assert result.test.p_value == pytest.approx(np.mean(np.array(every) >= result.jsd - 1e-12), abs=0.03)

    def test_without_permutations_there_is_the_value_alone(self):
        features = counts_matrix([[4, 1, 0], [4, 1, 0], [1, 1, 3], [1, 1, 3]])
        result = divergence(
            features,
            design_of([1, 1, 0, 0]),
            n_permutations=0,
            seed=1,
        )
        parts = divergence_parts(np.array([8.0, 2.0, 0.0]), np.array([2.0, 2.0, 6.0]))
        assert np.sign(parts.signed_shares).tolist() == [1, 0, -1]
        assert np.abs(parts.signed_shares).sum() == pytest.approx(1)
        assert result.jsd == pytest.approx(parts.contributions.sum())
        assert result.test is None
        assert np.isnan(result.interval_high)

    @pytest.mark.parametrize("labels", [[1, 0, 0, 0], [1, 1, 1, 0]])
    def test_one_unit_in_a_group_gets_no_test(self, labels):
        features = counts_matrix(np.arange(8).reshape(4, 2) + 1)
        design = design_of(labels)
        result = divergence(features, design, n_permutations=99, seed=1)
        assert result.test is None
        assert 0 <= result.jsd <= 1

    def test_debiased_value_is_zero_on_average_and_the_interval_covers_it(self):
        rng = np.random.default_rng(31)
        debiased, covers, raw = [], [], []
        for seed in range(80):
            features, design = corpus(rng, 15, 15)
            result = divergence(features, design, n_permutations=99, seed=seed, stop_after=None)
            assert result.test is not None
            debiased.append(result.test.debiased)
            raw.append(result.jsd)
            covers.append(result.interval_low <= 0.0 <= result.interval_high)
        assert np.mean(debiased) == pytest.approx(0, abs=4 * np.std(debiased) / sqrt(80))
        assert np.mean(raw) > 5 * np.std(debiased)
        assert np.mean(covers) >= 0.95 - 3 * sqrt(0.05 * 0.95 / 80)

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_units", "effect"), [(15, 0.5), (40, 0.3)])
    def test_interval_covers_a_planted_divergence(self, n_units, effect):
        truth = float(jensen_shannon(*word_shares(200, effect)))
        assert truth > 0.005
        rng = np.random.default_rng(32)
        covers = []
        for seed in range(60):
            features, design = corpus(rng, n_units, n_units, effect=effect)
            result = divergence(features, design, n_permutations=99, seed=seed, stop_after=None)
            covers.append(result.interval_low <= truth <= result.interval_high)
        assert np.mean(covers) >= 0.93 - 3 * sqrt(0.07 * 0.93 / 60)

    def test_planted_bias_fires(self):
        features, design = corpus(np.random.default_rng(33), 20, 20, effect=1.0)
        result = divergence(features, design, n_permutations=499, seed=1)
        assert result.test is not None
        assert result.test.p_value == 1 / 500
        assert result.interval_low > 0

    def test_none_stays_silent(self):
        rng = np.random.default_rng(34)
        p_values = []
        for seed in range(150):
            features, design = corpus(rng, 12, 12, n_words=80)
            test = divergence(features, design, n_permutations=99, seed=seed).test
            assert test is not None
            p_values.append(test.p_value)
        assert (np.array(p_values) <= 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)


class TestDifference:
    SETTINGS: ClassVar = {"n_permutations": 399, "seed": 5}

    @pytest.mark.parametrize("stop_after", [None, 3, 50])
    @pytest.mark.parametrize("effect", [0.0, 2.0])
    @pytest.mark.parametrize(("n_units", "times"), [(25, 1.0), (25, 0.3), (2_100, 1.0), (2_100, 0.3)])
    def test_both_tests_are_those_of_each_alone(self, n_units, times, effect, stop_after):
        features, design = corpus(np.random.default_rng(2), n_units, n_units, effect=effect)
        features = sparse.csr_array(features * times)
        settings_ = {**self.SETTINGS, "stop_after": stop_after}
        bits, words = difference(features, design, alpha=0.1, **settings_)
        prior = np.asarray(features.sum(axis=0)).ravel()
        alone = marked_words(features, design, prior=prior, prior_total=prior.sum(), alpha=0.1, **settings_)
        assert bits == divergence(features, design, **settings_)
        assert alone.family is not None
        for found, expected in (
            (words.p_value, alone.family.p_value),
            (words.p_value_adjusted, alone.family.p_value_adjusted),
            (words.band_low, alone.test.band_low),
            (words.band_high, alone.test.band_high),
        ):
            np.testing.assert_array_equal(found, expected)
        assert words.n_permutations == alone.family.n_permutations

    def test_one_stops_and_the_other_goes_on(self):
        settings_ = {"n_permutations": 999, "alpha": 0.05, "seed": 1, "stop_after": 20}
        # A slight effect on every word moves their divergence alone, one on the rarest that word alone.
        slight, design = corpus(np.random.default_rng(1), 20, 20, effect=0.5)
        bits, words = difference(slight, design, **settings_)
        assert bits.test is not None
        assert (bits.test.n_permutations, bits.test.is_stopped_early) == (999, False)
        assert words.n_permutations < 999
        same, design = corpus(np.random.default_rng(1), 20, 20, length=400)
        counts = same.toarray()
        counts[:20, counts.sum(axis=0).argmin()] += 2
        bits, words = difference(counts_matrix(counts), design, **settings_)
        assert bits.test is not None
        assert bits.test.is_stopped_early
        assert bits.test.n_permutations < words.n_permutations == 999

    def test_a_single_unit_has_words_tested_and_no_divergence(self):
        features, design = corpus(np.random.default_rng(4), 1, 30)
        bits, words = difference(features, design, alpha=0.05, **self.SETTINGS)
        assert bits.test is None
        assert np.isnan(bits.standard_error)
        assert not np.isnan(words.p_value).all()

    def test_labels_that_cannot_move_say_nothing(self):
        features, design = corpus(np.random.default_rng(4), 10, 10)
        fixed = Design(design.labels, design.labels.astype(np.int64))
        bits, words = difference(features, fixed, alpha=0.05, **self.SETTINGS)
        assert bits.test is None
        assert np.isnan(words.p_value_adjusted).all()
        assert words.n_permutations == 0


class TestLookedUp:
    """Products c log c of whole counts, looked up, against divergences of shares."""

    @pytest.mark.parametrize(("n_units", "share", "copies"), [(40, 0.15, 1), (40, 0.3, 1), (100, 0.1, 60)])
    def test_words_wholly_in_one_group_are_none_of_the_other_whatever_rounds(self, n_units, share, copies):
        # Beside six units of the reference many words are the marked group's alone, and their weighted sums round.
        rng = np.random.default_rng(0)
        weighted = (rng.random((n_units, 300)) < share) * rng.random((n_units, 1)) * 3
        labels = np.repeat([1, 0], [n_units - 6, 6]).astype(np.int8)
        features, labels = np.repeat(weighted, copies, axis=0), np.repeat(labels, copies)
        design = design_of(labels)
        words = CondensedWords.of(counts_matrix(features[:, features.any(axis=0)]), design, 1)
        moved = np.array([rng.permutation(words.blocks.labels) for _ in range(300)])
        sums = np.concatenate(list(sums_in_parts(words.of_blocks)(moved)))
        assert not words.is_whole
        assert isinstance(words.of_blocks, np.ndarray) == (copies > 1)
        with np.errstate(invalid="raise"):
            assert not np.isnan(jensen_shannon_of_sums(words)(sums)).any()

    def arranged(self, features, design, n=40):
        words = CondensedWords.of(features, design, 1)
        labels = np.array([np.random.default_rng(seed).permutation(design.labels) for seed in range(n)])
        return words, labels.astype(np.float64) @ words.features.toarray(), labels

    @pytest.mark.parametrize("times", [1.0, 7.0, 0.3])
    def test_is_the_divergence_of_all_words(self, times):
        features, design = corpus(np.random.default_rng(9), 15, 25, n_words=300)
        words, sums, labels = self.arranged(features * times, design)
        assert words.is_whole == (times != 0.3)
        found = jensen_shannon_of_sums(words)(sums)
        marked = labels.astype(np.float64) @ (features * times).toarray()
        reference = (features * times).toarray().sum(axis=0) - marked
        expected = [jensenshannon(m, r, base=2) ** 2 for m, r in zip(marked, reference, strict=True)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    def test_counts_too_large_to_look_up(self):
        features, design = corpus(np.random.default_rng(9), 15, 25)
        words, sums, _ = self.arranged(sparse.csr_array(features * 1.0), design)
        many, many_sums, _ = self.arranged(sparse.csr_array(features * 100_000.0), design)
        assert many.totals.max() > 2**20 > words.totals.max()
        np.testing.assert_allclose(
            jensen_shannon_of_sums(many)(many_sums), jensen_shannon_of_sums(words)(sums), atol=1e-12
        )

    def test_no_words_in_a_group_is_undefined_without_a_warning(self):
        counts = np.zeros((6, 4))
        counts[:3] = 1 + np.arange(12).reshape(3, 4)
        design = design_of([0, 1, 1, 0, 0, 0])
        words, _, _ = self.arranged(sparse.csr_array(counts), design)
        labels = np.array([[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0]])
        found = jensen_shannon_of_sums(words)(labels.astype(np.float64) @ words.features.toarray())
        assert np.isnan(found).tolist() == [True, True, False]


class TestSeveralUnits:
    SETTINGS: ClassVar = {"n_permutations": 199, "alpha": 0.05, "seed": 3, "stop_after": None}

    def units(self, seed: int, effect: float, sd: float) -> list[MovedTexts]:
        judged = judged_texts(named(seed, 8, 3, sd=sd, effect=effect))
        assert judged.descriptors is not None
        return judged.all_units

    def test_the_larger_p_counts_and_the_interval_holds_both(self):
        both = self.units(1, 0.4, 0.4)
        settings_ = {name: value for name, value in self.SETTINGS.items() if name != "alpha"}
        alone = [divergence_by_units([units], **settings_) for units in both]
        result = divergence_by_units(both, **settings_)
        assert result == difference_by_units(both, **self.SETTINGS)[0]
        assert result.test is not None
        assert result.test.p_value >= max(one.test.p_value for one in alone if one.test) - 0.05
        assert result.interval_low <= min(one.interval_low for one in alone)
        assert result.interval_high >= max(one.interval_high for one in alone) - 1e-12

    def test_words_take_the_larger_p_and_the_wider_band(self):
        both = self.units(2, 1.0, 0.2)
        results = [words_by_units(judged, **self.SETTINGS) for judged in (both[:1], both)]
        tested = ~np.isnan(results[1].p_value)
        assert tested.any()
        assert (results[1].p_value_adjusted[tested] >= results[0].p_value_adjusted[tested]).all()
        assert (results[1].band_low[tested] <= results[0].band_low[tested]).all()
        assert (results[1].band_high[tested] >= results[0].band_high[tested]).all()

    def test_words_of_names_alone_raise_no_alarm(self):
        alarms = sum(judge(named(seed, 5, 4, sd=0.5)).alarms for seed in range(20))
        assert alarms <= binom.ppf(0.9999, 20, 0.05)

    @pytest.mark.parametrize("own", [0.0, 1 / 3])
    def test_repeats_of_two_answers_raise_no_alarm_where_nothing_differs(self, own):
        judged = [judge(repeats(seed, 0.5, 0.5, own=own)) for seed in range(20)]
        assert sum(one.alarms for one in judged) <= binom.ppf(0.9999, 20, 0.05)
        assert all(0 <= one.bits_low <= one.bits_high <= 1 for one in judged)

    def test_repeats_of_two_answers_are_found_where_groups_differ_and_never_clear(self):
        judged = [judge(repeats(seed, 0.8, 0.2)) for seed in range(10)]
        assert all(one.alarms for one in judged)
        assert all(one.bits_high > 0.02 for one in judged)

    @pytest.mark.parametrize("n_reference", [15, 60])
    def test_shorter_answers_are_no_other_words(self, n_reference):
        judged = [judge(lengths(seed, 15, n_reference, times_shorter=3.0)) for seed in range(20)]
        assert sum(one.alarms for one in judged) <= binom.ppf(0.9999, 20, 0.05)
        assert sum(one.marks_words for one in judged) <= binom.ppf(0.9999, 20, 0.05)

    def test_an_interval_never_lies_below_the_range(self):
        # Two prompts a stratum of the same mix: less divergence than shuffled answers would give.
        for seed in range(10):
            features, design = corpus(np.random.default_rng(seed), 8, 8, n_words=12, length=4, n_strata=8)
            result = divergence(features, design, n_permutations=99, seed=seed, stop_after=None)
            assert 0 <= result.interval_low <= result.interval_high <= 1


class TestMarkedWords:
    def run(self, features, design, **settings_):
        total = np.asarray(features.sum(axis=0)).ravel()
        return marked_words(
            features,
            design,
            **{"prior": total, "prior_total": total.sum(), "n_permutations": 199, "alpha": 0.05, "seed": 1}
            | settings_,
        )

    def test_counts_and_published_columns_are_those_of_the_groups(self):
        features, design = corpus(np.random.default_rng(41), 9, 12)
        result = self.run(features, design, n_permutations=0)
        marked = group_sums(design.labels[np.newaxis], features)[0]
        assert result.marked.tolist() == features.toarray()[:9].sum(axis=0).tolist() == marked.tolist()
        assert result.reference.tolist() == features.toarray()[9:].sum(axis=0).tolist()
        assert result.audit.z_score == pytest.approx(audit_log_odds(result.marked, result.reference).z_score)
        assert result.family is None
        assert np.isnan(result.test.band_low).all()

    def test_words_of_one_unit_are_reported_and_not_tested(self):
        features, design = corpus(np.random.default_rng(42), 10, 10, length=20)
        result = self.run(features, design)
        users = (features.toarray() > 0).sum(axis=0)
        assert (users == 1).any()
        assert result.family is not None
        assert (np.isnan(result.family.p_value) == (users == 1)).all()
        assert np.isfinite(result.audit.z_score).all()

    def test_null_of_the_log_odds_is_that_of_the_full_table(self):
        features, design = corpus(np.random.default_rng(43), 10, 10, length=20)
        dense, total = features.toarray(), np.asarray(features.sum(axis=0)).ravel()
        result = self.run(features, design, n_permutations=3000, stop_after=None)
        assert result.family is not None
        rng = np.random.default_rng(0)
        draws = []
        for _ in range(1500):
            labels = design.labels.copy()
            for stratum in np.unique(design.strata):
                inside = design.strata == stratum
                labels[inside] = rng.permutation(labels[inside])
            marked = dense[labels == 1].sum(axis=0)
            draws.append(audit_log_odds(marked, total - marked).log_odds)
        tested = np.isfinite(result.family.p_value)
        assert result.family.null_sd[tested] == pytest.approx(np.std(draws, axis=0)[tested], rel=0.2)

    def test_planted_words_are_found_with_their_sign(self):
        features, design = corpus(np.random.default_rng(44), 60, 60, n_words=60, effect=0.9)
        result = self.run(features, design, n_permutations=999)
        assert result.family is not None
        found = np.flatnonzero(result.family.p_value_adjusted < 0.05)
        assert set(range(8)) <= set(found.tolist())
        assert (np.sign(result.audit.log_odds[:8]) == (-1.0) ** np.arange(8)).all()
        assert (result.test.band_low[[0, 2, 4]] > 0).all()
        assert (result.test.band_high[[1, 3, 5]] < 0).all()

    def test_no_bias_marks_no_word_but_the_published_threshold_does(self):
        rng = np.random.default_rng(45)
        alarms, published = [], []
        for seed in range(120):
            features, design = corpus(rng, 15, 15)
            result = self.run(features, design, seed=seed, n_permutations=99)
            assert result.family is not None
            alarms.append(np.nanmin(result.family.p_value_adjusted) <= 0.05)
            published.append((np.abs(result.audit.z_score) > 1.96).any())
        assert np.mean(alarms) <= 0.05 + 3 * sqrt(0.05 * 0.95 / 120)
        assert np.mean(published) > 0.5

    def test_bands_hold_all_true_log_odds_at_once(self):
        marked, reference = word_shares(60, 0.4)
        truth = np.log(marked / (1 - marked)) - np.log(reference / (1 - reference))
        rng = np.random.default_rng(46)
        covered = []
        for seed in range(60):
            features, design = corpus(rng, 30, 30, n_words=60, effect=0.4)
            if features.shape[1] < 60:
                continue
            result = self.run(features, design, seed=seed, stop_after=None)
            covered.append(((result.test.band_low <= truth) & (truth <= result.test.band_high)).all())
        assert len(covered) > 40
        assert np.mean(covered) >= 0.95 - 3 * sqrt(0.05 * 0.95 / len(covered))

    def test_labels_that_cannot_move_give_no_test(self):
        features, _ = corpus(np.random.default_rng(47), 4, 4)
        design = Design(np.repeat([1, 0], 4).astype(np.int8), np.repeat([0, 1], 4))
        assert self.run(features, design).family is None

    def test_a_vocabulary_of_single_unit_words_has_nothing_to_test(self):
        features = counts_matrix(np.eye(6))
        result = self.run(features, design_of([1, 0] * 3))
        assert result.family is not None
        assert result.family.n_permutations == 0
        assert np.isnan(result.family.p_value_adjusted).all()


def _worded(seed, *, wordings, group=0.0):
    """Twenty templates, three wordings a group, two trials; the deviation of log-odds by wording, and a group's effect."""
    rng = np.random.default_rng([11, seed])
    tilts = rng.normal(0, wordings, (2, 3, 80))
    tilts[1, :, :8] += group
    answers, counts = [], []
    for label, wording, template, _ in np.ndindex(2, 3, 20, 2):
        odds = np.exp(tilts[label, wording]) / np.arange(2, 82)
        counts.append(rng.multinomial(60, odds / odds.sum()))
        prompt = (template * 3 + wording) * 2 + label
        answers.append(Answer(label, template, prompt, 3 * label + wording, len(answers)))
    [row] = divergences([comparison(answers, np.array(counts), seed)]).to_pandas().to_dict("records")
    return row


def test_wordings_of_one_group_are_a_control_of_words():
    def beyond_chance(row):
        return row["jsd_judged"] - row["null_mean"]

    def control(row):
        return max(row["wordings_reference_largest"], row["wordings_marked_largest"])

    alike, worded, planted = (
        [_worded(seed, **effects) for seed in range(5)]
        for effects in ({"wordings": 0.0}, {"wordings": 0.3}, {"wordings": 0.1, "group": 1.0})
    )
    assert {(row["wordings_reference_n_pairs"], row["wordings_marked_n_pairs"]) for row in alike} == {(3, 3)}
    # Nothing but chance, which is taken off; then twice as much as between groups, whose three wordings share it.
    assert np.mean([row["wordings_marked_typical"] for row in alike]) < 0.01
    assert all(control(row) > beyond_chance(row) > 0 for row in worded)
    assert all(beyond_chance(row) > control(row) for row in planted)
