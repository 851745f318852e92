"""A file as a DuckDB relation: CSV, TSV, JSON Lines, Parquet or a log of another tool, every column text, every row numbered.

Wherever DuckDB's own message would leave the user searching, the file is looked at directly.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.hashing import READ_BYTES
from collector.hints import no_column
from collector.tables.logs import log_rows, write_table

if TYPE_CHECKING:
    import duckdb

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
LOG = "log"
CSV_DELIMITERS = (",", ";", "\t", "|")
# An answer may be long (5 MB is tested); DuckDB's own limits of 2 MB (CSV) and 16 MB (JSON) a row are too low for that.
MAX_ROW_BYTES = 64 << 20
MAX_BYTES = 64 << 30
HEADER_BYTES = 1 << 20
SAMPLED_ROWS = 10_000
MEMORY_LIMIT = "1GB"
# A folder called `model=x` is no column.
_AS_IT_IS = "hive_partitioning = false"
_JSONL_OPTIONS = f"{_AS_IT_IS}, format = 'newline_delimited', maximum_object_size = {MAX_ROW_BYTES}"
_PATTERN = re.compile(r"[*?\[]")
_NESTED = re.compile(r"STRUCT|MAP|UNION|\[|LIST|BLOB")


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: `connection` has the view `source` with row_number (from 1) and the needed columns as c0, c1, …

    Its format is csv, tsv, jsonl, parquet, or log for what is read from a scratch table of a log's rows.
    """

    path: Path
    format: str
    connection: duckdb.DuckDBPyConnection


@contextmanager
def open_source(
    path: Path, columns: Sequence[str], file_format: str | None, scratch: Path
) -> Iterator[Source]:
    """Open a table, or a log of another tool, for streaming reads on a connection of its own.

    Args:
        path: the file.
        columns: the columns needed, in the order in which they become c0, c1, …
        file_format: csv, tsv, jsonl, parquet, inspect, promptfoo or lm_eval; None tells it by the file's ending, and of JSON by
            its content.
        scratch: a folder for what does not fit in memory.

    Raises:
        InputError: absent, empty, not UTF-8, of an unknown or wrong format, or without a needed column.
    """
    import duckdb

    _require_file(path)
    _require_content(path)
    table, table_kind = path, None
    if (rows := log_rows(path, file_format)) is not None:
        kind, table, table_kind = LOG, scratch / "log.jsonl", "jsonl"
        write_table(path, rows, columns, table)
    else:
        kind = _format(path, file_format)
        if kind != "parquet":
            _require_utf8(path)
        if kind == "jsonl":
            table = _without_mark(path, scratch)
    connection = duckdb.connect(":memory:")
    try:
        connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("set temp_directory = ?", [str(scratch)])
        with readable(path, kind):
            _create_view(connection, path, table, table_kind or kind, columns)
        yield Source(path, kind, connection)
    finally:
        connection.close()


def source_columns(path: Path, is_known: Callable[[str], bool], file_format: str | None = None) -> list[str]:
    """Return the columns of a table, or of a log of another tool (of its first rows).

    Args:
        path: the file.
        is_known: as of column_names.
        file_format: as of open_source.

    Raises:
        InputError: as of open_source.
    """
    _require_file(path)
    _require_content(path)
    if (rows := log_rows(path, file_format)) is not None:
        return list(dict.fromkeys(name for row in islice(rows, SAMPLED_ROWS) for name in row))
    return column_names(path, is_known, file_format)


def column_names(path: Path, is_known: Callable[[str], bool], file_format: str | None = None) -> list[str]:
    """Return the columns of a table; none if a JSON Lines file has no object.

    Args:
        path: a file that exists and is not empty.
        is_known: whether a column is one of those hoped for; a CSV file's delimiter is the one that yields most of them.
        file_format: csv, tsv, jsonl or parquet; None tells it by the file's ending.

    Raises:
        InputError: not UTF-8, or not readable as what its ending says.
    """
    import duckdb

    kind = _format(path, file_format)
    if kind != "parquet":
        _require_utf8(path)
    if kind in ("csv", "tsv"):
        headers = _csv_headers(path, kind).values()
        return max(headers, key=lambda header: (sum(map(is_known, header)), len(header)))
    connection = duckdb.connect(":memory:")
    try:
        with readable(path, kind), tempfile.TemporaryDirectory(prefix="biasledger-") as scratch:
            if kind == "jsonl":
                table = _without_mark(path, Path(scratch))
                found = _json_keys(connection, f"read_json_objects({_file(table)}, {_JSONL_OPTIONS})")
                if not found and _bad_json_line(path):
                    raise _unreadable(path, kind, "")
                return found
            described = connection.execute(f"describe from read_parquet({_file(path)}, {_AS_IT_IS})")
            return [str(name) for name, *_ in described.fetchall()]
    finally:
        connection.close()


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what DuckDB says about an unreadable file, anywhere in the block, into an InputError."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{path} cannot be read: {_first_sentence(str(error))[:-1]}; a row should have at most {MAX_ROW_BYTES >> 20} MiB, "
            f"and temporary files need room."
        ) from None
    except duckdb.IOException as error:
        # A disk that is full or fails is no fault of a line.
        raise InputError(f"{path} cannot be read: {_first_sentence(str(error))}") from None
    except duckdb.Error as error:
        raise _unreadable(path, kind, str(error)) from None


