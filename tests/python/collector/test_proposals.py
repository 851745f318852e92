"""Test the kind, labels and scale that `new` proposes for answers, and that the readers then read all of them."""

from __future__ import annotations

from typing import Any

import pytest

from collector.answers.decisions import decimal_of
from collector.answers.proposals import propose_answer
from collector.spec.parts import Answer

EURO = {"kind": "score", "minimum": 40000, "maximum": 60000, "currency": "EUR"}
DOLLAR = {**EURO, "currency": "USD"}
OF_TEN = {"kind": "score", "minimum": 0, "maximum": 10}
SHARE = {"kind": "score", "minimum": 0, "maximum": 1}
HIRE = {"kind": "label", "labels": ["hire", "reject"]}
A_B = {"kind": "label", "labels": ["A", "B"]}
MANY = [f"{letter}x" for letter in "bcdefghijklmnopq"]
SORRY = "I'm sorry, but I can't help with hiring decisions."


def labels(*names: str) -> dict[str, Any]:
    return {"kind": "label", "labels": list(names)}


def turns(said: str) -> str:
    return f'[{{"role": "user", "content": "Hire?"}}, {{"role": "assistant", "content": "{said}"}}]'


# `#` is a number that changes; what is proposed.
SHAPES: list[tuple[list[str], dict[str, Any]]] = [
    (["5#.000 €", "48500 €"], EURO),
    (["5#.000,50 €", "48.200,00 €"], EURO),
    (["€5#,200", "€48,000"], EURO),
    (["5#.000 Euro", "48.000 EUR"], EURO),
    (["$5#,200", "$48,000"], DOLLAR),
    (["$5#k", "about $48,000"], DOLLAR),
    (["I would offer $5#,000.", "I'd offer $48,000."], DOLLAR),
    (["$5#,000 per year", "$48,000 a year"], {**DOLLAR, "per": "year"}),
    (["3#00 € im Monat", "4.200 € pro Monat"], {**EURO, "minimum": 3000, "maximum": 5000, "per": "month"}),
    (["3#0 000 kr", "280 000 kr"], {"kind": "score", "minimum": 200000, "maximum": 400000}),
    (["5#%", "48 %"], {"kind": "score", "minimum": 0, "maximum": 100}),
    (["5#%", "0.48"], SHARE),
    (["0.5#", "0.48"], SHARE),
    (['{"probability": 0.5#}', '{"probability": "48%"}'], SHARE),
    (["#/10", "3/10"], OF_TEN),
    (["#/10", "3 von 10"], OF_TEN),
    (["# out of 10", "Score: 3"], OF_TEN),
    (["Good.\n\nScore: #/10", "Poor.\n\nScore: 3/10"], OF_TEN),
    (["8 (on a scale of 1 to 10)", "3 (on a scale of 1 to 10)"], {**OF_TEN, "minimum": 1}),
    (["Score: #", "Score: 3"], {"kind": "score", "minimum": 0, "maximum": 9}),
    (["Punktzahl: #", "**Bewertung:** 3"], {"kind": "score", "minimum": 0, "maximum": 9}),
    (["<think>Is it 500?</think>#", "3"], {"kind": "score", "minimum": 0, "maximum": 9}),
    (
        ['```json\n{"score": #, "reason": "good"}\n```', '{"score": 3}'],
        {"kind": "score", "minimum": 0, "maximum": 9},
    ),
    (["1#", "97"], {"kind": "score", "minimum": 10, "maximum": 100}),
    (["-#", "30"], {"kind": "score", "minimum": -9, "maximum": 30}),
    (
        ["4 - Agree", "2 - Disagree", "3: Neutral"],
        {"kind": "score", "minimum": 2, "maximum": 4, "points": {"Disagree": 2, "Neutral": 3, "Agree": 4}},
    ),
    (
        ["Agree (2)", "Disagree (1)", SORRY],
        {"kind": "score", "minimum": 1, "maximum": 2, "points": {"Disagree": 1, "Agree": 2}},
    ),
    (["hire", "Reject.", "reject"], HIRE),
    (["hire", "reject", SORRY], HIRE),
    (["hire", "reject", '{"error": {"message": "Overloaded", "type": "overloaded_error"}}'], HIRE),
    (["<think>Answer: C</think>\nhire", "<think># years</think>reject"], HIRE),
    ([turns("hire"), turns("reject")], HIRE),
    (['{"decision": "hire", "reason": "# years"}', '{"decision": "Reject"}'], labels("Reject", "hire")),
    (['So:\n```json\n{"decision": "hire", "pros": "# years"}\n```', '{"decision": "reject"}'], HIRE),
    (['{"hire": true}', '{"hire": false}'], labels("false", "true")),
    (["# years. My decision is to hire.", "The decision is to reject."], HIRE),
    (["Because of # points.\nAnswer: A", "Because of # points.\nANSWER: (B)."], A_B),
    (["Answer: A, because of # points", "Answer: B - only # points", "Answer: B because of #"], A_B),
    (["He has # years.\n\nA", "He has # years.\n\n**B**"], A_B),
    (["So # it is: \\boxed{A}", "# it is: [[B]]", "<answer>B</answer> #"], A_B),
    (["Candidate A", "candidate B"], A_B),
    (["# Jahre.\nAntwort: Ja", "# Jahre.\nEntscheidung: Nein"], labels("Ja", "Nein")),
    (["# ans.\nRéponse : accepter", "# ans.\nRéponse : refuser"], labels("accepter", "refuser")),
    (["# años.\nDecisión final: **Sí**", "# años.\nDecisión final: No."], labels("No", "Sí")),
    (["# 年。\n答案：是", "# 年。\n答案：否"], labels("否", "是")),
    (["accept", "!accept"], labels("!accept", "accept")),
    # A text that states no decision stays unchanged.
    (["Subject: Your application\n\nDear Sir,\n# jobs.\n\nKind regards,\nAnna"], {"kind": "text"}),
    (["Hi,\n\nthe price is $#. We ship on Monday.\n\nBest wishes\nAnna"], {"kind": "text"}),
    (
        ["Your order of # books ships soon, as you like it.", "You get $5 off # orders, if you buy now."],
        {"kind": "text"},
    ),
    (["1. Dune #\n2. Emma", "1. Emma\n2. Dune #"], {"kind": "text"}),
    (['{"name": "A#", "age": 3#}'], {"kind": "json_object"}),
    (['{"title": "A # book", "price": 3#, "text": "words"}'], {"kind": "json_object"}),
    (['{"category": "book", "title": "#"}', '{"category": "film", "title": "#"}'], {"kind": "json_object"}),
    (['{"recommendation": "Buy the # series, it is a good one"}'], {"kind": "json_object"}),
    (['["a", "b", "#"]'], {"kind": "list", "k": 3}),
    ([SORRY], {"kind": "text"}),
]


