"""`python -m benchmarks`: speed, sizes by method, collecting, audits of simulated models, comparisons, and calibration."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from benchmarks.processes import PACKAGE_PARENT, BenchmarkError
from benchmarks.records import WORSE, Record, print_comparison, print_growth, read_records, write_records
from collector.errors import BiasledgerError, InputError

SHORT_SPLITS = 60
SHORT_AUDITS, SHORT_SUBJECTS = 20, 25
SHORT_DECISIONS = 20
SHORT_MARKERS = 20
SHORT_PRICES = 21
SHORT_SIZES = (1_000, 8_000)
# Importing these would take longer than to print help.
_METHOD_NAMES = ("words", "lists", "decisions", "prices", "markers", "texts")
_AUDIT_NAMES = ("products", "recommendations", "resumes", "rankings", "restaurants", "stereotypes")


@click.group(invoke_without_command=True)
@click.option(
    "--json",
    "records",
    type=click.Path(path_type=Path),
    default=None,
    help="Write what speed, sizes and collect measure into this file, for `compare`.",
)
@click.pass_context
def main(context: click.Context, records: Path | None) -> None:
    """Measure speed, small sizes of each method, collecting, fewer and smaller audits of lists, fewer of decisions, prices and
    stereotypes, builds on Spark next to DuckDB where it can be started and, where the texts are there, calibration with fewer
    splits.

    Name one of them to run it alone with its own settings.
    """
    measured: list[Record] = []
    context.obj = measured
    if records is not None:
        context.call_on_close(lambda: _keep(records, measured))
    if context.invoked_subcommand is not None:
        return
    context.invoke(speed)
    context.invoke(sizes, methods=_METHOD_NAMES, responses=SHORT_SIZES, more=False)
    context.invoke(collect)
    context.invoke(lists, audits=SHORT_AUDITS, subjects=SHORT_SUBJECTS)
    context.invoke(decisions, audits=SHORT_DECISIONS)
    context.invoke(markers, audits=SHORT_MARKERS)
    context.invoke(prices, audits=SHORT_PRICES)
    from benchmarks.spark import require_spark

    try:
        require_spark()
    except InputError as error:
        click.echo(f"Spark left out. {error}")
    else:
        context.invoke(spark)
    from benchmarks.calibration import find_data

    try:
        data = find_data(None)
    except BenchmarkError as error:
        click.echo(f"Calibration left out. {error}")
        return
    context.invoke(calibration, data=data, splits=SHORT_SPLITS)


def _keep(path: Path, measured: list[Record]) -> None:
    """Write what was measured, and print how it grows."""
    from rich.console import Console

    if measured:
        write_records(path, measured)
        print_growth(Console(width=110, highlight=False), measured)


@main.command()
@click.option(
    "--responses",
    type=click.IntRange(min=600),
    multiple=True,
    default=(20_000,),
    show_default=True,
    help="May be repeated.",
)
@click.option(
    "--words", type=click.IntRange(min=20), default=350, show_default=True, help="Words a response."
)
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    default=1_999,
    show_default=True,
    help="Timed apart; 0 leaves them out.",
)
@click.pass_obj
def speed(
    measured: list[Record], responses: tuple[int, ...], words: int, repeats: int, permutations: int
) -> None:
    """A build of words against a plain scikit-learn script and the floor of cutting texts, on generated responses."""
    from benchmarks.speed import records_of, run

    for one in responses:
        done = run(n_responses=one, n_words=words, repeats=repeats, n_permutations=permutations)
        measured += records_of(done, one)


@main.command()
@click.option(
    "--method",
    "methods",
    type=click.Choice(_METHOD_NAMES),
    multiple=True,
    default=("words",),
    show_default=True,
    help="May be repeated.",
)
@click.option(
    "--responses",
    type=click.IntRange(min=600),
    multiple=True,
    default=(20_000, 200_000),
    show_default=True,
    help="May be repeated.",
)
@click.option(
    "--words",
    type=click.IntRange(min=20),
    default=None,
    help="A response, where these are texts. [default: 350; of markers and texts 60]",
)
@click.option(
    "--questions",
    type=click.IntRange(min=1),
    default=None,
    help="Different ones, further answers being further trials. [default: 40 probes of markers, 126 questions of prices; "
    "else they grow with the answers]",
)
@click.option(
    "--permutations/--no-permutations", default=True, show_default=True, help="Judge, or only measure."
)
@click.option(
    "--more/--no-more",
    default=True,
    show_default=True,
    help="After the first build also the report, nothing new, and 1 % more.",
)
@click.pass_obj
def sizes(
    measured: list[Record],
    methods: tuple[str, ...],
    responses: tuple[int, ...],
    words: int | None,
    questions: int | None,
    permutations: bool,
    more: bool,
) -> None:
    """Import, build, report, and 1 % more, end to end, of so many generated responses of a method, and how each grows."""
    from benchmarks.sizes import run

    for method in methods:
        for one in responses:
            measured += run(
                method=method,
                n_responses=one,
                n_words=words,
                n_questions=questions,
                permutations=permutations,
                more=more,
            )


@main.command()
@click.option(
    "--audit",
    "audits",
    type=click.Choice(_AUDIT_NAMES),
    multiple=True,
    default=_AUDIT_NAMES,
    show_default=True,
    help="May be repeated.",
)
@click.option("--runs", "n_runs", type=click.IntRange(min=1), default=6, show_default=True)
@click.pass_obj
def runs(measured: list[Record], audits: tuple[str, ...], n_runs: int) -> None:
    """The same audit asked again and again: what the build of each run costs."""
    from benchmarks.runs import run

    measured += run(audits=audits, n_runs=n_runs)


@main.command()
@click.option("--responses", type=click.IntRange(min=150), default=9_600, show_default=True)
@click.option("--concurrency", type=click.IntRange(1, 256), default=64, show_default=True)
@click.option(
    "--latency", type=click.FloatRange(min=0.1), default=100.0, show_default=True, help="Milliseconds."
)
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--many",
    type=click.IntRange(min=0),
    default=300_000,
    show_default=True,
    help="Answers kept and loaded, and a thirtieth of them, to see what memory takes; 0 leaves it out.",
)
@click.option(
    "--verified",
    type=click.IntRange(min=0),
    default=100_000,
    show_default=True,
    help="Short answers kept, loaded and verified; 0 leaves it out.",
)
@click.option(
    "--inspect",
    "inspect_python",
    type=click.Path(path_type=Path),
    default=None,
    help="A Python that has inspect_ai and openai, to measure Inspect AI beside.",
)
@click.pass_obj
def collect(
    measured: list[Record],
    responses: int,
    concurrency: int,
    latency: float,
    repeats: int,
    many: int,
    verified: int,
    inspect_python: Path | None,
) -> None:
    """The collector against a bare thread pool on a server on loopback, what memory takes, and verifying what was kept."""
    from benchmarks.collecting import records_of, run

    done = run(
        n_responses=responses,
        concurrency=concurrency,
        latency_ms=latency,
        repeats=repeats,
        n_many=many,
        n_verified=verified,
        inspect_python=inspect_python,
    )
    measured += records_of(done)


@main.command()
@click.option("--splits", type=click.IntRange(min=2), default=200, show_default=True)
@click.option("--permutations", type=click.IntRange(min=99), default=999, show_default=True)
@click.option("--seed", type=int, default=20260201, show_default=True)
@click.option("--data", type=click.Path(path_type=Path), default=None, help="The personas file.")
def calibration(splits: int, permutations: int, seed: int, data: Path | None) -> None:
    """False alarms, coverage and power on real texts."""
    from benchmarks.calibration import run

    run(data=data, n_splits=splits, n_permutations=permutations, seed=seed)


@main.command()
@click.option(
    "--responses",
    type=click.IntRange(min=600),
    multiple=True,
    default=(2_000, 20_000),
    show_default=True,
    help="May be repeated.",
)
@click.option("--words", type=click.IntRange(min=20), default=350, show_default=True, help="A response.")
@click.option(
    "--run-size", type=click.IntRange(min=600), default=20_000, show_default=True, help="Responses a run."
)
@click.option("--master", default="local[2]", show_default=True, help="Where Spark runs.")
@click.option("--features", is_flag=True, help="Only cut and count texts.")
@click.pass_obj
def spark(
    measured: list[Record],
    responses: tuple[int, ...],
    words: int,
    run_size: int,
    master: str,
    features: bool,
) -> None:
    """The same generated ledger built on DuckDB and on Spark: time, memory, whether they say the same, and how each grows."""
    from benchmarks.spark import run, run_features

    measure = run_features if features else run
    for one in responses:
        measured += measure(n_responses=one, n_words=words, run_size=run_size, master=master)


@main.command()
@click.option("--audits", type=click.IntRange(min=2), default=200, show_default=True, help="Without bias.")
@click.option(
    "--subjects",
    type=click.IntRange(min=20),
    default=50,
    show_default=True,
    help="An audit. Fewer than 20 that answered about two groups are not judged, and some refuse.",
)
@click.option("--seed", type=int, default=20260201, show_default=True)
def lists(audits: int, subjects: int, seed: int) -> None:
    """False alarms and power of whole audits of recommendation lists, with simulated models."""
    from benchmarks.lists import run

    run(n_audits=audits, n_subjects=subjects, seed=seed)


@main.command()
@click.option(
    "--audits",
    type=click.IntRange(min=4),
    default=200,
    show_default=True,
    help="Without bias, half of resumes and half of rankings.",
)
@click.option("--seed", type=int, default=20260201, show_default=True)
def decisions(audits: int, seed: int) -> None:
    """False alarms and power of whole audits of decisions, with simulated models."""
    from benchmarks.decisions import run

    run(n_audits=audits, seed=seed)


@main.command()
@click.option(
    "--audits",
    type=click.IntRange(min=6),
    default=200,
    show_default=True,
    help="Without bias, a third each of names, couples and places.",
)
@click.option("--seed", type=int, default=20260201, show_default=True)
def prices(audits: int, seed: int) -> None:
    """False alarms and power of whole audits of restaurants, with simulated models."""
    from benchmarks.prices import run

    run(n_audits=audits, seed=seed)


@main.command()
@click.option("--audits", type=click.IntRange(min=2), default=200, show_default=True, help="Without bias.")
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often each question is asked.",
)
@click.option("--seed", type=int, default=20260201, show_default=True)
def markers(audits: int, trials: int, seed: int) -> None:
    """False alarms and power of whole audits of stereotypes, with simulated models."""
    from benchmarks.markers import run

    run(n_audits=audits, trials=trials, seed=seed)


@main.command()
@click.option("--texts", type=click.IntRange(min=1_000), default=64_000, show_default=True, help="At most.")
@click.option("--words", type=click.IntRange(min=20), default=350, show_default=True, help="A text.")
def learning(texts: int, words: int) -> None:
    """What a classifier of texts gains from more of them, on the generated texts of `speed`."""
    from benchmarks.learning import run

    run(n_texts=texts, n_words=words)


@main.command()
@click.option("--texts", type=click.IntRange(min=2_000), default=80_000, show_default=True, help="At most.")
@click.option("--words", type=click.IntRange(min=20), default=350, show_default=True, help="A text.")
@click.option("--permutations", type=click.IntRange(min=99), default=299, show_default=True)
def blocks(texts: int, words: int, permutations: int) -> None:
    """What a permutation test of words costs as texts grow, by single texts and in blocks."""
    from benchmarks.blocks import run

    run(n_texts=texts, n_words=words, n_permutations=permutations)


@main.command()
@click.option(
    "--reviews", type=click.IntRange(min=1_000), default=200_000, show_default=True, help="At most."
)
@click.option("--venues", type=click.IntRange(min=2), default=200, show_default=True)
@click.pass_obj
def lmrec(measured: list[Record], reviews: int, venues: int) -> None:
    """What training and measuring a recommender by TF-IDF cost as generated reviews grow: 20,000, ten times, fifty times."""
    from benchmarks.recommender import SIZES, run

    sizes = [size for size in SIZES if size < reviews]
    measured += run(sizes=[*sizes, reviews], n_venues=venues)


@main.command()
@click.argument("project", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--findings", type=click.IntRange(min=1_000), default=10_000, show_default=True)
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True)
def explorer(project: Path, findings: int, repeats: int) -> None:
    """Seconds until the explorer's pages and the report are there and painted, of a built PROJECT with so many findings."""
    from benchmarks.explorer import run

    run(project, n_findings=findings, repeats=repeats)


