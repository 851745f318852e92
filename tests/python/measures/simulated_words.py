"""Simulated answers: repeats of few answers, few names, unequal lengths, unequal groups, unbalanced templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Floats, Labels
from biasledger.measures.words.classifier_accuracy import ClassifierAccuracy, classifier_accuracy
from biasledger.measures.words.differences import difference_by_units
from biasledger.measures.words.judged import judged_classifier_accuracy
from biasledger.measures.words.texts import Texts
from biasledger.measures.words.units import judged_texts
from tests.python.measures.designs import design_of

N_PERMUTATIONS = 199
ALPHA = 0.05
BITS, ACCURACY = 0.02, 0.80
QUESTIONS_THAT_MOVE = 5


class Answer(NamedTuple):
    """One trial: whom it is about, what was asked, and which text came."""

    label: int
    stratum: int
    prompt: int
    descriptor: int
    text: int


@dataclass(frozen=True)
class Judged:
    """Results of the two measures of words for one comparison."""

    bits: float
    bits_p: float
    bits_low: float
    bits_high: float
    word_p: float

    @property
    def alarms(self) -> bool:
        """The divergence past its threshold, beyond chance, with an interval that leaves 0 out."""
        return self.bits_p < ALPHA and self.bits >= BITS and self.bits_low > 0

    @property
    def marks_words(self) -> bool:
        """Any word beyond chance."""
        return self.word_p < ALPHA


def comparison(answers: Sequence[Answer], counts: Floats, seed: int) -> Comparison[Texts]:
    """A comparison as the models read it: a row a distinct answer to a prompt, from a row a trial; counts (n_texts, n_words)."""
    given = Counter(answers)
    rows = np.array(list(given), dtype=np.int64)
    label, stratum, prompt, descriptor, text = rows.T
    n_answers = np.array(list(given.values()), dtype=np.float64)
    features = sparse.csr_array(counts[text].astype(np.float64))
    features = sparse.csr_array(features[:, np.flatnonzero(np.asarray(features.sum(axis=0)).ravel())])
    features.indices, features.indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    moves_prompts = min(np.unique(prompt[label == one]).size for one in (0, 1)) >= QUESTIONS_THAT_MOVE
    n_texts = Counter(prompt.tolist())
    is_fixed = np.array([n_texts[one] == 1 for one in prompt.tolist()])
    total = np.asarray(n_answers @ features).ravel()
    texts = Texts(
        kind="against_reference",
        scheme="words",
        features=features,
        n_answers=n_answers,
        words=np.array([f"word{number:05d}" for number in range(features.shape[1])]),
        prior=total,
        prior_total=float(total.sum()),
        design=Design(label.astype(np.int8), stratum),
        clusters=text,
        prompts=prompt,
        moves_prompts=moves_prompts,
        n_trials=n_answers if moves_prompts else np.where(is_fixed, 1.0, n_answers),
        name_strata=np.zeros(len(rows), dtype=np.int64),
        names=descriptor,
        classes=descriptor,
        order=np.arange(len(rows)),
        weighting="tfidf",
    )
    name = ("words", texts.kind, "plain", "attribute", "group", "reference")
    return Comparison("simulated", name, texts, N_PERMUTATIONS, ALPHA, seed)


def judge(simulated: Comparison[Texts]) -> Judged:
    """Both measures of words of one comparison."""
    units = judged_texts(simulated).all_units
    bits, tests = difference_by_units(units, n_permutations=N_PERMUTATIONS, alpha=ALPHA, seed=simulated.seed)
    words = tests.p_value_adjusted
    return Judged(
        bits.test.debiased if bits.test else np.nan,
        bits.test.p_value if bits.test else 1.0,
        bits.interval_low,
        bits.interval_high,
        1.0 if np.isnan(words).all() else float(np.nanmin(words)),
    )


def repeats(
    seed: int, marked: float, reference: float, *, own: float = 0.0, n_subjects: int = 12, n_trials: int = 15
) -> Comparison[Texts]:
    """Two fixed answers, of which each group gets the first with its chance; own: how far each prompt's chance lies from it.

    own is the share of variance that prompts have (Beta); 0 where all prompts of a group have its own chance.
    """
    rng = np.random.default_rng([3, seed])
    counts = rng.multinomial(30, np.full(40, 1 / 40), size=2).astype(np.float64)
    answers = []
    for subject in range(n_subjects):
        for label, chance in ((1, marked), (0, reference)):
            size = (1 - own) / own if own else np.inf
            drawn = rng.beta(chance * size, (1 - chance) * size) if own else chance
            answers += [
                Answer(label, subject, 2 * subject + label, label, int(rng.random() < drawn))
                for _ in range(n_trials)
            ]
    return comparison(answers, counts, seed)


def named(seed: int, n_names: int, n_subjects: int, *, sd: float, effect: float = 0.0) -> Comparison[Texts]:
    """Every name of two groups asked about every subject; each name has words of its own, the log-odds of all with that sd."""
    rng = np.random.default_rng([7, seed])
    answers, counts = [], []
    for label in (0, 1):
        for name in range(n_names):
            shares = _shares(200, effect if label else 0.0) * np.exp(rng.normal(0, sd, 200))
            for subject in range(n_subjects):
                prompt = (subject * 2 + label) * n_names + name
                answers.append(Answer(label, subject, prompt, label * n_names + name, len(counts)))
                counts.append(rng.multinomial(60, shares / shares.sum()))
    return comparison(answers, np.array(counts, dtype=np.float64), seed)


def lengths(
    seed: int, n_marked: int, n_reference: int, *, times_shorter: float, effect: float = 0.0
) -> Comparison[Texts]:
    """Answers of gamma-distributed lengths around 90 words to one prompt a group in each of three templates."""
    rng = np.random.default_rng([8, seed])
    answers, counts = [], []
    for label, n in ((1, n_marked), (0, n_reference)):
        shares = _shares(300, effect if label else 0.0)
        mean = 90 / times_shorter if label else 90
        for number in range(n):
            template = number % 3
            answers.append(Answer(label, template, 2 * template + label, label, len(counts)))
            counts.append(rng.multinomial(max(3, int(rng.gamma(20, mean / 20))), shares))
    return comparison(answers, np.array(counts, dtype=np.float64), seed)


# Word shares that many texts tell apart with these accuracies (16,000 texts, measured).
EFFECT_OF_LIMIT = {0.81: 0.345, 0.86: 0.42, 0.91: 0.52}


def unequal(seed: int, n_marked: int, n_reference: int, limit: float) -> ClassifierAccuracy:
    """Texts of 60 words of two groups that unlimited texts would tell apart with the accuracy `limit`."""
    rng = np.random.default_rng([4, seed])
    effect = EFFECT_OF_LIMIT[limit]
    counts = np.concatenate(
        [
            rng.multinomial(60, _shares(300, effect, 20), size=n_marked),
            rng.multinomial(60, _shares(300), size=n_reference),
        ]
    ).astype(np.float64)
    features = sparse.csr_array(counts[:, counts.sum(axis=0) > 0])
    features.indices, features.indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    labels: Labels = np.repeat([1, 0], [n_marked, n_reference]).astype(np.int8)
    design = design_of(labels)
    with threadpool_limits(limits=1):
        return classifier_accuracy(features, design, np.arange(labels.size), n_permutations=99, seed=seed)


def unbalanced(seed: int, share: float, n_a_group: int = 60) -> ClassifierAccuracy:
    """Two groups without a difference, two templates with words of their own; a group has `share` of its texts in one."""
    rng = np.random.default_rng([15, seed])
    answers, counts = [], []
    templates = [_shares(200), _shares(200)[::-1]]
    for label in (0, 1):
        for number in range(n_a_group):
            template = int((number < share * n_a_group) == bool(label))
            answers.append(Answer(label, template, 2 * template + label, label, len(counts)))
            counts.append(rng.multinomial(40, templates[template]))
    with threadpool_limits(limits=1):
        return judged_classifier_accuracy(comparison(answers, np.array(counts, dtype=np.float64), seed), seed)


def _shares(n_words: int, effect: float = 0.0, n_affected: int = 10) -> Floats:
    """Zipf's law; the first words exp(effect) times as frequent or as rare in turn."""
    shares = 1 / np.arange(3, n_words + 3, dtype=np.float64)
    shares[:n_affected] *= np.exp(effect * (-1.0) ** np.arange(n_affected))
    return shares / shares.sum()
