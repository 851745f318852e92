"""Decisions of simulated models, as the units that measures take."""

from __future__ import annotations

import numpy as np

from biasledger.measures.engine.design import Design
from biasledger.measures.gaps.units import Units


def units_of(labels, strata, clusters, n, total, n_candidates=1) -> Units:
    """Units from anything that becomes arrays; a single number applies to all units."""
    labels = np.asarray(labels, dtype=np.int8)

    def wide(values, dtype):
        return np.broadcast_to(np.asarray(values, dtype=dtype), labels.shape).copy()

    return Units(
        Design(labels, wide(strata, np.int64)),
        wide(clusters, np.int64),
        wide(n, float),
        wide(total, float),
        n_candidates,
    )


def people(labels, outcomes, jobs=0) -> Units:
    """One answer about each person."""
    return units_of(labels, jobs, np.arange(len(labels)), 1, outcomes)


def versions(outcomes) -> Units:
    """(n_resumes, 4) outcomes of the names white man, white woman, black man, black woman; race is compared."""
    n_resumes = len(outcomes)
    resumes = np.repeat(np.arange(n_resumes), 4)
    genders = np.tile([0, 1, 0, 1], n_resumes)
    return units_of(np.tile([0, 0, 1, 1], n_resumes), resumes * 2 + genders, resumes, 1, np.ravel(outcomes))


def levels(rng, n_resumes, changed, lowered=0.0):
    """Levels 0, 1, 2 of (n_resumes, 4) versions; some change by one, and some of those with black names are lowered by one."""
    shape = (n_resumes, 4)
    steps = rng.choice([-1, 1], size=shape) * (rng.random(shape) < changed)
    predicted = np.clip(rng.integers(0, 3, n_resumes)[:, np.newaxis] + steps, 0, 2)
    predicted[:, 2:] = np.clip(predicted[:, 2:] - (rng.random((n_resumes, 2)) < lowered), 0, 2)
    return predicted


class Rankings:
    """Runs that each rank one candidate of every cell; a name's own effect returns in every run the name is in."""

    def __init__(self, rng, *, n_runs=1000, n_cells=8, n_names=100, name_effect=0.0, shift=0.0) -> None:
        effects = rng.normal(0, name_effect, (n_cells, n_names))
        effects[1] -= shift
        self.n_cells, self.n_names = n_cells, n_names
        self.names = rng.integers(0, n_names, (n_runs, n_cells))
        scores = effects[np.arange(n_cells), self.names] + rng.gumbel(size=(n_runs, n_cells))
        self.ranks = (-scores).argsort(axis=1).argsort(axis=1) + 1

    def outcomes(self, outcome):
        return self.ranks.astype(float) if outcome == "rank" else (self.ranks == 1).astype(float)

    def by_name(self, outcome, cells, n_candidates=None) -> Units:
        """A unit a name with all its runs; cells: those of each group, in the order of labels."""
        values = self.outcomes(outcome)
        labels, n, total = [], [], []
        for label, members in enumerate(cells):
            for cell in members:
                counts = np.bincount(self.names[:, cell], minlength=self.n_names)
                sums = np.bincount(self.names[:, cell], weights=values[:, cell], minlength=self.n_names)
                seen = counts > 0
                labels.append(np.full(seen.sum(), label))
                n.append(counts[seen])
                total.append(sums[seen])
        labels = np.concatenate(labels)
        return units_of(
            labels, 0, np.arange(labels.size), np.concatenate(n), np.concatenate(total),
            self.n_cells if n_candidates is None else n_candidates,
        )  # fmt: skip

    def within_runs(self, outcome, cells) -> Units:
        """A unit a candidate of one run: what must not be permuted where names are reused."""
        order = [cell for members in cells for cell in members]
        labels = np.repeat(np.arange(len(cells)), [len(members) for members in cells])
        runs = np.repeat(np.arange(len(self.names)), len(order))
        return units_of(
            np.tile(labels, len(self.names)), runs, runs, 1, self.outcomes(outcome)[:, order].ravel()
        )
