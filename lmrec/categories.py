"""Choose the categories of a venue that distinguish it from others."""

from __future__ import annotations

from lmrec.yelp import Venue

# Categories that nearly every venue of a kind has: two that share only these have nothing in common.
GENERAL_CATEGORIES = frozenset({"restaurants", "food"})


def distinct_categories(venue: Venue) -> set[str]:
    """Return a venue's categories in lower case, without those that nearly every venue has."""
    return {one.casefold() for one in venue.categories} - GENERAL_CATEGORIES
