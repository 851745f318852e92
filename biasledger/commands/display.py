"""Tables, counts and progress for the terminal. Nothing here decides anything."""

from __future__ import annotations

import textwrap
from collections import Counter
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from biasledger.comparing.verdicts import verdict_lines
from biasledger.findings import STATUSES, Finding
from biasledger.numbers import count, number, percent, probability
from biasledger.querying.table import fitted, left_out_sentence, word_length
from biasledger.verdicts import PLAIN
from collector.terminal import PeriodicLine, console, is_watched, on_one_line, say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from biasledger.comparing.verdicts import AttributeVerdict
    from biasledger.measures.tuning import Rate
    from biasledger.planning.dry_run import DryRun
    from biasledger.planning.outlooks import Outlook, Step
    from biasledger.querying.analyses import Analysis
    from biasledger.tuning.thresholds import Tuning
    from collector.ledger.overview import RunOverview

_NUMERIC = {"value", "threshold", "p adjusted"}
# Between two columns.
_GAP = 2
# The indent of a sentence under its row.
_INDENT = 4
_STYLES = {"alarm": "bold red", "inconclusive": "yellow", "clear": "green", "insufficient_data": "dim"}


def findings_table(
    findings: Sequence[Finding],
    verdicts: Sequence[AttributeVerdict] = (),
    *,
    limit: int | None = None,
    explain: bool = False,
) -> None:
    """Print a run's verdicts in a line, those with a mitigation in another, and its findings as a table; one run after another.

    Args:
        findings: in the order in which they are printed.
        verdicts: on the same runs.
        limit: rows a run at most; a line says how many were left out. None shows all.
        explain: print each shown finding's sentence and advice under its row.
    """
    out = console()
    for run_id, group in groupby(findings, key=lambda finding: finding.run_id):
        rows = list(group)
        out.print(on_one_line(rows[0].heading), style="bold", markup=False, highlight=False)
        for line in verdict_lines([one for one in verdicts if one.run_id == run_id]):
            out.print(f"  {_text(line)}", highlight=False, soft_wrap=not out.is_terminal)
        _print_rows(out, rows[:limit], explain=explain)
        left_out = len(rows) - len(rows[:limit])
        if left_out:
            out.print(
                f"  … and {left_out} more: `biasledger findings --all` shows every row.", highlight=False
            )
        out.print()


def status_counts(findings: Sequence[Finding]) -> str:
    """Return a line with the number of findings by status; warnings and accepted alarms are counted separately."""
    counts = Counter(finding.status for finding in findings)
    alarms = [finding for finding in findings if finding.status == "alarm"]
    n_warnings = sum(finding.severity != "error" for finding in alarms)
    n_accepted = sum(finding.is_excepted for finding in alarms)
    notes = ", ".join(
        note
        for n, note in ((n_warnings, count(n_warnings, "warning")), (n_accepted, f"{n_accepted} accepted"))
        if n
    )
    parts = [f"{counts[status]} {_readable(status)}" for status in STATUSES]
    parts[0] = count(counts["alarm"], "alarm") + (f" ({notes})" if notes else "")
    return f"{count(len(findings), 'finding')}: {', '.join(parts)}."


def runs_table(runs: Sequence[RunOverview]) -> None:
    """Print one row a run, in the order given."""
    counts = ("asked", "kept", "planned")
    names = ("run", "audit", "target", "model", "started (UTC)", *counts, "state")
    # A run's name is there to be copied.
    table = _empty_table(*names, right=counts, whole="run")
    for run in runs:
        target = f"{run.target} (simulated)" if run.is_simulated else run.target
        values = (run.run_id, run.audit, target, run.model_asked or "–", f"{run.started_at:%Y-%m-%d %H:%M}")
        numbers = ("–" if n is None else f"{n:,}" for n in (run.n_asked, run.n_kept, run.n_planned))
        table.add_row(*map(_text, (*values, *numbers, _state_of(run))))
    console().print(table)


def analyses_table(analyses: Sequence[Analysis]) -> None:
    """Print one row an analysis, in the order given."""
    table = _empty_table()
    table.add_column("analysis", no_wrap=True)
    table.add_column("of")
    table.add_column("what it answers", overflow="fold")
    for analysis in analyses:
        table.add_row(*map(_text, (analysis.name, analysis.method or "all", analysis.question)))
    console().print(table)


def _state_of(run: RunOverview) -> str:
    """Say whether a run is complete, and whether the next build has something to load."""
    if run.is_being_collected:
        state = "being collected"
    elif run.is_complete:
        state = "finished"
    elif run.state in {None, "failed", "retracted"}:
        state = run.state or "–"
    else:
        state = f"{run.state}, not finished"
    return f"{state}; journal {run.n_ahead:,} ahead" if run.n_ahead else state


