"""A small table that is read whole, such as the subjects and people of an audit: by the same reader as answers are.

Rows are counted from 1 below the header, as in imports; cells are trimmed and composed (NFC), and blank rows are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from collector.composed import composed
from collector.errors import InputError
from collector.files.plain import MAX_TABLE_BYTES, require_plain
from collector.hints import is_column_name, shown
from collector.tables.columns import missing_column
from collector.tables.missing import is_spreadsheet_error
from collector.tables.source import FORMATS, Form, column_names, read_table

SPEC_FOLDER = "the spec's folder"
_STATE_ENCODING = "name its encoding in the spec, such as encoding: cp1252, which Excel writes in the West"
_SAVE_ANEW = "save it again from the program that wrote it"


def read_rows(
    path: Path,
    what: str,
    needed: Sequence[str] | Callable[[Sequence[str]], Sequence[str]],
    *,
    hoped: Collection[str] = (),
    encoding: str | None = None,
    seen_from: str = SPEC_FOLDER,
) -> list[dict[str, str]]:
    """Read a file whole.

    Args:
        path: the file: CSV with any separator, or another table by its ending.
        what: what it should hold, for error sentences: "a row for each subject".
        needed: the columns that have to be there, or what picks them by the header.
        hoped: other columns that may be there, which help to find the separator.
        encoding: of text that is neither UTF-8 nor marked as UTF-16.
        seen_from: the folder that the file's name starts from, for the sentence that it is absent.

    Returns:
        The rows as column -> trimmed cell; unnamed columns are left out.

    Raises:
        InputError: the file cannot be read, has no rows, lacks a column or holds one twice, or a row has too many cells or
            too few.
    """
    _require_table(path, what, seen_from)
    form = _form(path, encoding, seen_from)
    known = {composed(one) for one in ([] if callable(needed) else needed)} | set(map(composed, hoped))
    header = [name for name in column_names(path, known.__contains__, form) if name]
    if not header:
        raise InputError(f"{path} is empty; it should hold a header and {what}.")
    for column in needed(header) if callable(needed) else needed:
        if column not in header:
            raise missing_column(path, column, header)
    for column in header:
        if header.count(column) > 1:
            called = f"the column {shown(column)}" if is_column_name(column) else "one column"
            raise InputError(f"{path}: the header holds {called} twice; each needs its own name.")
    rows = _read_cells(path, header, form)
    if not rows:
        raise InputError(f"{path} has no rows; it should hold {what}.")
    return rows


def _read_cells(path: Path, header: Sequence[str], form: Form) -> list[dict[str, str]]:
    cells = ([composed(cell or "").strip() for cell in row] for row in read_table(path, header, form))
    return [dict(zip(header, row, strict=True)) for row in cells if any(row)]


def _form(path: Path, encoding: str | None, seen_from: str) -> Form:
    kind = FORMATS.get(path.suffix.lower(), "csv")
    or_else = _STATE_ENCODING if seen_from == SPEC_FOLDER else _SAVE_ANEW
    if encoding is None or kind not in ("csv", "tsv", "json", "jsonl") or _is_utf8(path):
        return Form(kind, or_else=or_else)
    return Form(kind, encoding=encoding, or_else=or_else)


def _is_utf8(path: Path) -> bool:
    """Return whether a small file is UTF-8, or has the mark of UTF-16, independently of the stated encoding of other files."""
    from collector.tables.encodings import marked_encoding, require_utf8

    if marked_encoding(path) is not None:
        return True
    try:
        require_utf8(path)
    except InputError:
        return False
    return True


def _require_table(path: Path, what: str, seen_from: str) -> None:
    """Raise InputError for a file that is not regular, is empty, or is too large to be read whole."""
    require_plain(path)
    try:
        is_file, size = path.is_file(), path.stat().st_size
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InputError(f"{path} is no file; it should be a CSV file, named as seen from {seen_from}.")
    if size > MAX_TABLE_BYTES:
        raise InputError(
            f"{path} is larger than {MAX_TABLE_BYTES >> 20} MiB, which is more than is read of such a file."
        )
    if not size:
        raise InputError(f"{path} is empty; it should hold a header and {what}.")


def require_cells(path: Path, number: int, row: Mapping[str, str], columns: Sequence[str]) -> None:
    """Raise InputError if a row is empty in one of the columns, or holds an error of a spreadsheet such as #N/A."""
    for column in columns:
        if not row[column]:
            raise InputError(f"{path}: row {number} has no {column!r}.")
        if is_spreadsheet_error(row[column]):
            raise InputError(
                f"{path}: row {number} has no {column!r} but {shown(row[column])}, an error of a spreadsheet."
            )


def require_unique(path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> None:
    """Raise InputError if two rows are the same in all of the columns."""
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows, start=1):
        key = tuple(row[column] for column in columns)
        first = seen.setdefault(key, number)
        if first != number:
            raise InputError(
                f"{path}: rows {first} and {number} both hold {shown(' / '.join(key))}; each {', '.join(columns)} may occur once."
            )
