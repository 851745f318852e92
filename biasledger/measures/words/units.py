"""The units that move when labels of texts are permuted: an answer, a prompt with all its answers, or a name with all its texts.

Every trial is an observation. Where a group was asked several questions, all trials of a question move as one unit: answers to
one question are alike whichever group it names, and shuffling them one by one would take that for a difference between groups.
If people are named, or a group is worded in several ways, names and wordings are judged too, each with all its texts.

Units are brought to equal lengths before they are compared, so that short answers do not look like other words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Floats, Integers, Moves, stable_seed
from biasledger.measures.engine.word_counts import narrow, row_parts, row_sums, weighted_sums
from biasledger.measures.words.texts import Texts

MIN_DESCRIPTORS = 5
"""The smallest number of names or wordings per group that are judged as units; fewer do not represent the group."""

MAX_TRIALS = 200_000
"""Trials of a comparison beyond which counted answers are taken for fewer, each for its share."""


@dataclass(frozen=True)
class MovedTexts:
    """Units that move as a whole: word counts (n_units, n_words), and how labels move. name: trials, prompts or descriptors."""

    name: str
    features: sparse.csr_array
    design: Design


@dataclass(frozen=True)
class TextRows:
    """A row a trial, for classifiers: how rows move, and rows of one text share a cluster."""

    features: sparse.csr_array
    design: Design
    clusters: Integers
    moves: Moves


@dataclass(frozen=True)
class JudgedTexts:
    """A comparison's trials at equal lengths, what moves first, and names or wordings where there are enough of them."""

    rows: TextRows
    first: MovedTexts
    descriptors: MovedTexts | None
    row_descriptors: Integers

    @property
    def all_units(self) -> list[MovedTexts]:
        """Everything that a finding is judged by: of several p the largest counts."""
        return [self.first] if self.descriptors is None else [self.first, self.descriptors]


def judged_texts(comparison: Comparison[Texts]) -> JudgedTexts:
    """Return the judged units of a comparison; its raw counts stay with the published columns."""
    seed = stable_seed(comparison.seed_for("equal lengths"))
    texts = comparison.units
    trials = whole_trials(texts.n_trials)
    of_text = np.repeat(np.arange(trials.size), trials)
    design = texts.design.with_content(texts.features).of(of_text)
    # Most often a text is one trial, and texts need no copy of themselves.
    raw = texts.features if (trials == 1).all() else sparse.csr_array(texts.features[of_text])
    clusters = texts.clusters[of_text]
    prompts = texts.prompts[of_text] if texts.moves_prompts else None
    rows, first = trials_or_prompts(raw, design, clusters, prompts, seed)
    descriptor_design = Design(design.labels, texts.name_strata[of_text])
    of_descriptor, descriptors = _blocks(descriptor_design, texts.names[of_text][:, np.newaxis])
    n_groups = int(design.labels.max(initial=0)) + 1
    is_enough = descriptors.fewest(n_groups) >= MIN_DESCRIPTORS and descriptors.can_move()
    return JudgedTexts(
        rows,
        first,
        _summed("descriptors", raw, of_descriptor, descriptors, stable_seed(seed, "descriptors"))
        if is_enough
        else None,
        of_descriptor,
    )


def trials_or_prompts(
    raw: sparse.csr_array, design: Design, clusters: Integers, prompts: Integers | None, seed: int
) -> tuple[TextRows, MovedTexts]:
    """Trials at equal lengths and what moves first: they themselves, or prompts, (n_trials,) the prompt that each answers.

    Prompts are brought to equal lengths with all their answers, so that a prompt with fewer answers weighs no less.
    """
    features = equal_lengths(raw, design, seed)
    if prompts is None:
        rows = TextRows(features, design, clusters, Moves.alone(design))
        return rows, MovedTexts("trials", features, design)
    of_unit, units = _blocks(design, np.column_stack([design.strata, prompts]))
    summed = _summed("prompts", raw, of_unit, units, stable_seed(seed, "prompts"))
    return TextRows(features, design, clusters, Moves(summed.design, of_unit)), summed