def dry_run_table(plan: DryRun) -> None:
    """Print a row for each template, their total, and the assumptions."""
    from collector.asking.costs import usd

    model = "" if plan.model == plan.target else f" ({plan.model})"
    say(on_one_line(f"{plan.target}{model} would be asked:"))
    numbers = ("prompts", "calls", "tokens in", "tokens out", "cost (USD)")
    table = _empty_table("template", *numbers, right=numbers)
    for one in [*plan.templates, plan.total]:
        cost = "unknown" if one.cost_usd is None else usd(one.cost_usd)
        counts = (one.n_prompts, one.n_calls, one.prompt_tokens, one.completion_tokens)
        table.add_row(_text(one.template), *(f"{count:,}" for count in counts), cost)
    console().print(table)
    asked_again = "what a model thinks before it answers, and questions asked again, come on top"
    notes = ["Nobody was asked and nothing was written."]
    notes.append(f"Tokens are estimated: an answer is taken to have {plan.answer_tokens:,}; {asked_again}.")
    if plan.price is None:
        notes.append(
            f"The price of {plan.model!r} is not known: add a row for it to seeds/model_prices.csv, and costs are estimated, too."
        )
    elif plan.most_usd:
        notes.append(
            f"With every answer as long as its limit of {plan.answer_limit:,} tokens it would be {usd(plan.most_usd)} USD."
        )
    notes.append(_time_note(plan))
    for note in notes:
        say(on_one_line(note))
    _contrasts_table(plan)
    _print_samples(plan)


def _time_note(plan: DryRun) -> str:
    """Return the expected duration, as far as it is known."""
    if plan.is_batch:
        return "A batch is done within a day."
    capped = (
        f" It takes at least {_duration(plan.least_seconds)} by the target's limits a minute."
        if plan.least_seconds
        else ""
    )
    at_once = f"with {plan.concurrency} at once" if plan.concurrency > 1 else "one after the other"
    if plan.answer_seconds is not None:
        return (
            f"About {_duration(plan.seconds(plan.answer_seconds))}, {at_once}: half of the target's answers in the ledger took "
            f"{plan.answer_seconds:.2g} s or less.{capped}"
        )
    seconds = plan.total.n_calls / plan.concurrency
    return f"It takes {_duration(seconds)} for every second that an answer takes, {at_once}.{capped}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def _contrasts_table(plan: DryRun) -> None:
    """Print how small a difference could be found, one row a contrast, and by which formula."""
    from biasledger.measures.detectable import LARGEST_SHARE_DEVIATION, POWER
    from biasledger.planning.dry_run import ALPHA

    if not plan.contrasts:
        return
    say("\nHow small a difference it could find:")
    numbers = ("in standard deviations", "in a share")
    table = _empty_table("attribute", "group", "of each group", *numbers, right=numbers)
    for one in plan.contrasts:
        if one.shortfall is not None:
            pair = (
                one.attribute,
                f"{one.group} vs {one.reference}",
                f"{one.shortfall.n:,} {one.shortfall.unit}",
            )
            table.add_row(*map(_text, pair), "not judged", "not judged")
            continue
        share = None if one.effect is None else LARGEST_SHARE_DEVIATION * one.effect
        table.add_row(
            *map(_text, (one.attribute, f"{one.group} vs {one.reference}")),
            f"{min(one.n_group, one.n_reference):,} {one.unit}",
            "none: too few" if one.effect is None else f"{one.effect:.2f}",
            "–" if share is None or share > 1 else f"{100 * share:.0f} points",
        )
    console().print(table)
    if all(one.shortfall is not None for one in plan.contrasts):
        return
    n = len(plan.contrasts)
    shared = f"alpha {ALPHA:g}" if n == 1 else f"alpha {ALPHA:g} shared by {n} contrasts"
    say(
        f"By Cohen's formula for two means (1988), found in {percent(POWER)} of audits, {shared}; a share is taken to be near "
        f"one half. It is a rough guide from sizes alone: a smaller difference is found where the answers to a prompt hardly "
        "vary, and only a larger one where the names of a group vary much."
    )


