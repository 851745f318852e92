"""Units with their labels and strata, and blocks of many units, which move when labels are permuted.

Almost every measure is a function of group sums of unit-level features. A unit moves as a whole: rows that belong together were
summed into one unit before. Labels move only inside a stratum. Many units are pooled before their labels are permuted (`pooled`),
which limits the cost of a test.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine import sums
from biasledger.measures.engine.sums import numbered, sums_at
from biasledger.measures.engine.word_counts import sums_by

Floats = sums.Floats
Integers = NDArray[np.int64]
Labels = NDArray[np.int8]

N_BLOCKS = 2_000
"""Blocks to which units are pooled; twice as many units still move singly."""

# The smallest number of blocks with enough degrees of freedom for a studentised statistic.
_LEAST_BLOCKS = 20


@dataclass(frozen=True)
class Design:
    """The units' labels, and the strata in which labels may move.

    labels: group of each unit, 0 for the reference, 1 for the marked group (0 … k - 1 where k groups are compared).
    strata: stratum of each unit; labels are permuted only among the units of one stratum. n_blocks: of units that are pooled,
    the blocks that can move; None where units move singly. content: (n_units, n_columns), columns to sort units by before
    labels are drawn, so that draws do not depend on row order; the last column is the primary key. None keeps the given order.
    """

    labels: Labels
    strata: Integers
    n_blocks: int | None = None
    content: Floats | None = None

    def __post_init__(self) -> None:
        if self.labels.shape != self.strata.shape or self.labels.ndim != 1:
            raise ValueError("labels and strata are one-dimensional and of equal length")
        if self.content is not None and len(self.content) != self.labels.size:
            raise ValueError("content has a row for each unit")

    @classmethod
    def of_pairs(cls, n_pairs: int) -> Design:
        """Return pairs of a marked and a reference unit, whose labels change places."""
        return cls(np.tile(np.array([1, 0], dtype=np.int8), n_pairs), np.repeat(np.arange(n_pairs), 2))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.labels.size)

    @property
    def order(self) -> Integers:
        """Return the units' positions in the order of strata and content, whatever the groups are called."""
        return CanonicalOrder.of(self).units

    def count(self, label: int) -> int:
        """Return the number of units that carry a label."""
        return int(np.count_nonzero(self.labels == label))

    def fewest(self, n_groups: int = 2) -> int:
        """Return the number of units of the smallest group."""
        return min(self.count(label) for label in range(n_groups))

    def of(self, rows: Integers | NDArray[np.bool_]) -> Design:
        """Return the design of some units, or of some of them several times: rows (n,) are their positions, or a mask."""
        content = None if self.content is None else self.content[rows]
        return Design(self.labels[rows], self.strata[rows], content=content)

    def with_content(self, values: Floats | sparse.csr_array) -> Design:
        """Return the design with values of the units (n_units, …) as content: their sum and, for several columns, a weighted
        sum.
        """
        flat = values.reshape(len(values), -1) if isinstance(values, np.ndarray) else values
        weights = np.ones((flat.shape[1], 1 if flat.shape[1] == 1 else 2))
        weights[:, -1] = np.cos(np.arange(flat.shape[1]))
        return replace(self, content=np.asarray(flat @ weights, dtype=np.float64))

    def within(self, blocks: Integers) -> Design:
        """Return the design with labels that move only inside both their stratum and a block (a cross-validation fold)."""
        _, strata = np.unique(np.column_stack([self.strata, blocks]), axis=0, return_inverse=True)
        return Design(self.labels, strata.astype(np.int64).ravel(), content=self.content)

    def can_move(self) -> bool:
        """Return whether any stratum has units of two groups; otherwise every arrangement is the observed one."""
        order = np.lexsort((self.labels, self.strata))
        same_stratum = np.diff(self.strata[order]) == 0
        return bool(np.any(same_stratum & (np.diff(self.labels[order]) != 0)))


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Held = TypeVar("Held", bound=_Dataclass)


def some_of(units: Held, rows: Integers | NDArray[np.bool_]) -> Held:
    """Return a dataclass whose arrays and design have a row a unit for some of the units; its other fields stay."""

    def some(value: Any) -> Any:
        if isinstance(value, Design):
            return value.of(rows)
        return value[rows] if isinstance(value, np.ndarray) else value

    return replace(units, **{one.name: some(getattr(units, one.name)) for one in fields(units)})


