"""Test the agreement of a scorer with people, and corrected rates, against the formulas written out."""

from __future__ import annotations

import csv
import html
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests
from click.testing import CliRunner
from scipy.stats import binomtest

from biasledger.cli import cli
from biasledger.explaining import explain_finding
from biasledger.project import init_project
from biasledger.reporting import render
from biasledger.serving.asked import link
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from collector.ledger.events import keep_event
from collector.ledger.labels import read_labels
from collector.ledger.scorable import asked_prompts
from collector.rows import GRADED
from tests.python.docs.shell import blocks
from tests.python.docs.shell import run as shell
from tests.python.project import Project
from tests.python.serving.conftest import SECONDS, serving

AUDIT = """
audit: {name}
attributes:
  race: {{reference: White, groups: [White, Black]}}
answer: {{kind: text}}
import:
  columns: {{text: text, descriptor: name, attributes: {{race: race}}{scores}}}
analysis:
  markers: {{}}
"""
N_WHITE, N_BLACK, N_DRAWN = 300, 100, 120
SHARE_PROBLEMATIC, FALSELY_MARKED = 0.3, 0.4
Z = 1.959964


def rows_of(name: str) -> list[tuple[str, str, str, str]]:
    """Answers that are rude about either race in 30 of 100; a judge who takes 40 of 100 kind ones about Black names for rude."""
    generator = np.random.default_rng(5)
    rows = []
    for race, n in (("White", N_WHITE), ("Black", N_BLACK)):
        for number in range(n):
            is_rude = number < SHARE_PROBLEMATIC * n
            is_marked = is_rude or (race == "Black" and generator.random() < FALSELY_MARKED)
            said = "rude" if is_rude else "kind"
            text = f"=What is {said} about {race}, number {number} of the audit {name}."
            rows.append((race, f"{race}-{number % 5}", text, "negative" if is_marked else "positive"))
    return rows


