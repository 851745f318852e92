"""Test the statistics of a recommender's training data by city."""

from __future__ import annotations

from lmrec.model import CatalogueRow
from lmrec.statistics import CatalogueStatistics, catalogue_statistics
from lmrec.yelp import Venue

ROWS = (
    CatalogueRow(Venue("1", "Uno", "Boston", 1, ("Restaurants", "Bars", "Thai")), 9, 7),
    CatalogueRow(Venue("2", "Duo", "Boston", 3, ("Food", "Thai")), 4, 4),
    CatalogueRow(Venue("3", "Tre", "Boston", None, ("Thai",)), 1, 1),
    CatalogueRow(Venue("4", "Quattro", None, None), 2, 0),
)


def test_a_city_has_a_row_and_all_of_them_one() -> None:
    whole, unnamed, boston = catalogue_statistics(ROWS)
    assert boston == CatalogueStatistics("Boston", 14, 3, 9, 4, 3, "thai; bars", 2, 0.5, 0.0, 0.5, 0.0)
    assert unnamed == CatalogueStatistics("", 2, 1, 2, 0, 0, "", 0, None, None, None, None)
    assert (whole.city, whole.n_reviews, whole.n_venues, whole.n_priced) == ("(all)", 16, 4, 2)


def test_one_city_is_not_repeated() -> None:
    assert [one.city for one in catalogue_statistics(ROWS[:2])] == ["Boston"]
