"""Comparisons of simulated lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biasledger.measures.comparisons import Comparison
from biasledger.measures.lists import Lists

NAME = ("plain", "items", "matched", "clean", "music", "gender")


def spread_comparison(features=None, reruns=None, **changes: object) -> Comparison[Lists]:
    rng = np.random.default_rng(1)
    similarities = rng.beta(6, 6, size=(20, 3))
    similarities[4, 1] = np.nan
    refused = np.isnan(similarities).astype(float)
    own = {"jaccard": similarities, "unanswered": refused, "ndcg": np.full((20, 3), np.nan)}
    again = {"jaccard": rng.beta(6, 6, size=(12, 5))}
    lists = Lists(own if features is None else features, again if reruns is None else reruns)
    return replace(Comparison("a", NAME, lists, 199, 0.05, 9), **changes)
