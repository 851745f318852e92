"""How much longer or shorter the answers of one group are: a gap of logarithms of tokens, apart from which words they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison
from biasledger.measures.decisions import Gap, gap
from biasledger.measures.resampling import Integers
from biasledger.measures.text_units import whole_trials
from biasledger.measures.units import Units

_LEAST_RANGE = float(np.log(2))


@dataclass(frozen=True)
class Lengths:
    """Mean tokens an answer of each group, and the gap of their logarithms inside strata: log 1.25 is a quarter longer."""

    tokens_marked: float
    tokens_reference: float
    gap: Gap


def length_gap(comparison: Comparison, *, n_permutations: int, seed: int) -> Lengths | None:
    """Gap of log tokens between two groups, marked minus reference, in the units in which words are judged, and by name.

    Tokens are those of the comparison's features, after identity terms were removed. None where a group has no answer.
    """
    tokens = np.asarray(comparison.features.sum(axis=1), dtype=np.float64).ravel()
    labels = comparison.design.labels
    if not comparison.is_pair or (tokens <= 0).any():
        return None
    trials = whole_trials(comparison.n_trials)
    rows = _rows(comparison, trials)
    logs = np.log(tokens)[rows]
    lowest, highest = float(logs.min()), float(logs.max())
    names = _numbers(labels[rows], comparison.classes[rows], comparison.carrier_strata[rows])
    result = gap(
        Units(
            comparison.design.of(rows),
            _clusters(comparison, rows),
            np.ones(rows.size) if not comparison.moves_prompts else trials[rows].astype(np.float64),
            logs if not comparison.moves_prompts else logs * trials[rows],
            wholes=_prompts(comparison, rows) if comparison.moves_prompts else None,
            names=names,
            name_strata=comparison.carrier_strata[rows],
        ),
        lowest=lowest,
        highest=max(highest, lowest + _LEAST_RANGE),
        n_permutations=n_permutations,
        alpha=comparison.alpha,
        seed=seed,
    )
    means = [
        float(np.average(tokens[labels == label], weights=comparison.n_answers[labels == label]))
        for label in (1, 0)
    ]
    return Lengths(means[0], means[1], result)


def _rows(comparison: Comparison, trials: Integers) -> Integers:
    """A row a text where prompts move with all their answers, otherwise a row a trial."""
    texts = np.arange(trials.size)
    return texts if comparison.moves_prompts else np.repeat(texts, trials)


def _prompts(comparison: Comparison, rows: Integers) -> Integers:
    return _numbers(comparison.design.labels[rows], comparison.design.strata[rows], comparison.prompts[rows])


def _clusters(comparison: Comparison, rows: Integers) -> Integers:
    """What was sampled: both prompts of a question together where each group was asked it once, else a prompt, or an answer."""
    if not comparison.moves_prompts:
        return np.arange(rows.size)
    prompts = _prompts(comparison, rows)
    _, first = np.unique(prompts, return_index=True)
    asked = np.column_stack([comparison.design.strata[rows][first], comparison.design.labels[rows][first]])
    is_paired = np.unique(asked, axis=0).shape[0] == first.size
    return comparison.design.strata[rows] if is_paired else prompts


def _numbers(*codes: NDArray[np.signedinteger[Any]]) -> Integers:
    _, numbers = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return numbers.astype(np.int64).ravel()
