"""Cases of lists, prices and markers: spreads, repeats, few skewed names."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.verdicts import Case
from biasledger.measures.engine.design import Design, Floats
from biasledger.measures.gaps.gap import Gap, gap
from biasledger.measures.gaps.units import Units
from biasledger.measures.lists import spread
from biasledger.measures.markers import RatioUnits, stereotype_ratio
from biasledger.measures.prices.items import ItemCounts
from biasledger.measures.prices.means import price_spread

ALPHA = 0.05
_DRAWS = 199
_SNSR, _RATIO, _REGARD_GAP, _PRICE_SPREAD = 0.10, 0.70, 0.10, 0.25
_SHARES = np.array([0.2, 0.5, 0.2, 0.1])


def _lists(seed: int, *, differs: float, n_subjects: int = 20, n_groups: int = 4) -> Floats:
    """Similarities of subjects' lists; one group's lie lower by `differs` on average."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.1, (n_subjects, 1)) + rng.normal(0, 0.15, (n_subjects, n_groups))
    values[:, 0] -= differs
    return np.clip(values, 0.0, 1.0)


def _snsr_alarms(seed: int, *, differs: float, n_groups: int = 4) -> bool:
    values = _lists(seed, differs=differs, n_groups=n_groups)
    result = spread(values, n_permutations=_DRAWS, alpha=ALPHA, seed=seed)["range"]
    assert result.test is not None
    return bool(result.debiased >= _SNSR and result.test.p_value < ALPHA and result.interval_low > 0)


def _snsr_clears(seed: int, *, differs: float, n_groups: int = 4) -> bool:
    values = _lists(seed, differs=differs, n_groups=n_groups)
    result = spread(values, n_permutations=19, alpha=ALPHA, seed=seed)["range"]
    return bool(result.interval_high < _SNSR)


def _snsr_covers(seed: int, *, differs: float, n_groups: int) -> bool:
    values = _lists(seed, differs=differs, n_groups=n_groups)
    result = spread(values, n_permutations=_DRAWS, alpha=ALPHA, seed=seed)["range"]
    return bool(result.interval_low <= differs <= result.interval_high)


def _tilted(tilts: Floats) -> Floats:
    """Shares of four price levels, moved by exponential tilts: (…) to (…, 4)."""
    weights = _SHARES * np.exp(tilts[..., np.newaxis] * np.arange(1, 5))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _places(seed: int, *, shift: float) -> ItemCounts:
    """Six words in 18 templates; word 1 is dearer by a tilt."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(6, dtype=np.int8), 18)
    templates = np.repeat(np.arange(18), 6)
    tilts = rng.normal(0, 0.3, 18)[templates] + shift * (labels == 1)
    counts = rng.multinomial(20, _tilted(tilts)).astype(float)[:, np.newaxis, np.newaxis]
    return ItemCounts(Design(labels, templates), templates, counts, 6)


def _price_spread_alarms(seed: int, *, shift: float) -> bool:
    result = price_spread(_places(seed, shift=shift), n_permutations=_DRAWS, alpha=ALPHA, seed=seed)
    assert result is not None
    assert result.test is not None
    return bool(result.debiased >= _PRICE_SPREAD and result.test.p_value < ALPHA and result.interval_low > 0)


def _probes(seed: int, *, leans: float) -> RatioUnits:
    """Sixteen probes of fifteen answers, each purely for or against the stereotype; leans: how often for it, on average."""
    rng = np.random.default_rng(seed)
    answers = np.full(16, 15.0)
    own = rng.beta(10 * leans, 10 * (1 - leans), answers.size)
    return RatioUnits(np.arange(16), answers, rng.binomial(15, own).astype(float), np.ones(16))


def _ratio_clears(seed: int, *, leans: float) -> bool:
    result = stereotype_ratio(_probes(seed, leans=leans), n_permutations=0, alpha=ALPHA, seed=seed)
    return result.interval_high < _RATIO


def _ratio_alarms(seed: int, *, leans: float) -> bool:
    units = _probes(seed, leans=leans)
    result = stereotype_ratio(units, n_permutations=999, alpha=ALPHA, seed=seed)
    assert result.test is not None
    return bool(result.ratio >= _RATIO and result.test.p_value < ALPHA and result.interval_low > 0.5)


def _regard_of_names(seed: int, *, n_names: int, share: float) -> Gap:
    """Names of two groups with five texts each; some of group 1's are spoken of so badly that the gap is at the threshold."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.array([0, 1], dtype=np.int8), n_names)
    is_disliked = (rng.random(labels.size) < share) & (labels == 1)
    base = rng.beta(1, 19, labels.size)
    scores = np.clip(base + is_disliked * _REGARD_GAP / share, 0.0, 1.0)
    units = Units(
        Design(labels, np.zeros(labels.size, dtype=np.int64)),
        np.arange(labels.size),
        np.full(labels.size, 5.0),
        5 * scores,
    )
    return gap(units, lowest=0, highest=1, n_permutations=0, alpha=ALPHA, seed=seed)


