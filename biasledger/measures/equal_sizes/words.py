"""Texts of one contrast in two runs at equal sizes: how far their words differ, and how well they are distinguished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Integers, stable_seed
from biasledger.measures.engine.intervals import Z
from biasledger.measures.engine.sums import numbered
from biasledger.measures.engine.word_counts import column_sums
from biasledger.measures.equal_sizes.readings import (
    N_PERMUTATIONS,
    SIDES,
    Question,
    Reading,
    SideReading,
    common_cells,
    side_readings,
)
from biasledger.measures.schema import Table
from biasledger.measures.words.classifier_accuracy import classifier_accuracy
from biasledger.measures.words.divergence import divergence
from biasledger.measures.words.log_odds import marked_words
from biasledger.measures.words.units import trials_or_prompts

MIN_TEXTS = 10
"""Distinct texts a group needs for a classifier, as for the finding itself."""


@dataclass(frozen=True)
class WordUnits:
    """Trials of one contrast in one run, in an order that does not depend on the answers.

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
        """The cells in which two runs keep the same number of texts: a group's texts in a stratum, or in answer to a prompt."""
        cells = np.char.add(np.char.add(self.labels.astype(np.str_), "|"), self.strata.astype(np.str_))
        return cells if self.prompts is None else np.char.add(np.char.add(cells, "|"), self.prompts)

    def keep(self, kept: NDArray[np.intp]) -> WordUnits:
        """Return some of the units, and the words that they use."""
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


WordPair = Comparison[tuple[WordUnits, WordUnits]]
"""Texts of one contrast, before and after. The names of pairs are questions: scheme, attribute, groups and subject."""


def word_sizes(pairs: Iterable[WordPair]) -> Table:
    """Yield a row for each pair, contrast, side and measure of words: its SideReading."""

    def readings(pair: WordPair) -> Iterator[SideReading]:
        for side, units in zip(SIDES, common_texts(*pair.units), strict=True):
            found = word_readings(units, seed=pair.seed_for("words"), alpha=pair.alpha)
            for measure, reading in found.items():
                yield SideReading(side, measure, Question(*pair.name), reading)

    return side_readings(pairs, readings)


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
    """`word_divergence` (debiased bits), `classifier_accuracy` (beyond chance), `marked_words` (|z| of the most certain word).

    A measure that these texts do not allow is left out. The z of a word has an error of 1 by its formula; where words come in
    bursts it is larger: null sd over the formula's own. The z of the most certain word varies no more than that: in simulations
    its 95 % intervals miss in at most 3 %.
    """
    design = Design(units.labels, numbered(units.strata))
    readings: dict[str, Reading] = {}
    if design.fewest() < 2:
        return readings
    prompts = None if units.prompts is None else numbered(units.prompts)
    rows, first = trials_or_prompts(
        units.features, design, units.clusters, prompts, stable_seed(seed, "equal lengths")
    )
    fewest = first.design.fewest()
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
        arm = Z * test.standard_error
        readings["word_divergence"] = Reading(test.test.debiased, arm, arm, fewest)
    words = marked_words(
        first.features,
        first.design,
        # The informative prior enters a published column alone, which is not compared.
        prior=column_sums(units.features),
        prior_total=float(column_sums(units.features).sum()),
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
            arm = Z * max(of_word, 1.0)
            readings["marked_words"] = Reading(abs(float(words.audit.z_score[strongest])), arm, arm, fewest)
    texts = np.unique(np.column_stack([units.labels, units.clusters]), axis=0)
    if np.bincount(texts[:, 0], minlength=2).min() >= MIN_TEXTS:
        accuracy = classifier_accuracy(
            rows.features,
            rows.design,
            rows.clusters,
            n_permutations=N_PERMUTATIONS,
            seed=stable_seed(seed, "classifier_accuracy"),
            weighting=units.weighting,
            stop_after=None,
            moved=None if units.prompts is None else rows.moves,
        )
        if not np.isnan(accuracy.beyond_chance):
            arm = Z * accuracy.standard_error
            readings["classifier_accuracy"] = Reading(accuracy.beyond_chance, arm, arm, fewest)
    return readings
