"""The texts of one comparison of groups: their words, their labels, and how labels may move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine.design import Design, Floats, Integers, Labels


@dataclass(frozen=True)
class Texts:
    """All that a measure of words needs of one comparison, whose name starts with its scheme and kind.

    kind: against_reference, pairwise (label 1 is the marked group, 0 the reference) or all_groups (labels 0 … k - 1).
    features: word counts (n_texts, n_words) of each distinct answer to a prompt, once; words names the columns, in
    alphabetical order. n_answers: (n_texts,) how often each answer was given, or its weight. prior: the words' counts in the
    run's whole corpus; prior_total: all its tokens. clusters: the same text, or all texts of one customer, share a number.
    classes: the words that were in the prompts for the group, numbered in their order; order: positions of the texts in the
    order of their collection. The published procedures depend on both. weighting: of words by the classifier, tfidf or counts.

    Permuted units: n_trials (n_texts,), the number of observations of each text; prompts (n_texts,), the prompt that it answers,
    whose answers move as one unit if moves_prompts; names (n_texts,), the customer, or the name or wording of the group, which
    moves with all its texts; name_strata (n_texts,), all other attributes, inside which names change places.
    """

    kind: str
    scheme: str
    features: sparse.csr_array
    n_answers: Floats
    words: NDArray[np.str_]
    prior: Floats
    prior_total: float
    design: Design
    clusters: Integers
    prompts: Integers
    moves_prompts: bool
    n_trials: Floats
    name_strata: Integers
    names: Integers
    classes: Integers
    order: Integers
    weighting: str

    @property
    def is_pair(self) -> bool:
        """Return whether exactly two groups are compared and both have units."""
        return self.kind != "all_groups" and self.design.count(0) > 0 and self.design.count(1) > 0

    def between_wordings(self, label: int, most: int) -> Iterator[Texts]:
        """Yield the texts of each two names or wordings of one group, as if they were two groups, where it has 2 to `most` of
        them.

        Two of them are compared in the strata that hold both.
        """
        of_group = np.flatnonzero(self.design.labels == label)
        names = np.unique(self.names[of_group])
        for one, other in combinations(names, 2) if names.size <= most else ():
            first, second = (of_group[self.names[of_group] == name] for name in (one, other))
            shared = np.intersect1d(self.design.strata[first], self.design.strata[second])
            rows = np.concatenate([first, second])
            rows = rows[np.isin(self.design.strata[rows], shared)]
            if rows.size:
                yield self._relabelled(rows, (self.names[rows] == one).astype(np.int8))

    def _relabelled(self, rows: Integers, labels: Labels) -> Texts:
        return replace(
            self,
            features=sparse.csr_array(self.features[rows]),
            n_answers=self.n_answers[rows],
            design=Design(labels, self.design.strata[rows]),
            clusters=self.clusters[rows],
            prompts=self.prompts[rows],
            n_trials=self.n_trials[rows],
            name_strata=self.name_strata[rows],
            names=self.names[rows],
            classes=self.classes[rows],
            order=np.arange(rows.size),
        )

    @property
    def counted_features(self) -> sparse.csr_array:
        """Word counts (n_texts, n_words) of each distinct answer as often as it was given: what the sources count."""
        if (self.n_answers == 1).all():
            return self.features
        counted = self.features.data * np.repeat(self.n_answers, np.diff(self.features.indptr))
        return sparse.csr_array(
            (counted, self.features.indices, self.features.indptr), shape=self.features.shape
        )