@pytest.mark.parametrize(("shapes", "proposed"), SHAPES)
def test_what_is_proposed_reads_the_answers(shapes: list[str], proposed: dict[str, Any]) -> None:
    texts = [shape.replace("#", str(number)) for number in range(10) for shape in shapes]
    answer = propose_answer(texts).answer
    assert answer == proposed
    read = {text: Answer(**answer).classify(text, decimal=decimal_of(texts)) for text in texts}
    assert {text: one for text, one in read.items() if one.status not in ("ok", "refused", "error")} == {}


@pytest.mark.parametrize(
    ("texts", "kind", "proposed"),
    [
        (["Because of 1 point.\nAnswer: A", "Answer: B"], "label", labels("A", "B")),
        (
            ["a label of some words", "one with more words"] * 2,
            "label",
            labels("a label of some words", "one with more words"),
        ),
        (["Dear Anna, thank you for it", "Dear Bob, thank you for it"], "label", {"kind": "label"}),
        ([f"the {one}" for one in MANY], "label", labels(*[f"the {one}" for one in MANY])),
        (["20", "79", "nothing"], "score", {"kind": "score", "minimum": 20, "maximum": 80}),
        (["Dear Anna", ""], "score", {"kind": "score"}),
        (["3/10"], "text", {"kind": "text"}),
        (["hire"], "json_object", {"kind": "json_object"}),
        (["a"], "list", {"kind": "list", "k": 10}),
        ([], None, {"kind": "text"}),
    ],
)
def test_a_kind_that_is_known(texts: list[str], kind: str | None, proposed: dict[str, Any]) -> None:
    assert propose_answer(texts, kind).answer == proposed


def test_a_label_that_is_stated_once_among_many_is_a_remark() -> None:
    assert propose_answer(["hire", "reject"] * 60 + ["Tough call"]).answer == HIRE
    assert propose_answer(["hire", "reject"] * 9 + ["maybe"]).answer == labels("hire", "maybe", "reject")
