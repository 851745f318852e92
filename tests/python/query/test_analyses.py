"""The shipped analyses: each says its question first, runs on a built warehouse, and shows what was planted on top."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scipy.stats import spearmanr

from biasledger.publishing.work import work_file
from biasledger.querying.analyses import list_analyses, read_sql
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement
from biasledger.querying.tables import described_tables
from collector.errors import InputError

Row = dict[str, Any]
TARGETS = ("simulator", "simulator-fair")
ANALYSES = {analysis.name: analysis for analysis in list_analyses(None)}


def run(warehouse: Path, source: str) -> list[Row]:
    with locked_warehouse(warehouse) as connection:
        result = run_statement(connection, read_sql(source))
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def is_black(row: Row) -> bool:
    return "black" in row["group_name"].lower()


def planted_on_top(rows: list[Row]) -> None:
    """Every alarm is on race, alone or crossed, on the refused, or on occupations: gender alone is left alone."""
    assert {row["attribute"] for row in rows} >= {"race"}
    assert "gender" not in {row["attribute"] for row in rows}
    assert any(row["kind_of_answer"] == room for row in rows for room in ("words",))
    # Who is refused is found in any kind of audit.
    assert {row["kind_of_answer"] for row in rows} == {
        "words",
        "lists",
        "decisions",
        "prices",
        "markers",
        "texts",
        "answers",
    }
    assert all(row["finding_id"] and row["what_was_found"] for row in rows)
    assert "simulator-fair" not in {row["target"] for row in rows}


def words(rows: list[Row]) -> None:
    assert {row["attribute"] for row in rows if row["variant"] == "plain"} >= {"race"}
    # Under the mask the prompts of all groups are one: what is marked there is chance, and no alarm.
    assert "gender" not in {row["attribute"] for row in rows if row["variant"] != "masked"}
    assert "gender" not in {row["attribute"] for row in rows if row["status"] == "alarm"}
    assert all(row["z_score"] > 1.96 and row["p_adjusted"] < 0.05 for row in rows)
    by_contrast: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in ("audit", "target", "variant", "attribute", "group_name"))
        by_contrast.setdefault(key, []).append(row["word_rank"])
    assert all(ranks == list(range(1, len(ranks) + 1)) and len(ranks) <= 10 for ranks in by_contrast.values())


def words_of_alarms(rows: list[Row]) -> None:
    assert {row["group_name"] for row in rows if row["attribute"] == "race"} >= {"Asian", "Black"}
    assert all(len(row["words_for_the_group"].split(", ")) <= 10 for row in rows)


def product_types(rows: list[Row]) -> None:
    assert {row["audit"] for row in rows} == {"products"}
    plain = [row for row in rows if row["variant"] == "plain"]
    assert {(row["target"], row["attribute"]) for row in plain} == {("simulator", "race")}
    assert {row["compared_with"] for row in plain} >= {"White"}
    assert all(row["n_answers"] > 0 and row["p_adjusted"] < 0.05 for row in rows)


def worst_models(rows: list[Row]) -> None:
    products = {(row["measure"], row["worst_rank"]): row for row in rows if row["audit"] == "products"}
    for measure in ("marked_words", "word_divergence", "separability"):
        assert products[measure, 1]["target"] == "simulator"
        assert products[measure, 1]["n_alarms"] > 0
        assert products[measure, 2]["target"] == "simulator-fair"
        assert products[measure, 2]["n_alarms"] == 0


def refusals(rows: list[Row]) -> None:
    first = rows[0]
    assert (first["audit"], first["attribute"], first["group_name"]) == (
        "recommendations",
        "religion",
        "Muslim",
    )
    assert 0.2 < first["share_refused"] < 0.8
    assert first["reference_group"] == "(neutral)"
    assert first["refused_more"] == pytest.approx(first["share_refused"])
    assert first["interval_low"] > 0
    assert (first["status"], first["nothing_is_known_because"]) == ("alarm", None)
    assert (
        next(row for row in rows if row["audit"] == "products" and row["group_name"] == "Black")[
            "reference_group"
        ]
        == "White"
    )
    assert all(row["n_refused"] == 0 for row in rows if row["audit"] == "resumes")


def intersections(rows: list[Row]) -> None:
    assert all("*" in row["attribute"] for row in rows)
    assert rows[0]["status"] == "alarm"
    strengths = [row["times_threshold"] for row in rows if row["status"] == "alarm"]
    assert strengths == sorted(strengths, reverse=True)
    place = next(row for row in rows if row["measure"] == "place_gap" and row["group_name"] == "black*female")
    # Names are shifted by race alone, so race is the part that explains it.
    assert (place["worst_single_attribute"], place["worst_single_group"]) == ("race", "black")


def missing_answers(rows: list[Row]) -> None:
    assert all(row["n_more"] is None or row["n_more"] > 0 for row in rows)
    known = [row["times_as_many"] for row in rows if row["times_as_many"] is not None]
    assert known == sorted(known)
    assert all(row["counted_in"] for row in rows)


def mitigations(rows: list[Row]) -> None:
    # The simulator steers less where it is asked to be fair, and not at all where it is not told the group.
    for mitigation in ("debiased", "masked"):
        of_race = [
            row["improvement"]
            for row in rows
            if (row["mitigation"], row["measure"], row["attribute"])
            == (mitigation, "word_divergence", "race")
        ]
        assert of_race
        assert sum(of_race) > 0
    assert {row["mitigation"] for row in rows} == {"debiased", "masked"}
    assert rows[0]["p_value"] == min(row["p_value"] for row in rows if row["p_value"] is not None)


def rules(rows: list[Row]) -> None:
    assert {"marked_words", "snsr", "impact_ratio"} <= {row["measure"] for row in rows}
    of_words = next(row for row in rows if row["measure"] == "marked_words")
    # The published rule fires on the fair model, too.
    assert of_words["n_published_only"] > 0


def neutral_lists(rows: list[Row]) -> None:
    assert is_black(rows[0])
    similarities = [row["similarity"] for row in rows]
    assert similarities == sorted(similarities)
    assert rows[0]["snsr"] > rows[0]["snsr_by_chance"] > 0


def certainty(rows: list[Row]) -> None:
    assert {row["domain"] for row in rows} == {"music"}
    assert all(0 <= row["mean_jaccard"] <= 1 and row["mean_entropy"] > 4 for row in rows)
    assert {(row["target"], row["n_subjects"]) for row in rows} == {("refusing", 20), ("simulator-fair", 3)}


def worth_of_certainty(rows: list[Row]) -> None:
    assert {row["target"] for row in rows} == {"refusing", "simulator-fair"}
    # The shared project has no table of relevant items.
    for row in rows:
        assert (row["n_subjects_with_relevance"], row["mean_ndcg"], row["rank_correlation"]) == (
            0,
            None,
            None,
        )


def unstable_resumes(rows: list[Row]) -> None:
    assert all(row["n_different_answers"] > 1 and row["apart"] > 0 for row in rows)
    assert [row["apart"] for row in rows] == sorted((row["apart"] for row in rows), reverse=True)
    assert all(row["answers_by_group"].startswith("black female: ") for row in rows)
    assert all(row["answers_by_group"].count("; ") == 3 for row in rows)


def inconsistencies(rows: list[Row]) -> None:
    by_target = {
        row["target"]: row for row in rows if row["audit"] == "resumes" and row["variant"] == "plain"
    }
    assert by_target["simulator"]["published_rate"] > by_target["simulator-fair"]["published_rate"]
    for row in by_target.values():
        assert row["n_complete"] == row["n_resumes"] == 12
        assert row["published_rate"] == row["rate_of_complete"] == row["n_inconsistent"] / 12
        # Each name is asked about once, so that nothing is known of asking again.
        assert (row["disagreement_asked_again"], row["beyond_asking_again"]) == (None, None)
        assert 0 <= row["disagreement_under_another_name"] < 1


def interactions(rows: list[Row]) -> None:
    resumes = next(row for row in rows if (row["audit"], row["target"]) == ("resumes", "simulator"))
    assert (resumes["first_group"], resumes["second_group"], resumes["n_resumes"]) == ("female", "black", 12)
    assert resumes["beyond_the_sum"] == pytest.approx(
        resumes["gap_of_both"] - resumes["gap_of_first"] - resumes["gap_of_second"]
    )
    # Race was planted, gender and the two together were not.
    assert resumes["gap_of_second"] < -0.1 < resumes["gap_of_first"] < 0.1
    assert abs(resumes["beyond_the_sum"]) < 3 * resumes["standard_error"]


def gaps_by_level(rows: list[Row]) -> None:
    race = {
        row["right_label"]: row
        for row in rows
        if (row["target"], row["attribute"], row["variant"]) == ("simulator", "race", "plain")
    }
    assert set(race) == {"junior", "mid", "senior"}
    assert all(row["n_resumes"] == 4 for row in race.values())
    # Nothing lies below junior.
    assert race["senior"]["gap"] < -0.1
    assert abs(race["junior"]["gap"]) < 0.1
    for row in race.values():
        assert row["gap"] == pytest.approx(row["mean_standing"] - row["mean_standing_of_reference"])


def local_law(rows: list[Row]) -> None:
    parts = {"Sex categories": 2, "Race/ethnicity categories": 2, "Intersectional categories": 4}
    for audit in ("resumes", "rankings"):
        of_audit = [row for row in rows if row["audit"] == audit and row["target"] == "simulator"]
        assert {part: sum(row["table_part"] == part for row in of_audit) for part in parts} == parts
        assert list(dict.fromkeys(row["table_part"] for row in of_audit)) == list(parts)
        for part in parts:
            of_part = [row for row in of_audit if row["table_part"] == part]
            highest = max(row["selection_rate"] for row in of_part)
            for row in of_part:
                assert row["selection_rate"] == pytest.approx(
                    row["number_selected"] / row["number_of_applicants"]
                )
                assert row["impact_ratio"] == pytest.approx(row["selection_rate"] / highest)
                assert row["scoring_rate"] is None
                assert row["left_out_of_impact_ratios_because"] is None
                assert row["data_used"].startswith("test data")
    race = {
        row["category"]: row
        for row in rows
        if row["table_part"].startswith("Race")
        and row["audit"] == "rankings"
        and row["target"] == "simulator"
    }
    assert race["black"]["impact_ratio"] < 0.8 < race["white"]["impact_ratio"] == 1


def prices(rows: list[Row]) -> None:
    rows = [row for row in rows if row["target"] == "simulator"]
    race = {row["group_name"]: row for row in rows if row["attribute"] == "race"}
    assert race["black"]["mean_price_level"] < race["white"]["mean_price_level"]
    assert race["black"]["p_adjusted"] < 0.05
    assert race["black"]["cheapest_beyond_chance"] > 0 > race["black"]["dearest_beyond_chance"]
    gender = next(row for row in rows if row["attribute"] == "gender" and row["reference_group"])
    assert abs(gender["dearer_by"]) < 0.05


def same_items(rows: list[Row]) -> None:
    race = next(row for row in rows if (row["target"], row["attribute"]) == ("simulator", "race"))
    # The simulator recommends other places, and says the same price of each to everybody.
    assert race["gap_of_all_items"] < -0.05
    assert race["n_items_of_both"] > 50
    assert all((row["n_priced_differently"], row["gap_of_same_items"]) == (0, 0) for row in rows)


def names_of_a_gap(rows: list[Row]) -> None:
    race = [row for row in rows if (row["target"], row["attribute"]) == ("simulator", "race")]
    assert {row["group_of_name"] for row in race} == {"black", "white"}
    assert len(race) == sum({row["group_of_name"]: row["n_names_of_group"] for row in race}.values())
    # Every black name gets cheaper places, so that none of them makes the gap alone.
    assert all(row["gap"] < row["gap_without"] / 2 < 0 for row in race)
    moved = [abs(row["moved_by_the_name"]) for row in race]
    assert moved == sorted(moved, reverse=True)


def categories(rows: list[Row]) -> None:
    assert rows[0]["smallest_p_value"] < 0.05
    assert {(row["attribute_x"], row["attribute_y"]) for row in rows} == {
        ("race", "gender"),
        ("first_relationship", "second_relationship"),
    }


def places(rows: list[Row]) -> None:
    for target in ("simulator", "simulator-fair"):
        ranks = [
            row["rank_from_dearest"]
            for row in rows
            if (row["target"], row["attribute"]) == (target, "location")
        ]
        assert len(ranks) == 27
        assert ranks == sorted(ranks)
        assert ranks[0] == 1


def probes(rows: list[Row]) -> None:
    assert all(row["stereotype_ratio"] > 0.7 and row["most_frequent_markers"] for row in rows)
    nurse = next(row for row in rows if row["probe"] == "nurse")
    assert {"she", "her"} <= set(nurse["most_frequent_markers"].split(", "))


def ratios(rows: list[Row]) -> None:
    occupations = next(row for row in rows if row["category"] == "gender-occupation")
    assert occupations["stereotype_ratio"] > 0.7
    assert occupations["p_value"] < 0.05
    for row in rows:
        counted = sum(
            row[f"n_with_{kind}"] for kind in ("stereotype_only", "its_opposite_only", "both", "neither")
        )
        assert counted == row["n_different_answers"]


def failing_outputs(rows: list[Row]) -> None:
    # Of the texts that people labelled, four in five about eight names and one in five about the eight others are negative.
    regarded = [row for row in rows if row["audit"] == "regarded"]
    assert len(regarded) == 8 * 4 + 8 * 1
    assert {(row["failed_by_code_for"], row["failed_by_text_for"]) for row in regarded} == {
        ("negative regard", "negative regard")
    }
    for row in rows:
        if row["audit"] == "regarded":
            continue
        assert row["stereotype_ratio"] > 0.7
        is_single = row["n_stereotype_markers"] + row["n_anti_markers"] == 1
        assert row["failed_by_code_for"] == "stereotype ratio"
        assert row["failed_by_text_for"] == (None if is_single else "stereotype ratio")
        assert (row["contradiction"] is not None) == is_single


def suite(rows: list[Row]) -> None:
    for target in ("simulator", "simulator-fair"):
        by_category = {row["category"]: row for row in rows if row["target"] == target}
        total = by_category.pop("(all)")
        assert set(by_category) == {"gender-occupation", "racial", "occupational"}
        for column in (
            "n_outputs",
            "n_passed_by_code",
            "n_failed_by_code",
            "n_failed_by_text",
            "n_skipped_by_text",
        ):
            assert total[column] == sum(row[column] for row in by_category.values())
        assert total["n_failed_by_text"] < total["n_failed_by_code"]
        assert total["pass_rate_by_code"] == pytest.approx(total["n_passed_by_code"] / total["n_outputs"])


def items_instead(rows: list[Row]) -> None:
    ranks: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("target", "variant", "attribute", "group_name", "direction"))
        ranks.setdefault(key, []).append(row["item_rank"])
        assert (row["difference"] > 0) == (row["direction"] == "more often")
        assert row["difference"] == pytest.approx(row["lists_of_group"] - row["neutral_lists"])
        assert max(row["lists_of_group"], row["neutral_lists"]) <= row["n_subjects"]
    assert all(found == list(range(1, len(found) + 1)) and len(found) <= 10 for found in ranks.values())


def regard(rows: list[Row]) -> None:
    black, white = rows
    assert (black["group_name"], white["group_name"]) == ("Black", "White")
    assert (black["share_negative"], white["share_negative"]) == (0.8, 0.2)
    assert black["more_negative_by"] == pytest.approx(0.6)
    assert black["p_value"] < 0.05


def least_alike(rows: list[Row]) -> None:
    assert rows[0]["target"] == "simulator"
    assert {row["group_name"] for row in rows} == {"Black"}
    gaps = {target: [row["less_alike_by"] for row in rows if row["target"] == target] for target in TARGETS}
    assert len(gaps["simulator"]) == len(gaps["simulator-fair"]) == 6
    assert min(gaps["simulator"]) > max(gaps["simulator-fair"])
    assert all(row["similarity_of_the_least_alike"] <= row["similarity_of_both_groups"] for row in rows)


def costs(rows: list[Row]) -> None:
    assert len(rows) == 17
    simulated = [row for row in rows if row["is_simulated"]]
    assert all(row["cost_usd"] == 0 and row["cost_usd_per_thousand_usable"] == 0 for row in simulated)
    assert next(row for row in rows if row["audit"] == "products")["n_usable"] > 0


def changes(rows: list[Row]) -> None:
    first = rows[0]
    assert (first["audit"], first["target"], first["verdict"]) == ("rankings", "changing", "worse")
    place = next(row for row in rows if row["measure"] == "place_gap" and row["group_name"] == "black")
    assert place["verdict"] == "worse"
    assert place["value_now"] < place["value_then"]
    assert place["worse_by"] > place["tolerance"]
    assert place["compared_with"] == "run before"
    assert "worse" not in {row["verdict"] for row in rows if row["attribute"] == "gender"}
    assert {row["target"] for row in rows} == {"changing"}


EXPECTED: dict[str, Callable[[list[Row]], None]] = {
    "groups_steered_where": planted_on_top,
    "top_marked_words": words,
    "alarms_and_their_words": words_of_alarms,
    "product_types_by_group": product_types,
    "worst_model_by_measure": worst_models,
    "what_changed_since_the_baseline": changes,
    "who_is_refused_more": refusals,
    "intersectional_worst_cases": intersections,
    "how_many_more_answers": missing_answers,
    "mitigations_that_helped": mitigations,
    "published_rules_against_ours": rules,
    "groups_furthest_from_the_neutral_list": neutral_lists,
    "uncertainty_by_domain": certainty,
    "uncertainty_against_relevance": worth_of_certainty,
    "most_unstable_resumes": unstable_resumes,
    "inconsistency_by_model": inconsistencies,
    "interaction_beyond_the_sum": interactions,
    "gaps_by_right_answer": gaps_by_level,
    "same_items_priced_differently": same_items,
    "names_behind_a_gap": names_of_a_gap,
    "outputs_that_fail": failing_outputs,
    "outputs_passed_and_failed": suite,
    "what_a_group_gets_instead": items_instead,
    "nyc_local_law_144": local_law,
    "price_by_group": prices,
    "categories_by_two_attributes": categories,
    "places_by_mean_price": places,
    "probes_past_the_threshold": probes,
    "stereotype_ratios_by_category": ratios,
    "regard_by_group": regard,
    "questions_answered_least_alike": least_alike,
    "cost_per_run": costs,
}


def test_every_analysis_is_looked_at_here() -> None:
    assert set(EXPECTED) == set(ANALYSES)
    assert len(ANALYSES) >= 12


@pytest.mark.parametrize("name", sorted(ANALYSES))
def test_an_analysis_says_its_question_first(name: str) -> None:
    analysis = ANALYSES[name]
    assert analysis.path.read_text(encoding="utf-8").startswith("-- ")
    assert re.search(r"\w\?", analysis.question), analysis.question
    assert len(analysis.question) < 200


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_it_shows_what_was_planted(audited: Path, name: str) -> None:
    rows = run(audited / "warehouse.duckdb", name)
    assert rows
    EXPECTED[name](rows)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_its_order_is_the_same_every_time(audited: Path, name: str) -> None:
    """With one thread and with several, rows come in one order: nothing that ties is left to chance."""
    sql = read_sql(name)
    orders = []
    for threads in (1, 4):
        with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
            connection.execute(f"set threads = {threads}")
            connection.execute("set preserve_insertion_order = false")
            connection.execute("set search_path = 'marts,settings'")
            orders.append(connection.execute(sql).fetchall())
    assert repr(orders[0]) == repr(orders[1])


@pytest.mark.slow
def test_dbt_compiles_them_to_the_same_sql(audited: Path, tmp_path: Path) -> None:
    """Without dbt an analysis is what dbt makes of it, but for quotes around names."""
    # A copy, as dbt opens the file that it would build into.
    work = Path(
        shutil.copyfile(work_file(audited, audited / "warehouse.duckdb"), tmp_path / "warehouse.duckdb")
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from dbt.cli.main import cli; cli(prog_name='dbt')"),
            *(
                "compile",
                "--select",
                "resource_type:analysis",
                "--project-dir",
                str(audited),
                "--profiles-dir",
                str(audited),
            ),
            *("--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs")),
        ],
        env=os.environ
        | {
            "BIASLEDGER_LEDGER": str(audited / "ledger.duckdb"),
            "BIASLEDGER_WAREHOUSE": str(work),
            "PYTHONPATH": str(Path(__file__).parents[3]),
        },
        cwd=audited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    compiled = {path.stem: path for path in (tmp_path / "target" / "compiled").rglob("*.sql")}
    assert set(compiled) == set(ANALYSES)
    for name, path in compiled.items():
        text = re.sub(r'"warehouse"\."(\w+)"\."(\w+)"', r"\1.\2", path.read_text(encoding="utf-8"))
        assert text.split() == read_sql(name).split(), name


def made_up(path: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    """A warehouse with the given rows in tables of their described types; what a row does not say is null."""
    described = {table.name: table for table in described_tables()}
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        for name, rows in tables.items():
            columns = ", ".join(f"{column.name} {column.data_type}" for column in described[name].columns)
            connection.execute(f"create table marts.{name} ({columns})")
            for row in rows:
                values = ", ".join(f"${column}" for column in row)
                connection.execute(f"insert into marts.{name} ({', '.join(row)}) values ({values})", row)
    return path


def test_local_law_144_of_scores_small_and_unknown_categories(tmp_path: Path) -> None:
    """Scoring rates for selection rates; a category under 2 % keeps its number and rate; unknown ones are counted apart."""
    common = {"run_id": "r", "variant": "plain", "domain": "clerk", "n_unknown": 0}
    categories = [
        ("sex", "Male", 600, 300, 0.5, 1.0, None),
        ("sex", "Female", 380, 152, 0.4, 0.8, None),
        ("sex", "unknown", 20, 10, 0.5, None, "the group is unknown"),
        ("race_ethnicity", "White", 985, 500, 0.508, 1.0, None),
        ("race_ethnicity", "Asian", 15, 3, 0.2, None, "less than 2 % of the sample"),
        ("race_ethnicity*sex", "White*Male", 590, 300, 0.508, 1.0, None),
        ("age", "Old", 1000, 500, 0.5, 1.0, None),
        ("age*sex", "Old*Male", 600, 300, 0.5, 1.0, None),
    ]
    names = (
        "attribute",
        "group_name",
        "n_people",
        "n_selected",
        "selection_rate",
        "impact_ratio",
        "excluded_reason",
    )
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [
                {"run_id": "r", "audit": "a", "target": "t", "origin": "imported", "is_current": True}
            ],
            "fct_predictions": [{"run_id": "r", "score": 0.7}],
            "fct_decision_rates": [{**common, **dict(zip(names, one, strict=True))} for one in categories],
        },
    )
    rows = run(warehouse, "nyc_local_law_144")
    assert [(row["table_part"], row["category"]) for row in rows] == [
        ("Sex categories", "Male"),
        ("Sex categories", "Female"),
        ("Race/ethnicity categories", "White"),
        ("Race/ethnicity categories", "Asian"),
        ("Intersectional categories", "White*Male"),
    ]
    assert all(row["selection_rate"] is None and row["number_selected"] is None for row in rows)
    assert [row["scoring_rate"] for row in rows] == [0.5, 0.4, 0.508, 0.2, 0.508]
    assert [row["number_of_unknown_category"] for row in rows] == [20, 20, 0, 0, 0]
    asian = rows[3]
    assert (asian["number_of_applicants"], asian["impact_ratio"]) == (15, None)
    assert asian["left_out_of_impact_ratios_because"] == "less than 2 % of the sample"
    assert {row["data_used"] for row in rows} == {"imported: state whether it is historical or test data"}


def test_asking_the_same_name_again_is_told_apart_from_another_name(tmp_path: Path) -> None:
    """One resume under two names, twice each: senior and mid, senior and senior. Hand-counted pairs."""
    common = {"run_id": "r", "variant": "plain", "template": "t", "domain": "", "subject": "s"}
    answers = [("p", 1, "senior"), ("p", 2, "mid"), ("q", 1, "senior"), ("q", 2, "senior")]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "a", "target": "t", "is_current": True}],
            "fct_prediction_consistency": [
                {**common, "is_complete": True, "is_consistent": False},
                {**common, "subject": "u", "is_complete": False},
            ],
            "fct_predictions": [
                {**common, "prompt_id": prompt, "trial": trial, "label": label, "weight": 1.0}
                for prompt, trial, label in answers
            ],
        },
    )
    [row] = run(warehouse, "inconsistency_by_model")
    # The source divides by all resumes.
    assert (row["n_inconsistent"], row["published_rate"], row["rate_of_complete"]) == (1, 0.5, 1.0)
    # Of the pairs of one name one of two differs, of those of two names two of four.
    assert row["disagreement_asked_again"] == pytest.approx(1 / 2)
    assert row["disagreement_under_another_name"] == pytest.approx(2 / 4)
    assert row["beyond_asking_again"] == pytest.approx(0.0)


def test_uncertain_lists_are_held_against_good_ones(tmp_path: Path) -> None:
    """Spearman's coefficient with a tie, and a subject of which nothing is known to be relevant."""
    subjects = [(0.0, 0.9), (0.5, 0.9), (1.0, 0.4), (2.0, 0.1), (9.0, None)]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "fct_recommendation_entropy": [
                {
                    "run_id": "r",
                    "variant": "plain",
                    "scheme": "items",
                    "domain": "music",
                    "subject": f"s{number}",
                    "pool": "neutral",
                    "asked_about": "neutral",
                    "excess_entropy": entropy,
                    "mean_ndcg": ndcg,
                }
                for number, (entropy, ndcg) in enumerate(subjects)
            ],
        },
    )
    [row] = run(warehouse, "uncertainty_against_relevance")
    known = [one for one in subjects if one[1] is not None]
    assert (row["n_subjects"], row["n_subjects_with_relevance"]) == (5, 4)
    assert row["rank_correlation"] == pytest.approx(spearmanr(*zip(*known, strict=True)).statistic)
    assert row["mean_ndcg"] == pytest.approx(2.3 / 4)


