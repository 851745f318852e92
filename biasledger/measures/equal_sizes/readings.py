"""Two runs brought to equal sizes, and what a measure whose expectation depends on the size reads then.

Divergence, separability, the largest z, spreads over groups' means and smallest ratios all depend on how much was answered: the
same model asked twice as often reads differently. So before two runs are subtracted, both keep the same number of units in every
cell (a group inside a stratum), or the same subjects and the same number of answers, and the measure is taken anew. What is kept
depends on the units' keys alone, never on their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.decisions.impact_ratios import impact_test
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.intervals import NO_VARIANCE, rule_of_three, t_quantile
from biasledger.measures.engine.resampling import Design, Floats, Integers, stable_seed
from biasledger.measures.lists import STATISTICS, spread
from biasledger.measures.prices import items as prices
from biasledger.measures.prices.means import price_spread
from biasledger.measures.words.divergence import divergence
from biasledger.measures.words.log_odds import marked_words
from biasledger.measures.words.separability import separability
from biasledger.measures.words.units import trials_or_prompts

N_PERMUTATIONS = 199
"""They give the null's mean and spread here, no p-value: its error is a fourteenth of the spread."""

MIN_TEXTS = 10
"""Distinct texts a group needs for a classifier, as for the finding itself."""

_Z = 1.959964


@dataclass(frozen=True)
class Reading:
    """A measure at a given size: its value and how far the 95 % interval reaches below and above it (0 or more, or NaN)."""

    value: float
    arm_low: float
    arm_high: float
    n_units: int


@dataclass(frozen=True)
class WordUnits:
    """Trials of one contrast in one run, in an order that says nothing of what was answered.

    labels: 1 the marked group, 0 the reference. strata: (n_units,) names. clusters: texts that are the same share a number.
    features: word counts (n_units, n_words); which word a column is does not matter. prompts: (n_units,) names of the prompts
    that they answer where all answers to a prompt move as one; None where answers do.
    """

    labels: NDArray[np.int8]
    strata: NDArray[np.str_]
    clusters: Integers
    features: sparse.csr_array
    weighting: str = "tfidf"
    prompts: NDArray[np.str_] | None = None

    @property
    def cells(self) -> NDArray[np.str_]:
        """What two runs keep equally many of: a group's texts in a stratum, or in answer to a prompt."""
        cells = np.char.add(np.char.add(self.labels.astype(np.str_), "|"), self.strata.astype(np.str_))
        return cells if self.prompts is None else np.char.add(np.char.add(cells, "|"), self.prompts)

    def keep(self, kept: NDArray[np.intp]) -> WordUnits:
        """Some of the units, and the words that they use."""
        features = sparse.csr_array(self.features[kept])
        used = np.flatnonzero(np.bincount(features.indices, minlength=features.shape[1]))
        return WordUnits(
            self.labels[kept],
            self.strata[kept],
            self.clusters[kept],
            sparse.csr_array(features[:, used]),
            self.weighting,
            None if self.prompts is None else self.prompts[kept],
        )


