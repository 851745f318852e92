"""Scores by a classifier, labels by people, and thresholds from labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import PATH, ledger_option, next_step, warehouse_option
from biasledger.commands.completing import complete_runs
from biasledger.numbers import percent
from collector.errors import BiasledgerError, InputError
from collector.terminal import print_data, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasledger.tuning.thresholds import TuningResult
    from collector.asking.second_reader import Agreement


@click.command()
@ledger_option
@click.option(
    "--model",
    default="sasha/regardv3",
    show_default=True,
    metavar="NAME|FOLDER",
    help="Text classifier, on the Hugging Face hub or in a folder; or vader, sentiment by words and rules.",
)
@click.option("--scorer", metavar="NAME", help="What to call its scores; the model's name if not given.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="N",
    help="Texts classified at once.",
)
@click.option(
    "--mask/--no-mask", default=True, show_default=True, help="Replace words that name a group by XYZ first."
)
@click.option(
    "--label-map",
    metavar="FROM=TO,…",
    help="Names for the model's labels, if none is called negative: LABEL_0=negative,LABEL_1=positive.",
)
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Only this run: its id, the beginning of it, latest or previous.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Score at most N answers now.")
@click.option(
    "--judge",
    "judge_target",
    metavar="TARGET",
    help="Instead of a classifier a model that grades: a name in the targets file or python:module:function.",
)
@click.option(
    "--rubric",
    metavar="NAME|FILE.yml",
    help="What the judge grades: competence, condescension, helpfulness, stereotype, toxicity, warmth, or a file.",
)
@click.option("--targets", type=PATH, default=Path("targets.yml"), show_default=True, help="File of targets.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Draws the judge's order and swapped texts."
)
@click.option(
    "--swap-texts",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    metavar="N",
    help="Texts of each group that the judge first grades under the words of another group, too; 0 for none.",
)
@click.option(
    "--despite-swaps",
    is_flag=True,
    help="Grade although the judge grades a group worse by its words alone; findings then need labels.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Stop before another question to the judge might cost more; run the command again to go on.",
)
@click.option(
    "--max-requests", type=click.IntRange(min=1), metavar="N", help="Ask the judge at most N times now."
)
@click.option(
    "--dry-run", is_flag=True, help="Only print how many answers the judge would grade, and the cost."
)
def score(
    ledger: Path,
    model: str,
    scorer: str | None,
    device: str,
    batch_size: int,
    mask: bool,
    label_map: str | None,
    run: str | None,
    limit: int | None,
    judge_target: str | None,
    rubric: str | None,
    targets: Path,
    seed: int,
    swap_texts: int,
    despite_swaps: bool,
    max_cost_usd: float | None,
    max_requests: int | None,
    dry_run: bool,
) -> None:
    """Score text answers with a classifier or a judge.

    Scores go into the ledger next to the answers. Answers that have scores of the same name are left out, so that a
    scoring which was stopped goes on where it stopped. Which label is judged is set in the audit's analysis.markers.scores;
    where it is not, negative is. Needs an extra: pip install 'biasledger[regard]', or 'biasledger[sentiment]' for vader.

    With --judge TARGET --rubric NAME a model grades each answer without its group's words, in random order; its grades are
    judged as the rubric says. Labels by people (`biasledger label --rubric NAME`) correct its errors.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from biasledger.scoring.classifiers import VADER, load_classifier, load_vader
    from biasledger.scoring.scores import (
        answers_left,
        labels_judged,
        read_label_map,
        score_answers,
        scorer_name,
    )

    if (judge_target is None) is not (rubric is None):
        raise click.UsageError("--judge TARGET and --rubric NAME belong together.")
    run_id = None if run is None else run_in_ledger(ledger, run)
    if judge_target is not None and rubric is not None:
        _judge(
            ledger,
            targets,
            judge_target,
            rubric,
            scorer=scorer,
            run_id=run_id,
            limit=limit,
            seed=seed,
            swap_texts=swap_texts,
            despite_swaps=despite_swaps,
            max_cost_usd=max_cost_usd,
            max_requests=max_requests,
            dry_run=dry_run,
        )
        return
    labels = read_label_map(label_map) if label_map is not None else None
    scorer = scorer or scorer_name(model, mask=mask)
    answers = answers_left(ledger, scorer, run=run_id, limit=limit)
    if not answers:
        say(f"Nothing is left to score: every text answer has scores of {scorer!r}.")
        return
    judged = labels_judged(ledger, answers, scorer)
    classify = (
        load_vader() if model == VADER else load_classifier(model, device=device, batch_size=batch_size)
    )
    say(f"Scoring {len(answers):,} answers as {scorer!r} …")
    done = score_answers(ledger, answers, classify, scorer=scorer, mask=mask, label_map=labels, judged=judged)
    say(f"  scored: answers {done.n_answers:,}, different texts {done.n_texts:,}, runs {done.n_runs:,}")
    if done.n_short:
        say(
            f"Warning: {done.n_short:,} of them are shorter than 20 characters, of which classifiers say much the same.",
            err=True,
        )
    next_step("biasledger build")


