"""Test imports of decisions: a run for each model, a file's words for groups, names as descriptors, and rankings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.errors import InputError
from collector.rows import response_hash
from collector.spec.prompts import Prompt, PromptAttribute
from tests.python.collector.importing import ANSWERS, BringRuns, Content, Query, Refused, Row, changed
from tests.python.collector.specs import LABELS_IMPORT, RANKINGS_IMPORT, Change, is_message


def answer(cv: int, who: str, name: str, model: str, said: str, truth: str = "junior") -> Row:
    return {"cv": cv, "truth": truth, "who": who, "name": name, "model": model, "said": said}


LABELS = [
    answer(1, "wm", "Greg", "b-2", "junior"),
    answer(1, "bf", "Nia", "a 1", "Senior."),
    answer(1, "wm", "Greg", "a 1", "error"),
    answer(1, "bf", "Nia", "b-2", "I can't help with that."),
    answer(2, "wf", "Anne", "a 1", "SENIOR", ""),
    answer(1, "bf", "Nia", "a 1", "junior"),
]


def candidate(*cells: object) -> Row:
    columns = ("run", "job", "shown", "given", "name", "race", "gender", "absent")
    return dict(zip(columns, (*cells, 0)[: len(columns)], strict=True))


RANKINGS: list[Row] = [
    candidate("r1", "nurse", 2, 1, "Nia", "Black", "F"),
    candidate("r1", "nurse", 1, 2, "Greg", "W", "M"),
    candidate("r1", "clerk", 1, 1, "Anne", "White", "F"),
    candidate("r2", "nurse", 1, 1, "Greg", "W", "M"),
    candidate("r1", "clerk", 2, 3, "Nia", "B", "F", "true"),
    candidate("r1", "clerk", 3, "", "Jamal", "B", "M", 1),
    candidate("r2", "nurse", 2, 2, "Nia", "B", "F"),
]


def test_each_model_is_a_run(bring_rows: BringRuns, query: Query) -> None:
    first, second = bring_rows(LABELS_IMPORT, LABELS)
    assert [(one.target, one.n_prompts, one.n_responses, one.counts) for one in (first, second)] == [
        ("a 1", 3, 4, {"ok": 3, "unread": 1}),
        ("b-2", 2, 2, {"ok": 1, "refused": 1}),
    ]
    assert first.run_id.startswith("levels-a-1-")
    runs = query("select target, model_asked, source_name from raw.runs order by target")
    assert runs == [("a 1", "a 1", "rows.csv"), ("b-2", "b-2", "rows.csv")]
    events = query("select event, count(*) from raw.run_events group by event order by event")
    assert events == [("finished", 2), ("started", 2)]
    # Every run counts its answers and trials from 1, and the same question is the same prompt in both.
    columns = "model_answered, seq, trial, status, answer_text"
    assert query(f"select {columns} from raw.responses order by model_answered, seq") == [
        ("a 1", 1, 1, "ok", "Senior"),
        ("a 1", 2, 1, "unread", None),
        ("a 1", 3, 1, "ok", "Senior"),
        ("a 1", 4, 2, "ok", "Junior"),
        ("b-2", 1, 1, "ok", "Junior"),
        ("b-2", 2, 1, "refused", None),
    ]
    twice = query("select prompt_id from raw.prompts group by prompt_id having count(*) = 2 order by 1")
    assert twice == sorted(query("select prompt_id from raw.prompts where run_id like '%b-2%'"))
    assert json.loads(query("select parameters from raw.runs limit 1")[0][0])["split"] == "model"


def test_groups_names_and_expected_labels_are_those_of_the_row(bring_rows: BringRuns, query: Query) -> None:
    bring_rows(LABELS_IMPORT, LABELS)
    groups = (PromptAttribute(1, "race", "black", "Nia"), PromptAttribute(1, "gender", "female", "Nia"))
    expected = Prompt(
        "imported", "en", "plain", None, subject="1", expected_label="Junior", attributes=groups
    )
    kept = "select distinct content_hash, expected_label from raw.prompts where prompt_id = "
    assert query(f"{kept}'{expected.prompt_id}'") == [(expected.content_hash, "Junior")]
    assert query("select expected_label from raw.prompts where subject = '2'") == [(None,)]


def test_without_a_split_there_is_one_run(bring_rows: BringRuns, query: Query) -> None:
    (summary,) = bring_rows(LABELS_IMPORT, LABELS, ("  split: model\n", ""), name="both")
    assert (summary.target, summary.n_prompts, summary.n_responses) == ("both", 3, 6)
    models, unread = summary.warnings
    assert models == "rows.csv holds answers of several models (a 1, b-2); they are in one run."
    assert unread.startswith(
        "1 answer cannot be read: The answer names none of the labels 'Junior', 'Senior'. Examples: 'error'. "
    )
    assert query("select max(seq), max(trial) from raw.responses") == [(6, 3)]


def test_a_group_may_still_be_called_by_its_name(bring_rows: BringRuns) -> None:
    rows = [{**row, "gender": "male" if row["who"].endswith("m") else "female"} for row in LABELS]
    changes = [
        ("gender: who", "gender: gender"),
        ("    gender: {wm: male, wf: female, bm: male, bf: female}\n", ""),
    ]
    assert len(bring_rows(LABELS_IMPORT, rows, *changes)) == 2


def test_a_split_file_is_imported_once_and_has_no_other_name(bring_rows: BringRuns, content: Content) -> None:
    bring_rows(LABELS_IMPORT, LABELS)
    before = content()
    for options, sentence in (
        ({}, r"was imported for the audit 'levels' before, as run levels-.*--again"),
        ({"name": "mine"}, r"makes a run for each model in rows\.csv and calls it after the model"),
    ):
        with pytest.raises(InputError, match=sentence):
            bring_rows(LABELS_IMPORT, LABELS, **options)
    assert content() == before
    assert len(bring_rows(LABELS_IMPORT, LABELS, again=True)) == 2


def test_scores_are_imported(bring_rows: BringRuns, query: Query) -> None:
    rows = [
        {**row, "said": said, "truth": "7.0"}
        for row, said in zip(LABELS, ["7/10", "8", "11", "x", "9.50", "0"], strict=True)
    ]
    score = ("{kind: label, labels: [Junior, Senior]}", "{kind: score, minimum: 0, maximum: 10}")
    bring_rows(LABELS_IMPORT, rows, score)
    kept = sorted(query("select status, answer_text from raw.responses"), key=repr)
    assert kept == [*(("ok", text) for text in ("0", "7", "8", "9.5")), ("unread", None), ("unread", None)]
    assert query("select distinct expected_label from raw.prompts") == [("7",)]


@pytest.mark.parametrize(
    ("answer", "first", "second", "kept"),
    [
        ("{kind: label, labels: [Junior, Senior]}", "Senior", "senior", "Senior"),
        ("{kind: score, minimum: 0, maximum: 10}", "7", "7.0", "7"),
    ],
)
def test_an_expected_answer_written_in_two_ways_is_one(
    bring_rows: BringRuns, query: Query, answer: str, first: str, second: str, kept: str
) -> None:
    rows = [{**LABELS[1], "truth": first}, {**LABELS[1], "truth": second}]
    (summary,) = bring_rows(LABELS_IMPORT, rows, ("{kind: label, labels: [Junior, Senior]}", answer))
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select expected_label from raw.prompts") == [(kept,)]
    assert query("select trial from raw.responses order by trial") == [(1,), (2,)]


def test_a_group_written_in_two_ways_by_a_name_is_one_prompt(bring_rows: BringRuns, query: Query) -> None:
    """The name is the descriptor, with any of the group's own words next to it."""
    several = "race: {reference: white, groups: {white: [white, European], black: black}}"
    rows = [{**LABELS[0], "truth": "", "race": race} for race in ("white", "European")]
    changes = [
        ("race: {reference: white, groups: [white, black]}", several),
        ("{race: who, gender: who}", "{race: race, gender: who}"),
    ]
    (summary,) = bring_rows(LABELS_IMPORT, rows, *changes)
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select distinct descriptor from raw.prompt_attributes") == [("Greg",)]


