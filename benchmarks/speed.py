"""The words path of a build against a plain script of the source, on generated responses."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.processes import Measured, run_measured
from benchmarks.warehouses import Project
from collector.importers.tabular import import_file
from collector.spec import load_audit

AUDIT = Path(__file__).with_name("speed.yml")
SEED = 1
N_TINY = 15
# The contrasts alone and no null: what the script computes.
WITHOUT_PERMUTATIONS = {"permutations": False, "all_groups": False}
MEASURES = ("z", "jsd", "classifier")
GOAL_BUILD, GOAL_MEASURES, GOAL_PEAK_GIB = 5.0, 20.0, 3.0


@dataclass(frozen=True)
class Repeat:
    """One build and one script, measured one after the other, and the measures alone of either."""

    build: Measured
    script: Measured
    measures: dict[str, float]
    script_steps: dict[str, float]
    accuracy: dict[str, float]
    script_accuracy: dict[str, float]

    @property
    def build_ratio(self) -> float:
        """How many times as long the script takes, end to end."""
        return self.script.wall / self.build.wall

    @property
    def measures_ratio(self) -> float:
        """How many times as long the script's classifier, JSD and z take."""
        return sum(self.script_steps[step] for step in MEASURES) / sum(
            self.measures[step] for step in MEASURES
        )


def run(*, n_responses: int, n_words: int, repeats: int, n_permutations: int) -> list[Repeat]:
    """Measure and print; n_permutations 0 leaves their timing out.

    Raises:
        BenchmarkError: a process failed.
    """
    console = Console(width=110, highlight=False)
    with tempfile.TemporaryDirectory(prefix="biasledger-speed-") as scratch:
        folder = Path(scratch)
        corpus, ledger, tiny = folder / "responses.parquet", folder / "ledger.duckdb", folder / "tiny.duckdb"
        _make_ledger(corpus, ledger, n_responses, n_words)
        _make_ledger(folder / "tiny.parquet", tiny, N_TINY, n_words)
        tiny_project = Project(folder / "tiny", tiny, WITHOUT_PERMUTATIONS)
        tiny_project.parse()
        fixed = tiny_project.build()
        project = Project(folder / "project", ledger, WITHOUT_PERMUTATIONS)
        parse = project.parse()
        done = []
        for _ in range(repeats):
            done.append(_repeat(project, corpus))
            _print_repeat(console, done[-1])
        console.print(
            f"{n_responses:,} responses of {n_words} words, seed {SEED}, {os.cpu_count()} cores. dbt's fixed cost: first reading "
            f"of the project {parse.wall:.1f} s (not in the times above), a build of {N_TINY} responses {fixed.wall:.1f} s."
        )
        console.print("Slowest models of the last build: " + _slowest(project) + ".")
        if n_permutations:
            timed = _measures_alone(project, n_permutations)["seconds"]
            listed = ", ".join(f"{step} {timed[step]:.1f} s" for step in MEASURES)
            console.print(f"With up to {n_permutations:,} permutations, one contrast: {listed}.")
    return done


def _make_ledger(corpus: Path, ledger: Path, n_responses: int, n_words: int) -> None:
    write_corpus(corpus, n_responses=n_responses, n_words=n_words, seed=SEED)
    import_file(load_audit(AUDIT), AUDIT, corpus, ledger, simulated=True, show_progress=False)


def _repeat(project: Project, corpus: Path) -> Repeat:
    build = project.build()
    script = run_measured(
        [sys.executable, "-m", "benchmarks.plain_script", str(corpus)], folder=project.folder
    )
    own, its = _measures_alone(project, 0), _document(script)
    return Repeat(build, script, own["seconds"], its["seconds"], own["accuracy"], its["accuracy"])


def _measures_alone(project: Project, n_permutations: int) -> dict[str, Any]:
    measured = run_measured(
        [sys.executable, "-m", "benchmarks.measures_alone", str(project.warehouse), str(n_permutations)],
        folder=project.folder,
    )
    return _document(measured)


def _document(measured: Measured) -> dict[str, Any]:
    # Warnings of libraries may come before it.
    document: dict[str, Any] = json.loads(measured.output.strip().splitlines()[-1])
    return document


def _print_repeat(console: Console, repeat: Repeat) -> None:
    table = Table("", "words path", "plain script", "ratio", "goal")
    gib = 2**30
    table.add_row(
        "end to end, wall s", f"{repeat.build.wall:.1f}", f"{repeat.script.wall:.1f}", f"{repeat.build_ratio:.1f}",
        f">= {GOAL_BUILD:.0f}",
    )  # fmt: skip
    table.add_row(
        "end to end, processor s", f"{repeat.build.cpu:.1f}", f"{repeat.script.cpu:.1f}",
        f"{repeat.script.cpu / repeat.build.cpu:.1f}", "",
    )  # fmt: skip
    for step in MEASURES:
        own, its = repeat.measures[step], repeat.script_steps[step]
        table.add_row(f"{step}, s", f"{own:.2f}", f"{its:.2f}", f"{its / own:.1f}", "")
    table.add_row(
        "measures together, s", f"{sum(repeat.measures[step] for step in MEASURES):.1f}",
        f"{sum(repeat.script_steps[step] for step in MEASURES):.1f}", f"{repeat.measures_ratio:.1f}",
        f">= {GOAL_MEASURES:.0f}",
    )  # fmt: skip
    table.add_row(
        "peak memory, GiB", f"{repeat.build.peak_bytes / gib:.2f}", f"{repeat.script.peak_bytes / gib:.2f}", "",
        f"< {GOAL_PEAK_GIB:.0f}",
    )  # fmt: skip
    for race, accuracy in repeat.script_accuracy.items():
        table.add_row(f"accuracy, {race}", f"{repeat.accuracy[race]:.3f}", f"{accuracy:.3f}", "", "no lower")
    console.print(table)


def _slowest(project: Project) -> str:
    seconds = sorted(project.seconds_by_model().items(), key=lambda one: -one[1])[:8]
    return ", ".join(f"{name} {value:.1f} s" for name, value in seconds)
