"""Test collecting processes that are killed, starved and locked out, against an HTTP server that logs every question.

The server's log, the journal and the ledger have to agree whatever happens in between.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.asking.attempts import request_seed
from collector.asking.runner import resume
from collector.errors import LedgerError
from collector.journal.reader import end_of, is_being_written, journal_folder, read_journal
from collector.journal.writer import JournalWriter
from collector.ledger.loading import load_all
from collector.ledger.overview import list_runs
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from tests.python.answering import chat, serving
from tests.python.collector.chat_targets import chat_target
from tests.python.collector.scripted import wait_for

PROGRAM = Path(__file__).with_name("collecting_process.py")
N_KILLS = 20
TRIALS = 25
N_TRIALS = 4 * TRIALS
MAX_ATTEMPTS = 3


@dataclass
class Service:
    """A chat endpoint that answers with the seed it was given, now and then with what is no JSON, and notes all seeds."""

    base_url: str = ""
    seconds: float = 0.004
    padding: int = 0
    asked: list[int] = field(default_factory=list)
    n_at_once: int = 1_000_000  # what is asked after these waits for `go_on`
    go_on: threading.Event = field(default_factory=threading.Event)
    address: tuple[str, int] = ("", 0)
    accepted: set[int] = field(default_factory=set)  # ports of those who connected, and have not ended yet

    def text(self, seed: int) -> str:
        return "no JSON" if seed % 8 == 0 else json.dumps({"Tea": f"{seed} {'x' * self.padding}"})

    def wait_for(self, n: int, or_until_ended: int) -> None:
        """Return when so many questions were asked, or when a process has ended."""
        wait_for(lambda: len(self.asked) >= n or not is_running(or_until_ended))

    def wait_until_quiet(self) -> None:
        """Return when all that a process had sent before it ended has been seen: connections are accepted one after the other."""
        with socket.create_connection(self.address) as last:
            port = last.getsockname()[1]
            wait_for(lambda: self.accepted == {port})


@pytest.fixture
def service() -> Iterator[Service]:
    state = Service()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or the body waits 40 ms for the headers' acknowledgement

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            if len(sent) < int(self.headers["Content-Length"]):
                # The client was killed in the middle of its question.
                self.close_connection = True
                return
            seed = json.loads(sent)["seed"]
            with lock:
                state.asked.append(seed)
                go_on = state.go_on if len(state.asked) > state.n_at_once else None
            if go_on is not None:
                go_on.wait(600)
            time.sleep(state.seconds)
            data = chat(state.text(seed))
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the client was killed
                return

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def process_request(self, request: Any, client_address: Any) -> None:
            state.accepted.add(client_address[1])
            super().process_request(request, client_address)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            super().process_request_thread(request, client_address)
            state.accepted.discard(client_address[1])

    server = Server(("127.0.0.1", 0), Handler)
    state.address = server.server_address[:2]
    with serving(server) as root:
        state.base_url = f"{root}/v1"
        yield state


@dataclass
class Collector:
    """Starts collecting processes over one ledger."""

    program: subprocess.Popen[str]
    folder: Path
    audit: Path
    service: Service
    running: int | None = None

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.duckdb"

    @property
    def statement(self) -> str:
        return (self.folder / "statement").read_text(encoding="utf-8")

    def start(self, **order: Any) -> int:
        """Start to collect, or to resume the run named, and return the process's id."""
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        files = {name: str(self.folder / name) for name in ("acknowledged", "statement")}
        order = {**files, "base_url": self.service.base_url, "trials": TRIALS, **order}
        order |= {"audit": str(self.audit), "ledger": str(self.ledger)}
        self.program.stdin.write(json.dumps(order) + "\n")
        self.program.stdin.flush()
        self.running = int(self.program.stdout.readline())
        return self.running

    def wait(self) -> int:
        """Return the exit status of the process started last: 0, 256 if it reported an error, 9 if it was killed."""
        assert self.program.stdout is not None
        self.running = None
        return int(self.program.stdout.readline())

    def run_ids(self) -> list[str]:
        return sorted(path.stem for path in journal_folder(self.ledger).glob("*.jsonl"))

    def journal(self, run_id: str) -> Path:
        return journal_folder(self.ledger) / f"{run_id}.jsonl"

    def acknowledged(self) -> list[str]:
        path = self.folder / "acknowledged"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    """The program that collects, started once."""
    repository = PROGRAM.parents[3]
    environment = {**os.environ, "PYTHONPATH": str(repository), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAM)]
    pipe = subprocess.PIPE
    program = subprocess.Popen(command, cwd=repository, env=environment, stdin=pipe, stdout=pipe, text=True)
    assert program.stdin is not None
    assert program.stdout is not None
    yield program
    program.stdin.close()
    program.wait(600)
    program.stdout.close()


@pytest.fixture
def collector(
    program: subprocess.Popen[str], tmp_path: Path, small_spec: Path, service: Service
) -> Iterator[Collector]:
    collector = Collector(program, tmp_path, small_spec, service)
    yield collector
    if collector.running is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(collector.running, signal.SIGKILL)
        collector.wait()


Key = tuple[str, int, int]


