"""Services on loopback with the wire formats of the audited vendors, their error objects and their rate headers.

One server stands for all of them; the first part of the address says which: /openai, /anthropic, /gemini, /custom. Each checks
what its vendor checks (key, version header, model, required fields) and then replies as the test configured it.
"""

from __future__ import annotations

import gzip
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from tests.python.answering import serving

KEY = "sk-test/Secret+key=0123456789"
MODEL = "audited-1"
SERVED_MODEL = "audited-1-2026-05-01"


@dataclass(frozen=True)
class Asked:
    """A question as it arrived."""

    service: str
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Good:
    """An answer; `end` is what ended it: finished, cut_off, refused, filtered or blocked."""

    text: str | None = "Hello there."
    end: str = "finished"
    model: str = SERVED_MODEL
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """An error in the vendor's form; `reason` picks one of those that share a status."""

    status: int
    message: str = "This did not work."
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bytes:
    """Any reply at all; `repeated` sends the body so often, `seconds` passes first, `drip` between two bytes."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    repeated: int = 1
    seconds: float = 0.0
    drip: float = 0.0


Reaction = Good | Failure | Bytes


class Wire(ABC):
    """How one vendor writes."""

    @abstractmethod
    def check(self, asked: Asked) -> Failure | None:
        """Return what the vendor finds wrong with a question."""

    @abstractmethod
    def good(self, good: Good) -> dict[str, Any]:
        """Return an answer."""

    @abstractmethod
    def error(self, failure: Failure) -> dict[str, Any]:
        """Return an error object."""


class OpenAI(Wire):
    """POST /v1/chat/completions."""

    ends: ClassVar = {
        "finished": "stop",
        "cut_off": "length",
        "refused": "stop",
        "filtered": "content_filter",
    }

    def check(self, asked: Asked) -> Failure | None:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return Failure(401, f"Incorrect API key provided: {asked.headers.get('authorization')}.", "key")
        if asked.path != "/v1/chat/completions":
            return Failure(404, f"Invalid URL (POST {asked.path})")
        if asked.body["model"] != MODEL:
            return Failure(404, f"The model `{asked.body['model']}` does not exist.", "model")
        return None

    def good(self, good: Good) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": good.text, "refusal": None}
        if good.end == "refused":
            message |= {"content": None, "refusal": good.text}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1780000000,
            "model": good.model,
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": self.ends[good.end]}
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }

    def error(self, failure: Failure) -> dict[str, Any]:
        codes = {
            "key": ("invalid_request_error", "invalid_api_key"),
            "model": ("invalid_request_error", "model_not_found"),
            "credit": ("insufficient_quota", "insufficient_quota"),
            "country": ("request_forbidden", "unsupported_country_region_territory"),
            "filter": ("invalid_request_error", "content_filter"),
        }
        kind, code = codes.get(failure.reason, ("server_error", None))
        if failure.reason == "moderation":  # OpenRouter's
            metadata = {
                "reasons": ["hate"],
                "flagged_input": "Recommend …",
                "provider_name": "x",
                "model_slug": "y",
            }
            return {"error": {"code": failure.status, "message": failure.message, "metadata": metadata}}
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}


class Anthropic(Wire):
    """POST /v1/messages."""

    ends: ClassVar = {
        "finished": "end_turn",
        "cut_off": "max_tokens",
        "refused": "refusal",
        "filtered": "refusal",
    }

    def check(self, asked: Asked) -> Failure | None:
        if asked.headers.get("x-api-key") != KEY:
            return Failure(401, "invalid x-api-key", "key")
        if asked.headers.get("anthropic-version") != "2023-06-01":
            return Failure(400, "anthropic-version: header is required")
        if asked.path != "/v1/messages":
            return Failure(404, "Not found")
        if not isinstance(asked.body.get("max_tokens"), int):
            return Failure(400, "max_tokens: Field required")
        if asked.body["model"] != MODEL:
            return Failure(404, f"model: {asked.body['model']}", "model")
        return None

    def good(self, good: Good) -> dict[str, Any]:
        thought = {"type": "thinking", "thinking": "They greet me.", "signature": "abc"}
        said = [{"type": "text", "text": good.text}] if good.text is not None else []
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": good.model,
            "content": [thought, *said],
            "stop_reason": self.ends[good.end],
            "stop_sequence": None,
            "usage": {
                "input_tokens": 5,
                "cache_creation_input_tokens": 2,
                "cache_read_input_tokens": 4,
                "output_tokens": 7,
            },
        }

    def error(self, failure: Failure) -> dict[str, Any]:
        kinds = {
            400: "invalid_request_error",
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            413: "request_too_large",
            429: "rate_limit_error",
            500: "api_error",
            529: "overloaded_error",
        }
        kind = kinds.get(failure.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": "req_1"}


class Gemini(Wire):
    """POST /v1beta/models/MODEL:generateContent."""

    ends: ClassVar = {
        "finished": "STOP",
        "cut_off": "MAX_TOKENS",
        "refused": "PROHIBITED_CONTENT",
        "filtered": "SAFETY",
    }

    def check(self, asked: Asked) -> Failure | None:
        if asked.headers.get("x-goog-api-key") != KEY:
            return Failure(400, "API key not valid. Please pass a valid API key.", "key")
        if asked.path != f"/v1beta/models/{MODEL}:generateContent":
            return Failure(404, f"{asked.path} is not found for API version v1beta.", "model")
        if not asked.body["contents"][0]["parts"][0]["text"]:
            return Failure(400, "contents is not specified")
        return None

    def good(self, good: Good) -> dict[str, Any]:
        usage = {
            "promptTokenCount": 11,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 18,
        }
        rest = {"usageMetadata": usage, "modelVersion": good.model, "responseId": "r1"}
        if good.end == "blocked":
            return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **rest}
        candidate: dict[str, Any] = {"index": 0, "finishReason": self.ends[good.end]}
        if good.text is not None:
            thought = {"text": "They greet me.", "thought": True}
            candidate["content"] = {"role": "model", "parts": [thought, {"text": good.text}]}
        return {"candidates": [candidate], **rest}

    def error(self, failure: Failure) -> dict[str, Any]:
        statuses = {
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            500: "INTERNAL",
            503: "UNAVAILABLE",
        }
        details: list[dict[str, Any]] = []
        if failure.reason == "key":
            details.append(
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com",
                }
            )
        if failure.reason == "delay":
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12s"})
        status = statuses.get(failure.status, "UNKNOWN")
        return {
            "error": {
                "code": failure.status,
                "message": failure.message,
                "status": status,
                "details": details,
            }
        }


class Custom(Wire):
    """POST /recommend of no known vendor, with its key in the address."""

    def check(self, asked: Asked) -> Failure | None:
        if asked.query.get("key") != [KEY]:
            return Failure(401, f"wrong key {asked.query.get('key')}")
        return Failure(404, f"no {asked.path}") if asked.path != "/recommend" else None

    def good(self, good: Good) -> dict[str, Any]:
        return {
            "data": {"reply": good.text, "end": good.end, "served by": good.model},
            "usage": [{"n": 11}, {"n": 7}],
        }

    def error(self, failure: Failure) -> dict[str, Any]:
        return {"message": failure.message}


WIRES: Mapping[str, Wire] = {
    "openai": OpenAI(),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
    "custom": Custom(),
}


@dataclass
class FakeServices:
    """The running server: `reactions` are shown in turn and the last one for ever; `asked` is its log."""

    root: str = ""
    reactions: list[Reaction] = field(default_factory=lambda: [Good()])
    asked: list[Asked] = field(default_factory=list)

    is_over: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def will(self, *reactions: Reaction) -> None:
        """Say how the coming questions are answered; the log starts anew."""
        with self._lock:
            self.reactions = list(reactions)
            self.asked.clear()

    def next_reaction(self, asked: Asked) -> Reaction:
        """Note a question and return what it gets."""
        with self._lock:
            self.asked.append(asked)
            return self.reactions[min(len(self.asked), len(self.reactions)) - 1]


class _Handler(BaseHTTPRequestHandler):
    """Answer as `server.state` says."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the headers' acknowledgement

    @property
    def state(self) -> FakeServices:
        assert isinstance(self.server, _Server)
        return self.server.state

    def do_POST(self) -> None:
        asked = self._asked()
        reaction = self.state.next_reaction(asked)
        wire = WIRES[asked.service]
        if not isinstance(reaction, Bytes):
            reaction = wire.check(asked) or reaction
        try:
            self._react(wire, reaction)
        except OSError:
            self.close_connection = True

    do_GET = do_POST  # noqa: N815 (http.server's name)

    def _asked(self) -> Asked:
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode("utf-8")
        address = urlsplit(self.path)
        _, service, *rest = address.path.split("/")
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = unquote("/" + "/".join(rest))
        return Asked(service, self.command, path, parse_qs(address.query), headers, text)

    def _react(self, wire: Wire, reaction: Reaction) -> None:
        if isinstance(reaction, Bytes):
            self.state.is_over.wait(reaction.seconds)
            self._begin(reaction.status, reaction.headers, len(reaction.body) * reaction.repeated)
            for _ in range(reaction.repeated):
                self._write(reaction.body, reaction.drip)
            return
        if isinstance(reaction, Good):
            status, document = 200, wire.good(reaction)
        else:
            status, document = reaction.status, wire.error(reaction)
        body = json.dumps(document).encode()
        self._begin(status, reaction.headers, len(body))
        self.wfile.write(body)

    def _begin(self, status: int, headers: Mapping[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | dict(headers)).items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _write(self, body: bytes, drip: float) -> None:
        if not drip:
            self.wfile.write(body)
            return
        for position in range(len(body)):
            self.wfile.write(body[position : position + 1])
            if self.state.is_over.wait(drip):
                return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    # Many threads may knock at once.
    request_queue_size = 128

    def __init__(self, state: FakeServices) -> None:
        self.state = state
        super().__init__(("127.0.0.1", 0), _Handler)


@contextmanager
def fake_services() -> Iterator[FakeServices]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    server = _Server(state := FakeServices())
    with serving(server) as state.root:
        try:
            yield state
        finally:
            state.is_over.set()


def compressed(n_bytes: int) -> Bytes:
    """Return a small reply that unpacks to so many bytes."""
    return Bytes(gzip.compress(b"a" * n_bytes), headers={"Content-Encoding": "gzip"})
