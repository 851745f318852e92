"""Scores by a classifier or a judge, and decisions read by a second reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import (
    ledger_option,
    max_cost_option,
    next_step,
    project_prices,
    run_option,
    targets_option,
)
from biasledger.commands.labelling import label, tune
from biasledger.numbers import percent
from collector.errors import BiasledgerError
from collector.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

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
@run_option
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
@targets_option
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
@max_cost_option("Stop before another question to the judge might cost more; run the command again to go on.")
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
    run_id = _run_id(ledger, run)
    if judge_target is not None and rubric is not None:
        _grade(
            ledger,
            judge_target,
            rubric,
            scorer=scorer,
            run_id=run_id,
            limit=limit,
            targets=targets,
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


def _grade(
    path: Path,
    target_name: str,
    rubric_name: str,
    *,
    scorer: str | None,
    run_id: str | None,
    limit: int | None,
    targets: Path,
    seed: int,
    swap_texts: int,
    despite_swaps: bool,
    max_cost_usd: float | None,
    max_requests: int | None,
    dry_run: bool,
) -> None:
    """Have a target grade answers by a rubric, unless it grades a group worse by its words alone."""
    from biasledger.scoring.judging import Judge, judge_name
    from biasledger.scoring.rubrics import load_rubric
    from biasledger.scoring.scores import answers_left
    from collector.asking.costs import meter_for, usd
    from collector.asking.progress import progress
    from collector.asking.single_questions import SingleQuestions
    from collector.ledger.database import Ledger
    from collector.targets import load_target

    name, rubric = load_rubric(rubric_name)
    target = load_target(targets, target_name)
    scorer = scorer or judge_name(target, name)
    answers = answers_left(path, scorer, run=run_id)
    if not answers:
        say(f"Nothing is left to grade: every text answer has a grade by {scorer!r}.")
        return
    meter = meter_for(target, project_prices(), max_cost_usd)
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
@click.option(
    "--with",
    "target_name",
    required=True,
    metavar="TARGET",
    help="The model that reads: a name in the targets file or python:module:function.",
)
@targets_option
@ledger_option
@run_option
@click.option(
    "--check",
    "n_checked",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    metavar="N",
    help="Also give it N answers of each run that rules read, and count how many it reads alike.",
)
@max_cost_option("Stop before another question might cost more; run the command again to go on.")
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
    from collector.asking.costs import meter_for, usd
    from collector.asking.progress import progress
    from collector.asking.second_reader import (
        agreements,
        answers_to_read,
        estimated_cost,
        read_answers,
        sample_to_check,
    )
    from collector.ledger.database import Ledger
    from collector.targets import load_target

    target = load_target(targets, target_name)
    run_id = _run_id(ledger, run)
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
    meter = meter_for(target, project_prices(), max_cost_usd)
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


def _run_id(ledger: Path, run: str | None) -> str | None:
    from biasledger.comparing.ledger_runs import run_in_ledger

    return None if run is None else run_in_ledger(ledger, run)


TITLE = "Read, score, label and tune"
# The commands of labelling.py are printed under the same heading.
COMMANDS = (read, score, label, tune)