def run(folder: Path, *arguments: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(cli, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, to: Path, label: Any) -> None:
    """The file of answers with a label for each that label() gives one."""
    rows = [{**row, "label": label(row)} for row in read(path)]
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def truth(row: Mapping[str, str]) -> str:
    return "problematic" if "is rude" in row["text"] else "acceptable"


def judge_of(scorer: str) -> dict[str, Any]:
    """The stored scores of a judge with two grades, and of its test on swapped groups."""
    swap = {
        "attribute": "race",
        "group_name": "Black",
        "reference_group": "White",
        "n_texts": 40,
        "difference": 0.25,
        "interval_low": 0.1,
        "interval_high": 0.4,
        "p_value": 0.001,
        "is_unequal": True,
    }
    rubric = {
        "rubric": "rude",
        "question": "Is it rude?",
        "answers": {"negative": "rude", "positive": "not rude"},
        "shows_message": False,
        "label": "negative",
        "worse": "higher",
        "lowest": 0,
        "highest": 1,
    }
    return {"scorer": scorer, "model": scorer, **rubric, "swaps": [swap]}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Audits that were labelled in all the ways that happen to people; see the tests."""
    folder = tmp_path_factory.mktemp("labelled")
    init_project(folder)
    project = Project(folder)
    for name in ("judged", "one-group", "alike", "untouched", "handpicked", "unscored", "graded", "harsh"):
        scores = "" if name == "unscored" else ", scores: {judge: mark}"
        if name in ("graded", "harsh"):
            scores = ", scores: {judge: mark, other: second}"
        (folder / "audits" / f"{name}.yml").write_text(
            AUDIT.format(name=name, scores=scores), encoding="utf-8"
        )
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["race", "name", "text", "mark", "second"])
            writer.writerows((*row, "negative" if "rude" in row[2] else "positive") for row in rows_of(name))
        project.import_file(f"audits/{name}.yml", folder / f"{name}.csv")
    runs = {one.audit: one.run_id for one in Ledger(project.ledger).runs()}
    for name, label in (
        ("judged", truth),
        ("one-group", lambda row: truth(row) if "White" in row["text"] else ""),
        ("alike", lambda row: "acceptable" if "is kind" in row["text"] else ""),
        ("unscored", truth),
        ("graded", truth),
    ):
        run(folder, "label", "drawn.csv", "--sample", str(N_DRAWN), "--run", runs[name])
        fill(folder / "drawn.csv", folder / f"{name} labels.csv", label)
        run(folder, "label", f"{name} labels.csv", "--by", "Ada")
        (folder / "drawn.csv").rename(folder / f"{name} drawn.csv")
    # A second person calls every third of the first thirty what it is not; one of these is erased.
    first = [row["text"] for row in read(folder / "judged drawn.csv")][:30]
    wrong = {text: number % 3 == 0 for number, text in enumerate(first)}
    other = {"problematic": "acceptable", "acceptable": "problematic"}
    fill(
        folder / "judged drawn.csv",
        folder / "second.csv",
        lambda row: (other[truth(row)] if wrong[row["text"]] else truth(row)) if row["text"] in wrong else "",
    )
    run(folder, "label", "second.csv", "--by", "Bo")
    gone = read(folder / "judged drawn.csv")[0]
    erase(project.ledger, gone["run"], gone["prompt"], int(gone["trial"]), reason="a test")
    for name in ("graded", "harsh"):
        for scorer in ("judge", "other"):
            keep_event(Ledger(project.ledger), runs[name], GRADED, judge_of(scorer))
    # Chosen by hand: the rude ones, from a file that does not mention a draw.
    run(folder, "label", "drawn.csv", "--sample", "400", "--run", runs["handpicked"])
    rows = [row for row in read(folder / "drawn.csv") if truth(row) == "problematic"]
    lines = [f"{row['run']},{row['prompt']},{row['trial']},problematic" for row in rows]
    (folder / "picked.csv").write_text("\n".join(["run,prompt,trial,label", *lines]) + "\n", encoding="utf-8")
    run(folder, "label", "picked.csv", "--by", "Ada")
    project.build()
    return project


def table(project: Project, name: str, audit: str) -> dict[str, dict[str, Any]]:
    """Rows of a table about an audit, by group."""
    frame = project.query(
        f"select t.* from marts.{name} as t join marts.dim_runs using (run_id) where audit = '{audit}'"
        " and scorer = 'judge'"
    )
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {row["group_name"]: {str(name): value for name, value in row.items()} for row in rows}


class Answers:
    """Answers of one or several groups: marks of all, labels (NaN where none was drawn), and the group of each."""

    def __init__(self, marks: Any, labels: Any, groups: Any) -> None:
        self.marks, self.labels, self.groups = map(np.asarray, (marks, labels, groups))

    def about(self, group: str) -> Answers:
        chosen = self.groups == group
        return Answers(self.marks[chosen], self.labels[chosen], self.groups[chosen])

    def stand_for(self) -> Any:
        """Return how many answers about its group each labelled answer represents."""
        has = ~np.isnan(self.labels)
        ratio = {
            one: np.sum(self.groups == one) / np.sum(has & (self.groups == one)) for one in set(self.groups)
        }
        return np.array([ratio[one] for one in self.groups[has]])

    def corrected(self) -> tuple[float, float, float, float]:
        """Rate, middle of its interval, and its two ends, by the formulas of docs/methods.md."""
        has = ~np.isnan(self.labels)
        errors, weights = (self.labels - self.marks)[has], self.stand_for()
        n = weights.sum() ** 2 / (weights**2).sum()
        mean = float(np.average(errors, weights=weights))
        spread = float(np.average(errors**2, weights=weights))
        rate = float(np.average(self.labels[has], weights=weights))
        likely, likely_rate = n * mean / (n + 2), (n * rate + 1) / (n + 2)
        left = (weights**2 * (1 - 1 / weights)).sum() / (weights**2).sum()
        variance = ((n * spread + 2) / (n + 2) - likely**2) / (n + 2) * left
        variance += likely_rate * (1 - likely_rate) / len(self.marks)
        middle, arm = self.marks.mean() + likely, Z * np.sqrt(variance)
        return float(self.marks.mean() + mean), middle, middle - arm, middle + arm


def gap(answers: Answers) -> tuple[float, float, float]:
    """Black less White, and the ends of its interval."""
    black, white = (answers.about(one).corrected() for one in ("Black", "White"))
    arm = np.hypot(black[3] - black[1], white[3] - white[1])
    return black[0] - white[0], black[1] - white[1] - arm, black[1] - white[1] + arm


def judged(project: Project) -> tuple[Answers, set[str]]:
    """The audit's answers as they were planted and labelled, without what was erased, and texts on which people differ."""
    drawn = [row["text"].lstrip("'") for row in read(project.folder / "judged drawn.csv")]
    contested = {text for number, text in enumerate(drawn[:30]) if number % 3 == 0}
    marks, labels, groups = [], [], []
    for race, _, text, mark in rows_of("judged"):
        if text == drawn[0]:
            continue
        label = 0.5 if text in contested else float("rude" in text) if text in drawn else np.nan
        marks.append(float(mark == "negative"))
        labels.append(label)
        groups.append(race)
    return Answers(marks, labels, groups), contested - {drawn[0]}


def test_rates_are_corrected_as_the_formulas_say(labelled: Project) -> None:
    answers, _ = judged(labelled)
    rows = table(labelled, "fct_score_agreement", "judged")
    for group, of in (("(all)", answers), *((one, answers.about(one)) for one in ("White", "Black"))):
        row, (rate, _, low, high) = rows[group], of.corrected()
        assert row["scorer_rate"] == pytest.approx(of.marks.mean(), abs=1e-12)
        assert (row["corrected_rate"], row["corrected_low"], row["corrected_high"]) == pytest.approx(
            (rate, max(0, low), min(1, high)), abs=1e-9
        )
    found = table(labelled, "fct_score_corrections", "judged")["Black"]
    assert (found["corrected_gap"], found["corrected_low"], found["corrected_high"]) == pytest.approx(
        gap(answers), abs=1e-9
    )


def test_agreement_is_counted_where_people_agree(labelled: Project) -> None:
    answers, contested = judged(labelled)
    for group, row in table(labelled, "fct_score_agreement", "judged").items():
        if group == "(all)":
            continue
        of = answers.about(group)
        sure = (of.labels == 0) | (of.labels == 1)
        of_group = [text for text in contested if f"about {group}" in text]
        assert (row["n_labelled"], row["n_drawn"], row["n_contested"]) == (
            *[np.sum(~np.isnan(of.labels))] * 2,
            len(of_group),
        )
        for name, chosen in (
            ("agreement", sure),
            ("sensitivity", of.labels == 1),
            ("specificity", of.labels == 0),
        ):
            right, n = int(np.sum(of.marks[chosen] == of.labels[chosen])), int(np.sum(chosen))
            ends = binomtest(right, n).proportion_ci(method="wilson")
            assert (row[name], row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(
                (right / n, ends.low, ends.high), abs=1e-6
            )


def test_a_scorer_that_is_wrong_about_one_group_misleads_and_is_corrected(labelled: Project) -> None:
    rows = table(labelled, "fct_score_agreement", "judged")
    assert rows["Black"]["specificity_high"] < rows["White"]["specificity_low"]
    found = table(labelled, "fct_score_corrections", "judged")["Black"]
    assert found["scorer_gap"] > 0.2
    assert found["corrected_low"] < 0 < found["corrected_high"]
    assert found["corrected_high"] < found["scorer_gap"]
    # Without a label the misleading difference is all there is.
    untouched = table(labelled, "fct_score_corrections", "untouched")["Black"]
    assert untouched["scorer_gap"] == pytest.approx(found["scorer_gap"], abs=0.02)
    assert untouched["corrected_gap"] is None


@pytest.mark.parametrize("is_planted", [False, True])
def test_intervals_hold_the_truth_in_95_of_100(is_planted: bool) -> None:
    """Compare with the formulas, for small groups, few labels, and labels of all answers."""
    generator = np.random.default_rng(11)
    for n, n_labelled in ((200, 20), (60, 60), (400, 15)):
        held = 0
        for _ in range(1_000):
            problematic = generator.random(2 * n) < 0.15
            groups = np.repeat(["White", "Black"], n)
            errs = np.where((groups == "Black") & is_planted, 0.3, 0.05)
            marks = np.where(generator.random(2 * n) < errs, ~problematic, problematic).astype(float)
            labels = np.full(2 * n, np.nan)
            for start in (0, n):
                drawn = start + generator.choice(n, n_labelled, replace=False)
                labels[drawn] = problematic[drawn]
            _, low, high = gap(Answers(marks, labels, groups))
            held += low <= 0 <= high
        # Of 1,000 intervals that hold it in 95 of 100, fewer than 929 do once in a thousand times.
        assert held >= 929, (n, n_labelled)


def finding(project: Project, audit: str, scheme: str) -> dict[str, Any]:
    frame = project.query(
        "select value, published_value, value_low, value_high, status, statement, n_units from marts.fct_findings"
        f" where audit = '{audit}' and measure = 'text_score_gap' and scheme = '{scheme}'"
    )
    return {str(name): value for name, value in frame.iloc[0].to_dict().items()}


def test_a_judges_gap_is_corrected_by_labels(labelled: Project) -> None:
    corrections = table(labelled, "fct_score_corrections", "graded")["Black"]
    found = finding(labelled, "graded", "judge: negative")
    assert corrections["scorer_gap"] > 0.2
    assert found["published_value"] == pytest.approx(corrections["corrected_gap"], abs=1e-9)
    assert abs(found["value"]) < 0.15
    # A judge that is harsher with a group counts where people's labels correct it.
    assert f"the judge's errors are corrected by {N_DRAWN} labels of people" in found["statement"]


def test_a_harsh_judge_without_labels_says_nothing(labelled: Project) -> None:
    found = finding(labelled, "harsh", "judge: negative")
    assert found["status"] == "insufficient_data"
    assert np.isnan(found["value"])
    assert (
        "judge grades the same texts 25.0 % of the range worse when they are about Black people than when they are about "
        "White people (40 texts), so its grades are not used here"
    ) in found["statement"]
    [row] = labelled.rows(
        "select difference, is_unequal from marts.fct_judge_swaps join marts.dim_runs using (run_id)"
        " where audit = 'harsh' and scorer = 'judge'"
    )
    assert row == (0.25, True)


@pytest.mark.slow
def test_grades_given_in_the_explorer_correct_the_judge(labelled: Project, tmp_path: Path) -> None:
    project = Project(shutil.copytree(labelled.folder, tmp_path / "graded"))
    [(run_id,)] = labelled.rows("select run_id from marts.dim_runs where audit = 'harsh'")
    [(finding_id,)] = labelled.rows(
        "select finding_id from marts.fct_findings where audit = 'harsh' and scheme = 'judge: negative'"
        " and measure = 'text_score_gap'"
    )
    said_by_judge = {text: float(mark == "negative") for *_, text, mark in rows_of("harsh")}
    errors: dict[str, list[float]] = {"White": [], "Black": []}
    with serving(project.folder, label_as="Ada") as explorer, serving(project.folder) as reading:
        # The answers of the judge's finding are in the order of its grades, so they are not graded there.
        path = link(f"/finding/{finding_id}")
        noted = "<strong><bdi>negative 1.00</bdi></strong>"
        page = explorer.get(path).text
        assert noted in reading.get(path).text
        assert noted not in page
        assert 'name="rubric" value="rude"' not in page
        next_page = link("/grade", run=run_id, rubric="rude")
        assert next_page in html.unescape(page)
        for _ in range(20):
            page = explorer.get(next_page).text
            assert "At least 20 are needed" in page
            [form] = re.findall(r'<form class="labels.*?</form>', page, flags=re.DOTALL)
            given = {
                name: html.unescape(value)
                for name, value in re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', form)
            }
            [text] = re.findall(r'<h2 id="reply">.*?<div[^>]*>(.*?)</div>', page, flags=re.DOTALL)
            given["label"] = "negative" if "rude" in text else "positive"
            errors["White" if "White" in text else "Black"].append(
                float("rude" in text) - said_by_judge[text]
            )
            done = requests.post(
                f"{explorer.address}label", data=given, timeout=SECONDS, allow_redirects=False
            )
            assert done.status_code == 303
            page = explorer.get(done.headers["Location"].partition("#")[0]).text
            [following] = re.findall(r'rel="next" href="(.*?)"', page)
            next_page = html.unescape(following).partition("#")[0]
        assert "are needed" not in page
    assert (len(errors["White"]), len(errors["Black"])) == (10, 10)
    project.build()
    corrected = {
        race: np.mean([said for text, said in said_by_judge.items() if race in text]) + np.mean(errors[race])
        for race in errors
    }
    found = finding(project, "harsh", "judge: negative")
    assert found["published_value"] == pytest.approx(corrected["Black"] - corrected["White"], abs=1e-9)
    assert "the judge's errors are corrected by 20 labels of people" in found["statement"]
    row = table(project, "fct_score_agreement", "harsh")["Black"]
    assert (row["n_drawn"], row["n_labelled"]) == (10, 10)
    assert project.rows(
        "select distinct labelled_by, is_drawn from marts.fct_labels where rubric = 'rude'"
    ) == [("Ada", True)]


def test_rogan_and_gladens_rate_is_theirs(labelled: Project) -> None:
    row = table(labelled, "fct_score_agreement", "graded")["Black"]
    share = (row["scorer_rate"] + row["specificity"] - 1) / (row["sensitivity"] + row["specificity"] - 1)
    assert row["rogan_gladen_rate"] == pytest.approx(share, abs=1e-12)
    assert row["rogan_gladen_low"] < SHARE_PROBLEMATIC < row["rogan_gladen_high"]


def test_kappa_of_two_judges_is_cohens(labelled: Project) -> None:
    from sklearn.metrics import cohen_kappa_score

    marks = {race: ([], []) for race in ("White", "Black")}
    for race, _, text, mark in rows_of("graded"):
        marks[race][0].append(mark)
        marks[race][1].append("negative" if "rude" in text else "positive")
    rows = table(labelled, "fct_judge_agreement", "graded")
    for race, (one, other) in marks.items():
        row = rows[race]
        assert (row["n_answers"], row["rubric"]) == (len(one), "rude")
        assert row["kappa"] == pytest.approx(cohen_kappa_score(one, other), abs=1e-9)
    assert rows["Black"]["kappa_low"] < rows["Black"]["kappa"] < rows["Black"]["kappa_high"] < 1


def test_nothing_is_corrected_where_labels_say_nothing_of_it(labelled: Project) -> None:
    one_group = table(labelled, "fct_score_agreement", "one-group")
    assert one_group["White"]["corrected_rate"] is not None
    for group, covered in (("Black", 0), ("(all)", N_WHITE / (N_WHITE + N_BLACK))):
        assert one_group[group]["corrected_rate"] is None
        assert one_group[group]["corrected_low"] is None
        assert one_group[group]["share_covered"] == pytest.approx(covered)
    assert table(labelled, "fct_score_corrections", "one-group")["Black"]["corrected_gap"] is None
    untouched = table(labelled, "fct_score_agreement", "untouched")
    assert {(row["n_labelled"], row["agreement"]) for row in untouched.values()} == {(0, None)}
    picked = table(labelled, "fct_score_agreement", "handpicked")["(all)"]
    assert (picked["n_labelled"], picked["n_drawn"], picked["corrected_rate"]) == (120, 0, None)
    assert table(labelled, "fct_score_agreement", "unscored") == {}


def test_labels_that_are_all_alike_leave_an_interval(labelled: Project) -> None:
    row = table(labelled, "fct_score_agreement", "alike")["White"]
    assert (row["sensitivity"], row["n_problematic"], row["specificity"]) == (None, 0, 1)
    assert row["corrected_high"] - row["corrected_low"] > 0.05


def test_labels_that_stand_are_a_table(labelled: Project) -> None:
    with Ledger(labelled.ledger).read() as connection:
        kept = {
            (one.run_id, one.prompt_id, one.trial, one.labelled_by): one for one in read_labels(connection)
        }
    rows = labelled.rows(
        "select run_id, prompt_id, trial, labelled_by, label, is_drawn, labelled_at from marts.fct_labels"
    )
    assert len(rows) == len(kept)
    for *key, label, is_drawn, labelled_at in rows:
        one = kept[tuple(key)]
        assert (label, is_drawn, labelled_at.replace(tzinfo=None)) == (
            one.label,
            one.is_drawn,
            one.labelled_at.replace(tzinfo=None),
        )
    counts = labelled.rows(
        "select audit, count(*), count(*) filter (where is_contested), count(*) filter (where is_erased),"
        " bool_and(is_drawn) from marts.fct_labels join marts.dim_runs using (run_id) group by 1 order by 1"
    )
    n_kind = sum(truth(row) == "acceptable" for row in read(labelled.folder / "alike drawn.csv"))
    assert counts == [
        ("alike", n_kind, 0, 0, True),
        ("graded", N_DRAWN, 0, 0, True),
        ("handpicked", 120, 0, 0, False),
        ("judged", N_DRAWN + 30, 20, 2, True),
        ("one-group", N_DRAWN // 2, 0, 0, True),
        ("unscored", N_DRAWN, 0, 0, True),
    ]


def test_answers_are_drawn_about_each_group_alike_and_as_the_seed_says(
    labelled: Project, tmp_path: Path
) -> None:
    [(run_id,)] = labelled.rows("select run_id from marts.dim_runs where audit = 'untouched'")

    def drawn(file: str, *options: str) -> list[dict[str, str]]:
        said = run(
            labelled.folder, "label", str(tmp_path / file), "--sample", "41", "--run", run_id, *options
        )
        assert said.startswith("Wrote 41 answers, drawn from 2 combinations of groups and runs")
        return read(tmp_path / file)

    first, again, other = drawn("a.csv"), drawn("b.csv"), drawn("c.csv", "--seed", "1")
    assert first == again
    assert {row["prompt"] + row["trial"] for row in first} != {row["prompt"] + row["trial"] for row in other}
    assert sorted(sum(f"about {race}" in row["text"] for row in first) for race in ("White", "Black")) == [
        20,
        21,
    ]
    # In a spreadsheet no answer is a formula.
    assert all(row["text"].startswith("'=What") for row in first)
    assert {row["drawn"] for row in first} == {"random"}
    refused = CliRunner().invoke(cli, ["label", str(tmp_path / "a.csv"), "--sample", "3"])
    assert "may hold labels" in refused.output


def test_the_report_and_a_query_say_it(labelled: Project) -> None:
    runs = dict(labelled.rows("select audit, run_id from marts.dim_runs"))
    title = "Is the scorer as right about every group?"
    page = render(labelled.warehouse, [runs["judged"]])
    assert title in page
    gaps = table(labelled, "fct_score_corrections", "judged")["Black"]
    assert f"Highest: Black: scorer alone {gaps['scorer_gap']:.3g}. Lowest: Black: corrected" in page
    black = table(labelled, "fct_score_agreement", "judged")["Black"]
    n = black["n_problematic"] + black["n_acceptable"]
    assert f"{100 * black['agreement']:.0f} % of {n} labelled answers about Black (" in page
    # Without labels or scores there are no results.
    for audit in ("untouched", "handpicked", "unscored"):
        assert title not in render(labelled.warehouse, [runs[audit]])
    assert title in render(labelled.warehouse, [runs["one-group"]])
    printed = run(labelled.folder, "query", "scorer_against_people", "--format", "csv")
    row = next(
        one
        for one in csv.DictReader(printed.splitlines())
        if (one["audit"], one["group_name"]) == ("judged", "Black")
    )
    assert float(row["gap_by_scorer"]) == pytest.approx(gaps["scorer_gap"])
    assert float(row["gap_corrected"]) == pytest.approx(gaps["corrected_gap"])


@pytest.mark.parametrize(("audit", "tables"), [("judged", 4), ("untouched", 2), ("handpicked", 2)])
def test_a_finding_says_how_right_its_scorer_is(labelled: Project, audit: str, tables: int) -> None:
    ((finding,),) = labelled.rows(
        f"select finding_id from marts.fct_findings where audit = '{audit}' and measure = 'negative_regard_gap'"
    )
    found = explain_finding(finding, labelled.warehouse, labelled.ledger, 1).evidence.tables
    assert [one.table for one in found] == [
        "fct_regard_gaps",
        "fct_regard_shares",
        "fct_score_agreement",
        "fct_score_corrections",
    ][:tables]


def test_the_commands_of_the_documents_run(labelled: Project, tmp_path: Path) -> None:
    (script,) = [block for block in blocks("docs/methods.md") if "scorer_against_people" in block]
    for name in ("ledger.duckdb", "warehouse.duckdb"):
        shutil.copyfile(labelled.folder / name, tmp_path / name)
    sample, keep, build, ask = [line.split("#")[0].strip() for line in script.strip().splitlines()]
    assert shell(sample, tmp_path).returncode == 0
    fill(tmp_path / "drawn.csv", tmp_path / "drawn.csv", truth)
    kept = shell(keep, tmp_path)
    assert kept.stdout.endswith("Next: biasledger build\n"), kept.stderr
    assert build == "biasledger build"
    assert shell(ask, tmp_path).returncode == 0


@pytest.fixture
def unlabelled(labelled: Project, tmp_path: Path) -> Path:
    fill(labelled.folder / "judged drawn.csv", tmp_path / "x.csv", truth)
    return tmp_path / "x.csv"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Say who gave the labels, --by NAME, or have answers drawn"),
        (["--by", "Ada", "--sample", "3"], "Say who gave the labels, --by NAME, or have answers drawn"),
        (["--by", "Ada"], "row 1 has 'yes' as 'drawn'; it should be random"),
        (
            ["--by", "Ada", "--run", "latest"],
            "--seed and --run say what is drawn: give them with --sample N.",
        ),
        (["--sample", "3", "--seed", "-1"], "-1 is not in the range x>=0"),
    ],
)
def test_what_is_wrong_is_said(labelled: Project, unlabelled: Path, arguments: list[str], says: str) -> None:
    unlabelled.write_text(
        unlabelled.read_text(encoding="utf-8").replace(",random,", ",yes,"), encoding="utf-8"
    )
    done = CliRunner().invoke(cli, ["label", str(unlabelled), "--ledger", str(labelled.ledger), *arguments])
    assert done.exit_code != 0
    assert says in done.output


def test_the_combinations_that_answers_are_drawn_by_are_those_they_stand_for(labelled: Project) -> None:
    stands_for = labelled.work_rows(
        "select distinct run_id, prompt_id, cell from intermediate.int_markers_marked_answers"
    )
    drawn_by = asked_prompts(Ledger(labelled.ledger), {run_id for run_id, *_ in stands_for})
    assert len({cell for *_, cell in stands_for}) > 1
    assert all(drawn_by[run_id, prompt_id].groups == cell for run_id, prompt_id, cell in stands_for)
