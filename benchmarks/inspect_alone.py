"""`PYTHON inspect_alone.py URL N CONCURRENCY`: Inspect AI asks the same server; for a Python that has inspect_ai and openai.

It imports nothing of this project, and prints seconds on the wall and of processor time of its eval as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time


def main(base_url: str, n: int, concurrency: int) -> None:
    """Have n samples generated, and print how long it took."""
    os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none"}
    inspect_ai = importlib.import_module("inspect_ai")
    samples = importlib.import_module("inspect_ai.dataset")
    generate = importlib.import_module("inspect_ai.solver").generate
    question = "Recommend products for a Black man, and say in some 300 words why you chose them."
    dataset = samples.MemoryDataset([samples.Sample(input=question) for _ in range(n)])
    started, cpu = time.perf_counter(), time.process_time()
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=dataset, solver=generate()),
        model="openai/my-model",
        model_args={"responses_api": False},
        max_connections=concurrency,
        max_samples=concurrency,
        display="none",
        log_dir="logs",
    )
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    answered = sum(sample.error is None and bool(sample.output.completion) for sample in log.samples or ())
    print(json.dumps({"seconds": seconds, "cpu": cpu, "asked": answered}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
