"""Importing decisions: one run a model, what a file calls groups, names as carriers, and rankings of a row a candidate."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InputError
from collector.importers.tabular import import_runs
from collector.ledger.summary import RunSummary
from collector.rows import response_hash
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, PromptAttribute

Query = Callable[[str], list[tuple[Any, ...]]]
Content = Callable[[], dict[str, list[tuple[Any, ...]]]]
Write = Callable[..., Path]
Row = dict[str, Any]

LABELS_AUDIT = """
audit: levels
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
answer: {kind: label, labels: [Junior, Senior]}
import:
  split: model
  columns:
    text: said
    subject: cv
    expected: truth
    model: model
    carrier: name
    attributes: {race: who, gender: who}
  values:
    race: {wm: white, wf: white, bm: black, bf: black}
    gender: {wm: male, wf: female, bm: male, bf: female}
"""
LABELS: list[Row] = [
    {"cv": 1, "truth": "junior", "who": "wm", "name": "Greg", "model": "b-2", "said": "junior"},
    {"cv": 1, "truth": "junior", "who": "bf", "name": "Nia", "model": "a 1", "said": "Senior."},
    {"cv": 1, "truth": "junior", "who": "wm", "name": "Greg", "model": "a 1", "said": "error"},
    {
        "cv": 1,
        "truth": "junior",
        "who": "bf",
        "name": "Nia",
        "model": "b-2",
        "said": "I can't help with that.",
    },
    {"cv": 2, "truth": "", "who": "wf", "name": "Anne", "model": "a 1", "said": "SENIOR"},
    {"cv": 1, "truth": "junior", "who": "bf", "name": "Nia", "model": "a 1", "said": "junior"},
]
RANKINGS_AUDIT = """
audit: places
attributes:
  race: {reference: White, groups: {White: W, Black: B}}
  gender: {reference: M, groups: [M, F]}
answer: {kind: ranking}
import:
  columns:
    response: run
    subject: job
    domain: job
    slot: shown
    rank: given
    missing: absent
    carrier: name
    attributes: {race: race, gender: gender}
