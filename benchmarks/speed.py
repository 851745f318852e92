"""A build of words against a plain script of the source and against the floor of cutting texts, on generated responses."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.processes import Measured, run_measured
from benchmarks.records import Record
from benchmarks.warehouses import UsersProject, listed, seconds_of_features, slowest_models
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit

AUDIT = Path(__file__).with_name("speed.yml")
SEED = 1
N_TINY = 15
MEASURES = ("z", "jsd", "classifier")
GOAL_BUILD, GOAL_MEASURES, GOAL_PEAK_GIB = 10.0, 20.0, 3.0
# Of features as multiples of the floor, from FLOOR_FROM responses on.
GOAL_FEATURES, FLOOR_FROM = 3.0, 200_000


@dataclass(frozen=True)
class Repeat:
    """One build and one script, measured one after the other, and the measures alone of either.

    own (ours) and its (the script's) hold seconds by step under wall and cpu, and accuracy by race. features, floor: seconds by
    the clock of the SQL models of words in the build, added up, and of benchmarks/floor.py.
    """

    build: Measured
    script: Measured
    own: dict[str, dict[str, float]]
    its: dict[str, dict[str, float]]
    features: float
    floor: float

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
        # The contrasts alone and no null: what the script computes.
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
        console.print(f"Slowest models of the last build, wall s: {listed(slowest_models(project.folder))}.")
        if n_permutations:
            timed = _measures_alone(project, n_permutations)["cpu"]
            steps = listed({step: timed[step] for step in MEASURES})
            console.print(f"With up to {n_permutations:,} permutations, one contrast, processor s: {steps}.")
    return done


def records_of(done: list[Repeat], n_responses: int) -> list[Record]:
    """What was measured, for `compare`."""

    def record(name: str, unit: str, ours: Iterable[float], its: Iterable[float]) -> Record:
        return Record(f"speed: {name}", n_responses, unit, median(ours), median(its))

    builds, scripts = [one.build for one in done], [one.script for one in done]
    return [
        record("whole build", "wall s", (one.wall for one in builds), (one.wall for one in scripts)),
        record("whole build", "processor s", (one.cpu for one in builds), (one.cpu for one in scripts)),
        record(
            "peak memory", "bytes", (one.peak_bytes for one in builds), (one.peak_bytes for one in scripts)
        ),
        # The floor takes the script's place.
        record("features", "wall s", (one.features for one in done), (one.floor for one in done)),
        *(
            record(
                name,
                "processor s",
                (one.own["cpu"][name] for one in done),
                (one.its["cpu"][name] for one in done),
            )
            for name in MEASURES
        ),
    ]


def _make_ledger(corpus: Path, ledger: Path, n_responses: int, n_words: int) -> None:
    write_corpus(corpus, n_responses=n_responses, n_words=n_words, seed=SEED)
    import_file(load_audit(AUDIT), AUDIT, corpus, ledger, simulated=True, show_progress=False)


def _repeat(project: UsersProject, corpus: Path) -> Repeat:
    project.discard_tables()
    build = project.run("build", "build")
    script = run_measured(
        [sys.executable, "-m", "benchmarks.plain_script", str(corpus)], folder=project.folder
    )
    with tempfile.TemporaryDirectory(prefix="biasledger-floor-") as scratch:
        floor = run_measured(
            [
                sys.executable,
                "-m",
                "benchmarks.floor",
                str(project.ledger),
                str(Path(scratch) / "floor.duckdb"),
            ],
            folder=project.folder,
        )
    return Repeat(
        build,
        script,
        _measures_alone(project, 0),
        _document(script),
        seconds_of_features(project.folder),
        _document(floor)["wall"]["floor"],
    )


def _measures_alone(project: UsersProject, n_permutations: int) -> dict[str, Any]:
    measured = run_measured(
        [sys.executable, "-m", "benchmarks.measures_alone", str(project.work), str(n_permutations)],
        folder=project.folder,
    )
    return _document(measured)


def _document(measured: Measured) -> dict[str, Any]:
    # Warnings of libraries may come before it.
    document: dict[str, Any] = json.loads(measured.output.strip().splitlines()[-1])
    return document


def _print_repeat(console: Console, repeat: Repeat, fixed: Measured) -> None:
    table = Table("", "biasledger", "plain script", "ratio", "goal")

    def add(name: str, ours: float, its: float, goal: str = "") -> None:
        table.add_row(name, f"{ours:.2f}", f"{its:.2f}", f"{its / ours:.1f}", goal)

    add("end to end, wall s", repeat.build.wall, repeat.script.wall, f">= {GOAL_BUILD:.0f}")
    # What a build takes to do nothing does not grow with the audit and is reported apart.
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
    console.print(
        f"Features and groups, the SQL models of words, take {repeat.features:.2f} s by the clock, added up. The floor, one "
        f"statement that cuts texts and writes a row a word into a file, takes {repeat.floor:.2f} s: "
        f"{repeat.features / repeat.floor:.1f} times (goal from {FLOOR_FROM:,} responses on: at most {GOAL_FEATURES:.0f})."
    )
