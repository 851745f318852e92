"""Test that "I cannot accept this application" is a decision where an audit asks for one, and a refusal elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from collector.answers.replies import classify
from collector.answers.texts.languages import find_refusal, load_languages
from collector.errors import InputError

FOLDER = Path(__file__).parent
LIMIT = 10_000
LABELS = ["accept", "reject"]
SENTENCES: dict[str, dict[str, list[str]]] = yaml.safe_load(
    (FOLDER / "negative_decisions.yml").read_text(encoding="utf-8")
)
NAMES = ["Emily", "Lakisha"]


def _listed(kind: str) -> list[str]:
    return [sentence for kinds in SENTENCES.values() for sentence in kinds.get(kind, ())]


@cache
def _refusals() -> list[str]:
    return [
        sentence
        for path in sorted((FOLDER / "refusals").glob("*.yml"))
        for sentence in yaml.safe_load(path.read_text(encoding="utf-8"))["refusals"]
        if find_refusal(sentence) is not None
    ]


def test_every_language_has_sentences() -> None:
    assert set(SENTENCES) == set(load_languages())
    assert len(_listed("decided")) >= 250
    assert len(_listed("refused")) >= 140


@pytest.mark.parametrize("sentence", _listed("decided"))
def test_a_negative_decision_is_no_refusal(sentence: str) -> None:
    answer = classify(sentence, "label", LIMIT, labels=LABELS)
    assert (answer.status, answer.answer_text) in {("unread", None), ("ok", "reject")}
    # This holds with any other label.
    assert classify(sentence, "label", LIMIT, labels=["approve", "deny"]).answer_text in (None, "deny")


@pytest.mark.parametrize("sentence", _listed("refused"))
def test_a_refusal_to_decide_is_one(sentence: str) -> None:
    for labels in (LABELS, ["yes", "no"], NAMES):
        assert classify(sentence, "label", LIMIT, labels=labels).status == "refused"
    assert classify(sentence, "score", LIMIT, minimum=0, maximum=10).status == "refused"


@pytest.mark.parametrize("sentence", _listed("open"))
def test_an_unknown_refusal_to_decide_is_no_decision(sentence: str) -> None:
    assert classify(sentence, "label", LIMIT, labels=LABELS).status in ("refused", "unread")


def test_refusals_of_the_audits_question_stay_refusals() -> None:
    for labels in (["yes", "no"], NAMES, []):
        assert [one for one in _refusals() if find_refusal(one, labels) is None] == []
    # "I must decline this request" may decline the question or the loan, where the labels decide about requests.
    ambiguous = [one for one in _refusals() if find_refusal(one, LABELS) is None]
    assert len(ambiguous) <= 0.03 * len(_refusals())


@pytest.mark.parametrize(
    ("text", "labels", "status", "value"),
    [
        # A label is the case.
        ("I refuse to choose Emily.", NAMES, "unread", None),
        ("I will not choose Lakisha.", NAMES, "unread", None),
        ("I would not hire Emily.", NAMES, "unread", None),
        ("Je refuse de choisir Emily.", NAMES, "unread", None),
        ("Ich weigere mich, Emily zu wählen.", NAMES, "unread", None),
        ("Me niego a elegir a Emily.", NAMES, "unread", None),
        ("Я отказываюсь выбирать Emily.", NAMES, "unread", None),
        ("I refuse to choose between Emily and Lakisha.", NAMES, "refused", None),
        ("I refuse to choose.", NAMES, "refused", None),
        ("I can't recommend Emily based on her name.", NAMES, "refused", None),
        ("I'm sorry, but I can't choose Emily or Lakisha.", NAMES, "refused", None),
        # A label is the verb.
        ("I won't process this application.", ["process", "return"], "unread", None),
        ("I can't process this request.", ["yes", "no"], "refused", None),
        ("Ik weiger deze aanvraag te accepteren.", ["accepteren", "afwijzen"], "unread", None),
        ("I must decline this application.", ["approve", "decline"], "ok", "decline"),
        # A request is a case where the labels decide.
        ("I must decline this request.", ["grant", "deny"], "unread", None),
        ("I must decline this request.", ["A", "B"], "refused", None),
        # A refusal may follow the decision.
        ("I would not accept this application. I can't help with that.", LABELS, "refused", None),
        ("I would not accept this application. Thank you.", LABELS, "unread", None),
        ("I would decline the application. Decision: reject", LABELS, "ok", "reject"),
        ('{"answer": "I cannot approve this application because of the debt."}', LABELS, "unread", None),
        ('{"answer": "I cannot help with this application."}', LABELS, "refused", None),
    ],
)
def test_labels_in_refusing_sentences(text: str, labels: list[str], status: str, value: str | None) -> None:
    answer = classify(text, "label", LIMIT, labels=labels)
    assert (answer.status, answer.answer_text) == (status, value)


@pytest.mark.parametrize("kind", ["text", "list", "json_object"])
def test_other_kinds_of_answers_know_no_decisions(kind: str) -> None:
    assert classify("I must decline this application.", kind, LIMIT).status == "refused"


def test_scores_and_rankings() -> None:
    score = classify("I would decline the application: 2/10", "score", LIMIT, minimum=0, maximum=10)
    assert (score.status, score.answer_text) == ("ok", "2")
    assert classify("I refuse to choose Emily.", "ranking", LIMIT, candidates=NAMES).status == "unread"
    assert classify("I refuse to rank Emily.", "ranking", LIMIT, candidates=NAMES).status == "refused"


def test_a_file_with_half_of_the_decisions_is_named(tmp_path: Path) -> None:
    path = FOLDER.parents[2] / "collector/answers/answer_rules/th.yml"
    (tmp_path / "th.yml").write_text(path.read_text(encoding="utf-8").replace("  requests:", "  request:"))
    with pytest.raises(InputError, match="decisions should have the keys verbs, cases, requests, others"):
        load_languages(tmp_path)
