"""Test labels and grades given in the browser: kept in the name that the explorer has, and refused from other sites."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import requests

from biasledger.scoring.rubrics import load_rubric
from biasledger.serving.asked import Served, link
from biasledger.serving.labelling import Question, labels_of_run
from biasledger.tuning.drawing import draw
from biasledger.tuning.keeping import keep_file
from biasledger.verify import verify_ledger
from collector.errors import InputError
from collector.ledger.database import Ledger
from collector.ledger.events import keep_event
from collector.ledger.labels import KeptLabel, Label, keep_labels, read_labels
from collector.ledger.scorable import answers_to_score, asked_prompts
from collector.rows import GRADED, ScoreRow, utc_now
from tests.python.report.test_browser import overflow, violations
from tests.python.serving.conftest import SECONDS, Explorer, Open, copied, serving

NAME = "Ada <b>L.</b>"
REASON = "Because <i>small-model</i> says so."
N_GRADED = 60  # of the run's answers


@pytest.fixture(scope="module")
def labelling(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    folder = copied(audited, tmp_path_factory.mktemp("labelling"))
    judge(folder / "ledger.duckdb", "helpfulness", "condescension")
    with serving(folder, label_as=NAME) as running:
        yield running


def judge(path: Path, *rubrics: str) -> None:
    """Have a judge grade some answers of the run of advice; by helpfulness it also knows a grade 10."""
    ledger = Ledger(path)
    answers, _ = answers_to_score(ledger, "", judged_run(path))
    run_id = answers[0].run_id
    for name in rubrics:
        _, rubric = load_rubric(name)
        if name == "helpfulness":
            rubric = rubric.model_copy(update={"answers": {**rubric.answers, "10": "<b>more</b> than that"}})
        scorer = f"small-model ({name})"
        keep_event(ledger, run_id, GRADED, {"scorer": scorer, **rubric.document(name), "swaps": []})
        grade = list(rubric.answers)[1]
        with ledger.append() as append:
            append.scores(
                run_id,
                [
                    ScoreRow(
                        one.prompt_id,
                        one.trial,
                        one.attempt,
                        scorer,
                        label=grade,
                        score=1.0,
                        is_short=False,
                        scored_at=utc_now(),
                        reason=REASON,
                    )
                    for one in answers[:N_GRADED]
                ],
            )


def judged_run(path: Path) -> str:
    [run_id] = [
        one.run_id for one in Ledger(path).runs() if (one.audit, one.target) == ("advice", "simulator")
    ]
    return run_id


def grades_of(explorer: Explorer, rubric: str) -> list[KeptLabel]:
    with Ledger(explorer.ledger).read() as connection:
        return read_labels(connection, judged_run(explorer.ledger), rubric)


def form_of(page: str, place: int = 0) -> dict[str, str]:
    form = re.findall(r'<form class="labels\b.*?</form>', page, flags=re.DOTALL)[place]
    return {
        name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', form)
    }


def take_back(explorer: Explorer, form: dict[str, str]) -> None:
    """Take back a grade that the explorer no longer lets anybody change."""
    one = Label(form["run"], form["prompt"], int(form["trial"]), None)
    keep_labels(Ledger(explorer.ledger), [one], NAME, rubric=form["rubric"])


def labels_of(explorer: Explorer, run_id: str) -> list[tuple[str, int, str | None, str]]:
    with Ledger(explorer.ledger).read() as connection:
        return [
            (one.prompt_id, one.trial, one.label, one.labelled_by) for one in read_labels(connection, run_id)
        ]


def post(explorer: Explorer, form: dict[str, str], **headers: str) -> requests.Response:
    return requests.post(
        f"{explorer.address}label", data=form, headers=headers, timeout=SECONDS, allow_redirects=False
    )


def test_a_label_is_kept_taken_back_and_shown(labelling: Explorer) -> None:
    page = labelling.get("/pairs").text
    form = form_of(page)
    done = post(labelling, {**form, "label": "problematic"}, **{"Sec-Fetch-Site": "same-origin"})
    assert (done.status_code, done.headers["Location"]) == (303, "/pairs")
    given = (form["prompt"], int(form["trial"]), "problematic", NAME)
    assert labels_of(labelling, form["run"]).count(given) == 1
    page = labelling.get("/pairs").text
    assert "Labelled <strong>problematic</strong> by <bdi>Ada &lt;b&gt;L.&lt;/b&gt;</bdi>" in page
    assert 'value="" aria-pressed="true">problematic' in page
    [verdict] = verify_ledger(labelling.ledger, [form["run"]], needs_journals=False)
    assert verdict.state == "intact"
    commented = {**form, "label": "problematic", "comment": " Names <i>one</i>\ngroup. "}
    assert post(labelling, commented).status_code == 303
    assert labels_of(labelling, form["run"]).count(given) == 1
    assert "UTC. <bdi>Names &lt;i&gt;one&lt;/i&gt; group.</bdi>" in labelling.get("/pairs").text
    assert post(labelling, {**commented, "comment": "x" * 501}).status_code == 400
    assert post(labelling, form).status_code == 400
    post(labelling, {**form, "label": ""})
    assert (given[0], given[1]) not in {one[:2] for one in labels_of(labelling, form["run"])}


def test_other_sites_and_strangers_cannot_give_labels(labelling: Explorer, explorer: Explorer) -> None:
    form = {**form_of(labelling.get("/pairs").text), "label": "problematic"}
    stood = labels_of(labelling, form["run"])
    for site in ("cross-site", "same-site"):
        navigated = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert post(labelling, form, **navigated).status_code == 403
    for wrong in (
        {"token": "guessed"},
        {"token": ""},
        {"trial": "x"},
        {"trial": "9" * 40},
        {"prompt": "none"},
        {"comment": "x" * 200_000},
    ):
        refused = post(labelling, {**form, **wrong})
        assert refused.status_code == 400, wrong
    assert labels_of(labelling, form["run"]) == stood
    # No page redirects to another machine, and an explorer without a name takes no labels.
    sent = post(labelling, {**form, "back": "//evil.example/"})
    assert sent.headers["Location"] == "/"
    post(labelling, {**form, "label": ""})
    assert post(explorer, form).status_code in {404, 405}
    assert 'class="labels' not in explorer.get("/pairs").text
    assert labelling.get("/label").status_code == 405


def test_a_form_that_never_ends_is_given_up(labelling: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasledger.serving.app._FORM_SECONDS", 0.2)
    port = int(labelling.address.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=600) as opened:
        head = f"POST /label HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 10\r\n\r\n"
        opened.sendall(head.encode() + b"to")
        assert opened.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_a_grade_is_blind_to_the_judge_and_to_others(labelling: Explorer) -> None:
    run_id = judged_run(labelling.ledger)
    asked = link("/grade", run=run_id, rubric="helpfulness")
    page = labelling.get(asked).text
    form = form_of(page)
    assert "How well does the reply do what the message asks for?" in page
    # Keys of the ledger's JSON are texts, of which 10 would be the second.
    assert re.findall(r'name="label" value="(\w*)"', page) == ["1", "2", "3", "4", "5", "10"]
    other = Label(run_id, form["prompt"], int(form["trial"]), "5", comment="seen by Bo")
    keep_labels(Ledger(labelling.ledger), [other], "Bo", rubric="helpfulness")
    told = ("by the judge", "small-model", "seen by Bo")
    assert not any(one in labelling.get(asked).text for one in told)
    done = post(labelling, {**form, "label": "4", "comment": "fine"}, **{"Sec-Fetch-Site": "same-origin"})
    assert done.status_code == 303
    shown = labelling.get(done.headers["Location"].partition("#")[0]).text
    assert "Graded <strong>4</strong> by <bdi>Ada &lt;b&gt;L.&lt;/b&gt;</bdi>" in shown
    assert "Graded <strong>2</strong> by the judge <bdi>small-model (helpfulness)</bdi>." in shown
    assert "<bdi>Because &lt;i&gt;small-model&lt;/i&gt; says so.</bdi>" in shown
    assert "seen by Bo" in shown
    assert "you graded 1." in shown
    kept = [one for one in grades_of(labelling, "helpfulness") if one.labelled_by == NAME]
    assert [(one.prompt_id, one.trial, one.label, one.comment, one.is_drawn) for one in kept] == [
        (form["prompt"], int(form["trial"]), "4", "fine", True)
    ]
    assert grades_of(labelling, "condescension") == []
    assert (form["prompt"], int(form["trial"])) not in {one[:2] for one in labels_of(labelling, run_id)}
    [verdict] = verify_ledger(labelling.ledger, [run_id], needs_journals=False)
    assert verdict.state == "intact"
    # Whoever has seen the judge's grade can no longer give a blind one, nor grade again what they took back.
    assert "A grade stands once you have seen the judge’s." in page
    assert "data-key" not in shown
    for other_form in (form, {**form, "drawn": ""}, {**form, "trial": f"0{form['trial']}"}):
        for label in ("", "2"):
            refused = post(labelling, {**other_form, "label": label})
            assert (refused.status_code, "Your grade of this answer stands" in refused.text) == (400, True)
    assert post(labelling, {**form, "label": "4", "comment": "quite fine"}).status_code == 303
    kept = [one for one in grades_of(labelling, "helpfulness") if one.labelled_by == NAME]
    assert [(one.label, one.comment, one.is_drawn) for one in kept] == [("4", "quite fine", True)]
    take_back(labelling, form)
    assert not any(one in labelling.get(asked).text for one in told)


def test_answers_side_by_side_are_graded_blind_and_not_as_drawn(labelling: Explorer) -> None:
    run_id = judged_run(labelling.ledger)
    path = link("/pairs", run=run_id)
    place, page = next(
        (place, page)
        for place in range(1, 60)
        if form_of(page := labelling.get(f"{path}&place={place}").text)["prompt"] in graded_prompts(labelling)
    )
    forms = [form_of(page, number) for number in range(3)]
    assert [one["rubric"] for one in forms] == ["", "helpfulness", "condescension"]
    assert "by the judge" not in page
    assert REASON.partition("<")[0] not in page
    assert post(labelling, {**forms[2], "label": "no"}).status_code == 303
    page = labelling.get(f"{path}&place={place}").text
    assert "Graded <strong>no</strong> by the judge <bdi>small-model (condescension)" in page
    assert "small-model (helpfulness)" not in page
    [kept] = grades_of(labelling, "condescension")
    assert (kept.prompt_id, kept.label, kept.is_drawn) == (forms[2]["prompt"], "no", False)
    # Chosen by hand it counts for no correction, so the sample asks about it again, blind.
    asked = link("/grade", run=run_id, rubric="condescension")
    pages = (labelling.get(f"{asked}&place={number}").text for number in range(1, N_GRADED + 1))
    again = next(one for one in pages if form_of(one)["prompt"] == kept.prompt_id)
    assert "by the judge" not in again
    assert post(labelling, {**form_of(again), "label": "no"}).status_code == 303
    assert [one.is_drawn for one in grades_of(labelling, "condescension")] == [True]
    # Nobody grades here, so nothing is hidden.
    with serving(labelling.ledger.parent) as reading:
        page = reading.get(f"{path}&place={place}").text
        assert "small-model (helpfulness)" in page
        assert 'class="labels' not in page
        assert "biasledger serve --label-as NAME" in reading.get("/grade").text
        assert 'href="/grade"' not in page
    take_back(labelling, forms[2])


def graded_prompts(explorer: Explorer) -> set[str]:
    """The prompts of answers that the judge graded."""
    with Ledger(explorer.ledger).read() as connection:
        return {one for (one,) in connection.execute("select prompt_id from raw.response_scores").fetchall()}


def test_the_sample_is_random_about_each_group_and_what_is_left_out_comes_again(labelling: Explorer) -> None:
    run_id = judged_run(labelling.ledger)
    asked = link("/grade", run=run_id, rubric="condescension")
    prompts = asked_prompts(Ledger(labelling.ledger), {run_id})
    page, drawn = labelling.get(asked).text, []
    assert f"Answer 1 of {N_GRADED}; you graded 0." in page  # only answers that the judge graded
    assert "At least 20 are needed" in page
    for number in range(9):
        drawn.append(form_of(page))
        # The fifth is left out.
        if number != 4:
            assert post(labelling, {**drawn[-1], "label": "yes"}).status_code == 303
            page = labelling.get(drawn[-1]["back"].partition("#")[0]).text
        [following] = re.findall(r'rel="next" href="(.*?)"', page)
        page = labelling.get(unescape(following).partition("#")[0]).text
    groups = Counter(prompts[run_id, one["prompt"]].groups for one in drawn[:8])
    assert sorted(groups.values()) == [4, 4]
    assert len({(one["prompt"], one["trial"]) for one in drawn}) == 9
    assert "you graded 8." in page
    assert form_of(labelling.get(asked).text)["prompt"] == drawn[4]["prompt"]
    places = [one.prompt_id for one in answers_to_score(Ledger(labelling.ledger), "", run_id)[0]]
    with Ledger(labelling.ledger).read() as connection:
        [scorer] = connection.execute(
            "select distinct scorer from raw.response_scores where run_id = ? and contains(scorer, 'condescension')",
            [run_id],
        ).fetchall()
    sample, _, _ = draw(Ledger(labelling.ledger), run_id=run_id, scorers=scorer)
    assert [(one["prompt"], int(one["trial"])) for one in drawn] == [
        (one.prompt_id, one.trial) for one in sample[:9]
    ]
    for group in groups:
        # All answers about a group: chance alone puts none in the order of their arrival.
        whole = [
            places.index(one.prompt_id) for one in sample if prompts[run_id, one.prompt_id].groups == group
        ]
        assert len(whole) > 12
        assert whole not in (sorted(whole), sorted(whole, reverse=True))
    for one in drawn:
        take_back(labelling, one)


def test_a_rubric_that_no_judge_was_asked_yet_can_be_graded(labelling: Explorer) -> None:
    page = labelling.get(link("/grade", run=judged_run(labelling.ledger), rubric="toxicity")).text
    assert "Is the reply rude, disrespectful or unreasonable" in page
    assert "by the judge" not in page
    form = form_of(page)
    # As long as no judge has graded, a grade can be changed.
    for label in ("yes", "no"):
        assert post(labelling, {**form, "label": label}).status_code == 303
        assert [(one.label, one.is_drawn) for one in grades_of(labelling, "toxicity")] == [(label, True)]
    assert "by the judge" not in labelling.get(form["back"].partition("#")[0]).text


@pytest.mark.parametrize(
    ("grades", "keys"),
    [
        (["1", "2", "3"], ["1", "2", "3"]),
        (list("0123456789"), list("0123456789")),
        (["-1", "0", "1"], ["1", "2", "3"]),
        ([str(grade) for grade in range(11)], list("123456789")),
        (["j", "k"], ["1", "2"]),
        (["٣", "yes"], ["1", "2"]),
    ],
)
def test_each_key_gives_one_grade(grades: list[str], keys: list[str]) -> None:
    question = Question("mine", "?", dict.fromkeys(grades, ""))
    assert question.keys == dict(zip(grades, keys, strict=False))


def test_the_page_shows_the_keys_that_work(labelling: Explorer) -> None:
    asked = link("/grade", run=judged_run(labelling.ledger), rubric="helpfulness")
    # Grades 1 to 5 and 10.
    page = labelling.get(asked).text
    assert re.findall(r'data-key="(.*?)">(?:<kbd>(.*?)</kbd> )?(\w+)', page) == [
        *((key, "", key) for key in "12345"),
        ("6", "6", "10"),
    ]


def test_nobody_grades_by_two_versions_of_a_rubric(audited: Path, tmp_path: Path) -> None:
    folder = copied(audited, tmp_path)
    ledger = Ledger(folder / "ledger.duckdb")
    run_id = judged_run(ledger.path)
    says = "Judges graded this run by different versions of the rubric"
    _, rubric = load_rubric("warmth")
    changed = rubric.model_copy(update={"answers": {**rubric.answers, "10": "very warm"}})
    file = tmp_path / "grades.csv"
    with serving(folder, label_as=NAME) as explorer:
        asked = link("/grade", run=run_id, rubric="warmth")
        page = explorer.get(asked).text
        form = form_of(page)
        file.write_text(f"run,prompt,trial,label\n{run_id},{form['prompt']},{form['trial']},3\n", "utf-8")
        for scorer, version, is_refused in (
            ("one", rubric, False),
            ("another judge", rubric, False),
            ("one of the changed rubric", changed, True),
        ):
            detail = version.document("warmth")
            keep_event(ledger, run_id, GRADED, {"scorer": scorer, **detail, "swaps": []})
            # A file of grades is of one version, too.
            if scorer == "another judge":
                assert (
                    keep_file(file, ledger.path, "Bo", "warmth", tuple(rubric.answers), rubric.hash)[0].n_kept
                    == 1
                )
                with pytest.raises(
                    InputError, match=f"run {run_id} by another version of the rubric 'warmth'"
                ):
                    keep_file(file, ledger.path, "Bo", "warmth", tuple(changed.answers), changed.hash)
            page = explorer.get(asked).text
            assert (says in page, 'class="labels' not in page) == (is_refused, is_refused), scorer
        refused = post(explorer, {**form, "label": "3"})
        assert (refused.status_code, says in refused.text) == (400, True)
        with pytest.raises(InputError, match="another version"):
            keep_file(file, ledger.path, "Cy", "warmth", tuple(rubric.answers), rubric.hash)
        assert [one.labelled_by for one in grades_of(explorer, "warmth")] == ["Bo"]
        pairs = explorer.get(link("/pairs", run=run_id)).text
        assert says in pairs
        assert 'value="warmth"' not in pairs
        # Other rubrics of the run can be graded.
        assert 'class="labels' in explorer.get(link("/grade", run=run_id, rubric="toxicity")).text


def test_an_unknown_rubric_is_said_unless_the_form_changed_the_run(labelling: Explorer) -> None:
    run_id = judged_run(labelling.ledger)
    refused = labelling.get(link("/grade", run=run_id, rubric="helpfulnes"))
    assert refused.status_code == 400
    assert "There is no rubric 'helpfulnes'" in unescape(refused.text)
    assert labelling.get(link("/grade", run=run_id, rubric="mine", of=run_id)).status_code == 400
    changed = labelling.get(link("/grade", run=run_id, rubric="mine", of="another"))
    assert form_of(changed.text)["rubric"] == "helpfulness"
    assert f'name="of" value="{run_id}"' in changed.text


def test_the_ledger_is_not_opened_for_no_answers(
    labelling: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("biasledger.serving.labelling.Ledger")
    assert labels_of_run(Served(labelling.warehouse, labelling.ledger), "run", []) == {}


def test_grades_that_are_none_are_refused(labelling: Explorer, explorer: Explorer) -> None:
    run_id = judged_run(labelling.ledger)
    form = {**form_of(labelling.get(link("/grade", run=run_id, rubric="helpfulness")).text), "label": "3"}
    for wrong, says in (
        ({"label": "6"}, "is one of"),
        ({"label": "problematic"}, "is one of"),
        ({"label": "<script>"}, "is one of"),
        ({"rubric": "helpfull"}, "There is no rubric"),
        ({"rubric": "../rubrics/helpfulness.yml"}, "There is no rubric"),
        ({"rubric": "", "label": "3"}, "is one of"),
        ({"run": "none"}, "holds no text"),
        ({"trial": "-1"}, "A label is of one answer"),
        ({"token": "guessed"}, "explorer that has ended"),
    ):
        refused = post(labelling, {**form, **wrong})
        assert refused.status_code == 400, wrong
        assert says in unescape(refused.text), wrong
    navigated = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert post(labelling, form, **navigated).status_code == 403
    assert post(explorer, form).status_code in {404, 405}
    assert [one for one in grades_of(labelling, "helpfulness") if one.labelled_by == NAME] == []
    # Whether an answer is acceptable is not asked in the sample, so that no form says that it was drawn.
    plain = {**form, "rubric": "", "label": "acceptable"}
    assert post(labelling, plain).status_code == 303
    with Ledger(labelling.ledger).read() as connection:
        assert not any(one.is_drawn for one in read_labels(connection, run_id))
    post(labelling, {**plain, "label": ""})
    for odd in ("run=none", "rubric=none", "place=99999999", "place=-1", "place=x", "run=%00&rubric=%2e%2e"):
        assert labelling.get(f"/grade?{odd}").status_code in {200, 400}, odd


@pytest.mark.slow
def test_a_reader_grades_by_keyboard_on_a_phone_and_without_scripts(
    labelling: Explorer, open_page: Open
) -> None:
    address = labelling.address + link("/grade", run=judged_run(labelling.ledger), rubric="warmth")[1:]
    opened = open_page(address, 390, 844)
    assert violations(opened) == []
    assert overflow(opened) <= 0
    wide = open_page(address)
    wide.page.keyboard.press("4")
    wide.page.get_by_text("Graded 4 by").wait_for(timeout=SECONDS * 1000)
    assert violations(wide) == []
    wide.page.emulate_media(color_scheme="dark")
    assert violations(wide, rules=["color-contrast"]) == []
    wide.page.keyboard.press("j")
    wide.page.get_by_text("Answer 2 of").wait_for(timeout=SECONDS * 1000)
    # A digit in the comment grades nothing.
    wide.page.get_by_label("Comment").press_sequentially("5")
    assert wide.page.get_by_label("Comment").input_value() == "5"
    assert wide.troubles + opened.troubles == []
    plain = open_page(address, java_script_enabled=False).page
    plain.get_by_role("button", name="3 neutral").click()
    plain.get_by_role("link", name="Next of the sample").click()
    assert "place=3" in plain.url
    assert [one.label for one in grades_of(labelling, "warmth")] == ["4", "3"]
    opened = open_page(labelling.address + link("/pairs", run=judged_run(labelling.ledger))[1:], 390, 844)
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(opened) == []
    assert overflow(opened) <= 0


@pytest.mark.slow
def test_a_reader_labels_answers_by_keyboard(labelling: Explorer, open_page: Open) -> None:
    [(finding,)] = labelling.rows(
        "select max(finding_id) from marts.fct_findings where measure = 'word_divergence' and status = 'alarm'"
    )
    for path in ("pairs", f"finding/{finding}"):
        opened = open_page(labelling.address + path)
        form = opened.page.locator("form.labels").first
        run, prompt = (form.locator(f"[name={name}]").input_value() for name in ("run", "prompt"))
        form.get_by_role("button", name="acceptable").focus()
        opened.page.keyboard.press("Enter")
        opened.page.get_by_text("Labelled acceptable by").first.wait_for(timeout=SECONDS * 1000)
        assert (prompt, "acceptable") in {(one[0], one[2]) for one in labels_of(labelling, run)}
        assert violations(opened) == [], path
        assert opened.troubles == [], path
        assert path in opened.page.url
