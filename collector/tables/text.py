"""Prepare a text file of rows for DuckDB: UTF-8, even line ends, and a header in its first line."""

from __future__ import annotations

import codecs
import csv
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from collector.tables.encodings import (
    STATE_ENCODING,
    as_utf8,
    marked_encoding,
    require_utf8,
    with_even_line_ends,
)

CSV_KINDS = ("csv", "tsv")
HEADER_BYTES = 1 << 20
# The line that Excel writes at the beginning to name the separator, which may be a literal tab.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[;,\t]*', re.IGNORECASE)
# An empty line before the header, as in a sheet that begins with empty rows.
_EMPTY_LINE = re.compile(r'[\s;,|"]*')


@dataclass(frozen=True, slots=True)
class TextTable:
    """A text file as DuckDB reads it.

    Attributes:
        path: the file, or a copy.
        delimiter: the separator that the file itself names.
        n_skipped: how many lines before the header the copy lacks.
    """

    path: Path
    delimiter: str | None = None
    n_skipped: int = 0


def text_table(
    path: Path, kind: str, encoding: str | None, scratch: Path, or_else: str = STATE_ENCODING
) -> TextTable:
    """Return a file that DuckDB reads: the file itself where that can be.

    Args:
        path: the file.
        kind: csv, tsv, json or jsonl.
        encoding: its encoding; None reads UTF-8, or the encoding of a byte order mark.
        scratch: a folder for a copy.
        or_else: as in require_utf8.

    Raises:
        InputError: the file is not in its encoding.
    """
    encoding = encoding or marked_encoding(path)
    table = path if encoding is None else as_utf8(path, encoding, scratch / f"text.{kind}")
    is_uneven = require_utf8(table, or_else)
    if kind == "jsonl":
        return TextTable(_without_mark(table, scratch))
    if kind not in CSV_KINDS:
        return TextTable(table)
    if is_uneven:
        table = with_even_line_ends(table, scratch / f"even.{kind}")
    return _from_header(table, scratch / f"rows.{kind}")


def _without_mark(path: Path, scratch: Path) -> Path:
    """Return a file of JSON Lines that DuckDB reads: a copy where it begins with a byte order mark, which DuckDB refuses."""
    with path.open("rb") as stream:
        if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return path
        table = scratch / "unmarked.jsonl"
        with table.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    return table


def _from_header(path: Path, copy: Path) -> TextTable:
    """Return a CSV file without the lines before its header: empty ones, and the one that names the separator."""
    delimiter = None
    n_skipped = place = 0
    with path.open("rb") as stream:
        for line in iter(lambda: stream.readline(HEADER_BYTES), b""):
            text = line.decode("utf-8-sig", "ignore").strip("\r\n")
            named = _SEPARATOR_LINE.fullmatch(text) if delimiter is None else None
            if named is None and (_EMPTY_LINE.fullmatch(text) is None or len(line) == HEADER_BYTES):
                break
            delimiter = named[1] if named else delimiter
            n_skipped += 1
            place = stream.tell()
        else:
            # Nothing but such lines: the reader of the file reports that it is empty.
            copy.write_bytes(b"")
            return TextTable(copy, delimiter, n_skipped)
        if not n_skipped:
            return TextTable(path)
        stream.seek(place)
        with copy.open("wb") as target:
            shutil.copyfileobj(stream, target)
    return TextTable(copy, delimiter, n_skipped)


def csv_headers(table: TextTable, kind: str, delimiters: tuple[str, ...]) -> dict[str, list[str]]:
    """Return for each delimiter that the header may have its columns; none where the header cannot be read.

    Args:
        table: the file.
        kind: csv or tsv.
        delimiters: those that are tried where the file names none.
    """
    with table.path.open("rb") as stream:
        text = stream.read(HEADER_BYTES).decode("utf-8-sig", "ignore")
    if kind == "tsv":
        delimiters = ("\t",)
    headers: dict[str, list[str]] = {}
    for delimiter in (table.delimiter,) if table.delimiter else delimiters:
        try:
            rows = csv.reader(
                text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True
            )
            headers[delimiter] = [name.strip() for name in next(rows, [])]
        except csv.Error:
            continue
    return headers
