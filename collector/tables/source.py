"""A file of answers as a DuckDB relation, every column text, every row numbered.

CSV, TSV, JSON Lines, an array in JSON and Parquet are read by DuckDB; a sheet of Excel, a folder of a dataset and a log of
another tool become a scratch table first. Wherever DuckDB's own message would leave the user searching, the file
is looked at directly.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.files.plain import MAX_TABLE_BYTES, read_plain
from collector.hashing import canonical_json, hash_of_file, tagged_hash
from collector.hints import no_column
from collector.tables.dataset_folder import dataset_columns, dataset_files, write_dataset
from collector.tables.encodings import as_utf8, require_utf8
from collector.tables.excel import open_sheet
from collector.tables.log_rows import LogRow, no_rows
from collector.tables.logs import log_rows, write_table

if TYPE_CHECKING:
    import duckdb

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
LOG, DATASET = "log", "dataset"
# Text, which has an encoding, and what has several tables of which one is read.
_TEXT = ("csv", "tsv", "jsonl", "json")
_TABLES = {"xlsx": "sheet", DATASET: "split"}
CSV_DELIMITERS = (",", ";", "\t", "|")
# An answer may be long (5 MB is tested); DuckDB's own limits of 2 MB (CSV) and 16 MB (JSON) a row are too low for that.
MAX_ROW_BYTES = 64 << 20
MAX_BYTES = 64 << 30
HEADER_BYTES = 1 << 20
SAMPLED_ROWS = 10_000
MEMORY_LIMIT = "1GB"
_FILES = "a file of CSV, TSV, JSON, Parquet or Excel (.xlsx), or a dataset's folder"
# What spreadsheets and others write, and what it can be saved as.
_OTHERS = {".xls": ".xlsx", ".ods": ".xlsx", ".numbers": ".xlsx", ".feather": ".parquet", ".txt": ".csv"}
# A folder called `model=x` is no column.
_AS_IT_IS = "hive_partitioning = false"
_JSON_FORMATS = {"jsonl": "newline_delimited", "json": "array"}
_PATTERN = re.compile(r"[*?\[]")
_NESTED = re.compile(r"STRUCT|MAP|UNION|\[|LIST|BLOB")


@dataclass(frozen=True, slots=True)
class Form:
    """How a file is to be read, as far as that is stated.

    Attributes:
        format: csv, tsv, jsonl, json, parquet, xlsx, inspect, promptfoo or lm_eval; None tells it by the file's ending, and of
            JSON by its content.
        table: which sheet of a workbook, or split of a dataset.
        encoding: of text that is not UTF-8.
    """

    format: str | None = None
    table: str | None = None
    encoding: str | None = None


AS_IT_LOOKS = Form()


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: `connection` has the view `source` with row_number (from 1) and the needed columns as c0, c1, …

    Its format is csv, tsv, jsonl, json or parquet, or for what is read from a scratch table xlsx, dataset or log. `table` is the
    file that is read, and `notes` say what is allowed but should be known.
    """

    path: Path
    format: str
    connection: duckdb.DuckDBPyConnection
    table: Path
    notes: Sequence[str] = ()

    def readable(self) -> AbstractContextManager[None]:
        """Return the context that turns what DuckDB says about the file into an InputError."""
        return readable(self.path, self.format, self.table)


@contextmanager
def open_source(path: Path, columns: Sequence[str], form: Form | None, scratch: Path) -> Iterator[Source]:
    """Open a table, or a log of another tool, for streaming reads on a connection of its own.

    Args:
        path: the file, or the folder of a dataset.
        columns: the columns needed, in the order in which they become c0, c1, …
        form: how it is to be read; None goes by its looks.
        scratch: a folder for what does not fit in memory.

    Raises:
        InputError: absent, empty, not in its encoding, of an unknown or wrong format, or without a needed column.
    """
    import duckdb

    form = form or AS_IT_LOOKS
    kind, rows = _looked_at(path, form)
    table, table_kind, notes = _table(path, kind, rows, form, columns, scratch)
    connection = duckdb.connect(":memory:")
    try:
        connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("set temp_directory = ?", [str(scratch)])
        with readable(path, kind, table):
            _create_view(connection, path, table, table_kind, columns)
        yield Source(path, kind, connection, table, notes)
    finally:
        connection.close()


