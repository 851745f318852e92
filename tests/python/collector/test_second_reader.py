"""Test the second reader: its prompt, which of its replies are decisions, and when they are used."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from collector.asking.second_reader import agreements, answers_to_read, prompt_hash, sample_to_check
from collector.importers.tabular import import_file
from collector.ledger.database import Ledger
from collector.ledger.events import keep_event
from collector.rows import READ
from collector.spec.loading import load_audit

ATTRIBUTES = {"sex": {"reference": "m", "groups": ["m", "f"]}}
LABELS = {"kind": "label", "labels": ["reject", "accept"]}
N_READ, N_UNREAD = 40, 3


def _imported(
    folder: Path,
    answer: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    reading: Mapping[str, Any],
    **columns: str,
) -> Ledger:
    path = folder / "answers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    spec = {
        "audit": "loans",
        "attributes": ATTRIBUTES,
        "answer": dict(answer),
        "analysis": {"decisions": dict(reading)},
        "import": {"columns": {"text": "answer", "subject": "case", "attributes": {"sex": "sex"}, **columns}},
    }
    (folder / "loans.yml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    ledger = Ledger(folder / "ledger.duckdb")
    import_file(load_audit(folder / "loans.yml"), folder / "loans.yml", path, ledger.path, versions={})
    return ledger


@pytest.mark.parametrize(("answer", "reading", "asked", "replies"), [
    (LABELS, {"favourable": ["accept"]}, "Possible decisions: reject | accept\n",
     {"accept": "accept", "maybe": None, None: None}),
    ({"kind": "label", "labels": ["A", "B"], "options": {"1": {"A": "London", "B": "Paris"}}}, {"favourable": ["A"]},
     "Possible decisions: A (London) | B (Paris)\n", {"London": "A", "B": "B", "Rome": None}),
    ({"kind": "score", "minimum": 1, "maximum": 5, "points": {"Disagree": 1, "Agree": 5}}, {},
     "Possible decisions: a number from 1 to 5 (Disagree = 1, Agree = 5)\n", {"Agree": "5", 4: "4", 7: None}),
    ({"kind": "score", "minimum": 0, "maximum": 200_000, "currency": "EUR", "per": "year"}, {},
     "Possible decisions: a number from 0 to 200000, in EUR, per year\n",
     {54_000: "54000", "54000 EUR": "54000", "54000 USD": None}),
])  # fmt: skip
def test_its_prompt_lists_the_possible_decisions(
    tmp_path: Path,
    answer: Mapping[str, Any],
    reading: Mapping[str, Any],
    asked: str,
    replies: Mapping[Any, str | None],
) -> None:
    ledger = _imported(tmp_path, answer, [{"case": "1", "sex": "m", "answer": "Hm, well."}], reading)
    (one,) = answers_to_read(ledger, "reader", None)
    assert asked in one.prompt
    assert {said: one.decision_in(json.dumps({"decision": said})) for said in replies} == replies


def test_it_is_given_the_question_where_the_options_are_not_kept(tmp_path: Path) -> None:
    row = {
        "case": "1",
        "sex": "m",
        "answer": "Hm, well.",
        "a": "London",
        "b": "Paris",
        "question": "A) London or B) Paris?",
    }
    answer = {"kind": "label", "labels": ["A", "B"], "labels_from": {"A": "a", "B": "b"}}
    ledger = _imported(tmp_path, answer, [row], {"favourable": ["A"]}, prompt="question")
    (one,) = answers_to_read(ledger, "reader", None)
    assert "Possible decisions: A | B, the options of this question:\nA) London or B) Paris?\n" in one.prompt


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    rows = [
        {
            "case": str(n),
            "sex": "mf"[n % 2],
            "answer": "Hm." if n < N_UNREAD else ("reject", "accept")[n % 3 % 2],
        }
        for n in range(N_READ + N_UNREAD)
    ]
    return _imported(tmp_path, LABELS, rows, {"favourable": ["accept"]})


def _keep(ledger: Ledger, model: str, decisions: Sequence[str | None], n_checked: int, n_agreed: int) -> None:
    """Keep what a model read of the unread answers, in order, and how often it agreed with the rules."""
    unread = answers_to_read(ledger, "nobody", None)
    checked = answers_to_read(ledger, model, None, status="ok")[:n_checked]
    detail = {
        "target": model,
        "model": model,
        "prompt_hash": prompt_hash(),
        "readings": [
            {"prompt_id": one.prompt_id, "trial": one.trial, "attempt": one.attempt, "decision": decision}
            for one, decision in zip(unread, decisions, strict=False)
        ],
        "checks": [
            {"prompt_id": one.prompt_id, "trial": one.trial, "attempt": one.attempt, "decision": one.read}
            for one in checked
        ],
        "n_checked": n_checked,
        "n_agreed": n_agreed,
    }
    keep_event(ledger, unread[0].run_id, READ, detail)


def _read(ledger: Ledger) -> list[tuple[str, str | None]]:
    """Return status and decision of the answers that no rule reads."""
    with duckdb.connect(str(ledger.path), read_only=True) as connection:
        return connection.execute(
            f"select status, answer_text from raw.read_responses order by seq limit {N_UNREAD}"
        ).fetchall()


UNREAD = [("unread", None)] * N_UNREAD
USED = [("ok", "accept"), ("ok", "reject"), ("unread", None)]


@pytest.mark.parametrize(
    ("n_checked", "n_agreed", "expected", "message"),
    [
        (0, 0, UNREAD, "0 of 0 answers; its decisions are kept but not used; at least 20 answers"),
        (19, 19, UNREAD, "19 of 19 answers; its decisions are kept but not used; at least 20 answers"),
        (20, 17, UNREAD, "17 of 20 answers; its decisions are kept but not used; at least 90 % is needed."),
        (40, 0, UNREAD, "0 of 40 answers; its decisions are kept but not used; at least 90 % is needed."),
        (20, 18, USED, "18 of 20 answers; its decisions are used."),
        (40, 40, USED, "40 of 40 answers; its decisions are used."),
    ],
)
def test_its_decisions_are_used_where_it_agrees_with_the_rules(
    ledger: Ledger, n_checked: int, n_agreed: int, expected: object, message: str
) -> None:
    _keep(ledger, "reader", ["accept", "reject", None], n_checked, n_agreed)
    assert _read(ledger) == expected
    (agreement,) = agreements(ledger, "reader", None)
    assert message in agreement.sentence()
    assert agreements(ledger, "another", None) == []


def test_the_last_reader_that_is_used_counts(ledger: Ledger) -> None:
    _keep(ledger, "reader", ["accept", "reject", "accept"], 20, 20)
    assert [decision for _, decision in _read(ledger)] == ["accept", "reject", "accept"]
    _keep(ledger, "poor", ["reject", None, None], 20, 10)
    assert [decision for _, decision in _read(ledger)] == ["accept", "reject", "accept"]
    _keep(ledger, "careful", [None, "accept"], 20, 20)
    assert _read(ledger) == [("unread", None), ("ok", "accept"), ("ok", "accept")]


def test_checks_add_up_over_events_and_no_answer_is_checked_twice(ledger: Ledger) -> None:
    _keep(ledger, "reader", ["accept"], 12, 12)
    (before,) = agreements(ledger, "reader", None)
    known = answers_to_read(ledger, "reader", None, status="ok")
    assert len(known) == N_READ - 12
    assert len(sample_to_check(known, 20, {before.run_id: before.n_checked})) == 8
    _keep(ledger, "reader", [], 8, 8)
    (after,) = agreements(ledger, "reader", None)
    assert (after.n_checked, after.n_agreed, after.is_used) == (20, 20, True)


def test_a_sample_holds_each_decision_of_each_run(ledger: Ledger) -> None:
    known = answers_to_read(ledger, "reader", None, status="ok")
    drawn = sample_to_check(known, 4)
    assert sorted(str(one.read) for one in drawn) == ["accept", "accept", "reject", "reject"]
    assert len(sample_to_check(known, 1_000)) == N_READ
