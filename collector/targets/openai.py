"""Any OpenAI-compatible chat endpoint: OpenAI, OpenRouter, vLLM, Ollama, llama.cpp server and others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from collector.targets.base import Reply, Request
from collector.targets.chat import ChatTarget, instead_of_text
from collector.targets.fields import BaseAddress, HttpSettings, ModelName, SendSeed, Variable, free_parameters
from collector.targets.http.errors import Problem, count, error_message, error_of, text_or_none

KIND = "openai"
# Parameters that the collector sets itself.
_OWN_PARAMETERS = {
    "model": "it is a key next to parameters",
    "messages": "they come from the audit",
    "stream": "answers are read whole",
    "n": "each trial is asked on its own",
    "seed": "one seed would give every trial the same answer; use send_seed: true next to parameters",
}
# Error codes and types that every further question would get, too, independently of the status.
_HOPELESS = {
    "access_terminated",
    "account_deactivated",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_permissions",
    "insufficient_quota",
    "invalid_api_key",
    "model_not_found",
    "permission_denied",
    "permission_error",
    "unsupported_country_region_territory",
}


class Settings(HttpSettings):
    """An OpenAI-compatible chat endpoint."""

    kind: Literal["openai"] = Field(description="The kind of target.", examples=["openai"])
    base_url: BaseAddress = Field(
        description="The address up to `/chat/completions`, without it.",
        examples=["https://api.openai.com/v1"],
    )
    model: ModelName
    api_key_env: Variable | None = Field(
        default=None,
        description="The environment variable that holds the key; leave it out if none is needed.",
        examples=["OPENAI_API_KEY"],
    )
    parameters: Annotated[Mapping[str, Any], free_parameters(_OWN_PARAMETERS)] = Field(
        default_factory=dict,
        description="Sent with every question.",
        examples=[{"temperature": 1.0, "max_completion_tokens": 800}],
    )
    send_seed: SendSeed = False


def build(name: str, settings: Settings, _folder: Path) -> OpenAITarget:
    """Return the target; the folder of the targets file is not needed."""
    return OpenAITarget(name, settings)


class OpenAITarget(ChatTarget):
    """A chat endpoint that is asked with POST {base_url}/chat/completions."""

    kind = KIND
    answer_form = "a chat completion"

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._send_seed = settings.send_seed

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The address, the settings sent with every question, and whether seeds are sent."""
        return {"base_url": self.base_url, "send_seed": self._send_seed, **self._sent}

    @property
    def url(self) -> str:
        """The address that questions are posted to."""
        return self.base_url.rstrip("/") + "/chat/completions"

    def authorisation(self, key: str) -> Mapping[str, str]:
        """Return the header that carries the key."""
        return {"Authorization": f"Bearer {key}"}

    def question(self, request: Request) -> dict[str, Any]:
        """Return a question as a chat completion request."""
        body: dict[str, Any] = {"model": self.model, "messages": request.messages, **self._sent}
        if self._send_seed and request.seed is not None:
            body["seed"] = request.seed
        return body

    def answer(self, document: dict[str, Any]) -> Reply | None:
        """Read a chat completion; None if the document is none."""
        choice = _first_choice(document)
        message = choice.get("message") if choice is not None else None
        if choice is None or not isinstance(message, dict):
            return None
        content, finish_reason = _content(message.get("content")), choice.get("finish_reason")
        if content is None and isinstance(message.get("refusal"), str):
            content, finish_reason = message["refusal"], "refusal"
        usage = document["usage"] if isinstance(document.get("usage"), dict) else {}
        return Reply(
            text=content,
            finish_reason=text_or_none(finish_reason),
            model_answered=text_or_none(document.get("model")),
            prompt_tokens=count(usage.get("prompt_tokens")),
            completion_tokens=count(usage.get("completion_tokens")),
            instead=_instead(message, usage),
            reasoning=_reasoning(message),
        )

    def hidden_error(self, document: dict[str, Any]) -> object:
        """Return the error of a document, or of its first choice: OpenRouter answers 200 where the model behind it fails."""
        return document.get("error") or (_first_choice(document) or {}).get("error")

    def problem(self, document: dict[str, Any] | None) -> Problem:
        """Read an error object: a lack of credit or rights, or what the status says."""
        error = error_of(document)
        names = {name for name in (error.get("code"), error.get("type")) if isinstance(name, str)}
        is_hopeless = bool(names & _HOPELESS)
        return Problem(
            message=error_message(document),
            is_hopeless=is_hopeless,
        )


def _first_choice(document: dict[str, Any]) -> dict[str, Any] | None:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0]


def _instead(message: Mapping[str, Any], usage: Mapping[str, Any]) -> str | None:
    """Return what a message holds in addition to its text: calls of tools, and thoughts under services' own names."""
    listed = message["tool_calls"] if isinstance(message.get("tool_calls"), list) else []
    called = [call.get("function", call) for call in listed if isinstance(call, dict)]
    details = usage.get("completion_tokens_details")
    thought = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return instead_of_text(
        [call.get("name") for call in (message.get("function_call"), *called) if isinstance(call, dict)],
        has_reasoned=bool(message.get("reasoning_content") or message.get("reasoning") or count(thought)),
    )


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning of a message, which services send in a field of its own or among the parts of the content."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name].strip():
            return str(message[name])
    content = message.get("content")
    parts = (
        [part.get("thinking") for part in content if isinstance(part, dict)]
        if isinstance(content, list)
        else []
    )
    return "".join(text for part in parts if (text := _content(part)) is not None) or None


def _content(content: object) -> str | None:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return None
