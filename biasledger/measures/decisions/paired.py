"""Tests of paired answers: the same subjects asked about under every group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import scipy

from biasledger.measures.comparisons import Comparison, Settings, table
from biasledger.measures.engine.design import Integers
from biasledger.measures.schema import Table


@dataclass(frozen=True)
class PairedTest:
    """A test of 0/1 answers about the same subjects; n_discordant: subjects that were not all answered alike.

    label: the group that is compared with the reference, None where all groups are tested at once.
    """

    test: str
    label: int | None
    statistic: float
    n_blocks: int
    n_discordant: int
    p_value: float


def cochran_q(answers: Integers) -> PairedTest:
    """Cochran's Q: whether groups get 1 equally often; answers (n_subjects, n_groups) of 0 and 1.

    The p-value is the chi-square distribution's, which holds for many discordant subjects (about 24 / n_groups and more).
    Without any, the statistic is 0 and p is 1. Source: Cochran (1950), Biometrika 37, 256-266.
    """
    n_subjects, n_groups = answers.shape
    by_group, by_subject = answers.sum(axis=0), answers.sum(axis=1)
    n_discordant = int(((by_subject > 0) & (by_subject < n_groups)).sum())
    if n_discordant == 0:
        return PairedTest("cochran_q", None, 0.0, n_subjects, 0, 1.0)
    total = answers.sum()
    above = (n_groups - 1) * (n_groups * (by_group**2).sum() - total**2)
    statistic = float(above / (n_groups * total - (by_subject**2).sum()))
    p_value = float(scipy.stats.chi2.sf(statistic, n_groups - 1))
    return PairedTest("cochran_q", None, statistic, n_subjects, n_discordant, p_value)


def mcnemar(marked: Integers, reference: Integers, label: int | None = None) -> PairedTest:
    """Exact two-sided McNemar test; arrays (n_subjects,) of 0 and 1. The statistic is the smaller discordant count."""
    n_up, n_down = int((marked > reference).sum()), int((marked < reference).sum())
    p_value = float(scipy.stats.binomtest(n_up, n_up + n_down).pvalue) if n_up + n_down else 1.0
    return PairedTest("mcnemar", label, float(min(n_up, n_down)), marked.size, n_up + n_down, p_value)


def paired_tests(blocks: Iterable[Comparison[Integers]]) -> Table:
    """Cochran's Q of all groups, then McNemar's test of each group against the reference, which is the answers' first column."""

    def tests(block: Comparison[Integers], _: Settings) -> list[PairedTest]:
        reference, *others = block.units.T
        return [cochran_q(block.units), *(mcnemar(one, reference, n) for n, one in enumerate(others, 1))]

    return table(PairedTest, blocks, tests, key="block_key")
