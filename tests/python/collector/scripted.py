"""A target whose answers a test decides, and a process that has a ledger open."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.targets.base import Reply, Request

Query = Callable[[str], list[tuple[Any, ...]]]


GOOD = '{"Tea": "Warm. Good."}'


@dataclass
class Scripted:
    """A target whose answers a function gives, and which counts the questions."""

    answer: Callable[[Request], Reply] = lambda _: Reply(GOOD)
    name: str = "scripted"
    kind: str = "scripted"
    is_simulated: bool = False
    model: str = "m"
    concurrency: int = 2
    parameters: Mapping[str, Any] = field(default_factory=dict)
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Request) -> Reply:
        with self.lock:
            self.asked[request.prompt_text, request.trial] += 1
        return self.answer(request)


def hold(path: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a process that has the ledger open for some seconds; return once it has."""
    script = (
        "import duckdb, time\n"
        "while True:\n"
        "    try:\n"
        f"        c = duckdb.connect({str(path)!r})\n"
        "        break\n"
        "    except duckdb.Error:\n"
        "        time.sleep(0.05)\n"
        f"print('held', flush=True); time.sleep({seconds})"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


def wait_for(condition: Callable[[], bool], seconds: float = 600) -> None:
    """Wait until a condition holds; a test that waits so long fails."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)
