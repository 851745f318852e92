"""Reading what was built."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from biasledger.commands.common import PATH, ROWS_SHOWN, ledger_option, warehouse_option
from collector.terminal import say


@click.command()
@warehouse_option
@click.option("--run", metavar="RUN", help="Only this run (`biasledger runs` lists them).")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["alarm", "inconclusive", "clear", "insufficient_data"]),
    help="Only findings with this status; may be repeated.",
)
@click.option("--all", "show_all", is_flag=True, help="Older runs too, and every row.")
@click.option("--why", is_flag=True, help="Say each finding in a sentence, too, and what would settle it.")
def findings(warehouse: Path, run: str | None, statuses: tuple[str, ...], show_all: bool, why: bool) -> None:
    """Print the findings of the last build.

    After them, which groups got no usable answer, and which models are hidden by another of the same name.
    """
    from biasledger.commands.display import findings_table, status_counts
    from biasledger.comparing.built_tables import open_tables
    from biasledger.comparing.silence import silent_groups
    from biasledger.comparing.standing import hidden_models
    from biasledger.findings import read_findings
    from collector.errors import InputError

    rows = read_findings(warehouse, run=run, statuses=statuses, only_current=run is None and not show_all)
    findings_table(rows, limit=None if show_all else ROWS_SHOWN, explain=why)
    say(status_counts(rows))
    with open_tables(warehouse) as tables:
        for one in silent_groups(tables, None if run is None else [run]):
            say(one.sentence)
        if run is None:
            with suppress(InputError):  # tables of an older version do not tell
                for sentence in hidden_models(tables):
                    say(sentence)


@click.command()
@ledger_option
def runs(ledger: Path) -> None:
    """List the runs and how far each has come.

    Also those that are being collected now. A journal that is ahead of the ledger is loaded by the next build.
    """
    from biasledger.commands.display import runs_table
    from collector.ledger.overview import list_runs

    listed, notes = list_runs(ledger)
    runs_table(listed)
    for note in notes:
        say(f"Warning: {note}", err=True)


@click.command()
@ledger_option
@warehouse_option
@click.option(
    "--output",
    type=PATH,
    default=Path("report.html"),
    show_default=True,
    help="File to write; one that exists is replaced.",
)
@click.option(
    "--run",
    "run_ids",
    multiple=True,
    metavar="RUN",
    help="Report on this run only; may be repeated. Without it: on the current run of each audit and target, others in brief.",
)
def report(ledger: Path, warehouse: Path, output: Path, run_ids: tuple[str, ...]) -> None:
    """Write verdicts and pictures into one HTML page.

    One HTML file that needs no network: for a browser, a printer, or as an attachment. Needs the extra: pip install
    'biasledger[report]'. Warns where answers were erased from the ledger since the build.
    """
    from biasledger.publishing.erasures import erasure_warning
    from biasledger.reporting import write_report

    if warning := erasure_warning(warehouse, ledger):
        say(f"Warning: {warning}", err=True)
    n_bytes = write_report(warehouse, output, run_ids)
    say(f"Wrote {output} ({n_bytes / 1e6:,.1f} MB): open it in a browser.")


TITLE = "Read"
COMMANDS = (findings, report, runs)
