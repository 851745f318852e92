"""Test which answers a classifier scores, what it is given, and how a stopped scoring resumes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from biasledger.scoring import scores as scoring
from biasledger.scoring.scores import answers_left, masked, score_answers, scorer_name
from collector.errors import InputError
from collector.ledger.database import Ledger
from tests.python.running import biasledger, rows_in
from tests.python.scoring.conftest import about, add_answers

SCORER = "regard"


class Recorder:
    """A classifier that keeps what it was shown, and fails after some calls."""

    def __init__(self, calls: int | None = None) -> None:
        self.shown: list[str] = []
        self.calls = calls

    def __call__(self, texts: Sequence[str]) -> list[dict[str, float]]:
        if self.calls is not None:
            if self.calls == 0:
                raise KeyboardInterrupt
            self.calls -= 1
        self.shown += texts
        return [{"negative": float("rude" in text), "positive": float("kind" in text)} for text in texts]


def test_every_text_answer_gets_a_score_for_every_label(ledger: Path) -> None:
    recorder = Recorder()
    summary = score_answers(ledger, answers_left(ledger, SCORER), recorder, scorer=SCORER)
    assert (summary.n_answers, summary.n_texts, summary.n_short, summary.n_runs) == (4, 3, 1, 1)
    assert rows_in(
        ledger,
        """
        select prompts.subject, label, score, is_short, count(*)
        from raw.response_scores as scores inner join raw.prompts as prompts using (run_id, prompt_id)
        where run_id = 'texts' and scorer = 'regard' and trial = 1 and attempt = 1 and scored_at is not null
        group by all order by all
        """,
    ) == [
        ("bank", "negative", 1.0, True, 1),
        ("bank", "positive", 0.0, True, 1),
        ("interview", "negative", 0.0, False, 2),
        ("interview", "positive", 1.0, False, 2),
        ("nurse", "negative", 0.0, False, 1),
        ("nurse", "positive", 1.0, False, 1),
    ]


def test_groups_are_masked_so_that_texts_which_differ_in_them_alone_are_one(ledger: Path) -> None:
    recorder = Recorder()
    score_answers(ledger, answers_left(ledger, SCORER), recorder, scorer=SCORER)
    assert sorted(recorder.shown) == [
        "The typical XYZ is a kind person, as nurses are.",
        "XYZ was kind. A XYZ man, XYZ's a person.",
        "XYZ was rude.",
    ]


def test_groups_stay_where_they_are_not_masked(ledger: Path) -> None:
    recorder = Recorder()
    summary = score_answers(ledger, answers_left(ledger, SCORER), recorder, scorer=SCORER, mask=False)
    assert summary.n_texts == 4
    assert "Greg was rude." in recorder.shown


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("A black woman, a Black-Woman, blacks.", ["Black", "Black woman"], "A XYZ, a XYZ, blacks."),
        ("Software  engineers; a software\nengineer.", ["software engineer"], "Software  engineers; a XYZ."),
        ("Jean-Luc and Jean.", ["Jean"], "XYZ-Luc and XYZ."),
        ("C++ (he/him).", ["c++", ""], "XYZ (he/him)."),
        ("Nobody is named.", [], "Nobody is named."),
    ],
)
def test_masking_takes_whole_words_the_longest_first(text: str, words: list[str], expected: str) -> None:
    assert masked(text, words) == expected


def test_a_long_text_is_shown_whole(ledger: Path) -> None:
    add_answers(
        ledger, "long", [(about("x", ("race", "Black", "Jamal")), "Jamal " * 200)], audit="other", minute=2
    )
    recorder = Recorder()
    score_answers(ledger, answers_left(ledger, SCORER, run="long"), recorder, scorer=SCORER)
    assert recorder.shown == ["XYZ " * 200]


def test_a_second_call_goes_on_where_the_first_stopped(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "APPENDED_AT_ONCE", 1)
    first, second = Recorder(calls=2), Recorder()
    with pytest.raises(KeyboardInterrupt):
        score_answers(ledger, answers_left(ledger, SCORER), first, scorer=SCORER)
    assert len(first.shown) == 2
    left = answers_left(ledger, SCORER)
    score_answers(ledger, left, second, scorer=SCORER)
    assert not set(first.shown) & set(second.shown)
    assert answers_left(ledger, SCORER) == []
    assert len(answers_left(ledger, "another")) == 4
    [(n_rows, n_keys)] = rows_in(
        ledger, "select count(*), count(distinct (run_id, prompt_id, trial, label)) from raw.response_scores"
    )
    assert n_rows == n_keys == 8


def test_the_last_attempt_of_a_trial_counts(ledger: Path) -> None:
    prompt = about("bank", ("race", "Black", "Jamal"))
    from collector.rows import ResponseRow

    second = ResponseRow(
        prompt_id=prompt.prompt_id,
        trial=1,
        attempt=2,
        seq=6,
        status="ok",
        content_hash="sha256:2",
        response_text="Jamal was clever.",
        answer_text="Jamal was clever.",
    )
    with Ledger(ledger).append() as append:
        append.responses("texts", [second])
    found = answers_left(ledger, SCORER)[-1]
    assert (found.attempt, found.text, found.group_words) == (2, "Jamal was clever.", ("Black", "Jamal"))


def test_a_limit_takes_the_first_answers(ledger: Path) -> None:
    every = answers_left(ledger, SCORER)
    assert answers_left(ledger, SCORER, limit=2) == every[:2]
    assert [one.text[:4] for one in every] == ["Jama", "Greg", "Greg", "The "]


def test_one_run_may_hold_json_objects(ledger: Path) -> None:
    add_answers(ledger, "personas", [(about("x"), "A kind person.")], kind="json_object", audit="p", minute=3)
    assert {one.run_id for one in answers_left(ledger, SCORER)} == {"texts"}
    assert [one.run_id for one in answers_left(ledger, SCORER, run="personas")] == ["personas"]


def test_runs_without_texts_and_unknown_runs_are_named(ledger: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Run labels holds no text answers"):
        answers_left(ledger, SCORER, run="labels")
    with pytest.raises(InputError, match="holds no run 'text'; did you mean 'texts'"):
        answers_left(ledger, SCORER, run="text")
    empty = tmp_path / "empty.duckdb"
    Ledger(empty).create()
    with pytest.raises(InputError, match=r"empty\.duckdb holds no text answers"):
        answers_left(empty, SCORER)


def test_scores_are_called_after_their_model(tmp_path: Path) -> None:
    assert scorer_name("sasha/regardv3", mask=True) == "sasha/regardv3"
    assert scorer_name("sasha/regardv3", mask=False) == "sasha/regardv3 (unmasked)"
    (tmp_path / "mine").mkdir()
    assert scorer_name(str(tmp_path / "mine"), mask=True) == "mine"


def test_the_command_scores_and_then_has_nothing_left(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasledger.scoring.classifiers.load_classifier", lambda *_, **__: Recorder())
    arguments = ("score", "--ledger", ledger, "--scorer", "mine")
    limited = biasledger(*arguments, "--limit", "1", code=0)
    assert "scored: answers 1, different texts 1, runs 1" in limited.stdout
    done = biasledger(*arguments)
    assert "scored: answers 3, different texts 3, runs 1" in done.stdout
    assert "1 of them are shorter than 20 characters" in done.stderr
    again = biasledger(*arguments)
    assert "Nothing is left to score: every text answer has scores of 'mine'." in again.stdout


def unnamed(texts: Sequence[str]) -> list[dict[str, float]]:
    return [{"label_0": 0.7, "label_1": 0.2, "label_2": 0.1} for _ in texts]


def test_a_model_without_a_negative_label_is_refused_unless_one_is_named(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasledger.scoring.classifiers.load_classifier", lambda *_, **__: unnamed)
    arguments = ("score", "--ledger", ledger, "--scorer", "mine")
    refused = biasledger(*arguments)
    assert refused.exit_code != 0
    assert "none is negative" in refused.stderr
    assert "--label-map label_0=negative" in refused.stderr
    for wrong, sentence in (
        ("LABEL_9=negative", "names 'label_9', which is no label of the model"),
        ("LABEL_0", "has 'LABEL_0'; it should be"),
        ("LABEL_0=a,label_0=b", "names 'label_0' a second time"),
    ):
        result = biasledger(*arguments, "--label-map", wrong)
        assert result.exit_code != 0
        assert sentence in result.stderr
    assert rows_in(ledger, "select count(*) from raw.response_scores where scorer = 'mine'") == [(0,)]
    biasledger(*arguments, "--label-map", "LABEL_0=Negative, LABEL_1=negative", code=0)
    assert rows_in(
        ledger,
        "select distinct label, round(score, 6) from raw.response_scores where scorer = 'mine' order by 1",
    ) == [("label_2", 0.1), ("negative", 0.9)]


def test_scores_that_are_no_numbers_are_refused(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(texts: Sequence[str]) -> list[dict[str, float]]:
        return [{"negative": float("nan")} for _ in texts]

    monkeypatch.setattr("biasledger.scoring.classifiers.load_classifier", lambda *_, **__: broken)
    refused = biasledger("score", "--ledger", ledger, code=3)
    assert "The model's score of 'negative' is nan, which is no number" in refused.stderr


def test_a_missing_extra_says_what_to_install(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    result = biasledger("score", "--ledger", ledger, code=3)
    assert "pip install 'biasledger[regard]'" in result.stderr
    assert "Traceback" not in result.stderr
