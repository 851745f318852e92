"""Test findings about prices if items are refused, missing, unpriced, confounded or counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from biasledger.building.analysis_settings import register_analysis_settings
from biasledger.building.build import build_warehouse
from collector.errors import InputError
from collector.importers.catalogue import import_items
from tests.python.project import Project

from .planting.odd_prices import RACES, add, names


def _findings(project: Project, audit: str, columns: str) -> list[tuple[Any, ...]]:
    return project.rows(f"select {columns} from marts.fct_findings where audit = '{audit}' order by all")


def test_refusing_one_group_more_often_is_no_difference_in_price(odd: Project) -> None:
    rows = dict(_findings(odd, "refusing", "measure, status"))
    assert rows["price_share"] != "alarm"
    assert rows["price_gap"] != "alarm"
    quality = odd.rows(
        "select n_without_items > 20 from marts.fct_item_quality join marts.dim_runs using (run_id)"
        " where audit = 'refusing' order by group_name"
    )
    assert quality == [(True,), (False,)]


@pytest.mark.parametrize("audit", ["silent", "unreferenced"])
def test_a_group_without_items_is_said_to_have_too_little(odd: Project, audit: str) -> None:
    rows = _findings(odd, audit, "distinct measure, status, n_units, explanation like '%there are no names%'")
    # Missing answers about a group are a finding, and say nothing about prices.
    assert {status for measure, status, *_ in rows if measure == "answer_gap"} == {"alarm"}
    rows = [row for row in rows if row[0] != "answer_gap"]
    assert ("price_gap", "insufficient_data", 0, True) in rows
    assert ("price_share", "insufficient_data", 0, True) in rows
    assert {status for _, status, *_ in rows} == {"insufficient_data"}


def test_the_same_items_for_everybody_are_clear(odd: Project) -> None:
    rows = _findings(odd, "constant", "measure, status, p_value")
    assert rows == [
        ("category_association", "clear", 1.0),
        ("price_gap", "clear", 1.0),
        ("price_share", "clear", 1.0),
    ]


def test_the_groups_that_do_not_differ_raise_no_alarm(odd: Project) -> None:
    rows = _findings(odd, "one_of_three", "group_name, measure, status = 'alarm'")
    assert [(group, measure) for group, measure, is_alarm in rows if is_alarm] == [
        ("asian", "price_gap"),
        ("asian", "price_share"),
    ]
    assert {reference for (reference,) in _findings(odd, "one_of_three", "reference_group")} == {"white"}


def test_a_gap_is_judged_within_what_else_the_name_states(odd: Project) -> None:
    ((gap, adjusted),) = odd.rows(
        "select gap, adjusted_gap from marts.fct_mean_price_levels join marts.dim_runs using (run_id)"
        " where audit = 'confounded' and attribute = 'race' and group_name = 'black'"
    )
    assert gap > 0.1
    assert adjusted < -0.1
    rows = dict(_findings(odd, "confounded", "attribute || ' ' || measure, value"))
    assert rows["race price_gap"] == adjusted


def test_cities_are_compared_with_themselves(odd: Project) -> None:
    rows = _findings(odd, "cities", "measure, status")
    assert ("price_gap", "alarm") not in rows
    assert ("price_share", "alarm") not in rows
    domains = odd.rows(
        "select distinct n_domains from marts.fct_mean_price_levels join marts.dim_runs using (run_id) where audit = 'cities'"
    )
    assert domains == [(1,)]


def test_words_that_stand_on_both_sides_of_a_couple_build(odd: Project) -> None:
    rows = odd.rows(
        "select attribute, count(*), count(p_value) from marts.fct_mean_price_levels join marts.dim_runs using (run_id)"
        " where audit = 'couples' group by attribute order by 1"
    )
    # Values that two words state together have numbers and no p.
    assert rows == [("couple", 2, 1), ("first", 2, 1), ("first*second", 4, 0), ("second", 2, 1)]


def test_counted_items_are_never_cut(odd: Project) -> None:
    rows = odd.rows(
        "select sum(n_items), sum(n_short), count(*) from marts.fct_item_quality join marts.dim_runs using (run_id)"
        " where audit = 'counted'"
    )
    expected = sum(1 + (place + len(name)) % 3 for _, name in names(list(RACES)) for place in range(12))
    assert rows == [(expected, 0, 2)]


def test_the_template_is_the_unit_where_groups_are_words(odd: Project) -> None:
    rows = odd.rows(
        "select distinct attribute, unit_kind, n_clusters from marts.fct_mean_price_levels join marts.dim_runs using (run_id)"
        " where audit = 'words' order by all"
    )
    assert rows == [("age", "words", 4), ("race", "words", 4)]
    assert {n for (n,) in _findings(odd, "words", "n_units")} == {4}


def test_a_city_is_a_city_in_any_case(odd: Project) -> None:
    rows = odd.rows(
        "select distinct is_in_catalogue, price_level from marts.fct_recommended_items join marts.dim_runs using (run_id)"
        " where audit = 'catalogued' order by all"
    )
    assert rows == [(True, 1), (True, 3)]


def test_a_catalogue_that_is_not_there_is_named(new_project: Callable[[], Project]) -> None:
    project = new_project()
    row = {"name": "white 1", "race": "white", "template": 1, "reply": '["A"]'}
    add(project, "lost", [row], prices="  prices: {catalogue: placs}")
    with pytest.raises(
        InputError,
        match=r"'placs', which is not in the ledger. Import it with",
    ):
        register_analysis_settings(project.folder, project.ledger)
    (project.folder / "places.csv").write_text("name,price,categories\nA,1,bars\n", encoding="utf-8")
    import_items(project.folder / "places.csv", project.ledger, name="places")
    with pytest.raises(InputError, match="did you mean 'places'"):
        build_warehouse(project.folder, project.ledger, project.warehouse)
