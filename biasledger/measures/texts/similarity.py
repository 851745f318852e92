"""Similarity of answers to prompts that differ in the group only.

A model that samples differs from itself, so two answers that differ say little. The similarity of answers about two groups is
compared with that of different answers about one and the same group, inside questions. The gap is half the squared maximum mean
discrepancy of both groups' answers (Gretton et al. 2012, JMLR 13, lemma 6) with the similarity as its kernel, unbiased: 0 where
the group makes no difference, whatever the similarities are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isqrt
from typing import Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.declared import Measure, Threshold
from biasledger.measures.engine.design import Design, Floats, Integers, Labels, Moves, stable_seed
from biasledger.measures.engine.intervals import NO_VARIANCE, rule_of_three, t_half_widths
from biasledger.measures.engine.jackknife import DeleteGroups
from biasledger.measures.engine.resampling import Draws, PermutationResult, permutation_test, permuted_labels
from biasledger.measures.engine.sums import numbered
from biasledger.measures.gaps.units import LEAST_NAMES, by_larger_p
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="similarity_gap",
        description=(
            "How much less alike answers are that differ in the group alone than different answers about one group; half "
            "the squared maximum mean discrepancy, with words that name the groups taken out. Words of one group's own move it "
            "little, and by rouge_l, bleu and lsa hardly at all: word_divergence sees these"
        ),
        scale="similarity of answers about one group less that of answers about two, inside questions",
        bounds=(-1, 1),
        side="upper",
        unit="prompts, answers or names a group",
        label="what answers are less alike between groups than inside them",
        display=(100, " points"),
        threshold=Threshold(
            value=0.05,
            reason=(
                "No published value: a twentieth of the way from the same words to none in common. The gap is a squared "
                "distance: where a tenth of one group's words are its own, cosines of texts of 40 words show 0.015, so clear "
                "asks for less than 0.01. Prompts, answers or names that can change places need five of each group"
            ),
            source="Bouchard (2024), arXiv:2407.10853 (LangFair), prints similarities and sets no threshold",
            min_units=5,
            severity="error",
            clear=0.01,
            crossed="Intersections have a fraction of the answers of a single attribute, so they are shown and warn",
        ),
    ),
)


Words = Sequence[str]
Vectors = NDArray[np.float32]
_BLEU_ORDER = 4
_SMALLEST_MATCH = 0.1
_N_ORDERS = 99
_MOST_DIMENSIONS, _LEAST_DIMENSIONS = 100, 2


def cosine(texts: Sequence[Words]) -> Callable[[Integers], Floats]:
    """Cosines of TF-IDF vectors of texts, each with a word at least: of the rows (n,) among them, (n, n)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(analyzer=list).fit_transform(texts)
    return lambda rows: np.asarray((vectors[rows] @ vectors[rows].T).toarray())


def lsa(texts: Sequence[Words]) -> Callable[[Integers], Floats]:
    """Cosines in a latent space of the texts (Deerwester et al. 1990, JASIS 41), likewise, but from -1.

    The space is spanned by the largest singular vectors of the TF-IDF vectors, half the root of their number, 100 at most: words
    that occur with the same other words lie near each other there, and texts may be alike without a word in common. Labels can be
    permuted, as no text's group enters.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectors = TfidfVectorizer(analyzer=list).fit_transform(texts)
    size = min(_MOST_DIMENSIONS, isqrt(len(texts)) // 2, min(vectors.shape) - 1)
    if size < _LEAST_DIMENSIONS:
        return cosine(texts)
    # TruncatedSVD divides by the variance, which is 0 if all texts are the same; the ratio is not used.
    with np.errstate(invalid="ignore", divide="ignore"):
        placed = normalize(TruncatedSVD(size, algorithm="arpack", random_state=0).fit_transform(vectors))
    return lambda rows: np.asarray(placed[rows] @ placed[rows].T)


def rouge_l(texts: Sequence[Words]) -> Callable[[Integers], Floats]:
    """ROUGE-L (Lin 2004), likewise: F1 of the longest common subsequence of two texts' words, 2 L / (m + n)."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    def of(rows: Integers) -> Floats:
        some = [texts[row] for row in rows]
        return np.asarray(cdist(some, some, scorer=Indel.normalized_similarity, dtype=np.float64))

    return of


