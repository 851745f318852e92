"""A build of words against a plain script of the source's procedure, on generated responses.

    python -m benchmarks.speed work.duckdb permutations

times the measures of words alone, without dbt, in a process of its own: it prints seconds per step and accuracy per contrast as
JSON. With permutations above 0 it measures the first contrast only.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.corpus import write_corpus
from benchmarks.processes import Measured, StepClock, run_measured
from benchmarks.warehouses import UsersProject, listed, schema_of
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit

if TYPE_CHECKING:
    from biasledger.measures.comparisons import Comparison
    from biasledger.measures.words.texts import Texts

AUDIT = Path(__file__).with_name("speed.yml")
SEED = 1
N_TINY = 15
MEASURES = ("z", "jsd", "classifier")
GOAL_BUILD, GOAL_MEASURES, GOAL_PEAK_GIB = 10.0, 20.0, 3.0


@dataclass(frozen=True)
class Repeat:
    """One build and one script, measured one after the other, and the measures alone of either.

    own (ours) and its (the script's) hold seconds by step under wall and cpu, and accuracy by race.
    """

    build: Measured
    script: Measured
    own: dict[str, dict[str, float]]
    its: dict[str, dict[str, float]]

    def measures_seconds(self, clock: str) -> tuple[float, float]:
        """Seconds of z, JSD and classifier together, ours and the script's; clock is wall or cpu."""
        return sum(self.own[clock][step] for step in MEASURES), sum(
            self.its[clock][step] for step in MEASURES
        )


def run(*, n_responses: int, n_words: int, repeats: int, n_permutations: int) -> list[Repeat]:
    """Measure and print; n_permutations 0 leaves their timing out.

    Raises:
        BenchmarkError: a process failed.
    """
    console = Console(width=110, highlight=False)
    with tempfile.TemporaryDirectory(prefix="biasledger-speed-") as scratch:
        folder = Path(scratch)
        corpus = folder / "responses.parquet"
        # The contrasts alone and no null distribution: what the script computes.
        project = UsersProject(folder / "project", permutations=False)
        _make_ledger(corpus, project.ledger, N_TINY, n_words)
        first = project.run("first", "build")
        project.discard_tables()
        fixed = project.run("fixed", "build")
        project.ledger.unlink()
        _make_ledger(corpus, project.ledger, n_responses, n_words)
        done = []
        for _ in range(repeats):
            done.append(_repeat(project, corpus))
            _print_repeat(console, done[-1], fixed)
        console.print(
            f"{n_responses:,} responses of {n_words} words, seed {SEED}, {os.cpu_count()} cores. A build of {N_TINY} responses "
            f"takes {fixed.wall:.1f} s, the first one in a new project {first.wall:.1f} s."
        )
        console.print(f"Slowest models of the last build, wall s: {listed(project.slowest_models())}.")
        if n_permutations:
            timed = _measures_alone(project, n_permutations)["cpu"]
            steps = listed({step: timed[step] for step in MEASURES})
            console.print(f"With up to {n_permutations:,} permutations, one contrast, processor s: {steps}.")
    return done


def _make_ledger(corpus: Path, ledger: Path, n_responses: int, n_words: int) -> None:
    write_corpus(corpus, n_responses=n_responses, n_words=n_words, seed=SEED)
    import_file(load_audit(AUDIT), AUDIT, corpus, ledger, simulated=True, show_progress=False)


def _repeat(project: UsersProject, corpus: Path) -> Repeat:
    project.discard_tables()
    build = project.run("build", "build")
    script = run_measured(
        [sys.executable, "-m", "benchmarks.plain_script", str(corpus)], folder=project.folder
    )
    return Repeat(build, script, _measures_alone(project, 0), _document(script))


def _measures_alone(project: UsersProject, n_permutations: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.speed", str(project.work), str(n_permutations)]
    return _document(run_measured(command, folder=project.folder))


def _document(measured: Measured) -> dict[str, Any]:
    # Warnings of libraries may come before it.
    document: dict[str, Any] = json.loads(measured.output.strip().splitlines()[-1])
    return document


def _print_repeat(console: Console, repeat: Repeat, fixed: Measured) -> None:
    table = Table("", "biasledger", "plain script", "ratio", "goal")

    def add(name: str, ours: float, its: float, goal: str = "") -> None:
        table.add_row(name, f"{ours:.2f}", f"{its:.2f}", f"{its / ours:.1f}", goal)

    add("end to end, wall s", repeat.build.wall, repeat.script.wall, f">= {GOAL_BUILD:.0f}")
    # The fixed cost of a build does not grow with the audit, so it gets a row of its own.
    net = max(repeat.build.wall - fixed.wall, 0.01)
    add("end to end without a build's fixed cost, wall s", net, repeat.script.wall)
    add("end to end, processor s", repeat.build.cpu, repeat.script.cpu)
    for step in MEASURES:
        add(f"{step}, processor s", repeat.own["cpu"][step], repeat.its["cpu"][step])
    for clock, unit in (("wall", "wall"), ("cpu", "processor")):
        add(f"measures together, {unit} s", *repeat.measures_seconds(clock), f">= {GOAL_MEASURES:.0f}")
    peaks = [f"{process.peak_bytes / 2**30:.2f}" for process in (repeat.build, repeat.script)]
    table.add_row("peak memory, GiB", *peaks, "", f"< {GOAL_PEAK_GIB:.0f}")
    for race, accuracy in repeat.its["accuracy"].items():
        table.add_row(
            f"accuracy, {race}", f"{repeat.own['accuracy'][race]:.3f}", f"{accuracy:.3f}", "", "no lower"
        )
    console.print(table)


def _words_comparisons(path: str) -> list[Comparison[Texts]]:
    """Read all comparisons of words from a project's work file."""
    from biasledger.model_inputs.words import read_comparisons

    names = ("comparisons", "members", "features", "vocabulary")
    with duckdb.connect(path, read_only=True) as connection:
        relations = [
            connection.table(f"{schema_of(connection, f'int_words_{name}')}.int_words_{name}")
            for name in names
        ]
        return list(read_comparisons(*relations))


def main(work: str, n_permutations: int) -> None:
    """Time each measure on the comparisons of a work file and print JSON."""
    from biasledger.measures.words.judged import classifier_accuracies, divergences, word_statistics

    clock = StepClock()
    with clock.step("read"):
        comparisons = _words_comparisons(work)
    if n_permutations:
        comparisons = [replace(comparisons[0], n_permutations=n_permutations)]
    with threadpool_limits(limits=1):
        with clock.step("z"):
            word_statistics(comparisons)
        with clock.step("jsd"):
            divergences(comparisons)
        with clock.step("classifier"):
            table = classifier_accuracies(comparisons)
    with duckdb.connect(work, read_only=True) as connection:
        schema = schema_of(connection, "int_words_comparisons")
        named = connection.table(f"{schema}.int_words_comparisons").select("comparison_key", "group_name")
        marked = dict(named.fetchall())
    keys, accuracies = table.columns["comparison_key"], table.columns["accuracy_mean"].tolist()
    accuracy = dict(zip((marked[key] for key in keys), accuracies, strict=True))
    print(json.dumps({"wall": clock.wall, "cpu": clock.cpu, "accuracy": accuracy}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
