"""promptfoo outputs, .json and .jsonl: a row for each prompt, test and repetition.

Columns: `text` the output (an object as JSON), `prompt` and `system_prompt` the rendered prompt, `model` the provider's id,
`finish_reason`, `error` why a provider failed (an assertion that failed is no error); and under promptfoo's own names `vars.…`,
`metadata.…`, `prompt.label`, `provider.id`, `provider.label`, `testIdx`, `promptIdx`, `success`, `score`, `namedScores.…`,
`gradingResult.reason`, `testCase.description`. Repetitions are not
numbered there, so the trial is left out of an import's columns: equal prompts are counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.tables.log_rows import LogRow, as_text, chat_prompt, dotted, is_chat, read_lines

_IS_RESULT = {"testIdx", "promptIdx", "vars"}
_PROVIDER_FAILED = 2


def is_result(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is one result of promptfoo."""
    return document.keys() >= _IS_RESULT


def is_log(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is an output of promptfoo."""
    results = document.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def document_rows(document: Mapping[str, Any], path: Path) -> Iterator[LogRow]:
    """Yield the rows of a .json output.

    Raises:
        InputError: a result is none.
    """
    for number, result in enumerate(document["results"]["results"], start=1):
        yield _row(result, f"{path}: result {number}")


def line_rows(path: Path) -> Iterator[LogRow]:
    """Yield the rows of a .jsonl output.

    Raises:
        InputError: a line is no result.
    """
    for number, result in read_lines(path):
        yield _row(result, f"{path}: line {number}")


def _row(result: object, where: str) -> LogRow:
    if not isinstance(result, dict) or not is_result(result):
        raise InputError(f"{where} is no result of promptfoo, which has {', '.join(sorted(_IS_RESULT))}.")
    response = result.get("response") or {}
    asked = result.get("prompt") or {}
    provider = result.get("provider")
    if not isinstance(provider, dict):
        provider = {"id": provider}
    system, prompt = _prompt(asked.get("raw"))
    error = response.get("error")
    if error is None and result.get("failureReason") == _PROVIDER_FAILED:
        error = result.get("error")
    row: LogRow = {
        "text": as_text(response.get("output")),
        "prompt": prompt,
        "system_prompt": system,
        "model": as_text(provider.get("id")),
        "finish_reason": as_text(response.get("finishReason")),
        "error": as_text(error),
    }
    row |= dotted("vars", result["vars"])
    row |= dotted("metadata", result.get("metadata") or {})
    row |= dotted("prompt.label", asked.get("label"))
    row |= dotted("provider.id", provider.get("id"))
    row |= dotted("provider.label", provider.get("label"))
    row |= dotted("testIdx", result["testIdx"])
    row |= dotted("promptIdx", result["promptIdx"])
    row |= dotted("success", result.get("success"))
    row |= dotted("score", result.get("score"))
    row |= dotted("namedScores", result.get("namedScores") or {})
    row |= dotted("gradingResult.reason", (result.get("gradingResult") or {}).get("reason"))
    row |= dotted("testCase.description", (result.get("testCase") or {}).get("description"))
    return row


def _prompt(raw: object) -> tuple[str | None, str | None]:
    """Return system prompt and prompt of the rendered text, which may be a chat in JSON."""
    text = as_text(raw)
    try:
        messages = json.loads(text or "")
    except (ValueError, RecursionError):
        return None, text
    return chat_prompt(messages) if is_chat(messages) else (None, text)
