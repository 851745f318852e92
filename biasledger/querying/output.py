"""Puts a result where it was asked for: on standard output or whole into a file, in the form asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.querying.formats import Sink, without_formulas, write_csv, write_json, write_markdown
from biasledger.querying.table import show_table
from collector.errors import InputError
from collector.files.replacing import written_whole
from collector.terminal import Shown, console, drop_output, flush, standard_output

if TYPE_CHECKING:
    from biasledger.querying.statements import Result

FORMATS = ("table", "csv", "json", "markdown")
_SUFFIXES = {".csv": "csv", ".json": "json", ".md": "markdown", ".txt": "table"}
_WRITERS: Mapping[str, Callable[[Result, Sink], None]] = {
    # A CSV is opened in spreadsheets, and answers come from others.
    "csv": lambda result, sink: write_csv(without_formulas(result), sink),
    "json": write_json,
    "markdown": write_markdown,
}
# A table is for reading; the other formats are for programs, which want all rows.
_ROWS_OF_A_TABLE = 100


@dataclass(frozen=True)
class Written:
    """The number of rows written, whether there are more, and the columns that did not fit into a table."""

    n_rows: int
    is_cut: bool
    left_out: Sequence[str] = ()


def format_of(name: str | None, output: Path | None) -> str:
    """Return the requested format; without one, that of the file's ending, or a table."""
    if name is not None:
        return name
    return "table" if output is None else _SUFFIXES.get(output.suffix.lower(), "csv")


def write_result(
    result: Result, *, form: str, limit: int | None, output: Path | None, wide: bool = False
) -> Written:
    """Write at most `limit` rows; without a limit 100 of a table and all of everything else. `wide`: all columns of a table.

    A file is written next to its place and then renamed, so that no reader sees half of it.

    Raises:
        InputError: the file's folder does not exist, or the file is a folder.
        OSError: the file cannot be written.
    """
    if limit is None and form == "table":
        limit = _ROWS_OF_A_TABLE
    rows = _Counted(itertools.islice(result.rows, limit))
    try:
        if output is None:
            left_out = _to_standard_output(replace(result, rows=rows), form, wide=wide)
        else:
            left_out = _to_file(replace(result, rows=rows), form, output, wide=wide)
    except BrokenPipeError:
        # The reader of the pipe, such as `head`, has enough: discard what Python would flush at its end.
        drop_output()
        return Written(rows.count, is_cut=False)
    return Written(rows.count, next(result.rows, None) is not None, left_out)


class _Counted(Iterator[tuple[Any, ...]]):
    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self.count = 0

    def __next__(self) -> tuple[Any, ...]:
        row = next(self._rows)
        self.count += 1
        return row


def _to_standard_output(result: Result, form: str, *, wide: bool) -> Sequence[str]:
    left_out = _write(result, form, standard_output(), wide=wide)
    flush()
    return left_out


def _to_file(result: Result, form: str, output: Path, *, wide: bool) -> Sequence[str]:
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent} to write {output.name} in.")
    if output.is_dir():
        raise InputError(f"{output} is a folder: name the file to write.")
    with written_whole(output) as new, new.open("w", encoding="utf-8", newline="") as file:
        return _write(result, form, file, wide=wide)


def _write(result: Result, form: str, sink: Any, *, wide: bool) -> Sequence[str]:
    if form != "table":
        _WRITERS[form](result, sink)
        return ()
    out = console(None if isinstance(sink, Shown) else sink)
    return show_table(out, result.columns, list(result.rows), wide=wide, paged=True)
