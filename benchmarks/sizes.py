"""Time and memory of import, build, report, a build without anything new, and 1 % more, by method and number of answers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.methods import METHODS, write_answers
from benchmarks.methods.asked import Asked
from benchmarks.processes import Measured
from benchmarks.speed import SEED
from benchmarks.warehouses import UsersProject, listed

# Share of the answers imported before.
NEW_SHARE = 0.01


def run(
    *,
    method: str,
    n_responses: int,
    n_words: int | None,
    n_questions: int | None,
    permutations: bool,
    more: bool = True,
) -> dict[str, Measured]:
    """Measure one size of one method, print it, and return what each step took.

    Args:
        method: one of METHODS.
        n_responses: how many answers are generated.
        n_words: words per answer, where answers are texts; None for the method's own number.
        n_questions: how many different questions; further answers are further trials. None for the method's own number.
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
        slowest = project.slowest_models()
        if more:
            n_more = max(int(NEW_SHARE * n_responses), 1)
            write_answers(few, answers, Asked(n_more, asked.n_words, asked.n_questions, SEED + 1))
            project.run("report", "report")
            project.run("nothing new", "build")
            project.run("import of 1 % more", "import", answers.audit, few, "--simulated")
            project.run("build of 1 % more", "build")
    table = Table("", "wall s", "processor s", "peak memory, GiB")
    for name, one in project.took.items():
        table.add_row(name, f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.peak_bytes / 2**30:.2f}")
    console = Console(width=110, highlight=False)
    of_words = f" of {asked.n_words} words" if answers.n_words is not None else ""
    of_questions = f", {asked.n_questions} questions" if asked.n_questions is not None else ""
    console.print(
        f"{method}: {n_responses:,} responses{of_words}{of_questions}, seed {SEED}, {os.cpu_count()} cores."
    )
    console.print(table)
    console.print(f"Slowest models of the first build, wall s: {listed(slowest)}.")
    if more:
        share = project.took["build of 1 % more"].cpu / project.took["first build"].cpu
        console.print(f"A build of 1 % more takes {share:.1%} of the first one's processor time.")
    return project.took
