"""Possible mistakes in a file of answers: shares of one among larger scores, groups asked at different times, useless blocks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from collector.hints import quoted, shown

if TYPE_CHECKING:
    from collector.spec.audit import Audit

Numbers = NDArray[np.int64]

# On shorter scales a score below 1 is a score like any other.
_LOWEST_END = 50
# Fewer scores below 1 may be meant.
_FEWEST = 3
# Fewer changes from group to group than this many standard deviations below what a random order has are no chance.
_UNMIXED = -4.0
# With more stretches a group, a target that drifts favours no group.
_MOST_STRETCHES = 10


@dataclass(slots=True)
class Shares:
    """Counts scores between 0 and 1 on a scale that ends far above, by group."""

    n_above: int = 0
    n_shares: int = 0
    shares: Counter[tuple[str, str]] = field(default_factory=Counter)
    scores: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, audit: Audit, score: str | None, groups: Iterable[tuple[str, str]]) -> None:
        """Count a score, with the (attribute, group) pairs that it is about."""
        if score is None or audit.answer.kind != "score" or (audit.answer.maximum or 0) < _LOWEST_END:
            return
        value, named = float(score), set(groups)
        self.scores.update(named)
        self.n_above += value > 1
        if 0 < value < 1:
            self.n_shares += 1
            self.shares.update(named)

    def sentences(self) -> list[str]:
        """Return a sentence where some scores are shares of one and others are not."""
        if self.n_shares < _FEWEST or not self.n_above:
            return []
        groups = ", ".join(
            f"{attribute} {shown(group)} {self.shares[attribute, group]:,} of {n:,}"
            for (attribute, group), n in self.scores.most_common()
        )
        sentence = (
            f"{self.n_shares:,} scores lie between 0 and 1, and {self.n_above:,} above 1 ({groups}). If they "
            f"are shares, as 0.55 for 55 %, write all scores of the file alike; where the others have a percent sign, minimum: 0 "
            f"and maximum: 1 reads 78% as 0.78."
        )
        return [sentence]


def mixing_sentences(
    prompts: Numbers,
    blocks: Numbers,
    stated: Iterable[tuple[Sequence[int], str, str]],
    order: str | None,
    block: str | None,
) -> list[str]:
    """Return a sentence for each attribute whose groups no block holds together, and each whose groups the order separates.

    Args:
        prompts, blocks: the number of the prompt and of the block of each answer: block by block, and inside it in their order.
        stated: numbers of prompts, and an attribute and its group that they name.
        order, block: the columns of the order and of the blocks, if the import names them.
    """
    known: dict[str, dict[str, int]] = {}
    coded: dict[str, Numbers] = {}
    for of_group, attribute, group in stated:
        codes = known.setdefault(attribute, {})
        of_prompts = coded.setdefault(attribute, np.full(prompts.max() + 1, -1))
        of_prompts[np.asarray(of_group)] = codes.setdefault(group, len(codes))
    sentences = []
    for attribute, codes in known.items():
        groups = coded[attribute][prompts]
        is_named = groups >= 0
        called, named = f"{attribute} ({quoted(codes)})", (groups[is_named], blocks[is_named])
        if block is not None and not _has_mixed_blocks(*named):
            sentences.append(
                f"Each value of {shown(block)}, the block, has answers about one group of {called} alone, so nothing can be "
                f"compared inside: name a column whose values hold several groups, or remove import.columns.block."
            )
        if order is not None and (counts := _few_changes(*named)) is not None:
            n_changes = "1 time" if counts[0] == 1 else f"{counts[0]:,} times"
            sentences.append(
                f"Groups were asked at different times: in the order of {shown(order)}, {called} changes {n_changes} in "
                f"{len(named[0]):,} answers, and would change {counts[1]:,.0f} times in a random order. A target that changed in "
                f"the meantime looks like a difference; name a block that holds both groups, or mix them."
            )
    return sentences


def _has_mixed_blocks(groups: Numbers, blocks: Numbers) -> bool:
    """Return whether a block holds two groups; also if there is one group in all."""
    pairs = np.unique(np.stack([blocks, groups], axis=1), axis=0)
    return len(np.unique(groups)) < 2 or len(pairs) > len(np.unique(blocks))


def _few_changes(groups: Numbers, blocks: Numbers) -> tuple[int, float] | None:
    """Return how often the group changes and how often it would at random, if each group was asked in a few long stretches.

    By the runs test for several groups (Barton and David 1957), inside blocks.
    """
    n_changes, most, expected, variance = 0, 0, 0.0, 0.0
    for one in np.split(groups, np.flatnonzero(np.diff(blocks)) + 1):
        counts = np.bincount(one).astype(float)
        if (n_groups := np.count_nonzero(counts)) < 2:
            continue
        n, squares, cubes = float(len(one)), float((counts**2).sum()), float((counts**3).sum())
        n_changes += int(np.count_nonzero(np.diff(one)))
        most += _MOST_STRETCHES * int(n_groups)
        expected += (n * n - squares) / n
        variance += (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    is_unmixed = n_changes < most and n_changes - expected < _UNMIXED * math.sqrt(variance)
    return (n_changes, expected) if is_unmixed else None
