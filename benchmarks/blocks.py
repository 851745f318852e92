"""What a permutation test costs as answers grow, by single texts and in blocks of them, and that both say the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.learning import SEED, word_counts
from benchmarks.processes import StepClock
from biasledger.measures.engine.resampling import Design, PermutationResult, pooled
from biasledger.measures.words import condensed, divergence, log_odds

RACE = "Latino"
N_STRATA = 3


def run(*, n_texts: int, n_words: int, n_permutations: int) -> None:
    """Print processor seconds, null mean and sd in bits and p of a divergence, and seconds of the test of all its words.

    Half of the texts are of the race that is hardest to tell from the reference. No test stops early.
    """
    rng = np.random.default_rng(SEED)
    columns = ("p", "null mean", "null sd", "jsd, processor s", "words, processor s")
    table = Table("texts", "moved", *columns)
    sizes = [size for size in (2_000, 8_000, 20_000, 80_000, 400_000) if size <= n_texts]
    with threadpool_limits(limits=1):
        for size in sizes:
            labels = np.repeat([0, 1], size // 2).astype(np.int8)
            parts = [word_counts(race, size // 2, n_words, rng) for race in ("White", RACE)]
            features = sparse.csr_array(sparse.vstack(parts))
            design = Design(labels, np.arange(size) % N_STRATA)
            for pool in (partial(pooled, n_blocks=size), pooled):
                test, clock = _measured(features, design, pool, n_permutations)
                moved = "texts" if test.n_blocks is None else f"{test.n_blocks:,} blocks"
                numbers = (f"{value:.5f}" for value in (test.p_value, test.null_mean, test.null_sd))
                table.add_row(
                    f"{size:,}", moved, *numbers, f"{clock.cpu['jsd']:.1f}", f"{clock.cpu['z']:.1f}"
                )
                if test.n_blocks is None and 2 * size <= 8_000:
                    break
    Console(width=110, highlight=False).print(table)


def _measured(
    features: sparse.csr_array, design: Design, pool: Callable[..., object], n_permutations: int
) -> tuple[PermutationResult, StepClock]:
    clock, prior = StepClock(), np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    with patch.object(condensed, "pooled", pool):
        with clock.step("jsd"):
            found = divergence.divergence(
                features, design, n_permutations=n_permutations, seed=SEED, stop_after=None
            )
        with clock.step("z"):
            log_odds.marked_words(
                features, design, prior=prior, prior_total=float(prior.sum()),
                n_permutations=n_permutations, alpha=0.05, seed=SEED, stop_after=None,
            )  # fmt: skip
    assert found.test is not None
    return found.test, clock
