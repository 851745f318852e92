"""Items that are refused, missing, unpriced, confounded or counted: what is said of prices then."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from biasledger.build import build_warehouse
from biasledger.readings import register_readings
from collector.errors import InputError
from collector.items import import_items

from .conftest import Project

RACES = {"white": "w", "black": "b"}
SPEC = """
audit: {audit}
attributes:
{attributes}
answer: {{kind: items, k: {k}}}
reading:
  crossed: [{crossed}]
{prices}
import:
  columns: {{{columns}}}
"""
RACE = "  race: {reference: white, groups: [white, black]}"
RACE_AND_GENDER = RACE + "\n  gender: {reference: male, groups: [male, female]}"
THREE = "  race: {reference: white, groups: [white, black, asian]}"
REPLIES = "text: reply, template: template, carrier: name, attributes: {race: race}"
Row = dict[str, Any]


def _reply(draw: random.Random, weights: Sequence[float] = (2, 4, 3, 1), n: int = 10) -> str:
    levels = draw.choices([1, 2, 3, 4], weights, k=n)
    return json.dumps([{"name": f"Place {draw.randrange(60)}", "price_level": level} for level in levels])


def _names(groups: Sequence[str], n: int = 20) -> Iterator[tuple[str, str]]:
    for group in groups:
        for number in range(n):
            yield group, f"{group} {number}"


def _add(project: Project, audit: str, rows: Sequence[Row], **parts: Any) -> None:
    """Write an audit's spec and its file of answers, and import them."""
    spec = {"attributes": RACE, "k": 10, "crossed": "", "prices": "", "columns": REPLIES} | parts
    (project.folder / "audits" / f"{audit}.yml").write_text(
        SPEC.format(audit=audit, **spec), encoding="utf-8"
    )
    file = project.folder / f"{audit}.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    project.import_file(f"audits/{audit}.yml", file)