@dataclass
class Content:
    """A journal's content: the bodies of its responses in order; prompt, trial and attempt of each; which trials are done."""

    bodies: list[dict[str, Any]]

    @property
    def keys(self) -> list[Key]:
        return [(body["prompt_id"], body["trial"], body["attempt"]) for body in self.bodies]

    @property
    def done(self) -> Counter[tuple[str, int]]:
        return Counter((body["prompt_id"], body["trial"]) for body in self.bodies if body["is_last"])


def read(path: Path) -> Content:
    return Content([record.body for record in read_journal(path) if record.kind == "response"])


def seeds_of(hashes: Mapping[str, str]) -> dict[int, Key]:
    """Each seed that can be sent about prompts of these ids and content hashes -> what it asks."""
    return {
        request_seed(0, content_hash, trial, attempt): (prompt_id, trial, attempt)
        for prompt_id, content_hash in hashes.items()
        for trial in range(1, TRIALS + 1)
        for attempt in range(1, MAX_ATTEMPTS + 1)
    }


def rows_of(ledger: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(ledger), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def content_of(ledger: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything about runs that a ledger holds, but for when it was sealed."""
    tables = ["runs", "run_events", "prompts", "prompt_attributes", "responses", "chain", "analysis_settings"]
    content = {table: sorted(rows_of(ledger, f"from raw.{table}"), key=repr) for table in tables}
    content["seals"] = sorted(rows_of(ledger, "select run_id, max(n_records) from raw.seals group by run_id"))
    return content


class Watched:
    """A run through all of its kills: what was asked and what is kept, compared after each of its processes."""

    def __init__(self, collector: Collector, run_id: str, meaning: dict[int, Key]) -> None:
        self.collector = collector
        self.run_id = run_id
        self.meaning = meaning
        self.content = Content([])
        self.asked: Counter[Key] = Counter()
        self.n_kills = 0

    def compare(self, seeds: Sequence[int], *, is_killed: bool) -> None:
        """Compare what the latest process was seen to ask with what was kept before and is kept now."""
        asked = [self.meaning[seed] for seed in seeds]
        self.asked.update(asked)
        self.n_kills += is_killed
        before, now = self.content, read(self.collector.journal(self.run_id))
        # Earlier responses are still there, and none was asked again: no attempt, and no trial that was done.
        assert now.bodies[: len(before.bodies)] == before.bodies
        assert not set(before.keys) & set(asked)
        assert not set(before.done) & {key[:2] for key in asked}
        # Every acknowledged response is there exactly once, and every response was asked for.
        keys = now.keys
        assert len(set(keys)) == len(keys)
        assert set(self.collector.acknowledged()) <= {f"{key[0]}.{key[1]}.{key[2]}" for key in keys}
        assert set(keys) <= set(self.asked)
        assert max(now.done.values(), default=1) == 1
        assert max(self.asked.values(), default=0) <= self.n_kills + 1
        self.content = now


@pytest.mark.slow
def test_kills_lose_nothing_and_ask_nothing_twice(collector: Collector, service: Service) -> None:
    chance = random.Random(20261121)
    hashes = {prompt.prompt_id: prompt.content_hash for prompt in build_prompts(load_audit(collector.audit))}
    meaning = seeds_of(hashes)
    finished: list[Watched] = []
    n_kills = 0
    run: Watched | None = None
    while n_kills < N_KILLS or run is not None:
        n_asked = len(service.asked)
        n_more = chance.choice([0, 0, *range(1, 16)])
        # However late it is killed, it gets four more answers at most, and none at all for the others that it asks.
        service.go_on = threading.Event()
        service.n_at_once = n_asked + n_more + 4 if n_kills < N_KILLS else 1_000_000
        pid = collector.start(run=None if run is None else run.run_id)
        if n_kills < N_KILLS:
            # Before the first question or after some more, and some moments later: in a group, while the ledger is written.
            service.wait_for(n_asked + n_more, or_until_ended=pid)
            time.sleep(chance.uniform(0, 0.03 if n_more else 0.2))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = collector.wait()
        service.go_on.set()
        assert status in {0, signal.SIGKILL}, collector.statement
        n_kills += status == signal.SIGKILL
        service.wait_until_quiet()
        seeds = service.asked[n_asked:]
        if run is None:
            new = set(collector.run_ids()) - {one.run_id for one in finished}
            if not new:
                # Killed before the journal existed: nothing had been asked.
                assert seeds == []
                continue
            (run_id,) = new
            run = Watched(collector, run_id, meaning)
        run.compare(seeds, is_killed=status == signal.SIGKILL)
        if status == 0:
            assert len(run.content.done) == N_TRIALS
            (collector.folder / "acknowledged").unlink(missing_ok=True)
            finished.append(run)
            run = None
    # Several processes took part in the run: none had more than 19 of its 100 answers.
    assert max(one.n_kills for one in finished) >= 5
    names = ("seq", "prompt_id", "trial", "attempt", "status", "response_text", "content_hash")
    for one in finished:
        bodies = one.content.bodies
        assert [body["seq"] for body in bodies] == list(range(1, len(bodies) + 1))
        for body in bodies:
            # Each answer belongs to its question.
            seed = request_seed(0, hashes[body["prompt_id"]], body["trial"], body["attempt"])
            assert body["response_text"] == service.text(seed)
        sql = f"select {', '.join(names)} from raw.responses where run_id = '{one.run_id}' order by seq"
        assert rows_of(collector.ledger, sql) == [tuple(body[name] for name in names) for body in bodies]
    made_by_appending = content_of(collector.ledger)
    collector.ledger.unlink()
    assert len(load_all(collector.ledger)) == len(finished)
    assert content_of(collector.ledger) == made_by_appending


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_second_collector_is_refused_and_the_first_goes_on(collector: Collector, service: Service) -> None:
    service.n_at_once = 60
    pid = collector.start()
    wait_for(lambda: len(service.asked) > 60)
    (run,) = collector.run_ids()
    target = chat_target(base_url=service.base_url, send_seed=True)
    with pytest.raises(Exception, match=f"Run {run} is being collected by another process") as caught:
        resume(run, target, collector.ledger)
    if Path("/proc/locks").exists():
        assert f"(pid {pid})" in str(caught.value)
    # A build leaves the run alone, and the list of runs shows its progress.
    assert load_all(collector.ledger) == [
        f"Run {run} is being collected; what it adds now is loaded by itself or by the next build."
    ]
    (listed,), notes = list_runs(collector.ledger)
    assert listed.is_being_collected
    assert listed.n_planned == N_TRIALS
    assert listed.n_asked is not None
    assert 0 < listed.n_kept <= listed.n_asked
    assert notes == []
    service.go_on.set()
    assert collector.wait() == 0
    (listed,), notes = list_runs(collector.ledger)
    assert (listed.n_kept, listed.state, listed.n_ahead, notes) == (N_TRIALS, "finished", 0, [])
    assert not listed.is_being_collected


def test_a_full_disk_stops_the_run_and_room_lets_it_go_on(collector: Collector, service: Service) -> None:
    service.padding = 12_000
    # No file may grow beyond this: neither the journal nor the ledger.
    assert collector.start(most_bytes=1_500_000)
    assert collector.wait() == 256
    service.wait_until_quiet()
    (run,) = collector.run_ids()
    path = collector.journal(run)
    sentence = f"The journal {path} cannot be written (File too large); everything kept before is safe"
    assert sentence in collector.statement
    assert f"biasledger collect --resume {run}" in collector.statement
    kept = read(path)
    assert 0 < len(kept.done) < N_TRIALS
    # The journal ends with a whole line and holds every acknowledged response.
    assert end_of(path).offset == path.stat().st_size
    assert collector.acknowledged() == [f"{key[0]}.{key[1]}.{key[2]}" for key in kept.keys]
    collector.start(run=run)
    assert collector.wait() == 0
    now = read(path)
    assert now.bodies[: len(kept.bodies)] == kept.bodies
    assert (len(now.done), set(now.done.values())) == (N_TRIALS, {1})
    n_rows = len(now.bodies)
    counted = rows_of(collector.ledger, "select count(*), count(distinct seq), max(seq) from raw.responses")
    assert counted == [(n_rows,) * 3]


def test_a_torn_last_line_is_left_out_and_asked_again(collector: Collector, service: Service) -> None:
    pid = collector.start(ledger_seconds=100)
    wait_for(lambda: len(service.asked) > 40)
    os.kill(pid, signal.SIGKILL)
    assert collector.wait() == signal.SIGKILL
    service.wait_until_quiet()
    (run,) = collector.run_ids()
    path = collector.journal(run)
    whole = path.read_bytes()
    *_, last = read_journal(path)
    assert last.kind == "response"
    torn = whole[: last.end.offset - 7]
    path.write_bytes(torn)
    kept = read(path).bodies
    sentences = load_all(collector.ledger)
    assert sentences[1] == (
        f"Run {run}: the journal's last line is torn and left out; `biasledger collect --resume {run}` asks for it again."
    )
    assert rows_of(collector.ledger, "select count(*) from raw.responses") == [(len(kept),)]
    assert path.read_bytes() == torn
    collector.start(run=run)
    assert collector.wait() == 0
    now = read(path)
    assert now.bodies[: len(kept)] == kept
    assert (len(now.done), set(now.done.values())) == (N_TRIALS, {1})
    counted = rows_of(collector.ledger, "select count(*), count(distinct seq) from raw.responses")
    assert counted == [(len(now.bodies),) * 2]


def test_a_broken_journal_is_left_out_and_said(collector: Collector, service: Service) -> None:
    collector.start()
    assert collector.wait() == 0
    (run,) = collector.run_ids()
    path = collector.journal(run)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:100], b"rubbish\n", *lines[101:]]))
    # Responses that the ledger already holds need no journal.
    assert load_all(collector.ledger) == []
    collector.ledger.unlink()
    (sentence,) = load_all(collector.ledger)
    assert sentence == (
        f"{path} is broken at line 101: it is no record. The journal of run {run} is left out."
    )
    with pytest.raises(LedgerError, match="line 101"):
        JournalWriter.resume(path)
    assert not is_being_written(path)
