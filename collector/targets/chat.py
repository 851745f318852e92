"""Parts that the chat services of several vendors share: a key, a JSON question, a JSON answer, an error object.

A vendor's module says how a question is written, how an answer is read and what an error means.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from collector.errors import InputError, TargetError
from collector.rates import RateHints
from collector.redaction import Redactor, environment_key
from collector.targets.base import Reply, Request, Target
from collector.targets.fields import ConfiguredTarget, TargetSettings
from collector.targets.http.errors import Problem, is_success, json_object, reply_or_raise
from collector.targets.http.session import HttpSession, excerpt

SHOWN_NAME_CHARACTERS = 60


def require_temperature(target: Target, temperature: float | None) -> None:
    """Make sure that a chat model is asked at the temperature of an audit, where that names one.

    Raises:
        InputError: its parameters hold another temperature, or none.
    """
    if temperature is None or not isinstance(target, ChatTarget):
        return
    held = target.parameters.get("temperature")
    if held != temperature:
        raise InputError(
            f"The audit asks at temperature {temperature:g}, and the target {target.name!r} at "
            f"{'its own' if held is None else held}; write parameters: {{temperature: {temperature:g}}} into it."
        )


def instead_of_text(tools: Iterable[object], *, has_reasoned: bool) -> str | None:
    """Return a sentence on the content of a reply without a text; None if no content is known.

    Args:
        tools: the names of the tools that it wants to call.
        has_reasoned: whether it holds what the model thought, or says that it thought.
    """
    names = list(
        dict.fromkeys(excerpt(str(name))[:SHOWN_NAME_CHARACTERS] or "without a name" for name in tools)
    )
    if names:
        return f"It calls a tool ({', '.join(names[:3])}) and says nothing."
    return "It holds what the model thought, and no answer." if has_reasoned else None


class ChatSettings(TargetSettings, Protocol):
    """The settings that the entry of every chat service has."""

    @property
    def model(self) -> str:
        """The service's name for the model."""

    @property
    def base_url(self) -> str:
        """The address without the path of a question."""

    @property
    def api_key_env(self) -> str | None:
        """The environment variable that holds the key, None where none is needed."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters sent with every question."""

    @property
    def timeout_seconds(self) -> float:
        """Longest time for one attempt."""


class ChatTarget(ConfiguredTarget, ABC):
    """A vendor's chat service.

    The key is read from the environment when a question is asked, travels in a header only, and is cut out of whatever the
    service sends back, so that it can reach neither ledger, log nor error.

    Args:
        name: its name in targets.yml.
        settings: its entry there, of the kind's own `Settings`.
    """

    kind: ClassVar[str]
    conversations: ClassVar[str | None] = "messages"
    answer_form: ClassVar[str]
    """The name of a good answer in error sentences: "a chat completion"."""

    def __init__(self, name: str, settings: ChatSettings) -> None:
        super().__init__(name, settings.model, settings, is_simulated=False)
        self.base_url = settings.base_url
        self.redact = Redactor([settings.api_key_env] if settings.api_key_env else [])
        self.session = HttpSession(name, self.redact, timeout_seconds=settings.timeout_seconds)
        self._api_key_env = settings.api_key_env
        self._sent = dict(settings.parameters)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The address, and what is sent with every question."""
        return {"base_url": self.base_url, **self._sent}

    @property
    @abstractmethod
    def url(self) -> str:
        """The address that questions are posted to."""

    @abstractmethod
    def authorisation(self, key: str) -> Mapping[str, str]:
        """Return the header that carries the key."""

    @abstractmethod
    def question(self, request: Request) -> dict[str, Any]:
        """Return a question in the vendor's JSON."""

    @abstractmethod
    def answer(self, document: dict[str, Any]) -> Reply | None:
        """Read an answer; None if the document is no answer."""

    @abstractmethod
    def problem(self, document: dict[str, Any] | None) -> Problem:
        """Read an error; the document is None where the body is no JSON object."""

    def hidden_error(self, document: dict[str, Any]) -> object:
        """Return the error that a document sent as a success holds, None if none."""
        return document.get("error")

    def headers(self) -> dict[str, str]:
        """Return the headers of a request, the key's among them.

        Raises:
            TargetError: the environment variable of the key is not set.
        """
        found = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._api_key_env is not None:
            found |= self.authorisation(environment_key(self.name, self._api_key_env))
        return found

    def ask(self, request: Request) -> Reply:
        """Ask one question.

        Raises:
            TargetError: retryable where asking again may help: 408, 409, 425, 429, 5xx, timeouts, connection errors, and bodies
                that are no answer.
        """
        reply = self.session.send(
            "POST",
            self.url,
            headers=self.headers(),
            body=json.dumps(self.question(request), allow_nan=False).encode("ascii"),
            timeout_seconds=request.timeout_seconds,
        )
        return self.read(reply.status, reply.text, latency_ms=reply.latency_ms, hints=reply.hints)

    def read(
        self, status: int, text: str, *, latency_ms: float | None = None, hints: RateHints | None = None
    ) -> Reply:
        """Turn a status and a body without secrets into a reply.

        Raises:
            TargetError: the body is an error, or no answer in the vendor's form.
        """
        document = json_object(text)
        if is_success(status) and document is not None and (error := self.hidden_error(document)):
            status, document = _status_of(error), {"error": error}
        if not is_success(status):
            problem = self.problem(document)
            return reply_or_raise(
                self.name,
                status,
                text,
                replace(problem, message=self.redact.optional(problem.message)),
                latency_ms=latency_ms,
                hints=hints,
                key=f"the key in {self._api_key_env}"
                if self._api_key_env
                else "a question without a key (api_key_env)",
                advice=f"check base_url and model {self.model!r}",
            )
        reply = self.answer(document) if document is not None else None
        if reply is None:
            raise TargetError(
                f"{self.name} answered {status}, but not with {self.answer_form}: {excerpt(text)}",
                retryable=True,
                raw_body=text,
                status=status,
                hints=hints,
            )
        # Once more, because a key that JSON escapes in some odd way is plain only now.
        return replace(reply.cleaned(self.redact), raw_body=text, latency_ms=latency_ms, hints=hints)


def _status_of(error: object) -> int:
    """Return the status that an error sent as a success names; 500 where it names none."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else 500