def _require_file(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path} does not exist; name a CSV, TSV, JSON Lines or Parquet file.")
    if not path.is_file():
        raise InputError(f"{path} is not a file; name a CSV, TSV, JSON Lines or Parquet file.")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(
            f"{path} is larger than {MAX_BYTES >> 30} GiB; cut it into several files and import each."
        )


def _format(path: Path, stated: str | None) -> str:
    _require_file(path)
    if stated is not None:
        return stated
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"{path}: the ending {path.suffix or '(none)'} tells no known format; known: {', '.join(FORMATS)}, or state "
            f"import.format in the audit spec."
        )
    return found


def _require_content(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not first:
        raise InputError(f"{path} is empty; it should hold a row for each response.")


def _require_utf8(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    with path.open("rb") as stream:
        while True:
            block = stream.read(READ_BYTES)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # error.object is the block with what the decoder held back of the one before; that part has no line break.
                line = lines + error.object.count(b"\n", 0, error.start)
                raise InputError(f"{path}: line {line} is not UTF-8; save the file as UTF-8.") from None
            if not block:
                return
            lines += block.count(b"\n")


def _without_mark(path: Path, scratch: Path) -> Path:
    """Return a file of JSON Lines that DuckDB reads: a copy where it begins with a byte order mark, which DuckDB refuses."""
    with path.open("rb") as stream:
        if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return path
        table = scratch / "unmarked.jsonl"
        with table.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    return table


def _create_view(
    connection: duckdb.DuckDBPyConnection, path: Path, table: Path, kind: str, columns: Sequence[str]
) -> None:
    """Create the view `source` over a reader; parameters cannot stand in a view, so literals are quoted here.

    Args:
        connection: where.
        path: the file, for error sentences.
        table: the file that is read.
        kind: its format.
        columns: the columns needed.
    """
    file = _file(table)
    if kind == "parquet":
        reader, picked = _parquet_reader(connection, path, file, columns)
    elif kind == "jsonl":
        reader, picked = _jsonl_reader(connection, path, file, columns)
    else:
        reader, picked = _csv_reader(path, kind, file, columns)
    listed = ", ".join(f"{expression} as c{index}" for index, expression in enumerate(picked))
    connection.execute(
        f"create view source as select row_number() over () as row_number, {listed} from {reader}"
    )


def _parquet_reader(
    connection: duckdb.DuckDBPyConnection, path: Path, file: str, columns: Sequence[str]
) -> tuple[str, list[str]]:
    reader = f"read_parquet({file}, {_AS_IT_IS}, binary_as_string = true)"
    types = {
        str(name): str(type_) for name, type_, *_ in connection.execute(f"describe from {reader}").fetchall()
    }
    _require_columns(path, columns, list(types))
    for column in columns:
        if _NESTED.search(types[column].upper()):
            raise InputError(
                f"{path}: the column {column!r} is of type {types[column]}; it should be text or a number."
            )
    return reader, [f"{_identifier(column)}::varchar" for column in columns]


def _csv_reader(path: Path, kind: str, file: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    delimiter, header = _csv_header(path, kind, columns)
    names = ", ".join(f"{_literal(name)}: 'varchar'" for name in header)
    reader = (
        f"read_csv({file}, {_AS_IT_IS}, auto_detect = false, header = true, delim = {_literal(delimiter)}, "
        f"quote = '\"', escape = '\"', "
        f"columns = {{{names}}}, allow_quoted_nulls = false, strict_mode = true, max_line_size = {MAX_ROW_BYTES}, "
        f"buffer_size = {MAX_ROW_BYTES + HEADER_BYTES})"
    )
    return reader, [_identifier(column) for column in columns]


def _csv_header(path: Path, kind: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the delimiter and the header: the delimiter under which most of the needed columns are found."""
    headers = _csv_headers(path, kind)
    delimiter, header = max(headers.items(), key=lambda item: len(set(item[1]) & set(columns)))
    _require_columns(path, columns, header)
    repeated = sorted({name for name in header if header.count(name) > 1 and name in columns})
    if repeated:
        raise InputError(
            f"{path}: the header holds the column {repeated[0]!r} twice; each needs its own name."
        )
    # Columns that nobody reads may be unnamed or named alike; DuckDB wants them told apart.
    unique = [name if name in columns else f"unread {index}" for index, name in enumerate(header)]
    return delimiter, unique


def _csv_headers(path: Path, kind: str) -> dict[str, list[str]]:
    """Return for each delimiter that the header may have its columns."""
    with path.open("rb") as stream:
        text = stream.read(HEADER_BYTES).decode("utf-8-sig", "ignore")
    delimiters = ("\t",) if kind == "tsv" else CSV_DELIMITERS
    headers: dict[str, list[str]] = {}
    for delimiter in delimiters:
        try:
            headers[delimiter] = next(
                csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True), []
            )
        except csv.Error:
            continue
    if not headers:
        raise InputError(f"{path}: the header cannot be read as {kind.upper()}; quotes in it are not closed.")
    return headers


def _jsonl_reader(
    connection: duckdb.DuckDBPyConnection, path: Path, file: str, columns: Sequence[str]
) -> tuple[str, list[str]]:
    objects = f"read_json_objects({file}, {_JSONL_OPTIONS})"
    found = _json_keys(connection, f"(select json from {objects} limit {SAMPLED_ROWS})")
    if any(column not in found for column in columns):
        # A column may appear late; only a file that is about to be refused is read whole for it.
        found = _json_keys(connection, objects)
    if not found:
        raise no_rows(path)
    _require_columns(path, columns, found)
    names = ", ".join(f"{_literal(column)}: 'varchar'" for column in dict.fromkeys(columns))
    return f"read_json({file}, {_JSONL_OPTIONS}, columns = {{{names}}})", [
        _identifier(column) for column in columns
    ]


def _json_keys(connection: duckdb.DuckDBPyConnection, objects: str) -> list[str]:
    rows = connection.execute(
        f"select distinct unnest(json_keys(json)) from {objects} where json_type(json) = 'OBJECT'"
    ).fetchall()
    return sorted(str(name) for (name,) in rows)


def no_rows(path: Path) -> InputError:
    """Return the error for a file that holds no data row."""
    return InputError(f"{path} has no rows; it should hold one for each response.")


def _require_columns(path: Path, columns: Sequence[str], found: Sequence[str]) -> None:
    for column in columns:
        if column not in found:
            raise InputError(f"{path} has no column {column!r}{no_column(column, found)}")


def _unreadable(path: Path, kind: str, message: str) -> InputError:
    if kind == "jsonl" and (bad := _bad_json_line(path)):
        return InputError(f"{path}: line {bad[0]} is {bad[1]}; each line should be one JSON object.")
    if kind == "parquet":
        return InputError(f"{path} is not a readable Parquet file: {_first_sentence(message)}")
    if kind == LOG:
        return InputError(f"{path}: a sample cannot be read: {_first_sentence(message)}")
    line = re.search(r"(?:CSV Error on )?Line: (\d+)", message)
    cause = next(
        (
            part.strip()
            for part in message.splitlines()
            if part.strip() and not re.match(r".*Line: \d+|Original Line", part)
        ),
        message,
    )
    where = f"line {line[1]} " if line else "a line "
    return InputError(f"{path}: {where}cannot be read as {kind.upper()}: {_first_sentence(cause)}")


def _bad_json_line(path: Path) -> tuple[int, str] | None:
    """Return the number of the first line that is no JSON object, and what it is instead."""
    with path.open("rb") as stream:
        lines = iter(lambda: stream.readline(MAX_ROW_BYTES + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > MAX_ROW_BYTES:
                return number, f"longer than {MAX_ROW_BYTES >> 20} MiB"
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if not text:
                continue
            try:
                value = json.loads(text)
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:
                return number, "JSON with half a surrogate pair (\\ud800 to \\udfff), which is no character"
            except (ValueError, RecursionError) as error:
                return number, f"not valid JSON ({error})"
            if not isinstance(value, dict):
                return number, f"a JSON {type(value).__name__} and no object"
    return None


def _first_sentence(message: str) -> str:
    text = message.splitlines()[0]
    text = re.sub(r"^(?:[A-Z][A-Za-z ]*Error: )+", "", text)
    return text.rstrip(". ") + "."


def _file(path: Path) -> str:
    """Return a path as a literal that DuckDB takes for this one file: in patterns * ? [ stand for themselves in brackets.

    Raises:
        InputError: it has a backslash as well, which has a meaning of its own in patterns.
    """
    place = str(path.resolve())
    if _PATTERN.search(place) and "\\" in place:
        raise InputError(
            f"{path} has a backslash and one of * ? [ in its name or its folders': give it another name."
        )
    return _literal(_PATTERN.sub(r"[\g<0>]", place))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
