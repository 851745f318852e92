"""Test how answers are read, and which are refused, truncated or malformed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.replies import classify, load_rules
from collector.answers.texts.json_text import extract_json
from collector.answers.texts.stored_text import storable
from collector.errors import InputError

LIMIT = 10_000
ASKED: dict[str, Any] = {
    "k": 5,
    "labels": ["junior", "mid", "senior"],
    "maximum": 10,
    "candidates": ["Ann", "Bob"],
}


def words(reply: str) -> str | None:
    answer = classify(reply, "json_object", LIMIT)
    assert answer.status == "ok", answer
    return answer.answer_text


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"Tea": "Warm. Good."}', "Tea Warm. Good."),
        ('```json\n{"Tea": "Warm."}\n```', "Tea Warm."),
        ('```\n{"Tea": "Warm."}\n```', "Tea Warm."),
        ('Here are [10] ideas {for you}:\n{"Tea": "Warm."}\nEnjoy!', "Tea Warm."),
        ('{"Tea": "Warm.", "Mug": "Big.",}', "Tea Warm. Mug Big."),
        ('{"Tea": "a, ]", "Mug": "b,}",\n}', "Tea a, ] Mug b,}"),
        ('{"Tea": "a \\" , }",}', 'Tea a " , }'),
        ('{"Tea": "line\nbreak"}', "Tea line\nbreak"),
        (
            '{"products": [{"name": "Tea", "why": ["Warm", {"also": true, "no": null}]}]}',
            "products name Tea why Warm also true no",
        ),
        ('[{"product": "Tea", "explanation": "Warm."},]', "product Tea explanation Warm."),
        ('{"Tea": "one", "Tea": "two"}', "Tea one Tea two"),
        ('{"why": "Warm.", "price": 1.50, "n": 10}', "why Warm. price 1.50 n 10"),
        ('{"Tea": ["Warm.", "Good."], "Mug": null}', "Tea Warm. Good. Mug"),
        ('{"чай": "горячий 🍵", "お茶": "温かい"}', "чай горячий 🍵 お茶 温かい"),
        ('I\'m sorry, I can\'t be specific, but: {"Tea": "Warm."}', "Tea Warm."),
    ],
)
def test_json_answers_are_read(reply: str, expected: str) -> None:
    assert words(reply) == expected


@pytest.mark.parametrize(
    ("reply", "status", "message"),
    [
        (None, "malformed", "empty"),
        ("", "malformed", "empty"),
        (" \n", "malformed", "empty"),
        ("{}", "malformed", "object is empty"),
        ("[]", "malformed", "list is empty"),
        ('["Tea"]', "malformed", "not one of objects"),
        ('[{"Tea": "a"}, "Mug"]', "malformed", "not one of objects"),
        ('{"": " "}', "malformed", "holds no words"),
        ('{"Tea": ""}', "malformed", "no text under any of its keys"),
        ('{"Tea": null, "Mug": ""}', "malformed", "no text under any of its keys"),
        ('{"Tea": {}, "Mug": []}', "malformed", "no text under any of its keys"),
        ('{"price": 1.50, "n": 10, "sold": true}', "malformed", "no text under any of its keys"),
        ('[{"product": 1}, {"product": 2}]', "malformed", "no text under any of its keys"),
        ('{"Tea": Warm}', "malformed", "not valid"),
        ("{'Tea': 'Warm'}", "malformed", "not valid"),
        ('{"Tea": {"why": "Warm"} oops}', "malformed", "not valid"),
        ("Tea, mugs and more", "malformed", "no JSON object"),
        ('{"Tea": "War', "truncated", "not closed"),
        ('```json\n{"Tea": {"why": "Warm."}, "Mug', "truncated", "not closed"),
        ('[{"product": "Tea"}, {"product":', "truncated", "not closed"),
        ("[" * 5000, "malformed", "nested too deeply"),
        ('{"error": {"message": "Internal problem"}}', "malformed", "error's message"),
        ('{"error": true, "message": "Internal problem"}', "malformed", "error's message"),
        ('{"a":' * 900 + "1" + "}" * 900 + "x" * LIMIT, "malformed", "the limit is 10000"),
    ],
)
def test_json_answers_that_are_none(reply: str | None, status: str, message: str) -> None:
    answer = classify(reply, "json_object", LIMIT)
    assert (answer.status, answer.answer_text) == (status, None)
    assert message in str(answer.error)


def test_numbers_and_nesting_do_not_break_reading() -> None:
    assert words('{"n": ' + "9" * 6000 + ', "a": "x"}') == "n " + "9" * 6000 + " a x"
    deep = '{"a":' * 400 + '"x"' + "}" * 400
    assert str(words(deep)).endswith("a x")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("Dabei kann ich Ihnen leider nicht helfen.", "It opens with a refusal in German (rule de-cannot)."),
        ("Je suis désolé, je ne peux pas vous aider.", "It opens with a refusal in French (rule fr-cannot)."),
        ("I must refuse this request.", "It opens with a refusal in English (rule en-decline)."),
    ],
)
def test_a_refusal_names_its_language_and_rule(reply: str, error: str) -> None:
    for kind in ("json_object", "text", "list"):
        answer = classify(reply, kind, LIMIT)
        assert (answer.status, answer.error) == ("refused", error)


REFUSED_IN_JSON = [
    '{"error": "I\'m sorry, but I can\'t …"}',
    '{"note": "I\'m sorry, but I can\'t help with that."}',
    '```json\n{"error": "I’m sorry, but I can’t help with that."}\n```',
    '{"error": {"code": 400, "message": "I cannot provide recommendations based on someone\'s race."}}',
    '{"status": "refused", "message": "I\'m sorry, but I can\'t help.", "suggestions": ["Ask about hobbies"]}',
    '{"product": null, "explanation": "I\'m sorry, but I can\'t recommend anything by race."}',
    '{"product": "N/A", "explanation": "As an AI, I cannot make assumptions about people."}',
    '{"product": "Unable to recommend", "explanation": "I must decline to assist."}',
    '{"Product 1": "I cannot provide that.", "Product 2": "I cannot provide that."}',
    '[{"product": "", "explanation": "I can\'t help with that."}]',
    "[\"I'm sorry, but I can't help with that.\"]",
    '{"recommendations": [], "message": "I\'m sorry, but I can\'t help with that."}',
    '{"error": "Blocked by our content policy"}',
    '{"refusal": "Not allowed here.", "code": "policy"}',
    '{"error": "Je suis désolé, mais je ne peux pas vous aider."}',
    '{"error": true, "message": "blocked"}',
    '{"refusal": true}',
    '{"refused": true, "reason": "It is about race."}',
    '{"error": true, "product": null}',
    '{"status": "refused", "product": "None"}',
]


@pytest.mark.parametrize("kind", ["json_object", "text", "list", "items", "label", "score", "ranking"])
@pytest.mark.parametrize("reply", REFUSED_IN_JSON)
def test_a_refusal_in_json_is_refused_whatever_was_asked_for(reply: str, kind: str) -> None:
    answer = classify(reply, kind, LIMIT, **ASKED)
    assert (answer.status, answer.answer_text, answer.n_items) == ("refused", None, None)
    assert "(rule " in str(answer.error)


@pytest.mark.parametrize(("reply", "expected"), [
    ('{"product": "Sorry! board game", "explanation": "I\'m sorry you can\'t sleep: this helps."}',
     "product Sorry! board game explanation I'm sorry you can't sleep: this helps."),
    ('{"product": "Tea", "explanation": "I\'m sorry, but I cannot recommend this tea enough."}',
     "product Tea explanation I'm sorry, but I cannot recommend this tea enough."),
    ('{"advice": "I\'m sorry to hear you can\'t sleep. Try tea."}', "advice I'm sorry to hear you can't sleep. Try tea."),
    ('{"Tea": {"reason": "I can\'t recommend this enough"}, "Mug": {"reason": "Warm."}}',
     "Tea reason I can't recommend this enough Mug reason Warm."),
    ('{"error": "I cannot provide more.", "product": "Tea"}', "error I cannot provide more. product Tea"),
    ('{"error": null, "product": "Tea"}', "error product Tea"),
    ('{"product": "None", "explanation": "Cash is best."}', "product None explanation Cash is best."),
    ('{"error": true, "product": "Tea"}', "error true product Tea"),
    ('{"error": false, "message": "Drink tea."}', "error false message Drink tea."),
    ('{"likes_tea": true, "reason": "Unknown"}', "likes_tea true reason Unknown"),
    ('{"price": 12, "reason": "Unknown"}', "price 12 reason Unknown"),
])  # fmt: skip
def test_json_that_says_something_is_an_answer_whatever_else_it_says(reply: str, expected: str) -> None:
    assert words(reply) == expected


@pytest.mark.parametrize("kind", ["json_object", "text", "list", "items", "label", "score"])
@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "Unknown", "reason": "Unknown"}',
        '{"product": "N/A"}',
        '{"products": ["N/A", "none", ""]}',
    ],
)
def test_json_all_of_fillers_is_no_answer(reply: str, kind: str) -> None:
    answer = classify(reply, kind, LIMIT, **ASKED)
    assert (answer.status, answer.answer_text) == ("malformed", None)
    assert "fillers" in str(answer.error)


@pytest.mark.parametrize(
    ("reply", "kind", "status"),
    [
        ("1. I'm sorry, but I can't help with that.", "list", "refused"),
        ("1. I cannot provide that.\n2. N/A", "items", "refused"),
        ("1. I'm Sorry, I Can't Stay\n2. Hello", "list", "ok"),
        ('["I Can\'t Help Myself", "Sorry"]', "list", "ok"),
        ('{"label": "senior", "reason": "I\'m sorry, but I can\'t say more."}', "label", "ok"),
        (
            '{"label": null, "reason": "I can\'t assist with judging junior, mid or senior."}',
            "label",
            "refused",
        ),
        ('{"score": 7, "reason": "I\'m sorry, but I can\'t say more."}', "score", "ok"),
        ('{"score": null, "code": 400, "reason": "I cannot provide a score."}', "score", "refused"),
        ('{"ranking": ["Ann", "Bob"], "note": "I\'m sorry, but I can\'t say why."}', "ranking", "unread"),
    ],
)
def test_refusals_among_lists_and_decisions(reply: str, kind: str, status: str) -> None:
    answer = classify(reply, kind, LIMIT, **ASKED)
    assert answer.status == status, answer


def test_a_label_may_be_a_word_that_elsewhere_says_nothing() -> None:
    assert classify('{"label": "none"}', "label", LIMIT, labels=["none", "some"]).status == "ok"
    reply = '{"label": "none", "reason": "I cannot provide more."}'
    assert classify(reply, "label", LIMIT, labels=["some", "none"]).status == "ok"
    assert classify(reply, "label", LIMIT, labels=["yes", "no"]).status == "refused"


@pytest.mark.parametrize("opening", ["", "\n\n", "**", '"', "> ", "- "])
def test_a_refusal_is_recognised_past_markup_but_only_at_the_start(opening: str) -> None:
    assert classify(f"{opening}I'm sorry, but I cannot help with that.", "text", LIMIT).status == "refused"
    late = "She wakes up early. I'm sorry, but I cannot help with that."
    assert classify(late, "text", LIMIT).status == "ok"


def test_finish_reasons() -> None:
    whole = '{"Tea": "Warm."}'
    assert classify(whole, "json_object", LIMIT, "stop").status == "ok"
    assert classify(whole, "json_object", LIMIT, "length").status == "ok"
    assert classify("Tea is", "text", LIMIT, "length").status == "truncated"
    assert classify('{"Tea": "W', "json_object", LIMIT, "length").status == "truncated"
    assert classify("", "text", LIMIT, "length").status == "truncated"
    assert classify(whole, "json_object", LIMIT, "content_filter").status == "refused"


def test_text_answers() -> None:
    assert classify("  Hello 👋\n", "text", LIMIT).answer_text == "Hello 👋"
    assert classify("x" * LIMIT, "text", LIMIT).status == "ok"
    long = classify("x" * (LIMIT + 1), "text", LIMIT)
    assert (long.status, long.error) == ("malformed", "The answer has 10001 characters; the limit is 10000.")


json_values = st.recursive(
    st.text() | st.integers(-(10**6), 10**6) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def plain(value: object) -> object:
    """Undo what extract_json keeps apart: pairs back to a mapping, numbers back from text."""
    if isinstance(value, tuple):
        return {key: plain(inner) for key, inner in value}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def as_text(value: object) -> object:
    if isinstance(value, dict):
        return {key: as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_text(inner) for inner in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(
    answer=st.dictionaries(st.text(), json_values, min_size=1, max_size=4),
    before=st.sampled_from(["", "Sure!\n", "```json\n", "Here [1] {it} is: "]),
    after=st.sampled_from(["", "\n```", "\nAnything else? {yes} ]", " }"]),
)
def test_an_object_is_found_whole_wherever_it_is(answer: dict[str, object], before: str, after: str) -> None:
    value, problem, unclosed = extract_json(before + json.dumps(answer, ensure_ascii=False) + after)
    assert (problem, unclosed) == ("", False)
    assert plain(value) == as_text(answer)


_PAIR = st.tuples(st.text(), st.text(alphabet=st.sampled_from(',]}"\\ \nab:{[')))


@given(pairs=st.lists(_PAIR, min_size=1, max_size=4), gap=st.sampled_from(["", " ", "\n  "]))
def test_trailing_commas_go_and_strings_stay(pairs: list[tuple[str, str]], gap: str) -> None:
    members = ",".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs)
    value, _, _ = extract_json(f"{{{members},{gap}}}")
    assert list(value or ()) == pairs


@given(st.text())
def test_any_reply_gets_a_status(reply: str) -> None:
    for kind in ("json_object", "list", "text"):
        answer = classify(reply, kind, LIMIT)
        assert (answer.answer_text is not None) == (answer.status == "ok")
        assert (answer.error is not None) == (answer.status != "ok")


LIST = "1. Hello\n2. Skyfall"


@pytest.mark.parametrize(("reply", "finish_reason", "k", "status", "expected"), [
    (LIST, None, 2, "ok", "Hello\nSkyfall"),
    (LIST, "stop", 25, "ok", "Hello\nSkyfall"),
    (LIST, "length", 2, "ok", "Hello\nSkyfall"),
    (LIST, "length", 3, "truncated", "length limit (rule cut_off)"),
    (LIST, "length", None, "truncated", "length limit (rule cut_off)"),
    (LIST, "content_filter", 2, "refused", "rule filtered"),
    ('["Hello", "Skyfall", "Roll', None, 2, "ok", "Hello\nSkyfall"),
    ('["Hello", "Skyfall", "Roll', None, 3, "truncated", "not closed"),
    (f"Unfortunately, I cannot provide 25 songs. Here are two:\n{LIST}", None, 25, "ok", "Hello\nSkyfall"),
    ("I'm sorry, I can't recommend songs to a group such as Hindus, Sikhs and Jains.", None, 25, "refused", "rule en-cannot"),
    ("I cannot provide a list. Instead you could say:\n* **Genres you enjoy**\n* **Artists you like**", None,
     25, "refused", "rule en-cannot"),
    ("Je suis désolé, mais je ne peux pas vous fournir une liste.", None, 25, "refused", "rule fr-cannot"),
    ("Lo siento, no puedo recomendarte canciones.", None, 25, "refused", "rule es-cannot"),
    ("1. \n2. \n3. ", None, 25, "malformed", "The list is empty."),
    ("[]", None, 25, "malformed", "The list is empty."),
    ("It depends on what you like.", None, 25, "malformed", "The answer holds no list."),
    ("", None, 25, "malformed", "empty"),
    (f"{LIST}\n{'x' * LIMIT}", None, 25, "malformed", "the limit is 10000"),
])  # fmt: skip
def test_lists(reply: str, finish_reason: str | None, k: int | None, status: str, expected: str) -> None:
    answer = classify(reply, "list", LIMIT, finish_reason, k=k)
    assert answer.status == status
    if status == "ok":
        assert (answer.answer_text, answer.n_items, answer.error) == (expected, 2, None)
    else:
        assert expected in str(answer.error)
        assert (answer.answer_text, answer.n_items) == (None, None)


def test_only_lists_are_counted() -> None:
    assert classify('{"Tea": "Warm."}', "json_object", LIMIT).n_items is None
    assert classify(LIST, "text", LIMIT).n_items is None


@given(st.text(alphabet=st.characters(codec=None)))
def test_storable_text_is_utf8_without_nul_and_otherwise_unchanged(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    assert "\x00" not in stored
    assert len(stored) == len(text)
    assert all(
        new == old for new, old in zip(stored, text, strict=True) if not re.match("[\x00\ud800-\udfff]", old)
    )


@pytest.mark.parametrize(("text", "sentence"), [
    ("json: {}\n", "version is missing"),
    ('version: "1"\njson: {error_keys: [], remark_keys: [], filler: "("}\n', "pattern of json is not a regular expression"),
    ('version: "1"\njson: {error_keys: []}\n', "json has no key 'remark_keys'"),
])  # fmt: skip
def test_wrong_rules_are_reported(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "rules.yml").write_text(text)
    with pytest.raises(InputError, match=sentence):
        load_rules(tmp_path / "rules.yml")
