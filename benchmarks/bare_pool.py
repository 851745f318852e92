"""`python -m benchmarks.bare_pool URL N CONCURRENCY`: a thread pool with a requests.Session a thread, and nothing else.

It asks N questions, parses each answer, keeps none, and prints seconds on the wall and of processor time as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import requests

from benchmarks.processes import StepClock

_local = threading.local()


def _ask(url: str) -> str:
    session = getattr(_local, "session", None)
    if session is None:
        session = _local.session = requests.Session()
    body = {
        "model": "my-model",
        "messages": [{"role": "user", "content": "Recommend products for a Black man."}],
    }
    answer = session.post(url, json=body, timeout=60).json()
    text: str = answer["choices"][0]["message"]["content"]
    return text


def main(base_url: str, n: int, concurrency: int) -> None:
    """Ask, and print how long it took."""
    clock = StepClock()
    with clock.step("asking"), ThreadPoolExecutor(concurrency) as pool:
        n_words = sum(len(text.split()) for text in pool.map(_ask, [f"{base_url}/chat/completions"] * n))
    print(json.dumps({"seconds": clock.wall["asking"], "cpu": clock.cpu["asking"], "words": n_words}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
