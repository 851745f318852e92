"""Output: the one module that writes to standard output and standard error.

Answers, names of models and groups, and errors of services and databases come from outside, and a terminal executes control
characters. So no other module writes there: messages go through `say`, data through `print_data` or `standard_output`, tables and
bars through `console`, and all of them through `visible`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import shutil
import sys
import time
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console

# A pipe or a CI log has no width of its own: wide enough for every column.
WIDTH_WITHOUT_TERMINAL = 140
LINE_EVERY_SECONDS = 30.0
# Control characters steer a terminal (escape sequences begin with one); characters that turn the direction of writing make text
# read as what it is not; half a surrogate pair cannot be written at all.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)


_PADDING = re.compile(r" +$", re.MULTILINE)


def visible(text: str) -> str:
    """Return the text with every character that could steer a terminal written out, as `\\x1b`; line feeds and tabs stay."""
    return _STEERING.sub(_escaped, text)


def on_one_line(text: str) -> str:
    """Return the text as `visible` shows it, with line feeds and tabs written out, too: for a name in a sentence or a table."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a message, without the secrets of the targets and with nothing in it that could steer a terminal.

    Args:
        text: the message; it may have several lines.
        err: whether it goes to standard error.
        end: what is printed after it.
    """
    from collector.redaction import struck_out

    stream = sys.stderr if err else sys.stdout
    stream.write(visible(struck_out(text)) + end)
    stream.flush()


def print_data(text: str) -> None:
    """Print data: to the letter where a program reads it, as `visible` shows it on a terminal."""
    standard_output().write(text)
    sys.stdout.flush()


class Shown:
    """A terminal's standard output as a place for data: what could steer it is written out."""

    def write(self, text: str, /) -> None:
        """Take some text."""
        sys.stdout.write(visible(text))


def standard_output() -> Shown | IO[str]:
    """Return where data is written: standard output itself, or what makes it harmless where that is a terminal."""
    return Shown() if sys.stdout.isatty() else sys.stdout


def is_watched() -> bool:
    """Return whether standard error is a terminal, so that a bar may move there."""
    return sys.stderr.isatty()


class PeriodicLine:
    """Print progress where no bar can be shown, such as in a log: to standard error, half a minute apart."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE_EVERY_SECONDS

    def __call__(self, sentence: Callable[[], str]) -> None:
        """Say it, if the last one was long enough ago."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + LINE_EVERY_SECONDS
            say(sentence(), err=True)


class _Unpadded:
    """A file as a place for tables: the blanks that fill a line up to its end are left out."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str, /) -> int:
        """Take whole lines."""
        return self._file.write(_PADDING.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def print_escapes() -> None:
    """From now on print a character that the output's encoding lacks as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Write what is held back to standard output."""
    sys.stdout.flush()


def drop_output() -> None:
    """Discard standard output: the reader of the pipe has enough, and Python would report an error when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(
    file: IO[str] | None = None, *, err: bool = False, highlight: bool = True, records: bool = False
) -> Console:
    """Return a rich console whose every text passes `visible`; its own styles and movements stay.

    Args:
        file: where to write, if not to standard output.
        err: whether it writes to standard error.
        highlight: whether rich colours numbers and the like.
        records: keep the output with its styles, as on a terminal, for rich's `export_html`.
    """
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(self, *given: Any, **options: Any) -> Iterable[Segment]:
            for segment in super().render(*given, **options):
                yield segment if segment.control else segment._replace(text=visible(segment.text))

    standard = sys.stderr if err else sys.stdout
    is_terminal = file is None and standard.isatty()
    width = None if is_terminal else WIDTH_WITHOUT_TERMINAL
    return VisibleConsole(
        file=file if is_terminal else cast("IO[str]", _Unpadded(file or standard)),
        stderr=err,
        width=width,
        highlight=highlight,
        record=records,
        force_terminal=True if records else None,
    )


# Colours as they are, and lines that are too long go on to the right.
_LESS = "-RS"


class _Kept(io.StringIO):
    """A buffer of terminal output for a pager."""

    def __init__(self, terminal: IO[str]) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        """It goes to one."""
        return True

    def fileno(self) -> int:
        """Return the terminal's descriptor, which is asked for its size."""
        return self._terminal.fileno()


@contextlib.contextmanager
def paged(*, is_wanted: bool = True) -> Iterator[None]:
    """Show what the block prints in the pager that PAGER names, or less, where it is longer than the terminal.

    Without a terminal, or where PAGER is cat or empty, it is printed as it comes.
    """
    terminal = sys.stdout
    if not is_wanted or not terminal.isatty() or os.environ.get("PAGER", "less") in {"", "cat"}:
        yield
        return
    sys.stdout = kept = _Kept(terminal)
    try:
        yield
    finally:
        sys.stdout = terminal
        text = kept.getvalue()
        if text.count("\n") < shutil.get_terminal_size().lines:
            terminal.write(text)
        else:
            import click

            os.environ.setdefault("LESS", _LESS)
            click.echo_via_pager(text)


class LogHandler(logging.Handler):
    """Prints what is logged as `say` prints messages, to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record; a failure to print, because the output is closed, ends nothing."""
        try:
            say(self.format(record), err=True)
        except Exception:  # noqa: BLE001 (whatever keeps a line from being printed, the run goes on)
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        """Say where a record comes from that could not be printed; logging itself would print it as it is, keys and all."""
        with contextlib.suppress(Exception):
            say(f"What {record.pathname}:{record.lineno} logs cannot be printed.", err=True)


def configure_logging(level: int) -> None:
    """Print what our packages log, from a level on, to standard error, with the time of day."""
    for name in ("biasledger", "collector"):
        ours = logging.getLogger(name)
        ours.setLevel(level)
        if not any(isinstance(one, LogHandler) for one in ours.handlers):
            handler = LogHandler()
            handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
            ours.addHandler(handler)
