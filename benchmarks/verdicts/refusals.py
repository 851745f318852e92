"""Who gets no answer: refusals that depend on nothing, on the question, on its wording or on the name, and on the group.

Each trial simulates the questions of one audit and says whether `answer_gap` alarms: the gap inside questions reaches 0.05, its
p is below 0.05 and its interval leaves 0 out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.verdicts import Case
from biasledger.measures.decisions.gaps import gap
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.resampling import Design, Floats, Integers

_THRESHOLD, _ALPHA, _PERMUTATIONS = 0.05, 0.05, 499
Refusals = Callable[[np.random.Generator, Integers, Integers], Floats]
"""Draws, the question of each prompt, its group (1 marked) -> the probability that each prompt is refused."""


def _alarms(
    seed: int, refusals: Refusals, *, n_questions: int, n_prompts: int, n_trials: int, n_names: int = 0
) -> bool:
    """Each question asked about both groups, in n_prompts prompts a group; with names, each prompt under the next name."""
    draws = np.random.default_rng(seed)
    questions = np.repeat(np.arange(n_questions), 2 * n_prompts)
    labels = np.tile(np.repeat([0, 1], n_prompts), n_questions)
    n = np.full(questions.size, float(n_trials))
    names = None
    if n_names:
        place = np.tile(np.arange(n_prompts), 2 * n_questions) + questions * n_prompts
        names = labels * n_names + place % n_names
        of_names = draws.normal(0.0, 1.0, 2 * n_names)
        probabilities = 1 / (1 + np.exp(3.0 - 1.5 * of_names[names]))
        probabilities = np.maximum(probabilities, refusals(draws, questions, labels))
    else:
        probabilities = refusals(draws, questions, labels)
    units = Units(
        Design(labels.astype(np.int8), questions),
        # The questions were sampled or, where there are few, the prompts.
        questions if n_questions >= 5 else np.arange(questions.size),
        n,
        draws.binomial(n_trials, probabilities).astype(np.float64),
        names=names,
    )
    found = gap(units, lowest=0.0, highest=1.0, n_permutations=_PERMUTATIONS, alpha=_ALPHA, seed=seed + 1)
    if found.test is None or found.test.p_value >= _ALPHA or abs(found.adjusted_gap) < _THRESHOLD:
        return False
    return not found.adjusted_low <= 0 <= found.adjusted_high


def _at_random(_: np.random.Generator, questions: Integers, __: Integers) -> Floats:
    """One prompt in ten is refused, whoever it is about."""
    return np.full(questions.size, 0.1)


def _hard_questions(draws: np.random.Generator, questions: Integers, _: Integers) -> Floats:
    """A quarter of the questions is refused in six of ten cases, whoever they are about, the others never."""
    is_hard = draws.random(int(questions.max()) + 1) < 0.25
    return np.where(is_hard[questions], 0.6, 0.0)


def _by_prompt(draws: np.random.Generator, questions: Integers, _: Integers) -> Floats:
    """A prompt is refused in every trial or in none, as at temperature 0; which ones has nothing to do with the group."""
    return (draws.random(questions.size) < 0.15).astype(np.float64)


def _few_prompts_at_temperature_0(draws: np.random.Generator, questions: Integers, _: Integers) -> Floats:
    """The same, of one prompt in five."""
    return (draws.random(questions.size) < 0.2).astype(np.float64)


def _nothing(_: np.random.Generator, questions: Integers, __: Integers) -> Floats:
    return np.zeros(questions.size)


def _of_group(share: float) -> Refusals:
    return lambda _draws, _questions, labels: np.where(labels == 1, share, 0.0)


def _null(seed: int) -> bool:
    return _alarms(seed, _at_random, n_questions=24, n_prompts=1, n_trials=3)


def _depending_on_the_question(seed: int) -> bool:
    return _alarms(seed, _hard_questions, n_questions=24, n_prompts=4, n_trials=1)


def _correlated_trials(seed: int) -> bool:
    return _alarms(seed, _by_prompt, n_questions=12, n_prompts=1, n_trials=15)


def _each_name_a_prompt(seed: int) -> bool:
    return _alarms(seed, _few_prompts_at_temperature_0, n_questions=1, n_prompts=6, n_trials=15)


def _names(seed: int) -> bool:
    return _alarms(seed, _nothing, n_questions=12, n_prompts=8, n_trials=1, n_names=8)


def _all_of_a_group(seed: int) -> bool:
    return _alarms(seed, _of_group(1.0), n_questions=12, n_prompts=1, n_trials=1)


def _more_than_a_third(seed: int) -> bool:
    return _alarms(seed, _of_group(0.37), n_questions=24, n_prompts=1, n_trials=3)


def _resumes(seed: int) -> bool:
    """19 of 96 resumes: twelve questions under eight names."""
    return _alarms(seed, _of_group(19 / 96), n_questions=12, n_prompts=8, n_trials=1)


CASES = (
    Case("1", "one prompt in ten refused, whoever it is about", "false alarm", _null),
    Case("1", "hard questions refused, whoever they are about", "false alarm", _depending_on_the_question),
    Case("1", "a prompt refused in all of 15 trials or none", "false alarm", _correlated_trials),
    Case(
        "1",
        "6 names a group, each refused in all of 15 trials or none",
        "false alarm",
        _each_name_a_prompt,
    ),
    Case("1", "some of 8 names a group refused more, 12 questions", "false alarm", _names),
    Case("1", "one group refused always, 12 questions", "found", _all_of_a_group, at_least=0.95),
    Case("1", "37 % of one group refused, 24 questions", "found", _more_than_a_third, at_least=0.95),
    Case("1", "19 of 96 resumes of one group refused", "found", _resumes, at_least=0.95),
)