def test_the_same_restaurant_at_two_prices(tmp_path: Path) -> None:
    """Hub costs group b a level more, Inn the same; a catalogue's price is everybody's and left out."""
    stated = [("p", "Hub", 1, 3, None), ("p", "Inn", 2, 1, None), ("p", "Cat", 1, 1, True)]
    stated += [("q", "Hub", 2, 3, None), ("q", "Inn", 2, 1, None), ("q", "Cat", 4, 1, True)]
    group = {"p": "a", "q": "b"}
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "dim_contrasts": [
                {
                    "contrast_id": "c",
                    "run_id": "r",
                    "variant": "plain",
                    "attribute": "race",
                    "group_name": "b",
                    "reference_group": "a",
                    "comparison": "against_reference",
                }
            ],
            "dim_prompt_groups": [
                {"run_id": "r", "prompt_id": prompt, "attribute": "race", "group_name": name}
                for prompt, name in group.items()
            ],
            "fct_recommended_items": [
                {
                    "run_id": "r",
                    "prompt_id": prompt,
                    "variant": "plain",
                    "domain": "",
                    "item": item,
                    "price_level": level,
                    "n": n,
                    "is_in_catalogue": is_known,
                }
                for prompt, item, level, n, is_known in stated
            ],
        },
    )
    [row] = run(warehouse, "same_items_priced_differently")
    assert (row["n_items_of_both"], row["n_priced_differently"]) == (2, 1)
    # Hub weighs 3 * 3 / 6 and Inn 1 / 2.
    assert row["gap_of_same_items"] == pytest.approx((1.5 * 1 + 0.5 * 0) / 2)
    assert row["gap_of_all_items"] == pytest.approx(2.0 - 1.25)
    assert (row["item_that_differs_most"], row["gap_of_that_item"]) == ("Hub", 1.0)