@dataclass(frozen=True)
class Moves:
    """The units that move as a whole when labels are permuted.

    design: the label of each such unit, and the stratum that it moves in. of_row: (n_rows,), the unit of each row.
    """

    design: Design
    of_row: Integers

    @classmethod
    def alone(cls, design: Design) -> Moves:
        """Return units of one row each."""
        return cls(design, np.arange(design.n_units))

    def of(self, rows: Integers) -> Moves:
        """Return some of the rows, and the units that they are of."""
        units, of_row = np.unique(self.of_row[rows], return_inverse=True)
        return Moves(self.design.of(units), of_row)

    def of_rows(self, labels: Labels) -> Labels:
        """Return labels of units (b, n_units) as those of their rows (b, n_rows)."""
        return labels[:, self.of_row]

    def sums(self, values: Floats) -> Floats:
        """Return the sum of one value a row over each unit's rows, (n_units,)."""
        sums = np.bincount(self.of_row, weights=values, minlength=self.design.n_units)
        return np.asarray(sums, dtype=np.float64)

    def composed_with(self, blocks: Moves) -> Moves:
        """Return the blocks of the rows of these units: `blocks` assigns each unit to a block."""
        return Moves(blocks.design, blocks.of_row[self.of_row])

    def summed(self, features: sparse.csr_array) -> sparse.csr_array:
        """Return the sum of features a row (n_rows, n_features) over each unit's rows, (n_units, n_features)."""
        return sums_by(self.of_row, self.design.n_units, features)

    def totals(self, values: Floats) -> Floats:
        """Return the sum of arrays a row (n_rows, …) over each unit's rows, (n_units, …)."""
        return sums_at(self.of_row, values, self.design.n_units)

    def by_place(self, values: Floats, places: Integers) -> sparse.csr_array:
        """Return the same by unit and place, (n_units, n_places); places: (n_rows,) from 0."""
        shape = self.design.n_units, int(places.max(initial=-1)) + 1
        return sparse.csr_array(sparse.coo_array((values, (self.of_row, places)), shape=shape))


@dataclass(frozen=True)
class Blocks(Moves):
    """Blocks of many units; together: (n_rows,), the stratum that a unit's block moves in, or would if it did not stay."""

    together: Integers


# Former names of renamed measures. They are only used as seeds of random draws: another seed would change published numbers.
_NAMED_FIRST = {"classifier_accuracy": "separability", "descriptors": "carriers", "rank_value": "standing"}


