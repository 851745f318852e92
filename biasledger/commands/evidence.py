"""Whether what was kept still stands, and taking a text out of it for good."""

from __future__ import annotations

from pathlib import Path

import click

from biasledger.commands.common import EXIT_BROKEN, ledger_option, next_step


@click.command()
@click.argument("run_ids", nargs=-1, metavar="[RUN]...")
@ledger_option
@click.option(
    "--seal",
    metavar="COUNT:HASH",
    help="A seal that was kept elsewhere, as `collect` and `import` print it; a run must begin with these records.",
)
@click.pass_context
def verify(ctx: click.Context, run_ids: tuple[str, ...], ledger: Path, seal: str | None) -> None:
    """Check that runs are as they were kept.

    Recomputes the hash chain of each RUN, or of all, from what the ledger holds now, and compares it with the run's journal. Ends
    with 3 if anything was changed, put in, taken out or moved, and names the first record that shows it.
    """
    from biasledger.verify import verify_ledger
    from collector.chain import Seal

    verdicts = verify_ledger(ledger, run_ids, None if seal is None else Seal.parse(seal))
    for verdict in verdicts:
        stands = "" if verdict.seal is None or verdict.state != "intact" else f", seal {verdict.seal}"
        click.echo(f"{verdict.name}: {verdict.state}{stands}")
        if verdict.fault is not None:
            more = f" ({verdict.n_faults - 1:,} more)" if verdict.n_faults > 1 else ""
            click.echo(f"  {verdict.fault}{more}")
        for note in verdict.notes:
            click.echo(f"  {note}")
    if not verdicts:
        click.echo(f"There is no run in {ledger}.")
    if any(verdict.state == "broken" for verdict in verdicts):
        ctx.exit(EXIT_BROKEN)


@click.command()
@click.argument("run_id", metavar="RUN")
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

    For a response that holds personal data: its texts go from ledger and journal, a record that says so and why stays, and
    `biasledger verify` still holds. This cannot be undone.
    """
    from collector import erasure

    if not yes:
        for found in erasure.find_erasable(ledger, run_id, prompt_id, trial, attempt):
            before = ", erased before" if found.is_erased else ""
            click.echo(f"Response {found}, {found.status}, {found.n_characters:,} characters in all{before}")
        click.confirm(f"Erase the texts from run {run_id} for good?", abort=True)
    done = erasure.erase(ledger, run_id, prompt_id, trial, attempt, reason=reason)
    for one in done.responses:
        click.echo(f"Erased {', '.join(one.texts)} of response {one} in run {run_id}.")
    if not done.responses:
        click.echo(f"That was erased before; {ledger} was written anew once more.")
    if done.seal is not None:
        click.echo(f"  seal {done.seal}")
    if not done.has_journal:
        click.echo("  no journal of this run is beside the ledger; a copy kept elsewhere still has the text")
    click.echo(
        "Tables built before still hold its words: the next build makes all of them anew. Copies, backups and what "
        "`biasledger publish` wrote still hold them, too."
    )
    next_step("biasledger build")


TITLE = "Evidence"
COMMANDS = (verify, erase)