def equal_lengths(features: sparse.csr_array, design: Design, seed: int) -> sparse.csr_array:
    """Word counts in which every group has units of the same lengths in every stratum.

    In each stratum the units of each group are ranked by length; each keeps as many words as the shortest of those of its rank in
    any group, every word with the same chance. Units of strata with one group alone are left as they are.
    """
    lengths = row_sums(features)
    kept = np.divide(common_lengths(lengths, design), lengths, out=np.ones_like(lengths), where=lengths > 0)
    if (kept >= 1).all():
        return features
    order = design.order
    thinned = _thinned(sparse.csr_array(features[order]), kept[order], seed)
    return sparse.csr_array(thinned[np.argsort(order)])


def _thinned(features: sparse.csr_array, kept: Floats, seed: int) -> sparse.csr_array:
    """Word counts of which each unit keeps its share, (n_units,)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    # Words are drawn in an order that their use gives, so that neither their names nor their numbers matter: a baseline from
    # another machine has no words.
    [use] = weighted_sums(rng.random((1, kept.size)), features)
    left = features.data.copy()
    for of_rows, part in row_parts(features):
        of_cell = np.repeat(kept[of_rows], np.diff(part.indptr))
        [thinned] = np.nonzero(of_cell < 1)
        rows = np.searchsorted(part.indptr, thinned, side="right")
        thinned = thinned[np.lexsort((use[part.indices[thinned]], rows))]
        n_left = rng.binomial(np.round(part.data[thinned]).astype(np.int64), of_cell[thinned])
        left[features.indptr[of_rows.start] + thinned] = n_left
    result = sparse.csr_array((left, features.indices.copy(), features.indptr.copy()), shape=features.shape)
    result.eliminate_zeros()
    return result


def common_lengths(lengths: Floats, design: Design) -> Floats:
    """Return the length that each unit is brought to, (n_units,): the shortest at its rank in any group of its stratum."""
    order = np.lexsort((lengths, design.labels, design.strata))
    strata, labels = design.strata[order], design.labels[order]
    starts = np.flatnonzero(
        (np.diff(strata, prepend=strata[:1] - 1) != 0) | (np.diff(labels, prepend=-1) != 0)
    )
    targets = lengths.copy()
    groups = zip(strata[starts], np.split(order, starts[1:]), strict=False)
    for _, of_stratum in groupby(groups, key=itemgetter(0)):
        inside = [units for _, units in of_stratum]
        for own in inside:
            at = (np.arange(own.size) + 0.5) / own.size
            for other in inside:
                if other is not own:
                    ranks = (np.arange(other.size) + 0.5) / other.size
                    targets[own] = np.minimum(targets[own], np.interp(at, ranks, lengths[other]))
    return targets


def whole_trials(n_trials: Floats) -> Integers:
    """Return the number of rows for each text: at least one, and otherwise at most MAX_TRIALS in all."""
    share = min(1.0, MAX_TRIALS / max(float(n_trials.sum()), 1.0))
    return np.maximum(np.round(n_trials * share), 1).astype(np.int64)


def _blocks(design: Design, codes: Integers) -> tuple[Integers, Design]:
    """Join rows of one label and the same codes (n_rows, n_codes) into units; return each row's unit, and the units' design."""
    keys = np.column_stack([design.labels.astype(np.int64), codes])
    _, first, of_unit = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return of_unit.astype(np.int64).ravel(), Design(design.labels[first], design.strata[first])


def _summed(name: str, raw: sparse.csr_array, of_unit: Integers, design: Design, seed: int) -> MovedTexts:
    summed = narrow(Moves(design, of_unit).summed(raw))
    summed.sort_indices()
    summed.indices, summed.indptr = summed.indices.astype(np.int32), summed.indptr.astype(np.int32)
    design = design.with_content(summed)
    return MovedTexts(name, equal_lengths(summed, design, seed), design)