@main.command()
@click.option("--runs", type=click.IntRange(min=2), default=13, show_default=True, help="Of one model.")
@click.option("--changes", type=click.IntRange(min=1), default=3, show_default=True, help="To a worse model.")
@click.option("--seed", type=int, default=1000, show_default=True)
def comparisons(runs: int, changes: int, seed: int) -> None:
    """False regressions between runs of one model, and what is found of a worse one."""
    from benchmarks.comparisons import run

    run(n_runs=runs, n_changes=changes, seed=seed)


@main.command()
@click.option(
    "--repetitions", type=click.IntRange(min=2), default=400, show_default=True, help="Of each case."
)
@click.option("--seed", type=int, default=20260201, show_default=True)
@click.option("--only", default=None, help="Cases whose name holds this, or of this item.")
@click.pass_context
def verdicts(context: click.Context, repetitions: int, seed: int, only: str | None) -> None:
    """False alarms, false clears and power on data of unfriendly shapes; ends with 1 where a goal is missed."""
    from benchmarks.verdicts import run

    if not run(repetitions=repetitions, seed=seed, only=only):
        context.exit(1)


@main.command()
@click.option(
    "--times", type=click.IntRange(min=1), default=None, help="Of each attack. [default: as each attack says]"
)
@click.option("--seed", type=int, default=20260201, show_default=True)
@click.option("--only", default=None, help="Attacks whose name holds this, or of this item.")
@click.pass_context
def attacks(context: click.Context, times: int | None, seed: int, only: str | None) -> None:
    """Kills, faults, tamperings, escapes and bad files, and what held; ends with 1 where something broke."""
    from benchmarks.attacks import run

    if not run(times=times, seed=seed, only=only):
        context.exit(1)


