"""Commands for evidence: packs for others, verification, and erasure of texts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger.commands.common import (
    EXIT_BROKEN,
    EXIT_UNDECIDED,
    PATH,
    ledger_option,
    next_step,
    warehouse_option,
)
from biasledger.commands.completing import complete_runs
from collector.terminal import say, visible

if TYPE_CHECKING:
    from biasledger.verify import Verdict


@click.command("evidence")
@click.argument("run", metavar="RUN", shell_complete=complete_runs)
@ledger_option
@warehouse_option
@click.option("--output", type=PATH, metavar="FILE|DIR", help="The zip; evidence-RUN.zip if not given.")
@click.option(
    "--sign",
    "key",
    metavar="KEY",
    help="Sign the zip with an ssh key's file, or with gpg:NAME; the signature is written next to it.",
)
def pack(run: str, ledger: Path, warehouse: Path, output: Path | None, key: str | None) -> None:
    """Pack one run for somebody who must check it.

    RUN is its id, the beginning of it, latest or previous. Writes a zip with what was asked, findings, settings as judged,
    hashes and seal, the report and a summary in plain words. The same run gives the same bytes. It holds no prompts or answers:
    `biasledger verify --pack` checks it against the ledger.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from biasledger.packing.making import make_pack
    from biasledger.packing.signing import sign

    made = make_pack(run_in_ledger(ledger, run), ledger, warehouse, output)
    say(f"{made.path}: {made.n_files} files about the run {made.run_id}")
    if made.seal is not None:
        say(f"  seal {made.seal}")
    say(f"  {made.sha256}")
    for note in made.notes:
        say(f"  {note}")
    if key is not None:
        say(f"  signed: {sign(made.path, key)}")
    next_step(f"biasledger verify --pack {shlex.quote(str(made.path))} --rebuild")


