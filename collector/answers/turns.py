"""Read conversations: which turns of the assistant are the answer.

A conversation is a JSON array of messages, an object that holds one (`messages`, `conversation`, …), or text with role headings
(ChatML, `User:` and `Assistant:`). Messages name their role and content in the ways that services and data sets do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Turns = Literal["last_assistant", "all_assistant"] | int

_ROLE_KEYS = ("role", "from", "speaker", "author", "sender", "type")
_CONTENT_KEYS = ("content", "value", "text", "message", "parts", "body")
_LIST_KEYS = (
    "messages",
    "conversation",
    "conversations",
    "turns",
    "dialogue",
    "dialog",
    "chat",
    "history",
    "transcript",
)
_ASSISTANT = frozenset(
    {
        "assistant",
        "ai",
        "bot",
        "gpt",
        "model",
        "chatgpt",
        "chatbot",
        "agent",
        "aimessage",
        "response",
        "output",
    }
)
_OTHERS = frozenset(
    {
        "user",
        "human",
        "humanmessage",
        "system",
        "systemmessage",
        "developer",
        "tool",
        "toolmessage",
        "function",
        "customer",
    }
    | {"prompt", "input", "observation", "environment", "instruction", "client", "prompter", "question"}
)
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
_LIKE_JSON = re.compile(r"\A\s*(?:\[\s*\{|\{)")
_CHATML = re.compile(
    r"<\|(?:im_start\|>|start_header_id\|>)\s*(?P<role>\w+)\s*(?:<\|end_header_id\|>)?\s*\n?"
)
_CHATML_END = re.compile(r"<\|(?:im_end|eot_id|endoftext|end_of_text)\|>")
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,4}[ \t]*|\*\*)?(?P<role>user|human|assistant|ai|chatgpt|bot|model)"
    r"[ \t]*(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a conversation says: the assistant's turns in order, and its reasoning, None where there is none."""

    turns: tuple[str, ...]
    reasoning: str | None = None

    def answer(self, turns: Turns) -> str | None:
        """Return the turns that are the answer, None where the assistant did not say that many.

        Args:
            turns: the last turn, all of them joined by an empty line, or the number of one from 1.
        """
        if not self.turns:
            return None
        if turns == "all_assistant":
            return "\n\n".join(self.turns)
        if turns == "last_assistant":
            return self.turns[-1]
        return self.turns[turns - 1] if turns <= len(self.turns) else None


def find_conversation(text: str) -> Conversation | None:
    """Return the conversation that a text consists of, None where it is none."""
    if _LIKE_JSON.match(text):
        return _from_json(text)
    if "<|im_start|>" in text or "<|start_header_id|>" in text:
        return _from_chatml(text)
    return _from_headings(text)


def _from_json(text: str) -> Conversation | None:
    if not any(f'"{key}"' in text for key in _ROLE_KEYS):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, Mapping):
        value = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
    if not isinstance(value, list) or not value:
        return None
    return _of_messages(value)


def _of_messages(messages: Iterable[object]) -> Conversation | None:
    """Return the conversation of a list of messages, None where an element is no message with a known role."""
    turns: list[str] = []
    reasoning: list[str] = []
    for message in messages:
        role = _role(message)
        if role is None or not isinstance(message, Mapping):
            return None
        if role not in _ASSISTANT:
            continue
        content = next((message[key] for key in _CONTENT_KEYS if message.get(key) is not None), None)
        # A call of a tool has no text, and is no turn of its own.
        if (said := _text(content).strip()) != "":
            turns.append(said)
        thoughts = [message.get(key) for key in _REASONING_KEYS]
        reasoning += [thought for thought in thoughts if isinstance(thought, str) and thought.strip()]
        reasoning += _thoughts(content)
    return Conversation(tuple(turns), "\n\n".join(reasoning) or None)


def _role(message: object) -> str | None:
    """Return the role of a message in lower case, None where it has none that is known."""
    if not isinstance(message, Mapping):
        return None
    for key in _ROLE_KEYS:
        value = message.get(key)
        if isinstance(value, Mapping):
            value = value.get("role") or value.get("name")
        if isinstance(value, str) and (role := value.strip().casefold()) in _ASSISTANT | _OTHERS:
            return role
    return None


def _text(content: object) -> str:
    """Return the text of a message's content: a string, or the text parts of a list or of an object."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if (
            content.get("type") in ("thinking", "reasoning", "redacted_thinking")
            or content.get("thought") is True
        ):
            return ""
        inner = next(
            (content[key] for key in ("text", "content", "parts", "value") if content.get(key) is not None),
            "",
        )
        return _text(inner)
    if isinstance(content, list):
        return "".join(_text(part) for part in content)
    return ""


def _thoughts(content: object) -> list[str]:
    """Return the reasoning among the parts of a message's content."""
    if not isinstance(content, list):
        return []
    parts = [part for part in content if isinstance(part, Mapping)]
    found = [
        part.get("thinking") or part.get("reasoning") or part.get("text")
        for part in parts
        if _text(part) == ""
    ]
    return [thought for thought in found if isinstance(thought, str)]


def _from_chatml(text: str) -> Conversation | None:
    found = list(_CHATML.finditer(text))
    if not found or text[: found[0].start()].strip() not in ("", "<|begin_of_text|>"):
        return None
    ends = [follower.start() for follower in found[1:]] + [len(text)]
    messages = [
        {"role": heading["role"], "content": _CHATML_END.sub("", text[heading.end() : end])}
        for heading, end in zip(found, ends, strict=True)
    ]
    return _of_messages(messages)


def _from_headings(text: str) -> Conversation | None:
    """Return the conversation of a text that begins with the heading of a role and has those of both sides."""
    first = _HEADING.match(text.lstrip())
    if first is None:
        return None
    found = list(_HEADING.finditer(text))
    roles = {heading["role"].casefold() for heading in found}
    if not roles & _ASSISTANT or not roles - _ASSISTANT:
        return None
    ends = [follower.start() for follower in found[1:]] + [len(text)]
    messages = [
        {"role": heading["role"], "content": text[heading.end() : end]}
        for heading, end in zip(found, ends, strict=True)
    ]
    return _of_messages(messages)