def bleu(texts: Sequence[Words]) -> Callable[[Integers], Floats]:
    """BLEU (Papineni et al. 2002), likewise: runs of up to four words, the lower of both directions.

    Runs of a length without a match count 0.1 of one (Chen & Cherry 2014, method 1), as LangFair has it. How many runs two
    texts share is the same in both directions: half of what their counts do not differ by.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import manhattan_distances

    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    orders = range(1, 1 + min(_BLEU_ORDER, int(lengths.max(initial=0))))
    counts = [CountVectorizer(analyzer=partial(_runs, order=order)).fit_transform(texts) for order in orders]

    def of(rows: Integers) -> Floats:
        n_words = lengths[rows]
        logs, has_shared = np.zeros((rows.size, rows.size)), np.zeros((rows.size, rows.size), dtype=bool)
        for order in range(1, _BLEU_ORDER + 1):
            n_runs, shared = np.maximum(n_words - order + 1, 0.0), np.zeros_like(logs)
            if order <= len(counts):
                differing = manhattan_distances(counts[order - 1][rows])
                shared = np.round((n_runs[:, np.newaxis] + n_runs - differing) / 2)
            has_shared |= shared > 0
            matches = np.where(shared > 0, shared, _SMALLEST_MATCH)
            logs += np.log(matches / np.maximum(n_runs, 1.0)[:, np.newaxis]) / _BLEU_ORDER
        # A row's text is compared with a column's: a shorter text scores less.
        brevity = np.minimum(0.0, 1 - n_words / n_words[:, np.newaxis])
        scores = np.where(has_shared, np.exp(logs + brevity), 0.0)
        return np.asarray(np.minimum(scores, scores.T))

    return of


def _runs(text: Words, order: int) -> list[str]:
    return [" ".join(text[start : start + order]) for start in range(len(text) - order + 1)]


def encoder(vectors: Vectors | Floats) -> Callable[[Integers], Floats]:
    """Cosines of the vectors (n, d) that a sentence encoder made of the texts, likewise, but from -1; of one without length 0."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    placed = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    return lambda rows: np.asarray(placed[rows] @ placed[rows].T)


def encoder_centred(vectors: Vectors) -> Callable[[Integers], Floats]:
    """Return the same of the vectors less their mean over all texts (Mu & Viswanath 2018), in which no text's group enters.

    Encoders put texts of one kind close together: raw cosines of answers lie near 1, and so do their differences near 0.
    """
    return encoder(vectors - vectors.mean(axis=0, dtype=np.float64))


SCHEMES: Mapping[str, Callable[[Sequence[Words]], Callable[[Integers], Floats]]] = {
    "cosine": cosine,
    "rouge_l": rouge_l,
    "bleu": bleu,
    "lsa": lsa,
}
"""Similarity of texts by their words, from 0 (none in common; for `lsa` from -1) to 1."""
OF_VECTORS: Mapping[str, Callable[[Vectors], Callable[[Integers], Floats]]] = {
    "encoder": encoder,
    "encoder_centred": encoder_centred,
}
"""Likewise by the vectors of a sentence encoder, from -1 to 1."""


