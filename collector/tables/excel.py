"""Sheets of Excel workbooks (.xlsx, .xlsm) through openpyxl, a row at a time.

The first row that is not blank is the header; blank rows are left out. Cells become text: a number or a truth value as JSON has
it, a day as 2026-02-01, an error as it is shown (#N/A). A formula is what was computed of it when the workbook was saved.
"""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from collector.errors import InputError
from collector.files.plain import MAX_DOCUMENT_BYTES, open_plain, require_ratio
from collector.hashing import READ_BYTES
from collector.hints import did_you_mean, ended, quoted, shown
from collector.tables.columns import missing_column, require_column
from collector.tables.log_rows import LogRow, as_text, json_fault, no_rows

MOST_CHARACTERS = 32_767  # of a cell, by Excel's own limit
# openpyxl holds the texts that cells share whole, as a string each; sheets it reads a row at a time.
MAX_STRINGS_BYTES = 128 << 20
# Styles and the like, which become objects of many times their size.
MAX_PART_BYTES = 16 << 20
# Excel's limits on rows and columns, and ours on cells: a file may name far more than it holds.
MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 1 << 20, 1 << 14, 1 << 26
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+\d+:[A-Z]+\d+)"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_LONGEST_TAG = 200


@dataclass(slots=True)
class Sheet:
    """A sheet that is being read.

    Attributes:
        columns: what its header calls its columns, in order; unnamed ones are left out.
        notes: warnings; complete once the rows are read.
    """

    columns: Sequence[str]
    notes: list[str]
    _path: Path
    _cells: Any
    _formulas: Any | None
    _header_row: int
    _at: dict[str, int]
    _merged: Sequence[str]

    def rows(self, columns: Sequence[str]) -> Iterator[LogRow]:
        """Yield each row's cells in the named columns.

        Raises:
            InputError: there is no such column, or none with that name alone, a cell is merged or its formula was never
                computed, there is no row, or the workbook is damaged.
        """
        with _readable(self._path):
            yield from self._sheet_rows(columns)

    def _sheet_rows(self, columns: Sequence[str]) -> Iterator[LogRow]:
        at = {column: self._place(column) for column in columns}
        self._refuse_merged(at)
        n_cut = n_rows = 0
        first_row = self._header_row + 1
        cells = self._cells.iter_rows(min_row=first_row)
        formulas = self._formulas.iter_rows(min_row=first_row) if self._formulas is not None else None
        for number, row in enumerate(
            _within_limits(self._path, self._cells, cells, first_row), start=first_row
        ):
            written = next(formulas, ()) if formulas is not None else ()
            if all(cell.value is None for cell in row) and not any(_is_formula(cell) for cell in written):
                continue
            found: LogRow = {}
            for column, place in at.items():
                value = row[place].value if place < len(row) else None
                if value is None and place < len(written) and _is_formula(written[place]):
                    raise InputError(
                        f"{self._path}: the cell {_letters(place)}{number} of the sheet {shown(self._cells.title)} holds a "
                        f"formula that was never computed; open the workbook in Excel or LibreOffice and save it there."
                    )
                found[column] = text = _text(value)
                n_cut += text is not None and len(text) == MOST_CHARACTERS
            n_rows += 1
            yield found
        if not n_rows:
            raise no_rows(self._path)
        if n_cut:
            cells_are = "1 cell has" if n_cut == 1 else f"{n_cut:,} cells have"
            self.notes.append(
                f"{cells_are} {MOST_CHARACTERS:,} characters, the most that Excel keeps of a text: what came after is lost; take "
                f"the answers from where the workbook was made."
            )

    def _place(self, column: str) -> int:
        message = " ".join(["", *self.notes])
        found = require_column(self._path, column, self.columns, message)
        if found.steps:
            raise missing_column(self._path, column, self.columns, message)
        return self._at[self.columns[found.place]]

    def _refuse_merged(self, at: dict[str, int]) -> None:
        from openpyxl.utils import range_boundaries

        for merged in self._merged:
            first_column, _, last_column, last_row = range_boundaries(merged)
            if last_row > self._header_row and any(
                first_column <= place + 1 <= last_column for place in at.values()
            ):
                raise InputError(
                    f"{self._path}: the cells {merged} of the sheet {shown(self._cells.title)} are merged, so all but the first "
                    f"are empty; unmerge them and fill in each."
                )