def _table(
    path: Path, kind: str, rows: Iterator[LogRow] | None, form: Form, columns: Sequence[str], scratch: Path
) -> tuple[Path, str, Sequence[str]]:
    """Return the file that DuckDB reads, its format, and notes: the file itself, or a scratch table of its needed columns."""
    if rows is not None:
        write_table(path, rows, columns, scratch / "log.jsonl")
        return scratch / "log.jsonl", "jsonl", ()
    if kind == "xlsx":
        with open_sheet(path, form.table) as sheet:
            write_table(path, sheet.rows(columns), columns, scratch / "sheet.jsonl")
        return scratch / "sheet.jsonl", "jsonl", sheet.notes
    if kind == DATASET:
        write_dataset(path, form.table, columns, scratch / "dataset.parquet")
        return scratch / "dataset.parquet", "parquet", ()
    return _text_table(path, kind, form, scratch), kind, ()


def _text_table(path: Path, kind: str, form: Form, scratch: Path) -> Path:
    """Return a file that DuckDB reads: of text, one that is UTF-8."""
    if kind not in _TEXT:
        return path
    table = path
    if form.encoding is not None:
        table = as_utf8(path, form.encoding, scratch / f"text.{kind}")
    else:
        require_utf8(path)
    return _without_mark(table, scratch) if kind == "jsonl" else table


def source_columns(path: Path, is_known: Callable[[str], bool], form: Form | None = None) -> list[str]:
    """Return the columns of a table, or of a log of another tool (of its first rows).

    Args:
        path: the file, or the folder of a dataset.
        is_known: as of column_names.
        form: as of open_source.

    Raises:
        InputError: as of open_source.
    """
    form = form or AS_IT_LOOKS
    _, rows = _looked_at(path, form)
    if rows is not None:
        return list(dict.fromkeys(name for row in islice(rows, SAMPLED_ROWS) for name in row))
    return column_names(path, is_known, form)


def column_names(path: Path, is_known: Callable[[str], bool], form: Form | None = None) -> list[str]:
    """Return the columns of a table; none if a file of JSON has no object.

    Args:
        path: a file that exists and is not empty, or the folder of a dataset.
        is_known: whether a column is one of those hoped for; a CSV file's delimiter is the one that yields most of them.
        form: how it is to be read; None goes by its looks.

    Raises:
        InputError: not in its encoding, or not readable as what its ending says.
    """
    import duckdb

    form = form or AS_IT_LOOKS
    kind = _format(path, form.format)
    if kind == DATASET:
        return dataset_columns(path, form.table)
    if kind == "xlsx":
        with open_sheet(path, form.table) as sheet:
            return list(sheet.columns)
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-") as scratch,
        duckdb.connect(":memory:") as connection,
    ):
        table = _text_table(path, kind, form, Path(scratch))
        if kind in ("csv", "tsv"):
            headers = _csv_headers(path, table, kind).values()
            return max(headers, key=lambda header: (sum(map(is_known, header)), len(header)))
        with readable(path, kind, table):
            if kind in _JSON_FORMATS:
                found = _json_keys(connection, f"read_json_objects({_file(table)}, {_json_options(kind)})")
                if not found and (error := _bad_json(path, kind, table)):
                    raise error
                return found
            described = connection.execute(f"describe from read_parquet({_file(path)}, {_AS_IT_IS})")
            return [str(name) for name, *_ in described.fetchall()]


def sheet_notes(path: Path) -> list[str]:
    """Return which sheet of a workbook is read where none is named; nothing for any other file."""
    if path.is_dir() or FORMATS.get(path.suffix.lower()) != "xlsx":
        return []
    with open_sheet(path, None) as sheet:
        return sheet.notes


