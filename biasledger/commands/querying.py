"""Query the published tables with SQL, and show the evidence for a finding."""

from __future__ import annotations

from pathlib import Path

import click

from biasledger.commands.common import (
    PATH,
    killed_by_interrupt,
    ledger_option,
    pager_option,
    warehouse_option,
)
from biasledger.commands.completing import complete_analyses, complete_findings
from collector.errors import InputError
from collector.terminal import print_data, say

wide_option = click.option(
    "--wide", is_flag=True, help="All columns of a table, on lines as long as they are: for `less -S`, say."
)


class _TakesSql(click.Command):
    """A command whose argument may be SQL: a comment in front of it looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what to do with SQL that begins with a comment."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not any(one.startswith("--") and any(map(str.isspace, one)) for one in given):
                raise
            raise click.UsageError(
                f"SQL that begins with -- is taken for an option: give it on standard input, as in "
                f"`biasledger {self.name} - < FILE`, or begin with the statement.",
                ctx,
            ) from error


@click.command(cls=_TakesSql)
@click.argument("source", metavar="SQL|NAME|FILE|-", required=False, shell_complete=complete_analyses)
@warehouse_option
@click.option("--list", "show_list", is_flag=True, help="List the analyses that can be given by name.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "markdown"]),
    help="The format; the ending of --output also sets it. A table if not given.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="At most N rows; if not given 100 of a table, and all in the other formats.",
)
@click.option("--output", type=PATH, metavar="FILE", help="Write into FILE.")
@wide_option
@pager_option
def query(
    source: str | None,
    warehouse: Path,
    show_list: bool,
    form: str | None,
    limit: int | None,
    output: Path | None,
    wide: bool,
) -> None:
    """Read the tables with SQL.

    Runs one statement that reads, or an analysis by its name; nothing can be changed, and nothing outside the warehouse read. A
    single - reads the statement from standard input. A table that is too wide is shown in parts, those columns first that differ
    between rows.

    \b
      biasledger query "select audit, status, count(*) from fct_findings group by all"
      biasledger query top_marked_words --format csv
      biasledger query "show tables"
      biasledger query "describe fct_findings"
      biasledger query - < question.sql
    """
    from biasledger.querying.analyses import list_analyses
    from biasledger.querying.connection import locked_warehouse
    from biasledger.querying.output import format_of, write_result
    from biasledger.querying.statements import run_statement

    if show_list:
        from biasledger.commands.display import analyses_table

        analyses_table(list_analyses())
        return
    if source is None:
        raise click.UsageError("SQL or the name of an analysis is missing; --list shows the names.")
    sql = _read_sql_text(source)
    with killed_by_interrupt(), locked_warehouse(warehouse) as connection:
        written = write_result(
            run_statement(connection, sql),
            form=format_of(form, output),
            limit=limit,
            output=output,
            wide=wide,
        )
    rows = "1 row" if written.n_rows == 1 else f"{written.n_rows:,} rows"
    if output is not None:
        say(f"Wrote {rows} to {output}.", err=True)
    elif not written.n_rows:
        say("No rows.", err=True)
    if written.is_cut:
        say(f"There are more than these {rows}: --limit N shows more.", err=True)


@click.command(cls=_TakesSql)
@click.argument("source", metavar="SQL|NAME|FILE|-", shell_complete=complete_analyses)
@click.option(
    "--dialect", required=True, metavar="NAME", help="For which warehouse, as snowflake or postgres."
)
@click.option(
    "--schema",
    metavar="NAME",
    help="Where the tables are there, as biasledger or database.schema; names stay as they are if not given.",
)
def sql(source: str, dialect: str, schema: str | None) -> None:
    """Print a query in another warehouse's SQL.

    For published tables that were copied there. Standard error lists parts whose meaning may differ there; read the
    result before you rely on it.

    \b
      biasledger sql --dialect snowflake top_marked_words
      biasledger sql --dialect postgres --schema biasledger cost_per_run
    """
    from biasledger.querying.dialects import translate

    translated = translate(_read_sql_text(source), dialect, schema)
    print_data(translated.sql + "\n")
    for warning in translated.warnings:
        say(f"Warning: {warning}", err=True)


def _read_sql_text(source: str) -> str:
    from biasledger.querying.analyses import read_sql

    try:
        text = click.get_text_stream("stdin").read() if source == "-" else read_sql(source)
        text.encode()
    except UnicodeError:
        place = "Standard input" if source == "-" else "The SQL"
        raise InputError(f"{place} is not UTF-8; save it as UTF-8, or set PYTHONUTF8=1.") from None
    return text


@click.command()
@click.argument("finding", metavar="FINDING", shell_complete=complete_findings)
@warehouse_option
@ledger_option
@click.option(
    "--responses",
    "n_responses",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Show N answers of each side.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@wide_option
@pager_option
def explain(finding: str, warehouse: Path, ledger: Path, n_responses: int, form: str, wide: bool) -> None:
    """Walk a finding back to the answers it rests on.

    FINDING is its id, as `biasledger findings` shows it, or any beginning of its finding_id in fct_findings that no other has.
    Shows the verdict, the threshold, the measure and its null, the rows behind it, and the very answers with the words, items or
    markers marked.
    """
    from biasledger.explaining import explain_finding
    from biasledger.explaining.output import write_json, write_text

    explanation = explain_finding(finding, warehouse, ledger, n_responses)
    if form == "json":
        write_json(explanation)
    else:
        write_text(explanation, wide=wide)


TITLE = "Look deeper"
COMMANDS = (query, sql, explain)
