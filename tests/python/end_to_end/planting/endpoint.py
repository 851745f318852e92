"""An endpoint on loopback that answers each question by a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BODY = '{"question": "{prompt}", "trial": {trial}}'


@contextmanager
def endpoint(answer: Callable[[str, int], str]) -> Iterator[dict[str, Any]]:
    """Serve the answers to a question and trial; yields the target's entry for `targets.yml`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"answer": answer(asked["question"], asked["trial"])}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/ask"
        yield {"kind": "http", "url": url, "body": BODY, "answer": "answer"}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