@click.command()
@click.argument("run_ids", nargs=-1, metavar="[RUN]...", shell_complete=complete_runs)
@ledger_option
@click.option(
    "--seal",
    metavar="COUNT:HASH",
    help="A seal that was kept elsewhere, as `collect` and `import` print it; a run must begin with these records.",
)
@click.option(
    "--pack", type=PATH, metavar="FILE.zip", help="Check an evidence pack, and the run that it is about."
)
@click.option(
    "--signers",
    type=PATH,
    metavar="FILE",
    help="With --pack: who may have signed it, in ssh-keygen's form of allowed signers; without a signature it is broken.",
)
@click.option(
    "--export", type=PATH, metavar="DIR", help="Check an exported ledger, and not the ledger itself."
)
@click.option(
    "--rebuild", is_flag=True, help="With --pack: also recompute its findings, tables, summary and report."
)
@click.option(
    "--without-journals",
    is_flag=True,
    help="Check the ledger alone, where you did not get the journals, and say so. A pack never needs them.",
)
@click.pass_context
def verify(
    ctx: click.Context,
    run_ids: tuple[str, ...],
    ledger: Path,
    seal: str | None,
    pack: Path | None,
    signers: Path | None,
    export: Path | None,
    rebuild: bool,
    without_journals: bool,
) -> None:
    """Check that runs are as they were stored.

    Recomputes the hash chain of each RUN (its id, the beginning of it, latest or previous), or of all, from what the ledger
    holds now, and compares it with the run's journal. Ends with 3 if anything was changed, put in, taken out or moved, and
    names the first record that shows it; a collected run without its journal counts as that. With --rebuild it ends with 4
    where a part of the pack could not be checked. With --export it does the same of files that `biasledger export` wrote.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from biasledger.verify import verify_ledger
    from biasledger.verify_export import verify_export
    from collector.journal.chain import Seal

    if pack is not None:
        if run_ids or seal is not None:
            raise click.UsageError("--pack says which run and seal to check; leave RUN and --seal out.")
        if export is not None:
            raise click.UsageError("--pack and --export are checked one at a time.")
        verdicts = _verify_pack(pack, ledger, rebuild=rebuild, signers=signers)
    elif signers is not None:
        raise click.UsageError("--signers goes with --pack FILE.zip.")
    elif rebuild:
        raise click.UsageError("--rebuild goes with --pack FILE.zip.")
    else:
        kept = None if seal is None else Seal.parse(seal)
        if export is not None:
            verdicts = verify_export(export, run_ids, kept)
        else:
            chosen = [run_in_ledger(ledger, name) for name in run_ids]
            verdicts = verify_ledger(ledger, chosen, kept, needs_journals=not without_journals)
        for verdict in verdicts:
            _print_verdict(verdict)
        if not verdicts:
            say(f"There is no run in {ledger}.")
    if any(verdict.state == "broken" for verdict in verdicts):
        ctx.exit(EXIT_BROKEN)
    if any(verdict.state == "unchecked" for verdict in verdicts):
        ctx.exit(EXIT_UNDECIDED)


def _verify_pack(path: Path, ledger: Path, *, rebuild: bool, signers: Path | None) -> list[Verdict]:
    """Check a pack and print each result at once, because computing its figures may fail later."""
    from biasledger.packing.checking import check_figures, check_pack, require_engine
    from biasledger.packing.signing import verify_signature

    pack, verdicts = check_pack(path, ledger)
    verdicts = [*verify_signature(path, signers), *verdicts]
    for verdict in verdicts:
        _print_verdict(verdict)
    if any(verdict.state == "broken" for verdict in verdicts):
        return verdicts
    if not rebuild:
        say("findings, tables, summary, report: not recomputed (--rebuild does)")
        return verdicts
    from biasledger.commands.display import build_progress

    require_engine(pack)
    say(f"Building the findings of {path.name} again …")
    with build_progress() as on_step:
        figures = check_figures(pack, ledger, on_step)
    for verdict in figures:
        _print_verdict(verdict)
    return [*verdicts, *figures]


def _print_verdict(verdict: Verdict) -> None:
    stands = "" if verdict.seal is None or verdict.state != "intact" else f", seal {verdict.seal}"
    say(f"{verdict.name}: {verdict.state}{stands}")
    if verdict.fault is not None:
        more = f" ({verdict.n_faults - 1:,} more)" if verdict.n_faults > 1 else ""
        say(f"  {verdict.fault}{more}")
    for note in verdict.notes:
        say(f"  {note}")


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@ledger_option
@click.option("--prompt", "prompt_id", required=True, metavar="ID", help="Its prompt_id in raw.responses.")
@click.option("--trial", required=True, type=click.IntRange(min=1), metavar="N", help="Which trial.")
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    metavar="N",
    help="Which attempt; all attempts of the trial if not given.",
)
@click.option(
    "--reason",
    required=True,
    metavar="TEXT",
    help="Why; kept for good in place of the text, so do not repeat it.",
)
@click.option("--yes", is_flag=True, help="Do not ask first.")
def erase(
    run_id: str, ledger: Path, prompt_id: str, trial: int, attempt: int | None, reason: str, yes: bool
) -> None:
    """Remove the text of a response for good.

    RUN is its id, the beginning of it, latest or previous. For a response that holds personal data: its texts go from ledger
    and journal, a record that says so and why stays, and `biasledger verify` still holds. This cannot be undone.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from collector.ledger import erasure

    run_id = run_in_ledger(ledger, run_id)
    if not yes:
        for found in erasure.find_erasable(ledger, run_id, prompt_id, trial, attempt):
            before = ", erased before" if found.is_erased else ""
            say(f"Response {found}, {found.status}, {found.n_characters:,} characters in all{before}")
        click.confirm(visible(f"Erase the texts from run {run_id} for good?"), abort=True)
    _remove_left_scratch()
    done = erasure.erase(ledger, run_id, prompt_id, trial, attempt, reason=reason)
    for one in done.responses:
        say(f"Erased {', '.join(one.texts)} of response {one} in run {run_id}.")
    if not done.responses:
        say(f"That was erased before; {ledger} was rewritten again.")
    if done.seal is not None:
        say(f"  seal {done.seal}")
    if not done.has_journal:
        say("  no journal of this run is next to the ledger; a copy kept elsewhere still has the text")
    say(
        "Tables of earlier builds still hold its words: the next build rebuilds all of them. Copies, backups and what "
        "`biasledger publish` wrote still hold them, too."
    )
    next_step("biasledger build")


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@ledger_option
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept for good.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
def retract(run_id: str, ledger: Path, reason: str, yes: bool) -> None:
    """Take a run back, such as an import by a wrong spec.

    RUN is its id, the beginning of it, latest or previous. It stays in the ledger as evidence, a record that says so and why is
    added to its chain, and `biasledger verify` still holds. The next build leaves it out of every table, and its file may be
    imported again. This cannot be undone.
    """
    from biasledger.comparing.ledger_runs import run_in_ledger
    from collector.ledger import retraction

    run_id = run_in_ledger(ledger, run_id)
    if not yes:
        found = retraction.find_run_to_retract(ledger, run_id)
        before = ", retracted before" if found.is_retracted else ""
        say(
            f"Run {run_id}, {found.audit}, target {found.target}, {found.origin}, {found.n_responses:,} responses{before}"
        )
        click.confirm("Retract this run for good?", abort=True)
    _remove_left_scratch()
    done = retraction.retract(ledger, run_id, reason=reason)
    if done.was_retracted:
        say(f"Run {run_id} was retracted before; nothing was changed.")
    else:
        say(
            f"Retracted run {run_id}; its answers stay in {ledger} as evidence (`biasledger erase` removes texts)."
        )
    if done.seal is not None:
        say(f"  seal {done.seal}")
    if done.was_baseline:
        say(f"  it was the baseline of {done.run.audit} of {done.run.target}, which has none now")
    if done.has_restored_analysis:
        say(
            f"  its analysis settings for {done.run.audit} are withdrawn, and the earlier ones apply again; those of an audit "
            f"file in the project apply from the next build on"
        )
    say(
        "Tables of earlier builds still hold it: the next build rebuilds all of them. Published copies hold it, too."
    )
    next_step("biasledger build")


def _remove_left_scratch() -> None:
    from collector.files.scratch import remove_left_scratch

    if n := remove_left_scratch():
        folders = "1 temporary folder" if n == 1 else f"{n:,} temporary folders"
        say(f"Removed {folders} that killed commands left.")


TITLE = "Evidence"
COMMANDS = (pack, verify, erase, retract)