@dataclass(frozen=True)
class Answers:
    """The answers about two groups; arrays of shape (n_answers,).

    texts: their words, in order, each with one at least. scheme: how they are compared with each other. labels: 1 the marked
    group, 0 its reference. questions: inside which answers are compared. units: the prompt or, where each group has one, the
    answer; pairs inside a unit do not count for the floor. names: the person that each is about, None without people;
    name_strata: inside which a name may move. ids: what names an answer. vectors: (n_answers, d), of a scheme of OF_VECTORS.
    """

    texts: Sequence[Words]
    scheme: str
    labels: Labels
    questions: Integers
    units: Integers
    names: Integers | None
    name_strata: Integers
    ids: Integers
    vectors: Vectors | None = None

    @cached_property
    def unit_rows(self) -> Integers:
        """The first answer of each unit, (n_units,)."""
        return np.unique(self.units, return_index=True)[1].astype(np.int64)

    @cached_property
    def alike_of(self) -> Callable[[Integers], Floats]:
        """From rows (n,) to their similarities, (n, n)."""
        if self.vectors is not None:
            return OF_VECTORS[self.scheme](self.vectors)
        return SCHEMES[self.scheme](self.texts)

    def by_question(self) -> Iterator[tuple[Integers, Floats, Integers, Floats]]:
        """Yield for each question: its answers, their similarities, its units, and the mean similarities of these (0 alone)."""
        of_answer = numbered(self.units)
        # Sort once, instead of looking through all answers for each question.
        _, sizes = np.unique(self.questions, return_counts=True)
        rows_of_questions = np.split(np.argsort(self.questions, kind="stable"), np.cumsum(sizes)[:-1])
        for rows in rows_of_questions:
            alike = self.alike_of(rows)
            units, places = np.unique(of_answer[rows], return_inverse=True)
            members = np.zeros((units.size, rows.size))
            members[places, np.arange(rows.size)] = 1 / np.bincount(places)[places]
            of_units = members @ alike @ members.T
            np.fill_diagonal(of_units, 0.0)
            yield rows, alike, units, of_units

    @cached_property
    def parts(self) -> list[tuple[Integers, Floats]]:
        """The units of each question and their mean similarities; those of all answers would take far more memory."""
        return [(units, of_units) for *_, units, of_units in self.by_question()]

    @property
    def alike_with_others(self) -> Floats:
        """Return how similar each unit is to the others of its question, in sum, (n_units,)."""
        alike = np.zeros(self.unit_rows.size)
        for units, of_units in self.parts:
            alike[units] = of_units.sum(axis=1)
        return alike

    def gaps(self, marked: Floats, reference: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the similarity between groups, of the marked one, and of its reference, (b, n_questions) each; NaN where there
        is none.

        marked, reference: (b, n_units), 1 for a unit that is of the group.
        """
        found = [
            _similarities(of_units, marked[:, units], reference[:, units]) for units, of_units in self.parts
        ]
        between, within_marked, within_reference = (np.stack(one, axis=1) for one in zip(*found, strict=True))
        return between, within_marked, within_reference

    def gap(self, marked: Floats, reference: Floats) -> Floats:
        """Return the mean over questions of what answers are more alike inside groups than between them, (b,)."""
        between, *within = self.gaps(marked, reference)
        gaps = (within[0] + within[1]) / 2 - between
        n = (~np.isnan(gaps)).sum(axis=1)
        return np.asarray(np.nansum(gaps, axis=1) / np.where(n > 0, n, np.nan))


def _similarities(alike: Floats, marked: Floats, reference: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean similarity between and inside two groups of units, (b,) each; alike: (k, k), 0 on its diagonal."""
    n_marked, n_reference = marked.sum(axis=1), reference.sum(axis=1)
    of_marked, of_reference = marked @ alike, reference @ alike
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            (of_marked * reference).sum(axis=1) / _or_nan(n_marked * n_reference),
            (of_marked * marked).sum(axis=1) / _or_nan(n_marked * (n_marked - 1)),
            (of_reference * reference).sum(axis=1) / _or_nan(n_reference * (n_reference - 1)),
        )


def _or_nan(counts: Floats) -> Floats:
    return np.where(counts > 0, counts, np.nan)


