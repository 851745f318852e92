"""Any OpenAI-compatible chat endpoint, over requests: OpenAI, vLLM, Ollama, llama.cpp server and others.

The key is read from the environment when a question is asked and travels in the Authorization header only. It is cut out of
whatever the endpoint sends back, so that it can reach neither ledger, log nor error.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, cast

import requests
from requests.auth import AuthBase

from collector.errors import TargetError
from collector.targets.base import Reply, Request

KEY_PLACEHOLDER = "[key]"
EXCERPT_CHARACTERS = 200
CONNECT_TIMEOUT_SECONDS = 10.0
# A wrong key or address fails for every question; 403 is also how some endpoints reject one prompt.
_STOPS_RUN = {401, 404}


class _Bearer(AuthBase):
    """Sets the Authorization header, or none; its presence also keeps requests from looking for a login in ~/.netrc."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class OpenAITarget:
    """A chat endpoint that is asked with POST {base_url}/chat/completions.

    Args:
        name: its name in targets.yml.
        base_url: up to and without /chat/completions.
        model: the model asked for.
        api_key_env: the environment variable that holds the key; None where the endpoint wants none.
        parameters: sent with every question as they are (temperature, max_tokens, …).
        timeout_seconds: longest silence of the endpoint before a question is given up.
        concurrency: threads that ask at once.
        send_seed: send a seed with each question, a different one for each prompt, trial and attempt.
    """

    kind = "openai"
    is_simulated = False

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        model: str,
        api_key_env: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout_seconds: float = 60.0,
        concurrency: int = 8,
        send_seed: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.concurrency = concurrency
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._base_url = base_url
        self._api_key_env = api_key_env
        self._sent = dict(parameters or {})
        self._timeout_seconds = timeout_seconds
        self._send_seed = send_seed
        self._local = threading.local()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The address, what is sent with every question, and whether seeds are sent."""
        return {"base_url": self._base_url, "send_seed": self._send_seed, **self._sent}

    def ask(self, request: Request) -> Reply:
        """Ask one question.

        Raises:
            TargetError: retryable on 408, 409, 429, 5xx, timeouts, connection errors and bodies that are no chat completion.
        """
        key = self._key()
        messages = [{"role": "user", "content": request.prompt_text}]
        if request.system_prompt is not None:
            messages.insert(0, {"role": "system", "content": request.system_prompt})
        body: dict[str, Any] = {"model": self.model, "messages": messages, **self._sent}
        if self._send_seed and request.seed is not None:
            body["seed"] = request.seed
        started = time.perf_counter()
        try:
            response = self._session().post(
                self._url,
                json=body,
                auth=_Bearer(key),
                timeout=(min(CONNECT_TIMEOUT_SECONDS, self._timeout_seconds), self._timeout_seconds),
                allow_redirects=False,
            )
        except requests.Timeout:
            raise TargetError(
                f"{self.name} did not answer within {self._timeout_seconds:g} s.", retryable=True
            ) from None
        except requests.ConnectionError as error:
            reason = _without(key, _root_cause(error))
            raise TargetError(
                f"{self.name} cannot be reached at {self._url}: {reason}.", retryable=True
            ) from None
        except requests.RequestException as error:
            reason = _without(key, str(error))
            raise TargetError(
                f"{self.name} cannot be asked at {self._url}: {reason}.", stops_run=True
            ) from None
        latency_ms = (time.perf_counter() - started) * 1000
        text = _without(key, response.content.decode("utf-8", "replace"))
        return self._read(response, text, latency_ms)

    def _read(self, response: requests.Response, text: str, latency_ms: float) -> Reply:
        status = response.status_code
        document = _json_object(text)
        if status != 200:
            if document is not None and _is_filtered(document):
                return Reply(text=None, raw_body=text, finish_reason="content_filter", latency_ms=latency_ms)
            raise self._http_error(response, document, text)
        choice = _first_choice(document)
        if document is None or choice is None:
            raise TargetError(
                f"{self.name} answered 200, but not with a chat completion: {_excerpt(text)}",
                retryable=True,
                raw_body=text,
            )
        message = choice["message"]
        content, finish_reason = _content(message.get("content")), choice.get("finish_reason")
        if content is None and isinstance(message.get("refusal"), str):
            content, finish_reason = message["refusal"], "refusal"
        usage = document["usage"] if isinstance(document.get("usage"), dict) else {}
        model = document.get("model")
        return Reply(
            text=content,
            raw_body=text,
            finish_reason=finish_reason if isinstance(finish_reason, str) else None,
            model_answered=model if isinstance(model, str) else None,
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            latency_ms=latency_ms,
        )

    def _http_error(
        self, response: requests.Response, document: dict[str, Any] | None, text: str
    ) -> TargetError:
        status = response.status_code
        if 300 <= status < 400:
            return TargetError(
                f"{self.name} answered {status}, a redirect, which is refused so that the key goes nowhere else; set base_url "
                f"to the final address.",
                stops_run=True,
                raw_body=text,
            )
        if status == 401:
            variable = (
                f"the key in {self._api_key_env}"
                if self._api_key_env
                else "a question without a key (api_key_env)"
            )
            return TargetError(
                f"{self.name} answered 401: it refuses {variable}.", stops_run=True, raw_body=text
            )
        what = _error_message(document) or _excerpt(text)
        hint = f"; check base_url and model {self.model!r}" if status == 404 else ""
        return TargetError(
            f"{self.name} answered {status}: {what}{hint}",
            retryable=status in (408, 409, 429) or status >= 500,
            stops_run=status in _STOPS_RUN,
            retry_after_seconds=_seconds(response.headers.get("Retry-After")),
            raw_body=text,
        )

    def _key(self) -> str | None:
        if self._api_key_env is None:
            return None
        key = os.environ.get(self._api_key_env, "").strip()
        if not key:
            raise TargetError(
                f"{self.name} needs a key in the environment variable {self._api_key_env}, which is not set.",
                stops_run=True,
            )
        return key

    def _session(self) -> requests.Session:
        # A session a thread: requests does not promise that one may be shared.
        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
        return cast(requests.Session, session)


def _without(key: str | None, text: str) -> str:
    return text.replace(key, KEY_PLACEHOLDER) if key else text


def _root_cause(error: BaseException) -> str:
    """Return the innermost reason of a connection error, without the object addresses of the outer ones."""
    inner: BaseException = error
    while inner.args and isinstance(inner.args[0], BaseException):
        inner = inner.args[0]
    reason = getattr(inner, "reason", None)
    if isinstance(reason, BaseException):
        inner = reason
    # urllib3 puts the object's repr before the colon.
    return str(inner).rsplit(">: ", 1)[-1].rsplit(": ", 1)[-1].rstrip(".)'\"") or type(inner).__name__


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _first_choice(document: dict[str, Any] | None) -> dict[str, Any] | None:
    choices = (document or {}).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0] if isinstance(choices[0].get("message"), dict) else None


def _content(content: object) -> str | None:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return None


def _is_filtered(document: dict[str, Any]) -> bool:
    """Say whether an error is a content filter's refusal of this prompt, which is an answer and no failure."""
    error = document.get("error")
    return isinstance(error, dict) and "content_filter" in (error.get("code"), error.get("type"))


def _error_message(document: dict[str, Any] | None) -> str | None:
    error = (document or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return _excerpt(message) if isinstance(message, str) and message.strip() else None


def _excerpt(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= EXCERPT_CHARACTERS else one_line[:EXCERPT_CHARACTERS] + "…"


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _seconds(header: str | None) -> float | None:
    """Return a Retry-After header's seconds; a date there is left unread."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None
