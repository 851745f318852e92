"""What a user of a method waits for, end to end, as answers grow in number: import, build, report, nothing new, and 1 % more."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.methods import METHODS, write_answers
from benchmarks.methods.asked import Asked
from benchmarks.processes import Measured
from benchmarks.records import Record
from benchmarks.speed import SEED
from benchmarks.warehouses import UsersProject, listed, slowest_models

# Of the answers that there were before.
NEW_SHARE = 0.01


def run(
    *,
    method: str,
    n_responses: int,
    n_words: int | None,
    n_questions: int | None,
    permutations: bool,
    more: bool = True,
) -> list[Record]:
    """Measure one size of one method and print it.

    Args:
        method: one of METHODS.
        n_responses: how many answers are generated.
        n_words: words an answer, where answers are texts; None for as many as the method says.
        n_questions: how many different questions; further answers are further trials. None for what the method says.
        permutations: judge, or only measure.
        more: after the first build also the report, nothing new, and 1 % more.

    Raises:
        BenchmarkError: a process failed.
    """
    answers = METHODS[method]
    asked = Asked(n_responses, n_words or answers.n_words or 0, n_questions or answers.n_questions, SEED)
    with tempfile.TemporaryDirectory(prefix="biasledger-sizes-") as scratch:
        folder = Path(scratch)
        many, few = folder / "many.parquet", folder / "few.parquet"
        write_answers(many, answers, asked)
        project = UsersProject(folder / "project", permutations=permutations)
        project.run("import", "import", answers.audit, many, "--simulated")
        project.run("first build", "build")
        slowest = slowest_models(project.folder)
        if more:
            n_more = max(int(NEW_SHARE * n_responses), 1)
            write_answers(few, answers, Asked(n_more, asked.n_words, asked.n_questions, SEED + 1))
            project.run("report", "report")
            project.run("nothing new", "build")
            project.run("import of 1 % more", "import", answers.audit, few, "--simulated")
            project.run("build of 1 % more", "build")
    _print(project.took, method, asked, slowest, is_text=answers.n_words is not None)
    # That of words is called as it was before there were others.
    name = "sizes" if method == "words" else f"sizes of {method}"
    records = [
        Record(f"{name}: {step}", n_responses, unit, value)
        for step, took in project.took.items()
        for unit, value in (
            ("processor s", took.cpu),
            ("wall s", took.wall),
            ("peak bytes", float(took.peak_bytes)),
        )
    ]
    return records + [
        Record(f"{name}: {model}", n_responses, "wall s", took) for model, took in slowest.items()
    ]


def _print(
    took: Mapping[str, Measured], method: str, asked: Asked, slowest: Mapping[str, float], *, is_text: bool
) -> None:
    table = Table("", "wall s", "processor s", "peak memory, GiB")
    for name, one in took.items():
        table.add_row(name, f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.peak_bytes / 2**30:.2f}")
    console = Console(width=110, highlight=False)
    of_words = f" of {asked.n_words} words" if is_text else ""
    of_questions = f", {asked.n_questions} questions" if asked.n_questions is not None else ""
    console.print(
        f"{method}: {asked.n_answers:,} responses{of_words}{of_questions}, seed {asked.seed}, {os.cpu_count()} cores."
    )
    console.print(table)
    console.print(f"Slowest models of the first build, wall s: {listed(slowest)}.")
    if "build of 1 % more" in took:
        share = took["build of 1 % more"].cpu / took["first build"].cpu
        console.print(f"A build of 1 % more takes {share:.1%} of the first one's processor time.")