@dataclass(frozen=True)
class SimilarityGap:
    """How much less alike answers about two groups are than different answers about one; NaN and None if unknown.

    similarity_between: the published number, mean over pairs that differ in the group alone, 0 to 1. similarity_within: the
    floor, mean of both groups'. similarity_gap: within less between, over the n_questions that have a floor. n_units: prompts
    or answers of the smaller group; n_names: names. unit: what moved under the larger p, "question" or "name". test: one-sided.
    """

    similarity_between: float
    similarity_within: float = np.nan
    similarity_gap: float = np.nan
    standard_error: float = np.nan
    interval_low: float = np.nan
    interval_high: float = np.nan
    n_questions: int = 0
    n_units: int = 0
    n_names: int = 0
    unit: str = "question"
    p_case: float = np.nan
    p_name: float = np.nan
    test: PermutationResult | None = None


def similarity_gap(answers: Answers, *, alpha: float, **draws: Unpack[Draws]) -> SimilarityGap:
    """Return the gap, its interval over questions and names, and the larger p of moving units inside questions, and names."""
    labels = answers.labels[answers.unit_rows]
    one = labels[np.newaxis].astype(np.float64)
    between, *within = (values[0] for values in answers.gaps(one, 1 - one))
    floors = (within[0] + within[1]) / 2
    is_judged = ~np.isnan(floors - between)
    published = float(np.nanmean(between)) if not np.isnan(between).all() else np.nan
    if not is_judged.any():
        return SimilarityGap(published)
    names = _names(answers, is_judged)
    n_names = names.design.fewest() if names else 0
    gaps = (floors - between)[is_judged]
    error, degrees = _error(answers, gaps, names if n_names > 1 else None, labels)
    in_judged = np.isin(answers.questions[answers.unit_rows], np.unique(answers.questions)[is_judged])
    n_units = min(int(np.count_nonzero(in_judged & (labels == label))) for label in (0, 1))
    n_seen = gaps.size if gaps.size > 1 else n_units
    # No variance over so few questions or units says little about others.
    half_width = (
        float(t_half_widths(np.array(error), np.array(degrees), alpha))
        if error > NO_VARIANCE
        else float(rule_of_three(n_seen, alpha))
    )
    value = float(gaps.mean())
    cases = Design(labels, answers.questions[answers.unit_rows]).with_content(answers.alike_with_others)
    unseen = _unseen(answers, cases, value, n_seen, alpha, draws["seed"])
    tests: dict[str, PermutationResult] = {}
    if draws["n_permutations"] > 0:
        tests["question"] = _test(answers, Moves.alone(cases), draws)
        if names is not None and n_names >= LEAST_NAMES:
            tests["name"] = _test(answers, names, draws)
    unit, p_question, p_name, judged = by_larger_p(tests, "question")
    return SimilarityGap(
        published,
        float(floors[is_judged].mean()),
        value,
        error,
        value - half_width,
        value + max(half_width, unseen),
        int(is_judged.sum()),
        n_units,
        n_names,
        unit,
        p_question,
        p_name,
        judged,
    )


def _unseen(answers: Answers, design: Design, value: float, n_seen: int, alpha: float, seed: int) -> float:
    """Return how far unseen questions could raise the mean gap: a share of 1 - (alpha / 2)^(1 / n) may be unlike these n.

    Gaps are skewed: with few repeated answers most gaps are 0 and some are 1. A low mean then also has a small standard error.
    The largest possible gap of a question is the largest over random orders of its own answers.
    """
    orders = permuted_labels(design, _N_ORDERS, stable_seed(seed, "unseen"))
    marked = np.concatenate([*orders]).astype(np.float64)
    between, *within = answers.gaps(marked, 1 - marked)
    largest = float(np.nanmax((within[0] + within[1]) / 2 - between))
    return float(1 - (alpha / 2) ** (1 / n_seen)) * max(largest - value, 0.0)


