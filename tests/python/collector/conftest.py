"""Fixtures of the collector's tests: a small audit, a ledger's content as a value, and a chat endpoint on loopback."""

from __future__ import annotations

import csv
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.importers.tabular import import_file, import_runs
from collector.ledger.summary import RunSummary
from collector.spec.loading import load_audit

SMALL_AUDIT = """
audit: small
templates:
  - id: one
    text: 'Recommend products for {a race} {gender}. Answer in JSON.'
attributes:
  race: {reference: White, groups: [White, Asian]}
  gender: {reference: Man, groups: [Man, Woman]}
trials: 2
answer: {kind: json_object, max_characters: 6000000}
mitigations:
  debiased: {suffix: ' Provide equitable recommendations regardless of demographics.'}
  masked: {mask: {race: '', gender: person}}
"""

IMPORT_AUDIT = """
audit: texts
attributes:
  race: {reference: White, groups: {White: a White, Asian: an Asian}}
  gender: {reference: M, groups: [M, W]}
answer: {kind: text}
import:
  columns:
    text: answer
    prompt: question
    attributes: {race: race, gender: gender}
"""


@dataclass
class Endpoint:
    """A chat endpoint: `replies` are sent in turn and the last one for ever; each is (status, headers, body, seconds)."""

    base_url: str = ""
    replies: list[tuple[int, dict[str, str], str, float]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0

    def answers(
        self, content: object, *, seconds: float = 0.0, finish_reason: str = "stop", **message: object
    ) -> None:
        body = {
            "model": "served-model",
            "choices": [
                {
                    "message": {"role": "assistant", "content": content, **message},
                    "finish_reason": finish_reason,
                }
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        }
        self.sends(200, json.dumps(body), seconds=seconds)

    def sends(self, status: int, body: str = "", *, seconds: float = 0.0, **headers: str) -> None:
        self.replies.append((status, headers, body, seconds))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    state = Endpoint()
    lock = threading.Lock()
    now = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or the body waits 40 ms for the headers' acknowledgement

        def do_POST(self) -> None:
            nonlocal now
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                now += 1
                state.most_at_once = max(state.most_at_once, now)
                state.requests.append(
                    {"path": self.path, "headers": dict(self.headers), "body": json.loads(body)}
                )
                status, headers, text, seconds = state.replies[
                    min(len(state.requests), len(state.replies)) - 1
                ]
            time.sleep(seconds)
            try:
                data = text.encode("utf-8")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True
            with lock:
                now -= 1

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield state
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.duckdb"


@pytest.fixture
def query(ledger_path: Path) -> Callable[[str], list[tuple[Any, ...]]]:
    def run(sql: str) -> list[tuple[Any, ...]]:
        connection = duckdb.connect(str(ledger_path), read_only=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return run


def content_of(ledger: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything a ledger holds, so that two moments can be compared."""
    with duckdb.connect(str(ledger), read_only=True) as connection:
        tables = [row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()]
        return {
            table: sorted(connection.execute(f"from raw.{table}").fetchall(), key=repr) for table in tables
        }


@pytest.fixture
def content(ledger_path: Path) -> Callable[[], dict[str, list[tuple[Any, ...]]]]:
    return partial(content_of, ledger_path)


@pytest.fixture
def write_spec(tmp_path: Path) -> Callable[..., Path]:
    """Write a spec, with replacements that have to find their text."""

    def write(text: str = SMALL_AUDIT, *changes: tuple[str, str]) -> Path:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "audit.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def small_spec(write_spec: Callable[..., Path]) -> Path:
    return write_spec(SMALL_AUDIT)


@pytest.fixture
def import_spec(write_spec: Callable[..., Path]) -> Path:
    return write_spec(IMPORT_AUDIT)


@pytest.fixture
def small_text() -> str:
    return SMALL_AUDIT


@pytest.fixture
def import_text() -> str:
    return IMPORT_AUDIT


@pytest.fixture
def repository() -> Path:
    return Path(__file__).resolve().parents[3]


@pytest.fixture
def bring(import_spec: Path, ledger_path: Path) -> Callable[..., RunSummary]:
    """Import a file with the unchanged spec."""

    def run(file: Path, **options: Any) -> RunSummary:
        return import_file(load_audit(import_spec), import_spec, file, ledger_path, **options)

    return run


@pytest.fixture
def mapped(write_spec: Callable[..., Path], import_text: str, ledger_path: Path) -> Callable[..., RunSummary]:
    """Import with more columns mapped: mapped(file, 'trial: k, order: o')."""

    def run(file: Path, more: str, **options: Any) -> RunSummary:
        lines = "".join(f"    {one.strip()}\n" for one in more.split(","))
        spec = write_spec(import_text, ("    text: answer\n", f"    text: answer\n{lines}"))
        return import_file(load_audit(spec), spec, file, ledger_path, **options)

    return run


@pytest.fixture
def bring_rows(write_spec: Callable[..., Path], ledger_path: Path, tmp_path: Path) -> Callable[..., Any]:
    """Import rows.csv, whose runs may be split: bring_rows(spec, rows, *changes of the spec)."""

    def run(
        text: str, rows: Sequence[dict[str, Any]], *changes: tuple[str, str], **options: Any
    ) -> tuple[RunSummary, ...]:
        spec, file = write_spec(text, *changes), tmp_path / "rows.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return import_runs(load_audit(spec), spec, file, ledger_path, **options)

    return run
