"""Test the report's headline: the findings, the groups that come off worse, and the next steps."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest

from biasledger import reporting as report
from biasledger.reporting import render, write_report
from biasledger.reporting.matrix import matrix
from biasledger.reporting.verdicts import run_verdict
from collector.errors import BiasledgerError, InputError
from tests.python.report import warehouses
from tests.python.report.page_read import Page, small, specs
from tests.python.report.warehouses import finding, run


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        ([("alarm",), ("clear",)], "Answers differ by race in one of two audits."),
        ([("alarm",), ("alarm", "clear")], "Answers differ by race in all two audits."),
        ([("inconclusive", "clear"), ("clear",)], "No alarm, but bias is not ruled out in one of two audits."),
        ([("clear",), ("clear",)], "No alarm: differences past the thresholds are ruled out in all two audits."),
        ([("clear",), ("insufficient_data",)],
         "No alarm, but bias is not ruled out in one of two audits: 1 of 2 findings that can fail an audit had too few answers."),
        ([("clear", *["insufficient_data"] * 59)],
         "Only 1 of 60 findings that can fail an audit had answers enough to be judged: bias is not ruled out in the audit."),
        ([("clear",), ("insufficient_data",) * 2],
         ("Only 1 of 3 findings that can fail an audit had answers enough to be judged: bias is not ruled out in one of two "
          "audits.")),
        ([("alarm",), ("insufficient_data", "clear"), ("clear",)],
         "Answers differ by race in one of three audits. Bias is not ruled out in one other: audit-1."),
        ([("insufficient_data",), ()], "There were too few answers to judge anything."),
    ],
)  # fmt: skip
def test_the_headline_says_what_was_found(tmp_path: Path, statuses: list[tuple[str, ...]], said: str) -> None:
    runs = [run(f"run-{place}", f"audit-{place}") for place in range(len(statuses))]
    findings = [
        finding(f"run-{place}", number, status=status, audit=f"audit-{place}")
        for place, of_run in enumerate(statuses)
        for number, status in enumerate(of_run)
    ]
    page = Page(render(small(tmp_path, findings, runs)))
    lines = [
        page.texts["p"][place]
        for place, (_, attributes) in enumerate(one for one in page.elements if one[0] == "p")
        if attributes.get("class") == "lead"
    ]
    assert " ".join(map(str.strip, lines)) == said
    n_alarms = sum("alarm" in of_run for of_run in statuses)
    passes = all("clear" in of_run for of_run in statuses)
    word = "FAIL" if n_alarms else "PASS" if passes else "UNDECIDED"
    assert page.texts["h1"][0].startswith(f"{word}: {n_alarms or 'no failure in'} ")


def test_the_headline_says_which_audit_has_warnings_only(tmp_path: Path) -> None:
    findings = [
        finding("run-0", 0, audit="audit-0"),
        finding("run-1", 0, audit="audit-1", severity="warn"),
        finding("run-2", 0, audit="audit-2", status="inconclusive"),
    ]
    runs = [run(f"run-{place}", f"audit-{place}") for place in range(3)]
    text = " ".join(Page(render(small(tmp_path, findings, runs))).texts["header"][0].split())
    assert "One other has warnings only: audit-1. Bias is not ruled out in one other: audit-2." in text


LOWER = "black people are placed 1.00 places lower than White people"


def test_an_audit_that_only_warns_says_of_what_and_what_may_be_tried(tmp_path: Path) -> None:
    warning = finding(
        "run-0", 0, severity="warn", measure="place_gap", value=-1.0, statement="Frau is placed lower"
    )
    accepted = finding("run-0", 1, severity="error", is_excepted=True, group_name="Mann")
    page = Page(render(small(tmp_path, [warning, accepted], [run("run-0")])))
    text = " ".join(page.texts["header"][0].split())
    assert "Warnings only, which fail no audit." in text
    assert "Frau" in text
    assert "too few answers" not in text
    assert page.texts["ol"][0].strip().startswith("Mask names, e-mail addresses and pronouns")


def test_an_audit_that_can_only_warn_and_does_not_is_no_audit_of_too_few_answers(tmp_path: Path) -> None:
    page = Page(
        render(small(tmp_path, [finding("run-0", 0, severity="warn", status="clear")], [run("run-0")]))
    )
    assert page.texts["h1"][0].startswith("PASS")
    text = " ".join(" ".join(page.texts[name][0].split()) for name in ("header", "main"))
    assert "No warning: differences past the thresholds are ruled out in the audit" in text
    assert "too few answers" not in text
    assert "no warning" in text


def test_an_audit_with_too_few_answers_to_warn_says_how_many_it_needs(tmp_path: Path) -> None:
    few = finding(
        "run-0", 0, severity="warn", status="insufficient_data", advice="At least 20 cases are needed."
    )
    page = Page(render(small(tmp_path, [few], [run("run-0")])))
    assert page.texts["h1"][0].startswith("UNDECIDED")
    assert page.texts["ol"][0].strip().endswith("At least 20 cases are needed.")


def test_the_chart_of_what_fails_names_the_groups_of_a_ratio(tmp_path: Path) -> None:
    ratio = {"measure": "impact_ratio", "value": 0.5, "threshold": 0.8, "group_name": "(all)"}
    groups = {"reference_group": "(best off)", "member": "Black", "reference_member": "White"}
    page = render(small(tmp_path, [finding("run-0", 0, **ratio, **groups)], [run("run-0")]))
    assert "(Black vs White, impact ratio) is" in page
    # The text of a mark that is pointed at is in a table, too.
    numbers = page.partition("Numbers: What fails")[2].partition("</table>")[0]
    assert "Black vs White, impact ratio" in numbers
    assert ">0.50<" in numbers


def test_the_headline_names_who_comes_off_worse_and_what_to_do_next(tmp_path: Path) -> None:
    best_off = {"group_name": "(all)", "reference_group": "(best off)"}
    findings = [
        finding("run-0", 0, audit="audit-0", measure="place_gap", value=-1.0, group_name="black", statement=LOWER),
        finding("run-1", 0, audit="audit-1", measure="impact_ratio", value=0.5, threshold=0.8, member="Black", **best_off),
        finding("run-2", 0, audit="audit-2"),
        finding("run-2", 1, audit="audit-2", mitigation="masked", measure="place_gap", value=-9.0),
    ]  # fmt: skip
    findings += [
        finding(
            f"run-{place}", 9, audit=f"audit-{place}", attribute="gender", group_name="female",
            status="clear" if place == 1 else "inconclusive", n_units_needed=50, advice="About 50 would settle it.",
        )
        for place in (1, 3)
    ]  # fmt: skip
    helped = {
        **{name: findings[0][name] for name in ("run_id", "measure", "attribute", "group_name", "reference_group", "subject")},
        "mitigation": "masked", "verdict": "better", "plain_value": -1.0, "mitigation_value": -0.25, "difference": 0.75,
    }  # fmt: skip
    tables = {
        "dim_runs": [run(f"run-{place}", f"audit-{place}") for place in range(4)],
        "fct_findings": findings,
        "fct_mitigation_comparisons": [helped],
    }
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", tables)))
    assert page.texts["h1"] == ["FAIL: 3 of 4 audits of model failed."]
    text = " ".join(page.texts["header"][0].split())
    assert (
        "Black people come off worse in two of four audits, and are treated differently in one other." in text
    )
    assert (
        "No audit fails by gender, but one of the two that judge it does not rule a difference out." in text
    )
    # Which is not said where an audit fails on stereotypes about gender.
    findings[0] = {**findings[0], "subject": "gender-occupation"}
    page = render(warehouses.create(tmp_path / "other.duckdb", tables))
    assert "No audit fails by" not in page
    page = Page(render(tmp_path / "warehouse.duckdb"))
    assert "Bias is not ruled out in one other: audit-3." in text
    steps = [" ".join(step.split()) for step in page.texts["ol"][0].split("\n") if step.strip()]
    assert steps[0].startswith(
        "Mask names, e-mail addresses and pronouns before a person is judged (audit audit-0)Black people are placed 1.00 places"
    )
    assert steps[1] == (
        "Use the mitigation masked (audit audit-0)Asked with masked, "
        "the place gap of race, black vs White went from −1.00 places to −0.25 places."
    )
    # Another fix than the first.
    assert steps[2].startswith(
        "Calibrate: choose the cut-off on the scores so that groups are selected alike"
    )
    assert "(audit audit-1)" in steps[2]
    # The tiles count what was asked plainly; the matrix shows it in units, and leads to its rows of the table.
    assert '<span class="tile-n">3</span> <span class="tile-name">alarms' in render(
        tmp_path / "warehouse.duckdb"
    )
    cells = [one for tag, one in page.elements if tag == "a" and "outcome" in (one.get("class") or "")]
    assert {(one["data-audit"], one["data-attribute"]) for one in cells} == {
        *((f"audit-{place}, model", "race") for place in range(3)), ("audit-1, model", "gender"), ("audit-3, model", "gender"),
    }  # fmt: skip
    shown = " ".join(page.texts["table"][0].split())
    assert "−1.00 places" in shown
    assert "impact ratio (Black)0.50" in shown


def test_accepted_alarms_and_warnings_are_counted_and_make_no_verdict(tmp_path: Path) -> None:
    findings = [
        finding("run-1", 0, is_excepted=True),
        finding("run-1", 1, severity="warn", measure="accuracy_gap"),
        finding("run-1", 2, status="clear", measure="rank_gap"),
    ]
    page = Page(render(small(tmp_path, findings)))
    assert page.texts["h1"] == ["PASS: no failure in 1 audit of model."]
    assert "No alarm: differences past the thresholds are ruled out in the audit." in page.texts["header"][0]
    text = " ".join(page.texts["section"][0].split())
    assert "Among them: 1 warning, 1 accepted." in text
    assert "2 alarms, 1 clear" in text


def test_inconclusive_findings_say_what_would_settle_them(tmp_path: Path) -> None:
    findings = [
        finding("run-1", 0, status="inconclusive", n_units=40, n_units_needed=60, advice="About 60 would."),
        finding(
            "run-1", 1, status="inconclusive", n_units=40, n_units_needed=400, measure="classifier_accuracy"
        ),
        finding("run-1", 2, status="inconclusive", n_units=40, n_units_needed=None, measure="rank_gap"),
    ]
    text = " ".join(" ".join(Page(render(small(tmp_path, findings))).texts["main"]).split())
    assert "Twice the answers would probably settle 1 of 3." in text
    assert "(0.06): About 60 would." in text


def test_an_audit_is_clear_only_where_all_is() -> None:
    few = [finding("run-1", number, status="insufficient_data") for number in range(3)]
    verdict = run_verdict(run("run-1"), [finding("run-1", 9, status="clear"), *few])
    assert verdict.status == "insufficient_data"
    assert verdict.sentence == "No alarm, but 3 of 4 findings had too few answers to be judged."
    assert verdict.change.startswith("More answers: ")
    nothing = run_verdict(run("run-1"), few)
    assert nothing.sentence == "Too few answers to judge anything that could fail the audit."
    assert (verdict.label, nothing.label) == ("", "")
    warned = run_verdict(run("run-1"), [finding("run-1", 0, severity="warn")])
    assert (warned.label, warned.symbol) == ("warnings only", "warning")
    assert warned.sentence == "No finding can fail this audit: its alarm is a warning."


def test_only_an_alarm_that_fails_nothing_is_called_a_warning() -> None:
    findings = [
        finding("run-1", 0, severity="warn"),
        finding("run-1", 1, severity="warn", attribute="gender", status="clear"),
        finding("run-1", 2, attribute="age"),
    ]
    [line] = matrix([run_verdict(run("run-1"), findings)]).lines
    cells = [cell for cell in (*line.cells, *line.others) if cell]
    assert {cell.attribute: cell.note for cell in cells} == {
        "race": "warning",
        "gender": "cannot fail the audit",
        "age": "",
    }


def test_what_is_clear_of_the_others_is_not_clear_of_a_silent_group(tmp_path: Path) -> None:
    silent = {
        "run_id": "run-1",
        "mitigation": "plain",
        "attribute": "race",
        "group_name": "Asian",
        "silence": "none of its 15 answers could be used",
        "is_silent": True,
    }
    tables = {
        "dim_runs": [run("run-1"), run("run-2", "recommendations")],
        "fct_findings": [finding("run-1", 0, status="clear"), finding("run-2", 0, status="clear")],
        "fct_group_coverage": [silent, {**silent, "run_id": "run-2", "is_silent": False}],
    }
    page = Page(render(warehouses.create(tmp_path / "warehouse.duckdb", tables)))
    said = "Nothing is known of race Asian (none of its 15 answers could be used)."
    assert page.texts["h1"] == ["UNDECIDED: no failure in 2 audits of model."]
    text = " ".join(page.texts["header"][0].split())
    assert "No alarm, but bias is not ruled out in one of two audits" in text
    assert "Nothing is known of some groups in one of two audits." in text
    # In the table of verdicts and where the audit begins.
    assert page.texts["strong"].count(said) == 2
    assert (
        run_verdict(run("run-1"), [finding("run-1", status="clear")], [silent]).status == "insufficient_data"
    )


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        ([60], "Twice the answers would probably settle it."),
        ([60, 70], "Twice the answers would probably settle all 2."),
        ([100], "It needs about 2.5 times the answers."),
        ([None], "More answers alone would not settle it."),
    ],
)
def test_what_is_said_of_few_undecided_findings(needed: list[int | None], said: str) -> None:
    findings = [
        finding("run-1", number, status="inconclusive", n_units=40, n_units_needed=n, unit="texts")
        for number, n in enumerate(needed)
    ]
    assert run_verdict(run("run-1"), findings).change == said


def test_older_runs_are_in_the_trend_and_chosen_ones_in_full(tmp_path: Path) -> None:
    runs = [
        run(f"run-{place}", is_current=place == 2, started_at=pd.Timestamp(f"2026-11-1{place} 08:00:00"))
        for place in range(3)
    ]
    findings = [
        finding(f"run-{place}", place, value=0.02 * (place + 1), is_current=place == 2) for place in range(3)
    ]
    warehouse = small(tmp_path, findings, runs)
    page = render(warehouse)
    assert 'id="run-1"' in page
    assert 'id="run-2"' not in page
    assert "2 other runs of the same audits are in the trend" in " ".join(page.split())
    trend = specs(warehouse)["trend-1"]
    assert [row["value"] for row in trend["data"]["values"]] == pytest.approx([1, 2, 3])
    chosen = render(warehouse, ["run-0", "run-1"])
    assert 'id="run-2"' in chosen
    assert "run-2" not in " ".join(Page(chosen).texts["bdi"])


def test_simulated_answers_are_named(tmp_path: Path) -> None:
    warehouse = small(tmp_path, [finding("run-1")], [run("run-1", is_simulated=True)])
    assert "All answers are simulated" in render(warehouse)


class TestErrors:
    def test_no_warehouse(self, tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match=r"There is no warehouse at .*missing.duckdb: `biasledger build` makes it"
        ):
            render(tmp_path / "missing.duckdb")

    def test_no_warehouse_but_another_file(self, tmp_path: Path) -> None:
        path = tmp_path / "warehouse.duckdb"
        path.write_text("not a database, but long enough to be taken for one", encoding="utf-8")
        with pytest.raises(BiasledgerError, match="cannot be read"):
            render(path)

    def test_no_findings(self, tmp_path: Path) -> None:
        path = tmp_path / "warehouse.duckdb"
        duckdb.connect(str(path)).close()
        with pytest.raises(InputError, match="holds no table fct_findings: `biasledger build` makes it"):
            render(path)

    def test_a_run_mistyped(self, tmp_path: Path) -> None:
        warehouse = small(tmp_path, [finding("run-1")])
        with pytest.raises(InputError, match=r"no findings of a run 'run-l'.*did you mean 'run-1'"):
            render(warehouse, ["run-l"])

    def test_a_missing_extra_is_named_once_and_nothing_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        warehouse = small(tmp_path, [finding("run-1")])
        found = report.find_spec
        monkeypatch.setattr(report, "find_spec", lambda name: None if name == "vl_convert" else found(name))
        with pytest.raises(InputError) as caught:
            write_report(warehouse, tmp_path / "report.html")
        assert str(caught.value) == "The report needs vl-convert-python: pip install 'biasledger[report]'."
        assert not (tmp_path / "report.html").exists()

    def test_no_folder_to_write_into(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"There is no folder .*absent to write report.html into"):
            write_report(tmp_path / "warehouse.duckdb", tmp_path / "absent" / "report.html")

    def test_a_folder_instead_of_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is a folder: name the file to write"):
            write_report(tmp_path / "warehouse.duckdb", tmp_path)

    def test_a_failed_report_leaves_the_old_one(self, tmp_path: Path) -> None:
        (tmp_path / "report.html").write_text("old", encoding="utf-8")
        with pytest.raises(InputError):
            write_report(tmp_path / "missing.duckdb", tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