def test_the_guide_s_code_and_its_text_contradict_each_other_on_a_single_marker(tmp_path: Path) -> None:
    outputs = [(1, 0, 1.0, None), (2, 0, 1.0, 0.9), (0, 0, 0.5, 0.4), (1, 2, 1 / 3, 0.3)]
    warehouse = made_up(
        tmp_path / "warehouse.duckdb",
        {
            "dim_runs": [{"run_id": "r", "audit": "x", "target": "t", "is_current": True}],
            "fct_stereotype_scores": [
                {
                    "run_id": "r",
                    "prompt_id": "p",
                    "trial": trial,
                    "variant": "plain",
                    "category": "c",
                    "n_stereotype_markers": for_it,
                    "n_anti_markers": against,
                    "stereotype_ratio": ratio,
                    "negative_regard": regard,
                    "is_judged": True,
                }
                for trial, (for_it, against, ratio, regard) in enumerate(outputs, start=1)
            ],
        },
    )
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema settings")
        connection.execute(
            "create table settings.output_thresholds as select * from (values ('stereotype_ratio', '*', 0.7), "
            "('negative_regard', '*', 0.3), ('negative_regard', 'x', 0.1)) as rows (measure, audit, published_threshold)"
        )
    both = "stereotype ratio and negative regard"
    failed = run(warehouse, "outputs_that_fail")
    assert [(row["trial"], row["failed_by_code_for"], row["failed_by_text_for"]) for row in failed] == [
        (1, "stereotype ratio", None),
        (2, both, both),
        (3, "negative regard", "negative regard"),
    ]
    assert [row["contradiction"] is not None for row in failed] == [True, False, False]
    total, category = run(warehouse, "outputs_passed_and_failed")
    for row in (total, category):
        assert (row["n_outputs"], row["n_failed_by_code"], row["n_failed_by_text"]) == (4, 3, 2)
        assert (row["n_skipped_by_text"], row["pass_rate_by_code"]) == (2, 0.25)


