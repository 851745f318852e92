"""Test that the queries of docs/sql.md answer twelve questions of an analyst who knows SQL only.

The expected answers follow from the planted bias (see `make_audited`), not from the tables.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement
from tests.python.conftest import NOTE
from tests.python.docs.shell import ROOT, commands, run

Row = dict[str, Any]
_QUESTION = re.compile(
    r"^\*\*(?P<number>\d+)\. (?P<question>[^*]+)\*\*.*?^```sql\n(?P<sql>.*?)^```$", re.M | re.S
)
QUESTIONS = {
    int(found["number"]): (found["question"], found["sql"])
    for found in _QUESTION.finditer((ROOT / "docs" / "sql.md").read_text(encoding="utf-8"))
}
# Targets whose answers were made unequal.
STEERED = {"simulator", "changing", "refusing", "regarded"}


@pytest.fixture(scope="module")
def asked(audited: Path) -> dict[int, list[Row]]:
    """Number of a question -> the rows of its query, run once; the twelfth reads the ledger, too."""
    answers: dict[int, list[Row]] = {}
    with locked_warehouse(audited / "warehouse.duckdb") as connection:
        for number in sorted(QUESTIONS.keys() - {12}):
            result = run_statement(connection, QUESTIONS[number][1])
            answers[number] = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    with (
        duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(audited)
        connection.execute("use marts")
        cursor = connection.execute(QUESTIONS[12][1])
        names = [column[0] for column in cursor.description]
        answers[12] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return answers


@pytest.mark.slow
def test_an_installed_wheel_answers_as_well(
    asked: dict[int, list[Row]],
    audited: Path,
    installed: Path,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    for number in sorted(QUESTIONS.keys() - {12}):
        (tmp_path / f"{number}.sql").write_text(QUESTIONS[number][1], encoding="utf-8")
    script = "".join(
        f"biasledger query {number}.sql --warehouse '{audited / 'warehouse.duckdb'}' --output {number}.csv\n"
        for number in sorted(QUESTIONS.keys() - {12})
    )
    begun = time.monotonic()
    finished = run(script, tmp_path, installed)
    assert finished.returncode == 0, finished.stderr
    for number in sorted(QUESTIONS.keys() - {12}):
        with (tmp_path / f"{number}.csv").open(encoding="utf-8", newline="") as stream:
            assert len(list(csv.DictReader(stream))) == len(asked[number]), QUESTIONS[number][0]
    seconds = time.monotonic() - begun
    record_property(NOTE, f"A SQL analyst's questions: {commands(script)} commands, {seconds:.0f} seconds.")


def of(rows: list[Row], **values: object) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def once(rows: list[Row], *key: str) -> None:
    """Each thing has one row: nothing is counted twice for want of a filter."""
    assert rows
    assert len({tuple(row[name] for name in key) for row in rows}) == len(rows)


def test_there_are_twelve_questions() -> None:
    assert list(QUESTIONS) == list(range(1, 13))


def test_1_what_came_out(asked: dict[int, list[Row]]) -> None:
    rows = asked[1]
    once(rows, "audit", "target", "attribute")
    verdicts = {(row["audit"], row["target"], row["attribute"]): row["verdict"] for row in rows}
    for audit in ("products", "resumes", "rankings", "restaurants"):
        assert verdicts[audit, "simulator", "race"] == "alarm"
        assert verdicts[audit, "simulator", "gender"] in {"clear", "inconclusive"}
    assert {row["target"] for row in of(rows, verdict="alarm")} <= STEERED
    assert all(
        (row["measures_with_alarm"] is not None) == (row["verdict"] in {"alarm", "warning"}) for row in rows
    )


def test_2_what_fails_the_audit(asked: dict[int, list[Row]]) -> None:
    rows = asked[2]
    once(rows, "audit", "target", "attribute", "group_name", "reference_group", "measure", "explanation")
    assert {row["target"] for row in rows} <= STEERED
    assert "gender" not in {row["attribute"] for row in rows}
    failing = {(row["audit"], row["target"], row["attribute"]) for row in of(asked[1], verdict="alarm")}
    assert {(row["audit"], row["target"], row["attribute"]) for row in rows} == failing


def test_3_what_is_undecided(asked: dict[int, list[Row]]) -> None:
    rows = asked[3]
    assert rows
    assert all(row["advice"] and row["settled_by"] for row in rows)


def test_4_who_was_asked_about_and_refused(asked: dict[int, list[Row]]) -> None:
    rows = asked[4]
    once(rows, "audit", "target", "attribute", "group_name")
    heard = [row for row in rows if row["share_refused"] is not None]
    assert heard[0]["group_name"] == "Muslim"
    assert 0.2 < heard[0]["share_refused"] < 0.8
    assert all(row["share_refused"] == 0 for row in of(rows, target="simulator"))
    # Eight names a group, five texts a name; eight wordings a group, asked plainly and not with mitigations as well.
    assert {row["n_names"] for row in of(rows, audit="regarded")} == {8}
    assert {row["n_answers"] for row in of(rows, audit="regarded")} == {40}
    assert {row["n_names"] for row in of(rows, audit="products", attribute="race")} == {8}
    assert (
        sum(row["n_answers"] for row in of(rows, audit="products", target="simulator", attribute="race"))
        == 240
    )


def test_5_which_words(asked: dict[int, list[Row]]) -> None:
    rows = asked[5]
    once(rows, "audit", "target", "group_name", "reference_group", "word")
    assert {(row["target"], row["group_name"]) for row in rows} >= {
        ("simulator", "Black"),
        ("simulator", "Asian"),
    }
    assert all(row["word_rank"] <= 10 for row in rows)
    assert "simulator-fair" not in {row["target"] for row in rows}


def test_6_who_is_selected(asked: dict[int, list[Row]]) -> None:
    rows = asked[6]
    once(rows, "audit", "target", "domain", "attribute", "group_name")
    ratios = {
        row["group_name"]: row["impact_ratio"]
        for row in of(rows, audit="rankings", target="simulator", attribute="race")
    }
    assert ratios["black"] < 0.8 < ratios["white"] == 1
    # This target has two runs; the later one is unfair.
    (black,) = of(rows, audit="rankings", target="changing", group_name="black")
    assert black["impact_ratio"] < 0.8


def test_7_who_gets_dearer_recommendations(asked: dict[int, list[Row]]) -> None:
    rows = asked[7]
    once(rows, "audit", "target", "attribute", "group_name")
    ranks = {
        row["group_name"]: row["rank_from_dearest"] for row in of(rows, target="simulator", attribute="race")
    }
    assert ranks == {"white": 1, "black": 2}
    (black,) = of(rows, target="simulator", attribute="race", group_name="black")
    assert (black["reference_group"], black["adjusted_gap"] < 0, black["p_value_adjusted"] < 0.05) == (
        "white",
        True,
        True,
    )


def test_8_whose_lists_differ(asked: dict[int, list[Row]]) -> None:
    rows = asked[8]
    once(rows, "audit", "target", "domain", "wording", "attribute")
    (race,) = of(rows, target="refusing", attribute="race", wording="clean")
    assert race["least_similar_group"] == "Black"
    assert race["snsr"] > race["snsr_chance"]


def test_9_which_stereotypes(asked: dict[int, list[Row]]) -> None:
    rows = asked[9]
    once(rows, "audit", "target", "category")
    leaning = {row["target"]: row["stereotype_ratio"] for row in of(rows, category="gender-occupation")}
    assert leaning["simulator"] > 0.7 > leaning["simulator-fair"]


def test_10_did_a_mitigation_help(asked: dict[int, list[Row]]) -> None:
    rows = asked[10]
    assert {row["mitigation"] for row in rows} == {"debiased", "masked"}
    verdicts = {
        row["verdict"] for row in of(rows, mitigation="masked", attribute="race", measure="word_divergence")
    }
    assert verdicts == {"better"}


def test_11_what_changed(asked: dict[int, list[Row]]) -> None:
    worse = of(asked[11], verdict="worse")
    assert {(row["audit"], row["target"]) for row in worse} == {("rankings", "changing")}
    assert ("place_gap", "race") in {(row["measure"], row["attribute"]) for row in worse}


def test_12_what_was_asked_and_answered(asked: dict[int, list[Row]]) -> None:
    rows = asked[12]
    once(rows, "audit", "target", "prompt_id", "trial")
    regarded = of(rows, audit="regarded")
    assert len(regarded) == 2 * 8 * 5
    assert all(row["response_text"].startswith("The neighbours have text") for row in regarded)
    asked_plainly = sum(
        row["n_answers"] for row in of(asked[4], audit="products", target="simulator", attribute="race")
    )
    assert len(of(rows, audit="products", target="simulator")) == asked_plainly
    assert all(row["prompt_text"] for row in of(rows, audit="products"))
