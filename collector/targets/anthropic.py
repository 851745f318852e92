"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from collector.targets.base import Reply, Request
from collector.targets.chat import ChatTarget, instead_of_text
from collector.targets.fields import BaseAddress, HttpSettings, ModelName, Variable, free_parameters
from collector.targets.http.errors import Problem, count, error_message, error_of, text_or_none

KIND = "anthropic"
BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
_OWN_PARAMETERS = {
    "model": "it is a key next to parameters",
    "messages": "they come from the audit",
    "system": "it comes from the audit",
    "stream": "answers are read whole",
}
# Error types that every further question would get, too, independently of the status.
_HOPELESS = {"authentication_error", "permission_error", "billing_error", "not_found_error"}

# Types of blocks that hold no answer.
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}
_THOUGHTS = {"thinking", "redacted_thinking"}


class Settings(HttpSettings):
    """Anthropic's Messages API."""

    kind: Literal["anthropic"] = Field(description="The kind of target.", examples=["anthropic"])
    model: ModelName
    api_key_env: Variable = Field(
        default="ANTHROPIC_API_KEY",
        description="The environment variable that holds the key.",
        examples=["MY_KEY"],
    )
    base_url: BaseAddress = Field(
        default=BASE_URL,
        description="The address of the service or a compatible one.",
        examples=["https://api.anthropic.com"],
    )
    parameters: Annotated[Mapping[str, Any], free_parameters(_OWN_PARAMETERS)] = Field(
        default_factory=dict,
        description="Sent with every question.",
        examples=[{"max_tokens": 1024}],
    )


def build(name: str, settings: Settings, _folder: Path) -> AnthropicTarget:
    """Return the target; the folder of the targets file is not needed."""
    return AnthropicTarget(name, settings)


class AnthropicTarget(ChatTarget):
    """A model that is asked with POST {base_url}/v1/messages.

    The service requires a limit of the answer's length: max_tokens is 4096 unless the parameters say otherwise. It takes no
    seed.
    """

    kind = KIND
    answer_form = "a message"

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._sent = {"max_tokens": DEFAULT_MAX_TOKENS, **self._sent}

    @property
    def url(self) -> str:
        """The address that questions are posted to."""
        return self.base_url.rstrip("/") + "/v1/messages"

    def headers(self) -> dict[str, str]:
        """Return the headers of a request: the key's and the API's version among them."""
        return {**super().headers(), "anthropic-version": API_VERSION}

    def authorisation(self, key: str) -> Mapping[str, str]:
        """Return the header that carries the key."""
        return {"x-api-key": key}

    def question(self, request: Request) -> dict[str, Any]:
        """Return a question as a message request."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [one for one in request.messages if one["role"] != "system"],
            **self._sent,
        }
        if request.system_prompt is not None:
            body["system"] = request.system_prompt
        return body

    def answer(self, document: dict[str, Any]) -> Reply | None:
        """Read a message; None if the document is no message. The model's thinking is not part of its answer."""
        content = document.get("content")
        if document.get("type") != "message" or not isinstance(content, list):
            return None
        blocks = [block for block in content if isinstance(block, dict)]
        texts = [block.get("text") for block in blocks]
        found = [text for text in texts if isinstance(text, str)]
        usage = document["usage"] if isinstance(document.get("usage"), dict) else {}
        return Reply(
            text="".join(found) if found else None,
            finish_reason=text_or_none(document.get("stop_reason")),
            model_answered=text_or_none(document.get("model")),
            prompt_tokens=_prompt_tokens(usage),
            completion_tokens=count(usage.get("output_tokens")),
            instead=instead_of_text(
                [block.get("name") for block in blocks if block.get("type") in _CALLS],
                has_reasoned=any(block.get("type") in _THOUGHTS for block in blocks),
            ),
            reasoning="".join(text for block in blocks if isinstance(text := block.get("thinking"), str))
            or None,
        )

    def problem(self, document: dict[str, Any] | None) -> Problem:
        """Read an error object: a lack of credit or rights, or what the status says."""
        message = error_message(document)
        # A used-up balance comes as an invalid request.
        kind = text_or_none(error_of(document).get("type"))
        is_hopeless = kind in _HOPELESS or "credit balance" in (message or "")
        return Problem(
            message=message,
            is_hopeless=is_hopeless,
        )


def _prompt_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return all tokens of the prompt: those read from and written to the cache are counted apart."""
    plain = count(usage.get("input_tokens"))
    if plain is None:
        return None
    cached = (
        count(usage.get(name)) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens")
    )
    return plain + sum(cached)
