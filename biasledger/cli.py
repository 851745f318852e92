"""The `biasledger` command: its subcommands, errors and exit codes. The subcommands are in biasledger.commands."""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from biasledger import __version__
from biasledger.commands import (
    asking,
    building,
    comparing,
    evidence,
    importing,
    lmrec,
    querying,
    reading,
    scoring,
    specs,
)
from biasledger.commands.common import EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_UNREAD, EXIT_WAITED
from collector.errors import BiasledgerError, RateLimitTimeoutError
from collector.terminal import LogHandler, configure_logging, drop_output, flush, print_escapes, say, visible

# What DuckDB's errors say of the warehouse that a command reads.
_BROKEN_FILES = {
    "IOException": "the file is cut off or damaged",
    **dict.fromkeys(("CatalogException", "BinderException"), "another version built the tables"),
}
# In the order of the work, which is that of `--help`.
_PARTS = (
    specs,
    asking,
    importing,
    building,
    reading,
    querying,
    comparing,
    scoring,
    evidence,
    lmrec,
)


class _Cli(click.Group):
    """A group whose errors are one sentence and whose exit codes are biasledger's."""

    def main(  # type: ignore[override]  # click declares overloads that only differ in whether it returns
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command and end the process with its exit code."""
        try:
            code = super().main(args, prog_name, **{**extra, "standalone_mode": False})
            # Here and not at Python's end, where a closed pipe would be reported.
            flush()
        except (BrokenPipeError, SystemExit) as error:
            if isinstance(error, SystemExit) and error.code != 1:
                raise
            # click and rich end with 1 where a reader of a pipe has enough, as `head` has: 1 means alarms here.
            drop_output()
            sys.exit(EXIT_UNREAD)
        except click.ClickException as error:
            say(_formatted_error(error), err=True, end="")
            sys.exit(EXIT_WAITED if isinstance(error.__cause__, RateLimitTimeoutError) else EXIT_BROKEN)
        except click.Abort as error:
            say(str(error.__cause__ or "") or "Stopped.", err=True)
            sys.exit(EXIT_INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 (click's signature)
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands under the titles of their parts."""
        for part in _PARTS:
            width = formatter.width - 6 - max(len(name) for name in self.commands)
            with formatter.section(part.TITLE):
                formatter.write_dl(
                    [(command.name or "", command.get_short_help_str(width)) for command in part.COMMANDS],
                    col_max=30,
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn an error into one sentence, with its traceback first under --debug."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:  # the last place where a fault can become a sentence and an exit code
            if ctx.params["debug"]:
                say(traceback.format_exc(), err=True, end="")
            if _is_interrupt(error):
                raise click.Abort from KeyboardInterrupt()
            raise click.ClickException(_sentence(error)) from error


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error, also where DuckDB or somebody else made another error of it."""
    while error is not None:
        if (
            isinstance(error, KeyboardInterrupt)
            or str(error) == "Query interrupted"
            or str(error).startswith("KeyboardInterrupt")
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _formatted_error(error: click.ClickException) -> str:
    """Return what click would print of an error; click itself would leave out what looks like a style."""
    error.message = visible(error.message)  # type: ignore[misc]  # click only says that nobody should
    shown = io.StringIO()
    error.show(file=shown)
    return shown.getvalue()


def _sentence(error: Exception) -> str:
    if isinstance(error, BiasledgerError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}." if error.filename else ".")
    if type(error).__module__.endswith("duckdb") and type(error).__name__ in _BROKEN_FILES:
        _, _, reason = str(error).splitlines()[0].rstrip(".!").partition(": ")
        return f"{reason}: {_BROKEN_FILES[type(error).__name__]}; `biasledger build` rebuilds the warehouse."
    return f"unexpected {type(error).__name__}: {error} (biasledger --debug COMMAND … shows where)."


@click.group(cls=_Cli, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="biasledger")
@click.option("--debug", is_flag=True, help="Show the traceback of an error, and log every pause and retry.")
def cli(debug: bool) -> None:  # also read by _Cli.invoke
    """Audit a language model for bias: ask, keep the answers, build findings and alarms.

    \b
    A first audit, of a simulated model:
      biasledger init my-audits && cd my-audits
      biasledger collect audits/products.yml --target simulator
      biasledger build

    Exit codes: 0 done, 1 alarms were found (build, check), 3 wrong use or a broken warehouse, 4 nothing could be judged (check),
    5 a run only waited for a service that refused, and can be resumed (collect).
    """
    configure_logging(logging.DEBUG if debug else logging.WARNING)


for _part in _PARTS:
    for _command in _part.COMMANDS:
        cli.add_command(_command)


def main() -> None:
    """Run the `biasledger` command; the process ends with its exit code."""
    # Without a logging setup Python prints warnings, which may quote text from outside.
    logging.lastResort = LogHandler(logging.WARNING)
    print_escapes()
    cli.main(prog_name="biasledger")


if __name__ == "__main__":
    main()
