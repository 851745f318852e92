"""The source's procedure as a plain script, which a build of words is measured against; a process of its own.

    python -m benchmarks.plain_script responses.parquet

Prints one JSON document: seconds a step and accuracy a contrast. The source is Xu, Potka & Thomo (2026), arXiv:2602.08124, as
the audit's description gives it: terms cut by a regular expression, word counts, a linear SVM over five folds with
scikit-learn's defaults, scipy's Jensen-Shannon distance squared, z-scores of smoothed log-odds.
"""

from __future__ import annotations

import json
import re
import sys
import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.spatial.distance import jensenshannon
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from benchmarks.processes import StepClock

REFERENCE = "White"
MARKED = ("Asian", "Black", "Latino", "Middle-Eastern")
IDENTITY_TERMS = re.compile(
    r"\b(she|he|him|her|his|hers|mr|mrs|ms|mx|asian|black|white|latino|middle-eastern|woman|man|nonbinary)\b"
)
NOT_A_LETTER = re.compile(r"[^a-z\s]")


def anonymise(text: str) -> str:
    """Lower case, without identity terms, letters and white space only."""
    return NOT_A_LETTER.sub("", IDENTITY_TERMS.sub("", text.lower()))


def svm_accuracy(counts: csr_matrix, labels: np.ndarray) -> float:
    """Mean accuracy over five unshuffled stratified folds; words of one text alone are left out."""
    used_twice = np.asarray((counts > 0).sum(axis=0)).ravel() >= 2
    return float(cross_val_score(LinearSVC(random_state=0), counts[:, used_twice], labels, cv=5).mean())


def jsd(marked: np.ndarray, reference: np.ndarray) -> float:
    """Jensen-Shannon divergence in nats of two groups' word counts."""
    return float(jensenshannon(marked + 1e-10, reference + 1e-10) ** 2)


def z_scores(words: np.ndarray, marked: np.ndarray, reference: np.ndarray) -> pd.DataFrame:
    """Log-odds with a normalised prior, every count + 0.5, a row a word."""
    table = pd.DataFrame({"word": words, "marked": marked, "reference": reference})
    table = table[table["marked"] + table["reference"] > 0]
    prior = (table["marked"] + table["reference"]) / (marked.sum() + reference.sum())
    x, y = table["marked"] + 0.5 + prior, table["reference"] + 0.5 + prior
    marked_total, reference_total = (table["marked"] + 0.5).sum(), (table["reference"] + 0.5).sum()
    log_odds = np.log(x / (marked_total + 1 - x)) - np.log(y / (reference_total + 1 - y))
    return table.assign(z_score=log_odds / np.sqrt(1 / x + 1 / y)).sort_values("z_score")


def main(path: str) -> None:
    """Run the procedure on a Parquet file of texts and races."""
    # The SVM does not converge on counts within its default 1,000 iterations: part of the procedure, said once in the docs.
    warnings.simplefilter("ignore", ConvergenceWarning)
    clock = StepClock()
    with clock.step("read"):
        responses = pd.read_parquet(path)
    with clock.step("anonymise"):
        anonymised = [anonymise(text) for text in responses["text"]]
    with clock.step("vectorise"):
        vectoriser = CountVectorizer()
        counts = vectoriser.fit_transform(anonymised)
        words = vectoriser.get_feature_names_out()
    races = responses["race"].to_numpy()
    accuracies, divergences, n_marked = {}, {}, {}
    for race in MARKED:
        with clock.step("classifier"):
            rows = np.concatenate([np.flatnonzero(races == race), np.flatnonzero(races == REFERENCE)])
            accuracies[race] = svm_accuracy(counts[rows], (races[rows] == race).astype(int))
        with clock.step("jsd"):
            marked = np.asarray(counts[races == race].sum(axis=0)).ravel()
            reference = np.asarray(counts[races == REFERENCE].sum(axis=0)).ravel()
            divergences[race] = jsd(marked, reference)
        with clock.step("z"):
            table = z_scores(words, marked, reference)
            n_marked[race] = int((table["z_score"].abs() > 1.96).sum())
    results = {"accuracy": accuracies, "jsd": divergences, "n_marked": n_marked}
    print(json.dumps({"wall": clock.wall, "cpu": clock.cpu, **results}))


if __name__ == "__main__":
    main(sys.argv[1])