@contextmanager
def open_sheet(path: Path, name: str | None) -> Iterator[Sheet]:
    """Open a sheet of a workbook.

    Args:
        path: the workbook.
        name: the sheet; the first one if not given, with a note if there are several.

    Raises:
        InputError: openpyxl is not installed, the file is no workbook, it has no such sheet, or the sheet is empty.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise InputError(
            f"{path} is an Excel workbook, which needs openpyxl: pip install 'biasledger[excel]', or save the sheet as CSV."
        ) from None
    # openpyxl's warnings, such as those of fonts that it does not know, do not concern the cells' values.
    with open_plain(path) as file, warnings.catch_warnings(action="ignore"):
        with _readable(path):
            _require_bounded(path, file)
            book = load_workbook(file, read_only=True, data_only=True)
            cells, notes = _chosen(path, book.worksheets, name)
            merged, has_formulas = _marks(path, cells)
            formulas = load_workbook(file, read_only=True)[cells.title] if has_formulas else None
            for sheet in filter(None, (cells, formulas)):
                # The size that a workbook states may be too small, or the largest that a sheet can have.
                sheet.reset_dimensions()
            header_row, header = _header(path, cells)
        at = {column: place for place, column in reversed(header)}
        yield Sheet([column for _, column in header], notes, path, cells, formulas, header_row, at, merged)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn any error of openpyxl for a damaged workbook into an InputError."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        ParseError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        EOFError,
        OSError,
        # Raised by zipfile for a member that is encrypted, or compressed in an unknown way.
        RuntimeError,
    ) as error:
        reason = json_fault(error) if isinstance(error, ValueError) else str(error)
        reason = reason.strip("'\"").rstrip(".")[:200]
        raise InputError(
            f"{path} is not a readable Excel workbook ({reason}); an older .xls, or one with a password, is to be saved as .xlsx."
        ) from None


def _require_bounded(path: Path, file: Any) -> None:
    with zipfile.ZipFile(file) as archive:
        total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{path} would become {total:,} bytes, more than the {MAX_DOCUMENT_BYTES >> 30} GiB that are read of a workbook; "
                f"save the sheet as CSV."
            )
        require_ratio(path, total, "save the sheet as CSV")
        texts = list(_held_whole(archive))
        for entry in archive.infolist():
            if (
                entry.filename not in texts
                and not entry.filename.startswith("xl/worksheets/sheet")
                and entry.filename.endswith((".xml", ".rels"))
                and entry.file_size > MAX_PART_BYTES
            ):
                raise InputError(
                    f"{path}: {shown(entry.filename)} would become {entry.file_size:,} bytes, more than the "
                    f"{MAX_PART_BYTES >> 20} MiB that are read of a workbook's parts other than its cells; save the sheet as CSV."
                )
        for name in texts:
            size = archive.getinfo(name).file_size
            if size > MAX_STRINGS_BYTES:
                raise InputError(
                    f"{path}: {name} would become {size:,} bytes, more than the {MAX_STRINGS_BYTES >> 20} MiB that are held of a "
                    f"workbook's texts; save the sheet as CSV."
                )


def _held_whole(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the list of a workbook's parts, and then the part with the texts, under the name in that list."""
    from openpyxl.packaging.manifest import Manifest
    from openpyxl.xml.constants import ARC_CONTENT_TYPES, SHARED_STRINGS
    from openpyxl.xml.functions import fromstring

    yield ARC_CONTENT_TYPES
    texts = Manifest.from_tree(fromstring(archive.read(ARC_CONTENT_TYPES))).find(SHARED_STRINGS)
    if texts is not None:
        yield texts.PartName[1:]


def _chosen(path: Path, sheets: Sequence[Any], name: str | None) -> tuple[Any, list[str]]:
    titles = [sheet.title for sheet in sheets]
    if not titles:
        raise InputError(f"{path} has no sheet of cells.")
    if name is None:
        others = f"Of the sheets {quoted(titles)} of {path.name} the first is read; --sheet names another."
        return sheets[0], [others] if len(titles) > 1 else []
    if name not in titles:
        raise InputError(ended(f"{path} has no sheet {shown(name)}{did_you_mean(name, titles)}"))
    return sheets[titles.index(name)], []


def _marks(path: Path, sheet: Any) -> tuple[list[str], bool]:
    """Return the ranges of cells that are merged, and whether there is a formula, which a reader of rows does not say."""
    merged: dict[str, None] = {}
    has_formulas, rest = False, b""
    with sheet._get_source() as stream:
        while block := stream.read(READ_BYTES):
            if len(block) == READ_BYTES and b"<" not in block:
                raise InputError(
                    f"{path}: a cell of the sheet {shown(sheet.title)} has more than {READ_BYTES:,} characters; Excel keeps "
                    f"{MOST_CHARACTERS:,} of a text: save the sheet as CSV."
                )
            part = rest + block
            merged |= dict.fromkeys(found.decode() for found in _MERGED.findall(part))
            has_formulas = has_formulas or _FORMULA.search(part) is not None
            rest = part[-_LONGEST_TAG:]
    return list(merged), has_formulas


def _header(path: Path, sheet: Any) -> tuple[int, list[tuple[int, str]]]:
    """Return the header's row from 1, and place and name of each column that has one."""
    for number, row in enumerate(_within_limits(path, sheet, sheet.iter_rows(), 1), start=1):
        named = [(place, text.strip()) for place, text in enumerate(_texts(row)) if text and text.strip()]
        if named:
            return number, named
    raise InputError(
        f"{path}: the sheet {shown(sheet.title)} is empty; it should hold a header and a row for each response."
    )


def _within_limits(path: Path, sheet: Any, rows: Iterable[Any], first_row: int) -> Iterator[Any]:
    """Yield the rows of a sheet, with those that its file leaves out, up to what a sheet of Excel can have."""
    n_cells = 0
    for number, row in enumerate(rows, start=first_row):
        n_cells += len(row)
        if number > MOST_ROWS or len(row) > MOST_COLUMNS or n_cells > MOST_CELLS:
            raise InputError(
                f"{path}: the sheet {shown(sheet.title)} goes on beyond row {MOST_ROWS:,}, column {_letters(MOST_COLUMNS - 1)} "
                f"or {MOST_CELLS:,} cells; save it as CSV."
            )
        yield row


def _texts(row: Iterable[Any]) -> Iterator[str | None]:
    return (_text(cell.value) for cell in row)


def _is_formula(cell: Any) -> bool:
    return bool(cell.value is not None and cell.data_type == "f")


def _text(value: object) -> str | None:
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, timedelta) else as_text(value)


def _letters(place: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(place + 1))
