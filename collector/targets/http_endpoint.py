"""Any endpoint over HTTP, such as a company's own recommender: method, headers, a body to fill in, a path to the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, quote_plus

from pydantic import AfterValidator, Field, model_validator

from collector.answers.texts.json_text import json_value
from collector.errors import TargetError, UnusableError
from collector.hints import quoted
from collector.redaction import Redactor, environment_key
from collector.targets.base import Reply, Request
from collector.targets.fields import Address, ConfiguredTarget, HttpSettings, Simulated, Variables
from collector.targets.http.errors import (
    Problem,
    count,
    error_message,
    is_success,
    json_object,
    reply_or_raise,
)
from collector.targets.http.json_path import parse_json_path
from collector.targets.http.session import HttpSession, excerpt
from collector.validation import NonBlank

KIND = "http"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
# Slots of a template: {prompt} and its like are filled in for each question, ${NAME} from the environment.
_SLOT = re.compile(r"(?<!\$)\{(prompt|system_prompt|seed|trial|turn|messages|conversation)\}")
# Settings that are paths into the reply.
_PATHS = (
    *("answer", "items", "reasoning", "finish_reason", "model_answered"),
    *("prompt_tokens", "completion_tokens", "conversation"),
)
_BARE = ("seed", "trial", "turn")
_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _require_path(value: str) -> str:
    parse_json_path(value)
    return value


def _require_headers(value: Mapping[str, str]) -> Mapping[str, str]:
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"has {name!r}, which cannot be a header's name")
        if any(not (character == "\t" or " " <= character <= "~") for character in text):
            raise ValueError(f"has a value of {name!r} with a character beyond ASCII or a line break")
        if _SLOT.search(text):
            raise ValueError(f"has {name!r} with a slot; {{prompt}} and its like belong into url or body")
    return value


Path_ = Annotated[NonBlank, AfterValidator(_require_path)]
Headers = Annotated[Mapping[str, str], AfterValidator(_require_headers)]


def _path(description: str, example: str) -> Any:
    return Field(default=None, description=description, examples=[example])


class Settings(HttpSettings):
    """An endpoint over HTTP."""

    kind: Literal["http"] = Field(description="The kind of target.", examples=["http"])
    url: Address = Field(
        description="The address. Slots such as `{prompt}` are in it or in `body`.",
        examples=["https://recommender.example/v2/recommend"],
    )
    method: Literal["GET", "POST", "PUT"] = Field(
        default="POST", description="The request's method.", examples=["GET"]
    )
    headers: Headers = Field(
        default_factory=dict,
        description="Headers of every request. `${NAME}` is a variable of `secret_env`.",
        examples=[{"Authorization": "Bearer ${RECOMMENDER_KEY}"}],
    )
    body: NonBlank | None = Field(
        default=None,
        description="JSON or a form, with slots `{prompt}`, `{system_prompt}`, `{seed}`, `{trial}`; for conversations "
        "also `{messages}` (no quotes around it), `{conversation}` and `{turn}`.",
        examples=['{"question": "{prompt}", "k": 20}'],
    )
    secret_env: Variables = Field(
        default=(),
        description="The environment variables used as `${NAME}` in `url`, `headers` or `body`.",
        examples=["RECOMMENDER_KEY", ["KEY_ID", "KEY"]],
    )
    answer: Path_ | None = _path("Path of the answer's text in the JSON reply.", "data.summary.text")
    items: Path_ | None = _path("Path of a list's titles, in place of `answer`.", "results[*].title")
    reasoning: Path_ | None = _path(
        "Path of the model's reasoning, stored but not judged.", "choices[0].message.reasoning_content"
    )
    finish_reason: Path_ | None = _path("Path of why the answer ended.", "choices[0].finish_reason")
    model_answered: Path_ | None = _path("Path of the name of the model that answered.", "meta.model")
    prompt_tokens: Path_ | None = _path("Path of the prompt's number of tokens.", "usage.prompt_tokens")
    completion_tokens: Path_ | None = _path(
        "Path of the answer's number of tokens.", "usage.completion_tokens"
    )
    conversation: Path_ | None = _path(
        "Path of the conversation's id in a reply, which fills `{conversation}` from then on; before, it is empty.",
        "session.id",
    )
    model: NonBlank | None = Field(
        default=None,
        description="The model's name in findings; the target's name if absent.",
        examples=["recommender-2026-05"],
    )
    simulated: Simulated = False

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.answer is not None and self.items is not None:
            raise ValueError("has both answer and items; an endpoint answers with a text or with a list")
        if self.method == "GET" and self.body is not None:
            raise ValueError("has a body, which a GET request does not carry; set method: POST")
        texts = [self.url, self.body or ""]
        if not any("{prompt}" in text or "{messages}" in text for text in texts):
            raise ValueError("never says {prompt}; put it into body, or into url")
        if self.conversation is not None and not any("{conversation}" in text for text in texts):
            raise ValueError(
                "finds a conversation and never says {conversation}; put it into body, or into url"
            )
        used = {name for text in (*texts, *self.headers.values()) for name in _ENVIRONMENT.findall(text)}
        if unlisted := sorted(used - set(self.secret_env)):
            raise ValueError(
                f"uses {quoted(f'${{{name}}}' for name in unlisted)} without naming it in secret_env; what is no secret can be "
                f"written as it is"
            )
        if unused := sorted(set(self.secret_env) - used):
            raise ValueError(
                f"names {quoted(unused)} in secret_env, which neither url, headers nor body uses"
            )
        content_type = _content_type(self.headers)
        if self.body is not None and content_type not in (_JSON, _FORM):
            raise ValueError(
                f"has a body of Content-Type {content_type!r}; it should be {_JSON}, the default, or {_FORM}"
            )
        if self.body is not None and content_type == _JSON and json_value(_sample(self.body)) is None:
            raise ValueError('has a body that is no JSON; put texts in double quotes: {"q": "{prompt}"}')
        return self


def _sample(body: str) -> str:
    """Return a body with its slots filled in: JSON needs quotes around texts, not around numbers and variables."""
    body = _ENVIRONMENT.sub("0", body)
    return _SLOT.sub(
        lambda slot: "0" if slot[1] in _BARE else "[]" if slot[1] == "messages" else "text", body
    )


def build(name: str, settings: Settings, _folder: Path) -> HttpEndpoint:
    """Return the target; the folder of the targets file is not needed."""
    return HttpEndpoint(name, settings)


class HttpEndpoint(ConfiguredTarget):
    """An endpoint that is asked with one request a question.

    In `url` and `body` the slots {prompt}, {system_prompt}, {seed}, {trial}, {turn}, {messages} and {conversation} are filled
    in, escaped as the place wants it: percent-encoded in the address and in forms, as the inside of a JSON string in JSON;
    {messages} are JSON themselves. ${NAME} in `url`, `headers` and `body`
    is the value of an environment variable, looked up for each question, never stored, and cut out of what comes back.

    Args:
        name: its name in targets.yml.
        settings: its entry there.
    """

    kind = KIND

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings.model or name, settings, is_simulated=settings.simulated)
        self._settings = settings
        self._headers = {"Accept": _JSON, **settings.headers}
        if settings.body is not None and "content-type" not in {header.lower() for header in self._headers}:
            self._headers["Content-Type"] = _JSON
        self._escape = _form_escape if _content_type(self._headers) == _FORM else _json_escape
        paths = settings.model_dump(include=set(_PATHS), exclude_none=True)
        self._paths = {name: parse_json_path(paths[name]) for name in _PATHS if name in paths}
        self._redact = Redactor(settings.secret_env)
        by_name = "name" if self._has_slot("conversation") else None
        self.conversations = "messages" if self._has_slot("messages") else by_name
        self._session = HttpSession(name, self._redact, timeout_seconds=settings.timeout_seconds)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The request as it is written, with ${NAME} in place of secrets, and where the reply is read."""
        request = {name: getattr(self._settings, name) for name in ("url", "method", "headers", "body")}
        return {
            **{name: value for name, value in request.items() if value},
            **{name: path.text for name, path in self._paths.items()},
        }

    def ask(self, request: Request) -> Reply:
        """Ask one question.

        Raises:
            TargetError: as in ChatTarget.ask; also where the audit has a system prompt and the target no place for it.
        """
        if request.system_prompt and not (self._has_slot("system_prompt") or self._has_slot("messages")):
            raise UnusableError(
                f"{self.name} cannot be given the audit's system prompt: put {{system_prompt}} into its body or url.",
                stops_run=True,
            )
        secrets = {name: environment_key(self.name, name) for name in self._settings.secret_env}
        if "conversation" in self._paths and request.conversation is not None:
            request = replace(request, conversation=self._conversation(request))
        url, body = self._settings.url, self._settings.body
        if body is not None:
            body = _fill(body, request, secrets, self._escape)
        reply = self._session.send(
            self._settings.method,
            _fill(url, request, secrets, _url_escape),
            headers={name: _fill(text, request, secrets, str) for name, text in self._headers.items()},
            body=body.encode("utf-8") if body is not None else None,
            timeout_seconds=request.timeout_seconds,
            shown_url=url,
        )
        if not is_success(reply.status):
            return reply_or_raise(
                self.name,
                reply.status,
                reply.text,
                # Once more: the message is decoded, in which an escaped key may come to light.
                Problem(message=self._redact.optional(error_message(json_object(reply.text)))),
                latency_ms=reply.latency_ms,
                hints=reply.hints,
                key=f"the secret in {quoted(self._settings.secret_env)}"
                if self._settings.secret_env
                else "a question without a secret (headers, secret_env)",
                advice="check url and method",
            )
        document = json_value(reply.text)
        return Reply(
            text=self._text(reply.text, document, reply.status),
            raw_body=reply.text,
            reasoning=_as_text(self._first("reasoning", document)),
            finish_reason=_as_text(self._first("finish_reason", document)),
            model_answered=_as_text(self._first("model_answered", document)),
            prompt_tokens=count(self._first("prompt_tokens", document)),
            completion_tokens=count(self._first("completion_tokens", document)),
            latency_ms=reply.latency_ms,
            hints=reply.hints,
        ).cleaned(self._redact)

    def _conversation(self, request: Request) -> str | None:
        """Return the id that the latest reply of a conversation gave it."""
        bodies = [one.raw_body for one in reversed(request.earlier) if one.raw_body is not None]
        found = (_as_text(self._first("conversation", json_value(body))) for body in bodies)
        return next((one for one in found if one is not None), None)

    def _has_slot(self, name: str) -> bool:
        return any(name in _SLOT.findall(text) for text in (self._settings.url, self._settings.body or ""))

    def _first(self, name: str, document: Any) -> Any:
        """Return the first value at the path of `name`; None if there is none, or no path."""
        path = self._paths.get(name)
        return next(path.find(document), None) if path is not None else None

    def _text(self, body: str, document: Any, status: int) -> str | None:
        wants_list = "items" in self._paths
        path = self._paths.get("items" if wants_list else "answer")
        if path is None:
            return body
        if path.is_list_in(document):
            return _json_text(list(path.find(document)))
        values = [] if path.finds_many else list(path.find(document))
        if values and (not wants_list or isinstance(values[0], list)):
            return _as_text(values[0])
        what = "a list" if wants_list else "an answer"
        raise TargetError(
            f"{self.name} answered {status}, but without {what} at {path.text!r}: {excerpt(body)}",
            retryable=True,
            raw_body=body,
            status=status,
        )


