"""Asking a target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasledger import __version__
from biasledger.commands.common import (
    PATH,
    interrupted_by_signals,
    ledger_option,
    max_cost_option,
    next_step,
    outside_option,
    print_run,
    print_warnings,
    project_prices,
    targets_option,
    warehouse_option,
)
from biasledger.commands.completing import complete_runs
from collector.errors import BiasledgerError, InputError, RateLimitTimeoutError
from collector.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collector.asking.runner import CollectOptions
    from collector.ledger.summary import RunSummary
    from collector.spec.audit import Audit
    from collector.targets.base import Target


@click.command()
@click.argument("audit_file", type=PATH, metavar="AUDIT.yml", required=False)
@click.option(
    "--target",
    "target_names",
    metavar="NAME[,NAME...]",
    help="Whom to ask: a name in the targets file or python:module:function; several are asked one after the other, in runs of "
    "their own.",
)
@targets_option
@ledger_option
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask each prompt N times instead of the audit's number; a template's own number stays.",
)
@click.option(
    "--subjects",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask about N subjects of each domain only, for a screening; always the same ones.",
)
@click.option(
    "--domain", "domains", multiple=True, metavar="NAME", help="Ask about this domain only; may be repeated."
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME",
    help="Ask about this attribute only, and the neutral questions; may be repeated.",
)
@click.option(
    "--with",
    "parts",
    multiple=True,
    metavar="PART",
    help="Also ask this optional part of the audit, such as robustness; may be repeated.",
)
@click.option(
    "--mitigation",
    "mitigations",
    multiple=True,
    metavar="NAME",
    help="Also ask this mitigation; may be repeated.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Fixes the order of the questions and is sent along by targets that take a seed; kept with the run.",
)
@click.option(
    "--resume",
    "resumed",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Continue this run: its id, the beginning of its id, or latest for the run that began last. Its journal holds the "
    "questions, so leave out AUDIT.yml and the choices above.",
)
@click.option(
    "--retry-failed", is_flag=True, help="With --resume: also ask again where the last try brought no answer."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only print how many questions there would be, with estimated tokens, cost and time and how small a difference could be "
    "found, without asking or writing anything.",
)
@click.option(
    "--show",
    "n_shown",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --dry-run: also print N prompts about each group, as they will be sent.",
)
@max_cost_option("Stop before another question might make the run cost more; go on with --resume.")
@click.option(
    "--batch",
    is_flag=True,
    help="Ask through the target's batch interface (OpenAI, Anthropic): cheaper, and done within a day. --resume continues "
    "an interrupted wait.",
)
@outside_option
@click.option(
    "--give-up-after",
    "give_up_minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="MINUTES",
    help="End with exit code 5 where the target has refused everything for so long, after the first pause that it asked for; "
    "--resume goes on.",
)
@click.option(
    "--max-unusable",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    metavar="N",
    help="Stop after so many questions if no reply to any of them could be used; 0 never stops for that.",
)
@click.pass_context
@interrupted_by_signals()
def collect(
    ctx: click.Context,
    audit_file: Path | None,
    target_names: str | None,
    targets: Path,
    ledger: Path,
    trials: int | None,
    subjects: int | None,
    domains: tuple[str, ...],
    attributes: tuple[str, ...],
    parts: tuple[str, ...],
    mitigations: tuple[str, ...],
    seed: int,
    resumed: str | None,
    retry_failed: bool,
    dry_run: bool,
    n_shown: int | None,
    max_cost_usd: float | None,
    batch: bool,
    allow_outside: bool,
    give_up_minutes: float,
    max_unusable: int,
) -> None:
    """Ask a target, keep every answer.

    The prompts are made from AUDIT.yml; the answers go into a journal next to the ledger, and from there into the ledger.
    If a run ends early, --resume continues it. Ctrl-C, SIGTERM and SIGHUP keep the answers so far.
    """
    from collector.asking.costs import meter_for
    from collector.asking.runner import CollectOptions
    from collector.asking.runner import collect as collect_answers
    from collector.spec.loading import load_audit
    from collector.targets import load_targets
    from collector.targets.batching import batch_interface
    from collector.targets.chat import require_temperature

    options = CollectOptions(
        versions={"biasledger": __version__}, give_up_seconds=60 * give_up_minutes, max_unusable=max_unusable
    )
    if resumed is not None:
        _refuse_with_resume(ctx)
        _resume(resumed, targets, ledger, options, retry_failed=retry_failed, max_cost_usd=max_cost_usd)
        return
    if audit_file is None or target_names is None:
        missing = "AUDIT.yml" if audit_file is None else "--target NAME"
        raise click.UsageError(f"{missing} is missing: say what to ask whom, or --resume RUN.")
    if retry_failed:
        raise click.UsageError("--retry-failed goes with --resume RUN.")
    if n_shown is not None and not dry_run:
        raise click.UsageError("--show goes with --dry-run.")
    audit = load_audit(audit_file, allow_outside=allow_outside)
    audit = audit.with_subjects(subjects, domains).with_attributes(attributes, parts)
    # All of them first: a name mistyped is better known before the first one has been asked for hours.
    asked = load_targets(targets, [name.strip() for name in target_names.split(",")])
    for target in asked:
        require_temperature(target, audit.temperature)
        if batch:
            batch_interface(target)  # raises where a target has none
    choices: dict[str, Any] = {"mitigations": mitigations, "parts": parts, "trials": trials, "batch": batch}
    if dry_run:
        _dry_run(audit, asked, n_shown=n_shown or 0, ledger=ledger, **choices)
        return
    prices = project_prices()
    meters = [meter_for(target, prices, max_cost_usd) for target in asked]
    failed: dict[str, BiasledgerError] = {}
    for target, meter in zip(asked, meters, strict=True):
        try:
            _print_collected(
                collect_answers(
                    audit,
                    target,
                    ledger,
                    replace(options, meter=meter),
                    seed=seed,
                    **choices,
                )
            )
        except BiasledgerError as error:
            # One target that is down is no reason not to ask the others.
            if len(asked) == 1:
                raise
            say(f"Error: {target.name}: {error}", err=True)
            failed[target.name] = error
    if failed:
        has_only_timed_out = all(isinstance(error, RateLimitTimeoutError) for error in failed.values())
        raise (RateLimitTimeoutError if has_only_timed_out else BiasledgerError)(
            f"{len(failed)} of {len(asked)} targets failed: {', '.join(failed)}. The answers so far are kept."
        )
    next_step("biasledger build")


@click.command()
@click.argument("audit_file", type=PATH, metavar="AUDIT.yml")
@click.option("--target", "target_name", metavar="NAME", help="Also say what it costs to ask this target.")
@targets_option
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Plan N answers to each prompt.")
@click.option("--subjects", type=click.IntRange(min=1), metavar="N", help="Plan N subjects of each domain.")
@click.option(
    "--with", "parts", multiple=True, metavar="PART", help="Also plan this optional part; may be repeated."
)
@warehouse_option
@outside_option
def plan(
    audit_file: Path,
    target_name: str | None,
    targets: Path,
    trials: int | None,
    subjects: int | None,
    parts: tuple[str, ...],
    warehouse: Path,
    allow_outside: bool,
) -> None:
    """Say what AUDIT.yml can show, before it is paid for.

    For each finding: the smallest difference that it finds in 80 % of audits, and how many units it takes until an unbiased
    target is clear in 80 % of audits. If the warehouse holds a run of this audit, such as a small one made for this purpose, its
    findings show how much answers vary; if not, only numbers of units are used. Asks and writes nothing.

    \b
      biasledger plan audits/resumes.yml
      biasledger plan audits/resumes.yml --subjects 200 --target my-model
    """
    from biasledger.commands.display import outlooks_table, steps_table
    from biasledger.planning.dry_run import design_warnings, dry_run
    from biasledger.planning.outlooks import (
        clear_note,
        outlooks_from_run,
        outlooks_from_sizes,
        sizes_of,
        steps,
        words_note,
    )
    from collector.spec.loading import load_audit
    from collector.spec.prompts import build_prompts
    from collector.targets import load_targets

    audit = load_audit(audit_file, allow_outside=allow_outside).with_subjects(subjects)
    if trials is not None:
        audit = audit.with_trials(trials)
    prompts = build_prompts(audit, (), parts) if audit.templates else []
    sizes = sizes_of(audit, prompts) if prompts else None
    run, outlooks = outlooks_from_run(warehouse, audit, sizes) if warehouse.is_file() else ("", [])
    if not outlooks and sizes is None:
        raise InputError(
            f"The audit {audit.audit!r} has no templates, and {warehouse} has no finding of it: import its answers and build "
            "first."
        )
    if not outlooks:
        run, outlooks = "", outlooks_from_sizes(audit, prompts)
    outlooks_table(outlooks, run)
    n_calls = sum(audit.trials_of(one.template) * one.n_turns for one in prompts)
    cost = None
    if target_name is not None:
        (target,) = load_targets(targets, [target_name])
        cost = dry_run(audit, target, project_prices(), parts=parts, trials=trials).total.cost_usd
    if sizes is not None:
        steps_table(steps(sizes, n_calls, outlooks), n_calls, cost)
    notes = (clear_note(outlooks), None if run or sizes is None else words_note(audit, sizes))
    for note in notes:
        if note is not None:
            say(note)
    print_warnings([*audit.warnings(), *design_warnings(audit)])


def _dry_run(audit: Audit, asked: Sequence[Target], *, trials: int | None, **choices: Any) -> None:
    """Print the time, the cost and the detectable effects of a collection, without asking."""
    from biasledger.commands.display import dry_run_table
    from biasledger.planning.dry_run import design_warnings, dry_run
    from biasledger.planning.outlooks import size_note
    from biasledger.planning.scopes import scope_warnings

    prices = project_prices()
    for target in asked:
        dry_run_table(dry_run(audit, target, prices, trials=trials, **choices))
    asked_so_often = audit if trials is None else audit.with_trials(trials)
    if (note := size_note(asked_so_often)) is not None:
        say(note)
    print_warnings(
        [*asked_so_often.warnings(), *design_warnings(asked_so_often), *scope_warnings(asked_so_often)]
    )


def _refuse_with_resume(ctx: click.Context) -> None:
    """Refuse options that a resumed run has fixed already."""
    for parameter in ctx.command.params:
        is_given = ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_given and parameter.name not in {
            "resumed",
            "retry_failed",
            "targets",
            "ledger",
            "max_cost_usd",
            "give_up_minutes",
            "max_unusable",
        }:
            raise click.UsageError(
                f"--resume takes the questions from the run's journal; leave {parameter.human_readable_name} out."
                if isinstance(parameter, click.Argument)
                else f"--resume takes the questions from the run's journal; leave {parameter.opts[0]} out."
            )


def _resume(
    run_id: str,
    targets: Path,
    ledger: Path,
    options: CollectOptions,
    *,
    retry_failed: bool,
    max_cost_usd: float | None,
) -> None:
    from biasledger.comparing.ledger_runs import run_in_journals
    from collector.asking.costs import meter_for
    from collector.asking.runner import resume
    from collector.journal.reader import journal_path
    from collector.ledger.loading import read_head
    from collector.targets import load_target

    run_id = run_in_journals(ledger, run_id)
    head = read_head(journal_path(ledger, run_id))
    try:
        target = load_target(targets, head.run.target)
    except InputError as error:
        if head.run.target_kind != "python":
            raise
        raise InputError(
            f"{error} Run {run_id} asked a Python function, {head.run.parameters.get('function')}: start a new run in Python, "
            "or name the function's module in the targets file (kind: python)."
        ) from error
    meter = meter_for(target, project_prices(), max_cost_usd)
    _print_collected(resume(run_id, target, ledger, replace(options, meter=meter), retry_failed=retry_failed))
    next_step("biasledger build")


def _print_collected(summary: RunSummary) -> None:
    """Print what was collected; raise where nothing can be built from it, or not all was asked."""
    print_run(summary)
    print_warnings(summary.warnings)
    if summary.stopped is not None:
        raise BiasledgerError(summary.stopped)
    summary.require_answers()


TITLE = "Ask"
COMMANDS = (plan, collect)
