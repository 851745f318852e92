"""Slow, plain computations of the measures of decisions, and helpers for their tests."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from scipy import stats

from biasledger.measures.gaps.gap import gap
from biasledger.measures.gaps.units import Units
from tests.python.measures.simulated_decisions import units_of


def gap_of(units: Units, **changes):
    options = {"lowest": 0.0, "highest": 1.0, "n_permutations": 0, "alpha": 0.05, "seed": 1}
    return gap(units, **{**options, **changes})


def slow_gap(units: Units, keep) -> float:
    labels = units.design.labels
    marked, reference = (labels == 1) & keep, (labels == 0) & keep
    return (
        units.total[marked].sum() / units.n[marked].sum()
        - units.total[reference].sum() / units.n[reference].sum()
    )


def slow_adjusted_gap(units: Units, keep) -> float:
    above = below = 0.0
    for stratum in set(units.design.strata[keep]):
        inside = keep & (units.design.strata == stratum)
        (n1, t1), (n0, t0) = (
            (units.n[inside & of].sum(), units.total[inside & of].sum())
            for of in (units.design.labels == 1, units.design.labels == 0)
        )
        if n1 and n0:
            above += n1 * n0 / (n1 + n0) * (t1 / n1 - t0 / n0)
            below += n1 * n0 / (n1 + n0)
    return above / below


def slow_jackknife_error(units: Units, statistic, per_group: bool) -> float:
    """Delete-one-cluster; of separate groups each has its own sum of squares."""
    left_out, groups = [], []
    for cluster in sorted(set(units.clusters)):
        left_out.append(statistic(units, units.clusters != cluster))
        groups.append(units.design.labels[units.clusters == cluster][0] if per_group else 0)
    left_out, groups = np.array(left_out), np.array(groups)
    variance = 0.0
    for group in set(groups):
        part = left_out[groups == group]
        variance += (part.size - 1) / part.size * ((part - part.mean()) ** 2).sum()
    return sqrt(variance)


def at_most(n_audits: int, rate: float = 0.05) -> int:
    return int(stats.binom.ppf(0.999, n_audits, rate))


def at_least(n_audits: int, rate: float = 0.95) -> int:
    return int(stats.binom.ppf(0.001, n_audits, rate))


def sample_of_people(rng, n, effect=0.0, shares=(0.2, 0.4, 0.6, 0.8), rates=(0.1, 0.3, 0.6, 0.8)):
    """Labels, selections and jobs: the marked group applies more often where most are selected."""
    jobs = rng.integers(0, len(rates), n)
    labels = (rng.random(n) < np.array(shares)[jobs]).astype(int)
    return labels, (rng.random(n) < np.array(rates)[jobs] + effect * labels).astype(int), jobs


def cells(rng, *, n_names, name_sd, lowered=0.0, n_resumes=120) -> Units:
    """Each resume under one reused name of each group, put on levels 0 to 2; a name's own effect returns with it."""
    effects = rng.normal(0, name_sd, (2, n_names))
    names = rng.integers(0, n_names, (n_resumes, 2))
    quality = rng.normal(0, 0.7, (n_resumes, 1)) + effects[np.arange(2), names] - lowered * np.arange(2)
    outcomes = np.clip(np.round(1 + quality + rng.normal(0, 0.5, quality.shape)), 0, 2)
    resumes = np.repeat(np.arange(n_resumes), 2)
    units = units_of(np.tile([0, 1], n_resumes), resumes, resumes, 1, outcomes.ravel())
    return replace(units, names=(names + np.array([0, n_names])).ravel())