def test_rows_of_a_response_are_one_ranking(bring_rows: BringRuns, query: Query) -> None:
    (summary,) = bring_rows(RANKINGS_IMPORT, RANKINGS)
    # r1 and r2 about nurses show the same people in the same places, so r2 is a second answer to one prompt.
    assert (summary.n_prompts, summary.n_responses, summary.counts) == (2, 3, {"ok": 3})
    answers = query(f"select seq, trial, subject, domain, answer_text from {ANSWERS} order by seq")
    assert [(seq, trial, subject, domain) for seq, trial, subject, domain, _ in answers] == [
        (1, 1, "nurse", "nurse"),
        (2, 1, "clerk", "clerk"),
        (3, 2, "nurse", "nurse"),
    ]
    places = [
        [(1, 2, False), (2, 1, False)],
        [(1, 1, False), (2, 3, True), (3, None, True)],
        [(1, 1, False), (2, 2, False)],
    ]
    assert [json.loads(text) for *_, text in answers] == [
        [{"slot": slot, "rank": rank, "is_missing": is_missing} for slot, rank, is_missing in one]
        for one in places
    ]
    clerks = "raw.prompt_attributes inner join raw.prompts using (run_id, prompt_id) where subject = 'clerk'"
    groups = query(
        f"select slot, attribute, group_name, descriptor from {clerks} order by slot, attribute desc"
    )
    assert groups == [
        (1, "race", "White", "Anne"),
        (1, "gender", "F", "Anne"),
        (2, "race", "Black", "Nia"),
        (2, "gender", "F", "Nia"),
        (3, "race", "Black", "Jamal"),
        (3, "gender", "M", "Jamal"),
    ]
    columns = "prompts.content_hash, responses.content_hash, answer_text, response_text"
    ((prompt_hash, response, text, kept),) = query(f"select {columns} from {ANSWERS} where subject = 'clerk'")
    # The file has no text of the answer; the ranks identify it.
    assert kept is None
    assert response == response_hash(prompt_hash, "ok", text)


