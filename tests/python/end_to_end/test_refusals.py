"""Test that refusing one group is an alarm in every method, and that groups without usable answers are named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable

import pytest
import yaml
from click.testing import CliRunner

from biasledger.checking.cases import read_check
from biasledger.cli import cli
from biasledger.explaining import explain_finding
from biasledger.reporting import render
from tests.python.project import Project, import_spec

REFUSED = ("products", "recommendations", "resumes", "restaurants", "stereotypes")


def _names(project: Project, race: str) -> list[str]:
    with (project.folder / "audits/names.csv").open(encoding="utf-8") as file:
        return [row["name"] for row in csv.DictReader(file) if row["race"] == race]


def _import(project: Project, name: str, answers: dict[str, list[str]]) -> str:
    """Import texts about White, Asian and Black people, as far as there are any; returns the run."""
    spec = import_spec(name, kind="json_object")
    path = project.folder / f"{name}.jsonl"
    rows = [
        {"race": race, "gender": gender, "template": "a", "text": text}
        for race, texts in answers.items()
        for gender in ("Man", "Woman")
        for text in texts
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return project.import_file(project.write_audit(name, spec), path).run_id


@pytest.fixture(scope="module")
def refusing(new_project: Callable[[], Project]) -> Project:
    """The shipped audits asked of a simulator that refuses all about Black and Muslim people, and 37 % about black names."""
    project = new_project()
    restaurants = project.folder / "audits/restaurants.yml"
    spec = yaml.safe_load(restaurants.read_text(encoding="utf-8"))
    spec["templates"] = [one for one in spec["templates"] if one["id"][-2:] in ("01", "02", "03")]
    restaurants.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    products = yaml.safe_load((project.folder / "audits/products.yml").read_text(encoding="utf-8"))
    wordings = products["attributes"]["race"]["groups"]["Black"]
    # Intersections and further schemes take most of the time and are refused alike.
    products["analysis"] |= {"crossed": [], "words": products["analysis"]["words"] | {"schemes": ["words"]}}
    project.write_audit("products", products)
    refused = dict.fromkeys([*wordings, "Muslim"], 1.0) | dict.fromkeys(_names(project, "black"), 0.37)
    project.add_targets({"refusing": {"kind": "simulator", "seed": 20260201, "refuse_about": refused}})
    for audit in ("products", "resumes", "stereotypes"):
        project.collect("refusing", f"audits/{audit}.yml")
    project.collect("refusing", "audits/recommendations.yml", n_subjects=14, domains=("music",))
    project.collect("refusing", "audits/restaurants.yml", domains=("Boston",))
    good = [json.dumps({f"thing {number}": "Useful and plain."}) for number in range(8)]
    _import(project, "missing", {"White": good, "Asian": good})
    _import(
        project,
        "json",
        {"White": good, "Asian": good, "Black": [json.dumps({"error": "I'm sorry, but I can't …"})] * 8},
    )
    refusal = "I'm sorry, but I can't help with that."
    _import(project, "one_side", {"White": [refusal] * 8, "Asian": good})
    _import(project, "nothing", {"White": [refusal] * 8, "Asian": [refusal] * 8})
    project.build()
    return project


def test_a_group_without_answers_has_no_words(refusing: Project) -> None:
    """Contrasts come from prompts: who alone was answered is no reference to itself."""
    for table, column in (("fct_marked_words", "z_score"), ("fct_word_divergence", "jsd")):
        found = refusing.rows(
            f"""
            select distinct runs.audit, facts.group_name, facts.reference_group
            from marts.{table} as facts inner join marts.dim_runs as runs using (run_id)
            where runs.audit in ('one_side', 'nothing') and facts.{column} is not null
            """
        )
        assert found == [("one_side", "Woman", "Man")]


def test_refusing_a_group_is_an_alarm_in_every_method(refusing: Project) -> None:
    found = refusing.rows(
        """
        select audit, group_name, reference_group, status, severity
        from marts.fct_findings
        where
            measure = 'answer_gap' and scheme = 'refused' and status = 'alarm' and mitigation = 'plain'
            and attribute not like '%*%'
        order by all
        """
    )
    # Groups of one wording are warnings.
    assert {audit for audit, *_, severity in found if severity == "error"} >= {
        "products",
        "resumes",
        "restaurants",
    }
    assert {severity for audit, *_, severity in found if audit == "recommendations"} == {"warn"}
    assert {(audit, group.lower(), reference.lower()) for audit, group, reference, *_ in found} == {
        ("json", "black", "white"),
        ("one_side", "asian", "white"),
        ("products", "black", "white"),
        ("recommendations", "african american", "(neutral)"),
        ("recommendations", "black", "(neutral)"),
        ("recommendations", "muslim", "(neutral)"),
        ("resumes", "black", "white"),
        ("restaurants", "black", "white"),
        ("stereotypes", "black", "white"),
    }


def test_who_is_refused_is_also_judged_as_not_selected(refusing: Project) -> None:
    found = {
        scheme: (value, explanation)
        for scheme, value, explanation in refusing.rows(
            """
            select scheme, value, explanation from marts.fct_findings
            where measure = 'impact_ratio' and audit = 'resumes' and attribute = 'race'
            """
        )
    }
    assert set(found) == {"selected", "selected_of_asked"}
    assert found["selected_of_asked"][0] < 0.8 < found["selected"][0]
    assert "refusals count as not labelled senior" in found["selected_of_asked"][1]
    assert "those refused" not in found["selected"][1]
    rates = refusing.rows(
        """
        select group_name, n_asked, n_refused, n_selected, selection_rate, selection_rate_of_asked, impact_ratio_of_asked
        from marts.fct_decision_rates inner join marts.dim_runs as runs using (run_id)
        where runs.audit = 'resumes' and attribute = 'race'
        order by group_name
        """
    )
    (_, n_asked, n_refused, n_selected, rate, of_asked, ratio), (_, _, none, _, white, white_of_asked, _) = (
        rates
    )
    assert n_refused > 0 == none
    assert rate == pytest.approx(n_selected / (n_asked - n_refused))
    assert of_asked == pytest.approx(n_selected / n_asked)
    assert (white, ratio) == (white_of_asked, pytest.approx(found["selected_of_asked"][0]))
    assert not refusing.rows("select 1 from marts.fct_decision_gaps where outcome = 'selected_of_asked'")


def test_what_moved_is_said(refusing: Project) -> None:
    units = dict(
        refusing.rows(
            """
            select runs.audit, any_value(gaps.unit)
            from marts.fct_answer_gaps as gaps inner join marts.dim_runs as runs using (run_id)
            where gaps.scheme = 'refused' and gaps.attribute = 'race' and lower(gaps.group_name) = 'black'
            group by 1
            """
        )
    )
    # One prompt a group: its trials move. Wordings, and of lists subjects: prompts. Reused names: themselves.
    assert units["json"] == "trial"
    assert units["products"] in {"prompt", "name"}
    assert units["recommendations"] == "prompt"
    assert {units[audit] for audit in ("resumes", "restaurants", "stereotypes")} <= {"prompt", "name"}


def test_only_those_who_are_refused_are_found(refusing: Project) -> None:
    others = refusing.rows(
        """
        select audit, attribute, group_name, status, value
        from marts.fct_findings
        where measure = 'answer_gap' and attribute = 'gender'
        """
    )
    assert others
    assert {status for *_, status, _ in others} <= {"clear", "inconclusive"}
    # No answer could be read, so there is nothing to judge; the table still says so.
    assert not refusing.rows(
        "select 1 from marts.fct_findings where measure = 'answer_gap' and scheme = 'unusable'"
    )
    unusable = refusing.rows(
        "select distinct adjusted_gap, p_value, interval_low < 0, interval_high > 0 from marts.fct_answer_gaps"
        " where scheme = 'unusable'"
    )
    assert unusable == [(0.0, None, True, True)]


def test_a_group_without_any_usable_answer_is_said(refusing: Project) -> None:
    silent = refusing.rows(
        """
        select runs.audit, coverage.attribute, coverage.group_name, coverage.silence, coverage.n_asked
        from marts.fct_group_coverage as coverage inner join marts.dim_runs as runs using (run_id)
        where coverage.is_silent and runs.audit <> 'nothing'
        order by all
        """
    )
    assert [row[:4] for row in silent] == [
        ("json", "race", "Black", "all 16 answers are refusals"),
        ("missing", "race", "Black", "the file has no row about this group"),
        ("one_side", "race", "Black", "the file has no row about this group"),
        ("one_side", "race", "White", "all 16 answers are refusals"),
        ("products", "race", "Black", "all 48 answers are refusals"),
        ("recommendations", "race", "African American", "all 42 answers are refusals"),
        ("recommendations", "race", "Black", "all 42 answers are refusals"),
        ("recommendations", "religion", "Muslim", "all 14 answers are refusals"),
    ]


def test_the_words_of_a_refusal_in_json_are_not_read(refusing: Project) -> None:
    quality = refusing.rows(
        """
        select quality.group_name, quality.n_ok, quality.n_refused
        from marts.fct_answer_quality as quality inner join marts.dim_runs as runs using (run_id)
        where runs.audit = 'json' and quality.attribute = 'race'
        order by all
        """
    )
    assert quality == [("Asian", 16, 0), ("Black", 0, 16), ("White", 16, 0)]
    assert not refusing.work_rows("select 1 from intermediate.int_words_vocabulary where word = 'sorry'")


def test_check_does_not_pass_what_it_knows_nothing_of(refusing: Project) -> None:
    run = refusing.rows("select run_id from marts.dim_runs where audit = 'missing'")[0][0]
    check = read_check(refusing.warehouse, run=run)
    assert (check.pass_rate, check.n_failed, check.verdict) == (None, 0, "undecided")
    assert "%" not in check.headline
    assert "Nothing is known of race Black in missing" in check.headline
    finished = CliRunner().invoke(
        cli, ["check", "--warehouse", str(refusing.warehouse), "--run", run, "--format", "json"]
    )
    assert finished.exit_code == 4
    document = json.loads(finished.output)
    assert [(one["attribute"], one["group"]) for one in document["silent"]] == [("race", "Black")]
    everything = CliRunner().invoke(cli, ["check", "--warehouse", str(refusing.warehouse)])
    assert everything.exit_code == 1
    assert "all 48 answers are refusals" in everything.output


def test_findings_name_silent_groups(refusing: Project) -> None:
    finished = CliRunner().invoke(cli, ["findings", "--warehouse", str(refusing.warehouse)])
    assert finished.exit_code == 0, finished.output
    assert "Nothing is known of race Black in missing, target missing: the file has no row" in finished.output


def test_an_alarm_is_explained_by_the_refusals_themselves(refusing: Project) -> None:
    finding = refusing.rows(
        """
        select finding_id from marts.fct_findings
        where measure = 'answer_gap' and audit = 'resumes' and attribute = 'race' and scheme = 'refused'
        """
    )[0][0]
    explanation = explain_finding(finding, refusing.warehouse, refusing.ledger)
    gap, groups = explanation.evidence.tables
    assert gap.rows[0]["n_marked_events"] > 0 == gap.rows[0]["n_reference_events"]
    assert {row["group_name"] for row in groups.rows} == {"black", "white"}
    first = explanation.sides[0]
    assert first.name == "black"
    assert all("sorry" in (answer.text or "").lower() for answer in first.answers)
    assert len(first.answers) == 3


def test_the_report_shows_them(refusing: Project) -> None:
    page = render(refusing.warehouse)
    assert "Who is refused more often" in page
    assert "the file has no row about this group" in page
