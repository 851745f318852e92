"""Judging for a pipeline, comparing runs, pinning baselines."""

from __future__ import annotations

from pathlib import Path

import click

from biasledger.checking.formats import ENDINGS, FORMATS, written
from biasledger.commands.common import (
    EXIT_ALARMS,
    EXIT_UNDECIDED,
    PATH,
    ledger_option,
    next_step,
    run_option,
    warehouse_option,
)
from biasledger.commands.completing import complete_runs
from collector.files.replacing import write_whole
from collector.terminal import print_data, say


@click.command()
@warehouse_option
@ledger_option
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help=f"{'; '.join(f'{name}: {one.meant}' for name, one in FORMATS.items())}.",
)
@click.option("--output", type=PATH, metavar="FILE", help="Write it there instead.")
@click.option(
    "--write",
    "files",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help=f"Write it there, too, in the format of its ending: {', '.join(ENDINGS)}; may be repeated.",
)
@run_option
@click.option(
    "--require",
    type=click.Choice(["decided"]),
    help="decided: findings that can fail do not pass if they are inconclusive or lack data: ends with 4. Warnings may.",
)
@click.option(
    "--scope",
    type=click.Choice(["any", "group"]),
    default="any",
    show_default=True,
    help="group: findings that are clear only for these names or this wording do not pass, but could not be judged.",
)
@click.option(
    "--all",
    "show_all",
    is_flag=True,
    help="Also print warnings, more than ten failures an audit, and counts by measure.",
)
@click.pass_context
def check(
    ctx: click.Context,
    warehouse: Path,
    ledger: Path,
    form: str,
    output: Path | None,
    files: tuple[Path, ...],
    run: str | None,
    require: str | None,
    scope: str,
    show_all: bool,
) -> None:
    """Say whether the current runs pass, and why not.

    Every finding is a case: it passes, fails with its reasons, or could not be judged. Ends with 0 if none fails, with 1 if
    one does (an alarm, or worse than the baseline), with 4 if nothing could be judged of an audit and target, a group that an
    audit declares got no usable answer, or --scope or --require hold one out, with 3 if the tables cannot be read.
    """
    from biasledger.checking.cases import read_check

    unknown = [path for path in files if path.suffix not in ENDINGS]
    if unknown:
        raise click.UsageError(f"--write {unknown[0]}: its ending should be one of {', '.join(ENDINGS)}.")
    result = read_check(
        warehouse, run=run, holds_out_for_group=scope == "group", is_strict=require is not None, ledger=ledger
    )
    places = {path: ENDINGS[path.suffix] for path in files} | ({output: form} if output else {})
    for path, its in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, written(result, its).encode())
    if output is None:
        print_data(written(result, form, shows_all=show_all))
    else:
        say(f"{result.result} {result.headline} Written to {output}.")
    if not result.passes:
        ctx.exit(EXIT_UNDECIDED if result.passes is None else EXIT_ALARMS)


@click.command()
@click.argument("before", metavar="RUN", shell_complete=complete_runs)
@click.argument("after", metavar="[RUN]", shell_complete=complete_runs, required=False)
@click.option("--audit", metavar="NAME", help="Only this audit, if `latest` and the like may mean several.")
@click.option("--target", metavar="NAME", help="Only this target, if they may mean several.")
@click.option(
    "--mitigation", metavar="NAME", help="Compare a run with itself under this mitigation; all if `all`."
)
@warehouse_option
@ledger_option
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output."
)
@click.option("--all", "show_all", is_flag=True, help="Also what is unchanged or inconclusive, every row.")
def compare(
    before: str,
    after: str | None,
    audit: str | None,
    target: str | None,
    mitigation: str | None,
    warehouse: Path,
    ledger: Path,
    form: str,
    show_all: bool,
) -> None:
    """Say what changed between two runs.

    The first RUN is the one before. Each is an id, the beginning of one, latest, previous or baseline. For every measure:
    what it read and reads, how much worse or better that is with its interval and p, and what became of the answers'
    quality. Two runs that the last build did not compare are compared now, which takes the ledger.
    """
    from biasledger.comparing.changes import compare_mitigations, compare_runs
    from biasledger.comparing.formats import as_json, as_text

    if (after is None) == (mitigation is None):
        raise click.UsageError("Give two runs, or one run and --mitigation NAME.")
    if mitigation is not None:
        changes = compare_mitigations(
            warehouse, before, None if mitigation == "all" else mitigation, audit=audit, target=target
        )
    else:
        changes = compare_runs(Path(), ledger, warehouse, before, after or "", audit=audit, target=target)
    for change in changes if form == "text" else ():
        say(as_text(change, show_all=show_all), end="")
    if form == "json":
        print_data(as_json(changes) + "\n")


