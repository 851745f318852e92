"""Parts that several commands share: exit codes, options, the lines about a run, the hint at the next step, signals."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from biasledger.commands.completing import complete_runs
from collector.errors import InputError
from collector.files.places import local_path
from collector.terminal import on_one_line, paged, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from collector.asking.costs import Price
    from collector.ledger.summary import RunSummary
    from collector.spec.loading import CheckedAudit, SpecProblem

EXIT_ALARMS = 1
EXIT_BROKEN = 3  # not 2, which click and dbt use for several things
EXIT_UNDECIDED = 4
EXIT_WAITED = 5
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as shells report a program whose output is no longer read
ROWS_SHOWN = 25
CHARACTERS_SHOWN = 100
SPECS = {".yml", ".yaml"}
# Signals that a service manager, a container or a closed terminal sends; Windows has no SIGHUP.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class _LocalPath(click.Path):
    """A path, or a file:// URL; any other URL is an error, and not a folder called s3:."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(local_path(value) if isinstance(value, str) else value, param, ctx)


PATH = _LocalPath(path_type=Path)
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
run_option = click.option(
    "--run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Only this run: its id, the beginning of it, latest or previous.",
)


def _strike_out(_ctx: click.Context, _parameter: click.Parameter, targets: Path) -> Path:
    """Remove the targets' keys from every message from now on."""
    from collector.redaction import strike_out_named_in

    strike_out_named_in(targets)
    return targets


targets_option = click.option(
    "--targets",
    type=PATH,
    default=Path("targets.yml"),
    show_default=True,
    callback=_strike_out,
    help="File of targets.",
)
outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    envvar="BIASLEDGER_ALLOW_OUTSIDE",
    show_envvar=True,
    help="Also read files that an audit names outside of its project or hidden in it; what is in them may be sent to the target.",
)

# Options for the table and the encoding of a file.
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


def max_cost_option(meaning: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the option --max-cost with this help."""
    return click.option(
        "--max-cost", "max_cost_usd", type=click.FloatRange(min=0, min_open=True), metavar="USD", help=meaning
    )


def pager_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option --no-pager, and a pager without it."""

    @click.option("--no-pager", is_flag=True, help="Print what is longer than the terminal as it is.")
    @functools.wraps(command)
    def with_pager(*arguments: Any, no_pager: bool, **options: Any) -> None:
        with paged(is_wanted=not no_pager):
            command(*arguments, **options)

    return with_pager


def next_step(command: str) -> None:
    """Print what to do next."""
    say(f"Next: {command}")


def print_run(summary: RunSummary) -> None:
    """Print a run's target, the number of its answers, and its seal."""
    simulated = " (simulated)" if summary.is_simulated else ""
    counts = ", ".join(f"{count:,} {status}" for status, count in summary.counts.items())
    say(f"Run {summary.run_id}, {summary.audit}, target {summary.target}{simulated}:")
    say(
        f"  {summary.n_prompts:,} prompts, {summary.n_responses:,} responses in {summary.seconds:.1f} s: {counts}"
    )
    if summary.asked_again is not None:
        say(f"  {summary.asked_again}")
    if summary.cost_usd:
        from collector.asking.costs import usd

        say(f"  {usd(summary.cost_usd)} USD at list prices")
    if summary.seal is not None:
        say(f"  seal {summary.seal}")


def print_warnings(warnings: Iterable[str]) -> None:
    """Print what weakens a run to stderr."""
    for warning in warnings:
        say(f"Warning: {warning}", err=True)


def print_problems(audit_file: Path, checked: CheckedAudit, problems: Iterable[SpecProblem]) -> int:
    """Print a line for each problem, in the order of the spec's lines; return how many there are."""
    placed = sorted(((checked.line(one.at) or 1, one) for one in problems), key=lambda one: one[0])
    for line, problem in placed:
        say(f"{audit_file}:{line}: {on_one_line(problem.message.removeprefix(f'{audit_file}: '))}")
    return len(placed)


def write_audit(audit_file: Path, text: str, *, source: Path, command: str) -> None:
    """Write a new audit that a command made from a file, with a line for editors, and the schema that it names.

    Raises:
        InputError: the audit is there already.
    """
    from collector.spec.schema import NAME, modeline, schema_text

    folder = audit_file.parent
    schema = next((one / NAME for one in (folder, *folder.parents) if (one / NAME).is_file()), folder / NAME)
    head = f"{modeline(audit_file, schema)}\n# Written from {on_one_line(source.name)} by `biasledger {command}`.\n"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with audit_file.open("x", encoding="utf-8") as stream:
            stream.write(head + text)
    except FileExistsError:
        raise already_there(audit_file) from None
    if not schema.is_file():
        schema.write_text(schema_text(), encoding="utf-8")


def already_there(path: Path) -> InputError:
    """Return the error about a file that would be overwritten."""
    return InputError(f"{path} is there already: nothing was changed; choose another name.")


def cut(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = on_one_line(text)
    return line if len(line) <= CHARACTERS_SHOWN else f"{line[:CHARACTERS_SHOWN]}…"


def project_prices() -> list[Price]:
    """Return the prices of models: the project's own, or else the shipped ones."""
    from biasledger.project import settings_file
    from collector.asking.costs import load_prices

    return load_prices(settings_file("model_prices.csv"))


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block if SIGTERM or SIGHUP arrives, so that the answers so far are kept.

    Ignored signals stay ignored, such as SIGHUP under nohup.
    """
    with _handled(_ENDING, signal.SIG_DFL, _interrupt):
        yield


@contextlib.contextmanager
def killed_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process at once in the block: DuckDB heeds it in some of its loops alone. A shell says 130."""
    with _handled((signal.SIGINT,), signal.default_int_handler, signal.SIG_DFL):
        yield


@contextlib.contextmanager
def _handled(numbers: Iterable[int], usual: Any, handler: Any) -> Iterator[None]:
    """Handle signals in another way in the block, where they have their usual handler. Only the main thread has signals."""
    is_main = threading.current_thread() is threading.main_thread()
    changed = [number for number in numbers if is_main and signal.getsignal(number) is usual]
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, usual)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