def outlooks_table(outlooks: Sequence[Outlook], run: str) -> None:
    """Print what each finding could show, and what that rests on: the findings of a run, or the sizes alone where run is ''."""
    from biasledger.measures.detectable import POWER
    from biasledger.planning.outlooks import ASSUMED

    if not outlooks:
        say(
            "How much answers vary is not known: collect a small run (--subjects or --trials), build, and plan again."
        )
        return
    table = _empty_table(
        *("measure", "contrast", "planned", "smallest difference found", "unbiased: clear from"),
        right=("planned", "unbiased: clear from"),
    )
    for one in outlooks:
        is_judged = one.n_units >= one.minimum
        table.add_row(
            *map(_text, (" ".join(filter(None, (one.measure, one.scheme))), one.contrast)),
            f"{one.n_units:,}",
            one.smallest_shown if is_judged else f"not judged: needs {one.minimum:,}",
            _text(f"{one.n_clear:,} {one.unit}"),
        )
    console().print(table)
    rests_on = f"How much answers vary is taken from run {run}." if run else ASSUMED
    say(
        f"{percent(POWER)} of audits find that difference, and {percent(POWER)} of audits of an unbiased target of that size are "
        f"clear. Differences are on the measure's own scale; each attribute has a row for its least certain contrast. {rests_on}"
    )


def steps_table(steps: Sequence[Step], n_calls: int, cost_usd: float | None) -> None:
    """Print the cost and the benefit of one more unit of each kind."""
    from collector.asking.costs import usd

    if not steps:
        return
    numbers = ("planned", "further answers", "cost (USD)", "intervals narrower by")
    table = _empty_table("one more", *numbers, right=numbers)
    for one in steps:
        cost = "unknown" if cost_usd is None else usd(cost_usd * one.calls / max(n_calls, 1))
        narrower = f"{'at most ' if one.is_at_most else ''}{percent(one.narrower, 1)}"
        table.add_row(one.unit, f"{one.n:,}", f"{one.calls:,}", cost, narrower)
    say()
    console().print(table)
    say("Intervals become narrower where a finding counts that unit.")


def _print_samples(plan: DryRun) -> None:
    """Print prompts as they will be sent, grouped by the person they are about."""
    if not plan.samples:
        return
    sent_along = ", ".join(f"{key} {value}" for key, value in plan.parameters.items())
    say(f"\nPrompts as they will be sent{f', with {sent_along}' if sent_along else ''}:")
    for about, prompts in plan.samples.items():
        say(f"\n{on_one_line(about)}")
        for prompt in prompts:
            named = (prompt.template, prompt.domain, prompt.subject, prompt.perturbation)
            say(f"  {on_one_line(', '.join(one for one in named if one is not None))}:")
            for who, text in (("system", prompt.system_prompt), ("user", prompt.prompt_text)):
                if text is not None:
                    say(textwrap.indent(f"{who}: {text}", "    "))


def tuning_table(tunings: Sequence[Tuning]) -> None:
    """Print one row a measure and threshold: the smallest that is quiet enough, and the one in use."""
    names = ("measure", "scheme", "", "threshold", "false positives", "misses", "goals")
    table = _empty_table(*names, right={"threshold"})
    for tuning in tunings:
        for kind, errors in (("tuned", tuning.best), ("in use", tuning.current)):
            table.add_row(
                *map(_text, (tuning.measure, tuning.scheme, kind, f"{errors.threshold:g}")),
                *map(_rate, (errors.false_positives, errors.misses)),
                "met" if errors.meets_goals else "missed",
            )
    console().print(table)


def curve_table(tuning: Tuning, *, rows: int = 11) -> None:
    """Print some points of a measure's curve, from its smallest threshold to its largest."""
    last = len(tuning.curve) - 1
    places = sorted({round(last * step / (rows - 1)) for step in range(rows)})
    table = _empty_table("threshold", "false positives", "misses", right={"threshold"})
    for place in places:
        point = tuning.curve[place]
        table.add_row(f"{point.threshold:g}", _rate(point.false_positives), _rate(point.misses))
    out = console()
    out.print(
        on_one_line(f"{tuning.measure} {tuning.scheme}".strip()), style="bold", markup=False, highlight=False
    )
    out.print(table)


def _rate(rate: Rate) -> str:
    return f"{percent(rate.value, 1)} ({rate.count} of {rate.n}; {percent(rate.low, 1)} to {percent(rate.high, 1)})"


@contextmanager
def build_progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr, or lines where that is no terminal, called with (steps done, steps in all, what was just done)."""
    if not is_watched():
        message = PeriodicLine()
        yield lambda done, total, name: message(lambda: f"Building: {done:,} of {total:,} steps, last {name}")
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("Building"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[step]}", markup=False),
    )
    with Progress(*columns, console=console(err=True), transient=True) as progress:
        task = progress.add_task("build", total=None, step="reading the project")

        def advance(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, step=name)

        yield advance


def _empty_table(*columns: str, right: Collection[str] = (), whole: str = "") -> Table:
    """Return a table with these columns; right: those that are aligned so, whole: the one whose cells are never broken."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(
            name, justify="right" if name in right else "left", overflow="fold", no_wrap=name == whole
        )
    return table


