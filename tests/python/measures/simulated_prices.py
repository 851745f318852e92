"""Items that simulated models recommend to names, couples and places, as the units that measures take."""

from __future__ import annotations

import numpy as np
from scipy import stats

from biasledger.measures.engine.design import Design
from biasledger.measures.prices import associations
from biasledger.measures.prices.items import ItemCounts

ITEMS = 360
SHARES = np.array([0.2, 0.5, 0.2, 0.1])
CATEGORY_SHARES = np.array([0.3, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01, 0.01])


def units_of(labels, strata, clusters, counts, n_groups=2) -> ItemCounts:
    """ItemCounts from anything that becomes arrays; counts (n_units, n_levels) become one block and one set."""
    labels, counts = np.asarray(labels, dtype=np.int8), np.asarray(counts, dtype=float)
    if counts.ndim == 2:
        counts = counts[:, np.newaxis, np.newaxis, :]

    def wide(values):
        return np.broadcast_to(np.asarray(values, dtype=np.int64), labels.shape).copy()

    return ItemCounts(Design(labels, wide(strata)), wide(clusters), counts, n_groups)


def tilted(tilts):
    """Shares of price levels moved by exponential tilts: (...) to (..., 4)."""
    weights = SHARES * np.exp(np.asarray(tilts)[..., np.newaxis] * np.arange(1, 5))
    return weights / weights.sum(axis=-1, keepdims=True)


def names(rng, *, n_names=44, name_effect=0.35, shift=0.0, n_sets=1, n_items=ITEMS) -> ItemCounts:
    """Names of two groups in two strata; a name's own tilt returns in every set, and label 1 is shifted as well."""
    labels = np.repeat([0, 1], n_names)
    strata = np.tile([0, 1], n_names)
    tilts = rng.normal(0, name_effect, labels.size) + shift * labels
    counts = rng.multinomial(n_items, tilted(np.tile(tilts[:, np.newaxis], n_sets)))
    return units_of(labels, strata, np.arange(labels.size), counts[:, np.newaxis])


def refusing(rng, *, n_names=20, shift=0.0, refused=0.1, refusals_differ=0.0, n_sets=1) -> ItemCounts:
    """Names as above, but label 1 is refused some of 18 answers of 20 items, and names differ in how many besides."""
    labels = np.repeat([0, 1], n_names)
    tilts = rng.normal(0, 0.35, labels.size) + shift * labels
    answered = 1 - refused * labels - rng.uniform(0, refusals_differ, labels.size)
    n_items = 20 * rng.binomial(18, np.tile(answered[:, np.newaxis], n_sets))
    counts = rng.multinomial(n_items, tilted(np.tile(tilts[:, np.newaxis], n_sets)))
    return units_of(labels, np.tile([0, 1], n_names), np.arange(labels.size), counts[:, np.newaxis])


def confounded(rng, *, delta=0.0, stratum=0.6, few=4, many=16, refused=0.0, name_effect=0.15) -> ItemCounts:
    """Names of label 1 mostly in the dearer of two strata, those of label 0 in the other; delta price levels inside both."""
    labels = np.repeat([0, 0, 1, 1], [many, few, few, many])
    strata = np.repeat([0, 1, 0, 1], [many, few, few, many])
    means = 1.8 + stratum * strata + delta * labels + rng.normal(0, name_effect, labels.size)
    dearer = np.clip((means - 1) / 3, 0, 1)
    shares = stats.binom.pmf(np.arange(4), 3, dearer[:, np.newaxis])
    counts = rng.multinomial(20 * rng.binomial(18, 1 - refused * labels), shares)
    return units_of(labels, strata, np.arange(labels.size), counts)


def couples(rng, *, sizes=(7, 5), first=0.0, second=0.0, interaction=0.0, word_effect=0.2) -> ItemCounts:
    """First words of two genders with two blocks, the second word's gender.

    A word's own effect tilts prices; both genders and their agreement move shares of items from level 2 to level 1.
    """
    labels = np.repeat([0, 1], sizes)
    # In block 1 the second word is of the gender of label 0: the couple is of one gender where label and block differ.
    is_same = np.column_stack([labels == 1, labels == 0])
    moved = first * labels[:, np.newaxis] + second * np.array([1, 0]) + interaction * is_same
    shares = tilted(np.repeat(rng.normal(0, word_effect, labels.size)[:, np.newaxis], 2, axis=1))
    shares = shares + moved[..., np.newaxis] * np.array([1, -1, 0, 0])
    counts = rng.multinomial(ITEMS, shares)
    return units_of(labels, 0, np.arange(labels.size), counts[:, :, np.newaxis])


def places(
    rng, *, n_words=27, n_templates=18, template_effect=0.3, shift=0.0, n_sets=1, shifted=3, n_items=20
) -> ItemCounts:
    """A unit a template and word; templates tilt prices, and one word is shifted."""
    labels = np.tile(np.arange(n_words), n_templates)
    templates = np.repeat(np.arange(n_templates), n_words)
    tilts = rng.normal(0, template_effect, n_templates)[templates] + shift * (labels == shifted)
    counts = rng.multinomial(n_items, tilted(np.tile(tilts[:, np.newaxis], n_sets)))
    return units_of(labels, templates, templates, counts[:, np.newaxis], n_words)


def category_units_of(labels, strata, counts, totals) -> associations.CategoryCounts:
    """ItemCounts from anything that becomes arrays; counts (n_units, n_categories) become one block."""
    labels, counts = np.asarray(labels, dtype=np.int8), np.asarray(counts, dtype=float)
    if counts.ndim == 2:
        counts = counts[:, np.newaxis]
    strata = np.broadcast_to(np.asarray(strata, dtype=np.int64), labels.shape).copy()
    totals = np.broadcast_to(np.asarray(totals, dtype=float), counts.shape[:2]).copy()
    return associations.CategoryCounts(Design(labels, strata), np.arange(labels.size), counts, totals)


def tastes(rng, *, n_names=22, name_effect=0.8, planted=0.0, n_items=ITEMS) -> associations.CategoryCounts:
    """Names' own tastes multiply the share of each category; label 1 gets the second category exp(planted) as often."""
    labels, strata = np.repeat([0, 1], n_names), np.tile([0, 1], n_names)
    effects = rng.normal(0, name_effect, (labels.size, CATEGORY_SHARES.size))
    effects[:, 1] += planted * labels
    shares = np.minimum(CATEGORY_SHARES * np.exp(effects), 1.0)
    return category_units_of(labels, strata, rng.binomial(n_items, shares), n_items)
