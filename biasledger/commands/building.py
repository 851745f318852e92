"""Building the tables and printing the findings."""

from __future__ import annotations

from pathlib import Path

import click

from biasledger.commands.common import EXIT_ALARMS, ROWS_SHOWN, ledger_option, next_step, warehouse_option


@click.command()
@ledger_option
@warehouse_option
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many models to build at once.")
@click.option("--full-refresh", is_flag=True, help="Build everything anew, not only what is new.")
@click.option(
    "--select",
    multiple=True,
    metavar="SELECTOR",
    help="Build only these models (dbt's selectors); may be repeated.",
)
@click.pass_context
def build(
    ctx: click.Context,
    ledger: Path,
    warehouse: Path,
    threads: int | None,
    full_refresh: bool,
    select: tuple[str, ...],
) -> None:
    """Build the tables, publish them, print the findings.

    The tables are published with alarms or without, all at once; whoever has the old ones open keeps them. Ends with 1 if there
    are alarms; with 3 if a model or a quality test failed, and the old tables stay.
    """
    import time

    from biasledger.build import build_warehouse
    from biasledger.display import build_progress, findings_table, status_counts
    from biasledger.findings import read_findings

    click.echo(f"Building {warehouse} from {ledger} …")
    started = time.monotonic()
    with build_progress() as on_step:
        summary = build_warehouse(
            Path(),
            ledger,
            warehouse,
            threads=threads,
            full_refresh=full_refresh,
            select=select,
            on_step=on_step,
            on_note=click.echo,
        )
    click.echo(
        f"{summary.n_models} models and settings built, {summary.n_quality_tests} quality tests passed "
        f"in {time.monotonic() - started:.0f} s."
    )
    if select:
        click.echo(f"Only a selection was built: it is in {summary.work}; {warehouse} is as it was.")
    else:
        click.echo(f"{len(summary.published)} tables published in {warehouse}.")
        findings = read_findings(warehouse, only_current=True)
        click.echo()
        findings_table(findings, limit=ROWS_SHOWN)
        click.echo(status_counts(findings))
        next_step(
            "biasledger findings --status alarm --why" if summary.has_alarms else "biasledger findings --all"
        )
    if summary.has_alarms:
        ctx.exit(EXIT_ALARMS)


TITLE = "Build"
COMMANDS = (build,)
