"""Collecting that is killed, refused, flooded and bought twice: a real collector against a real HTTP server on loopback."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.attacks import Attack
from biasledger.commands.common import EXIT_BROKEN, EXIT_WAITED
from collector.asking.breaker import MAX_UNUSABLE
from collector.journal.reader import read_journal

CONCURRENCY = 4
SECONDS = 120
_PARENT = Path(__file__).resolve().parents[2]
_AUDIT = """
audit: attacked
templates: [{id: one, text: 'Recommend products for {a race} customer.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 60
answer: {kind: text, max_characters: 10000000}
"""
_TARGETS = """
targets:
  mine: {kind: openai, base_url: 'http://127.0.0.1:PORT/v1', model: m, concurrency: 4, send_seed: true}
"""
# Ends as soon as the first batch was made, before its reply can be read.
_DIES = (
    "import os, signal; from collector.targets.openai_batch import Batch; submit = Batch.submit; "
    "Batch.submit = lambda *given: (submit(*given), os.kill(os.getpid(), signal.SIGKILL)); "
)
# A disk that takes its time, so that what only waits for it is lost.
_SLOW_DISK = (
    "import os, time; sync = os.fsync; os.fsync = lambda descriptor: (time.sleep(0.05), sync(descriptor)); "
)
Reaction = Callable[["Service", int], tuple[int, str]]


@dataclass
class Service:
    """A chat endpoint with a batch interface.

    Attributes:
        react: the service and a question's number, from 1 -> status and text; status 0 closes the connection.
        asked: seed -> how often it was asked.
        lag: how many of the next lists of batches are empty.
    """

    react: Reaction
    port: int = 0
    n: int = 0
    asked: Counter[int] = field(default_factory=Counter)
    lag: int = 0
    files: list[bytes] = field(default_factory=list)
    batches: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer a question."""
        with self.lock:
            self.n += 1
            number = self.n
            self.asked[body.get("seed", 0)] += 1
        status, text = self.react(self, number)
        return status, _completion(text) if status == 200 else {"error": {"message": text}}

    def post(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Take a question, a file or a batch."""
        if path.endswith("/chat/completions"):
            return self.answer(json.loads(body))
        if path.endswith("/files"):
            self.files.append(body)
            return 200, {"id": f"file-{len(self.files)}"}
        wanted = json.loads(body)
        content = self.files[int(wanted["input_file_id"].rpartition("-")[2]) - 1]
        found = [json.loads(line) for line in content.splitlines() if line.startswith(b'{"custom_id"')]
        batch = {"id": f"batch_{len(self.batches) + 1}", "metadata": wanted["metadata"], "lines": found}
        self.batches.append(batch)
        return 200, self.shown(batch)

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Describe a batch, which has ended."""
        shown = {name: batch[name] for name in ("id", "metadata")}
        return {**shown, "status": "completed", "created_at": time.time(), "output_file_id": batch["id"]}

    def get(self, path: str) -> bytes:
        """Return a list of batches, a batch, or its answers."""
        if path.endswith("/content"):
            batch = next(one for one in self.batches if one["id"] == path.split("/")[-2])
            lines = [
                {
                    "custom_id": one["custom_id"],
                    "response": {"status_code": 200, "body": _completion("Tea.")},
                }
                for one in batch["lines"]
            ]
            return "".join(json.dumps(line) + "\n" for line in lines).encode()
        if "/batches/" in path:
            batch = next(one for one in self.batches if one["id"] == path.rpartition("/")[2])
            return json.dumps(self.shown(batch)).encode()
        self.lag -= 1
        listed = [] if self.lag >= 0 else [self.shown(one) for one in reversed(self.batches)]
        return json.dumps({"data": listed, "has_more": False}).encode()


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}


class _Handler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, document = self.service.post(self.path, body)
        if status == 0:
            self.close_connection = True
            return
        self._send(status, json.dumps(document).encode())

    def do_GET(self) -> None:
        self._send(200, self.service.get(self.path.partition("?")[0]))

    def _send(self, status: int, content: bytes) -> None:
        try:
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _serving(react: Reaction, folder: Path, *, trials: int = 60) -> Iterator[Service]:
    """Serve, with an audit and targets in a folder."""
    service = Service(react)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"service": service}))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # those who were killed broke their connections off
    service.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    (folder / "audit.yml").write_text(_AUDIT.replace("trials: 60", f"trials: {trials}"), encoding="utf-8")
    (folder / "targets.yml").write_text(_TARGETS.replace("PORT", str(service.port)), encoding="utf-8")
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def _collector(folder: Path, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(_PARENT), os.environ.get("PYTHONPATH")]))
    script = f"{before}from biasledger.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", script, "collect", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _collect(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a collector to its end; return its exit code and what it said on standard error."""
    process = _collector(folder, *(arguments or ("audit.yml", "--target", "mine")))
    _, told = process.communicate(timeout=SECONDS)
    return process.returncode, told


def _run_id(folder: Path) -> str:
    (path,) = (folder / "journal").glob("*.jsonl")
    return path.stem


def _journaled(folder: Path) -> list[dict[str, Any]]:
    path = folder / "journal" / f"{_run_id(folder)}.jsonl"
    return [record.body for record in read_journal(path) if record.kind == "response"]


def _incomplete(folder: Path, n: int) -> str | None:
    """Say what is wrong with a ledger that should hold n usable answers, each once; None where nothing is."""
    with duckdb.connect(str(folder / "ledger.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "select count(*) filter (status = 'ok'), count(distinct (prompt_id, trial)) filter (status = 'ok') from raw.responses"
        ).fetchall()
    return None if found == [(n, n)] else f"The ledger holds {found[0]} usable and different answers of {n}."


def killed(seed: int, folder: Path) -> str | None:
    """A collector is killed after some answers and resumed."""
    kill_at = random.Random(seed).randint(5, 100)
    reached = threading.Event()

    def react(_: Service, number: int) -> tuple[int, str]:
        if number >= kill_at:
            reached.set()
        return 200, f"Tea, number {number}."

    with _serving(react, folder) as service:
        process = _collector(folder, "audit.yml", "--target", "mine", before=_SLOW_DISK)
        reached.wait(SECONDS)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        n_kept = len(_journaled(folder))
        n_asked = service.n
        code, told = _collect(folder, "--resume", _run_id(folder))
        if code:
            return f"Resuming ended with {code}: {told}"
        # One question of each connection, whether it was under way or its answer had just arrived.
        n_again = sum(service.asked.values()) - len(service.asked)
        if n_again > CONCURRENCY or n_asked - n_kept > CONCURRENCY:
            return f"{n_again} questions were asked again; {n_kept} of {n_asked} were journaled."
    return _incomplete(folder, 120)


def faults(seed: int, folder: Path) -> str | None:
    """One reply in six is a failure of the server's, each kind of which may pass."""
    chance = random.Random(seed)

    def react(_: Service, number: int) -> tuple[int, str]:
        return chance.choice([(500, "Oops."), (0, "")]) if number % 6 == 0 else (200, "Tea.")

    with _serving(react, folder, trials=20):
        code, told = _collect(folder)
    return f"It ended with {code}: {told}" if code else _incomplete(folder, 40)


def half_refused(seed: int, folder: Path) -> str | None:
    """Half of all replies, by chance, are 429 with Retry-After: 0."""
    chance = random.Random(seed)

    def react(*_: object) -> tuple[int, str]:
        return (429, "Slow down.") if chance.random() < 0.5 else (200, "Tea.")

    with _serving(react, folder, trials=20):
        code, told = _collect(folder)
    return f"It ended with {code}: {told}" if code else _incomplete(folder, 40)


def all_refused(_: int, folder: Path) -> str | None:
    """Every reply is a 429, until the run was given up; then none is."""
    is_busy = threading.Event()
    is_busy.set()

    def react(*_: object) -> tuple[int, str]:
        return (429, "Slow down.") if is_busy.is_set() else (200, "Tea.")

    with _serving(react, folder, trials=10):
        code, told = _collect(folder, "audit.yml", "--target", "mine", "--give-up-after", "0.01")
        if code != EXIT_WAITED or "--resume" not in told:
            return f"It ended with {code}: {told}"
        is_busy.clear()
        code, told = _collect(folder, "--resume", _run_id(folder))
    return f"Resuming ended with {code}: {told}" if code else _incomplete(folder, 20)


def unusable(_: int, folder: Path) -> str | None:
    """No reply says anything."""
    with _serving(lambda *_: (200, ""), folder) as service:
        code, told = _collect(folder)
        if code != EXIT_BROKEN or "The first: The answer is empty." not in told:
            return f"It ended with {code}: {told}"
        n = service.n
    return None if n < 4 * MAX_UNUSABLE else f"{n} replies were paid for."


def batch_killed(seed: int, folder: Path) -> str | None:
    """A collector is killed when its batch has been made, and the service lists it late."""
    with _serving(lambda *_: (200, "Tea."), folder, trials=10) as service:
        _collector(folder, "audit.yml", "--target", "mine", "--batch", before=_DIES).communicate()
        service.lag = seed % 3
        code, told = _collect(folder, "--resume", _run_id(folder))
        if code:
            return f"Resuming ended with {code}: {told}"
        if len(service.batches) != 1:
            return f"{len(service.batches)} batches were bought."
    return _incomplete(folder, 20)


def large(seed: int, folder: Path) -> str | None:
    """Answers of 5 MB."""
    text = "tea " * 1_250_000

    with _serving(lambda _, number: (200, f"{seed}.{number} {text}"), folder, trials=6):
        code, told = _collect(folder)
    if code or "ledger" in told:
        return f"It ended with {code}: {told}"
    return _incomplete(folder, 12)


ATTACKS = (
    Attack("12", "a collector killed after some answers, and resumed", "kills", 8, "held", killed),
    Attack(
        "3", "killed when a batch was made, which is listed late", "kills", 3, "bought twice", batch_killed
    ),
    Attack("12", "one reply in six fails", "faults", 3, "held", faults),
    Attack("12", "half of replies 429, Retry-After: 0", "faults", 3, "questions given up", half_refused),
    Attack("6", "all replies 429", "faults", 1, "waits for hours in silence", all_refused),
    Attack("8", "no reply says anything", "faults", 1, "paid three times to its end", unusable),
    Attack("5", "answers of 5 MB", "faults", 1, "stops at the memory bound", large),
)