@main.command()
@click.argument("one", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option(
    "--digits", type=click.IntRange(min=0), default=None, help="Compare numbers rounded to so many decimals."
)
@click.pass_context
def same(context: click.Context, one: Path, other: Path, digits: int | None) -> None:
    """Whether two built warehouses, ONE and OTHER, say the same in every public table; ends with 1 if not."""
    from benchmarks.same import differences

    message = differences(one, other, digits=digits)
    for sentence in message:
        click.echo(sentence)
    if message:
        context.exit(1)
    click.echo("Every public table is the same, but for which build it was.")


@main.command()
@click.option(
    "--against", metavar="COMMIT", default=None, help="Also read the shapes with the code of this commit."
)
@click.option(
    "--shown", "n_shown", type=click.IntRange(min=0), default=10, show_default=True, help="Wrong readings."
)
@click.pass_context
def reading(context: click.Context, against: str | None, n_shown: int) -> None:
    """How many shapes of replies are read right, and which are read wrong; ends with 1 if any is."""
    from benchmarks.reading.report import run

    if not run(against, n_shown=n_shown):
        context.exit(1)


@main.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--worse", type=click.FloatRange(min=1), default=WORSE, show_default=True, help="Times the old value."
)
@click.pass_context
def compare(context: click.Context, old: Path, new: Path, worse: float) -> None:
    """What two files of `--json` measured, as ratios to the plain script of the same run; ends with 1 where one is worse."""
    if print_comparison(read_records(old), read_records(new), worse):
        context.exit(1)