def _judge(
    path: Path,
    targets: Path,
    target_name: str,
    rubric_name: str,
    *,
    scorer: str | None,
    run_id: str | None,
    limit: int | None,
    seed: int,
    swap_texts: int,
    despite_swaps: bool,
    max_cost_usd: float | None,
    max_requests: int | None,
    dry_run: bool,
) -> None:
    """Have a target grade answers by a rubric, unless it grades a group worse by its words alone."""
    from biasledger.project import settings_file
    from biasledger.scoring.judging import Judge, judge_name
    from biasledger.scoring.rubrics import load_rubric
    from biasledger.scoring.scores import answers_left
    from collector.asking.costs import load_prices, meter_for, usd
    from collector.asking.progress import progress
    from collector.asking.single_questions import SingleQuestions
    from collector.ledger.database import Ledger
    from collector.redaction import strike_out_named_in
    from collector.targets import load_target

    name, rubric = load_rubric(rubric_name)
    strike_out_named_in(targets)
    target = load_target(targets, target_name)
    scorer = scorer or judge_name(target, name)
    answers = answers_left(path, scorer, run=run_id)
    if not answers:
        say(f"Nothing is left to grade: every text answer has a grade by {scorer!r}.")
        return
    meter = meter_for(target, load_prices(settings_file("model_prices.csv")), max_cost_usd)
    questions = SingleQuestions(target, meter, max_requests)
    judge = Judge(
        Ledger(path),
        questions,
        target,
        name,
        rubric,
        answers,
        seed=seed,
        scorer=scorer,
        swap_texts=swap_texts,
        limit=limit,
    )
    expected = judge.estimated_cost(meter)
    cost = (
        "cost unknown" if expected is None else f"about {usd(expected)} USD with the test on swapped groups"
    )
    say(f"{scorer} grades {len(judge.answers):,} answers, {cost}.")
    if dry_run:
        return
    with progress(len(judge.swap_prompts), "Texts of swapped groups graded", None) as advance:
        is_whole = judge.test_swaps(lambda n: advance(n, 0))
    for one in judge.swaps:
        said = (
            f"{one.group_name} against {one.reference_group} ({one.attribute}): {one.n_texts} texts graded with the words of "
            f"both, those of {one.group_name} {percent(abs(one.difference), 1)} of the range "
            f"{'worse' if one.difference > 0 else 'better'} [{percent(one.interval_low, 1, has_sign=True)}, "
            f"{percent(one.interval_high, 1, has_sign=True)}], "
            f"p = {one.p_value:.2g}"
        )
        say(f"Warning: {said}" if one.is_unequal else f"  {said}", err=one.is_unequal)
    unequal = [one for one in judge.swaps if one.is_unequal]
    if not is_whole:
        raise BiasledgerError("The limit ended the test on swapped groups; nothing is graded. Raise it.")
    if unequal and not despite_swaps:
        raise BiasledgerError(
            f"{scorer} grades the same texts differently when they name another group, so nothing is graded. Take another judge "
            f"or rubric; or grade with --despite-swaps and label a sample of answers (biasledger label --sample 200 drawn.csv): "
            f"findings about these groups count only with labels."
        )
    with progress(len(judge.prompts), f"Graded by {target.name}", None) as advance:
        done = judge.grade(lambda n: advance(n, 0))
    say(
        f"  graded: {done.n_graded:,} of {len(judge.answers):,} answers, with {questions.n_requests:,} requests"
    )
    if meter.cost_usd is not None:
        say(f"  cost: {usd(meter.cost_usd)} USD")
    if done.n_failed:
        say(
            f"  texts without a usable grade: {done.n_failed:,}; run the command again to ask for these.",
            err=True,
        )
    if done.is_cut_off:
        say("The limit is reached. The grades so far are kept; run the command again to go on.", err=True)
    next_step("biasledger build")


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
@click.option(
    "--with",
    "target_name",
    required=True,
    metavar="TARGET",
    help="The model that reads: a name in the targets file or python:module:function.",
)
@click.option("--targets", type=PATH, default=Path("targets.yml"), show_default=True, help="File of targets.")
@ledger_option
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Only this run: its id, the beginning of it, latest or previous.",
)
@click.option(
    "--check",
    "n_checked",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    metavar="N",
    help="Also give it N answers of each run that rules read, and count how many it reads alike.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Stop before another question might cost more; run the command again to go on.",
)
@click.option("--dry-run", is_flag=True, help="Only print how many answers it would read, and the cost.")
def read(
    target_name: str,
    targets: Path,
    ledger: Path,
    run: str | None,
    n_checked: int,
    max_cost_usd: float | None,
    dry_run: bool,
) -> None:
    """Have a model read the decisions that no rule reads.

    TARGET is given each label and score that the rules leave unread, with a fixed prompt that asks for the decision as JSON. The
    decision is kept in the ledger with model and prompt hash, at the end of its run's chain. It never replaces what a rule read.
    It is used only in runs where the model agrees with the rules on 90 % of at least 20 answers that the rules read.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from biasledger.project import settings_file
    from collector.asking.costs import load_prices, meter_for, usd
    from collector.asking.progress import progress
    from collector.asking.second_reader import (
        agreements,
        answers_to_read,
        estimated_cost,
        read_answers,
        sample_to_check,
    )
    from collector.ledger.database import Ledger
    from collector.redaction import strike_out_named_in
    from collector.targets import load_target

    strike_out_named_in(targets)
    target = load_target(targets, target_name)
    run_id = None if run is None else run_in_ledger(ledger, run)
    kept = Ledger(ledger)
    unread = answers_to_read(kept, target.model, run_id)
    before = agreements(kept, target.model, run_id)
    runs = {one.run_id for one in unread} | {one.run_id for one in before if not one.is_measured}
    known = [one for one in answers_to_read(kept, target.model, run_id, status="ok") if one.run_id in runs]
    checked = sample_to_check(known, n_checked, {one.run_id: one.n_checked for one in before})
    if not unread and not checked:
        say("No answer is left to read: rules or this model read every label and score.")
        _say_agreements(before)
        return
    meter = meter_for(target, load_prices(settings_file("model_prices.csv")), max_cost_usd)
    expected = estimated_cost([*unread, *checked], meter)
    cost = "cost unknown" if expected is None else f"about {usd(expected)} USD"
    say(f"{target.name} reads {len(unread):,} unread answers and {len(checked):,} to check, {cost}.")
    if dry_run:
        return
    with progress(len(unread) + len(checked), f"read with {target.name}", None) as advance:
        done = read_answers(kept, target, unread, checked, meter, lambda n: advance(n, 0))
    say(f"  decisions found: {done.n_read:,} of {done.n_unread:,} unread answers")
    if done.n_failed:
        say(f"  no reply: {done.n_failed:,}; run the command again to ask for these.")
    if done.cost_usd is not None:
        say(f"  cost: {usd(done.cost_usd)} USD")
    if done.is_cut_off:
        say(
            "The cost limit is reached. The answers read so far are kept; run the command again to go on.",
            err=True,
        )
    _say_agreements([one for one in agreements(kept, target.model, run_id) if one.run_id in runs])
    next_step("biasledger build")


def _say_agreements(by_run: Sequence[Agreement]) -> None:
    for one in by_run:
        say(f"{f'Run {one.run_id}: ' if len(by_run) > 1 else ''}{one.sentence()}")


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


TITLE = "Read, score, label and tune"
COMMANDS = (read, score, label, tune)
