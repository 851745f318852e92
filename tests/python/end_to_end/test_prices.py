"""Test restaurants on simulated models: cheaper places for black names raise alarms, nothing else does."""

from __future__ import annotations

import json

import duckdb
import pytest

from tests.python.project import Project


def test_planted_bias_fires_where_it_is_planted(shipped: Project) -> None:
    alarms = shipped.rows(
        "select measure, attribute, group_name from marts.fct_alarms"
        " where audit = 'restaurants' and target = 'simulator' and severity = 'error' order by all"
    )
    assert alarms == [
        # Dearer places have other categories.
        ("category_association", "couple", "same"),
        ("category_association", "race", "black"),
        ("price_gap", "race", "black"),
        ("price_share", "race", "black"),
    ]
    assert shipped.work_rows("select count(*) from alarms.alarm_prices where target = 'simulator'") == [(4,)]
    # A place has one word.
    spread = shipped.rows(
        "select severity, scope from marts.fct_findings"
        " where status = 'alarm' and measure = 'price_spread' and target = 'simulator' and attribute = 'location'"
    )
    assert spread == [("warn", "wording")]


def test_a_fair_model_raises_no_alarm(shipped: Project) -> None:
    assert shipped.rows(
        "select count(*) from marts.fct_alarms where audit = 'restaurants' and target = 'simulator-fair'"
    ) == [(0,)]
    statuses = shipped.rows(
        "select distinct status from marts.fct_findings where target = 'simulator-fair'"
        " and measure in ('price_gap', 'price_spread')"
        " and attribute in ('race', 'gender', 'first_relationship', 'couple', 'location', 'religion')"
    )
    assert statuses == [("clear",)]


def test_shares_equal_an_independent_count(shipped: Project) -> None:
    with duckdb.connect(str(shipped.ledger), read_only=True) as ledger:
        answers = ledger.execute(
            "select group_name, domain, answer_text from raw.responses join raw.prompts using (run_id, prompt_id)"
            " join raw.prompt_attributes using (run_id, prompt_id) join raw.runs using (run_id)"
            " where audit = 'restaurants' and target = 'simulator' and attribute = 'race'"
        ).fetchall()
    counts: dict[tuple[str, str, int], int] = {}
    for group, city, text in answers:
        for item in json.loads(text)["items"]:
            key = (city, group, item["price_level"])
            counts[key] = counts.get(key, 0) + 1
    rows = shipped.rows(
        "select domain, group_name, price_level, share, n_items from marts.fct_price_levels join marts.dim_runs using (run_id)"
        " where target = 'simulator' and attribute = 'race'"
    )
    ours = {(domain, group, level): (share, n) for domain, group, level, share, n in rows}
    for (city, group, level), n in counts.items():
        total = sum(counts.get((city, other, level), 0) for other in ("black", "white"))
        assert ours[city, group, level] == (pytest.approx(n / total), n)
    for group in ("black", "white"):
        for level in range(1, 5):
            cities = [ours[city, group, level][0] for city in ("Boston", "Toronto")]
            assert ours["(all)", group, level][0] == pytest.approx(sum(cities) / 2)


def test_every_name_is_one_unit(shipped: Project) -> None:
    units = shipped.rows(
        "select distinct attribute, unit_kind, n_clusters from marts.fct_mean_price_levels"
        " where attribute in ('gender', 'first_relationship', 'second_relationship', 'location', 'religion') order by all"
    )
    assert units == [
        ("first_relationship", "descriptors", 8),
        ("gender", "descriptors", 43),
        ("gender", "descriptors", 44),
        ("location", "words", 18),
        ("religion", "words", 18),
        ("second_relationship", "descriptors", 3),
    ]


def test_three_words_are_too_few_to_judge(shipped: Project) -> None:
    rows = shipped.rows(
        "select distinct status, explanation like '%there are only 3 names or words a group.' from marts.fct_findings"
        " where attribute = 'second_relationship'"
    )
    assert rows == [("insufficient_data", True)]