@pytest.fixture(scope="module")
def odd(new_project: Callable[[], Project]) -> Project:
    project = new_project()
    draw = random.Random(5)
    refusal = "I'm sorry, but I can't help with that."

    def rows(groups: Sequence[str], reply: Callable[[str, str, int], str], n: int = 20) -> list[Row]:
        return [
            {"name": name, "race": group, "template": template, "reply": reply(group, name, template)}
            for group, name in _names(groups, n)
            for template in range(8)
        ]

    # A quarter of the answers about black names is refused; prices are alike.
    _add(
        project,
        "refusing",
        rows(RACES, lambda group, *_: refusal if group == "black" and draw.random() < 0.25 else _reply(draw)),
    )
    # All of them are.
    _add(project, "silent", rows(RACES, lambda group, *_: refusal if group == "black" else _reply(draw)))
    _add(
        project,
        "unreferenced",
        rows(["white", "black", "asian"], lambda group, *_: refusal if group == "white" else _reply(draw)),
        attributes=THREE,
    )
    # Everybody gets the same.
    same = json.dumps(
        [
            {"name": "A", "price_level": 1, "categories": ["bars"]},
            {"name": "B", "price_level": 3, "categories": ["cafes"]},
        ]
    )
    _add(project, "constant", rows(RACES, lambda *_: same, n=100))
    # One group of three gets cheaper items.
    cheap, usual = (6, 3, 1, 0.2), (2, 4, 3, 1)
    _add(
        project,
        "one_of_three",
        rows(
            ["white", "black", "asian"], lambda group, *_: _reply(draw, cheap if group == "asian" else usual)
        ),
        attributes=THREE,
    )
    # Black names are mostly female, and female names get dearer items: within gender, black names get cheaper ones.
    confounded = []
    for race, name in _names(list(RACES), 40):
        number = int(name.split()[1])
        is_female = number < (32 if race == "black" else 8)
        weights = [5 - is_female * 3.0, 4, 2 + is_female * 2.0, 1 + is_female * 2.0]
        if race == "black":
            weights[0] += 1.5
        for template in range(8):
            row = {
                "name": name,
                "race": race,
                "gender": "female" if is_female else "male",
                "template": template,
            }
            confounded.append(row | {"reply": _reply(draw, weights)})
    _add(
        project,
        "confounded",
        confounded,
        attributes=RACE_AND_GENDER,
        crossed="race*gender",
        columns="text: reply, template: template, carrier: name, attributes: {race: race, gender: gender}",
    )
    # White names were asked in Boston alone, and Toronto is dearer.
    _add(
        project,
        "cities",
        [
            {"name": name, "race": race, "template": template, "city": city, "reply": _reply(draw, weights)}
            for race, name in _names(list(RACES))
            for city, weights in (("Boston", (4, 4, 1, 0.5)), ("Toronto", (1, 3, 4, 2)))
            if race == "black" or city == "Boston"
            for template in range(4)
        ],
        columns="text: reply, template: template, domain: city, carrier: name, attributes: {race: race}",
    )
    # The same words on both sides of a couple; they are shared by two attributes.
    first = {"male": ["brother", "uncle", "mate"], "female": ["sister", "aunt", "girlfriend"]}
    second = {"male": ["husband", "mate"], "female": ["wife", "girlfriend"]}
    _add(
        project,
        "couples",
        [
            {"first": one, "second": other, "template": template, "reply": _reply(draw)}
            for listed in first.values()
            for one in listed
            for others in second.values()
            for other in others
            for template in range(3)
        ],
        attributes=f"  first: {{reference: male, groups: {json.dumps(first)}}}\n"
        f"  second: {{reference: male, groups: {json.dumps(second)}}}",
        crossed="first*second",
        prices="  same: {couple: [first, second]}",
        columns="text: reply, template: template, attributes: {first: first, second: second}",
    )
    # Counted items, more rows a name than k.
    _add(
        project,
        "counted",
        [
            {
                "name": name,
                "race": race,
                "item": f"Place {place}",
                "price": 1 + place % 4,
                "n": 1 + (place + len(name)) % 3,
            }
            for race, name in _names(list(RACES))
            for place in range(12)
        ],
        k=5,
        columns="item: item, price: price, count: n, carrier: name, attributes: {race: race}",
    )
    # One word a group beside another attribute: the template is what counts.
    _add(
        project,
        "words",
        [
            {"race": race, "age": age, "template": template, "reply": _reply(draw)}
            for race in RACES
            for age in ("young", "old", "middle-aged")
            for template in range(4)
        ],
        attributes=RACE + "\n  age: {reference: young, groups: [young, old, middle-aged]}",
        columns="text: reply, template: template, attributes: {race: race, age: age}",
    )
    # Names from a catalogue that writes its city otherwise.
    (project.folder / "places.csv").write_text(
        "name,price,categories,city\nPlace 1,$,,BOSTON\nPlace 2,$$$,,BOSTON\n", encoding="utf-8"
    )
    import_items(project.folder / "places.csv", project.ledger, name="places")
    _add(
        project,
        "catalogued",
        [
            {
                "name": name,
                "race": race,
                "city": "Boston",
                "reply": json.dumps([f"PLACE {1 + (len(name) + place) % 2}" for place in range(4)]),
            }
            for race, name in _names(list(RACES))
        ],
        prices="  prices: {catalogue: places}",
        columns="text: reply, domain: city, carrier: name, attributes: {race: race}",
    )
    project.build()
    return project


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
    rows = _findings(
        odd, audit, "distinct measure, status, n_units, explanation like '%it rests on 0 names%'"
    )
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
    # What two words state together has numbers and no p.
    assert rows == [("couple", 2, 1), ("first", 2, 1), ("first*second", 4, 0), ("second", 2, 1)]


def test_counted_items_are_never_cut(odd: Project) -> None:
    rows = odd.rows(
        "select sum(n_items), sum(n_short), count(*) from marts.fct_item_quality join marts.dim_runs using (run_id)"
        " where audit = 'counted'"
    )
    expected = sum(1 + (place + len(name)) % 3 for _, name in _names(list(RACES)) for place in range(12))
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
    _add(project, "lost", [row], prices="  prices: {catalogue: placs}")
    with pytest.raises(
        InputError,
        match=r"'placs', which is not in the ledger. Import it with",
    ):
        register_readings(project.folder, project.ledger)
    (project.folder / "places.csv").write_text("name,price,categories\nA,1,bars\n", encoding="utf-8")
    import_items(project.folder / "places.csv", project.ledger, name="places")
    with pytest.raises(InputError, match="did you mean 'places'"):
        build_warehouse(project.folder, project.ledger, project.warehouse)
