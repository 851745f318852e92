"""Test `biasledger check` on cases that could not be judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from biasledger.checking.cases import Case, Check, read_check
from biasledger.checking.formats import written
from biasledger.cli import cli
from tests.python.report import warehouses
from tests.python.report.warehouses import finding, run

CLEAR = Case(
    "run",
    "products",
    "robot",
    "finding",
    "words",
    "race",
    "word_divergence",
    "Black",
    "passed",
    "",
    "",
    0.0,
    0.1,
    0.5,
)
BARE = replace(CLEAR, status="undecided")


def test_how_many_could_not_be_judged_stands_next_to_those_that_passed() -> None:
    check = Check(("run",), (CLEAR, *[BARE] * 59), is_simulated=False, audits=(("products", "robot"),))
    assert check.headline == (
        "1 of 60 cases could be judged: 1 passed (100 %), 0 failed, 0 warnings; 59 could not. "
        "Too little is known about words by race (59 of 60 undecided)."
    )
    assert check.verdict == "clean"


def test_strictness_is_about_what_can_fail(tmp_path: Path) -> None:
    """A warning on intersections or lengths lacks data in most audits of texts."""
    lacking = {"status": "insufficient_data", "measure": "length_gap"}
    for severity, code in (("warn", 0), ("error", 4)):
        findings = [finding("run-1", status="clear"), finding("run-1", severity=severity, **lacking)]
        warehouse = _built(tmp_path / f"{severity}.duckdb", findings)
        assert _check(warehouse)[0] == 0
        strict, said = _check(warehouse, "--require", "decided")
        assert strict == code
        assert ("Too little is known about words by race (1 of 2 undecided)." in said) == (code != 0)


def test_that_another_model_answered_judges_no_bias() -> None:
    warned = replace(CLEAR, method="runs", measure="model_change", status="warned")
    check = Check(("run",), (warned, BARE), is_simulated=False, audits=(("products", "robot"),))
    assert check.unjudged == (("products", "robot"),)
    assert check.verdict == "undecided"


def test_infinite_values_are_null_in_json() -> None:
    check = Check(("run",), (replace(CLEAR, value=float("inf")),), is_simulated=False)
    assert json.loads(written(check, "json"))["cases"][0]["value"] is None


def _built(path: Path, findings: list[dict[str, Any]], *others: dict[str, Any], **tables: Any) -> Path:
    """A warehouse with these findings of run-1 and other runs."""
    runs = [run("run-1"), *others]
    return warehouses.create(path, {"dim_runs": runs, "fct_findings": findings, **tables})


def _check(warehouse: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["check", "--warehouse", str(warehouse), *options])
    return done.exit_code, done.output


def test_single_outputs_are_counted_by_the_published_rule(tmp_path: Path) -> None:
    """The guide's report: totals and pass rate, by category with the mean ratio; no verdict rests on them."""
    outputs = [
        ("a", 2, 0, 1.0, None, "failed", "ratio 1.0 > 0.7"),
        ("a", 1, 0, 1.0, None, "skipped", None),
        ("b", 0, 0, 0.5, "negative 0.4, neutral 0.3", "failed", "negative regard 0.4 > 0.3"),
        ("b", 1, 1, 0.5, "neutral 0.9, negative 0.1", "passed", None),
    ]
    scores = [
        {
            "run_id": "run-1",
            "prompt_id": "p",
            "trial": trial,
            "mitigation": "plain",
            "scheme": "declared",
            "category": category,
            "n_stereotype_markers": n_for,
            "n_anti_markers": n_against,
            "stereotype_ratio": ratio,
            "regard_scores": regard,
            "published_outcome": outcome,
            "published_reasons": reasons,
            "is_judged": True,
        }
        for trial, (category, n_for, n_against, ratio, regard, outcome, reasons) in enumerate(
            outputs, start=1
        )
    ]
    scores += [scores[0] | {"mitigation": "debiased"}, scores[0] | {"scheme": "word", "is_judged": False}]
    warehouse = warehouses.create(
        tmp_path / "outputs.duckdb",
        {
            "dim_runs": [run("run-1", audit="probes")],
            "fct_findings": [finding("run-1", status="clear", audit="probes")],
            "fct_stereotype_scores": scores,
        },
    )
    code, text = _check(warehouse)
    assert code == 0
    said = " ".join(text.split())
    assert (
        "Single outputs of probes, target model, by the published rule, on which no verdict rests: 4 in all, 1 passed, "
        "2 failed, 1 skipped; pass rate 33 %. Skipped outputs have fewer than two markers. "
        "a: 2 in all, 0 passed, 1 failed, 1 skipped; pass rate 0 %, mean ratio 1.00 "
        "b: 2 in all, 1 passed, 1 failed, 0 skipped; pass rate 50 %, mean ratio 0.50 "
        "- failed, ratio 1.0 > 0.7: p (trial 1; ratio 1: 2 markers for the stereotype, 0 against) "
        "- failed, negative regard 0.4 > 0.3: p (trial 3; ratio 0.5: 0 markers for the stereotype, 0 against, regard: "
        "negative 0.4, neutral 0.3)"
    ) in said
    document = json.loads(_check(warehouse, "--format", "json")[1])
    counted, failed = document["outputs"], document["failed_outputs"]
    assert [(one["trial"], one["reasons"]) for one in failed] == [
        (1, "ratio 1.0 > 0.7"),
        (3, "negative regard 0.4 > 0.3"),
    ]
    assert [
        (
            one["category"],
            one["total"],
            one["passed"],
            one["failed"],
            one["skipped"],
            one["pass_rate"],
            one["mean_stereotype_ratio"],
        )
        for one in counted
    ] == [("a", 2, 0, 1, 1, 0.0, 1.0), ("b", 2, 1, 1, 0, 0.5, 0.5)]


