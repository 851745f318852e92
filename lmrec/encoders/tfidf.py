"""The encoder that needs no download: TF-IDF of the words, and a linear layer with a softmax over the venues.

Texts are not kept: memory holds the weights and a sparse row for each text.
"""

from __future__ import annotations

import json
import warnings
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from collector.errors import InputError
from lmrec.encoders.fitting import Text

Solver = Literal["auto", "lbfgs", "sag"]
Scores = npt.NDArray[np.float64]

# A limit on the number of weights, and of words in texts, each times the venues: one of hundreds of L-BFGS iterations.
MAX_LBFGS_PRODUCTS = 100_000_000
_EPOCHS = 10
_UNREACHED = 1e-12


@dataclass(frozen=True, slots=True)
class TfidfSettings:
    """Settings of the fit.

    Attributes:
        c: inverse strength of the L2 penalty on the weights.
        max_terms: how many words are kept, the most frequent ones.
        solver: lbfgs to convergence; sag, stochastic average gradients, ten times over the texts; auto takes the first where
            texts and weights are few enough.
        seed: draws the order of texts; the first solver draws nothing.
    """

    c: float = 10.0
    max_terms: int = 50_000
    solver: Solver = "auto"
    seed: int = 0


class Tfidf:
    """A fitted encoder.

    Args:
        terms: the words, by their column.
        idf: (terms,) inverse document frequencies.
        weights: (venues, terms).
        intercepts: (venues,).
    """

    KIND = "tfidf"
    FILES = ("tfidf.npz",)
    PACKAGES = ()

    def __init__(self, terms: Sequence[str], idf: Scores, weights: Scores, intercepts: Scores) -> None:
        self._terms = list(terms)
        self._idf = idf
        # In the order that a product with sparse rows goes through, or each one would copy them all.
        self._columns = np.ascontiguousarray(weights.T)
        self._intercepts = intercepts
        self._vectorizer = _vectorizer(vocabulary={term: column for column, term in enumerate(terms)})
        self._vectorizer.idf_ = idf

    @classmethod
    def fit(cls, texts: Iterable[Text], settings: TfidfSettings) -> tuple[Self, dict[str, Any]]:
        """Fit the words and the weights.

        Args:
            texts: read once.
            settings: as in TfidfSettings.

        Returns:
            The encoder, and the fit's entries in a card: solver, iterations, terms.

        Raises:
            InputError: there are fewer than two venues, or no text has a word.
        """
        labels = array("l")

        def written() -> Iterable[str]:
            for one in texts:
                labels.append(one.venue)
                yield one.text

        vectorizer = _vectorizer(max_features=settings.max_terms)
        try:
            rows = vectorizer.fit_transform(written())
        except ValueError as error:
            if "vocabulary" not in str(error):
                raise
            raise InputError("No text to train from has a word in it.") from None
        venues = np.frombuffer(labels, dtype=np.dtype("l"))
        n_venues = int(venues.max()) + 1
        if n_venues < 2:
            raise InputError("All texts to train from are about one venue; a recommender needs two or more.")
        solver = settings.solver
        if solver == "auto":
            n_products = n_venues * (rows.shape[1] + rows.nnz)
            solver = "lbfgs" if n_products <= MAX_LBFGS_PRODUCTS else "sag"
        # Sums in several threads are added in any order: the same data would not give the same model.
        with threadpool_limits(1), warnings.catch_warnings():
            # Many venues with a text or two each are what there is to train from, and no regression.
            warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
            weights, intercepts, n_iterations = _fitted(rows, venues, solver, settings)
        terms = [str(term) for term in vectorizer.get_feature_names_out()]
        said = {"solver": solver, "iterations": n_iterations, "terms": len(terms)}
        return cls(terms, vectorizer.idf_, weights, intercepts), said

    def scores(self, texts: Sequence[str]) -> Scores:
        """Return (texts, venues): the logarithm of each venue's odds, up to a constant of the text."""
        with threadpool_limits(1):
            return np.asarray(self._vectorizer.transform(texts) @ self._columns + self._intercepts)

    def save(self, folder: Path) -> list[str]:
        """Write it as arrays of numbers, which hold no code; return the file's name."""
        np.savez_compressed(
            folder / self.FILES[0],
            terms=np.frombuffer(json.dumps(self._terms, ensure_ascii=False).encode("utf-8"), dtype=np.uint8),
            idf=self._idf,
            weights=self._columns.T,
            intercepts=self._intercepts,
        )
        return list(self.FILES)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            ValueError, KeyError, OSError: the file is no such file.
        """
        with np.load(folder / cls.FILES[0], allow_pickle=False) as arrays:
            terms = json.loads(arrays["terms"].tobytes().decode("utf-8"))
            return cls(terms, arrays["idf"], arrays["weights"], arrays["intercepts"])


def _vectorizer(**settings: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **settings)


def _fitted(
    rows: Any, venues: npt.NDArray[np.int64], solver: Solver, settings: TfidfSettings
) -> tuple[Scores, Scores, int]:
    """Return weights, intercepts and iterations; both solvers go to one optimum, sag at 4 bytes a number and not all the way."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if solver == "lbfgs":
        model = LogisticRegression(C=settings.c, tol=1e-8, max_iter=20_000).fit(rows, venues)
    else:
        model = LogisticRegression(
            C=settings.c, solver="sag", tol=_UNREACHED, max_iter=_EPOCHS, random_state=settings.seed
        )
        with warnings.catch_warnings():
            # The requested number of passes over the texts.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows.astype(np.float32), venues)
    return (*_for_each_venue(model.coef_, model.intercept_), int(model.n_iter_[0]))


def _for_each_venue(weights: Any, intercepts: Any) -> tuple[Scores, Scores]:
    """Return weights with a row for each venue; of two venues, scikit-learn fits the odds of the second alone."""
    if len(weights) == 1:
        weights, intercepts = np.vstack([np.zeros_like(weights), weights]), np.append(0.0, intercepts)
    return np.asarray(weights, dtype=np.float64), np.asarray(intercepts, dtype=np.float64)