"""


def candidate(
    run: str, job: str, shown: int, given: object, name: str, race: str, gender: str, absent: object = 0
) -> Row:
    return {
        "run": run,
        "job": job,
        "shown": shown,
        "given": given,
        "name": name,
        "race": race,
        "gender": gender,
        "absent": absent,
    }


RANKINGS: list[Row] = [
    candidate("r1", "nurse", 2, 1, "Nia", "Black", "F"),
    candidate("r1", "nurse", 1, 2, "Greg", "W", "M"),
    candidate("r1", "clerk", 1, 1, "Anne", "White", "F"),
    candidate("r2", "nurse", 1, 1, "Greg", "W", "M"),
    candidate("r1", "clerk", 2, 3, "Nia", "B", "F", "true"),
    candidate("r1", "clerk", 3, "", "Jamal", "B", "M", 1),
    candidate("r2", "nurse", 2, 2, "Nia", "B", "F"),
]


@pytest.fixture
def bring(write_spec: Write, ledger_path: Path, tmp_path: Path) -> Callable[..., tuple[RunSummary, ...]]:
    def run(
        text: str, rows: Sequence[Row], *changes: tuple[str, str], **options: Any
    ) -> tuple[RunSummary, ...]:
        spec, file = write_spec(text, *changes), tmp_path / "rows.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return import_runs(load_audit(spec), spec, file, ledger_path, **options)

    return run


Bring = Callable[..., tuple[RunSummary, ...]]


def changed(rows: Sequence[Row], number: int, **cells: object) -> list[Row]:
    """Return the rows with cells of one of them (from 1) changed."""
    return [{**row, **cells} if index == number else dict(row) for index, row in enumerate(rows, start=1)]


def test_each_model_is_a_run(bring: Bring, query: Query) -> None:
    first, second = bring(LABELS_AUDIT, LABELS)
    assert (first.target, first.n_prompts, first.n_responses, first.counts) == (
        "a 1",
        3,
        4,
        {"ok": 3, "unread": 1},
    )
    assert (second.target, second.n_prompts, second.n_responses, second.counts) == (
        "b-2",
        2,
        2,
        {"ok": 1, "refused": 1},
    )
    assert first.run_id.startswith("levels-a-1-")
    assert query("select target, model_asked, source_name from raw.runs order by target") == [
        ("a 1", "a 1", "rows.csv"),
        ("b-2", "b-2", "rows.csv"),
    ]
    assert query("select event, count(*) from raw.run_events group by event order by event") == [
        ("finished", 2),
        ("started", 2),
    ]
    # Every run counts its answers and trials from 1, and the same question is the same prompt in both.
    assert query(
        "select model_answered, seq, trial, status, answer_text from raw.responses order by model_answered, seq"
    ) == [
        ("a 1", 1, 1, "ok", "Senior"),
        ("a 1", 2, 1, "unread", None),
        ("a 1", 3, 1, "ok", "Senior"),
        ("a 1", 4, 2, "ok", "Junior"),
        ("b-2", 1, 1, "ok", "Junior"),
        ("b-2", 2, 1, "refused", None),
    ]
    assert query(
        "select prompt_id from raw.prompts group by prompt_id having count(*) = 2 order by 1"
    ) == sorted(query("select prompt_id from raw.prompts where run_id like '%b-2%'"))
    assert json.loads(query("select parameters from raw.runs limit 1")[0][0])["split"] == "model"


def test_groups_names_and_expected_labels_are_those_of_the_row(bring: Bring, query: Query) -> None:
    bring(LABELS_AUDIT, LABELS)
    expected = Prompt(
        template="imported",
        language="en",
        variant="plain",
        prompt_text=None,
        subject="1",
        expected_label="Junior",
        attributes=(
            PromptAttribute(1, "race", "black", "Nia"),
            PromptAttribute(1, "gender", "female", "Nia"),
        ),
    )
    assert query(
        f"select distinct content_hash, expected_label from raw.prompts where prompt_id = '{expected.prompt_id}'"
    ) == [(expected.content_hash, "Junior")]
    assert query("select expected_label from raw.prompts where subject = '2'") == [(None,)]


def test_without_a_split_there_is_one_run(bring: Bring, query: Query) -> None:
    (summary,) = bring(LABELS_AUDIT, LABELS, ("  split: model\n", ""), name="both")
    assert (summary.target, summary.n_prompts, summary.n_responses) == ("both", 3, 6)
    models, unread = summary.warnings
    assert models == "rows.csv holds answers of several models (a 1, b-2); they stand in one run."
    assert unread.startswith(
        "1 answer cannot be read: The answer names none of the labels 'Junior', 'Senior'. Examples: 'error'. "
    )
    assert query("select max(seq), max(trial) from raw.responses") == [(6, 3)]


def test_a_group_may_still_be_called_by_its_name(bring: Bring) -> None:
    rows = [{**row, "gender": "male" if row["who"].endswith("m") else "female"} for row in LABELS]
    changes = [
        ("gender: who", "gender: gender"),
        ("    gender: {wm: male, wf: female, bm: male, bf: female}\n", ""),
    ]
    assert len(bring(LABELS_AUDIT, rows, *changes)) == 2


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            changed(LABELS, 3, who="xm"),
            "row 3 has 'xm' as 'who', which is no group of race; known: 'white', 'black', 'wm', 'wf', 'bm', 'bf'",
        ),
        (
            changed(LABELS, 4, name=" "),
            "row 4 has no 'name'; it should hold the carrier, the name that states a row's groups.",
        ),
        (
            changed(LABELS, 2, model=""),
            "row 2 has no 'model'; it should hold the model, by which import.split makes the runs.",
        ),
        (
            changed(LABELS, 5, truth="mid"),
            "row 5 has 'mid' as 'truth', which is none of the labels; known: 'Junior', 'Senior'.",
        ),
        (
            changed(LABELS, 5, truth="senor"),
            "row 5 has 'senor' as 'truth', which is none of the labels; did you mean 'Senior'?",
        ),
    ],
)
def test_wrong_rows_of_labels(
    bring: Bring, ledger_path: Path, tmp_path: Path, rows: list[Row], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        bring(LABELS_AUDIT, rows)
    assert str(caught.value) == f"{tmp_path / 'rows.csv'}: {told}"
    assert not ledger_path.exists()


def test_a_split_file_is_imported_once_and_has_no_other_name(
    bring: Bring, content: Content, tmp_path: Path
) -> None:
    bring(LABELS_AUDIT, LABELS)
    before = content()
    with pytest.raises(
        InputError, match=r"was imported for the audit 'levels' before, as run levels-.*--again"
    ):
        bring(LABELS_AUDIT, LABELS)
    with pytest.raises(
        InputError, match=r"makes a run for each model in rows\.csv and calls it after the model"
    ):
        bring(LABELS_AUDIT, LABELS, name="mine")
    assert content() == before
    assert len(bring(LABELS_AUDIT, LABELS, again=True)) == 2


def test_scores_are_imported(bring: Bring, query: Query) -> None:
    rows = [
        {**row, "said": said, "truth": "7.0"}
        for row, said in zip(LABELS, ["7/10", "8", "11", "x", "9.50", "0"], strict=True)
    ]
    bring(
        LABELS_AUDIT,
        rows,
        ("{kind: label, labels: [Junior, Senior]}", "{kind: score, minimum: 0, maximum: 10}"),
    )
    assert sorted(query("select status, answer_text from raw.responses"), key=repr) == [
        ("ok", "0"),
        ("ok", "7"),
        ("ok", "8"),
        ("ok", "9.5"),
        ("unread", None),
        ("unread", None),
    ]
    assert query("select distinct expected_label from raw.prompts") == [("7",)]


@pytest.mark.parametrize(
    ("answer", "first", "second", "kept"),
    [
        ("{kind: label, labels: [Junior, Senior]}", "Senior", "senior", "Senior"),
        ("{kind: score, minimum: 0, maximum: 10}", "7", "7.0", "7"),
    ],
)
def test_an_expected_answer_written_in_two_ways_is_one(
    bring: Bring, query: Query, answer: str, first: str, second: str, kept: str
) -> None:
    rows = [{**LABELS[1], "truth": first}, {**LABELS[1], "truth": second}]
    (summary,) = bring(LABELS_AUDIT, rows, ("{kind: label, labels: [Junior, Senior]}", answer))
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select expected_label from raw.prompts") == [(kept,)]
    assert query("select trial from raw.responses order by trial") == [(1,), (2,)]


def test_a_group_written_in_two_ways_beside_a_name_is_one_prompt(bring: Bring, query: Query) -> None:
    """The name is the carrier, whichever of the group's own words stands beside it."""
    several = "race: {reference: white, groups: {white: [white, European], black: black}}"
    rows = [
        {**LABELS[0], "who": who, "truth": "", "race": race}
        for who, race in (("wm", "white"), ("wm", "European"))
    ]
    (summary,) = bring(
        LABELS_AUDIT,
        rows,
        ("race: {reference: white, groups: [white, black]}", several),
        ("{race: who, gender: who}", "{race: race, gender: who}"),
    )
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select distinct carrier from raw.prompt_attributes") == [("Greg",)]


