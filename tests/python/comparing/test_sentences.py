"""Test the plain sentences of alarms: every measure has one, without jargon."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import jinja2
import pytest

from biasledger.checking.cases import Case, Check
from biasledger.checking.formats import written
from biasledger.checking.mitigations import mitigations_of, read_mitigations
from biasledger.checking.sentences import (
    in_units,
    name_of,
    people_of,
    plain_finding,
    plain_regression,
    worse_off,
)

ROOT = Path(__file__).parents[3]
SEEDS = ROOT / "seeds"


def _measures() -> list[tuple[str, str]]:
    with (SEEDS / "measures.csv").open(encoding="utf-8", newline="") as file:
        return [(row["measure"], row["method"]) for row in csv.DictReader(file)]


def _row(measure: str, **changed: object) -> dict[str, object]:
    return {
        "measure": measure,
        "target": "robot",
        "audit": "products",
        "mitigation": "plain",
        "attribute": "race",
        "group_name": "Black",
        "reference_group": "White",
        "group_in_words": "Black people",
        "reference_in_words": "White people",
        "subject": "music",
        "member": "",
        "value": -0.25,
        "baseline_value": -0.05,
        "worsening": 0.2,
        "p_value_adjusted": 0.0042,
        "scope": "group",
        "statement": "somebody gets 20.0 % of something",
        "caution": None,
        **changed,
    }


@pytest.mark.parametrize(("measure", "method"), _measures())
def test_every_measure_says_plainly_what_got_worse_and_has_suggestions(measure: str, method: str) -> None:
    said = plain_regression(_row(measure))
    assert said.startswith("robot, products: ")
    assert said.endswith("(p ≤ 0.0042).")
    assert not any(word in said for word in ("adjusted p", "JSD", "SNSR", "p-value", "None", "nan", "_"))
    suggestions = mitigations_of(read_mitigations(), measure, method)
    assert suggestions
    assert all(one.source for one in suggestions)


def test_what_helps_groups_is_not_suggested_where_none_are_compared() -> None:
    assert {one.measure for one in mitigations_of(read_mitigations(), "position_bias", "decisions")} == {
        "position_bias"
    }


def test_sizes_and_directions_are_in_units_that_anybody_reads() -> None:
    assert "went from 5.00 points to" not in plain_regression(_row("price_gap"))
    assert (
        "the gap in prices went from -0.05 price levels to -0.25 price levels, worse by 0.20 price levels"
        in (plain_regression(_row("price_gap")))
    )


@pytest.mark.parametrize(
    ("value", "factor", "unit", "is_read_as_percent", "said"),
    [
        (0.05, 100, " points", False, "5 points"),
        (0.01, 100, " points", False, "1 point"),
        (-0.01, 100, " points", False, "-1 points"),
        (0.223, 100, " %", True, "25 %"),
        (0.03, 100, " %", True, "3 %"),
        (0.095, 100, " %", True, "10 %"),
        (0.8, 1, None, False, "0.8"),
        (-1e-17, 1, " ranks", False, "0 ranks"),
        (9.996, 100, " points", False, "1000 points"),
    ],
)
def test_a_size_is_said_in_the_unit_that_people_read(
    value: float, factor: float, unit: str | None, is_read_as_percent: bool, said: str
) -> None:
    query = (
        "select {{ in_display_unit('value') }} from (select cast($value as double) as value, $factor as display_factor, "
        "cast($unit as varchar) as display_unit, $is_read_as_percent as is_read_as_percent)"
    )
    values = {"value": value, "factor": factor, "unit": unit, "is_read_as_percent": is_read_as_percent}
    assert _of_macros(query, **values) == [(said,)]


@pytest.mark.parametrize(
    ("n", "counted", "one", "said"),
    [
        (1, "answers", None, "1 answer"),
        (2, "answers", None, "2 answers"),
        (1, "questions to each group", None, "1 question to each group"),
        (1, "names or words a group", None, "1 name or word a group"),
        (1, "people a group", None, "1 person a group"),
        (1, "cases, people or names a group", None, "1 case, person or name a group"),
        (1, "prompts or answers about the smaller group", None, "1 prompt or answer about the smaller group"),
        (
            1,
            "prompts or conversations about the smaller group",
            None,
            "1 prompt or conversation about the smaller group",
        ),
        (1, "rankings of different candidates", None, "1 ranking of different candidates"),
        (1, "first words a group", None, "1 first word a group"),
        (1, "companies", "company", "1 company"),
        (3, "companies", "company", "3 companies"),
    ],
)
def test_one_of_a_kind_is_no_plural(n: int, counted: str, one: str | None, said: str) -> None:
    query = "select {{ counted_of('n', 'counted', 'one') }} from (select $n as n, $counted as counted, $one as one)"
    assert _of_macros(query.replace("$one", "cast($one as varchar)"), n=n, counted=counted, one=one) == [
        (said,)
    ]


def _of_macros(query: str, **values: object) -> list[tuple[object, ...]]:
    """The rows of a query that uses the macros of sentences."""
    macros = (ROOT / "macros/findings/phrases.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        return connection.execute(
            jinja2.Environment().from_string(macros + query).render(), values
        ).fetchall()


@pytest.mark.parametrize(
    ("attribute", "group", "said", "about"),
    [
        ("race", "Black", "Black people", "about Black people"),
        ("race*gender", "black*Woman", "black women", "about black women"),
        ("gender", "male", "men", "about men"),
        ("race", "Middle-Eastern", "Middle-Eastern people", "about Middle-Eastern people"),
        ("origin", "Türkisch", "people whose origin is Türkisch", "where origin is Türkisch"),
        (
            "country_of_birth*patron",
            "Poland*Staff",
            "people whose country of birth is Poland and whose patron is Staff",
            "where country of birth is Poland and patron is Staff",
        ),
        (
            "sex*country",
            "female*Poland",
            "women whose country is Poland",
            "about women whose country is Poland",
        ),
        ("colour", "Black", "people whose colour is Black", "where colour is Black"),
        ("race", "(neutral)", "nobody in particular", "about nobody in particular"),
        ("race", "(all)", None, None),
    ],
)
def test_groups_are_spoken_of_as_people_only_where_english_has_a_word(
    attribute: str, group: str, said: str | None, about: str | None
) -> None:
    query = "select {{ group_in_words('$attribute', '$group') }} as said, {{ about_group('said') }} as about"
    assert _of_macros(query, attribute=attribute, group=group) == [(said, about)]


def test_the_certainty_joins_the_brackets_of_a_statement() -> None:
    said = plain_finding(_row("impact_ratio", statement="a ratio of 0.3 (four fifths are required)"))
    assert said.endswith("a ratio of 0.3 (four fifths are required; p ≤ 0.0042).")
    words = plain_finding(_row("marked_words", statement="2 words appear more often (fine, good)"))
    assert words.endswith("2 words appear more often (fine, good) (p ≤ 0.0042).")
    counted = plain_finding(_row("model_change", statement="two models answered", p_value_adjusted=None))
    assert counted.endswith("two models answered.")


@pytest.mark.parametrize(
    ("p_value", "said"),
    [
        (0.0021978, "(p ≤ 0.0022)"),
        (0.00211, "(p ≤ 0.0022)"),
        (0.001, "(p ≤ 0.001)"),
        (0.0001999, "(p ≤ 0.0002)"),
        (0.09, "(p ≤ 0.09)"),
        (1e-9, "(p ≤ 1e-06)"),
    ],
)
def test_chance_never_looks_rarer_than_it_is(p_value: float, said: str) -> None:
    assert said in plain_finding(_row("snsr", p_value_adjusted=p_value))


def test_no_measure_speaks_of_what_only_a_shipped_audit_asks() -> None:
    with (SEEDS / "measures.csv").open(encoding="utf-8", newline="") as file:
        said = [
            row[column] for row in csv.DictReader(file) for column in ("scale", "label", "past", "statement")
        ]
    assert not any(word in text for text in said for word in ("resume", "junior", "senior"))


def test_names_of_cases() -> None:
    assert name_of(_row("rank_gap")) == "race: Black against White (music)"
    assert name_of(_row("snsr", group_name="(all)", subject="")) == "race"
    crossed = _row(
        "rank_gap", attribute="race*gender", group_name="Black*Man", reference_group="White*Man", subject=""
    )
    assert name_of(crossed) == "race gender: Black Man against White Man"
    ratio = _row(
        "stereotype_ratio", attribute="(markers)", group_name="(all)", subject="nurse", mitigation="debiased"
    )
    assert name_of(ratio) == "nurse, with debiased"


def test_what_a_model_wrote_cannot_command_terminals_or_break_xml() -> None:
    hostile = 'a\x1b[31m<script>&"\x00]]>'
    case = Case(
        run_id="run",
        audit="products",
        target="robot",
        kind="finding",
        method="words",
        category=hostile,
        measure="marked_words",
        name=hostile,
        status="failed",
        reason=hostile,
        sentence=hostile,
        value=1.0,
        threshold=1.0,
        p_value_adjusted=0.01,
    )
    check = Check(("run",), (case,), is_simulated=False)
    assert "\x1b" not in written(check, "text")
    [failure] = ElementTree.fromstring(written(check, "junit")).iter("failure")
    assert "<script>&" in failure.attrib["message"]


def test_the_worse_group_is_named_if_the_measure_has_a_direction() -> None:
    assert worse_off(_row("place_gap")) == "Black people"
    assert worse_off(_row("place_gap", value=0.3)) == "White people"
    assert worse_off(_row("stereotype_gap", value=0.3)) == "Black people"
    assert worse_off(_row("answer_gap", value=-0.3, reference_group="(others)")) == ""
    assert worse_off(_row("impact_ratio", reference_group="(best off)")) == "Black people"
    assert worse_off(_row("price_gap")) == ""
    of_before = _row("place_gap", group_name="black*Female", group_in_words=None)
    assert people_of(of_before, "group") == "black Female"
    assert [in_units(_row(measure)) for measure in ("place_gap", "accuracy_gap")] == [
        "-0.25 places",
        "-25.0 points",
    ]


def test_a_gap_of_logarithms_is_read_in_per_cent() -> None:
    assert in_units(_row("relative_gap", value=math.log(0.7))) == "-30.0 %"
    assert "went from 0.00 % to -30.0 %" in plain_regression(
        _row("relative_gap", baseline_value=0.0, value=math.log(0.7), worsening=-math.log(0.7))
    )
