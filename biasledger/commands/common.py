"""What several commands share: exit codes, options, the hint at what to do next."""

from __future__ import annotations

from pathlib import Path

import click

from collector.terminal import say

EXIT_ALARMS = 1
EXIT_BROKEN = 3  # not 2, which click and dbt use for several things
EXIT_UNDECIDED = 4
EXIT_WAITED = 5
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as shells say of a program whose output nobody reads any more
ROWS_SHOWN = 25

PATH = click.Path(path_type=Path)
ledger_option = click.option(
    "--ledger",
    type=PATH,
    envvar="BIASLEDGER_LEDGER",
    default=Path("ledger.duckdb"),
    show_default=True,
    show_envvar=True,
    help="File that keeps prompts and answers.",
)
warehouse_option = click.option(
    "--warehouse",
    type=PATH,
    envvar="BIASLEDGER_WAREHOUSE",
    default=Path("warehouse.duckdb"),
    show_default=True,
    show_envvar=True,
    help="File that the built tables are published in.",
)

outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    envvar="BIASLEDGER_ALLOW_OUTSIDE",
    show_envvar=True,
    help="Also read files that an audit names outside of its project or hidden in it; what is in them may be sent to the target.",
)

# Which table of a file is read, and how its text is written.
table_option = click.option(
    "--sheet",
    "--split",
    "table",
    metavar="NAME",
    help="Which sheet of a workbook, or which split of a dataset's folder; if not given the first sheet, or the only split.",
)
encoding_option = click.option(
    "--encoding",
    metavar="NAME",
    help="The encoding of CSV, TSV or JSON that is not UTF-8, such as cp1252 or utf-16.",
)


def next_step(command: str) -> None:
    """Print what to do next."""
    say(f"Next: {command}")