@main.command()
@click.option("--sampled", type=click.IntRange(min=1), default=200, show_default=True, help="Of all mutants.")
@click.option("--seed", type=int, default=20260201, show_default=True)
@click.option("--only", default=None, help="Modules whose path holds this.")
@click.option(
    "--tree",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=PACKAGE_PARENT,
    show_default="this one",
    help="Where another commit is checked out.",
)
@click.option("--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="processors")
def mutants(sampled: int, seed: int, only: str | None, tree: Path, workers: int) -> None:
    """What share of small faults put into measures and findings their tests see (needs cosmic-ray)."""
    from benchmarks.mutants import run

    run(tree=tree.resolve(), n_sampled=sampled, seed=seed, only=only, n_workers=workers)


@main.command()
@click.option("--against", default=None, metavar="COMMIT", help="Count another commit, too.")
@click.option("--nodes/--no-nodes", default=True, show_default=True, help="Parse the dbt project as well.")
def counts(against: str | None, nodes: bool) -> None:
    """Lines, casts, long joins, import circles, copies of the method list and nodes: how far a change to the code spreads."""
    from benchmarks.counts import print_counts

    print_counts(against, with_nodes=nodes)


if __name__ == "__main__":
    try:
        main()
    except (BenchmarkError, BiasledgerError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