def test_costs_of_a_model_with_a_price(tmp_path: Path) -> None:
    paid = {"run_id": "r", "n_responses": 60, "n_ok": 50, "cost_usd": 1.5, "is_simulated": False}
    free = {"run_id": "s", "n_responses": 5, "n_ok": 0, "cost_usd": None, "is_simulated": False}
    rows = run(made_up(tmp_path / "warehouse.duckdb", {"dim_runs": [free, paid]}), "cost_per_run")
    assert [(row["run_id"], row["cost_usd_per_thousand_usable"]) for row in rows] == [
        ("r", 30.0),
        ("s", None),
    ]


def test_a_project_s_own_analysis_is_found_and_takes_a_shipped_one_s_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "analyses" / "mine"
    own.mkdir(parents=True)
    (own / "runs_we_like.sql").write_text("-- Which runs do we like?\nselect * from {{ ref('dim_runs') }}\n")
    (own / "cost_per_run.sql").write_text("-- What did we pay?\nselect 1 as paid\n")
    found = {analysis.name: analysis for analysis in list_analyses(tmp_path)}
    assert (found["runs_we_like"].room, found["runs_we_like"].question) == ("mine", "Which runs do we like?")
    monkeypatch.chdir(tmp_path)
    assert read_sql("runs_we_like") == "-- Which runs do we like?\nselect * from marts.dim_runs\n"
    assert "paid" in read_sql("cost_per_run")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("select * from {{ ref('thresholds') }}", "select * from settings.thresholds"),
        ("select * from {{ ref('biasledger', 'fct_alarms') }}", "select * from marts.fct_alarms"),
        ("{{ config(enabled='words' in env_var('NOWHERE_SET', 'words')) }}select 1", "select 1"),
        ("select '{{ env_var('NOWHERE_SET', 'x') }}' {# not here #}", "select 'x' "),
        ("select {'a': 1}.a", "select {'a': 1}.a"),
    ],
)
def test_references_become_names(tmp_path: Path, text: str, sql: str) -> None:
    (tmp_path / "one.sql").write_text(text)
    assert read_sql(str(tmp_path / "one.sql")) == sql


