"""Classifier accuracy: how well a linear classifier predicts the group from the words of a text.

The published numbers are a linear SVM's accuracy over grouped, stratified folds, with vocabulary and weights
fitted inside each fold. Refitting an SVM for every permutation is too slow, so p comes from a kernel ridge
classifier on the same folds: its hat matrices do not depend on the labels, and one product scores all
permutations.

Accuracy grows with the number of texts, so the interval's upper end is the accuracy of a linear classifier
with unlimited texts of this kind: accuracy A at n training texts is Φ(δ² / (2 √(δ² + 4 d / n))) for groups δ
apart in d effective dimensions (Raudys & Young 2004 give this form), which is solved for δ at the upper end of
A; the limit is Φ(δ / 2). For unequal groups, n₁ and n₀, 4 n₁ n₀ / (n₁ + n₀) replaces n, because the smaller group's mean is
known worse. A classifier of 15 texts against 300 also favours the larger group, whatever their weights, so its
balanced accuracy says little of how far apart they are. The area A₁ under its curve does, because it needs no border between the
groups, and Φ(Φ⁻¹(A₁) / √2) is what the best border would reach.

Where templates are unevenly shared between groups, a classifier that knows the template is right more often than not, under
shuffled labels, too. So the judged value is the share of the way from there to 1, on a scale on which chance is 1 / k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy import sparse, special

from biasledger.measures.declared import Measure, Threshold
from biasledger.measures.engine.design import Design, Floats, Integers, Labels, Moves
from biasledger.measures.engine.intervals import Z
from biasledger.measures.engine.resampling import Draws, PermutationResult, permutation_test
from biasledger.measures.engine.sums import numbered
from biasledger.measures.engine.word_counts import sums_by
from biasledger.measures.words.kernel_ridge import Booleans, ridge_folds, text_kernel
from biasledger.measures.words.word_weights import WordWeights

MEASURES = (
    Measure(
        name="classifier_accuracy",
        description="How well a linear classifier tells from the words which group a text was written for",
        scale="balanced accuracy, what shuffled labels reach put at 0.5",
        bounds=(None, 1),
        past="an accuracy of {limit} or more",
        side="upper",
        unit="answers in the smaller group (questions to each group where it was asked five or more)",
        clear_scale="balanced accuracy with unlimited texts",
        no_difference=0.5,
        is_at_equal_sizes=True,
        label="the accuracy of guessing the group from words",
        display=(100, " %"),
        threshold=Threshold(
            value=0.8,
            reason=(
                "The published value kept but read on balanced accuracy so that unequal group sizes cannot reach it by "
                "chance"
            ),
            source="Xu, Potka & Thomo (2026), SVM accuracy > 0.80; below 0.60 not meaningful",
            min_units=10,
            severity="error",
            published=0.8,
            crossed=(
                "Intersections have a fraction of the texts of a single attribute, so they are shown and warn; raise to "
                "error where each has 100 texts or more"
            ),
        ),
    ),
)


if TYPE_CHECKING:
    from sklearn.svm import LinearSVC

N_FOLDS = 5
MAX_UNITS_FOR_P = 2000
MAX_TEXTS = 20_000
"""A classifier gets about this many texts at most; accuracy still grows a little beyond it (docs/benchmarks.md)."""
SVM_TOLERANCE = 0.1
"""Where liblinear stops: at a tenth of it, mean accuracies of real and of generated texts moved by less than 0.002."""
# Learning curves of real persona texts, from 15 to 270 a group, needed 2 to 6 times the estimated dimensions.
DIMENSION_FACTOR = 4.0


@dataclass(frozen=True)
class ClassifierAccuracy:
    """Accuracy of telling k groups apart, 0 to 1.

    balanced_accuracy: mean of the groups' recalls over all out-of-fold predictions; its chance level is 1 / k where groups
    share templates evenly. beyond_chance: what is judged, on the same scale with what shuffled labels reach put at 1 / k; the
    interval is its. chance: accuracy of always naming the largest group. coefficients: (n_features,) of the classifier fitted
    on all units, positive for the marked group; empty for more than two groups. n_texts: texts that it was given, all or
    about MAX_TEXTS at most.
    """

    accuracy_mean: float = np.nan
    accuracy_sd: float = np.nan
    balanced_accuracy: float = np.nan
    beyond_chance: float = np.nan
    chance: float = np.nan
    standard_error: float = np.nan
    interval_low: float = np.nan
    interval_high: float = np.nan
    coefficients: Floats = field(default_factory=lambda: np.empty(0))
    test: PermutationResult | None = None
    n_texts: int = 0


def classifier_accuracy(
    features: sparse.csr_array,
    design: Design,
    clusters: Integers,
    *,
    weighting: str = "tfidf",
    moved: Moves | None = None,
    **draws: Unpack[Draws],
) -> ClassifierAccuracy:
    """Cross-validated accuracy of a linear SVM, its permutation null and its interval.

    features: word counts (n_texts, n_words). clusters: texts of one cluster (the same text) never lie on both
    sides of a split. moved: units of several texts (prompts), which a split does not cut either; None if every text moves by
    itself. weighting: 'tfidf' or 'counts' (bag of words). Words of a single training text are left out. If no word remains, all
    numbers are NaN.
    """
    kept = _drawn_texts(design, moved)
    if kept.size < design.n_units:
        features, design, clusters = sparse.csr_array(features[kept]), design.of(kept), clusters[kept]
        moved = moved and moved.of(kept)
    # Products of counts do not fit into the bytes that counts fit into.
    features = features.astype(np.float64)
    folds, training = _splits(design, clusters, moved, draws["seed"])
    n_groups = int(design.labels.max()) + 1
    chance = float(np.bincount(design.labels).max() / design.n_units)
    if not _can_learn(design.labels, training):
        return ClassifierAccuracy(chance=chance, n_texts=kept.size)
    predicted, scores, coefficients = _classified(features, design.labels, folds, training, weighting)
    correct = predicted == design.labels
    accuracies = np.array([correct[folds == fold].mean() for fold in np.unique(folds)])
    balanced = float(_balanced_accuracies(design.labels, predicted, n_groups))
    test, error, low, high, beyond = None, np.nan, np.nan, np.nan, balanced
    units = moved or Moves.alone(design)
    if draws["n_permutations"] > 0 and units.design.within(_folds_of_units(units, folds)).can_move():
        # The kernel of all texts, which both steps below use.
        kernel = text_kernel(features) if design.n_units <= MAX_UNITS_FOR_P else None
        test = _ridge_test(features, design, folds, draws, moved, training, kernel)
        scale = _Scale.of(test.null_mean, n_groups)
        beyond = scale(balanced)
        error = _standard_error(balanced, test.null_sd, units.design.n_units, n_groups)
        low = max(0.0, scale(balanced - Z * error))
        at_best_border = _at_best_border(scores, design.labels, folds) if n_groups == 2 else balanced
        reached = min(1.0, scale(min(1.0, max(balanced, at_best_border) + Z * error)))
        high = _limit_of_accuracy(features, design, reached, units.design, kernel)
        error *= scale.factor
    return ClassifierAccuracy(
        float(accuracies.mean()),
        float(accuracies.std()),
        balanced,
        beyond,
        chance,
        error,
        low,
        high,
        coefficients,
        test,
        kept.size,
    )


@dataclass(frozen=True)
class _Scale:
    """Accuracies on a scale on which the accuracy of shuffled labels is 1 / k, and 1 is 1; never above the measured accuracy."""

    chance: float
    factor: float
    at_chance: float

    @classmethod
    def of(cls, null_mean: float, n_groups: int) -> _Scale:
        at_chance = 1 / n_groups
        # A null mean below it is the usual pessimism of cross-validation, and no head start.
        chance = min(max(null_mean, at_chance), 0.99)
        return cls(chance, (1 - at_chance) / (1 - chance), at_chance)

    def __call__(self, accuracy: float) -> float:
        return max(0.0, self.at_chance + (accuracy - self.chance) * self.factor)


def descriptors_test(
    features: sparse.csr_array,
    of_descriptor: Integers,
    descriptors: Design,
    **draws: Unpack[Draws],
) -> PermutationResult:
    """Return whether two groups' names or wordings differ in their mean TF-IDF weighted text, against names that change groups.

    features: word counts (n_texts, n_words); of_descriptor: (n_texts,), the name or wording of each. The statistic is the squared
    distance between the groups' means over names: no name has texts on both sides of it, as folds of texts would.
    """
    sizes = np.bincount(of_descriptor, minlength=descriptors.n_units)
    words = WordWeights.learnt_from(features, weighting="tfidf", min_units=1)
    means = sums_by(of_descriptor, sizes.size, features, weights=1 / sizes[of_descriptor], seen_as=words)
    products = np.asarray((means @ means.T).toarray())

    def distance(labels: Labels) -> Floats:
        marked = labels.astype(np.float64)
        n_marked = marked.sum(axis=1, keepdims=True)
        difference = marked / n_marked - (1 - marked) / (descriptors.n_units - n_marked)
        return np.asarray(((difference @ products) * difference).sum(axis=1))

    return permutation_test(descriptors, distance, **draws)


def _splits(
    design: Design, clusters: Integers, moved: Moves | None, seed: int
) -> tuple[Integers, list[Booleans]]:
    """Return the fold of each text and, for each fold, the texts to learn from: no copies of the held-out ones."""
    if moved is None:
        folds = assign_folds(design, clusters, seed=seed)
        return folds, [folds != fold for fold in np.unique(folds)]
    order = moved.design.order
    folds_of_units = np.empty(order.size, dtype=np.int64)
    folds_of_units[order] = assign_folds(moved.design.of(order), np.arange(order.size), seed=seed)
    folds = folds_of_units[moved.of_row]
    return folds, [(folds != fold) & ~np.isin(clusters, clusters[folds == fold]) for fold in np.unique(folds)]


def _can_learn(labels: Labels, training: list[Booleans]) -> bool:
    n_groups = int(labels.max()) + 1
    return all(np.unique(labels[learnt]).size == n_groups for learnt in training)


def _folds_of_units(moved: Moves, folds: Integers) -> Integers:
    of_units = np.empty(moved.design.n_units, dtype=np.int64)
    of_units[moved.of_row] = folds
    return of_units


def _at_best_border(scores: Floats, labels: Labels, folds: Integers) -> float:
    """Φ(Φ⁻¹(A₁) / √2) of the area A₁ under the curve, over the folds, each weighted by its pairs of texts; at least 0.5."""
    areas, pairs = [], []
    for fold in np.unique(folds):
        inside = folds == fold
        is_marked = labels[inside] == 1
        n_pairs = int(is_marked.sum() * (~is_marked).sum())
        if n_pairs:
            marked, reference = scores[inside][is_marked], np.sort(scores[inside][~is_marked])
            # Pairs in which the marked text has the higher score; of equal scores half.
            n_below = np.searchsorted(reference, marked, side="left").sum()
            n_up_to = np.searchsorted(reference, marked, side="right").sum()
            areas.append((n_below + n_up_to) / (2 * n_pairs))
            pairs.append(n_pairs)
    if not areas:
        return 0.5
    area = np.clip(np.average(areas, weights=pairs), 0.5, 1 - 1e-6)
    return float(special.ndtr(special.ndtri(area) / np.sqrt(2)))


def assign_folds(design: Design, clusters: Integers, *, seed: int) -> Integers:
    """Return a fold for each unit, 0 … N_FOLDS - 1: clusters stay together, every label is dealt through each stratum alike.

    Dealing marked and reference units of one stratum from the same fold on puts them into the same folds, so that
    labels can still move when they are permuted inside stratum and fold, also where some units are missing
    (scikit-learn's StratifiedGroupKFold does not keep strata together). Clusters with units of several labels are
    dealt as a label of their own: copies in both groups must not crowd a group's other texts into a single fold.
    """
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, N_FOLDS])))
    _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
    cluster, strata = cluster.ravel(), design.strata[first]
    labels = design.labels[first].astype(np.int64)
    labels[cluster[design.labels != labels[cluster]]] = -1
    order = np.lexsort((rng.random(first.size), labels, strata))
    is_first = (np.diff(strata[order], prepend=-1) != 0) | (np.diff(labels[order], prepend=-2) != 0)
    position = np.arange(first.size)
    dealt_before = position - np.maximum.accumulate(np.where(is_first, position, 0))
    cluster_folds = np.empty(first.size, dtype=np.int64)
    cluster_folds[order] = (_first_folds(labels, strata)[order] + dealt_before) % N_FOLDS
    return np.asarray(cluster_folds[cluster])


def _first_folds(labels: Integers, strata: Integers) -> Integers:
    """Return where dealing starts in each unit's stratum: one fold further with every stratum that holds the same labels.

    Thus strata of a single unit a label still fill all folds, and no label comes to lie in one fold alone.
    """
    stratum = numbered(strata)
    column = numbered(labels)
    holds = np.zeros((stratum.max() + 1, column.max() + 1), dtype=np.bool_)
    holds[stratum, column] = True
    _, kind = np.unique(holds, axis=0, return_inverse=True)
    start = np.empty(kind.size, dtype=np.int64)
    for same in np.unique(kind):
        start[kind == same] = np.arange(np.count_nonzero(kind == same))
    return np.asarray(start[stratum])


def _classified(
    features: sparse.csr_array,
    labels: Labels,
    folds: Integers,
    training: list[Booleans],
    weighting: str,
) -> tuple[Labels, Floats, Floats]:
    """Return the labels of each fold's test texts predicted by an SVM of its training texts, and scores for label 1.

    The third array holds the coefficients of an SVM of all texts. With more than two groups scores are 0, and it is empty.
    """
    predicted, scores = np.empty_like(labels), np.zeros(labels.size)
    is_pair = labels.max() == 1
    for fold, is_learnt in zip(np.unique(folds), training, strict=True):
        words, svm = _fitted(features[is_learnt], labels[is_learnt], weighting)
        held_out = folds == fold
        texts = words(features[held_out])
        predicted[held_out] = svm.predict(texts)
        if is_pair:
            scores[held_out] = svm.decision_function(texts)
    coefficients = _fitted(features, labels, weighting)[1].coef_[0] if is_pair else np.empty(0)
    return predicted, scores, coefficients


def _fitted(features: sparse.csr_array, labels: Labels, weighting: str) -> tuple[WordWeights, LinearSVC]:
    # It imports pandas, which takes as long as building some audits.
    from sklearn.svm import LinearSVC

    words = WordWeights.learnt_from(features, weighting=weighting, min_units=2)
    svm = LinearSVC(class_weight="balanced", dual=False, tol=SVM_TOLERANCE)
    return words, svm.fit(words(features), labels)


def _ridge_test(
    features: sparse.csr_array,
    design: Design,
    folds: Integers,
    draws: Draws,
    moved: Moves | None = None,
    training: list[Booleans] | None = None,
    kernel: Floats | None = None,
) -> PermutationResult:
    """Balanced accuracy of a kernel ridge classifier against labels permuted inside stratum and fold.

    Folds hold the same labels under every permutation, so they are as likely under one as under another. More than
    MAX_UNITS_FOR_P texts are thinned to that many, evenly over strata and folds: the power is ample there.

    kernel: of all texts, where there are no more than that; made here if not given.
    """
    kept = _thin(design, folds, MAX_UNITS_FOR_P)
    units = moved or Moves.alone(design)
    movable = units.design.within(_folds_of_units(units, folds))
    if moved is None:
        movable = movable.of(kept)
        units = Moves.alone(movable)
    else:
        units = Moves(movable, moved.of_row[kept])
    names = np.unique(folds)
    learnt = [mask[kept] for mask in training or [folds != fold for fold in names]]
    held_out = [folds[kept] == fold for fold in names]
    kernel = text_kernel(features[kept]) if kernel is None else kernel
    classifiers = list(ridge_folds(kernel, learnt, held_out))
    n_groups = int(design.labels.max()) + 1

    def balanced_accuracy(unit_labels: Labels) -> Floats:
        labels = units.of_rows(unit_labels)
        predicted = np.empty_like(labels)
        for classifier in classifiers:
            predicted[:, classifier.held_out] = classifier.predict(labels, n_groups)
        return _balanced_accuracies(labels, predicted, n_groups)

    return permutation_test(movable, balanced_accuracy, **draws)


def _balanced_accuracies(labels: Labels, predicted: Labels, n_groups: int) -> Floats:
    """Return the mean of the groups' recalls over the last axis."""
    recalls = []
    for group in range(n_groups):
        is_member = labels == group
        n_right = np.count_nonzero(is_member & (predicted == group), axis=-1)
        recalls.append(n_right / np.count_nonzero(is_member, axis=-1))
    return np.asarray(np.mean(recalls, axis=0))


def _drawn_texts(design: Design, moved: Moves | None) -> Integers:
    """Return positions of about MAX_TEXTS texts at most; of units of several texts all units, each with an equal share of them
    at most.

    Labels have as many arrangements as units allow, so texts of a unit are left out before any unit is.
    """
    if moved is None or design.n_units <= MAX_TEXTS:
        return _drawn(design, MAX_TEXTS)
    units = _drawn(moved.design, MAX_TEXTS)
    rows = np.flatnonzero(np.isin(moved.of_row, units))
    return rows[_evenly(moved.of_row[rows], max(1, MAX_TEXTS // units.size))]


def _evenly(of_row: Integers, most: int) -> Integers:
    """Return positions of so many rows of each unit at most, evenly over its rows."""
    order = np.argsort(of_row, kind="stable")
    sizes = np.bincount(of_row)
    rank = np.arange(of_row.size) - (np.cumsum(sizes) - sizes)[of_row[order]]
    size = sizes[of_row[order]]
    wanted = np.minimum(size, most)
    return np.sort(order[(rank + 1) * wanted // size > rank * wanted // size])


def _drawn(design: Design, most: int) -> Integers:
    """Return positions of about so many units at most; where strata are too many to leave some of each, whole strata."""
    strata = np.unique(design.strata)
    if design.n_units <= most or strata.size * np.unique(design.labels).size <= most:
        return _thin(design, np.zeros(design.n_units, dtype=np.int64), most)
    places = np.linspace(0, strata.size - 1, max(1, most * strata.size // design.n_units))
    return np.flatnonzero(np.isin(design.strata, strata[places.round().astype(np.int64)]))


def _thin(design: Design, folds: Integers, most: int) -> Integers:
    """Return positions of about so many units at most, every k-th of each label, stratum and fold.

    Groups below an equal share of that number are kept whole: a small group next to a huge one must not vanish.
    """
    if design.n_units <= most:
        return np.arange(design.n_units)
    order = np.lexsort((np.arange(design.n_units), folds, design.strata))
    labels = np.unique(design.labels)
    share = most // labels.size
    kept = []
    for label in labels:
        members = order[design.labels[order] == label]
        kept.append(
            members[np.linspace(0, members.size - 1, min(share, members.size)).round().astype(np.int64)]
        )
    return np.sort(np.concatenate(kept))


def _standard_error(accuracy: float, null_sd: float, n_units: int, n_groups: int) -> float:
    """Return the null's spread, which holds the correlation between folds, scaled from the chance level to this accuracy.

    Two successes and two failures are added (Agresti & Coull 1998), so that a perfect score keeps a width.
    """
    shrunk = (accuracy * n_units + 2) / (n_units + 4)
    at_chance = (1 - 1 / n_groups) / n_groups
    return float(null_sd * np.sqrt(shrunk * (1 - shrunk) / at_chance))


def _limit_of_accuracy(
    features: sparse.csr_array,
    design: Design,
    accuracy: float,
    units: Design | None = None,
    kernel: Floats | None = None,
) -> float:
    """Return the accuracy with unlimited texts of the same kind, from `accuracy` with the texts of all folds but one.

    units: the units by which a group is large or small, the texts themselves if there are no others. kernel: see `_ridge_test`.
    For more than two groups the accuracy itself is returned, because the formula holds for pairs.
    """
    counted = units or design
    if int(design.labels.max()) > 1:
        return accuracy
    u = float(special.ndtri(np.clip(accuracy, 0.5, 0.9999)))
    n_marked, n_reference = counted.count(1), counted.count(0)
    training = 4 * n_marked * n_reference / (n_marked + n_reference) * (N_FOLDS - 1) / N_FOLDS
    d_over_n = DIMENSION_FACTOR * _effective_dimensions(features, design, kernel) / training
    squared_distance = 2 * u**2 + np.sqrt(4 * u**4 + 16 * u**2 * d_over_n)
    return max(accuracy, float(special.ndtr(np.sqrt(squared_distance) / 2)))


def _effective_dimensions(features: sparse.csr_array, design: Design, kernel: Floats | None = None) -> float:
    """tr(S)² / tr(S²) of the texts' covariance inside groups, both traces estimated without bias.

    Source of the estimator of tr(S²): Himeno & Yamada (2014), J. Multivariate Anal. 130.
    """
    kept = _thin(design, np.zeros(design.n_units, dtype=np.int64), MAX_UNITS_FOR_P)
    kernel, labels = text_kernel(features[kept]) if kernel is None else kernel, design.labels[kept]
    dimensions, weights = [], []
    for label in (0, 1):
        inside = np.flatnonzero(labels == label)
        n = inside.size
        if n < 4:
            continue
        block = kernel[np.ix_(inside, inside)]
        centred = block - block.mean(axis=0) - block.mean(axis=1)[:, np.newaxis] + block.mean()
        trace = np.trace(centred) / (n - 1)
        sum_of_squares = (centred**2).sum() / (n - 1) ** 2
        fourth = (np.diag(centred) ** 2).sum() / (n - 1)
        trace_of_square = (
            (n - 1) / (n * (n - 2) * (n - 3)) * ((n - 1) * (n - 2) * sum_of_squares + trace**2 - n * fourth)
        )
        dimensions.append(trace**2 / trace_of_square if trace_of_square > 0 else float(n**2))
        weights.append(n)
    return float(np.average(dimensions, weights=weights)) if dimensions else float(design.n_units**2)
