"""The `biasledger` command: arguments, output, exit codes. What it does lies in the modules it calls.

Heavy modules (DuckDB, pandas, pydantic, rich) are imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from biasledger import __version__
from collector.errors import BiasledgerError

if TYPE_CHECKING:
    from collector.items import CatalogueSummary
    from collector.summary import RunSummary

EXIT_ALARMS = 1
EXIT_BROKEN = 3  # not 2, which click and dbt use for several things
EXIT_INTERRUPTED = 130
_ROWS_SHOWN = 25


class _Cli(click.Group):
    """A group whose errors are one sentence and whose exit codes are biasledger's."""

    def main(  # type: ignore[override]  # click declares overloads that only differ in whether it returns
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command and end the process with its exit code."""
        try:
            code = super().main(args, prog_name, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            error.show()
            sys.exit(EXIT_BROKEN)
        except click.Abort as error:
            click.echo(str(error.__cause__ or "") or "Stopped.", err=True)
            sys.exit(EXIT_INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn an error into one sentence, with its traceback first under --debug."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # the last place where a fault can become a sentence and an exit code
            if ctx.params["debug"]:
                traceback.print_exc()
            raise click.ClickException(_sentence(error)) from error


def _sentence(error: Exception) -> str:
    if isinstance(error, BiasledgerError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}." if error.filename else ".")
    return f"unexpected {type(error).__name__}: {error} (biasledger --debug COMMAND … shows where)."


_PATH = click.Path(path_type=Path)
_ledger_option = click.option(
    "--ledger",
    type=_PATH,
    envvar="BIASLEDGER_LEDGER",
    default=Path("ledger.duckdb"),
    show_default=True,
    show_envvar=True,
    help="File that keeps prompts and answers.",
)
_warehouse_option = click.option(
    "--warehouse",
    type=_PATH,
    envvar="BIASLEDGER_WAREHOUSE",
    default=Path("warehouse.duckdb"),
    show_default=True,
    show_envvar=True,
    help="File that holds the built tables.",
)


@click.group(cls=_Cli, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="biasledger")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:  # read by _Cli.invoke
    """Audit a language model for bias: ask, keep the answers, build findings and alarms.

    \b
    A first audit, of a simulated model:
      biasledger init my-audits && cd my-audits
      biasledger collect audits/products.yml --target simulator
      biasledger build

    Exit codes: 0 done, 1 alarms were found (build), 3 wrong use or a broken warehouse.
    """


@cli.command()
@click.argument("directory", type=_PATH, metavar="DIR")
def init(directory: Path) -> None:
    """Lay out a new project.

    Writes audits, targets and thresholds into DIR. Nothing that exists is overwritten.
    """
    from biasledger.project import init_project

    written = init_project(directory)
    click.echo(f"Laid out {directory}:")
    for path in written:
        click.echo(f"  {path}")
    _next(f"cd {shlex.quote(str(directory))} && biasledger collect audits/products.yml --target simulator")


@cli.command()
@click.argument("audit_file", type=_PATH, metavar="AUDIT.yml", required=False)
@click.option(
    "--target",
    "target_names",
    metavar="NAME[,NAME...]",
    help="Whom to ask: a name in the targets file or python:module:function; several are asked one after the other, in runs of "
    "their own.",
)
@click.option(
    "--targets", type=_PATH, default=Path("targets.yml"), show_default=True, help="File of targets."
)
@_ledger_option
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask each prompt N times instead of the audit's number; a template's own number stays.",
)
@click.option(
    "--subjects",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask about N subjects of each domain only, for a screening; always the same ones.",
)
@click.option(
    "--domain", "domains", multiple=True, metavar="NAME", help="Ask about this domain only; may be repeated."
)
@click.option(
    "--with",
    "parts",
    multiple=True,
    metavar="PART",
    help="Also ask this optional part of the audit, such as robustness; may be repeated.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Also ask this mitigation variant; may be repeated.",
)
@click.option(
    "--resume",
    "resumed",
    metavar="RUN",
    help="Ask what is left of this run; what it asks is in its journal, so AUDIT.yml and the choices above are left out.",
)
@click.option(
    "--retry-failed", is_flag=True, help="With --resume: also ask again where the last try brought no answer."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only print how many questions there would be, with estimated tokens and cost; ask nobody, write nothing.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Stop before another question might make the run cost more; go on with --resume.",
)
@click.option(
    "--batch",
    is_flag=True,
    help="Ask through the target's batch interface (OpenAI, Anthropic): cheaper, and done within a day. Whatever ends the "
    "waiting, --resume waits on.",
)
@click.pass_context
def collect(
    ctx: click.Context,
    audit_file: Path | None,
    target_names: str | None,
    targets: Path,
    ledger: Path,
    trials: int | None,
    subjects: int | None,
    domains: tuple[str, ...],
    parts: tuple[str, ...],
    variants: tuple[str, ...],
    resumed: str | None,
    retry_failed: bool,
    dry_run: bool,
    max_cost_usd: float | None,
    batch: bool,
) -> None:
    """Ask a target, keep every answer.

    The prompts are made from AUDIT.yml; the answers go into a journal beside the ledger, and from there into the ledger. Whatever
    ends a run early, --resume goes on where it stopped.
    """
    from biasledger.project import settings_file
    from collector.costs import load_prices, meter_for
    from collector.runner import collect as collect_answers
    from collector.spec import load_audit
    from collector.targets import load_targets

    if resumed is not None:
        _refuse_beside_resume(ctx)
        _resume(resumed, targets, ledger, retry_failed=retry_failed, max_cost_usd=max_cost_usd)
        return
    if audit_file is None or target_names is None:
        missing = "AUDIT.yml" if audit_file is None else "--target NAME"
        raise click.UsageError(f"{missing} is missing: say what to ask whom, or --resume RUN.")
    if retry_failed:
        raise click.UsageError("--retry-failed goes with --resume RUN.")
    audit = load_audit(audit_file).with_subjects(subjects, domains)
    # All of them first: a name mistyped is better known before the first one has been asked for hours.
    asked = load_targets(targets, [name.strip() for name in target_names.split(",")])
    prices = load_prices(settings_file("model_prices.csv"))
    if dry_run:
        from biasledger.display import dry_run_table
        from biasledger.dry_run import dry_run as plan_run

        for target in asked:
            dry_run_table(plan_run(audit, target, prices, variants=variants, parts=parts, trials=trials))
        return
    meters = [meter_for(target, prices, max_cost_usd) for target in asked]
    failed: list[str] = []
    for target, meter in zip(asked, meters, strict=True):
        try:
            _print_collected(
                collect_answers(
                    audit,
                    target,
                    ledger,
                    variants=variants,
                    parts=parts,
                    trials=trials,
                    versions={"biasledger": __version__},
                    meter=meter,
                    batch=batch,
                )
            )
        except BiasledgerError as error:
            # One target that is down is no reason not to ask the others.
            if len(asked) == 1:
                raise
            click.echo(f"Error: {target.name}: {error}", err=True)
            failed.append(target.name)
    if failed:
        raise BiasledgerError(
            f"{len(failed)} of {len(asked)} targets failed: {', '.join(failed)}. What was answered is kept."
        )
    _next("biasledger build")


def _refuse_beside_resume(ctx: click.Context) -> None:
    """Refuse what a resumed run has frozen already."""
    for parameter in ctx.command.params:
        is_given = ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if is_given and parameter.name not in {
            "resumed",
            "retry_failed",
            "targets",
            "ledger",
            "max_cost_usd",
        }:
            raise click.UsageError(
                f"--resume takes what is asked from the run's journal; leave {parameter.human_readable_name} out."
                if isinstance(parameter, click.Argument)
                else f"--resume takes what is asked from the run's journal; leave {parameter.opts[0]} out."
            )


def _resume(
    run_id: str, targets: Path, ledger: Path, *, retry_failed: bool, max_cost_usd: float | None
) -> None:
    from biasledger.project import settings_file
    from collector.costs import load_prices, meter_for
    from collector.journal import journal_path
    from collector.loading import read_head
    from collector.runner import resume
    from collector.targets import load_target

    head = read_head(journal_path(ledger, run_id))
    target = load_target(targets, head.run.target)
    summary = resume(
        run_id,
        target,
        ledger,
        retry_failed=retry_failed,
        versions={"biasledger": __version__},
        meter=meter_for(target, load_prices(settings_file("model_prices.csv")), max_cost_usd),
    )
    _print_collected(summary)
    _next("biasledger build")


def _print_collected(summary: RunSummary) -> None:
    """Print what was collected; raise where nothing can be built from it, or not all was asked."""
    _print_run(summary)
    _print_warnings(summary)
    if summary.stopped is not None:
        raise BiasledgerError(summary.stopped)
    _require_answers(summary)


@cli.command("import")
@click.argument("audit_file", type=_PATH, metavar="AUDIT.yml")
@click.argument("file", type=_PATH)
@_ledger_option
@click.option(
    "--name",
    metavar="NAME",
    help="What to call the model that answered; the file's name if not given. Not where AUDIT.yml splits by model.",
)
@click.option("--again", is_flag=True, help="Import a file a second time.")
@click.option("--simulated", is_flag=True, help="Label these answers as simulated wherever they show.")
def import_answers(
    audit_file: Path, file: Path, ledger: Path, name: str | None, again: bool, simulated: bool
) -> None:
    """Keep answers that already exist.

    FILE is CSV, JSONL or Parquet, or a log of Inspect AI, promptfoo or lm-evaluation-harness; the `import` part of AUDIT.yml says
    what its columns mean.
    """
    from collector.importers.tabular import import_runs
    from collector.spec import load_audit

    summaries = import_runs(
        load_audit(audit_file),
        audit_file,
        file,
        ledger,
        name=name,
        again=again,
        simulated=simulated,
        versions={"biasledger": __version__},
    )
    for summary in summaries:
        _print_run(summary)
    _print_warnings(summaries[0])  # they are the file's, and the same for all of its runs
    for summary in summaries:
        _require_answers(summary)
    _next("biasledger build")


@cli.command("import-items")
@click.argument("file", type=_PATH)
@_ledger_option
@click.option(
    "--name",
    required=True,
    metavar="NAME",
    help="What to call the catalogue; an audit names it in reading.prices.catalogue.",
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

    FILE is CSV, TSV, JSONL or Parquet with a row for each item that can be recommended: its name, its price level and its
    categories, and where there are any its city and its id. Imported again with other content, the latest one counts.

    \b
    An audit whose answers only name restaurants, with their prices from a catalogue:
      biasledger import-items businesses.csv --name boston --column price_level=price_range
      biasledger import audits/restaurants.yml answers.csv
    where audits/restaurants.yml has reading: {prices: {catalogue: boston}}
    """
    from collector.items import import_items as import_catalogue

    summary = import_catalogue(
        file, ledger, name=name, columns=dict(_role_and_column(one) for one in columns), levels=levels
    )
    _print_catalogue(summary)


@cli.command()
@_ledger_option
@_warehouse_option
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
    """Build the tables, print the findings.

    Ends with 1 if there are alarms, with 3 if the warehouse is broken.
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
        click.echo("Only a selection was built: `biasledger findings` shows what the findings table holds.")
    else:
        findings = read_findings(warehouse, only_current=True)
        click.echo()
        findings_table(findings, limit=_ROWS_SHOWN)
        click.echo(status_counts(findings))
        _next(
            "biasledger findings --status alarm --why" if summary.has_alarms else "biasledger findings --all"
        )
    if summary.has_alarms:
        ctx.exit(EXIT_ALARMS)


@cli.command()
@_warehouse_option
@click.option("--run", metavar="RUN", help="Only this run (`biasledger runs` lists them).")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["alarm", "inconclusive", "clear", "insufficient_data"]),
    help="Only findings with this status; may be repeated.",
)
@click.option("--all", "show_all", is_flag=True, help="Older runs too, and every row.")
@click.option("--why", is_flag=True, help="Say each finding in a sentence, too.")
def findings(warehouse: Path, run: str | None, statuses: tuple[str, ...], show_all: bool, why: bool) -> None:
    """Print the findings of the last build."""
    from biasledger.display import findings_table, status_counts
    from biasledger.findings import read_findings

    rows = read_findings(warehouse, run=run, statuses=statuses, only_current=run is None and not show_all)
    findings_table(rows, limit=None if show_all else _ROWS_SHOWN, explain=why)
    click.echo(status_counts(rows))


@cli.command()
@click.argument("source", metavar="SQL|NAME|FILE", required=False)
@_warehouse_option
@click.option("--list", "show_list", is_flag=True, help="List the analyses that can be given by name.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "markdown"]),
    help="What to write; the ending of --output says it, too. A table if not given.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="At most N rows; if not given 100 of a table, and all in the other formats.",
)
@click.option("--output", type=_PATH, metavar="FILE", help="Write into FILE.")
def query(
    source: str | None,
    warehouse: Path,
    show_list: bool,
    form: str | None,
    limit: int | None,
    output: Path | None,
) -> None:
    """Read the tables with SQL.

    Runs one statement that reads, or an analysis by its name; nothing can be changed, and nothing outside the warehouse read.

    \b
      biasledger query "select audit, status, count(*) from fct_findings group by all"
      biasledger query top_marked_words --format csv
      biasledger query "show tables"
      biasledger query "describe fct_findings"
    """
    from biasledger.query.analyses import list_analyses, read_sql
    from biasledger.query.connection import locked_warehouse
    from biasledger.query.output import format_of, write_result
    from biasledger.query.statements import run_statement

    if show_list:
        from biasledger.display import analyses_table

        analyses_table(list_analyses())
        return
    if source is None:
        raise click.UsageError("SQL or the name of an analysis is missing; --list shows the names.")
    sql = read_sql(source)
    with locked_warehouse(warehouse) as connection:
        written = write_result(
            run_statement(connection, sql), form=format_of(form, output), limit=limit, output=output
        )
    rows = "1 row" if written.n_rows == 1 else f"{written.n_rows:,} rows"
    if output is not None:
        click.echo(f"Wrote {rows} to {output}.", err=True)
    if written.is_cut:
        click.echo(f"There are more than these {rows}: --limit N shows more.", err=True)


@cli.command()
@click.argument("source", metavar="SQL|NAME|FILE")
@click.option(
    "--dialect", required=True, metavar="NAME", help="For which warehouse, as snowflake or postgres."
)
def sql(source: str, dialect: str) -> None:
    """Print a query in another warehouse's SQL.

    For published tables that were copied there. What may mean something else there is said on standard error; read the
    result before you rely on it.

    \b
      biasledger sql --dialect snowflake top_marked_words
    """
    from biasledger.query.analyses import read_sql
    from biasledger.query.dialects import translate

    translated = translate(read_sql(source), dialect)
    click.echo(translated.sql)
    for warning in translated.warnings:
        click.echo(f"Warning: {warning}", err=True)


@cli.command()
@click.argument("finding", metavar="FINDING")
@_warehouse_option
@_ledger_option
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
def explain(finding: str, warehouse: Path, ledger: Path, n_responses: int, form: str) -> None:
    """Walk a finding back to the answers it rests on.

    FINDING is its finding_id in fct_findings, or the beginning of it: shows the verdict, the threshold, the measure and its null,
    the rows behind it, and the very answers with the words, items or markers marked.
    """
    from biasledger.explain import explain_finding
    from biasledger.explain.output import write_json, write_text

    explanation = explain_finding(finding, warehouse, ledger, n_responses)
    if form == "json":
        write_json(explanation)
    else:
        write_text(explanation)


@cli.command()
@_ledger_option
@click.option(
    "--model",
    default="sasha/regardv3",
    show_default=True,
    metavar="NAME|FOLDER",
    help="Text classifier, on the Hugging Face hub or in a folder.",
)
@click.option("--scorer", metavar="NAME", help="What to call its scores; the model's name if not given.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="N",
    help="Texts classified at once.",
)
@click.option(
    "--mask/--no-mask", default=True, show_default=True, help="Replace words that name a group by XYZ first."
)
@click.option(
    "--label-map",
    metavar="FROM=TO,…",
    help="What the model's labels are kept as, where none is called negative: LABEL_0=negative,LABEL_1=positive.",
)
@click.option("--run", metavar="RUN", help="Only this run (`biasledger runs` lists them).")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Score at most N answers now.")
def score(
    ledger: Path,
    model: str,
    scorer: str | None,
    device: str,
    batch_size: int,
    mask: bool,
    label_map: str | None,
    run: str | None,
    limit: int | None,
) -> None:
    """Score text answers with a classifier of regard.

    Scores go into the ledger beside the answers. Answers that have scores of the same name are left out, so that a
    scoring which was stopped goes on where it stopped. Needs the extra: pip install 'biasledger[regard]'.
    """
    from biasledger.classifiers import load_classifier
    from biasledger.scoring import answers_left, read_label_map, score_answers, scorer_name

    labels = read_label_map(label_map) if label_map is not None else None
    scorer = scorer or scorer_name(model, mask=mask)
    answers = answers_left(ledger, scorer, run=run, limit=limit)
    if not answers:
        click.echo(f"Nothing is left to score: every text answer has scores of {scorer!r}.")
        return
    classify = load_classifier(model, device=device, batch_size=batch_size)
    click.echo(f"Scoring {len(answers):,} answers as {scorer!r} …")
    done = score_answers(ledger, answers, classify, scorer=scorer, mask=mask, label_map=labels)
    click.echo(
        f"  scored: answers {done.n_answers:,}, different texts {done.n_texts:,}, runs {done.n_runs:,}"
    )
    if done.n_short:
        click.echo(
            f"Warning: {done.n_short:,} of them are shorter than 20 characters, of which classifiers say much the same.",
            err=True,
        )
    _next("biasledger build")


@cli.command()
@click.argument("labels", type=_PATH, metavar="LABELS.csv")
@_warehouse_option
@_ledger_option
@click.option("--curve", type=_PATH, metavar="FILE.csv", help="Write every threshold with its rates.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead write LABELS.csv with N outputs, evenly over the measure's range, for you to label.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the sample.")
def tune(
    labels: Path, warehouse: Path, ledger: Path, curve: Path | None, sample: int | None, seed: int
) -> None:
    """Find thresholds from labelled outputs.

    LABELS.csv says of single outputs (column response, or run, prompt and trial) whether they are acceptable or
    problematic (column label). For each measure: the smallest threshold with at most 5 % false positives, and what it
    misses.
    """
    from biasledger.display import curve_table, tuning_table
    from biasledger.tune import tune as tune_thresholds
    from biasledger.tune import write_curve, write_sample

    if sample is not None:
        n_written = write_sample(labels, warehouse, ledger, n=sample, seed=seed)
        click.echo(
            f"Wrote {n_written:,} outputs to {labels}: fill its column label with acceptable or problematic."
        )
        _next(f"biasledger tune {shlex.quote(str(labels))}")
        return
    result = tune_thresholds(labels, warehouse)
    click.echo(
        f"{result.n_outputs:,} labelled outputs; an output alarms where its value is above the threshold."
    )
    if result.n_unlabelled_rows:
        click.echo(f"{result.n_unlabelled_rows:,} rows have no label yet and are left out.")
    click.echo()
    if result.tunings:
        tuning_table(result.tunings)
    for tuning in result.tunings:
        curve_table(tuning)
        if tuning.n_without_value:
            click.echo(
                f"Of {tuning.n_without_value:,} labelled outputs the measure says nothing; "
                f"{tuning.n_problematic_without_value:,} of them are problematic, and no threshold finds those."
            )
    for sentence in result.skipped:
        click.echo(f"Not tuned: {sentence}", err=True)
    if not result.tunings:
        raise BiasledgerError(
            f"{labels} gives no threshold: label outputs of both kinds that the measures assess."
        )
    if curve is not None:
        write_curve(curve, result.tunings)
        click.echo(f"Wrote the curves to {curve}.")


@cli.command()
@_ledger_option
def runs(ledger: Path) -> None:
    """List the runs and how far each has come.

    Also those that are being collected now. A journal that is ahead of the ledger is loaded by the next build.
    """
    from biasledger.display import runs_table
    from collector.overview import list_runs

    listed, notes = list_runs(ledger)
    runs_table(listed)
    for note in notes:
        click.echo(f"Warning: {note}", err=True)


@cli.command()
@click.argument("run_ids", nargs=-1, metavar="[RUN]...")
@_ledger_option
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


@cli.command()
@click.argument("run_id", metavar="RUN")
@_ledger_option
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
        "A warehouse built before still holds it: delete it before the next build. So do copies and backups."
    )
    _next("biasledger build")


def _role_and_column(text: str) -> tuple[str, str]:
    role, separator, column = text.partition("=")
    if not (role and separator and column):
        raise click.UsageError(f"--column is {text!r} and should be like price_level=price_range.")
    return role, column


def _print_catalogue(summary: CatalogueSummary) -> None:
    cities = f" in {summary.n_domains:,} cities" if summary.n_domains > 1 else ""
    click.echo(f"Catalogue {summary.catalogue}: {summary.n_items:,} items{cities}.")
    priced = sorted((level, n) for level, n in summary.price_levels.items() if level is not None)
    counts = [f"{n:,} of price level {level}" for level, n in priced]
    click.echo(f"  {', '.join([*counts, f'{summary.price_levels.get(None, 0):,} without a price'])}")
    if summary.n_repeated:
        rows = "1 row repeats" if summary.n_repeated == 1 else f"{summary.n_repeated:,} rows repeat"
        click.echo(f"  {rows} an item, which is kept once")


def _print_run(summary: RunSummary) -> None:
    simulated = " (simulated)" if summary.is_simulated else ""
    counts = ", ".join(f"{count:,} {status}" for status, count in summary.counts.items())
    click.echo(f"Run {summary.run_id}, {summary.audit} asked of {summary.target}{simulated}:")
    click.echo(
        f"  {summary.n_prompts:,} prompts, {summary.n_responses:,} responses in {summary.seconds:.1f} s: {counts}"
    )
    if summary.cost_usd:
        click.echo(f"  {summary.cost_usd:,.2f} USD at list prices")
    if summary.seal is not None:
        click.echo(f"  seal {summary.seal}")


def _print_warnings(summary: RunSummary) -> None:
    for warning in summary.warnings:
        click.echo(f"Warning: {warning}", err=True)


def _require_answers(summary: RunSummary) -> None:
    if not summary.counts.get("ok"):
        raise BiasledgerError(
            f"No answer of run {summary.run_id} can be analysed: raw.responses in the ledger says why."
        )


def _next(command: str) -> None:
    click.echo(f"Next: {command}")


def main() -> None:
    """Run the `biasledger` command; the process ends with its exit code."""
    cli.main(prog_name="biasledger")


if __name__ == "__main__":
    main()