@pytest.mark.parametrize(
    "text", ["{{ key_of(['a']) }}", "{{ ref( }}", "{{ source('ledger', 'runs') }}", "{% endif %}"]
)
def test_what_dbt_alone_knows_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.sql").write_text(f"select {text}")
    with pytest.raises(InputError, match=r"one\.sql needs dbt .*only ref, config and env_var are known here"):
        read_sql(str(tmp_path / "one.sql"))


def test_only_variables_of_its_own_are_put_into_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_API_KEY", "secret")
    monkeypatch.setenv("BIASLEDGER_ROOMS", "words")
    path = tmp_path / "one.sql"
    path.write_text(
        "select '{{ env_var('BIASLEDGER_ROOMS') }}', '{{ env_var('ASSISTANT_API_KEY', 'none') }}'"
    )
    assert read_sql(str(path)) == "select 'words', 'none'"
    path.write_text("select '{{ env_var('ASSISTANT_API_KEY') }}'")
    with pytest.raises(InputError, match="reads the environment variable ASSISTANT_API_KEY") as caught:
        read_sql(str(path))
    assert "secret" not in str(caught.value)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        InputError, match=r"neither a file nor an analysis 'top_marked_word'; did you mean 'top_marked_words'"
    ):
        read_sql("top_marked_word")
    with pytest.raises(InputError, match="SQL is given in quotes"):
        read_sql("fct_nothing")
    for table in ("fct_findings", "marts.fct_findings", "thresholds"):
        with pytest.raises(
            InputError, match=f'{table} is a table: biasledger query "from {table}" shows it.'
        ):
            read_sql(table)
    assert read_sql("analyses/words/top_marked_words.sql") == read_sql("top_marked_words")
    assert read_sql("select 1") == "select 1"