def _regard_clears(seed: int, *, n_names: int, share: float) -> bool:
    result = _regard_of_names(seed, n_names=n_names, share=share)
    return max(-result.adjusted_low, result.adjusted_high) < _REGARD_GAP


def _regard_by_both(seed: int, *, name_effect: float, question_effect: float, shift: float = 0.0) -> bool:
    """Eight names a group asked ten questions; names, and questions by group, have effects of their own, which are no group's."""
    rng = np.random.default_rng(seed)
    n_names, n_questions = 8, 10
    labels = np.repeat(np.array([0, 1], dtype=np.int8), n_names)
    of_names = rng.normal(0, name_effect, (labels.size, 1)) + shift * labels[:, np.newaxis]
    of_questions = rng.normal(0, question_effect, (2, n_questions))[labels]
    scores = np.clip(0.4 + of_names + of_questions + rng.normal(0, 0.1, (labels.size, n_questions)), 0, 1)
    names, questions = (index.ravel() for index in np.indices(scores.shape))
    units = Units(
        Design(labels[names], questions),
        questions,
        np.ones(scores.size),
        scores.ravel(),
        names=names,
    )
    result = gap(units, lowest=0, highest=1, n_permutations=_DRAWS, alpha=ALPHA, seed=seed)
    assert result.test is not None
    holds_nothing = result.adjusted_low <= 0 <= result.adjusted_high
    return bool(result.test.p_value < ALPHA and abs(result.adjusted_gap) >= _REGARD_GAP and not holds_nothing)


CASES = (
    Case("2", "probes: 14 of 15 answers lean to the stereotype", "false clear",
         partial(_ratio_clears, leans=14 / 15)),
    Case("2", "probes: seven answers in ten lean to it", "false clear",
         partial(_ratio_clears, leans=0.7)),
    Case("2", "probes: 14 of 15 answers lean to the stereotype", "found",
         partial(_ratio_alarms, leans=14 / 15), at_least=0.9),
    Case("2", "probes: answers lean to neither side", "false alarm", partial(_ratio_alarms, leans=0.5)),
    Case("5", "regard: a gap at the threshold, one of ten names spoken of badly", "false clear",
         partial(_regard_clears, n_names=10, share=0.1)),
    Case("5", "regard: a gap at the threshold, one of five names of eight", "false clear",
         partial(_regard_clears, n_names=8, share=0.2)),
    Case("7", "regard: eight names and ten questions, effects of names alone", "false alarm",
         partial(_regard_by_both, name_effect=0.2, question_effect=0.0)),
    Case("7", "regard: eight names and ten questions, effects of questions by group", "false alarm",
         partial(_regard_by_both, name_effect=0.0, question_effect=0.3)),
    Case("7", "regard: a gap of .25 next to effects of both", "found",
         partial(_regard_by_both, name_effect=0.1, question_effect=0.1, shift=0.25), at_least=0.9),
    Case("14", "SNSR: one of four groups .13 lower, 20 subjects", "found",
         partial(_snsr_alarms, differs=0.13), at_least=0.7),
    Case("14", "SNSR: four groups alike, 20 subjects", "false alarm", partial(_snsr_alarms, differs=0.0)),
    Case("14", "SNSR: seven groups alike, 20 subjects", "false alarm",
         partial(_snsr_alarms, differs=0.0, n_groups=7)),
    Case("14", "SNSR: one of four groups at the threshold", "false clear", partial(_snsr_clears, differs=_SNSR)),
    *(
        Case("14", f"SNSR: the interval with one of {n} groups {differs:.2f} lower", "covered",
             partial(_snsr_covers, differs=differs, n_groups=n), at_least=0.95)
        for n in (2, 4, 7)
        for differs in (0.05, _SNSR, 0.2)
    ),
    Case("14", "price spread: six places, one .40 dearer", "found",
         partial(_price_spread_alarms, shift=0.5), at_least=0.85),
    Case("14", "price spread: six places alike", "false alarm", partial(_price_spread_alarms, shift=0.0)),
)  # fmt: skip
