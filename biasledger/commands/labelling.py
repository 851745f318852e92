"""Labels by people, and thresholds or patterns of refusals from labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import PATH, ledger_option, next_step, warehouse_option
from biasledger.commands.completing import complete_runs
from collector.errors import BiasledgerError, InputError
from collector.terminal import print_data, say

if TYPE_CHECKING:
    from biasledger.tuning.thresholds import TuningResult


@click.command()
@click.argument("labels", type=PATH, metavar="LABELS.csv")
@ledger_option
@click.option(
    "--by", metavar="NAME", help="Who gave these labels; kept for good, and shown in the table fct_labels."
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead write LABELS.csv with N answers drawn at random, as many about each group, for you to label.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Draws the sample.  [default: 0]")
@click.option(
    "--rubric",
    metavar="NAME|FILE.yml",
    help="The labels are answers of this rubric, such as 4 or yes; they correct its judges (`biasledger score --judge`).",
)
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Draw the sample from this run only: its id, the beginning of it, latest or previous.",
)
def label(
    labels: Path,
    ledger: Path,
    by: str | None,
    sample: int | None,
    seed: int | None,
    rubric: str | None,
    run: str | None,
) -> None:
    """Store labels that a person gave to answers.

    LABELS.csv says whether single answers (column response, or run, prompt and trial) are acceptable or problematic
    (column label). `biasledger label --sample` and `biasledger tune --sample` write such a file to fill in. The labels are stored
    in the ledger, in the chains of their runs; if one person labels an answer twice, the last label counts. Labels of answers
    that were drawn at random (column drawn: random) correct the scores. In a browser: `biasledger serve --label-as NAME`.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from biasledger.scoring.rubrics import load_rubric
    from biasledger.tuning.drawing import NEEDED_COVERAGE, write_drawn
    from biasledger.tuning.keeping import keep_file

    if (by is None) is (sample is None):
        raise click.UsageError(
            "Say who gave the labels, --by NAME, or have answers drawn to be labelled, --sample N."
        )
    if sample is not None and rubric is not None:
        raise click.UsageError("--rubric says what stored labels are answers of: give it with --by NAME.")
    if sample is None and (seed is not None or run is not None):
        raise click.UsageError("--seed and --run say what is drawn: give them with --sample N.")
    if sample is not None:
        run_id = None if run is None else run_in_ledger(ledger, run)
        n_written, n_cells = write_drawn(labels, ledger, n=sample, seed=seed or 0, run_id=run_id)
        say(
            f"Wrote {n_written:,} answers, drawn from {n_cells:,} combinations of groups and runs, to {labels}: fill its column "
            f"label with acceptable or problematic."
        )
        if n_written < NEEDED_COVERAGE * n_cells:
            say(
                f"Warning: rates are corrected where nine in ten combinations have a labelled answer; {n_cells:,} answers would "
                f"do, or fewer of one run (--run).",
                err=True,
            )
        next_step(f"biasledger label {shlex.quote(str(labels))} --by NAME")
        return
    name, loaded = load_rubric(rubric) if rubric is not None else ("", None)
    asked = (name, tuple(loaded.answers), loaded.hash) if loaded else ()
    done, n_drawn, n_unlabelled = keep_file(labels, ledger, by or "", *asked)
    say(
        f"Labels stored: {done.n_kept:,}; unchanged: {done.n_unchanged:,}; rows without a label: {n_unlabelled:,}."
    )
    if n_drawn:
        say(f"Labels of randomly drawn answers, which check and correct scorers: {n_drawn:,}.")
    if done.n_ahead:
        say(
            f"{ledger} is in use: the labels are in the journals of {done.n_ahead:,} runs, and the next build loads them."
        )
    next_step("biasledger build" if n_drawn else "biasledger tune")


