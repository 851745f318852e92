"""Google's Gemini API, method generateContent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BeforeValidator, Field

from collector.targets.base import Reply, Request
from collector.targets.chat import ChatTarget, instead_of_text
from collector.targets.fields import BaseAddress, HttpSettings, ModelName, SendSeed, Variable, free_parameters
from collector.targets.http.errors import Problem, count, error_message, error_of, text_or_none
from collector.validation import list_to_tuple

KIND = "gemini"
BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
_OWN_PARAMETERS = {
    "seed": "one seed would give every trial the same answer; use send_seed: true next to parameters",
    "candidateCount": "each trial is asked on its own",
}
_HOPELESS_STATUSES = {"UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND"}
# A wrong key comes as an invalid argument.
_HOPELESS_REASONS = {"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "CONSUMER_SUSPENDED", "SERVICE_DISABLED"}


class Settings(HttpSettings):
    """Google's Gemini API."""

    kind: Literal["gemini"] = Field(description="The kind of target.", examples=["gemini"])
    model: ModelName
    api_key_env: Variable = Field(
        default="GEMINI_API_KEY",
        description="The environment variable that holds the key.",
        examples=["MY_KEY"],
    )
    base_url: BaseAddress = Field(
        default=BASE_URL,
        description="The address of the service or a compatible one.",
        examples=["https://generativelanguage.googleapis.com/v1beta"],
    )
    parameters: Annotated[Mapping[str, Any], free_parameters(_OWN_PARAMETERS)] = Field(
        default_factory=dict, description="The request's `generationConfig`.", examples=[{"temperature": 1.0}]
    )
    safety_settings: Annotated[tuple[Mapping[str, str], ...], BeforeValidator(list_to_tuple)] = Field(
        default=(),
        description="The request's `safetySettings`: what the service filters.",
        examples=[[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]],
    )
    send_seed: SendSeed = False


def build(name: str, settings: Settings, _folder: Path) -> GeminiTarget:
    """Return the target; the folder of the targets file is not needed."""
    return GeminiTarget(name, settings)


class GeminiTarget(ChatTarget):
    """A model that is asked with POST {base_url}/models/{model}:generateContent."""

    kind = KIND
    answer_form = "generated content"

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._safety_settings = [dict(setting) for setting in settings.safety_settings]
        self._send_seed = settings.send_seed

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The address, the settings sent with every question, and whether seeds are sent."""
        safety = {"safetySettings": self._safety_settings} if self._safety_settings else {}
        return {"base_url": self.base_url, "send_seed": self._send_seed, **safety, **self._sent}

    @property
    def url(self) -> str:
        """The address that questions are posted to."""
        model = quote(self.model.removeprefix("models/"), safe="")
        return f"{self.base_url.rstrip('/')}/models/{model}:generateContent"

    def authorisation(self, key: str) -> Mapping[str, str]:
        """Return the header that carries the key; in the address it would reach logs."""
        return {"x-goog-api-key": key}

    def question(self, request: Request) -> dict[str, Any]:
        """Return a question as a generateContent request."""
        roles = {"user": "user", "assistant": "model"}
        body: dict[str, Any] = {
            "contents": [
                {"role": roles[one["role"]], "parts": [{"text": one["content"]}]}
                for one in request.messages
                if one["role"] in roles
            ]
        }
        if request.system_prompt is not None:
            body["systemInstruction"] = {"parts": [{"text": request.system_prompt}]}
        configuration = dict(self._sent)
        if self._send_seed and request.seed is not None:
            configuration["seed"] = request.seed
        if configuration:
            body["generationConfig"] = configuration
        if self._safety_settings:
            body["safetySettings"] = self._safety_settings
        return body

    def answer(self, document: dict[str, Any]) -> Reply | None:
        """Read generated content, or that the prompt was blocked; None if the document is neither.

        The model's thinking is no part of its answer, but its tokens cost the same.
        """
        candidates = document.get("candidates")
        feedback = document.get("promptFeedback")
        usage = document["usageMetadata"] if isinstance(document.get("usageMetadata"), dict) else {}
        if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict):
            texts = list(_texts(candidates[0], are_thoughts=False))
            reasoning = "".join(_texts(candidates[0], are_thoughts=True)) or None
            instead = _instead(candidates[0])
            text = "".join(texts) if texts else None
            finish_reason = text_or_none(candidates[0].get("finishReason"))
        elif isinstance(feedback, dict) and isinstance(feedback.get("blockReason"), str):
            text, finish_reason, instead, reasoning = None, "blocked", None, None
        else:
            return None
        completion = [count(usage.get(name)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        return Reply(
            text=text,
            finish_reason=finish_reason,
            model_answered=text_or_none(document.get("modelVersion")),
            prompt_tokens=count(usage.get("promptTokenCount")),
            completion_tokens=sum(n or 0 for n in completion)
            if any(n is not None for n in completion)
            else None,
            instead=instead,
            reasoning=reasoning,
        )

    def problem(self, document: dict[str, Any] | None) -> Problem:
        """Read an error object: a wrong key or model, a wish to be left alone, or what the status says."""
        error = error_of(document)
        listed = error["details"] if isinstance(error.get("details"), list) else []
        details = [detail for detail in listed if isinstance(detail, dict)]
        reasons = {text_or_none(detail.get("reason")) for detail in details}
        is_hopeless = text_or_none(error.get("status")) in _HOPELESS_STATUSES or bool(
            reasons & _HOPELESS_REASONS
        )
        delays = [_seconds(detail.get("retryDelay")) for detail in details]
        return Problem(
            message=error_message(document),
            is_hopeless=is_hopeless,
            retry_after_seconds=next((delay for delay in delays if delay is not None), None),
        )


def _parts(candidate: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _texts(candidate: Mapping[str, Any], *, are_thoughts: bool) -> Iterator[str]:
    for part in _parts(candidate):
        if isinstance(part.get("text"), str) and (part.get("thought") is True) == are_thoughts:
            yield part["text"]


def _instead(candidate: Mapping[str, Any]) -> str | None:
    """Return what a candidate holds in addition to its text: calls of functions, and thoughts."""
    parts = _parts(candidate)
    calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    return instead_of_text(
        [call.get("name") for call in calls], has_reasoned=any(part.get("thought") is True for part in parts)
    )


def _seconds(delay: object) -> float | None:
    """Return the seconds of a duration such as 12s or 0.5s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s", delay) if isinstance(delay, str) else None
    return float(match[1]) if match else None