@click.group()
def baseline() -> None:
    """Pin the run that later ones are compared with.

    A measure that got worse than the baseline, by more than seeds/tolerances.csv allows and beyond chance, is an alarm.
    """


@baseline.command("set")
@click.argument("run", metavar="RUN", shell_complete=complete_runs)
@click.option("--audit", metavar="NAME", help="The run of this audit, where there are several.")
@click.option("--target", metavar="NAME", help="The run of this target, where there are several.")
@ledger_option
def set_(run: str, audit: str | None, target: str | None, ledger: Path) -> None:
    """Pin RUN as the baseline of its audit and target.

    RUN is its id, the beginning of it, latest or previous.
    """
    from biasledger.comparing.baselines import set_baseline

    pinned = set_baseline(ledger, run, audit=audit, target=target)
    say(f"Baseline of {pinned.audit} and {pinned.target}: {pinned.run_id}.")
    next_step("biasledger build")


@baseline.command()
@ledger_option
def show(ledger: Path) -> None:
    """List the baselines."""
    from biasledger.comparing.baselines import list_baselines

    pinned = list_baselines(ledger)
    for one in pinned:
        brought = f", imported ({one.file_hash[:19]}…)" if one.file_hash else ""
        say(f"{one.audit} of {one.target}: {one.run_id}, set {one.set_at:%Y-%m-%d %H:%M} UTC{brought}")
    if not pinned:
        say("No baseline is pinned: `biasledger baseline set RUN` pins one.")


@baseline.command()
@click.option("--audit", metavar="NAME", help="Only this audit.")
@click.option("--target", metavar="NAME", help="Only this target.")
@ledger_option
def clear(audit: str | None, target: str | None, ledger: Path) -> None:
    """Take baselines away, all of them or those of an audit or target."""
    from biasledger.comparing.baselines import clear_baselines

    cleared = clear_baselines(ledger, audit=audit, target=target)
    for one in cleared:
        say(f"{one.audit} of {one.target} has no baseline any more; it was {one.run_id}.")
    if not cleared:
        say("There was no baseline to clear.")


@baseline.command()
@click.argument("file", type=PATH)
@click.option("--audit", metavar="NAME", help="The baseline of this audit, where there are several.")
@click.option("--target", metavar="NAME", help="The baseline of this target, where there are several.")
@ledger_option
@warehouse_option
def export(file: Path, audit: str | None, target: str | None, ledger: Path, warehouse: Path) -> None:
    """Write a baseline into FILE, for a machine that has not its answers.

    FILE holds the findings and what measures need of each answer, such as how often it uses each word; words are numbers, and no
    text of an answer is in it.
    """
    from biasledger.comparing.baselines import export_baseline

    pinned, n_rows = export_baseline(ledger, Path(), warehouse, file, audit=audit, target=target)
    say(
        f"Wrote the baseline of {pinned.audit} and {pinned.target}, {pinned.run_id}, to {file}: {n_rows:,} rows."
    )
    next_step(f"biasledger baseline import {file.name}, where it is needed")


@baseline.command("import")
@click.argument("file", type=PATH)
@ledger_option
def import_(file: Path, ledger: Path) -> None:
    """Pin what FILE brings as the baseline of its audit and target."""
    from biasledger.comparing.baselines import import_baseline

    pinned = import_baseline(ledger, file)
    say(f"Baseline of {pinned.audit} and {pinned.target}: {pinned.run_id}, from {file}.")
    next_step("biasledger build")


TITLE = "Compare and judge"
COMMANDS = (check, compare, baseline)