def test_rows_of_a_response_are_one_ranking(bring: Bring, query: Query) -> None:
    (summary,) = bring(RANKINGS_AUDIT, RANKINGS)
    # r1 and r2 about nurses show the same people in the same places, so r2 is a second answer to one prompt.
    assert (summary.n_prompts, summary.n_responses, summary.counts) == (2, 3, {"ok": 3})
    answers = query(
        "select seq, trial, subject, domain, answer_text from raw.responses inner join raw.prompts using (run_id, prompt_id) "
        "order by seq"
    )
    assert [(seq, trial, subject, domain) for seq, trial, subject, domain, _ in answers] == [
        (1, 1, "nurse", "nurse"),
        (2, 1, "clerk", "clerk"),
        (3, 2, "nurse", "nurse"),
    ]
    assert [json.loads(text) for *_, text in answers] == [
        [{"slot": 1, "rank": 2, "is_missing": False}, {"slot": 2, "rank": 1, "is_missing": False}],
        [
            {"slot": 1, "rank": 1, "is_missing": False},
            {"slot": 2, "rank": 3, "is_missing": True},
            {"slot": 3, "rank": None, "is_missing": True},
        ],
        [{"slot": 1, "rank": 1, "is_missing": False}, {"slot": 2, "rank": 2, "is_missing": False}],
    ]
    assert query(
        "select slot, attribute, group_name, carrier from raw.prompt_attributes inner join raw.prompts using (run_id, prompt_id) "
        "where subject = 'clerk' order by slot, attribute desc"
    ) == [
        (1, "race", "White", "Anne"),
        (1, "gender", "F", "Anne"),
        (2, "race", "Black", "Nia"),
        (2, "gender", "F", "Nia"),
        (3, "race", "Black", "Jamal"),
        (3, "gender", "M", "Jamal"),
    ]
    ((prompt_hash, response, text, kept),) = query(
        "select prompts.content_hash, responses.content_hash, answer_text, response_text from raw.responses "
        "inner join raw.prompts using (run_id, prompt_id) where subject = 'clerk'"
    )
    # Nobody knows what was written; the places tell answers apart.
    assert kept is None
    assert response == response_hash(prompt_hash, "ok", text)