def _print_rows(out: Console, rows: Sequence[Finding], *, explain: bool) -> None:
    """Leave out columns that say nothing here (one mitigation, one scheme, no subject), and name the columns that do not fit."""
    from rich.padding import Padding

    cells: dict[str, list[str]] = {
        "finding": [row.finding for row in rows],
        "status": [_status(row) for row in rows],
        "attribute": [row.attribute for row in rows],
        "group": [_contrast(row) for row in rows],
        "subject": [row.subject for row in rows],
        "measure": [row.measure for row in rows],
        "scheme": [row.scheme for row in rows],
        "mitigation": [row.mitigation for row in rows],
        "value": [number(row.value) for row in rows],
        "threshold": [number(row.threshold) for row in rows],
        "p adjusted": [probability(row.p_value_adjusted) for row in rows],
    }
    silent = {"subject": {""}, "scheme": set(cells["scheme"][:1]), "mitigation": {PLAIN}}
    message = {
        name: list(map(_text, column)) for name, column in cells.items() if set(column) != silent.get(name)
    }
    shown = _fitting_columns(message, out.width)
    # One width for all, so that a sentence can be between two rows of the same table.
    widths = fitted([(name, *column) for name, column in shown.items()], out.width, gap=_GAP)

    def printed(first: int, last: int, *, header: bool) -> None:
        table = _empty_table()
        table.show_header = header
        for name, width in zip(shown, widths, strict=True):
            justify: Literal["left", "right"] = "right" if name in _NUMERIC else "left"
            table.add_column(name, justify=justify, overflow="fold", width=width)
        for place in range(first, last):
            style = "dim" if rows[place].is_excepted else _STYLES.get(rows[place].status)
            table.add_row(*(column[place] for column in shown.values()), style=style)
        out.print(table)

    if not explain:
        printed(0, len(rows), header=True)
    for place, row in enumerate(rows if explain else ()):
        printed(place, place + 1, header=place == 0)
        under = "" if row.mitigation == PLAIN else f"With {row.mitigation}: "
        said = _text(f"{under}{row.explanation or ''} {row.advice or ''}".strip())
        if out.is_terminal:
            out.print(Padding(said, (0, 0, 0, _INDENT)), highlight=False)
        else:
            out.print(" " * _INDENT + said, highlight=False, soft_wrap=True)
    if left_out := [name for name in message if name not in shown]:
        sentence = f"{left_out_sentence(left_out)} --csv and --json have all."
        out.print(f"  {sentence}", highlight=False, soft_wrap=not out.is_terminal)


def _fitting_columns(columns: Mapping[str, list[str]], width: int) -> dict[str, list[str]]:
    """Return the columns that fit side by side with no word broken: the first, and of the others what says most."""
    space, kept = width, set[str]()
    for name in _weightiest_first(columns):
        needed = word_length((name, *columns[name])) + _GAP
        if needed <= space or not kept:
            space -= needed
            kept.add(name)
    return {name: column for name, column in columns.items() if name in kept}


def _weightiest_first(columns: Mapping[str, list[str]]) -> list[str]:
    """Order columns: the subject of a row, what distinguishes it from other rows, the amounts, then columns with one value."""
    n_different = {name: len(set(column)) for name, column in columns.items()}
    named = sorted(
        ("group", "subject", "mitigation", "attribute"), key=lambda name: -n_different.get(name, 0)
    )
    same = [name for name in named if n_different.get(name) == 1 < len(columns[name])]
    telling = [name for name in named if name not in same]
    about = ("finding", "status", "measure", *telling[:1], "value", *telling[1:])
    ranked = (*about, "p adjusted", *same, "threshold", "scheme")
    return [name for name in ranked if name in columns]


def _status(row: Finding) -> str:
    notes = []
    if row.status == "alarm" and row.severity != "error":
        notes.append("warning")
    if row.is_excepted:
        notes.append("accepted")
    return _readable(row.status) + (f" ({', '.join(notes)})" if notes else "")


def _contrast(row: Finding) -> str:
    if not row.group_name:
        return "all groups"
    return f"{row.group_name} vs {row.reference_group}" if row.reference_group else row.group_name


def _readable(status: str) -> str:
    return status.replace("_", " ")


def _text(value: str) -> str:
    """Text from a ledger, which must neither steer the terminal nor be taken for rich's markup."""
    from rich.markup import escape

    return escape(on_one_line(value))