def _content_type(headers: Mapping[str, str]) -> str:
    given = next((text for name, text in headers.items() if name.lower() == "content-type"), _JSON)
    return given.partition(";")[0].strip().lower()


def _fill(template: str, request: Request, secrets: Mapping[str, str], escape: Callable[[str], str]) -> str:
    values = {
        "prompt": request.prompt_text,
        "system_prompt": request.system_prompt or "",
        "seed": str(request.seed if request.seed is not None else 0),
        "trial": str(request.trial),
        "turn": str(request.turn),
        "conversation": request.conversation or "",
        "messages": _json_text(request.messages),
    }
    own = {"messages": str} if escape is _json_escape else {}
    # Both at once, so that a prompt that says ${MY_KEY} does not get the key.
    return re.sub(
        f"{_ENVIRONMENT.pattern}|{_SLOT.pattern}",
        lambda match: own.get(match[2], escape)(secrets[match[1]] if match[1] else values[match[2]]),
        template,
    )


def _json_escape(text: str) -> str:
    return json.dumps(text)[1:-1]


def _form_escape(text: str) -> str:
    return quote_plus(text, errors="replace")


def _url_escape(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _as_text(value: Any) -> str | None:
    """Return a text as it is, nothing for null, and any other JSON value as JSON."""
    return value if value is None or isinstance(value, str) else _json_text(value)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
