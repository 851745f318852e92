"""Parts that the logs of all tools share: dotted columns, chats as prompts, errors in JSON with file and line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.files.plain import MAX_DOCUMENT_BYTES, open_plain, read_plain

MAX_LINE_BYTES = 64 << 20
# A column of a log's row is text or nothing, as in a table.
LogRow = dict[str, str | None]


def dotted(name: str, value: object) -> Iterator[tuple[str, str | None]]:
    """Yield a value as columns: those of an object under dotted names, anything else under its own.

    Text stays as it is, a list becomes JSON, a number or a truth value the JSON of it, null nothing.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from dotted(f"{name}.{key}", inner)
    else:
        yield name, as_text(value)


def as_text(value: object) -> str | None:
    """Return text as it is and null as None; anything else as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def chat_prompt(messages: Sequence[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Return the system prompt and the prompt of a chat.

    Several system messages are joined by an empty line. A single other message is the prompt as it is; of several, each follows
    its role and a colon.
    """
    said = [(str(one.get("role")), message_text(one.get("content")) or "") for one in messages]
    system = [text for role, text in said if role == "system"]
    others = [(role, text) for role, text in said if role != "system"]
    prompt = others[0][1] if len(others) == 1 else "\n\n".join(f"{role}: {text}" for role, text in others)
    return "\n\n".join(system) or None, prompt or None


def message_text(content: object) -> str | None:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (
            part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"
        )
        return "".join(part for part in parts if isinstance(part, str))
    return None


def is_chat(value: object) -> bool:
    """Return whether a value is a list of messages with roles."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and "role" in one for one in value)
    )


def no_rows(path: Path) -> InputError:
    """Return the error for a file that holds no data row."""
    return InputError(f"{path} has no rows; it should hold one for each response.")


def json_fault(error: ValueError | RecursionError) -> str:
    """Return the problem of a text that Python does not read as JSON."""
    if isinstance(error, RecursionError):
        return "lists or objects in it are nested too deeply"
    if "set_int_max_str_digits" in str(error):
        return f"a number in it has more than {sys.get_int_max_str_digits():,} digits; write it as a text, in quotes"
    return str(error)


def parse_object(text: str | bytes, where: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        InputError: it is none; the message begins with `where`.
    """
    try:
        value = json.loads(text)
    except UnicodeDecodeError:
        raise InputError(f"{where} is not UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not valid JSON ({json_fault(error)}).") from None
    if not isinstance(value, dict):
        raise InputError(f"{where} is a JSON {type(value).__name__} and no object.")
    return value


def read_object(path: Path) -> dict[str, Any]:
    """Return the one JSON object that a file holds.

    Raises:
        InputError: it cannot be read or holds none.
    """
    try:
        return parse_object(read_plain(path, MAX_DOCUMENT_BYTES), str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a JSON Lines file's objects with their lines' numbers from 1.

    Raises:
        InputError: a line is no JSON object.
    """
    with open_plain(path) as stream:
        number = 0
        while line := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise InputError(
                    f"{path}: line {number} has more than {MAX_LINE_BYTES >> 20} MiB, which no sample has."
                )
            if line.strip():
                yield number, parse_object(line, f"{path}: line {number}")
