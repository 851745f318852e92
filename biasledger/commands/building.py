"""Building the tables, and publishing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasledger.commands.common import (
    EXIT_ALARMS,
    ROWS_SHOWN,
    interrupted_by_signals,
    ledger_option,
    next_step,
    outside_option,
    warehouse_option,
)
from biasledger.numbers import count
from collector.files.places import local_path
from collector.terminal import say

if TYPE_CHECKING:
    from biasledger.findings import Finding


@click.command()
@ledger_option
@warehouse_option
@click.option("--target", metavar="NAME", help="Build on this target of profiles.yml: spark is Apache Spark.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many models to build at once.")
@click.option("--full-refresh", is_flag=True, help="Rebuild everything, also where nothing is new.")
@click.option("--force", is_flag=True, help="Build also where nothing is new, every method.")
@click.option(
    "--select",
    multiple=True,
    metavar="SELECTOR",
    help="Build only these models (dbt's selectors); may be repeated.",
)
@outside_option
@click.pass_context
@interrupted_by_signals()
def build(
    ctx: click.Context,
    ledger: Path,
    warehouse: Path,
    target: str | None,
    threads: int | None,
    full_refresh: bool,
    force: bool,
    select: tuple[str, ...],
    allow_outside: bool,
) -> None:
    """Build the tables, publish them, print the findings.

    If nothing has changed since the last build (ledger, audits, settings, models, versions), its findings are printed and
    nothing is built.

    The tables are published with alarms or without, all at once; readers who have the old ones open keep them. Ends with 1 if
    an alarm of severity error is not accepted; with 3 if a model or a quality test failed, and the old tables stay.
    """
    from biasledger.building.build import up_to_date_build

    is_asked_for = force or full_refresh or select or allow_outside
    last = None if is_asked_for else up_to_date_build(Path(), ledger, warehouse, target)
    if last is not None:
        say(f"{warehouse}: {last.sentence}")
        has_alarms = bool(last.alarm_tests)
    else:
        options = {
            "target": target,
            "threads": threads,
            "full_refresh": full_refresh,
            "is_forced": force,
            "select": select,
        }
        has_alarms = _build(ledger, warehouse, options, allow_outside=allow_outside)
    if not select:
        first = _show_findings(warehouse)
        if has_alarms:
            next_step("biasledger findings --status alarm --why")
        elif first is not None:
            next_step(f"biasledger explain {first.finding}")
    if has_alarms:
        ctx.exit(EXIT_ALARMS)


def _build(ledger: Path, warehouse: Path, options: dict[str, Any], *, allow_outside: bool) -> bool:
    """Build and say so; whether there are alarms."""
    import time

    from biasledger.building.build import build_warehouse
    from biasledger.commands.display import build_progress

    say(f"Building {warehouse} from {ledger} …")
    started = time.monotonic()
    with build_progress() as on_step:
        summary = build_warehouse(
            Path(), ledger, warehouse, allow_outside=allow_outside, on_step=on_step, on_note=say, **options
        )
    say(
        f"{summary.n_models} models and settings built, {summary.n_quality_tests} quality tests passed, "
        f"{summary.n_alarm_tests} alarm tests run in {time.monotonic() - started:.0f} s."
    )
    if options["select"]:
        say(f"Only a selection was built: it is in {summary.work}; {warehouse} is as it was.")
    else:
        say(f"{count(len(summary.published), 'table')} published in {warehouse}.")
    return summary.has_alarms


def _show_findings(warehouse: Path) -> Finding | None:
    """Print the findings, and return the first."""
    from biasledger.commands.display import findings_table, status_counts
    from biasledger.comparing.answer_notes import answer_notes
    from biasledger.comparing.built_runs import standing_notes, unjudged_runs
    from biasledger.comparing.built_tables import open_tables
    from biasledger.comparing.changes import regressions
    from biasledger.comparing.silence import silent_groups
    from biasledger.comparing.verdicts import read_verdicts
    from biasledger.findings import NO_FINDING, read_findings

    # Open once for all that reads it.
    with open_tables(warehouse) as tables:
        findings, worse = read_findings(warehouse, only_current=True), regressions(warehouse)
        silent, notes, verdicts = silent_groups(tables), standing_notes(tables), read_verdicts(tables)
        about_answers = answer_notes(tables)
        notes += unjudged_runs(tables) if findings else []
    say()
    findings_table(findings, verdicts, limit=ROWS_SHOWN)
    say(status_counts(findings) if findings else NO_FINDING)
    if worse:
        say(worse)
    for sentence in (*notes, *(one.sentence for one in silent), *about_answers):
        say(sentence)
    return findings[0] if findings else None


@click.command()
@click.option(
    "--to",
    "destination",
    required=True,
    metavar="DIR|URI",
    help="A folder, or a PostgreSQL database: postgresql://user@host:5432/database.",
)
@ledger_option
@warehouse_option
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["parquet", "csv", "duckdb", "delta"]),
    help="Only files of this kind; may be repeated. `delta` is never written unless named.",
)
@click.option(
    "--schema",
    metavar="NAME",
    help="The schema in the database; biasledger if not given. It is made if absent.",
)
def publish(
    destination: str, ledger: Path, warehouse: Path, formats: tuple[str, ...], schema: str | None
) -> None:
    """Write the public tables elsewhere.

    Into DIR as Parquet, as CSV that no spreadsheet takes for formulas, and as one DuckDB file, with a manifest; with
    --format delta as Delta tables that keep earlier versions (pip install 'biasledger[delta]'). Into a PostgreSQL database
    with types, keys and comments, in one transaction; needs the extra: pip install 'biasledger[postgres]'. A password
    is best left to PGPASSWORD or ~/.pgpass. Warns where answers were erased from the ledger since the build.

    \b
      biasledger publish --to published
      biasledger publish --to lake --format delta
      biasledger publish --to postgresql://analyst@db.example.com/audits
    """
    from biasledger.publishing.erasures import erasure_warning
    from biasledger.publishing.published import open_published

    if warning := erasure_warning(warehouse, ledger):
        say(f"Warning: {warning}", err=True)
    if destination.startswith(("postgresql://", "postgres://")):
        from biasledger.publishing.postgres import DEFAULT_SCHEMA, publish_postgres

        if formats:
            raise click.UsageError("--format goes with a folder.")
        with open_published(warehouse) as published:
            done = publish_postgres(
                published,
                destination,
                schema=DEFAULT_SCHEMA if schema is None else schema,
                on_note=say,
            )
        say(
            f"{done.n_tables} tables, {done.n_rows:,} rows published in schema {done.schema} of {done.place}."
        )
        return
    from biasledger.publishing.files import FORMATS, publish_files

    if "://" in destination and not destination.startswith("file://"):
        raise click.UsageError("--to takes a folder or an address that begins with postgresql://.")
    if schema is not None:
        raise click.UsageError("--schema goes with a PostgreSQL database.")
    if "delta" in formats:
        from biasledger.publishing.delta import publish_delta
        from collector.exports.delta import require_extra

        require_extra()
        with open_published(warehouse) as published:
            n_rows = publish_delta(published, local_path(destination))
        say(f"{len(published.tables)} tables, {n_rows:,} rows published in {destination}/delta.")
        formats = tuple(name for name in formats if name != "delta")
        if not formats:
            return
    with open_published(warehouse) as published:
        manifest = publish_files(published, local_path(destination), formats or FORMATS)
    n_rows = sum(table["rows"] for table in manifest["tables"])
    say(f"{len(manifest['tables'])} tables, {n_rows:,} rows published in {destination}.")


TITLE = "Build and publish"
COMMANDS = (build, publish)