def content_hash(path: Path, form: Form | None = None) -> str:
    """Return the tagged hash of a file's bytes; of a dataset's folder, that of its files' names and hashes as canonical JSON.

    Raises:
        InputError: it cannot be read.
    """
    if not path.is_dir():
        return hash_of_file(path)
    files = dataset_files(path, (form or AS_IT_LOOKS).table)
    return tagged_hash(canonical_json({str(file.relative_to(path)): hash_of_file(file) for file in files}))


@contextmanager
def readable(path: Path, kind: str, table: Path | None = None) -> Iterator[None]:
    """Turn what DuckDB says about an unreadable file, anywhere in the block, into an InputError.

    Args:
        path: the file, as the user knows it.
        kind: its format.
        table: the file that is read, if that is another one.
    """
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
        raise _unreadable(path, kind, table or path, str(error)) from None


def _require_file(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path} does not exist; name {_FILES}.")
    if path.is_dir():
        return
    if not path.is_file():
        raise InputError(f"{path} is not a file; name {_FILES}.")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(
            f"{path} is larger than {MAX_BYTES >> 30} GiB; cut it into several files and import each."
        )


def _looked_at(path: Path, form: Form) -> tuple[str, Iterator[LogRow] | None]:
    """Return a file's format, and the rows of a log; refuse what is stated and does not go with it."""
    _require_file(path)
    rows = None
    if not path.is_dir():
        _require_content(path)
        rows = None if _is_array(path, form.format) else log_rows(path, form.format)
    kind = _format(path, form.format) if rows is None else LOG
    if form.encoding is not None and kind not in _TEXT:
        raise InputError(
            f"{path} has no encoding to name; leave --encoding out, which is for CSV, TSV and JSON."
        )
    if form.table is not None and kind not in _TABLES:
        raise InputError(f"{path} is one table; leave --sheet out, which is for workbooks and datasets.")
    return kind, rows


def _is_array(path: Path, stated: str | None) -> bool:
    """Whether a .json file's first character that is no blank is a bracket, whatever its encoding."""
    if stated is not None or path.suffix.lower() != ".json":
        return False
    with path.open("rb") as stream:
        return stream.read(HEADER_BYTES).translate(None, b"\x00\xef\xbb\xbf\xff\xfe \t\r\n")[:1] == b"["


def _format(path: Path, stated: str | None) -> str:
    _require_file(path)
    if path.is_dir():
        return DATASET
    if stated is not None:
        return stated
    ending = path.suffix.lower()
    if ending in FORMATS:
        return FORMATS[ending]
    if ending in _OTHERS:
        raise InputError(
            f"{path}: {ending} is not read; save it as {_OTHERS[ending]}, or state import.format in the audit spec where it is "
            f"one of these: {', '.join(dict.fromkeys(FORMATS.values()))}."
        )
    raise InputError(
        f"{path}: the ending {path.suffix or '(none)'} tells no known format; known: {', '.join(FORMATS)}, or state "
        f"import.format in the audit spec."
    )


