"""Word counts as their permutation tests take them: words of too few units together, and many units in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine.design import Design, Floats, pooled
from biasledger.measures.engine.group_sums import Dense, pooled_features
from biasledger.measures.engine.resampling import FamilyResult
from biasledger.measures.engine.word_counts import are_whole, column_sums, rows_using, with_rest


@dataclass(frozen=True)
class CondensedWords:
    """Words of one comparison whose labels are permuted.

    is_tested: (n_words,), words that several units use. features: (n_units, n_tested + 1), their counts, and those of all others,
    about half of a vocabulary, in one last column: a word that only one unit uses is only in one group, so that in a group's
    tokens and in a divergence their sum is all that counts. totals: (n_tested + 1,), counts of all units. blocks, of_blocks: what
    moves, and its features, as sums_in_parts takes them. is_whole: whether all counts are whole numbers.
    """

    is_tested: NDArray[np.bool_]
    features: sparse.csr_array
    totals: Floats
    blocks: Design
    of_blocks: sparse.csr_array | Dense
    is_whole: bool

    @classmethod
    def of(cls, features: sparse.csr_array, design: Design, seed: int) -> CondensedWords:
        """Return words of units, (n_units, n_words); tested are those that two or more use."""
        is_tested = rows_using(features) >= 2
        condensed = with_rest(features, is_tested)
        blocks = pooled(design, seed)
        return cls(
            is_tested,
            condensed,
            column_sums(condensed),
            blocks.design,
            pooled_features(condensed, blocks),
            are_whole(features),
        )

    @property
    def n_others(self) -> int:
        """Words that the last column holds together."""
        return int(np.count_nonzero(~self.is_tested))

    def expanded(self, family: FamilyResult) -> FamilyResult:
        """Return the results of a family of the tested words for all words, with the others untested."""
        return family.expanded(np.flatnonzero(self.is_tested), self.is_tested.size)
