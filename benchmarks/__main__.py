"""`python -m benchmarks`: reading of answers, wrong verdicts, speed, sizes, and a comparison of two warehouses."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.processes import BenchmarkError
from collector.errors import BiasledgerError

SHORT_SIZES = (1_000, 8_000)
SHORT_REPETITIONS, SHORT_AUDITS, SHORT_SPLITS = 40, 12, 60
SHORT_SCENARIOS = ("people alike", "prompts a group alike")
SEED = 20260201
# Importing these from `benchmarks.methods` would take longer than to print help.
_METHOD_NAMES = ("words", "lists", "decisions", "prices", "markers", "texts")


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Run all but `same` at small sizes; `calibration` only where its texts are present.

    Name a command to run it alone with its own settings.
    """
    if context.invoked_subcommand is not None:
        return
    are_right = context.invoke(reading)
    context.invoke(speed)
    context.invoke(sizes, methods=_METHOD_NAMES, responses=SHORT_SIZES, more=False)
    hold = context.invoke(verdicts, repetitions=SHORT_REPETITIONS, n_audits=0)
    hold &= context.invoke(verdicts, n_audits=SHORT_AUDITS, only=SHORT_SCENARIOS)
    from benchmarks.calibration import find_data

    try:
        data = find_data(None)
    except BenchmarkError as error:
        click.echo(f"Calibration left out. {error}")
    else:
        context.invoke(calibration, data=data, splits=SHORT_SPLITS)
    context.exit(0 if are_right and hold else 1)


@main.result_callback()
@click.pass_context
def _exit(context: click.Context, is_right: bool | None) -> None:
    """End with 1 where a command returns False."""
    if is_right is False:
        context.exit(1)


@main.command()
@click.option(
    "--against", metavar="COMMIT", default=None, help="Also read the shapes with the code of this commit."
)
@click.option(
    "--shown", "n_shown", type=click.IntRange(min=0), default=10, show_default=True, help="Wrong readings."
)
def reading(against: str | None, n_shown: int) -> bool:
    """How many shapes of replies are read right, and which are read wrong; ends with 1 if any is."""
    from benchmarks.reading.report import run

    return run(against, n_shown=n_shown)


@main.command()
@click.option(
    "--repetitions", type=click.IntRange(min=2), default=400, show_default=True, help="Of each case."
)
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option(
    "--audits",
    "n_audits",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="Of each scenario; 0 leaves them out.",
)
@click.option(
    "--only",
    multiple=True,
    help="Cases and scenarios whose name holds this, or of this item. May be repeated.",
)
def verdicts(repetitions: int, seed: int, n_audits: int, only: tuple[str, ...]) -> bool:
    """False alarms, false clears and power, of measures and whole simulated audits; ends with 1 where a goal is missed."""
    from benchmarks.verdicts import run

    return run(repetitions=repetitions, seed=seed, n_audits=n_audits, only=only)


@main.command()
@click.option("--splits", type=click.IntRange(min=2), default=200, show_default=True)
@click.option("--permutations", type=click.IntRange(min=99), default=999, show_default=True)
@click.option("--seed", type=int, default=SEED, show_default=True)
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
def speed(responses: tuple[int, ...], words: int, repeats: int, permutations: int) -> None:
    """A build of words against a plain scikit-learn script, on generated responses."""
    from benchmarks.speed import run

    for one in responses:
        run(n_responses=one, n_words=words, repeats=repeats, n_permutations=permutations)


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
def sizes(
    methods: tuple[str, ...],
    responses: tuple[int, ...],
    words: int | None,
    questions: int | None,
    permutations: bool,
    more: bool,
) -> None:
    """Import, build, report, and 1 % more, end to end, of so many generated responses of a method."""
    from benchmarks.sizes import run

    for method in methods:
        for one in responses:
            run(
                method=method,
                n_responses=one,
                n_words=words,
                n_questions=questions,
                permutations=permutations,
                more=more,
            )


@main.command()
@click.argument("one", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option(
    "--digits", type=click.IntRange(min=0), default=None, help="Compare numbers rounded to so many decimals."
)
def same(one: Path, other: Path, digits: int | None) -> bool:
    """Whether two built warehouses, ONE and OTHER, say the same in every public table; ends with 1 if not."""
    from benchmarks.same import differences

    found = differences(one, other, digits=digits)
    for sentence in found or ["Every public table is the same, but for which build it was."]:
        click.echo(sentence)
    return not found


if __name__ == "__main__":
    try:
        main()
    except (BenchmarkError, BiasledgerError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