@click.command()
@click.argument("labels", type=PATH, required=False, metavar="[LABELS.csv]")
@warehouse_option
@ledger_option
@click.option("--curve", type=PATH, metavar="FILE.csv", help="Write every threshold with its rates.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead write LABELS.csv with N outputs, evenly over the measure's range, for you to label.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the sample.")
@click.option(
    "--audit",
    default="*",
    metavar="NAME",
    help="The audit whose outputs are labelled and that the thresholds are for; all if not given.",
)
@click.option(
    "--write", is_flag=True, help="Write the proposed rows into seeds/output_thresholds.csv of this folder."
)
@click.option(
    "--refusals",
    is_flag=True,
    help="Instead propose patterns for answer.refusals, from a LABELS.csv with the columns text and label (refused, answered).",
)
def tune(
    labels: Path | None,
    warehouse: Path,
    ledger: Path,
    curve: Path | None,
    sample: int | None,
    seed: int,
    audit: str,
    write: bool,
    refusals: bool,
) -> None:
    """Find thresholds, or patterns of refusals, from labels.

    LABELS.csv says of single outputs (column response, or run, prompt and trial) whether they are acceptable or
    problematic (column label); without it the labels count that the ledger keeps (`biasledger label`). For each measure: the
    smallest threshold with at most 5 % false positives, what it misses, and the row of seeds/output_thresholds.csv that sets it.
    Files are named as seen from this folder.
    """
    from biasledger.tuning.labels import read_kept, tune_kept, write_curve, write_sample
    from biasledger.tuning.labels import tune as tune_thresholds
    from biasledger.tuning.thresholds import (
        as_csv,
        proposed_rows,
        source_of_file,
        source_of_kept,
        write_rows,
    )

    if refusals:
        _tune_refusals(labels)
        return
    again = "biasledger tune" + ("" if labels is None else f" {shlex.quote(str(labels))}")
    if audit != "*":
        again += f" --audit {shlex.quote(audit)}"
    if sample is not None:
        if labels is None:
            raise click.UsageError("--sample N writes outputs into LABELS.csv: name the file.")
        if write or curve is not None:
            raise InputError(
                "--sample writes outputs to label; --write and --curve come after these have labels."
            )
        n_written = write_sample(labels, warehouse, ledger, n=sample, seed=seed, audit=audit)
        say(f"Wrote {n_written:,} outputs to {labels}: fill its column label with acceptable or problematic.")
        next_step(again)
        return
    if labels is None:
        kept = read_kept(ledger)
        result, source = tune_kept(kept, ledger, warehouse, audit=audit), source_of_kept(kept, ledger)
    else:
        result, source = tune_thresholds(labels, warehouse, audit=audit), source_of_file(labels)
    _print_tunings(result)
    rows, not_proposed = proposed_rows(result, source, audit=audit)
    for sentence in (*(f"Not tuned: {one}" for one in result.skipped), *not_proposed):
        say(sentence, err=True)
    if not result.tunings:
        raise BiasledgerError(
            f"{labels or ledger} gives no threshold: label outputs of both kinds that the measures assess."
        )
    if curve is not None:
        write_curve(curve, result.tunings)
        say(f"Wrote the curves to {curve}.")
    if not rows:
        return
    say("\nRows for seeds/output_thresholds.csv, each in place of the one for the same measure and audit:")
    print_data(as_csv(rows))
    if write:
        written = write_rows(Path(), rows)
        say(f"\nWrote them to {written}.")
        next_step("biasledger build")
    else:
        say()
        next_step(f"{again} --write")


def _tune_refusals(labels: Path | None) -> None:
    """Print patterns that find the labelled refusals, as the lines of an audit."""
    from biasledger.tuning.refusals import propose_refusals

    if labels is None:
        raise click.UsageError("--refusals reads labelled answers: name the file LABELS.csv.")
    found = propose_refusals(labels)
    say(
        f"{found.n_refused:,} labelled refusals and {found.n_answered:,} answers. The shipped patterns find "
        f"{found.n_known:,} of the refusals, and take {found.n_false:,} of the answers for refusals."
    )
    if found.patterns:
        say("\nPatterns for the audit, none of which finds a labelled answer:")
        patterns = "".join(
            f"    - '{one.pattern.replace(chr(39), 2 * chr(39))}'  # {one.n_new:,} more refusals\n"
            for one in found.patterns
        )
        print_data(f"answer:\n  refusals:\n{patterns}")
    if found.n_left:
        say(f"\nNo pattern finds {found.n_left:,} of the refusals: they share no phrase with another one.")


def _print_tunings(result: TuningResult) -> None:
    from biasledger.commands.display import curve_table, tuning_table

    say(f"{result.n_outputs:,} labelled outputs; an output is marked where its value is above the threshold.")
    if result.n_unlabelled_rows:
        say(f"{result.n_unlabelled_rows:,} rows have no label yet and are left out.")
    say()
    if result.tunings:
        tuning_table(result.tunings)
    for tuning in result.tunings:
        curve_table(tuning)
        if tuning.n_without_value:
            say(
                f"{tuning.n_without_value:,} labelled outputs have no value of the measure; "
                f"{tuning.n_problematic_without_value:,} of them are problematic, and no threshold finds those."
            )
