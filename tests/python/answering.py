"""A server on loopback for tests: a function answers each question, such as with what a chat model sends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str, Mapping[str, str], Any], tuple[int, Mapping[str, str], bytes]]


def chat(
    content: object,
    model: str = "m",
    tokens: tuple[int, int] = (100, 10),
    end: str = "stop",
    **message: object,
) -> bytes:
    """A chat completion."""
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": end}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return json.dumps({"model": model, "choices": [choice], "usage": usage}).encode()


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    """Let a server run in a thread until the block ends; yields its address."""
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Serve the status, headers and body that `answer` returns for a question's path, headers and JSON; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or the body waits 40 ms for the headers' acknowledgement

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, body = answer(self.path, dict(self.headers), asked)
            try:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as root:
        yield root