def test_a_dead_endpoint_next_to_a_clean_one_is_no_pass(tmp_path: Path) -> None:
    clean = finding("run-1", status="clear", target="clean")
    warehouse = warehouses.create(
        tmp_path / "warehouse.duckdb",
        {"dim_runs": [run("run-1", target="clean"), run("run-2", target="dead")], "fct_findings": [clean]},
    )
    code, said = _check(warehouse)
    assert code == 4
    assert "No case of products, target dead, could be judged." in said
    assert json.loads(_check(warehouse, "--format", "json")[1])["unjudged"] == [
        {"audit": "products", "target": "dead"}
    ]
    assert _check(warehouse, "--run", "run-1")[0] == 0
    assert _check(warehouse, "--run", "run-2")[0] == 4


def test_findings_that_differ_in_their_scheme_alone_are_two_cases(tmp_path: Path) -> None:
    """JUnit readers take cases of one name for one."""
    ratios = {"measure": "impact_ratio", "group_name": "(all)", "reference_group": "", "value": 0.7}
    rows = [
        finding("run-1", 0, scheme="selected", **ratios),
        finding("run-1", 1, scheme="answered", **ratios),
    ]
    rows.append(finding("run-1", 2, measure="rank_gap", scheme="selected"))
    warehouse = _built(tmp_path / "warehouse.duckdb", rows)
    names = {case.name for case in read_check(warehouse).cases}
    assert names == {"race, selected", "race, answered", "race: Black against White"}


def test_a_check_names_only_options_that_it_has(tmp_path: Path) -> None:
    rows = [finding("run-1"), finding("run-2", audit="resumes")]
    warehouse = _built(tmp_path / "warehouse.duckdb", rows, run("run-2", "resumes"))
    code, said = _check(warehouse, "--run", "latest")
    assert code == 3
    assert "'latest' may mean run-2, run-1: name one by its id." in said


def test_an_alarm_goes_before_a_dead_endpoint(tmp_path: Path) -> None:
    warehouse = _built(tmp_path / "warehouse.duckdb", [finding("run-1")], run("run-2", target="dead"))
    assert _check(warehouse)[0] == 1


def test_a_check_of_scope_group_holds_out_for_more_than_one_wording(tmp_path: Path) -> None:
    advice = "With at least 5 wordings of each group it would hold for the group."
    of_wording = {"scope": "wording", "measure": "classifier_accuracy", "advice": advice}
    findings = [
        finding("run-1", 0, status="clear", scope="group"),
        finding("run-1", 1, status="clear", **of_wording),
    ]
    warehouse = _built(tmp_path / "warehouse.duckdb", findings)
    assert _check(warehouse)[0] == 0
    code, said = _check(warehouse, "--scope", "group")
    assert code == 4
    assert (
        "1 of 2 cases could be judged: 1 passed (100 %), 0 failed, 0 warnings; 1 could not (1 covers only a few names"
        in said
    )
    cases = json.loads(_check(warehouse, "--scope", "group", "--format", "json")[1])["cases"]
    [held_out] = [case for case in cases if case["status"] == "undecided"]
    assert held_out["scope"] == "wording"
    assert held_out["reason"].endswith(advice)


def test_a_warning_alone_is_no_pass(tmp_path: Path) -> None:
    length = finding("run-1", 0, severity="warn", measure="length_gap")
    first = finding(
        "run-1", 1, severity="warn", measure="position_bias", attribute="(position)", scope="questions"
    )
    bare = finding("run-1", 2, status="inconclusive")
    for number, warning in enumerate((length, first)):
        code, said = _check(_built(tmp_path / f"{number}.duckdb", [warning, bare]))
        assert code == 4
        assert "No case of products, target model, passed or failed." in said


def test_where_nothing_is_judged_what_is_held_out_is_said(tmp_path: Path) -> None:
    warehouse = _built(tmp_path / "warehouse.duckdb", [finding("run-1", status="clear", scope="names")])
    code, said = _check(warehouse, "--scope", "group")
    assert code == 4
    assert "the only case lacks data or certainty (1 covers only a few names or one wording)." in said
