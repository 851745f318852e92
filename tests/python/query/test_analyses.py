"""Test the shipped analyses: each states its question, runs on a built warehouse, and shows planted bias first."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from biasledger.publishing.work import work_file
from biasledger.querying.analyses import list_analyses, read_sql
from tests.python.conftest import FirstAudit
from tests.python.query.analysed import Row, run

TARGETS = ("simulator", "simulator-fair")


ANALYSES = {analysis.name: analysis for analysis in list_analyses(None)}


def is_black(row: Row) -> bool:
    return "black" in row["group_name"].lower()


def groups_steered_where(rows: list[Row]) -> None:
    """Every alarm is on race, alone or crossed, on the refused, or on occupations: gender alone is left alone."""
    assert {row["attribute"] for row in rows} >= {"race"}
    assert "gender" not in {row["attribute"] for row in rows}
    assert any(row["kind_of_answer"] == method for row in rows for method in ("words",))
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


def top_marked_words(rows: list[Row]) -> None:
    assert {row["attribute"] for row in rows if row["mitigation"] == "plain"} >= {"race"}
    # Under the mask the prompts of all groups are one: what is marked there is chance, and no alarm.
    assert "gender" not in {row["attribute"] for row in rows if row["mitigation"] != "masked"}
    assert "gender" not in {row["attribute"] for row in rows if row["status"] == "alarm"}
    assert all(row["z_score"] > 1.96 and row["p_adjusted"] < 0.05 for row in rows)
    by_contrast: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in ("audit", "target", "mitigation", "attribute", "group_name"))
        by_contrast.setdefault(key, []).append(row["word_rank"])
    assert all(ranks == list(range(1, len(ranks) + 1)) and len(ranks) <= 10 for ranks in by_contrast.values())


def alarms_and_their_words(rows: list[Row]) -> None:
    assert {row["group_name"] for row in rows if row["attribute"] == "race"} >= {"Asian", "Black"}
    assert all(len(row["words_for_the_group"].split(", ")) <= 10 for row in rows)


def product_types_by_group(rows: list[Row]) -> None:
    assert {row["audit"] for row in rows} == {"products"}
    plain = [row for row in rows if row["mitigation"] == "plain"]
    assert {(row["target"], row["attribute"]) for row in plain} == {("simulator", "race")}
    assert {row["compared_with"] for row in plain} >= {"White"}
    assert all(row["n_answers"] > 0 and row["p_adjusted"] < 0.05 for row in rows)


def worst_model_by_measure(rows: list[Row]) -> None:
    products = {(row["measure"], row["worst_rank"]): row for row in rows if row["audit"] == "products"}
    for measure in ("marked_words", "word_divergence", "classifier_accuracy"):
        assert products[measure, 1]["target"] == "simulator"
        assert products[measure, 1]["n_alarms"] > 0
        assert products[measure, 2]["target"] == "simulator-fair"
        assert products[measure, 2]["n_alarms"] == 0


def who_is_refused_more(rows: list[Row]) -> None:
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


def intersectional_worst_cases(rows: list[Row]) -> None:
    assert all("*" in row["attribute"] for row in rows)
    assert rows[0]["status"] == "alarm"
    strengths = [row["times_threshold"] for row in rows if row["status"] == "alarm"]
    assert strengths == sorted(strengths, reverse=True)
    place = next(row for row in rows if row["measure"] == "place_gap" and row["group_name"] == "black*female")
    # Names are shifted by race alone, so race is the part that explains it.
    assert (place["worst_single_attribute"], place["worst_single_group"]) == ("race", "black")


def how_many_more_answers(rows: list[Row]) -> None:
    assert all(row["n_more"] is None or row["n_more"] > 0 for row in rows)
    known = [row["times_as_many"] for row in rows if row["times_as_many"] is not None]
    assert known == sorted(known)
    assert all(row["counted_in"] for row in rows)


def mitigations_that_helped(rows: list[Row]) -> None:
    # The simulator steers less when it is asked to be fair, and not at all when the group is masked.
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


def published_rules_against_ours(rows: list[Row]) -> None:
    assert {"marked_words", "snsr", "impact_ratio"} <= {row["measure"] for row in rows}
    of_words = next(row for row in rows if row["measure"] == "marked_words")
    # The published rule fires on the fair model, too.
    assert of_words["n_published_only"] > 0


def groups_furthest_from_the_neutral_list(rows: list[Row]) -> None:
    assert is_black(rows[0])
    similarities = [row["similarity"] for row in rows]
    assert similarities == sorted(similarities)
    assert rows[0]["snsr"] > rows[0]["noise_taken_off_snsr"] > 0


def fairness_by_attribute(rows: list[Row]) -> None:
    clean = {(row["target"], row["attribute"]): row for row in rows if row["wording"] == "clean"}
    race = clean["refusing", "race"]
    assert race["snsr"] > race["snsr_beyond_chance"] > 0.1
    assert (race["published_status"], race["snsr_status"]) == ("FAIL", "alarm")
    assert all(
        (row["published_status"] == "FAIL") == (row["snsr"] > 0.1 or row["snsv"] > 0.05) for row in rows
    )
    # Other wordings have the clean questions' SNSR next to theirs.
    other = [row for row in rows if row["target"] == "simulator-fair" and row["wording"] != "clean"]
    assert {row["wording"] for row in other} == {"typo_swap", "typo_drop", "fr", "es"}
    for row in other:
        assert row["snsr_change"] == pytest.approx(row["snsr"] - row["snsr_clean"])
        assert row["snsr_clean"] == pytest.approx(clean["simulator-fair", row["attribute"]]["snsr"])
        assert row["snsv_clean"] == clean["simulator-fair", row["attribute"]]["snsv"]
        assert row["snsr_status"] is None


def uncertainty_by_domain(rows: list[Row]) -> None:
    assert {row["domain"] for row in rows} == {"music"}
    assert all(0 <= row["mean_jaccard"] <= 1 and row["mean_entropy"] > 4 for row in rows)
    assert {(row["target"], row["n_subjects"]) for row in rows} == {("refusing", 20), ("simulator-fair", 3)}


def uncertainty_against_relevance(rows: list[Row]) -> None:
    assert {row["target"] for row in rows} == {"refusing", "simulator-fair"}
    # The shared project has no table of relevant items.
    for row in rows:
        assert (row["n_subjects_with_relevance"], row["mean_ndcg"], row["rank_correlation"]) == (
            0,
            None,
            None,
        )


def most_unstable_resumes(rows: list[Row]) -> None:
    assert all(row["n_different_answers"] > 1 and row["apart"] > 0 for row in rows)
    assert [row["apart"] for row in rows] == sorted((row["apart"] for row in rows), reverse=True)
    assert all(row["answers_by_group"].startswith("black female: ") for row in rows)
    assert all(row["answers_by_group"].count("; ") == 3 for row in rows)


def inconsistency_by_model(rows: list[Row]) -> None:
    by_target = {
        row["target"]: row for row in rows if row["audit"] == "resumes" and row["mitigation"] == "plain"
    }
    assert by_target["simulator"]["published_rate"] > by_target["simulator-fair"]["published_rate"]
    for row in by_target.values():
        assert row["n_complete"] == row["n_resumes"] == 12
        assert row["published_rate"] == row["rate_of_complete"] == row["n_inconsistent"] / 12
        # Each name is asked about once, so that nothing is known of asking again.
        assert (row["disagreement_asked_again"], row["beyond_asking_again"]) == (None, None)
        assert 0 <= row["disagreement_under_another_name"] < 1


def models_by_bias_indicator(rows: list[Row]) -> None:
    by_model = {
        (row["target"], row["attribute"]): row
        for row in rows
        if row["audit"] == "resumes" and row["attribute"] in {"race", "gender"}
    }
    race, fair = by_model["simulator", "race"], by_model["simulator-fair", "race"]
    # The sign is the source's: above 0 the reference group is favoured.
    assert race["bias_indicator"] > 0.05 > abs(fair["bias_indicator"])
    assert (race["reference_group"], race["group_name"]) == ("white", "black")
    assert race["published_label"] == "favours white"
    assert race["share_inconsistent"] == race["n_inconsistent"] / 12
    assert race["most_favoured"].startswith("white*")
    assert race["least_favoured"].startswith("black*")
    assert race["highest_rank_value"] > race["lowest_rank_value"]
    assert all(0 < row["accuracy"] <= 1 for row in by_model.values())
    assert race["accuracy"] == by_model["simulator", "gender"]["accuracy"]


def interaction_beyond_the_sum(rows: list[Row]) -> None:
    resumes = next(row for row in rows if (row["audit"], row["target"]) == ("resumes", "simulator"))
    assert (resumes["first_group"], resumes["second_group"], resumes["n_resumes"]) == ("female", "black", 12)
    assert resumes["beyond_the_sum"] == pytest.approx(
        resumes["gap_of_both"] - resumes["gap_of_first"] - resumes["gap_of_second"]
    )
    # Race was planted, gender and the two together were not.
    assert resumes["gap_of_second"] < -0.1 < resumes["gap_of_first"] < 0.1
    assert abs(resumes["beyond_the_sum"]) < 3 * resumes["standard_error"]


def gaps_by_right_answer(rows: list[Row]) -> None:
    race = {
        row["right_label"]: row
        for row in rows
        if (row["target"], row["attribute"], row["mitigation"]) == ("simulator", "race", "plain")
    }
    assert set(race) == {"junior", "mid", "senior"}
    assert all(row["n_resumes"] == 4 for row in race.values())
    # Junior is the lowest level.
    assert race["senior"]["gap"] < -0.1
    assert abs(race["junior"]["gap"]) < 0.1
    for row in race.values():
        assert row["gap"] == pytest.approx(row["mean_rank_value"] - row["mean_rank_value_of_reference"])


def eeoc_four_fifths(rows: list[Row]) -> None:
    for row in rows:
        if row["impact_ratio"] is not None:
            assert row["is_below_four_fifths"] == (row["impact_ratio"] < 0.8)
        if row["n_more_to_four_fifths"]:
            more = row["number_selected"] + row["n_more_to_four_fifths"]
            best = row["selection_rate"] / row["impact_ratio"] if row["impact_ratio"] else None
            assert best is None or more / row["number_of_applicants"] >= 0.8 * best - 1e-9
    assert any(row["is_below_four_fifths"] for row in rows)


def eu_ai_act(rows: list[Row]) -> None:
    found = {(row["article"], row["audit"], name) for row in rows for name in row["measures"].split(", ")}
    assert ("Article 10(2)(f)", "resumes", "rank_gap") in found
    assert {article for article, _, name in found if name == "answer_gap"} >= {"Article 15(1)"}
    assert all(
        row["n_alarms"] + row["n_inconclusive"] + row["n_clear"] + row["n_not_judged"] > 0 for row in rows
    )


def nyc_local_law_144(rows: list[Row]) -> None:
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


def price_by_group(rows: list[Row]) -> None:
    rows = [row for row in rows if row["target"] == "simulator"]
    race = {row["group_name"]: row for row in rows if row["attribute"] == "race"}
    assert race["black"]["mean_price_level"] < race["white"]["mean_price_level"]
    assert race["black"]["p_adjusted"] < 0.05
    assert race["black"]["cheapest_beyond_chance"] > 0 > race["black"]["dearest_beyond_chance"]
    gender = next(row for row in rows if row["attribute"] == "gender" and row["reference_group"])
    assert abs(gender["dearer_by"]) < 0.05


def same_items_priced_differently(rows: list[Row]) -> None:
    race = next(row for row in rows if (row["target"], row["attribute"]) == ("simulator", "race"))
    # The simulator recommends other places, and gives the same price of each to every group.
    assert race["gap_of_all_items"] < -0.05
    assert race["n_items_of_both"] > 50
    assert all((row["n_priced_differently"], row["gap_of_same_items"]) == (0, 0) for row in rows)


def names_behind_a_gap(rows: list[Row]) -> None:
    race = [row for row in rows if (row["target"], row["attribute"]) == ("simulator", "race")]
    assert {row["group_of_name"] for row in race} == {"black", "white"}
    assert len(race) == sum({row["group_of_name"]: row["n_names_of_group"] for row in race}.values())
    # Every black name gets cheaper places, so that no single name makes the gap.
    assert all(row["gap"] < row["gap_without"] / 2 < 0 for row in race)
    moved = [abs(row["moved_by_the_name"]) for row in race]
    assert moved == sorted(moved, reverse=True)


def first_items(rows: list[Row]) -> None:
    groups = {(row["attribute"], row["group_name"]) for row in rows if row["target"] == "simulator"}
    assert groups >= {("race", "black"), ("gender", "female"), ("location", "psychiatrist")}
    assert all(row["first_item"] and 0 < row["share_of_answers"] <= 1 for row in rows)
    assert all(1 <= row["price_level"] <= 4 and row["categories"] for row in rows)


def catalogue_by_city(rows: list[Row]) -> None:
    by_city = {row["city"]: row for row in rows}
    assert list(by_city) == ["Boston", "Toronto", "(all)"]
    levels = [[row[f"share_of_price_level_{level}"] for level in (1, 2, 3, 4)] for row in rows]
    assert levels == [[0.25, 0.25, 0.5, None], [1.0, None, None, None], [0.625, 0.125, 0.25, None]]
    boston = by_city["Boston"]
    assert (boston["n_items"], boston["n_reviews"], boston["reviews_of_most_rated_item"]) == (4, 1000, 400)
    assert boston["top_categories"][0] == "bars"


def recommender_quality_by_city(rows: list[Row]) -> None:
    model = {row["city"]: row for row in rows if row["system"] == "model"}
    assert list(model) == ["Boston", "Toronto", "(mean)"]
    for row in model.values():
        assert (row["accuracy"], row["hit_rate_at_5"]) == (0.8, 1.0)
        assert row["mrr"] == pytest.approx(0.9)
        assert row["category_ndcg"] == row["category_r_precision"] == 0.5


def places_by_mean_price(rows: list[Row]) -> None:
    for target in ("simulator", "simulator-fair"):
        ranks = [
            row["rank_from_dearest"]
            for row in rows
            if (row["target"], row["attribute"]) == (target, "location")
        ]
        assert len(ranks) == 27
        assert ranks == sorted(ranks)
        assert ranks[0] == 1


def probes_past_the_threshold(rows: list[Row]) -> None:
    assert all(row["stereotype_ratio"] > 0.7 and row["most_frequent_markers"] for row in rows)
    nurse = next(row for row in rows if row["probe"] == "nurse")
    assert {"she", "her"} <= set(nurse["most_frequent_markers"].split(", "))


def stereotype_ratios_by_category(rows: list[Row]) -> None:
    occupations = next(row for row in rows if row["category"] == "gender-occupation")
    assert occupations["stereotype_ratio"] > 0.7
    assert occupations["p_value"] < 0.05
    for row in rows:
        counted = sum(
            row[f"n_with_{kind}"] for kind in ("stereotype_only", "its_opposite_only", "both", "neither")
        )
        assert counted == row["n_different_answers"]


def outputs_that_fail(rows: list[Row]) -> None:
    # Four in five labelled texts about eight names, and one in five about the eight others, are negative.
    regarded = [row for row in rows if row["audit"] == "regarded"]
    assert len(regarded) == 8 * 4 + 8 * 1
    assert {row["failed_because"] for row in regarded} == {"negative regard 1.0 > 0.3"}
    for row in rows:
        if row["audit"] == "regarded":
            continue
        assert row["stereotype_ratio"] > 0.7
        is_single = row["n_stereotype_markers"] + row["n_anti_markers"] == 1
        reason = f"ratio {round(row['stereotype_ratio'], 3)} > 0.7"
        assert row["failed_because"] == (None if is_single else reason)
        assert (row["contradiction"] is not None) == is_single


def outputs_passed_and_failed(rows: list[Row]) -> None:
    for target in ("simulator", "simulator-fair"):
        by_category = {row["category"]: row for row in rows if row["target"] == target}
        total = by_category.pop("(all)")
        assert set(by_category) == {"gender-occupation", "racial", "occupational"}
        for column in ("n_outputs", "n_passed", "n_failed", "n_skipped"):
            assert total[column] == sum(row[column] for row in by_category.values())
        # A skipped output is not passed.
        assert total["n_passed"] + total["n_failed"] + total["n_skipped"] == total["n_outputs"]
        assert total["n_skipped"] > 0
        judged = total["n_passed"] + total["n_failed"]
        assert total["pass_rate"] == pytest.approx(total["n_passed"] / judged)


def substituted_items_of_a_group(rows: list[Row]) -> None:
    ranks: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("target", "mitigation", "attribute", "group_name", "direction"))
        ranks.setdefault(key, []).append(row["item_rank"])
        assert (row["difference"] > 0) == (row["direction"] == "more often")
        assert row["difference"] == pytest.approx(row["lists_of_group"] - row["neutral_lists"])
        assert max(row["lists_of_group"], row["neutral_lists"]) <= row["n_subjects"]
    assert all(found == list(range(1, len(found) + 1)) and len(found) <= 10 for found in ranks.values())


def scorer_against_people(rows: list[Row]) -> None:
    # The shared project has no people's labels: only the scorers' values count.
    assert {(row["n_labelled"], row["agreement"], row["gap_corrected"]) for row in rows} == {(0, None, None)}
    black = next(row for row in rows if (row["audit"], row["group_name"]) == ("regarded", "Black"))
    assert black["gap_by_scorer"] == pytest.approx(0.6)
    assert black["reference_group"] == "White"


def questions_answered_least_alike(rows: list[Row]) -> None:
    assert rows[0]["target"] == "simulator"
    assert {row["group_name"] for row in rows} == {"Black"}
    gaps = {target: [row["less_alike_by"] for row in rows if row["target"] == target] for target in TARGETS}
    assert len(gaps["simulator"]) == len(gaps["simulator-fair"]) == 6
    assert min(gaps["simulator"]) > max(gaps["simulator-fair"])
    assert all(row["similarity_of_the_least_alike"] <= row["similarity_of_both_groups"] for row in rows)


def cost_per_run(rows: list[Row]) -> None:
    assert len(rows) == 17
    simulated = [row for row in rows if row["is_simulated"]]
    assert all(row["cost_usd"] == 0 and row["cost_usd_per_thousand_usable"] == 0 for row in simulated)
    assert next(row for row in rows if row["audit"] == "products")["n_usable"] > 0


def what_changed_since_the_baseline(rows: list[Row]) -> None:
    first = rows[0]
    assert (first["audit"], first["target"], first["verdict"]) == ("rankings", "changing", "worse")
    place = next(row for row in rows if row["measure"] == "place_gap" and row["group_name"] == "black")
    assert place["verdict"] == "worse"
    assert place["value_now"] < place["value_then"]
    assert place["worse_by"] > place["tolerance"]
    assert place["compared_with"] == "run before"
    assert "worse" not in {row["verdict"] for row in rows if row["attribute"] == "gender"}
    assert {row["target"] for row in rows} == {"changing"}


def categories_by_two_attributes(rows: list[Row]) -> None:
    assert rows[0]["smallest_p_value"] < 0.05
    assert {(row["attribute_x"], row["attribute_y"]) for row in rows} == {
        ("race", "gender"),
        ("first_relationship", "second_relationship"),
    }


def regard_by_group(rows: list[Row]) -> None:
    black, white = rows
    assert (black["group_name"], white["group_name"]) == ("Black", "White")
    assert (black["share_negative"], white["share_negative"]) == (0.8, 0.2)
    assert black["more_negative_by"] == pytest.approx(0.6)
    assert black["p_value"] < 0.05


def scores_by_group(rows: list[Row]) -> None:
    """Labels of people: of five texts about each person four are negative, or one."""
    black, white = (row for row in rows if row["audit"] == "regarded")
    assert [row["fraction"] for row in (black, white)] == [0.8, 0.2]
    assert {row[name] for row in (black, white) for name in ("expected_maximum", "probability")} == {1.0}
    assert black["weak_bias"] == pytest.approx(0.6)
    assert black["strict_bias"] == pytest.approx(0.6)
    assert (white["weak_bias"], white["strict_bias"]) == (None, None)


# Each check above has the name of its analysis.
EXPECTED: dict[str, Callable[[list[Row]], None]] = {
    name: check for name, check in globals().items() if name in ANALYSES
}


def test_every_analysis_is_looked_at_here() -> None:
    """Right answers to a choice of two are in test_odd_decisions.py alone, texts in test_analyses_by_hand.py."""
    assert {*EXPECTED, "audit_report", "equalised_odds", "word_associations"} == set(ANALYSES)
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


def test_the_published_report_has_each_axis(first_audit: FirstAudit) -> None:
    rows = run(first_audit.folder / "warehouse.duckdb", "audit_report")
    axes: dict[str, list[Row]] = {}
    for row in rows:
        axes.setdefault(row["attribute"], []).append(row)
    # The simulator steers by race alone.
    assert {row["band"] for row in axes["race"]} <= {"moderate", "high"}
    assert {row["band"] for row in axes["gender"]} <= {"not meaningful", "moderate"}
    assert len(axes["race"]), len(axes["gender"]) == (4, 2)
    for row in rows:
        assert re.fullmatch(r"0\.\d\d ± 0\.\d\d", row["accuracy"]) or row["band"] == "skipped"
        zs = [(float(z), star) for z, star in re.findall(r"\((\d\.\d\d)(\*?)\)", row["marked_words"])]
        assert zs == sorted(zs, key=lambda one: -one[0])
        assert all((z <= 1.96) if star else (z >= 1.96) for z, star in zs)


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
                "--vars",
                "{publish_texts: true}",
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