def stable_seed(*parts: object) -> int:
    """Return a seed made of names, the same on every machine: 63 bits of the SHA-256 of the parts."""
    names = (_NAMED_FIRST.get(part, part) for part in map(str, parts))
    digest = hashlib.sha256("\x1f".join(names).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def pooled(design: Design, seed: int, *, n_blocks: int = N_BLOCKS) -> Blocks:
    """Return about n_blocks blocks of units; up to twice as many units move singly.

    Units of one label and stratum are dealt at random to blocks of equal size; those left over stay as they are. Where strata
    hold few units, strata with the same number of units of every label move together: a block then has a unit of each of them.
    Blocks are formed independently of how labels are arranged, so the permutation test given the blocks is exact.
    """
    strata = numbered(design.strata)
    if design.n_units <= 2 * n_blocks:
        return Blocks(design, np.arange(design.n_units), strata)
    ordered = CanonicalOrder.of(design)
    rng = np.random.Generator(np.random.PCG64(stable_seed(ordered.seed(seed), "blocks")))
    strata, labels = ordered.strata, ordered.labels
    counts = _cells(strata, labels)
    most = -(-design.n_units // n_blocks)
    fewest = np.where(counts > 0, counts, design.n_units).min(axis=1)
    sizes = np.clip(fewest // _LEAST_BLOCKS, 1, most)
    n_moved = np.minimum(counts // sizes[:, np.newaxis], n_blocks)
    n_moved[(counts > 0).sum(axis=1) < 2] = 0
    together = _drawn_together(np.column_stack([sizes, n_moved]), most // sizes, rng)
    random = np.empty(design.n_units)
    # Units that hold the same are ordered by label, so that the order in which they came changes nothing.
    random[ordered.units[np.lexsort((labels[ordered.units], strata[ordered.units]))]] = rng.random(
        design.n_units
    )
    order = np.lexsort((random, labels, strata))
    cells = strata * counts.shape[1] + labels
    places = np.empty(design.n_units, dtype=np.int64)
    places[order] = np.arange(design.n_units) - (np.cumsum(counts) - counts.ravel())[cells[order]]
    blocks = places // sizes[strata]
    stays = blocks >= n_moved[strata, labels]
    # Units that stay form one block a label, each in a stratum of its own.
    first_that_stays, shape = int(together.max()) + 1, (counts.shape[1], int(blocks.max()) + 1)
    stratum = np.where(stays, first_that_stays + labels, together[strata])
    codes, of_unit = np.unique(
        (stratum * shape[0] + labels) * shape[1] + np.where(stays, 0, blocks), return_inverse=True
    )
    moved_in, label = np.divmod(codes // shape[1], shape[0])
    n_that_move = int(np.count_nonzero(moved_in < first_that_stays))
    content = None if design.content is None else sums_at(of_unit, design.content, codes.size)
    blocked = Design(ordered.groups[label], moved_in, n_that_move, content)
    return Blocks(blocked, of_unit.astype(np.int64), together[strata])


@dataclass(frozen=True)
class CanonicalOrder:
    """A design whose strata, units and groups are numbered by their content, so that names do not matter.

    units: (n_units,), their positions, by stratum and content. strata, labels: (n_units,), the numbers of each unit's stratum and
    group. groups: the label of each number of a group. keys: what each group holds, in the order of the groups' numbers.
    """

    units: Integers
    strata: Integers
    labels: Integers
    groups: Labels
    keys: list[tuple[bytes, bytes]]
    has_content: bool

    @classmethod
    def of(cls, design: Design) -> CanonicalOrder:
        """Number the strata of a design, then its groups, then its units; what ties keeps its order.

        Only ranks of what units hold count. Those of the last number count from the lowest or from the highest on, whichever
        gives the smaller keys: an outcome times a number, or mirrored, has the same order.
        """
        strata = numbered(design.strata)
        if design.content is None:
            return cls._by(design, strata, None)
        ranks = np.column_stack([_dense_ranks(column) for column in design.content.T])
        mirrored = ranks.copy()
        mirrored[:, -1] = ranks[:, -1].max(initial=0) - ranks[:, -1]
        either = [cls._by(design, strata, of_units) for of_units in (ranks, mirrored)]
        return min(either, key=lambda one: one.keys)

    @classmethod
    def _by(cls, design: Design, strata: Integers, ranks: Integers | None) -> CanonicalOrder:
        labels = design.labels.astype(np.int64)
        counts = _cells(strata, labels)
        columns: list[Integers] = []
        if ranks is not None:
            of_strata = np.zeros((len(counts), ranks.shape[1]), dtype=np.int64)
            np.add.at(of_strata, strata, ranks)
            in_order = np.lexsort((*of_strata.T, *np.sort(counts, axis=1).T))
            strata = np.argsort(in_order)[strata]
            counts = counts[in_order]
            columns = [*ranks.T]
        units = np.lexsort((*columns, strata))
        keys = [
            cls._group_key(counts[:, one], ranks, units[labels[units] == one])
            for one in range(counts.shape[1])
        ]
        groups = sorted(range(len(keys)), key=lambda one: keys[one])
        numbers = np.argsort(groups)[labels]
        in_order_of_groups = [keys[one] for one in groups]
        return cls(
            units, strata, numbers, np.array(groups, dtype=np.int8), in_order_of_groups, ranks is not None
        )

    @staticmethod
    def _group_key(counts: Integers, ranks: Integers | None, units: Integers) -> tuple[bytes, bytes]:
        """Return a group's units of each stratum, and the ranks of their values, as big-endian integers."""
        held = b"" if ranks is None else ranks[units].astype(">i8").tobytes()
        return counts.astype(">i8").tobytes(), held

    def seed(self, seed: int) -> int:
        """Return the seed of draws for so many units in such strata; the seed itself where nothing is known of them.

        What units hold puts them in order and is no part of the seed, so that another scale of an outcome has the same draws.
        """
        if not self.has_content:
            return seed
        return stable_seed(seed, hashlib.sha256(self.strata[self.units].tobytes()).hexdigest())


def _dense_ranks(values: Floats) -> Integers:
    """Ranks from 0, equal values having one; in single precision, as sums differ by the order of their terms."""
    return numbered((np.nan_to_num(values) + 0.0).astype(np.float32))


def _cells(strata: Integers, labels: Integers) -> Integers:
    """Return the number of units by stratum and label."""
    counts = np.zeros((int(strata.max(initial=-1)) + 1, int(labels.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(counts, (strata, labels), 1)
    return counts


def _drawn_together(kinds: Integers, at_once: Integers, rng: np.random.Generator) -> Integers:
    """Return a number for each row of `kinds`, the same for up to `at_once` (n_rows,) of equal rows, which are drawn at
    random.
    """
    _, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.ravel()
    order = np.lexsort((rng.random(kind.size), kind))
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    ranks = np.arange(kind.size) - np.repeat(starts, np.diff(np.append(starts, kind.size)))
    numbers = np.empty(kind.size, dtype=np.int64)
    numbers[order] = np.cumsum(ranks % at_once[order] == 0) - 1
    return numbers
