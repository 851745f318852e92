"""Decisions about people: refusals, gaps that few carry, orders shown, and prompts that are the same."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.verdicts import Case
from biasledger.measures.decisions.impact_ratios import impact_test
from biasledger.measures.decisions.positions import position_test
from biasledger.measures.engine.design import Design
from biasledger.measures.gaps.gap import Gap, gap
from biasledger.measures.gaps.units import Units

_RANK_THRESHOLD, _SHARE_THRESHOLD = 0.05, 0.1
_N_RESUMES = 120
_N_PERMUTATIONS = 199


def _gap(units: Units, seed: int, highest: float = 2.0) -> Gap:
    return gap(units, lowest=0.0, highest=highest, n_permutations=_N_PERMUTATIONS, alpha=0.05, seed=seed)


def _is_alarm(result: Gap, threshold: float) -> bool:
    """An alarm, as `fct_findings` judges a single finding."""
    return (
        result.test is not None
        and abs(result.adjusted_gap) >= threshold
        and result.test.p_value < 0.05
        and not result.adjusted_low <= 0 <= result.adjusted_high
    )


def _is_clear(result: Gap, threshold: float) -> bool:
    return max(result.adjusted_high, -result.adjusted_low) < threshold


def _people(labels: np.ndarray, outcomes: np.ndarray) -> Units:
    n = labels.size
    return Units(
        Design(labels.astype(np.int8), np.zeros(n, dtype=np.int64)),
        np.arange(n),
        np.ones(n),
        outcomes.astype(np.float64),
    )


def _refused_on_hard_resumes(seed: int, *, lowered: float = 0.0) -> bool:
    """Four trials a resume and group; one group's are refused where the resume is weak."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, _N_RESUMES)
    latent = 1 + quality[:, None, None] + rng.normal(0, 0.5, (_N_RESUMES, 2, 4))
    latent[:, 1] -= lowered
    levels = np.clip(np.round(latent), 0, 2)
    is_answered = np.ones(levels.shape, dtype=bool)
    is_answered[:, 1] = rng.random((_N_RESUMES, 4)) > np.where(quality < -0.3, 0.8, 0.0)[:, None]
    n, total = is_answered.sum(axis=2), (levels * is_answered).sum(axis=2)
    resumes, labels = np.nonzero(n)
    units = Units(
        Design(labels.astype(np.int8), resumes),
        resumes,
        n[resumes, labels].astype(np.float64),
        total[resumes, labels],
    )
    return _is_alarm(_gap(units, seed), _RANK_THRESHOLD)


def _repeated_rankings(seed: int, *, pull: float = 0.0) -> bool:
    """Sets of four, each with one best candidate, asked 15 times; the first place takes over with the probability `pull`."""
    rng = np.random.default_rng(seed)
    n_sets = 24
    best = np.repeat(rng.integers(0, 4, n_sets), 15)
    places = np.where(rng.random(best.size) < pull, 0, best)
    result = position_test(places, np.full(best.size, 4), sets=np.repeat(np.arange(n_sets), 15))
    return result.p_first < 0.05 and not result.interval_low <= result.expected_share <= result.interval_high


def _rankings_of_two(seed: int, *, measure: str) -> bool:
    """60 rankings of two next to one of eight: what one of two gains the other loses."""
    rng = np.random.default_rng(seed)
    first = np.concatenate(
        [rng.permuted(np.tile([1, 0], (60, 1)), axis=1).ravel(), rng.permuted([1] + [0] * 7)]
    )
    units = Units(
        Design(np.tile(np.array([0, 1], dtype=np.int8), 64), np.zeros(128, dtype=np.int64)),
        np.arange(128),
        np.ones(128),
        first.astype(np.float64),
        np.repeat([2.0, 8.0], [120, 8]),
    )
    if measure == "gap":
        test = _gap(units, seed, highest=1.0).test
    else:
        test = impact_test(units, n_permutations=_N_PERMUTATIONS, alpha=0.05, seed=seed).test
    return test is not None and test.p_value < 0.05


def _carried_by_few(seed: int, *, n_people: int, share: float) -> bool:
    """A gap as large as the threshold that few people of one group carry."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], n_people)
    carries = (rng.random(labels.size) < share) & (labels == 1)
    values = (rng.normal(0.1, 0.03, labels.size) + _SHARE_THRESHOLD / share * carries).clip(0, 1)
    return _is_clear(_gap(_people(labels, values), seed, highest=1.0), _SHARE_THRESHOLD)


def _an_answer_missing(seed: int) -> bool:
    """12 resumes, each group asked once: one in ten is put a level lower, and one answer is missing."""
    rng = np.random.default_rng(seed)
    n, threshold = 12, 0.1
    levels = rng.integers(1, 3, n).repeat(2).astype(np.float64)
    levels[1::2] -= rng.random(n) < threshold
    resumes, labels = np.repeat(np.arange(n), 2), np.tile(np.array([0, 1], dtype=np.int8), n)
    kept = np.arange(2 * n) != rng.integers(2 * n)
    units = Units(Design(labels[kept], resumes[kept]), resumes[kept], np.ones(2 * n - 1), levels[kept])
    return _is_clear(_gap(units, seed), threshold)


def _masked(seed: int) -> bool:
    """The same prompt for both groups: 160 resumes with the same answer each rule a gap past the threshold out."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 3, 160).repeat(2).astype(np.float64)
    resumes = np.repeat(np.arange(160), 2)
    units = Units(
        Design(np.tile(np.array([0, 1], dtype=np.int8), 160), resumes), resumes, np.ones(320), levels
    )
    return _is_clear(_gap(units, seed), _RANK_THRESHOLD)


CASES = (
    Case("9", "one group refused on hard resumes", "false alarm", _refused_on_hard_resumes),
    Case("9", "the same, a planted 0.2", "found", partial(_refused_on_hard_resumes, lowered=0.2), at_least=0.9),
    Case("12", "sets ranked 15 times over", "false alarm", _repeated_rankings),
    Case("12", "sets ranked 15 times over, the first place decides half", "found",
         partial(_repeated_rankings, pull=0.5), at_least=0.9),
    Case("12", "60 rankings of two, one of eight: gap", "false alarm", partial(_rankings_of_two, measure="gap")),
    Case("12", "60 rankings of two, one of eight: impact ratio", "false alarm", partial(_rankings_of_two, measure="ratio")),
    *(
        Case("5", f"{n} people a group, one in {round(1 / share)} carries the threshold", "false clear",
             partial(_carried_by_few, n_people=n, share=share))
        for n, share in ((8, 0.2), (10, 0.2), (20, 0.1))
    ),
    Case("5", "12 resumes, one in ten carries the threshold, an answer missing", "false clear", _an_answer_missing),
    Case("13", "160 resumes, the same prompt for both groups", "found", _masked, at_least=1.0),
)  # fmt: skip