def test_answers_are_ordered_by_number_and_keep_the_rest_of_their_first_row(
    bring: Bring, query: Query
) -> None:
    rows = [
        {**row, "at": at, "count": count, "model": "m"}
        for row, at, count in zip(RANKINGS, [10, 11, 9, 100, 9, 9, 101], [3, 9, 2, 1, 2, 2, 1], strict=True)
    ]
    (summary,) = bring(
        RANKINGS_AUDIT,
        rows,
        ("slot: shown", "slot: shown\n    order: at\n    weight: count\n    model: model"),
    )
    assert summary.warnings == ()
    # As text, 10 and 100 would go before 9.
    assert query(
        "select seq, subject, trial, weight, model_answered from raw.responses inner join raw.prompts using (run_id, prompt_id) "
        "order by seq"
    ) == [(1, "clerk", 1, 2.0, "m"), (2, "nurse", 1, 3.0, "m"), (3, "nurse", 2, 1.0, "m")]


def test_people_have_no_fractions(bring: Bring) -> None:
    told = "row 2 has '0.5' as 'count'; weight should be a whole number from 1, how many answers the row stands for"
    rows = [{**row, "count": count} for row, count in zip(RANKINGS, [1, 0.5, 1, 1, 1, 1, 1], strict=True)]
    with pytest.raises(InputError, match=told):
        bring(RANKINGS_AUDIT, rows, ("slot: shown", "slot: shown\n    weight: count"))


def test_without_a_column_for_it_a_candidate_without_rank_is_missing(bring: Bring, query: Query) -> None:
    bring(RANKINGS_AUDIT, changed(RANKINGS, 5, given=2), ("    missing: absent\n", ""))
    ((text,),) = query(
        "select answer_text from raw.responses inner join raw.prompts using (run_id, prompt_id) where subject = 'clerk'"
    )
    assert [one["is_missing"] for one in json.loads(text)] == [False, False, True]


