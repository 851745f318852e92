"""Test that only the assistant's turns of a conversation are judged, in every format."""

from __future__ import annotations

import json

import pytest

from collector.answers.replies import classify
from collector.answers.turns import Conversation, find_conversation

ASKED, FIRST, THEN, LAST = "Whom do you take?", "Tell me more.", "She is 30.", "accept"
OPENAI = [("role", "content", ("user", "assistant", "user", "assistant"))]
SHAPES = [
    *OPENAI,
    ("from", "value", ("human", "gpt", "human", "gpt")),
    ("speaker", "text", ("User", "Assistant", "User", "Assistant")),
    ("sender", "message", ("human", "ai", "human", "ai")),
    ("author", "content", ("user", "bot", "user", "bot")),
    ("type", "content", ("human", "ai", "human", "ai")),
    ("role", "parts", ("user", "model", "user", "model")),
]


@pytest.mark.parametrize(("role", "content", "roles"), SHAPES)
@pytest.mark.parametrize("wrapper", [None, "messages", "conversations"])
@pytest.mark.parametrize("has_parts", [False, True])
def test_messages(
    role: str, content: str, roles: tuple[str, ...], wrapper: str | None, has_parts: bool
) -> None:
    said = [[{"type": "text", "text": text}] if has_parts else text for text in (ASKED, FIRST, THEN, LAST)]
    messages = [{role: who, content: text} for who, text in zip(roles, said, strict=True)]
    text = json.dumps({wrapper: messages} if wrapper else [{role: "system", content: "Be fair."}, *messages])
    found = find_conversation(text)
    assert found == Conversation((FIRST, LAST))
    assert found.answer("last_assistant") == LAST
    assert found.answer("all_assistant") == f"{FIRST}\n\n{LAST}"
    assert (found.answer(1), found.answer(2), found.answer(3)) == (FIRST, LAST, None)


@pytest.mark.parametrize("text", [
    f"User: {ASKED}\nAssistant: {FIRST}\nUser: {THEN}\nAssistant: {LAST}",
    f"**Human:** {ASKED}\n\n**AI:** {FIRST}\n\n**Human:** {THEN}\n\n**AI:** {LAST}",
    f"### User: {ASKED}\n### Assistant: {FIRST}\n### User: {THEN}\n### Assistant: {LAST}\n",
    "".join(
        f"<|im_start|>{role}\n{text}<|im_end|>\n"
        for role, text in zip(("user", "assistant") * 2, (ASKED, FIRST, THEN, LAST), strict=True)
    ),
])  # fmt: skip
def test_text_with_roles(text: str) -> None:
    assert find_conversation(text) == Conversation((FIRST, LAST))


@pytest.mark.parametrize("text", [
    '[{"type": "book", "title": "Emma"}, {"type": "book", "title": "Dune"}]',
    '{"decision": "accept", "role": "assistant manager"}',
    '[{"name": "Ann", "role": "nurse", "text": "kind"}, {"name": "Bo", "role": "doctor", "text": "calm"}]',
    "Assistant: accept",
    "A dialogue.\nUser: Hi\nAssistant: Hello",
    "The user: a person who asks.\nThe model: what answers.",
    '[{"type": "human", "title": "Ann"}, {"type": "ai", "title": "Data"}]',
    "User: Bob",
    "Model: Toyota\nUser: Bob\nAssistant: Ann",
    "[not JSON",
    "",
])  # fmt: skip
def test_what_is_no_conversation(text: str) -> None:
    assert find_conversation(text) is None


@pytest.mark.parametrize(("text", "turns"), [
    ('[{"role": "assistant", "content": "accept"}]', ("accept",)),
    ('[{"role": "model", "parts": [{"text": "accept"}]}]', ("accept",)),
    ('[{"from": "gpt", "value": "accept"}]', ("accept",)),
    ('[{"role": "user", "content": "accept?"}]', ()),
    ('[{"role": "user", "content": "accept?"}, {"role": "assistant", "tool_calls": []}]', ()),
    ('[{"role": "customer", "message": "accept?"}, {"role": "agent", "message": "accept"}]', ("accept",)),
    ("Human: accept?\nAI: accept", ("accept",)),
    ("Assistant: Hello.\nUser: accept?\nAssistant: accept", ("Hello.", "accept")),
])  # fmt: skip
def test_short_conversations(text: str, turns: tuple[str, ...]) -> None:
    assert find_conversation(text) == Conversation(turns)


def test_the_chosen_turn_is_judged_and_reasoning_is_kept() -> None:
    messages = [
        {"role": "user", "content": "accept or reject?"},
        {"role": "assistant", "content": "reject", "reasoning_content": "At first sight no."},
        {"role": "user", "content": "Look again."},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Well."}, {"type": "text", "text": "accept"}],
        },
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    labels = ["reject", "accept"]
    last = classify(json.dumps(messages), "label", 1000, labels=labels)
    assert (last.answer_text, last.reasoning_text) == ("accept", "At first sight no.\n\nWell.")
    assert classify(json.dumps(messages), "label", 1000, labels=labels, turns=1).answer_text == "reject"
    missing = classify(json.dumps(messages), "label", 1000, labels=labels, turns=3)
    assert (
        missing.error == "The conversation holds 2 turns of the assistant, and answer.turns asks for turn 3."
    )
    silent = classify(json.dumps(messages[:1]), "text", 1000)
    assert (silent.status, silent.error) == ("malformed", "The conversation holds no turn of the assistant.")