def _require_content(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not first:
        raise InputError(f"{path} is empty; it should hold a row for each response.")


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
    elif kind in _JSON_FORMATS:
        reader, picked = _json_reader(connection, path, kind, table, columns)
    else:
        reader, picked = _csv_reader(path, kind, table, columns)
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


def _csv_reader(path: Path, kind: str, table: Path, columns: Sequence[str]) -> tuple[str, list[str]]:
    delimiter, header = _csv_header(path, kind, table, columns)
    names = ", ".join(f"{_literal(name)}: 'varchar'" for name in header)
    reader = (
        f"read_csv({_file(table)}, {_AS_IT_IS}, auto_detect = false, header = true, delim = {_literal(delimiter)}, "
        f"quote = '\"', escape = '\"', "
        f"columns = {{{names}}}, allow_quoted_nulls = false, strict_mode = true, max_line_size = {MAX_ROW_BYTES}, "
        f"buffer_size = {MAX_ROW_BYTES + HEADER_BYTES})"
    )
    return reader, [_identifier(column) for column in columns]


def _csv_header(path: Path, kind: str, table: Path, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the delimiter and the header: the delimiter under which most of the needed columns are found."""
    headers = _csv_headers(path, table, kind)
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


def _csv_headers(path: Path, table: Path, kind: str) -> dict[str, list[str]]:
    """Return for each delimiter that the header may have its columns."""
    with table.open("rb") as stream:
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


def _json_options(kind: str) -> str:
    return f"{_AS_IT_IS}, format = '{_JSON_FORMATS[kind]}', maximum_object_size = {MAX_ROW_BYTES}"


def _json_reader(
    connection: duckdb.DuckDBPyConnection, path: Path, kind: str, table: Path, columns: Sequence[str]
) -> tuple[str, list[str]]:
    file, options = _file(table), _json_options(kind)
    objects = f"read_json_objects({file}, {options})"
    found = _json_keys(connection, f"(select json from {objects} limit {SAMPLED_ROWS})")
    if any(column not in found for column in columns):
        # A column may appear late; only a file that is about to be refused is read whole for it.
        found = _json_keys(connection, objects)
    if not found:
        raise _bad_json(path, kind, table) or no_rows(path)
    _require_columns(path, columns, found)
    names = ", ".join(f"{_literal(column)}: 'varchar'" for column in dict.fromkeys(columns))
    return f"read_json({file}, {options}, columns = {{{names}}})", [_identifier(column) for column in columns]


def _json_keys(connection: duckdb.DuckDBPyConnection, objects: str) -> list[str]:
    rows = connection.execute(
        f"select distinct unnest(json_keys(json)) from {objects} where json_type(json) = 'OBJECT'"
    ).fetchall()
    return sorted(str(name) for (name,) in rows)


def _require_columns(path: Path, columns: Sequence[str], found: Sequence[str]) -> None:
    for column in columns:
        if column not in found:
            raise InputError(f"{path} has no column {column!r}{no_column(column, found)}")


def _unreadable(path: Path, kind: str, table: Path, message: str) -> InputError:
    if kind in _JSON_FORMATS and (error := _bad_json(path, kind, table)):
        return error
    if kind == "parquet":
        said = _first_sentence(message).replace(str(table.resolve()), path.name)
        return InputError(f"{path} is not a readable Parquet file: {said}")
    if kind == LOG:
        return InputError(f"{path}: a sample cannot be read: {_first_sentence(message)}")
    if kind in (*_TABLES, "json"):
        return InputError(f"{path}: a row cannot be read: {_first_sentence(message)}")
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
    if cells := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return InputError(
            f"{path}: {where}has {cells[2]} cell{'' if cells[2] == '1' else 's'} and the header {cells[1]}; a cell that holds "
            f"the separator or a line break stands in double quotes."
        )
    return InputError(f"{path}: {where}cannot be read as {kind.upper()}: {_first_sentence(cause)}")


def _bad_json(path: Path, kind: str, table: Path) -> InputError | None:
    """Return what is wrong in a file of JSON, None where nothing is found."""
    if kind == "json":
        return _bad_json_array(path, table)
    if bad := _bad_json_line(table):
        return InputError(f"{path}: line {bad[0]} is {bad[1]}; each line should be one JSON object.")
    return None


def _bad_json_array(path: Path, table: Path) -> InputError | None:
    """Return what is wrong in an array; one that is very long is not looked into."""
    if table.stat().st_size > MAX_TABLE_BYTES:
        return None
    try:
        value = json.loads(read_plain(table, MAX_TABLE_BYTES).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return InputError(f"{path} is not valid JSON ({error}).")
    if not isinstance(value, list):
        return InputError(
            f"{path} is a JSON {type(value).__name__}; it should be an array of objects, [{{…}}, …]."
        )
    for number, one in enumerate(value, start=1):
        if not isinstance(one, dict):
            return InputError(
                f"{path}: element {number} is a JSON {type(one).__name__}; each should be an object."
            )
        if not _can_be_written(one):
            return InputError(f"{path}: element {number} has {_HALF_PAIR}.")
    return None


_HALF_PAIR = "half a surrogate pair (\\ud800 to \\udfff), which is no character"


def _can_be_written(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


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
            except (ValueError, RecursionError) as error:
                return number, f"not valid JSON ({error})"
            if not _can_be_written(value):
                return number, f"JSON with {_HALF_PAIR}"
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
