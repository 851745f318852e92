"""Test the benchmark of collecting: its runs, its counts, and the speed of its server."""

from __future__ import annotations

import time

import pytest
import requests

from benchmarks import collecting
from benchmarks.chat_server import ANSWER
from benchmarks.collecting import _server


def test_the_server_answers_late_and_keeps_its_connections() -> None:
    with _server(60.0) as base_url, requests.Session() as session:
        for question in ("one", "two " * 50_000, "three"):
            started = time.perf_counter()
            response = session.post(f"{base_url}/chat/completions", json={"messages": question}, timeout=600)
            assert time.perf_counter() - started >= 0.06
            assert response.json()["choices"][0]["message"]["content"] == ANSWER


def test_a_small_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    done = collecting.run(
        n_responses=150,
        concurrency=16,
        latency_ms=20.0,
        repeats=1,
        n_many=450,
        n_verified=150,
        inspect_python=None,
    )
    assert [one.n for one in (*done.pools, *done.collectors)] == [150, 150]
    assert [one.n for one in done.many] == [15, 450]
    assert done.short is not None
    assert done.short.n == 150
    assert done.verified is not None
    assert "intact" in done.verified.output
    assert [len(done.after[name]) for name in ("verify", "export", "verify --export")] == [2, 2, 2]
    # 16 at once from a server that takes 20 ms are at most 800 a second.
    assert all(0 < one.per_second <= 800 for one in (*done.pools, *done.collectors))
    assert all(one.per_second_overall <= one.per_second for one in done.collectors)
    assert done.share > 0
    measured = collecting.records_of(done)
    assert {one.size for one in measured} == {15, 150, 450}
    assert all(one.value > 0 for one in measured)
    printed = " ".join(capsys.readouterr().out.split())
    assert "150 answers at 16 at once from a server that takes 20 ms, at most 800 a second" in printed
    assert "memory of 450 answers over 15" in printed
    assert "verify, short answers 150" in printed.replace("│ ", "")