def test_answers_are_ordered_by_number_and_keep_their_first_row(bring_rows: BringRuns, query: Query) -> None:
    rows = [
        {**row, "at": at, "count": count, "model": "m"}
        for row, at, count in zip(RANKINGS, [10, 11, 9, 100, 9, 9, 101], [3, 9, 2, 1, 2, 2, 1], strict=True)
    ]
    more = ("slot: shown", "slot: shown\n    order: at\n    weight: count\n    model: model")
    (summary,) = bring_rows(RANKINGS_IMPORT, rows, more)
    assert summary.warnings == ()
    # As text, 10 and 100 would go before 9.
    kept = query(f"select seq, subject, trial, weight, model_answered from {ANSWERS} order by seq")
    assert kept == [(1, "clerk", 1, 2.0, "m"), (2, "nurse", 1, 3.0, "m"), (3, "nurse", 2, 1.0, "m")]


def test_without_a_column_a_candidate_without_rank_is_missing(bring_rows: BringRuns, query: Query) -> None:
    bring_rows(RANKINGS_IMPORT, changed(RANKINGS, 5, given=2), ("    missing: absent\n", ""))
    ((text,),) = query(f"select answer_text from {ANSWERS} where subject = 'clerk'")
    assert [one["is_missing"] for one in json.loads(text)] == [False, False, True]


def test_the_order_of_rows_does_not_matter_within_an_answer(bring_rows: BringRuns, query: Query) -> None:
    bring_rows(RANKINGS_IMPORT, RANKINGS)
    hashes = "select distinct content_hash from raw.responses order by 1"
    before = query(hashes)
    bring_rows(RANKINGS_IMPORT, list(reversed(RANKINGS)))
    assert query(hashes) == before


WRONG_LABELS = [
    (3, {"who": "xm"}, "row 3 has 'xm' as 'who', which is no group of race; known: 'white', 'black', 'wm', 'wf', 'bm', 'bf'"),
    (4, {"name": " "}, "row 4 has no 'name'; it should hold the descriptor, the name that states a row's groups."),
    (2, {"model": ""}, "row 2 has no 'model'; it should hold the model, by which import.split makes the runs."),
    (5, {"truth": "mid"}, "row 5 has 'mid' as 'truth', which is none of the labels; known: 'Junior', 'Senior'."),
    (5, {"truth": "senor"}, "row 5 has 'senor' as 'truth', which is none of the labels; did you mean 'Senior'?"),
]  # fmt: skip
WRONG_RANKINGS = [
    (2, {"shown": 2}, "rows 1 and 2 are both slot 2 of the same answer; each 'shown' of an answer may occur once."),
    (2, {"given": 1}, "rows 1 and 2 are both rank 1 of the same answer; each 'given' of an answer may occur once."),
    (1, {"shown": 3}, "row 1 has a 'shown' above 2, the number of candidates that the same answer has."),
    (1, {"given": 3}, "row 1 has a 'given' above 2, the number of candidates that the same answer has."),
    (1, {"given": ""}, "row 1 has no 'given' and is not marked as missing from its answer."),
    (1, {"shown": 0}, "row 1 has '0' as 'shown'; slot should be a whole number from 1, the place at which…"),
    (1, {"shown": ""}, "row 1 has nothing as 'shown'; slot should be a whole number from 1…"),
    (1, {"given": "first"}, "row 1 has 'first' as 'given'; rank should be a whole number from 1, which is best."),
    (1, {"absent": "maybe"}, "row 1 has 'maybe' as 'absent'; it should be 1 (the answer does not name…"),
    (1, {"run": ""}, "row 1 has no 'run'; it should hold the name or number of the answer that the row…"),
    (1, {"job": ""}, "row 1 has no 'job'; it should hold the subject that the answer is about."),
    (1, {"race": "X"}, "row 1 has 'X' as 'race', which is no group of race; known: 'W', 'White', 'B', 'Black'"),
    (5, {"run": "r3"}, "row 5 is the only one of its 'run'; a ranking has a row for each candidate."),
]  # fmt: skip
FRACTION = (
    "row 2 has '0.5' as 'count'; weight should be a whole number from 1, how many answers the row stands for."
)
COUNTED = changed([{**row, "count": 1} for row in RANKINGS], 2, count=0.5)
WRONG_ROWS: list[tuple[str, list[Row], list[Change], str]] = [
    *(
        (LABELS_IMPORT, changed(LABELS, number, **cells), [], message)
        for number, cells, message in WRONG_LABELS
    ),
    *(
        (RANKINGS_IMPORT, changed(RANKINGS, number, **cells), [], message)
        for number, cells, message in WRONG_RANKINGS
    ),
    (RANKINGS_IMPORT, COUNTED, [("slot: shown", "slot: shown\n    weight: count")], FRACTION),
]


@pytest.mark.parametrize(
    ("text", "rows", "changes", "message"), WRONG_ROWS, ids=[row[-1] for row in WRONG_ROWS]
)
def test_wrong_rows(wrong_rows: Refused, text: str, rows: list[Row], changes: Any, message: str) -> None:
    assert is_message(found := wrong_rows(text, rows, *changes), message), found