def common_cells(
    cells: NDArray[np.str_], others: NDArray[np.str_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of the units that both sides keep: of each cell the first units, as many as the side with fewer has.

    cells, others: (n_units,) the cell of each unit, in an order that says nothing of what was answered.
    """
    return _kept(cells, others), _kept(others, cells)


def _kept(cells: NDArray[np.str_], others: NDArray[np.str_]) -> NDArray[np.intp]:
    names, numbers = np.unique(cells, return_inverse=True)
    other_names, other_sizes = np.unique(others, return_counts=True)
    sizes = np.zeros(names.size, dtype=np.int64)
    places = np.searchsorted(other_names, names)
    found = places < other_names.size
    found[found] = other_names[places[found]] == names[found]
    sizes[found] = other_sizes[places[found]]
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(names.size))
    place = np.empty(cells.size, dtype=np.int64)
    place[order] = np.arange(cells.size) - starts[numbers[order]]
    return np.flatnonzero(place < sizes[numbers])


def common_texts(one: WordUnits, other: WordUnits) -> tuple[WordUnits, WordUnits]:
    """Both with the same number of texts of each group in each stratum, in answer to each prompt where prompts move in both.

    Where prompts move in one of the two alone, as where it asked another question more, answers move in both: a cell must mean
    the same on either side, and so must the chance that is taken off.
    """
    if one.prompts is None or other.prompts is None:
        one, other = replace(one, prompts=None), replace(other, prompts=None)
    kept, other_kept = common_cells(one.cells, other.cells)
    return one.keep(kept), other.keep(other_kept)


def word_readings(units: WordUnits, *, seed: int, alpha: float) -> dict[str, Reading]:
    """`word_divergence` (debiased bits), `separability` (accuracy beyond chance), `marked_words` (|z| of the most certain word).

    A measure that these texts do not allow is left out. The z of a word has an error of 1 by its formula; where words come in
    bursts it is larger, null sd over the formula's own. That of the most certain word varies no more than that: in simulations
    its 95 % intervals miss in at most 3 %.
    """
    _, strata = np.unique(units.strata, return_inverse=True)
    design = Design(units.labels, strata.astype(np.int64).ravel())
    readings: dict[str, Reading] = {}
    if min(design.count(0), design.count(1)) < 2:
        return readings
    prompts = None if units.prompts is None else np.unique(units.prompts, return_inverse=True)[1].ravel()
    rows, first = trials_or_prompts(
        units.features, design, units.clusters, prompts, stable_seed(seed, "equal lengths")
    )
    fewest = min(first.design.count(0), first.design.count(1))
    if fewest < 2 or not first.design.can_move():
        return readings
    test = divergence(
        first.features,
        first.design,
        n_permutations=N_PERMUTATIONS,
        seed=stable_seed(seed, "word_divergence"),
        stop_after=None,
    )
    if test.test is not None:
        arm = _Z * test.standard_error
        readings["word_divergence"] = Reading(test.test.debiased, arm, arm, fewest)
    words = marked_words(
        first.features,
        first.design,
        # The informative prior enters a published column alone, which is not compared.
        prior=np.asarray(units.features.sum(axis=0), dtype=np.float64).ravel(),
        prior_total=float(units.features.sum()),
        n_permutations=N_PERMUTATIONS,
        alpha=alpha,
        seed=stable_seed(seed, "marked_words"),
        stop_after=None,
    )
    if words.family is not None:
        studentised = np.abs(words.audit.log_odds - words.family.null_mean) / words.family.null_sd
        if not np.isnan(studentised).all():
            strongest = int(np.nanargmax(studentised))
            of_word = float(words.family.null_sd[strongest] / np.sqrt(words.audit.variance[strongest]))
            arm = _Z * max(of_word, 1.0)
            readings["marked_words"] = Reading(abs(float(words.audit.z_score[strongest])), arm, arm, fewest)
    texts = np.unique(np.column_stack([units.labels, units.clusters]), axis=0)
    if np.bincount(texts[:, 0], minlength=2).min() >= MIN_TEXTS:
        told_apart = separability(
            rows.features,
            rows.design,
            rows.clusters,
            n_permutations=N_PERMUTATIONS,
            seed=stable_seed(seed, "separability"),
            weighting=units.weighting,
            stop_after=None,
            moved=None if units.prompts is None else rows.moves,
        )
        if not np.isnan(told_apart.beyond_chance):
            arm = _Z * told_apart.standard_error
            readings["separability"] = Reading(told_apart.beyond_chance, arm, arm, fewest)
    return readings


def common_values(
    values: Floats, subjects: NDArray[np.str_], others: Floats, other_subjects: NDArray[np.str_]
) -> tuple[Floats, Floats]:
    """Values of the same subjects and groups: (n_subjects, n_groups) each, NaN wherever either side has none.

    subjects: (n_subjects,) names, each once. Columns are the same groups on both sides.
    """
    _, place, other_place = np.intersect1d(subjects, other_subjects, return_indices=True)
    one, other = values[place], others[other_place]
    is_missing = np.isnan(one) | np.isnan(other)
    return np.where(is_missing, np.nan, one), np.where(is_missing, np.nan, other)


def spread_readings(values: Floats, *, seed: int, alpha: float) -> dict[str, Reading]:
    """Each of STATISTICS over the groups' means, chance taken off; values (n_subjects, n_groups), NaN for absent lists."""
    n_subjects = int(((~np.isnan(values)).sum(axis=1) >= 2).sum())
    if n_subjects < 2:
        return {}
    results = spread(values, n_permutations=N_PERMUTATIONS, alpha=alpha, seed=seed, stop_after=None)
    readings = {}
    for name in STATISTICS:
        result = results[name]
        if result.test is not None:
            arm = _student_arm(result.standard_error, n_subjects, alpha)
            readings[name] = Reading(result.debiased, arm, arm, n_subjects)
    return readings


def _student_arm(error: float, n_clusters: int, alpha: float) -> float:
    """Half the length of Student's interval; data without variance get the rule of three."""
    if error <= NO_VARIANCE:
        return float(rule_of_three(n_clusters, alpha))
    return float(t_quantile(1 - alpha / 2, max(n_clusters - 1, 1)) * error)


def thin_counts(counts: Floats, sizes: Integers, keys: NDArray[np.str_], seed: int) -> Floats:
    """Some of each row's answers, drawn without replacement: (n_units, n_kinds) and how many to keep to counts of that sum.

    A row's draw depends on its key and the seed alone. Counts that are not whole numbers are left as they are.
    """
    thinned = counts.copy()
    for row in np.flatnonzero(counts.sum(axis=1) > sizes):
        whole = np.round(counts[row]).astype(np.int64)
        if np.abs(whole - counts[row]).max() > NO_VARIANCE:
            continue
        rng = np.random.Generator(np.random.PCG64(stable_seed(seed, keys[row])))
        thinned[row] = rng.multivariate_hypergeometric(whole, int(sizes[row]), method="marginals")
    return thinned


def impact_reading(units: Units, *, alpha: float, seed: int) -> Reading | None:
    """Smallest selection rate over the largest, with its own interval's arms; None where nobody is selected."""
    result = impact_test(units, n_permutations=0, alpha=alpha, seed=seed)
    if np.isnan(result.smallest_ratio):
        return None
    return Reading(
        result.smallest_ratio,
        result.smallest_ratio - result.interval_low,
        result.interval_high - result.smallest_ratio,
        result.n_smallest_group,
    )


def price_reading(units: prices.ItemCounts, *, alpha: float, seed: int) -> Reading | None:
    """How far groups' mean price levels lie apart, chance taken off; None where too few groups have items."""
    result = price_spread(units, n_permutations=N_PERMUTATIONS, alpha=alpha, seed=seed, stop_after=None)
    if result is None or result.test is None:
        return None
    arm = _student_arm(result.standard_error, result.n_clusters, alpha)
    return Reading(result.debiased, arm, arm, result.n_clusters)
