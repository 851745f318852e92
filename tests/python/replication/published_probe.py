"""The publication's probe: logistic regression on TF-IDF of content words, or on counts of function words."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

_WORDS = 120
TITLES = frozenset("mr ms mrs miss".split())
# The English stop words of NLTK in the version with 198 entries, by which the publication separates the two sets of words.
STOP_WORDS = frozenset(
    """
    a about above after again against ain all am an and any are aren aren't as at be because been before being below between both
    but by can couldn couldn't d did didn didn't do does doesn doesn't doing don don't down during each few for from further had
    hadn hadn't has hasn hasn't have haven haven't having he he'd he'll her here hers herself he's him himself his how i i'd if
    i'll i'm in into is isn isn't it it'd it'll it's its itself i've just ll m ma me mightn mightn't more most mustn mustn't my
    myself needn needn't no nor not now o of off on once only or other our ours ourselves out over own re s same shan shan't she
    she'd she'll she's should shouldn shouldn't should've so some such t than that that'll the their theirs them themselves then
    there these they they'd they'll they're they've this those through to too under until up ve very was wasn wasn't we we'd we'll
    we're were weren weren't we've what when where which while who whom why will with won won't wouldn wouldn't y you you'd you'll
    your you're yours yourself yourselves you've
    """.split()
)


def probe_accuracy(
    texts: Sequence[str], labels: Sequence[str], seeds: Sequence[int], *, content: bool
) -> tuple[float, float, float]:
    """Mean accuracy over folds that each leave one seed out, and its 95 % interval by t.

    content: TF-IDF of words that are neither stop words nor titles; otherwise standardised counts of stop words.
    """
    tokens = [[word.strip(string.punctuation).lower() for word in text.split()] for text in texts]
    if content:
        kept = [[word for word in one if word and word not in STOP_WORDS | TITLES] for one in tokens]
        features = TfidfVectorizer(max_features=_WORDS, analyzer=list).fit_transform(kept)
    else:
        kept = [[word for word in one if word in STOP_WORDS] for one in tokens]
        counts = CountVectorizer(max_features=_WORDS, analyzer=list).fit_transform(kept).toarray()
        features = StandardScaler().fit_transform(counts)
    answers, fold = np.asarray(labels), np.asarray(seeds)
    accuracies = []
    for seed in np.unique(fold):
        model = LogisticRegression(C=1, solver="liblinear", max_iter=1000, random_state=42)
        if len(set(labels)) > 2:
            model = OneVsRestClassifier(model)
        model.fit(features[fold != seed], answers[fold != seed])
        accuracies.append(float((model.predict(features[fold == seed]) == answers[fold == seed]).mean()))
    mean, arm = np.mean(accuracies), stats.t.ppf(0.975, 4) * np.std(accuracies, ddof=1) / np.sqrt(5)
    return float(mean), float(mean - arm), float(mean + arm)
