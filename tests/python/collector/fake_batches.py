"""A service on loopback with the batch interfaces of OpenAI and Anthropic, which also answers questions one by one.

`outcome` decides by a question's custom_id and text what it gets. A batch ends when it was looked at `looks` times.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from collector.asking import batch
from collector.asking.runner import CollectOptions, collect, resume
from collector.spec.loading import load_audit
from collector.targets.chat import ChatTarget
from tests.python.answering import serving
from tests.python.collector.chat_targets import chat_target

KEY_VARIABLE = "FAKE_BATCH_KEY"
KEY = "sk-fake-batch-0123456789"


@dataclass
class Hold:
    """A request of one kind (upload, submit, list, look, download) that gets no reply before it is let go.

    It is held when it has arrived, or when it was `done` and only the reply is missing. Later requests are held, too.
    """

    kind: str
    is_done: bool = False
    reached: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def meet(self, kind: str, *, is_done: bool) -> bool:
        """Wait here if this is the request, or if it has been met before; return whether it has."""
        if self.reached.is_set() or (kind, is_done) == (self.kind, self.is_done):
            self.reached.set()
            self.go_on.wait()
        return self.reached.is_set()


@dataclass
class Batch:
    """A batch: its questions as custom_id -> body, and how it ends."""

    id: str
    made_at: datetime
    questions: dict[str, dict[str, Any]]
    label: str | None = None
    ends: str = "completed"
    looks: int = 0
    n_lost: int = 0


def answered(custom_id: str, text: str) -> str:
    return json.dumps({"ideas": [text]})


@dataclass
class Service:
    """A simulated batch service and a record of what it was asked.

    Attributes:
        outcome: custom_id and question's text -> an answer's text, or "expired", "canceled", "lost", or a status for an error.
        looks: how often a batch has to be looked at before it ends.
        ends: how the next batches end, in turn: completed, expired, cancelled, failed; completed after that.
        lag: how many of the next lists of batches are empty.
        drop: how many of the next accepted submissions break off before the reply, or are answered with the status `drop_with`.
        cut: how many of the next downloads break off in the middle.
        refuse: statuses with which the next requests of any kind are refused.
        hold: which request waits for its reply, if any does.
    """

    vendor: str
    outcome: Callable[[str, str], str | int] = answered
    looks: int = 1
    ends: list[str] = field(default_factory=list)
    lag: int = 0
    drop: int = 0
    drop_with: int | None = None
    cut: int = 0
    refuse: list[int] = field(default_factory=list)
    hold: Hold = field(default_factory=lambda: Hold(""))
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    n_downloads: int = 0
    port: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def target(self, **settings: Any) -> ChatTarget:
        base_url = f"http://127.0.0.1:{self.port}" + ("/v1" if self.vendor == "openai" else "")
        entry = {"base_url": base_url, "model": "asked-model", "api_key_env": KEY_VARIABLE, **settings}
        return chat_target(self.vendor, "fake", **entry)

    def asked(self) -> Counter[str]:
        """How often each custom_id was submitted."""
        return Counter(custom_id for batch in self.batches.values() for custom_id in batch.questions)

    def make(self, questions: dict[str, dict[str, Any]], label: str | None = None) -> Batch:
        number = len(self.batches) + 1
        ends = self.ends.pop(0) if self.ends else "completed"
        batch = Batch(f"batch_{number}", datetime.now(UTC), questions, label, ends)
        self.batches[batch.id] = batch
        return batch

    def look(self, batch: Batch) -> bool:
        """Count a look; say whether the batch has ended."""
        batch.looks += 1
        return batch.looks >= self.looks

    def listed(self, after: str | None) -> tuple[list[Batch], bool]:
        """Return the next page of two batches, newest first, and whether more follow; none while the list lags behind."""
        self.lag -= 1
        newest = [] if self.lag >= 0 else list(reversed(self.batches.values()))
        if after:
            newest = newest[[one.id for one in newest].index(after) + 1 :]
        return newest[:2], len(newest) > 2

    def outcomes(self, batch: Batch) -> dict[str, str | int]:
        return {
            custom_id: self.outcome(custom_id, _text(body)) for custom_id, body in batch.questions.items()
        }


def _kind(method: str, path: str) -> str:
    """Return the kind of a request: an upload, a submission, a list of batches, a look at one, or a download."""
    if method == "POST":
        return "upload" if path.endswith("/files") else "submit"
    if path.endswith("/batches"):
        return "list"
    return "download" if path.endswith(("/results", "/content")) else "look"


def _text(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def _completion(text: str) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }


def _message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def _is_answer(line: dict[str, Any]) -> bool:
    return (line["response"] or {}).get("status_code") == 200


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


class _OpenAI:
    """Files and batches."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, object]:
        service = self.service
        if path == "/v1/chat/completions":
            return 200, _completion(str(service.outcome("", _text(json.loads(body)))))
        if path == "/v1/files":
            parts = _form(body, headers["Content-Type"])
            assert parts["purpose"] == b"batch"
            name = f"file-{len(service.files) + 1}"
            service.files[name] = parts["file"]
            return 200, {"id": name, "object": "file", "purpose": "batch"}
        assert path == "/v1/batches"
        wanted = json.loads(body)
        assert (wanted["endpoint"], wanted["completion_window"]) == ("/v1/chat/completions", "24h")
        questions = {}
        for line in service.files[wanted["input_file_id"]].splitlines():
            one = json.loads(line)
            assert (one["method"], one["url"]) == ("POST", "/v1/chat/completions")
            questions[one["custom_id"]] = one["body"]
        return 200, self._shown(service.make(questions, wanted["metadata"]["biasledger"]), False)

    def get(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        service = self.service
        if path == "/v1/batches":
            page, has_more = service.listed(query.get("after"))
            data = [self._shown(one, False) for one in page]
            return 200, {"object": "list", "data": data, "has_more": has_more}
        if found := re.fullmatch(r"/v1/batches/(\w+)", path):
            batch = service.batches.get(found[1])
            if batch is None:
                return 404, {"error": {"message": f"No batch found with id {found[1]!r}.", "code": None}}
            return 200, self._shown(batch, service.look(batch))
        found = re.fullmatch(r"/v1/files/(batch_\w+)-(out|err)/content", path)
        assert found is not None, path
        lines = self._lines(service.batches[found[1]])
        return 200, [one for one in lines if _is_answer(one) == (found[2] == "out")]

    def _lines(self, batch: Batch) -> Iterator[dict[str, Any]]:
        for custom_id, outcome in self.service.outcomes(batch).items():
            line: dict[str, Any] = {
                "id": f"r-{custom_id}",
                "custom_id": custom_id,
                "response": None,
                "error": None,
            }
            if outcome == "lost":
                continue
            if outcome in ("expired", "canceled"):
                code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[str(outcome)]
                line["error"] = {"code": code, "message": f"This request was {outcome}."}
            elif isinstance(outcome, int):
                error = {"message": f"It went wrong ({outcome}).", "type": "some_error", "code": None}
                line["response"] = {"status_code": outcome, "request_id": "q", "body": {"error": error}}
            else:
                line["response"] = {"status_code": 200, "request_id": "q", "body": _completion(outcome)}
            yield line

    def _shown(self, batch: Batch, has_ended: bool) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "status": batch.ends if has_ended else "in_progress",
            "created_at": int(batch.made_at.timestamp()),
            "metadata": {"biasledger": batch.label},
            "request_counts": {"total": len(batch.questions), "completed": 0, "failed": 0},
            "output_file_id": None,
            "error_file_id": None,
        }
        if has_ended and batch.ends == "failed":
            shown["errors"] = {
                "object": "list",
                "data": [{"code": "x", "message": "The file is wrong.", "line": 1}],
            }
        elif has_ended:
            shown |= {"output_file_id": f"{batch.id}-out", "error_file_id": f"{batch.id}-err"}
        return shown


