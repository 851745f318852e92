"""Compare the lengths of two groups' answers: a gap of the logarithms of their numbers of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.declared import Measure, Threshold, Tolerance
from biasledger.measures.engine.design import Integers
from biasledger.measures.engine.resampling import Draws
from biasledger.measures.engine.word_counts import row_sums
from biasledger.measures.gaps.gap import Gap, gap
from biasledger.measures.gaps.units import Units
from biasledger.measures.schema import prefixed
from biasledger.measures.words.texts import Texts
from biasledger.measures.words.units import whole_trials

MEASURES = (
    Measure(
        name="length_gap",
        description=(
            "How much longer or shorter answers about a group are, apart from which words they hold; geometric means, "
            "inside template and all other attributes"
        ),
        scale="log ratio of words an answer, group minus reference (0.223 is a quarter longer)",
        side="two-sided",
        unit="answers in the smaller group (questions to each group where it was asked five or more)",
        label="the gap in lengths",
        display=(100, " %"),
        is_read_as_percent=True,
        threshold=Threshold(
            value=0.223,
            reason=(
                "A quarter longer or a fifth shorter. Longer is not worse, and which length is right depends on the "
                "question, so it warns; differences of words are judged at equal lengths"
            ),
            source="Ours: no source publishes a threshold for lengths",
            min_units=10,
            severity="warn",
        ),
        tolerance=Tolerance(0.095, "Log ratio of lengths: a tenth longer"),
    ),
)


_LEAST_RANGE = float(np.log(2))


@dataclass(frozen=True)
class Lengths:
    """Mean tokens an answer of each group, and the gap of their logarithms inside strata: log 1.25 is a quarter longer."""

    tokens_marked: float
    tokens_reference: float
    gap: Gap = field(metadata=prefixed("length_"))


def length_gap(texts: Texts, *, alpha: float, **draws: Unpack[Draws]) -> Lengths | None:
    """Return the gap of log tokens between two groups, marked minus reference, in the units in which words are judged, and by
    name.

    Tokens are those of the comparison's features, after identity terms were removed. None where a group has no answer.
    """
    tokens = row_sums(texts.features)
    labels = texts.design.labels
    if not texts.is_pair or (tokens <= 0).any():
        return None
    trials = whole_trials(texts.n_trials)
    rows = _text_of_row(texts, trials)
    logs = np.log(tokens)[rows]
    lowest, highest = float(logs.min()), float(logs.max())
    names = _numbers(labels[rows], texts.names[rows], texts.name_strata[rows])
    result = gap(
        Units(
            texts.design.of(rows),
            _clusters(texts, rows),
            np.ones(rows.size) if not texts.moves_prompts else trials[rows].astype(np.float64),
            logs if not texts.moves_prompts else logs * trials[rows],
            wholes=_prompts(texts, rows) if texts.moves_prompts else None,
            names=names,
            name_strata=texts.name_strata[rows],
        ),
        lowest=lowest,
        highest=max(highest, lowest + _LEAST_RANGE),
        alpha=alpha,
        **draws,
    )
    means = [
        float(np.average(tokens[labels == label], weights=texts.n_answers[labels == label]))
        for label in (1, 0)
    ]
    return Lengths(means[0], means[1], result)


def _text_of_row(texts: Texts, trials: Integers) -> Integers:
    """Return a row for each text where prompts move with all their answers, otherwise a row a trial."""
    rows = np.arange(trials.size)
    return rows if texts.moves_prompts else np.repeat(rows, trials)


def _prompts(texts: Texts, rows: Integers) -> Integers:
    return _numbers(texts.design.labels[rows], texts.design.strata[rows], texts.prompts[rows])


def _clusters(texts: Texts, rows: Integers) -> Integers:
    """Return the sampled clusters: both prompts of a question where each group was asked it once, else a prompt, or an answer."""
    if not texts.moves_prompts:
        return np.arange(rows.size)
    prompts = _prompts(texts, rows)
    _, first = np.unique(prompts, return_index=True)
    asked = np.column_stack([texts.design.strata[rows][first], texts.design.labels[rows][first]])
    is_paired = np.unique(asked, axis=0).shape[0] == first.size
    return texts.design.strata[rows] if is_paired else prompts


def _numbers(*codes: NDArray[np.signedinteger[Any]]) -> Integers:
    _, numbers = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return numbers.astype(np.int64).ravel()