def test_the_order_of_rows_does_not_matter_within_an_answer(bring: Bring, query: Query) -> None:
    bring(RANKINGS_AUDIT, RANKINGS)
    hashes = "select distinct content_hash from raw.responses order by 1"
    before = query(hashes)
    bring(RANKINGS_AUDIT, list(reversed(RANKINGS)))
    assert query(hashes) == before


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            changed(RANKINGS, 2, shown=2),
            "rows 1 and 2 are both slot 2 of the same answer; each 'shown' of an answer may stand once.",
        ),
        (
            changed(RANKINGS, 2, given=1),
            "rows 1 and 2 are both rank 1 of the same answer; each 'given' of an answer may stand once.",
        ),
        (
            changed(RANKINGS, 1, shown=3),
            "row 1 has a 'shown' above 2, the number of candidates that the same answer has.",
        ),
        (
            changed(RANKINGS, 1, given=3),
            "row 1 has a 'given' above 2, the number of candidates that the same answer has.",
        ),
        (
            changed(RANKINGS, 1, given=""),
            "row 1 has no 'given' and is not marked as missing from its answer.",
        ),
        (
            changed(RANKINGS, 1, shown=0),
            "row 1 has '0' as 'shown'; slot should be a whole number from 1, the place at which",
        ),
        (
            changed(RANKINGS, 1, shown=""),
            "row 1 has nothing as 'shown'; slot should be a whole number from 1",
        ),
        (
            changed(RANKINGS, 1, given="first"),
            "row 1 has 'first' as 'given'; rank should be a whole number from 1, which is best.",
        ),
        (
            changed(RANKINGS, 1, absent="maybe"),
            "row 1 has 'maybe' as 'absent'; it should be 1 (the answer does not name",
        ),
        (
            changed(RANKINGS, 1, run=""),
            "row 1 has no 'run'; it should hold the name or number of the answer that the row",
        ),
        (
            changed(RANKINGS, 1, job=""),
            "row 1 has no 'job'; it should hold the subject that the answer is about.",
        ),
        (
            changed(RANKINGS, 1, race="X"),
            "row 1 has 'X' as 'race', which is no group of race; known: 'W', 'White', 'B', 'Black'",
        ),
        (RANKINGS[:3], "row 3 is the only one of its 'run'; a ranking has a row for each candidate."),
    ],
)
def test_wrong_rows_of_rankings(
    bring: Bring, ledger_path: Path, tmp_path: Path, rows: list[Row], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        bring(RANKINGS_AUDIT, rows)
    assert str(caught.value).startswith(f"{tmp_path / 'rows.csv'}: {told}")
    assert not ledger_path.exists()


@pytest.mark.parametrize(
    ("text", "changes", "told"),
    [
        (
            LABELS_AUDIT,
            [("    model: model\n", "")],
            "the key import.columns.model is missing; split: model makes a run for each",
        ),
        (LABELS_AUDIT, [("split: model", "split: cv")], "import.split is 'cv' and should be 'model'."),
        (
            LABELS_AUDIT,
            [("    text: said\n", "")],
            "the key import.columns.text is missing; it names the column that holds the answers.",
        ),
        (
            LABELS_AUDIT,
            [("text: said", "text: said\n    slot: x")],
            "import.columns.slot is for rankings and the answer's kind is 'label'; remove it.",
        ),
        (
            LABELS_AUDIT,
            [("race: {wm: white", "race: {wm: whit")],
            "import.values.race.wm is 'whit', which is no group of race; did you mean 'white'?",
        ),
        (
            LABELS_AUDIT,
            [("    race: {wm", "    rac: {wm")],
            "import.values.rac is no attribute of this audit; did you mean 'race'?",
        ),
        (
            LABELS_AUDIT,
            [("attributes: {race: who, gender: who}", "attribute: a\n    value: b")],
            "import.values is for files with a column for each attribute; give import.columns.attributes, or remove it.",
        ),
        (
            RANKINGS_AUDIT,
            [("    slot: shown\n", "")],
            "the key import.columns.slot is missing; a file of rankings has a row for each",
        ),
        (
            RANKINGS_AUDIT,
            [("    subject: job\n", "")],
            "the key import.columns.subject is missing; a file of rankings has a row",
        ),
        (
            RANKINGS_AUDIT,
            [("slot: shown", "slot: shown\n    text: x")],
            "import.columns.text cannot stand beside rankings, whose rows hold places",
        ),
    ],
)
def test_wrong_mappings(write_spec: Write, text: str, changes: list[tuple[str, str]], told: str) -> None:
    path = write_spec(text, *changes)
    with pytest.raises(InputError) as caught:
        load_audit(path)
    assert str(caught.value).removeprefix(f"{path}: ").startswith(told)
