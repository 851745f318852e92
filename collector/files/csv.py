"""A CSV file beside an audit spec: rows of trimmed cells under a header, every fault told with its row.

Rows are counted from 1 below the header, as in imports.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from collector.errors import InputError
from collector.files.plain import MAX_TABLE_BYTES, read_plain
from collector.hints import is_column_name, no_column, shown

# A spreadsheet takes a cell that begins with one of these for a formula, in full width, too.
FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"


def inert(text: str) -> str:
    """The text as a cell, with a ' before what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(tuple(FORMULA_STARTS)) else text


def read_csv(
    path: Path,
    what: str,
    needed: Sequence[str] | Callable[[Sequence[str]], Sequence[str]],
    *,
    seen_from: str = "the spec's folder",
) -> list[dict[str, str]]:
    """Read a file whole.

    Args:
        path: the CSV file.
        what: what it should hold, for error sentences: "a row for each subject".
        needed: the columns that have to be there, or what picks them by the header.
        seen_from: the folder that the file's name starts from, for the sentence that it is absent.

    Returns:
        The rows as column -> trimmed cell; blank lines are left out.

    Raises:
        InputError: the file cannot be read, has no rows, lacks a column or holds one twice, or a row has too many cells or
            too few.
    """
    header, *rows = _cells(path, what, seen_from)
    for column in needed(header) if callable(needed) else needed:
        if column not in header:
            hint = no_column(column, header)
            if len(header) == 1 and ";" in header[0]:
                hint = "; its first line has semicolons, and columns are separated by commas"
            raise InputError(f"{path} has no column {column!r}{hint}{'' if hint.endswith('?') else '.'}")
    for column in header:
        if header.count(column) > 1:
            called = f"the column {shown(column)}" if is_column_name(column) else "one column"
            raise InputError(f"{path}: the header holds {called} twice; each needs its own name.")
    if not rows:
        raise InputError(f"{path} has no rows; it should hold {what}.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise InputError(
                f"{path}: row {number} has {len(row)} cell{'' if len(row) == 1 else 's'} and the header {len(header)}; a cell "
                f"that holds a comma stands in double quotes."
            )
    return [dict(zip(header, row, strict=True)) for row in rows]


def _cells(path: Path, what: str, seen_from: str) -> list[list[str]]:
    """Return header and rows with trimmed cells; blank lines are left out."""
    try:
        text = read_plain(path, MAX_TABLE_BYTES).decode("utf-8-sig")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise InputError(
            f"{path} is no file; it should be a CSV file, named as seen from {seen_from}."
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line} is not UTF-8; save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        lines = [[cell.strip() for cell in row] for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} cannot be read as CSV: {error}.") from None
    filled = [line for line in lines if any(line)]
    if not filled:
        raise InputError(f"{path} is empty; it should hold a header and {what}.")
    return filled


def require_cells(path: Path, number: int, row: Mapping[str, str], columns: Sequence[str]) -> None:
    """Raise InputError if a row is empty in one of the columns."""
    for column in columns:
        if not row[column]:
            raise InputError(f"{path}: row {number} has no {column!r}.")


def require_unique(path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> None:
    """Raise InputError if two rows are the same in all of the columns."""
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, start=1):
        key = tuple(row[column] for column in columns)
        first = seen.setdefault(key, number)
        if first != number:
            raise InputError(
                f"{path}: rows {first} and {number} both hold {shown(' / '.join(key))}; each {', '.join(columns)} may stand once."
            )
