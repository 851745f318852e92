"""Keeping answers and catalogues that already exist, and handing the ledger on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from biasledger import __version__
from biasledger.commands.common import (
    PATH,
    encoding_option,
    ledger_option,
    next_step,
    outside_option,
    print_run,
    print_warnings,
)
from collector.terminal import say

if TYPE_CHECKING:
    from collector.exports.folder import Format
    from collector.importers.catalogue import CatalogueSummary
    from collector.ledger.summary import RunSummary


@click.command("import")
@click.argument("audit_file", type=PATH, metavar="AUDIT.yml")
@click.argument("file", type=PATH)
@ledger_option
@click.option(
    "--name",
    metavar="NAME",
    help="What to call the model that answered; if not given, the one model that the file names, the sheet, or else the file's "
    "name. Not where AUDIT.yml splits by model.",
)
@click.option("--again", is_flag=True, help="Import a file a second time.")
@click.option("--simulated", is_flag=True, help="Label these answers as simulated wherever they show.")
@click.option(
    "--sheet",
    "--split",
    "tables",
    multiple=True,
    metavar="NAME",
    help="Which sheet of a workbook, or which split of a dataset's folder; if not given the first sheet, or the only split. "
    "May be repeated: each makes runs of its own, as of several vendors.",
)
@encoding_option
@outside_option
def import_answers(
    audit_file: Path,
    file: Path,
    ledger: Path,
    name: str | None,
    again: bool,
    simulated: bool,
    tables: tuple[str, ...],
    encoding: str | None,
    allow_outside: bool,
) -> None:
    """Keep answers that already exist.

    FILE is CSV, TSV, JSON (lines, or an array), Parquet or Excel, the folder of a Hugging Face dataset or of JSON files, or a log
    of Inspect AI, promptfoo or lm-evaluation-harness; the `import` part of AUDIT.yml says what its columns mean. Each of its
    `outcomes` becomes a run.
    """
    from collector.importers.tabular import import_runs
    from collector.spec.loading import load_audits

    if name is not None and len(tables) > 1:
        raise click.UsageError("--name is for one sheet: of several, each is called after its sheet.")
    audits = load_audits(audit_file, allow_outside=allow_outside)
    imported: list[RunSummary] = []
    for table in tables or (None,):
        summaries = import_runs(
            [audit.with_form(table=table, encoding=encoding) for audit in audits],
            audit_file,
            file,
            ledger,
            name=name,
            again=again,
            simulated=simulated,
            versions={"biasledger": __version__},
        )
        for summary in summaries:
            print_run(summary)
        print_warnings(summaries[0].warnings)  # they are the file's, the same for all of its runs
        imported += summaries
    for summary in imported:
        summary.require_answers()
    next_step("biasledger build")


@click.command("import-items")
@click.argument("file", type=PATH)
@ledger_option
@click.option(
    "--name",
    required=True,
    metavar="NAME",
    help="What to call the catalogue; an audit names it in analysis.prices.catalogue.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=COLUMN",
    help="Which column is name, price_level, categories, city or id, where it is called otherwise; may be repeated.",
)
@click.option(
    "--levels",
    type=click.IntRange(min=2, max=100),
    default=4,
    show_default=True,
    help="How many price levels there are; 1 is the cheapest.",
)
def import_items(file: Path, ledger: Path, name: str, columns: tuple[str, ...], levels: int) -> None:
    """Keep a catalogue of items.

    FILE is CSV, TSV, JSON, Parquet or Excel with a row for each item that can be recommended: its name, its price level and its
    categories, and where there are any its city and its id. Imported again with other content, the latest one counts.

    \b
    An audit whose answers only name restaurants, with their prices from a catalogue:
      biasledger import-items businesses.csv --name boston --column price_level=price_range
      biasledger import audits/restaurants.yml answers.csv
    where audits/restaurants.yml has analysis: {prices: {catalogue: boston}}
    """
    from collector.importers.catalogue import import_items as import_catalogue

    summary = import_catalogue(
        file, ledger, name=name, columns=dict(_role_and_column(one) for one in columns), levels=levels
    )
    _print_catalogue(summary)


def _role_and_column(text: str) -> tuple[str, str]:
    role, separator, column = text.partition("=")
    if not (role and separator and column):
        raise click.UsageError(f"--column is {text!r} and should be like price_level=price_range.")
    return role, column


def _print_catalogue(summary: CatalogueSummary) -> None:
    cities = f" in {summary.n_domains:,} cities" if summary.n_domains > 1 else ""
    say(f"Catalogue {summary.catalogue}: {summary.n_items:,} items{cities}.")
    priced = sorted((level, n) for level, n in summary.price_levels.items() if level is not None)
    counts = [f"{n:,} of price level {level}" for level, n in priced]
    say(f"  {', '.join([*counts, f'{summary.price_levels.get(None, 0):,} without a price'])}")
    if summary.n_repeated:
        rows = "1 row repeats" if summary.n_repeated == 1 else f"{summary.n_repeated:,} rows repeat"
        say(f"  {rows} an item, which is kept once")


@click.command("import-predictions")
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE...")
@ledger_option
@click.option("--name", required=True, metavar="NAME", help="What to call the recommender.")
def import_predictions(files: tuple[Path, ...], ledger: Path, name: str) -> None:
    """Keep what a recommender predicted.

    FILE is a predictions.csv of `biasledger lmrec evaluate`; several, each of a city, are one recommender. After a build
    fct_recommender_quality says how good it is. Imported again with other content, the latest counts.
    """
    from collector.importers.predictions import import_predictions as import_files

    summary = import_files(files, ledger, name=name)
    cities = f" in {summary.n_cities:,} cities" if summary.n_cities > 1 else ""
    say(f"Recommender {summary.recommender}: predictions of {summary.n_texts:,} held-out texts{cities}.")
    next_step("biasledger build")


@click.command("import-ledger")
@click.argument("folder", type=PATH, metavar="DIR")
@ledger_option
def import_ledger(folder: Path, ledger: Path) -> None:
    """Take the runs of an exported ledger in.

    DIR is as `biasledger export` wrote it, and is verified first. Makes a new ledger, or adds what it lacks, runs and what
    happened to them since: so one ledger gathers what several machines collected. Journals are in no export: copy their folder
    next to the ledger as well, or verify it with --without-journals.
    """
    from biasledger.verify_export import verify_export
    from collector.errors import InputError
    from collector.exports.folder import require_manifest
    from collector.exports.importing import take_in

    broken = [verdict for verdict in verify_export(folder) if verdict.state == "broken"]
    if broken:
        raise InputError(f"Nothing was taken in, as {broken[0].name} is broken: {broken[0].fault}")
    done = take_in(folder, require_manifest(folder), ledger)
    renewed = f"; {len(done.renewed):,} runs brought up to date" if done.renewed else ""
    had = f"; {len(done.had):,} runs were there" if done.had else ""
    say(
        f"{ledger}: {len(done.taken):,} runs with {done.n_responses:,} responses taken in from {folder}{renewed}{had}."
    )
    next_step("biasledger build")


@click.command("export")
@click.option(
    "--to", "folder", type=PATH, required=True, metavar="DIR", help="A folder; it is made if absent."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["parquet", "delta"]),
    default="parquet",
    show_default=True,
    help="delta gives each table a log of Delta Lake as well; needs the extra: pip install 'biasledger[delta]'.",
)
@ledger_option
def export_ledger(folder: Path, format_: Format, ledger: Path) -> None:
    """Write the ledger as Parquet or Delta tables.

    For Spark and other engines: prompts, answers and chain of each run as DIR/TABLE/run_id=RUN/….parquet, with a manifest. What
    DIR has already stays; runs that it lacks come in, and those that changed since, as by `biasledger erase`, are written
    again. `biasledger verify --export DIR` checks it, and `biasledger import-ledger DIR` makes a ledger of it again.
    """
    from collector.exports.writing import export_ledger as export
    from collector.ledger.loading import load_all

    for sentence in load_all(ledger):
        say(sentence)
    done = export(ledger, folder, format_)
    n_kept = len(done.manifest.runs) - len(done.written) - len(done.rewritten)
    say(
        f"{folder}: {len(done.written):,} runs written, {len(done.rewritten):,} rewritten, {n_kept:,} as they were; "
        f"{done.n_bytes / 1e6:,.1f} MB."
    )
    for run_id in done.left_out:
        say(f"  {run_id} is not sealed to its end, as while it is being collected, and left out")
    say(f"  {done.sha256}")
    next_step(f"biasledger verify --export {shlex.quote(str(folder))}")


TITLE = "Import and export"
COMMANDS = (import_answers, import_items, import_predictions, import_ledger, export_ledger)
