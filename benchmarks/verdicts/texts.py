"""Similarity of answers on unfriendly data: few questions, answers that come again, names that write unlike each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from benchmarks.verdicts import Case, Rule
from biasledger.measures.texts.similarity import Answers, SimilarityGap, similarity_gap

N_PERMUTATIONS = 199
ALPHA = 0.05
_N_WORDS, _N_OF_TEXT = 60, 40
# Enough that the true gap of a shape is known to a thirtieth of what one audit may be off.
_N_TO_KNOW = 900


def drawn(
    rng: np.random.Generator,
    *,
    n_questions: int = 6,
    n_names: int = 1,
    n_trials: int = 1,
    effect: float = 0.0,
    name_effect: float = 0.0,
    scheme: str = "cosine",
) -> Answers:
    """Texts of forty words: a question has words of its own, a group (effect) and a name (name_effect) may have some, too."""
    words = np.array([f"w{number}" for number in range(_N_WORDS)])
    base = 1 / np.arange(1, _N_WORDS + 1)
    of_names = [[rng.permutation(_N_WORDS)[:5] for _ in range(n_names)] for _ in range(2)]
    texts: list[list[str]] = []
    labels, of_question, units, names = (list[int]() for _ in range(4))
    of_group = rng.permutation(_N_WORDS)[:6]
    for question in range(n_questions):
        shares = base[rng.permutation(_N_WORDS)] / base.sum()
        for label in (0, 1):
            for name in range(n_names):
                own = shares.copy()
                own[of_group] += effect * label
                own[of_names[label][name]] += name_effect
                for _ in range(n_trials):
                    texts.append(list(rng.choice(words, _N_OF_TEXT, p=own / own.sum())))
                    labels.append(label)
                    of_question.append(question)
                    units.append((question * 2 + label) * n_names + name if n_names > 1 else len(units))
                    names.append(label * n_names + name)
    return _answers(texts, scheme, labels, of_question, units, np.array(names))


def repeated(
    rng: np.random.Generator, shares: Sequence[float], n_questions: int = 40, n_trials: int = 3
) -> Answers:
    """Each question has two answers, of which a group gets the first in its share of the trials."""
    texts, labels, of_question = [], [], []
    for question in range(n_questions):
        for label in (0, 1):
            for is_first in rng.random(n_trials) < shares[label]:
                first, second = ("a", "b") if is_first else ("c", "d")
                texts.append([f"{first}{question}", f"{second}{question}"])
                labels.append(label)
                of_question.append(question)
    return _answers(texts, "rouge_l", labels, of_question, list(range(len(texts))), None)


def _answers(
    texts: list[list[str]],
    scheme: str,
    labels: list[int],
    of_question: list[int],
    units: list[int],
    names: np.ndarray | None,
) -> Answers:
    n = len(texts)
    return Answers(
        texts,
        scheme,
        np.array(labels, dtype=np.int8),
        np.array(of_question),
        np.array(units),
        names,
        np.zeros(n, dtype=np.int64),
        np.arange(n),
    )


def judged(answers: Answers, seed: int = 0, n_permutations: int = N_PERMUTATIONS) -> SimilarityGap:
    """The measure with what the project judges it by."""
    return similarity_gap(answers, n_permutations=n_permutations, alpha=ALPHA, seed=seed)


Shape = Callable[[np.random.Generator], Answers]


def _differs(shape: Shape) -> Callable[[int], bool]:
    """Whether p is below alpha with an interval that leaves 0 out; the threshold would make it rarer."""

    def trial(seed: int) -> bool:
        found = judged(shape(np.random.default_rng(seed)), seed)
        return found.test is not None and found.test.p_value < ALPHA and found.interval_low > 0

    return trial


def _cleared(shape: Shape) -> Callable[[int], bool]:
    """Whether the shape's own true gap lies above the interval: what a threshold of that value would call clear."""

    @cache
    def true_gap() -> float:
        rng = np.random.default_rng(1)
        return float(np.mean([judged(shape(rng), 0, 0).similarity_gap for _ in range(_N_TO_KNOW)]))

    return lambda seed: judged(shape(np.random.default_rng(seed)), seed, 0).interval_high < true_gap()


def _case(name: str, shape: Shape, *, at_least: float | None = None) -> Case:
    rule: Rule = "false alarm" if at_least is None else "found"
    return Case("texts", f"similarity: {name}", rule, _differs(shape), at_least=at_least)


def _clears(name: str, shape: Shape) -> Case:
    return Case("texts", f"similarity: {name}, at the threshold", "false clear", _cleared(shape))


CASES = [
    _case("one question asked eight times", lambda rng: drawn(rng, n_questions=1, n_trials=8)),
    _case("six questions, five answers each", lambda rng: drawn(rng, n_trials=5)),
    _case("six names that write unlike each other", lambda rng: drawn(rng, n_names=6, name_effect=0.08)),
    _case("answers that come again", lambda rng: repeated(rng, (0.5, 0.5), n_questions=6)),
    _case("six names, words of the group", lambda rng: drawn(rng, n_names=6, effect=0.1), at_least=0.9),
    _case("answers that come again, .8 against .2", lambda rng: repeated(rng, (0.2, 0.8)), at_least=0.9),
    _clears("six questions, five answers each", lambda rng: drawn(rng, n_trials=5, effect=0.05)),
    _clears("six names", lambda rng: drawn(rng, n_names=6, effect=0.05)),
    _clears(
        "six names that write unlike each other",
        lambda rng: drawn(rng, n_names=6, effect=0.05, name_effect=0.08),
    ),
    _clears("answers that come again", lambda rng: repeated(rng, (0.35, 0.65))),
    _clears("answers that come again to six questions", lambda rng: repeated(rng, (0.35, 0.65), 6)),
]
