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

_ROLE_KEYS = ("role", "from", "speaker", "sender", "author", "type")
_CONTENT_KEYS = ("content", "value", "text", "message", "parts", "body")
# Written in place of content.
_CALL_KEYS = ("tool_calls", "function_call")
_LIST_KEYS = "messages conversation conversations turns dialogue dialog chat history transcript".split()
_ASSISTANT = frozenset("assistant ai bot gpt model chatgpt chatbot agent aimessage response output".split())
_ASKING = frozenset(
    "user human humanmessage system systemmessage customer client prompter prompt input observation environment instruction "
    "question".split()
)
# Professions and things have these names, too.
_OTHERS = frozenset("developer tool toolmessage function".split())
_ROLES = _ASSISTANT | _ASKING | _OTHERS
_USUAL_ROLES = frozenset("user human system assistant gpt model".split())
# Posts have authors, and products have types, so a role under these keys must be one that only conversations use.
_CHAT_ROLES = frozenset(
    "user human humanmessage system systemmessage tool toolmessage function assistant ai aimessage gpt chatgpt bot "
    "chatbot".split()
)
_ROLES_OF = {"author": _CHAT_ROLES, "type": _CHAT_ROLES}
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
_LIKE_JSON = re.compile(r"\A\s*(?:\[\s*\{|\{)")
_CHATML = re.compile(
    r"<\|(?:im_start\|>|start_header_id\|>)\s*(?P<role>\w+)\s*(?:<\|end_header_id\|>)?\s*\n?"
)
_CHATML_END = re.compile(r"<\|(?:im_end|eot_id|endoftext|end_of_text)\|>")
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,4}[ \t]*|\*\*)?(?P<role>user|human|assistant|ai|chatgpt|bot)"
    r"[ \t]*(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The assistant's turns of a conversation in order, and its reasoning, None without it."""

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
    """Return the conversation that a text consists of, None if it is no conversation."""
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
    """Return the conversation in a list of messages, None if an element is no message or the list may be of people or things.

    Messages under the keys of the large services need no other side; under other keys, both sides must speak.
    """
    turns: list[str] = []
    reasoning: list[str] = []
    roles: set[str] = set()
    is_usual = True
    for message in messages:
        role = _role(message)
        if role is None or not isinstance(message, Mapping):
            return None
        roles.add(role)
        is_usual = is_usual and _has_usual_keys(message)
        if role not in _ASSISTANT:
            continue
        content = next((message[key] for key in _CONTENT_KEYS if message.get(key) is not None), None)
        # A call of a tool has no text, and is no turn of its own.
        if (said := _text(content).strip()) != "":
            turns.append(said)
        thoughts = [message.get(key) for key in _REASONING_KEYS]
        reasoning += [thought for thought in thoughts if isinstance(thought, str) and thought.strip()]
        reasoning += _thoughts(content)
    if not (roles & _ASSISTANT and roles & _ASKING) and not (is_usual and roles & _USUAL_ROLES):
        return None
    return Conversation(tuple(turns), "\n\n".join(reasoning) or None)


def _has_usual_keys(message: Mapping[str, object]) -> bool:
    return ("role" in message and any(key in message for key in ("content", "parts", *_CALL_KEYS))) or (
        "from" in message and "value" in message
    )


def _role(message: object) -> str | None:
    """Return the role of a message in lower case, None without a known role or without content."""
    if not isinstance(message, Mapping) or not any(key in message for key in (*_CONTENT_KEYS, *_CALL_KEYS)):
        return None
    for key in _ROLE_KEYS:
        value = message.get(key)
        if isinstance(value, Mapping):
            value = value.get("role") or value.get("name")
        if isinstance(value, str):
            if (role := value.strip().casefold()) in _ROLES_OF.get(key, _ROLES):
                return role
            if key == "role":
                return None
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
    written = [heading["role"].casefold() for heading in found]
    ends = [follower.start() for follower in found[1:]] + [len(text)]
    said = [text[heading.end() : end] for heading, end in zip(found, ends, strict=True)]
    # Two lines may compare ("Human: 70 %", "AI: 30 %") or name somebody ("Assistant: Ann", "User: Bob").
    if len(found) == 2 and (written[0] in _ASSISTANT or (written[1] in ("ai", "bot") and "?" not in said[0])):
        return None
    if not set(written) & _ASSISTANT or not set(written) - _ASSISTANT:
        return None
    return _of_messages({"role": role, "content": text} for role, text in zip(written, said, strict=True))
