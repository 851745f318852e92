"""The measures of words without dbt, on the comparisons of a warehouse; run as a process of its own.

    python -m benchmarks.measures_alone warehouse.duckdb [permutations]

Prints one JSON document: seconds a step, accuracy a contrast. With permutations, the first contrast alone is measured.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import duckdb
from threadpoolctl import threadpool_limits

from benchmarks.processes import StepClock
from benchmarks.warehouses import words_comparisons
from biasledger.measures.words.judged import classifier_accuracies, divergences, word_statistics


def main(warehouse: str, n_permutations: int) -> None:
    """Measure every comparison of a warehouse, timing each measure."""
    clock = StepClock()
    with clock.step("read"), duckdb.connect(warehouse, read_only=True) as connection:
        comparisons = words_comparisons(connection)
    if n_permutations:
        comparisons = [replace(comparisons[0], n_permutations=n_permutations)]
    with threadpool_limits(limits=1):
        with clock.step("z"):
            word_statistics(comparisons)
        with clock.step("jsd"):
            divergences(comparisons)
        with clock.step("classifier"):
            table = classifier_accuracies(comparisons)
    marked = {comparison.key: comparison.name[4] for comparison in comparisons}
    keys, accuracies = table.columns["comparison_key"], table.columns["accuracy_mean"].tolist()
    accuracy = dict(zip((marked[key] for key in keys), accuracies, strict=True))
    print(json.dumps({"wall": clock.wall, "cpu": clock.cpu, "accuracy": accuracy}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