def _names(answers: Answers, is_judged: NDArray[np.bool_]) -> Moves | None:
    """Return names with all their units, which change places with names of the same questions; None if each has one unit.

    With one name of each group in a question, changing them alters no gap: similarity cannot tell a name from its group.
    """
    if answers.names is None or is_judged.sum() < 2:
        return None
    names = answers.names[answers.unit_rows]
    _, first, of_unit = np.unique(names, return_index=True, return_inverse=True)
    if first.size == names.size:
        return None
    rows = answers.unit_rows[first]
    of_question = numbered(answers.questions[answers.unit_rows])
    shape = (first.size, int(of_question.max()) + 1)
    asked = coo_array((np.ones(of_unit.size), (of_unit, of_question)), shape=shape).tocsr()
    _, together = connected_components(asked @ asked.T, directed=False)
    _, strata = np.unique(np.stack([answers.name_strata[rows], together]), axis=1, return_inverse=True)
    moves = Moves(Design(answers.labels[rows], strata.ravel()), of_unit.astype(np.int64))
    return replace(moves, design=moves.design.with_content(moves.sums(answers.alike_with_others)))


def _test(answers: Answers, moves: Moves, draws: Draws) -> PermutationResult:
    def statistic(labels: Labels) -> Floats:
        marked = moves.of_rows(labels).astype(np.float64)
        return answers.gap(marked, 1 - marked)

    return permutation_test(moves.design, statistic, **draws)


def _error(answers: Answers, gaps: Floats, names: Moves | None, labels: Labels) -> tuple[float, float]:
    """Return the standard error of the mean gap and its degrees of freedom: over questions, and by a jackknife over names, put
    together.

    For a single question the jackknife is over its units, or its names.
    """
    parts = []
    if gaps.size > 1:
        parts.append((float(gaps.var(ddof=1) / gaps.size), gaps.size - 1.0))
    if names is not None or gaps.size == 1:
        of_unit = np.arange(labels.size) if names is None else names.of_row
        groups = DeleteGroups.of(of_unit, labels)
        kept = (groups.of_unit != np.arange(groups.cells.size)[:, np.newaxis]).astype(np.float64)
        one = labels[np.newaxis].astype(np.float64)
        error, degrees = groups.errors(
            answers.gap(kept * one, kept * (1 - one)), answers.gap(one, 1 - one)[0]
        )
        parts.append((float(error) ** 2, float(degrees)))
    variance = sum(part for part, _ in parts)
    below = sum(part**2 / degrees for part, degrees in parts)
    return float(np.sqrt(variance)), variance**2 / below if below > 0 else min(
        degrees for _, degrees in parts
    )


def similarity_gaps(comparisons: Iterable[Comparison[Answers]]) -> Table:
    """Return a row for each comparison: its SimilarityGap."""
    return table(
        SimilarityGap, comparisons, lambda one, settings: similarity_gap(one.units, **settings), "similarity"
    )


@dataclass(frozen=True)
class Question:
    """A question: its similarities, and the two answers about different groups that are least alike, by their ids."""

    question_id: int
    n_marked: int
    n_reference: int
    similarity_between: float
    similarity_marked: float
    similarity_reference: float
    pair_similarity: float
    marked_answer_id: int
    reference_answer_id: int


def questions(answers: Answers) -> list[Question]:
    """Return every question in which both groups have answers."""
    one = answers.labels[answers.unit_rows][np.newaxis].astype(np.float64)
    found = []
    for rows, alike, units, of_units in answers.by_question():
        numbers = _similarities(of_units, one[:, units], 1 - one[:, units])
        marked, reference = (np.flatnonzero(answers.labels[rows] == label) for label in (1, 0))
        if marked.size and reference.size:
            pairs = alike[np.ix_(marked, reference)]
            first, second = np.unravel_index(int(pairs.argmin()), pairs.shape)
            one_id, other_id = (int(answers.ids[rows[row]]) for row in (marked[first], reference[second]))
            question, least = int(answers.questions[rows[0]]), float(pairs[first, second])
            between, inside, inside_reference = (float(values[0]) for values in numbers)
            found.append(
                Question(
                    question,
                    marked.size,
                    reference.size,
                    between,
                    inside,
                    inside_reference,
                    least,
                    one_id,
                    other_id,
                )
            )
    return found


def question_similarities(comparisons: Iterable[Comparison[Answers]]) -> Table:
    """Return a row for each comparison and question."""
    return table(Question, comparisons, lambda one, _: questions(one.units))