class _Anthropic:
    """Message batches."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, object]:
        assert headers["anthropic-version"] == "2023-06-01"
        wanted = json.loads(body)
        if path == "/v1/messages":
            return 200, _message(str(self.service.outcome("", _text(wanted))))
        assert path == "/v1/messages/batches"
        questions = {one["custom_id"]: one["params"] for one in wanted["requests"]}
        wrong = [one for one in questions if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one)]
        assert not wrong
        assert len(questions) == len(wanted["requests"])
        if self.service.ends[:1] == ["failed"]:
            self.service.ends.pop(0)
            error = {"type": "invalid_request_error", "message": "The file is wrong."}
            return 400, {"type": "error", "error": error}
        return 200, self._shown(self.service.make(questions), False)

    def get(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        service = self.service
        if path == "/v1/messages/batches":
            page, has_more = service.listed(query.get("after_id"))
            return 200, {"data": [self._shown(one, False) for one in page], "has_more": has_more}
        found = re.fullmatch(r"/v1/messages/batches/(\w+)(/results)?", path)
        assert found is not None, path
        batch = service.batches.get(found[1])
        if batch is None:
            return 404, {"type": "error", "error": {"type": "not_found_error", "message": "Not found."}}
        if found[2]:
            return 200, list(self._lines(batch))
        return 200, self._shown(batch, service.look(batch))

    def _lines(self, batch: Batch) -> Iterator[dict[str, Any]]:
        # In any order.
        for custom_id, outcome in reversed(self.service.outcomes(batch).items()):
            result: dict[str, Any]
            if outcome == "lost":
                continue
            if outcome in ("expired", "canceled"):
                result = {"type": outcome}
            elif isinstance(outcome, int):
                kinds = {400: "invalid_request_error", 404: "not_found_error", 429: "rate_limit_error"}
                error = {"type": kinds.get(outcome, "api_error"), "message": f"It went wrong ({outcome})."}
                result = {"type": "errored", "error": {"type": "error", "error": error}}
            else:
                result = {"type": "succeeded", "message": _message(str(outcome))}
            yield {"custom_id": custom_id, "result": result}

    def _shown(self, batch: Batch, has_ended: bool) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if has_ended:
            for outcome in self.service.outcomes(batch).values():
                name = outcome if outcome in ("expired", "canceled") else "succeeded"
                counts["errored" if isinstance(outcome, int) else str(name)] += 1
        else:
            counts["processing"] = len(batch.questions)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if has_ended else "in_progress",
            "request_counts": counts,
            "created_at": _iso(batch.made_at),
            # Elsewhere: it must not be followed, for the key would go along.
            "results_url": "http://192.0.2.1/results" if has_ended else None,
        }


def _form(body: bytes, content_type: str) -> dict[str, bytes]:
    message = BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    parts = message.get_payload()
    assert isinstance(parts, list)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True)
        for part in parts
    }


class _Handler(BaseHTTPRequestHandler):
    service: Service
    spoken: _OpenAI | _Anthropic
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the headers' acknowledgement

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hold, kind = self.service.hold, _kind(self.command, self.path)
        if hold.meet(kind, is_done=False):
            self.close_connection = True
            return
        with self.service.lock:
            if self._is_refused():
                return
            n_before = len(self.service.batches)
            status, document = self.spoken.post(self.path, body, dict(self.headers.items()))
            if self.service.drop and len(self.service.batches) > n_before:
                self.service.drop -= 1
                if self.service.drop_with is None:
                    self.close_connection = True
                    return
                status, document = self.service.drop_with, {"error": {"message": "Not now."}}
        hold.meet(kind, is_done=True)
        self._send(status, json.dumps(document).encode())

    def do_GET(self) -> None:
        path, _, text = self.path.partition("?")
        query = dict(pair.split("=", 1) for pair in text.split("&") if pair)
        hold, kind = self.service.hold, _kind(self.command, path)
        if hold.meet(kind, is_done=False):
            self.close_connection = True
            return
        with self.service.lock:
            if self._is_refused():
                return
            status, document = self.spoken.get(path, query)
            is_cut = isinstance(document, list) and self.service.cut > 0
            if isinstance(document, list):
                self.service.n_downloads += 1
                self.service.cut -= is_cut
        hold.meet(kind, is_done=True)
        if not isinstance(document, list):
            self._send(status, json.dumps(document).encode())
            return
        content = "".join(json.dumps(one) + "\n" for one in document).encode()
        self._send(status, content, content[: len(content) // 2] if is_cut else None)

    def _is_refused(self) -> bool:
        self.service.keys.add(self.headers.get("Authorization") or self.headers.get("x-api-key") or "")
        if not self.service.refuse:
            return False
        status = self.service.refuse.pop(0)
        self._send(status, json.dumps({"error": {"type": "some_error", "message": "Not now."}}).encode())
        return True

    def _send(self, status: int, content: bytes, sent: bytes | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if sent is None else sent)
        except OSError:
            self.close_connection = True
        if sent is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def batch_service(vendor: str) -> Iterator[Service]:
    """Run the service of a vendor, openai or anthropic."""
    service = Service(vendor)
    spoken = {"openai": _OpenAI, "anthropic": _Anthropic}[vendor](service)
    handler = type("Handler", (_Handler,), {"service": service, "spoken": spoken})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    service.port = server.server_port
    with serving(server):
        yield service


def collect_by_batch(vendor: str, port: int, spec: Path, ledger: Path, run: str | None) -> None:
    """Collect by batch of a service that another process runs, or go on with a run."""
    os.environ |= {KEY_VARIABLE: KEY, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    target = Service(vendor, port=port).target()
    quick = CollectOptions(poll_seconds=0.05, backoff_seconds=0.01, show_progress=False)
    if run is None:
        collect(load_audit(spec), target, ledger, quick, trials=60, batch=True)
    else:
        # This service never lists a batch late: a batch that is not listed was not created.
        batch.SETTLE_SECONDS = 0.0
        resume(run, target, ledger, quick, retry_failed=vendor == "anthropic")
