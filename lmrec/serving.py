"""A recommender over HTTP, for this machine alone, in the form of OpenAI's chat completions: other tools can ask it, too."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from collector.errors import InputError
from lmrec.answering import Answerer

HOST = "127.0.0.1"
_MAX_BODY_BYTES = 1 << 20
_TIMEOUT_SECONDS = 30
# A page in a browser may send requests here under a name of its own.
_OWN_NAMES = {"127.0.0.1", "localhost"}


class _RefusedError(Exception):
    """A request that is answered with an error; holds the status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server(ThreadingHTTPServer):
    """Answers POST /v1/chat/completions and GET /v1/models.

    Args:
        answerer: the recommenders to ask.
        model: its name.
        port: 0 takes a free one; `server_port` says which.

    Raises:
        InputError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, answerer: Answerer, model: str, port: int = 0) -> None:
        self.answerer = answerer
        self.model = model
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise InputError(
                f"Nothing can be served at port {port} of {HOST}: {error.strerror}; name another with --port."
            ) from None


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _TIMEOUT_SECONDS
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._reply(self._models)

    def do_POST(self) -> None:
        self._reply(self._completion)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Print nothing: a line a question would say little, and its text comes from outside."""

    def _models(self) -> dict[str, Any]:
        if self.path != "/v1/models":
            raise _RefusedError(HTTPStatus.NOT_FOUND, "Ask GET /v1/models or POST /v1/chat/completions.")
        return {"object": "list", "data": [{"id": self.server.model, "object": "model", "owned_by": "local"}]}

    def _completion(self) -> dict[str, Any]:
        question = _question(self._body())
        if self.path != "/v1/chat/completions":
            raise _RefusedError(HTTPStatus.NOT_FOUND, "Ask GET /v1/models or POST /v1/chat/completions.")
        try:
            answer = self.server.answerer.answer(question)
        except InputError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from None
        message = {"role": "assistant", "content": answer}
        return {
            "id": "chatcmpl-lmrec",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.server.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }

    def _body(self) -> object:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal() or int(length) > _MAX_BODY_BYTES:
            # The unread body would be taken for the next request.
            self.close_connection = True
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Send a Content-Length of at most a megabyte."
            )
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "The body is no JSON.") from None

    def _reply(self, make: Any) -> None:
        status, document = HTTPStatus.OK, {}
        try:
            if (self.headers.get("Host") or "").partition(":")[0] not in _OWN_NAMES:
                self.close_connection = True
                raise _RefusedError(HTTPStatus.FORBIDDEN, f"Ask {HOST}:{self.server.server_port}.")
            document = make()
        except _RefusedError as error:
            status = error.status
            document = {"error": {"message": str(error), "type": "invalid_request_error"}}
        body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _question(body: object) -> str:
    """Return what the last message of a user says."""
    messages = body.get("messages") if isinstance(body, Mapping) else None
    if not isinstance(messages, list) or not isinstance(body, Mapping):
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "The body should have a list of messages.")
    if body.get("stream"):
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "An answer is sent whole; leave `stream` out.")
    said = [one.get("content") for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
    content = said[-1] if said else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    if not isinstance(content, str) or not content.strip():
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "There should be a message of the role user with text.")
    return content
