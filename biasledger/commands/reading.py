"""Commands that read built tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from biasledger.commands.common import (
    PATH,
    ROWS_SHOWN,
    interrupted_by_signals,
    ledger_option,
    pager_option,
    run_option,
    warehouse_option,
)
from biasledger.commands.completing import complete_runs
from collector.terminal import say


@click.command()
@warehouse_option
@run_option
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["alarm", "inconclusive", "clear", "insufficient_data"]),
    help="Only findings with this status; may be repeated.",
)
@click.option("--all", "show_all", is_flag=True, help="Older runs too, and every row.")
@click.option(
    "--why", is_flag=True, help="Say each finding in a sentence under its row, too, and what would settle it."
)
@click.option("--json", "is_json", is_flag=True, help="As JSON: all columns of fct_findings, and every row.")
@click.option("--csv", "is_csv", is_flag=True, help="The same as CSV that no spreadsheet takes for formulas.")
@pager_option
def findings(
    warehouse: Path,
    run: str | None,
    statuses: tuple[str, ...],
    show_all: bool,
    why: bool,
    is_json: bool,
    is_csv: bool,
) -> None:
    """Print the findings of the last build.

    Each run begins with a line that sums up its attributes. After all runs come the groups without a usable answer, and the
    models that are hidden by another of the same name. `biasledger explain ID` shows the evidence for a row.
    """
    from biasledger.commands.display import findings_table, status_counts
    from biasledger.comparing.built_runs import built_run, hidden_models
    from biasledger.comparing.built_tables import open_tables
    from biasledger.comparing.silence import silent_groups
    from biasledger.comparing.verdicts import read_verdicts
    from biasledger.findings import NO_FINDING, read_findings
    from collector.errors import InputError

    if is_json and is_csv:
        raise click.UsageError("--json and --csv say the same in two forms: give one of them.")
    with open_tables(warehouse) as tables:
        runs = () if run is None else (built_run(tables, run),)
        notes = [one.sentence for one in silent_groups(tables, runs or None)]
        if run is None:
            with suppress(InputError):  # tables of an older version lack the column
                notes += hidden_models(tables)
        verdicts = read_verdicts(tables, runs)
    if is_json or is_csv:
        form = "json" if is_json else "csv"
        _write_findings(warehouse, form, runs=runs, statuses=statuses, only_current=not runs and not show_all)
        for note in notes:
            say(note, err=True)
        return
    judged = read_findings(warehouse, runs=runs, only_current=not runs and not show_all)
    rows = [row for row in judged if not statuses or row.status in statuses]
    findings_table(rows, verdicts, limit=None if show_all else ROWS_SHOWN, explain=why)
    say(status_counts(rows) if judged else NO_FINDING)
    for note in notes:
        say(note)
    if rows:
        say(
            f"Next: biasledger explain {rows[0].finding}, or another id from the first column, shows the evidence."
        )


def _write_findings(warehouse: Path, form: str, **chosen: Any) -> None:
    """Print all columns of fct_findings, for a program or a spreadsheet."""
    from biasledger.findings import select_findings
    from biasledger.opening import connect_read_only
    from biasledger.querying.output import write_result
    from biasledger.querying.statements import Result

    with connect_read_only(warehouse) as connection:
        cursor = select_findings(connection, warehouse, columns="*", **chosen)
        result = Result(tuple(column[0] for column in cursor.description or ()), iter(cursor.fetchall()))
        write_result(result, form=form, limit=None, output=None)


@click.command()
@ledger_option
@pager_option
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
    shell_complete=complete_runs,
    help="Report on this run only: its id, the beginning of it, latest or previous; may be repeated. Without it: on the current "
    "run of each audit and target, others in brief.",
)
@click.option(
    "--with-examples",
    is_flag=True,
    help="Show of each audit with an alarm two whole answers of the ledger; without it the file holds none.",
)
@click.option("--open", "opens", is_flag=True, help="Open it in the browser, too.")
def report(
    ledger: Path,
    warehouse: Path,
    output: Path,
    run_ids: tuple[str, ...],
    with_examples: bool,
    opens: bool,
) -> None:
    """Write verdicts and charts into one HTML page.

    The file needs no network: open it in a browser, print it, or send it as an attachment. Needs the extra: pip install
    'biasledger[report]'. The questions come from the ledger, where there is one. Warns if answers were erased from it since
    the build.
    """
    import webbrowser

    from biasledger.comparing.built_runs import built_run
    from biasledger.comparing.built_tables import open_tables
    from biasledger.publishing.erasures import erasure_warning
    from biasledger.reporting import write_report

    if warning := erasure_warning(warehouse, ledger):
        say(f"Warning: {warning}", err=True)
    runs = run_ids
    if run_ids:
        with open_tables(warehouse) as tables:
            runs = tuple(built_run(tables, name) for name in run_ids)
    n_bytes = write_report(warehouse, output, runs, ledger=ledger, with_examples=with_examples)
    wrote = f"Wrote {output} ({n_bytes / 1e6:,.1f} MB)"
    if not opens:
        say(f"{wrote}: open it in a browser.")
    elif webbrowser.open(output.resolve().as_uri()):
        say(f"{wrote} and opened it.")
    else:
        say(f"{wrote}: no browser could be started, so open it by hand.")


@click.command()
@ledger_option
@warehouse_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8350,
    show_default=True,
    metavar="N",
    help="Port of this machine; 0 takes one that is free.",
)
@click.option(
    "--label-as",
    metavar="NAME",
    help="Let readers label answers, or grade them by a rubric; kept in the ledger in this name.",
)
@click.option("--open", "opens", is_flag=True, help="Open it in the browser, too.")
def serve(ledger: Path, warehouse: Path, port: int, label_as: str | None, opens: bool) -> None:
    """Look around in a browser: findings, pairs of answers, comparisons, SQL.

    Read-only but for labels, for browsers of this machine alone, and nothing leaves it. Pages show what the last build published,
    also while another one is under way. Ctrl-C ends it. Needs the extra: pip install 'biasledger[serve]'.
    """
    import webbrowser

    from biasledger.serving import serve as serve_pages

    def ready(address: str) -> None:
        say(f"The explorer is at {address} for browsers of this machine. Ctrl-C ends it.")
        if opens and not webbrowser.open(address):
            say("No browser could be started: open the address by hand.")

    with interrupted_by_signals():
        serve_pages(warehouse, ledger, port=port, when_ready=ready, label_as=label_as)


TITLE = "Read"
COMMANDS = (findings, report, serve, runs)
