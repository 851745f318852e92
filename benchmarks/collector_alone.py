"""`python -m benchmarks.collector_alone URL N CONCURRENCY`: one run of the collector in a process of its own.

URL is an endpoint's, or `instant` or `short` for a target in this process that answers at once, as the benchmark's server does or
in one short sentence. It prints, as JSON, seconds on the wall
and of processor time of the whole run, from reading the audit to the last row in the ledger, those from the first question to the
last answer, and how many answers the ledger holds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.chat_server import ANSWER
from benchmarks.processes import StepClock
from collector.asking.runner import collect
from collector.spec.loading import load_audit
from collector.targets.base import Reply, Request
from collector.targets.openai import OpenAITarget

AUDIT = Path(__file__).with_name("collecting.yml")
N_PROMPTS = 15
INSTANT, SHORT = "instant", "short"
ANSWERS = {INSTANT: ANSWER, SHORT: "Running shoes, a kettle and a good book, for they last."}


class InstantTarget:
    """Answers in no time: what is measured is the collector alone."""

    kind = "simulator"
    is_simulated = True

    def __init__(self, name: str, concurrency: int) -> None:
        self.name = self.model = name
        self.concurrency = concurrency

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Nothing shapes the answers."""
        return {}

    def ask(self, request: Request) -> Reply:
        """Give the same answer with another number to each question."""
        text = f"{ANSWERS[self.name]} {request.seed}"
        return Reply(
            text, json.dumps({"choices": [{"message": {"content": text}}]}), "stop", self.name, 25, 400, 0.1
        )


class Timed:
    """A target that notes when it was first asked and when it last answered, in seconds."""

    def __init__(self, target: InstantTarget | OpenAITarget) -> None:
        self.name = target.name
        self.kind: str = target.kind
        self.model = target.model
        self.is_simulated: bool = target.is_simulated
        self.concurrency = target.concurrency
        self.requests_per_minute: float | None = None
        self.tokens_per_minute: float | None = None
        self.total_timeout_seconds: float | None = None
        self.parameters = target.parameters
        self.first_asked = float("inf")
        self.last_answered = 0.0
        self._target = target

    def ask(self, request: Request) -> Reply:
        """Ask the target."""
        self.first_asked = min(self.first_asked, time.perf_counter())
        reply = self._target.ask(request)
        self.last_answered = time.perf_counter()
        return reply


def main(base_url: str, n: int, concurrency: int) -> None:
    """Collect n answers, a multiple of the prompts, into the current folder."""
    target = Timed(
        InstantTarget(base_url, concurrency)
        if base_url in ANSWERS
        else OpenAITarget("served", base_url=base_url, model="my-model", concurrency=concurrency)
    )
    clock = StepClock()
    with clock.step("collecting"):
        audit = load_audit(AUDIT)
        summary = collect(audit, target, Path("ledger.duckdb"), trials=n // N_PROMPTS, show_progress=False)
    with duckdb.connect("ledger.duckdb", read_only=True) as connection:
        row = connection.execute("select count(*) from raw.responses where status = 'ok'").fetchone()
    journal = sum(path.stat().st_size for path in Path("journal").glob("*.jsonl"))
    print(
        json.dumps(
            {
                "seconds": clock.wall["collecting"],
                "asking_seconds": target.last_answered - target.first_asked,
                "cpu": clock.cpu["collecting"],
                "asked": summary.n_responses,
                "in_ledger": row[0] if row else 0,
                "journal_bytes": journal,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
