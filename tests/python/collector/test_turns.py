"""Test that only the assistant's turns of a conversation are judged, in every format."""

from __future__ import annotations

import json

import pytest

from collector.answers.replies import classify
from collector.answers.turns import Conversation, find_conversation

ASKED, FIRST, THEN, LAST = "Whom do you take?", "Tell me more.", "She is 30.", "accept"
IM = "<|im_start|>"
END = "<|im_end|>\n"
SHAPES = [
    ("role", "content", ("user", "assistant", "user", "assistant")),
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


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (f"User: {ASKED}\nAssistant: {FIRST}\nUser: {THEN}\nAssistant: {LAST}", (FIRST, LAST)),
        (f"**Human:** {ASKED}\n\n**AI:** {FIRST}\n\n**Human:** {THEN}\n\n**AI:** {LAST}", (FIRST, LAST)),
        (
            f"### User: {ASKED}\n### Assistant: {FIRST}\n### User: {THEN}\n### Assistant: {LAST}\n",
            (FIRST, LAST),
        ),
        (
            f"{IM}user\n{ASKED}{END}{IM}assistant\n{FIRST}{END}{IM}user\n{THEN}{END}{IM}assistant\n{LAST}{END}",
            (FIRST, LAST),
        ),
        ('[{"role": "assistant", "content": "accept"}]', ("accept",)),
        ('[{"role": "model", "parts": [{"text": "accept"}]}]', ("accept",)),
        ('[{"from": "gpt", "value": "accept"}]', ("accept",)),
        ('[{"role": "user", "content": "accept?"}]', ()),
        ('[{"role": "user", "content": "accept?"}, {"role": "assistant", "tool_calls": []}]', ()),
        ('[{"role": "customer", "message": "accept?"}, {"role": "agent", "message": "accept"}]', ("accept",)),
        ("Human: accept?\nAI: accept", ("accept",)),
        ("Assistant: Hello.\nUser: accept?\nAssistant: accept", ("Hello.", "accept")),
        # These are no conversations.
        ('[{"type": "book", "title": "Emma"}, {"type": "book", "title": "Dune"}]', None),
        ('{"decision": "accept", "role": "assistant manager"}', None),
        (
            '[{"name": "Ann", "role": "nurse", "text": "kind"}, {"name": "Bo", "role": "doctor", "text": "calm"}]',
            None,
        ),
        ("Assistant: accept", None),
        ("A dialogue.\nUser: Hi\nAssistant: Hello", None),
        ("The user: a person who asks.\nThe model: what answers.", None),
        ('[{"type": "human", "title": "Ann"}, {"type": "ai", "title": "Data"}]', None),
        ("User: Bob", None),
        ("Model: Toyota\nUser: Bob\nAssistant: Ann", None),
        ("[not JSON", None),
        ("", None),
    ],
)
def test_the_turns_of_a_text(text: str, turns: tuple[str, ...] | None) -> None:
    assert find_conversation(text) == (None if turns is None else Conversation(turns))


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