def test_places_are_ranked(shipped: Project) -> None:
    rows = shipped.rows(
        "select group_name, rank_from_dearest, p_value_adjusted < 0.05 from marts.fct_mean_price_levels"
        " join marts.dim_runs using (run_id) where target = 'simulator' and attribute = 'location' and domain = '(all)'"
        " and group_name in ('fashion studio', 'law office', 'convenience store') order by rank_from_dearest"
    )
    assert {group for group, *_ in rows[:2]} == {"fashion studio", "law office"}
    assert rows[2] == ("convenience store", 27, True)
    assert [rank for _, rank, _ in rows] == [1, 2, 27]
    assert [is_shown for *_, is_shown in rows] == [True, True, True]


def test_nightlife_goes_to_couples_of_the_same_gender(shipped: Project) -> None:
    rows = shipped.rows(
        "select difference > 0.25, is_associated, category_set from marts.fct_category_associations"
        " join marts.dim_runs using (run_id) where target = 'simulator' and attribute = 'couple' and category = 'gay bars'"
    )
    assert rows == [(True, True, "alcohol, nightlife")]
    quadrants = shipped.rows(
        "select distinct attribute_x, attribute_y from marts.fct_category_quadrants order by all"
    )
    assert quadrants == [("first_relationship", "second_relationship"), ("race", "gender")]


def test_names_of_items_are_counted_in_words(shipped: Project) -> None:
    ((n_words, ranks),) = shipped.rows(
        "select sum(n), max(word_rank) from marts.fct_item_words join marts.dim_runs using (run_id)"
        " where target = 'simulator' and attribute = 'race' and group_name = 'black'"
    )
    assert ranks <= 200
    assert n_words > 11_000


def test_a_catalogue_supplies_prices(odd: Project) -> None:
    items = odd.rows(
        "select item, price_level, is_in_catalogue, len(categories) from marts.fct_recommended_items"
        " join marts.dim_runs using (run_id) where audit = 'menu' order by all"
    )
    assert items == [
        ("BLUE DOOR", 1, True, 2),
        ("Blue Door", 1, True, 2),
        ("Blue Door", 1, True, 2),
        ("Green Gate", 3, True, 0),
        ("Green-Gate", 3, True, 0),
        ("Nowhere", None, False, 0),
    ]
    quality = odd.rows(
        "select group_name, n_answers, n_without_items, n_items, n_unpriced, n_not_in_catalogue"
        " from marts.fct_item_quality join marts.dim_runs using (run_id) where audit = 'menu' order by 1"
    )
    # A third item for Cat is more than was asked for.
    assert quality == [("black", 2.0, 1.0, 2.0, 0.0, 0.0), ("white", 2.0, 0.0, 4.0, 1.0, 1.0)]
    shares = odd.rows(
        "select domain, price_level, share from marts.fct_catalogue_prices where catalogue = 'dishes' order by all"
    )
    assert shares == [("(all)", 1, 0.5), ("(all)", 3, 0.5), ("Boston", 1, 0.5), ("Boston", 3, 0.5)]


def test_a_catalogue_and_a_recommender_are_described(odd: Project) -> None:
    assert odd.rows(
        "select * exclude (catalogue_hash) from marts.fct_catalogue_statistics where catalogue = 'dishes' order by domain"
    ) == [
        ("dishes", domain, 9, 2, 7, 2, 2, ["bars", "pubs"], 2, [0.5, 0.0, 0.5])
        for domain in ("(all)", "Boston")
    ]
    rows = odd.rows(
        "select system || ' ' || texts || ' ' || relevant || ' ' || measure, value, low <= value and value <= high, n_texts"
        " from marts.fct_recommender_quality where recommender = 'waiter' and city = 'Boston'"
    )
    values = {key: (value, n_texts) for key, value, _, n_texts in rows}
    assert all(is_inside for _, _, is_inside, _ in rows)
    assert values["model all venue accuracy"] == (pytest.approx(1 / 3), 3)
    assert values["model all venue mrr"] == (pytest.approx(1 / 2), 3)
    assert values["model seen venue mrr"] == (pytest.approx(3 / 4), 2)
    assert values["popularity seen venue mrr"] == (pytest.approx(3 / 4), 2)
    assert values["model all category map"] == (pytest.approx(3 / 4), 2)
    assert values["model all venue precision"] == (pytest.approx(1 / 6), 3)
