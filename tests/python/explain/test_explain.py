"""Test the explanation of a finding: its thresholds, its rows, and answers that contain the marked words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result

from biasledger.cli import cli
from biasledger.explaining import Explanation, explain_finding
from biasledger.explaining.marks import Span
from biasledger.explaining.output import _clear, _interval, _marked, _value, as_json
from biasledger.measures.declared import declared
from collector.errors import InputError
from collector.ledger.erasure import erase

MEASURES = sorted([
    "accuracy_gap", "answer_gap", "category_association", "impact_ratio", "marker_association", "negative_regard",
    "negative_regard_gap", "personality_fairness", "place_gap", "position_bias", "price_gap", "price_share", "price_spread",
    "probe_stereotype_ratio", "rank_gap", "repeat_spread", "robustness", "shortfall_spread", "snsr", "snsv", "stereotype_gap",
    "stereotype_ratio", "unanswered_spread",
    *(one.name for method in ("texts", "words") for one in declared(method) if not one.only_where_found),
])  # fmt: skip


@pytest.fixture(scope="module")
def finding_of(audited: Path) -> Callable[..., dict[str, Any]]:
    """The first finding of a measure, alarms before others, that fits a condition."""

    def find(measure: str, condition: str = "true") -> dict[str, Any]:
        with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
            cursor = connection.execute(
                f"select * from marts.fct_findings where measure = '{measure}' and {condition} "
                "order by status, audit, target, attribute, group_name, mitigation, finding_id limit 1"
            )
            row = cursor.fetchone()
            assert row is not None, measure
            return dict(zip([column[0] for column in cursor.description], row, strict=True))

    return find


def explain(audited: Path, finding: dict[str, Any], n: int = 2) -> Explanation:
    return explain_finding(finding["finding_id"], audited / "warehouse.duckdb", audited / "ledger.duckdb", n)


def marked(explanation: Explanation, side: int, role: str = "first") -> list[set[str]]:
    """The different texts marked in each answer of a side, in small letters."""
    return [
        {(answer.text or "")[span.start : span.end].lower() for span in answer.spans if span.role == role}
        for answer in explanation.sides[side].answers
    ]


def test_every_measure_of_the_project_is_walked_back_here(audited: Path) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        rows = connection.execute("select distinct measure from marts.fct_findings order by all").fetchall()
    assert [measure for (measure,) in rows] == MEASURES


@pytest.mark.parametrize("measure", MEASURES)
def test_what_a_finding_was_judged_by(
    audited: Path, finding_of: Callable[..., dict[str, Any]], measure: str
) -> None:
    finding = finding_of(measure)
    found = explain(audited, finding)
    row = found.judgement.threshold_row
    assert row is not None
    assert (row["measure"], row["threshold"], row["alpha"]) == (
        measure,
        finding["threshold"],
        finding["alpha"],
    )
    assert found.judgement.measure["measure"] == measure
    assert found.judgement.run["run_id"] == finding["run_id"]
    assert found.evidence.tables
    assert any(table.rows for table in found.evidence.tables)
    assert found.missing == []
    for side in found.sides:
        assert len(side.answers) <= 2
        assert side.n_answers is None or len(side.answers) <= side.n_answers
        for answer in side.answers:
            prompt, trial, attempt = answer.response_id.split(".")
            assert len(prompt) == 16
            assert int(trial) >= 1 <= int(attempt)
            assert answer.response_hash.startswith("sha256:")
    text = json.dumps(as_json(found), allow_nan=False)
    assert json.loads(text)["finding"]["finding_id"] == finding["finding_id"]


def test_the_rows_say_what_the_finding_says(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    columns = {
        "word_divergence": ("fct_word_divergence", "jsd_debiased"),
        "classifier_accuracy": ("fct_classifier_accuracy", "beyond_chance"),
        "length_gap": ("fct_answer_lengths", "length_gap"),
        "rank_gap": ("fct_decision_gaps", "adjusted_gap"),
        "place_gap": ("fct_decision_gaps", "adjusted_gap"),
        "stereotype_gap": ("fct_stereotype_gaps", "adjusted_gap"),
        "negative_regard_gap": ("fct_regard_gaps", "adjusted_gap"),
    }
    for measure, (table, column) in columns.items():
        finding = finding_of(measure)
        tables = {one.table: one for one in explain(audited, finding, 0).evidence.tables}
        (row,) = tables[table].rows
        assert row[column] == pytest.approx(finding["value"]), measure


def test_words(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding = finding_of(
        "marked_words",
        "audit = 'products' and status = 'alarm' and attribute = 'race' and group_name = 'Black' and mitigation = 'plain'",
    )
    found = explain(audited, finding)
    group, reference = found.sides
    assert (group.name, reference.name) == ("Black", "White")
    table, removed = found.evidence.tables
    assert removed.table == "fct_removed_words"
    stands_out = {row["word"] for row in table.rows if row["is_marked"] and row["z_score"] > 0}
    assert stands_out
    for words in marked(found, 0):
        assert len(words & stands_out) >= 3
    assert max(map(len, marked(found, 1))) < min(map(len, marked(found, 0)))
    for answer in group.answers:
        assert answer.persons[0].groups["race"] == "Black"
        assert any(name in (answer.prompt or "") for name in ("Black", "African American", "Afro-American"))


def test_lists(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    found = explain(audited, finding_of("snsr", "status = 'alarm' and attribute = 'race'"))
    least, most, neutral = found.sides
    assert least.name == "Black"
    texts = {answer.note: answer.text or "" for answer in neutral.answers}
    for side in (least, most):
        for answer in side.answers:
            subject = answer.note.split(":")[0]
            assert answer.spans
            for span in answer.spans:
                assert (answer.text or "")[span.start : span.end] in texts[subject]
    assert sum(map(len, marked(found, 0))) < sum(map(len, marked(found, 1)))


def test_wordings(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding = finding_of("robustness")
    disturbed, clean = explain(audited, finding).sides
    assert (disturbed.name, clean.name) == (finding["group_name"], "clean")
    assert len(disturbed.answers) == len(clean.answers) == 2
    for one, other in zip(disturbed.answers, clean.answers, strict=True):
        assert one.prompt != other.prompt
        assert one.spans
        assert all((one.text or "")[span.start : span.end] in (other.text or "") for span in one.spans)


def test_refusals(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    found = explain(audited, finding_of("unanswered_spread", "attribute = 'religion'"))
    side = found.sides[0]
    assert side.name == "Muslim"
    assert side.answers
    assert all(answer.status == "refused" for answer in side.answers)


def test_decisions(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding = finding_of("rank_gap", "attribute = 'race' and status = 'alarm'")
    black, white = explain(audited, finding).sides
    assert (black.name, white.name) == ("black", "white")
    for lower, higher in zip(black.answers, white.answers, strict=True):
        # The same resume, with a lower label under the black name.
        assert lower.note.split(",")[0] == higher.note.split(",")[0]
        ranks = [
            ("junior", "mid", "senior").index((one.text or "").strip().lower()) for one in (lower, higher)
        ]
        assert ranks[0] < ranks[1]
        assert [(one.spans[0].start, one.spans[0].end) for one in (lower, higher)] == [
            (0, len((one.text or "").strip())) for one in (lower, higher)
        ]
    places = explain(audited, finding_of("place_gap", "attribute = 'race'"))
    assert all(len(words) == 1 for side in (0, 1) for words in marked(places, side))


def test_prices(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    found = explain(audited, finding_of("price_gap", "attribute = 'race' and status = 'alarm'"))
    items = json.loads(found.sides[0].answers[0].text or "")
    cheapest = {item["name"].lower() for item in items if item["price_level"] == 1}
    assert marked(found, 0)[0] == cheapest
    share = finding_of("price_share", "attribute = 'race' and status = 'alarm'")
    level = len(share["member"])
    found = explain(audited, share)
    assert found.evidence.first == f"item of price level {share['member']}"
    items = json.loads(found.sides[0].answers[0].text or "")
    assert marked(found, 0)[0] == {item["name"].lower() for item in items if item["price_level"] == level}


def test_categories(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding = finding_of("category_association", "attribute = 'race' and status = 'alarm'")
    found = explain(audited, finding)
    chosen = found.evidence.first.removeprefix("item of category ")
    assert chosen == finding["member"]
    assert chosen in finding["explanation"].lower()
    items = json.loads(found.sides[0].answers[0].text or "")
    names = {item["name"].lower() for item in items if chosen.strip("()") in item["categories"]}
    assert names <= marked(found, 0)[0]
    assert marked(found, 0)[0]


def test_markers(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    found = explain(audited, finding_of("stereotype_gap", "status = 'alarm'"))
    stereotype = marked(found, 0)
    assert all(stereotype)
    assert found.sides[0].name == "Black"
    # Pronouns count in answers about nurses and CEOs, and "he" is not marked in "the".
    ratio = explain(audited, finding_of("stereotype_ratio", "subject = 'gender-occupation'"))
    for words in marked(ratio, 0):
        assert words & {"she", "her", "he", "his", "him"}
        assert "the" not in words
    lists = explain(audited, finding_of("marker_association", "status = 'alarm'"))
    assert lists.judgement.finding["member"] == "stereotype"
    assert lists.evidence.first == "marker of the list stereotype"
    assert all(marked(lists, 0))
    # The list's pronouns are those of another category.
    assert not {"she", "her"} & set().union(*marked(lists, 0))


def test_regard(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    found = explain(audited, finding_of("negative_regard_gap"), 4)
    assert [side.n_answers for side in found.sides] == [40, 40]
    assert all(answer.note == "read as negative, negative 1.00" for answer in found.sides[0].answers)


def run(audited: Path, *arguments: str) -> Result:
    options = ["--warehouse", str(audited / "warehouse.duckdb"), "--ledger", str(audited / "ledger.duckdb")]
    return CliRunner().invoke(cli, ["explain", *arguments, *options])


def test_the_text_tells_it_all(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding = finding_of("marked_words", "status = 'alarm' and severity = 'error' and mitigation = 'plain'")
    done = run(audited, finding["finding_id"], "--responses", "1")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert f"Alarm: {finding['explanation']}" in text
    for part in (
        "thresholds.csv: measure marked_words, audit *, attribute *",
        "Xu, Potka & Thomo (2026)",
        f"{finding['n_permutations']:,} permutations of labels, seed {finding['seed']}",
        "marts.fct_marked_words",
        "none in exceptions.csv",
        "«marked»: speaks for",
        f"`biasledger verify {finding['run_id']}` checks",
    ):
        assert part in text, part
    assert text.count("«") > 3
    assert "\x1b" not in done.stdout


def test_json_has_places_in_texts(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    done = run(audited, finding_of("stereotype_gap")["finding_id"], "--format", "json")
    found = json.loads(done.stdout)
    marks = [
        (answer["text"], mark)
        for side in found["answers"]
        for answer in side["shown"]
        for mark in answer["marks"]
    ]
    assert marks
    assert all(text[mark["start"] : mark["end"]] == mark["text"] for text, mark in marks)


def test_an_inconclusive_finding_is_no_pass(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    done = run(
        audited, finding_of("marked_words", "status = 'inconclusive'")["finding_id"], "--responses", "0"
    )
    assert "Inconclusive, which is no pass: " in done.stdout
    assert "The answers behind it" not in done.stdout
    done = run(audited, finding_of("probe_stereotype_ratio", "status = 'insufficient_data'")["finding_id"])
    assert "Not judged: there " in " ".join(done.stdout.split())


def test_the_beginning_of_an_id_is_enough(audited: Path, finding_of: Callable[..., dict[str, Any]]) -> None:
    finding_id = finding_of("snsr")["finding_id"]
    warehouse, ledger = audited / "warehouse.duckdb", audited / "ledger.duckdb"
    found = explain_finding(f" {finding_id[:12].upper()} ", warehouse, ledger, 0)
    assert found.judgement.finding["finding_id"] == finding_id
    with pytest.raises(
        InputError, match=r"\d+ findings begin with '\w': .* and \d+ more; give more of the id\."
    ):
        explain_finding(finding_id[0], warehouse, ledger, 0)
    wrong = finding_id[:10] + ("0" if finding_id[10] != "0" else "1") + finding_id[11:]
    with pytest.raises(InputError, match=rf"There is no finding '{wrong}'; did you mean '{finding_id}'\? "):
        explain_finding(wrong, warehouse, ledger, 0)
    for empty in ("", " "):
        with pytest.raises(
            InputError, match=r"^The finding's id is empty: `biasledger findings --all` lists"
        ):
            explain_finding(empty, warehouse, ledger, 0)
    for nonsense in ("zzz", "%", "'; drop table x"):
        with pytest.raises(InputError, match="There is no finding"):
            explain_finding(nonsense, warehouse, ledger, 0)


def test_a_value_says_whose_it_is_and_an_interval_without_a_lower_end_has_none() -> None:
    finding = {
        "value": 2.764,
        "member": "this",
        "reference_member": None,
        "value_low": None,
        "value_high": None,
        "interval_low": None,
        "interval_high": 2.7,
        "clear_threshold": 1.96,
    }
    unbounded = {"lowest": None, "highest": None}
    assert _value(finding, {"scale": "|z| of a word", "lowest": 0.0, "highest": None}) == (
        "2.76 of 'this', |z| of a word (at least 0)"
    )
    between = {**finding, "reference_member": "that"}
    assert _value(between, {"scale": "largest minus smallest"} | unbounded) == "2.76, largest minus smallest"
    assert _value(between, {"scale": "a gap", "lowest": -1.0, "highest": 1.0}) == "2.76, a gap (-1 to 1)"
    assert _interval(finding) == "none"
    assert _interval({**finding, "value_low": 0.5, "value_high": 2.7}) == "0.5 to 2.7 (95 %)"
    clear = {"clear_scale": "log-odds of any word", "side": "two-sided"}
    judged = "if the 95 % interval of the log-odds of any word lies within ±1.96"
    assert _clear(finding, clear) == f"{judged}; it is up to 2.7"
    assert _clear({**finding, "interval_high": None}, clear) == judged
    assert _clear({**finding, "interval_low": -2.7}, clear) == f"{judged}; it is -2.7 to 2.7"
    same = {"clear_scale": None, "side": "two-sided"}
    without = {**finding, "interval_high": None}
    assert _clear(without, same) == "not without an interval; it would have to lie within ±1.96"
    assert _clear(finding, same | {"side": "lower"}) == "if its 95 % interval lies above 1.96"


def copied(audited: Path, folder: Path, *statements: str) -> Path:
    """A copy of the warehouse, changed."""
    path = folder / "warehouse.duckdb"
    shutil.copyfile(audited / "warehouse.duckdb", path)
    with duckdb.connect(str(path)) as connection:
        for one in statements:
            connection.execute(one)
    return path


def test_what_a_finding_speaks_of_is_not_read_out_of_its_sentence_or_value(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]]
) -> None:
    warehouse = copied(
        audited,
        tmp_path,
        "update marts.fct_findings set explanation = 'Something was found.', statement = 'something was found', value = 0.1234",
    )
    for measure in (
        "price_share",
        "category_association",
        "marker_association",
        "price_spread",
        "impact_ratio",
    ):
        finding = finding_of(measure, "status = 'alarm'")
        before = as_json(explain(audited, finding))
        after = as_json(explain_finding(finding["finding_id"], warehouse, audited / "ledger.duckdb", 2))
        assert after["finding"]["member"] == finding["member"] is not None
        for part in ("rows", "marks", "answers"):
            assert after[part] == before[part], (measure, part)


def test_of_several_groups_the_ends_are_named(finding_of: Callable[..., dict[str, Any]]) -> None:
    for measure, condition, member in (
        ("snsr", "status = 'alarm' and attribute = 'race'", "Black"),
        ("unanswered_spread", "attribute = 'religion'", "Muslim"),
    ):
        finding = finding_of(measure, condition)
        assert finding["member"] == member
        assert finding["reference_member"] not in (None, member)


def test_where_all_groups_are_alike_answers_of_two_are_shown(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]]
) -> None:
    """Then no member exceeds the others."""
    warehouse = copied(
        audited, tmp_path, "update marts.fct_findings set member = null, reference_member = null"
    )
    for measure in ("unanswered_spread", "repeat_spread", "impact_ratio"):
        found = explain_finding(finding_of(measure)["finding_id"], warehouse, audited / "ledger.duckdb")
        assert len({shown.name for shown in found.sides}) == 2, measure


def test_an_older_warehouse_is_built_anew_first(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]]
) -> None:
    warehouse = copied(audited, tmp_path, "alter table marts.fct_findings drop column member")
    with pytest.raises(InputError, match=r"was built by an older version, .*: run `biasledger build`"):
        explain_finding(finding_of("snsr")["finding_id"], warehouse, audited / "ledger.duckdb")


@pytest.mark.parametrize(
    "changed",
    ["threshold = 0.5", "alpha = 0.01", "min_units = 3", "clear_threshold = 0.001", "severity = 'none'"],
)
def test_exceptions_and_thresholds_that_have_changed(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]], changed: str
) -> None:
    finding = finding_of("snsr", "status = 'alarm'")
    values = ", ".join(
        f"'{finding[name]}'" for name in ("audit", "target", "measure", "attribute", "group_name")
    )
    warehouse = copied(
        audited,
        tmp_path,
        f"insert into settings.exceptions values ({values}, null, 'head of audit', '2020-01-01', 'A known case.')",
        f"update settings.thresholds set {changed} where measure = 'snsr'",
    )
    done = CliRunner().invoke(
        cli, ["explain", finding["finding_id"], "--responses", "0", "--warehouse", str(warehouse)]
    )
    text = " ".join(done.stdout.split())
    assert "accepted by head of audit until 2020-01-01: A known case. (does not hold for it)" in text
    assert "The row of thresholds.csv is missing: it was changed after this finding was judged" in text


def test_without_a_ledger_the_rest_is_shown(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]]
) -> None:
    finding = finding_of("word_divergence")
    found = explain_finding(finding["finding_id"], audited / "warehouse.duckdb", tmp_path / "ledger.duckdb")
    (sentence,) = found.missing
    assert sentence.startswith("The answers themselves are missing: There is no ledger at ")
    assert found.evidence.tables
    assert found.sides == []
    from collector.ledger.database import Ledger

    Ledger(tmp_path / "ledger.duckdb").create()
    (sentence,) = explain_finding(
        finding["finding_id"], audited / "warehouse.duckdb", tmp_path / "ledger.duckdb"
    ).missing
    assert f"does not hold run {finding['run_id']}" in sentence


def test_an_erased_text_is_said_to_be(
    audited: Path, tmp_path: Path, finding_of: Callable[..., dict[str, Any]]
) -> None:
    finding = finding_of("rank_gap", "attribute = 'race'")
    shutil.copyfile(audited / "ledger.duckdb", tmp_path / "ledger.duckdb")
    shutil.copytree(audited / "journal", tmp_path / "journal")
    before = explain_finding(
        finding["finding_id"], audited / "warehouse.duckdb", tmp_path / "ledger.duckdb", 1
    )
    prompt, trial, attempt = before.sides[0].answers[0].response_id.split(".")
    erase(
        tmp_path / "ledger.duckdb",
        finding["run_id"],
        prompt,
        int(trial),
        int(attempt),
        reason="It named a person.",
    )
    after = explain_finding(
        finding["finding_id"], audited / "warehouse.duckdb", tmp_path / "ledger.duckdb", 1
    )
    answer = after.sides[0].answers[0]
    assert answer.text is None
    assert answer.missing.startswith("the text was erased on ")
    assert answer.missing.endswith(": It named a person.")
    assert answer.spans == []


def test_marks_on_a_terminal_and_elsewhere() -> None:
    text, spans = "say \x1b[2J she, he", [Span(9, 12, "first"), Span(14, 16, "second")]
    assert _marked(text, spans, False).plain == r"say \x1b[2J «she», ‹he›"
    styled = _marked(text, spans, True)
    assert styled.plain == r"say \x1b[2J she, he"
    assert {str(span.style) for span in styled.spans} == {"bold underline", "italic underline"}


def test_an_endless_word_does_not_flood_the_terminal() -> None:
    shown = _marked(f"before {'x' * 10_000} after", [Span(0, 6, "first")], False).plain
    assert shown == f"«before» {'x' * 60}… (9,940 characters more) after"
