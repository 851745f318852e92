"""A file of rows as a DuckDB relation, every column text, every row numbered.

CSV, TSV, JSON Lines, an array in JSON and Parquet are read by DuckDB; a sheet of Excel, a folder of a dataset or of JSON files
and a log of another tool become a scratch table first. Wherever DuckDB's own message would leave the user searching, the file is
looked at directly. Columns are found as `collector.tables.columns` says, also inside JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.files.plain import require_ratio
from collector.files.scratch import scratch_folder
from collector.hashing import canonical_json, hash_of_file, tagged_hash
from collector.sql import identifier, literal
from collector.tables.columns import (
    Found,
    column_name,
    has_steps,
    json_paths,
    missing_column,
    nested_names,
    require_column,
    require_distinct,
)
from collector.tables.dataset_folder import dataset_columns, dataset_files, is_dataset, write_dataset
from collector.tables.encodings import STATE_ENCODING
from collector.tables.excel import open_sheet
from collector.tables.json_files import MAX_ROW_BYTES, json_error, json_files, write_folder
from collector.tables.log_rows import LogRow, no_rows
from collector.tables.logs import log_rows, write_table
from collector.tables.marks import marked_column, without_marks
from collector.tables.text import CSV_KINDS, HEADER_BYTES, TextTable, csv_headers, text_table

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
LOG, DATASET, FOLDER = "log", "dataset", "folder"
# Formats of text, which have an encoding, and formats with several tables.
_TEXT = (*CSV_KINDS, "jsonl", "json")
_TABLES = {"xlsx": "sheet", DATASET: "split"}
CSV_DELIMITERS = (",", ";", "\t", "|")
MAX_BYTES = 64 << 30
# Parquet shrinks columns of few different texts to almost nothing, so its limits are larger than those of other files.
PARQUET_RATIO = 1000
PARQUET_FREE_BYTES = 1 << 30
SAMPLED_ROWS = 10_000
MEMORY_LIMIT = "1GB"
_FILES = "a file of CSV, TSV, JSON, Parquet or Excel (.xlsx), a dataset's folder, or a folder of JSON files"
# Formats of spreadsheets and other programs -> the format to save them as.
_OTHERS = {".xls": ".xlsx", ".ods": ".xlsx", ".numbers": ".xlsx", ".feather": ".parquet", ".txt": ".csv"}
# A folder called `model=x` is no column.
_AS_IT_IS = "hive_partitioning = false"
_JSON_FORMATS = {"jsonl": "newline_delimited", "json": "array"}
_PATTERN = re.compile(r"[*?\[]")
_NESTED = re.compile(r"STRUCT|MAP|UNION|\[|LIST|BLOB")


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a file, as far as it is stated.

    Attributes:
        format: csv, tsv, jsonl, json, parquet, xlsx, inspect, promptfoo or lm_eval; None infers it from the file's ending, and of
            JSON by its content.
        table: which sheet of a workbook, or split of a dataset.
        encoding: of text that is not UTF-8.
        or_else: what can be done about text that is not, other than saving it as UTF-8.
        duplicates: "drop" leaves out rows that repeat an earlier one in every column that is read.
    """

    format: str | None = None
    table: str | None = None
    encoding: str | None = None
    or_else: str = STATE_ENCODING
    duplicates: str | None = None


AS_IT_LOOKS = Form()
# The columns of a file with a column of answers for each group: which group, its answer, and the number of the row.
GROUP_COLUMN, ANSWER_COLUMN, ROW_COLUMN = MADE_COLUMNS = ("\0group", "\0answer", "\0row")


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: `connection` has the view `source` with row_number (from 1) and the needed columns as c0, c1, …

    Its format is csv, tsv, jsonl, json or parquet, or for what is read from a scratch table xlsx, dataset, folder or log. `table`
    is the file that is read, of which `n_skipped` lines before the header were left out, and `notes` say what is allowed but
    should be known. A row of the file makes `n_answers` rows of the view. `row_hashes` is SQL for a hash of each row of the file,
    over all of its columns if `are_whole`, else over those that are read; empty for a log.
    """

    path: Path
    format: str
    connection: duckdb.DuckDBPyConnection
    table: Path
    notes: Sequence[str] = ()
    n_skipped: int = 0
    n_answers: int = 1
    row_hashes: str = ""
    are_whole: bool = True

    def n_repeated(self) -> int:
        """Return how many rows of the file repeat an earlier one exactly; 0 for a log."""
        if not self.row_hashes:
            return 0
        rows = self.connection.execute(f"select count(*) - count(distinct row_hash) from ({self.row_hashes})")
        return int(rows.fetchall()[0][0])

    def readable(self) -> AbstractContextManager[None]:
        """Return the context that turns what DuckDB says about the file into an InputError."""
        return readable(self.path, self.format, self.table, self.n_skipped)


@contextmanager
def open_source(
    path: Path,
    columns: Sequence[str],
    form: Form = AS_IT_LOOKS,
    answers: Mapping[str, str] | None = None,
) -> Iterator[Source]:
    """Open a table, or a log of another tool, for streaming reads on a connection of its own.

    Args:
        path: the file, or a folder of a dataset or of JSON files.
        columns: the columns needed, in the order in which they become c0, c1, …
        form: how it is to be read.
        answers: group -> the column of its answers, where a row holds an answer for each group. The row then becomes one for each
            of them, in this order, with the columns GROUP_COLUMN, ANSWER_COLUMN and ROW_COLUMN.

    Raises:
        InputError: absent, empty, not in its encoding, of an unknown or wrong format, or without a needed column.
    """
    import duckdb

    kind, rows = _looked_at(path, form)
    stated = (marked_column(column) for column in columns if column not in MADE_COLUMNS)
    needed = list(dict.fromkeys([*stated, *(answers or {}).values()]))
    with scratch_folder() as scratch, duckdb.connect(":memory:") as connection:
        table, table_kind, notes = _table(path, kind, rows, form, needed, scratch)
        connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("set temp_directory = ?", [str(scratch)])
        with readable(path, kind, table.path, table.n_skipped):
            relation, cells = _relation(connection, path, table, table_kind, needed)
            at, marks = without_marks(connection, relation, dict(zip(needed, cells, strict=True)))
            connection.execute(f"create view source as {_rows_sql(relation, at, columns, answers)}")
            if form.duplicates == "drop":
                _drop_duplicates(connection, columns)
        row_hashes = f"select hash(*columns(*)) as row_hash from {relation}"
        if table_kind in _JSON_FORMATS:
            objects = f"read_json_objects({_file(table.path)}, {_json_options(table_kind)})"
            row_hashes = f"select hash(json) as row_hash from {objects}"
        yield Source(
            path,
            kind,
            connection,
            table.path,
            [*notes, *marks],
            table.n_skipped,
            len(answers or ()) or 1,
            "" if rows is not None else row_hashes,
            kind not in ("xlsx", DATASET),
        )


def read_table(
    path: Path, columns: Sequence[str], form: Form = AS_IT_LOOKS, *, most: int | None = None
) -> list[tuple[str | None, ...]]:
    """Return the cells of the columns in each row of a file, or in its first `most` rows.

    Raises:
        InputError: as in open_source, or a row cannot be read.
    """
    listed = ", ".join(f"c{place}" for place in range(len(columns)))
    with open_source(path, columns, form) as source, source.readable():
        # The first rows without an order, which would need all of them.
        part = "order by row_number" if most is None else f"limit {most}"
        return source.connection.execute(f"select {listed} from source {part}").fetchall()


def _drop_duplicates(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
    """Leave out rows that repeat an earlier one in every column; those that stay keep their numbers and their order."""
    alike = ", ".join(f"c{index}" for index, column in enumerate(columns) if column != ROW_COLUMN)
    connection.execute("alter view source rename to every_row")
    connection.execute(
        f"create table source as from every_row "
        f"qualify row_number() over (partition by {alike} order by row_number) = 1 order by row_number"
    )


def _rows_sql(
    relation: str, at: Mapping[str, str], columns: Sequence[str], answers: Mapping[str, str] | None
) -> str:
    """Return the view's rows as SQL: those of the file, or each of them once for every group that has an answer in it."""
    made = {ROW_COLUMN: "(row_number() over ())::varchar"}
    if answers:
        made = {
            GROUP_COLUMN: f"unnest([{', '.join(map(literal, answers))}])",
            ANSWER_COLUMN: f"unnest([{', '.join(at[column] for column in answers.values())}])",
            ROW_COLUMN: "file_row::varchar",
        }
    listed = "".join(
        f", {made.get(column) or at[column]} as c{index}" for index, column in enumerate(columns)
    )
    if not answers:
        return f"select row_number() over () as row_number{listed} from {relation}"
    places = f"unnest(range(1, {len(answers) + 1}))"
    return (
        f"select (file_row - 1) * {len(answers)} + {places} as row_number{listed} "
        f"from (select row_number() over () as file_row, * from {relation})"
    )


def _table(
    path: Path, kind: str, rows: Iterator[LogRow] | None, form: Form, columns: Sequence[str], scratch: Path
) -> tuple[TextTable, str, Sequence[str]]:
    """Return the file that DuckDB reads, its format, and notes: the file itself, or a scratch table of its needed columns."""
    if rows is not None:
        write_table(path, rows, columns, scratch / "log.jsonl")
        return TextTable(scratch / "log.jsonl"), "jsonl", ()
    if kind == "xlsx":
        with open_sheet(path, form.table) as sheet:
            write_table(path, sheet.rows(columns), columns, scratch / "sheet.jsonl")
        return TextTable(scratch / "sheet.jsonl"), "jsonl", sheet.notes
    if kind == DATASET:
        import duckdb

        with duckdb.connect(":memory:") as connection, readable(path, "parquet"):
            for file in dataset_files(path, form.table):
                if file.suffix == ".parquet":
                    _require_bounded(connection, file, *_parquet_relation(connection, file), columns)
        write_dataset(path, form.table, columns, scratch / "dataset.parquet")
        return TextTable(scratch / "dataset.parquet"), "parquet", ()
    if kind == FOLDER:
        write_folder(path, form.encoding, scratch / "folder.jsonl")
        return TextTable(scratch / "folder.jsonl"), "jsonl", ()
    if kind in _TEXT:
        return text_table(path, kind, form.encoding, scratch, form.or_else), kind, ()
    return TextTable(path), kind, ()


def source_columns(path: Path, is_known: Callable[[str], bool], form: Form = AS_IT_LOOKS) -> list[str]:
    """Return the columns of a table, or of a log of another tool (of its first rows).

    Args:
        path: the file, or the folder of a dataset.
        is_known: as in column_names.
        form: as in open_source.

    Raises:
        InputError: as in open_source.
    """
    _, rows = _looked_at(path, form)
    if rows is not None:
        return list(dict.fromkeys(name for row in islice(rows, SAMPLED_ROWS) for name in row))
    return column_names(path, is_known, form)


def column_names(path: Path, is_known: Callable[[str], bool], form: Form = AS_IT_LOOKS) -> list[str]:
    """Return the columns of a table, and what the objects in them hold under dotted names; none if a file of JSON has no object.

    Args:
        path: a file that exists and is not empty, or the folder of a dataset or of JSON files.
        is_known: whether a column is one of those hoped for; a CSV file's delimiter is the one that yields most of them.
        form: how it is to be read.

    Raises:
        InputError: not in its encoding, or not readable as what its ending says.
    """
    import duckdb

    kind = _format(path, form.format)
    if kind == DATASET:
        return [column_name(name) for name in dataset_columns(path, form.table)]
    if kind == "xlsx":
        with open_sheet(path, form.table) as sheet:
            return [column_name(name) for name in sheet.columns]
    with scratch_folder() as scratch, duckdb.connect(":memory:") as connection:
        table, table_kind, _ = _table(path, kind, None, form, (), scratch)
        if table_kind in CSV_KINDS:
            headers = _csv_headers(path, table, kind).values()
            listed = ([column_name(name) for name in header] for header in headers)
            return max(listed, key=lambda header: (sum(map(is_known, header)), len(header)))
        with readable(path, kind, table.path):
            if table_kind in _JSON_FORMATS:
                options = f"{_file(table.path)}, {_json_options(table_kind)}"
                found = _json_keys(connection, f"read_json_objects({options})")
                if not found and (error := json_error(path, kind, table.path)):
                    raise error
                structures = _structures(connection, f"read_json_objects({options})", "json")
            else:
                types = _parquet_types(connection, path)
                found, structures = list(types), {name: _structure(one) for name, one in types.items()}
    listed_names = (
        (column_name(name), *nested_names(column_name(name), structures.get(name))) for name in found
    )
    return list(dict.fromkeys(name for names in listed_names for name in names))


def sheet_notes(path: Path) -> list[str]:
    """Return which sheet of a workbook is read where none is named; nothing for any other file."""
    if path.is_dir() or FORMATS.get(path.suffix.lower()) != "xlsx":
        return []
    with open_sheet(path, None) as sheet:
        return sheet.notes


def content_hash(path: Path, form: Form = AS_IT_LOOKS) -> str:
    """Return the tagged hash of a file's bytes; of a folder, that of its files' names and hashes as canonical JSON.

    Raises:
        InputError: it cannot be read.
    """
    if not path.is_dir():
        return hash_of_file(path)
    is_of_json = _format(path, None) == FOLDER
    files = json_files(path) if is_of_json else dataset_files(path, form.table)
    return tagged_hash(canonical_json({str(file.relative_to(path)): hash_of_file(file) for file in files}))


@contextmanager
def readable(path: Path, kind: str, table: Path | None = None, n_skipped: int = 0) -> Iterator[None]:
    """Turn what DuckDB says about an unreadable file, anywhere in the block, into an InputError.

    Args:
        path: the file, as the user knows it.
        kind: its format.
        table: the file that is read, if that is another one.
        n_skipped: how many lines of the file it lacks at its beginning.
    """
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{path} cannot be read: {_first_sentence(str(error))[:-1]}; a row should have at most {MAX_ROW_BYTES >> 20} MiB, "
            f"and temporary files need disk space."
        ) from None
    except duckdb.IOException as error:
        # A disk that is full or fails is no fault of a line.
        raise InputError(f"{path} cannot be read: {_first_sentence(str(error))}") from None
    except duckdb.Error as error:
        raise _unreadable(path, kind, table or path, str(error), n_skipped) from None


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
    if form.encoding is not None and kind not in (*_TEXT, FOLDER):
        raise InputError(
            f"{path} has no encoding to name; leave --encoding out, which is for CSV, TSV and JSON."
        )
    if form.table is not None and kind not in _TABLES:
        raise InputError(f"{path} is one table; leave --sheet out, which is for workbooks and datasets.")
    return kind, rows


def _is_array(path: Path, stated: str | None) -> bool:
    """Return whether a .json file's first character that is no blank is a bracket, in any encoding."""
    if stated is not None or path.suffix.lower() != ".json":
        return False
    with path.open("rb") as stream:
        return stream.read(HEADER_BYTES).translate(None, b"\x00\xef\xbb\xbf\xff\xfe \t\r\n")[:1] == b"["


def _format(path: Path, stated: str | None) -> str:
    _require_file(path)
    if path.is_dir():
        return FOLDER if not is_dataset(path) and json_files(path) else DATASET
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
        f"{path}: the ending {path.suffix or '(none)'} belongs to no known format; known: {', '.join(FORMATS)}, or state "
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


def _relation(
    connection: duckdb.DuckDBPyConnection, path: Path, table: TextTable, kind: str, columns: Sequence[str]
) -> tuple[str, list[str]]:
    """Return a file as SQL: what to select from, and the text of each column needed.

    Args:
        connection: where.
        path: the file, for error sentences.
        table: the file that is read.
        kind: its format.
        columns: the columns needed.
    """
    if kind == "parquet":
        relation, names, cells = _parquet_relation(connection, table.path)
        # A dataset's files were looked at before they were written as one.
        if table.path == path:
            _require_bounded(connection, path, relation, names, cells, columns)
    elif kind in _JSON_FORMATS:
        relation, names, cells = _json_relation(connection, path, kind, table.path, columns)
    else:
        relation, names, cells = _csv_relation(path, kind, table, columns)
    found = [require_column(path, column, names) for column in columns]
    for column, one in zip(columns, found, strict=True):
        if one.steps:
            _require_nested(connection, path, relation, cells[one.place], one, column, names)
    return relation, [_cell(cells[one.place], one) for one in found]


def _cell(cell: str, found: Found) -> str:
    """Return the text of a column as SQL: a cell, or a value of the JSON in it."""
    if not found.steps:
        return cell
    paths = (f"json_extract_string({cell}, {literal(path)})" for path in json_paths(found.steps))
    return f"case when json_valid({cell}) then coalesce({', '.join(paths)}) end"


def _require_nested(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    relation: str,
    cell: str,
    found: Found,
    column: str,
    names: Sequence[str],
) -> None:
    """Raise InputError if no row has a value at a path."""
    sampled = f"(select {cell} as json from {relation} limit {SAMPLED_ROWS})"
    structure = _structure_of(
        connection, f"select json::json as json from {sampled} where json_valid(json)", "json"
    )
    if structure is not None and has_steps(structure, found.steps):
        return
    # It may come late; only a file that is about to be refused is read whole for it.
    exist = " or ".join(f"json_exists({cell}, {literal(one)})" for one in json_paths(found.steps))
    if connection.execute(
        f"select 1 from {relation} where case when json_valid({cell}) then {exist} end limit 1"
    ).fetchall():
        return
    root = names[found.place]
    raise missing_column(path, column, [*names, *nested_names(root, structure)])


def _parquet_types(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    # The first row is the root; a column with parts is followed by them.
    rows = connection.execute(f"select name, num_children from parquet_schema({_file(path)})").fetchall()
    names, n_parts = [], 0
    for name, n_children in rows[1:]:
        if not n_parts:
            names.append(str(name))
        n_parts += (n_children or 0) - (n_parts > 0)
    require_distinct(path, names)
    reader = connection.sql(f"from read_parquet({_file(path)}, {_AS_IT_IS}, binary_as_string = true)")
    return dict(zip(map(str, reader.columns), reader.types, strict=True))


def _parquet_relation(connection: duckdb.DuckDBPyConnection, table: Path) -> tuple[str, list[str], list[str]]:
    """Return a Parquet file as SQL, its columns, and the text of each; what is nested becomes JSON."""
    types = _parquet_types(connection, table)
    cells = [
        f"to_json({identifier(name)})::varchar"
        if _NESTED.search(str(one))
        else f"{identifier(name)}::varchar"
        for name, one in types.items()
    ]
    # The JSON of no object is null, as the cell is.
    cells = [
        f"case when {identifier(name)} is not null then {cell} end" if cell.startswith("to_json") else cell
        for name, cell in zip(types, cells, strict=True)
    ]
    return f"read_parquet({_file(table)}, {_AS_IT_IS}, binary_as_string = true)", list(types), cells


def _require_bounded(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    relation: str,
    names: Sequence[str],
    cells: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Refuse a Parquet file whose texts would take far more than it does, before they are read.

    The file's stated size is checked first; texts that it stores once for many rows are counted once.
    """
    remedy = "if its texts are right, write it as several files and import each"
    ((stated,),) = connection.execute(
        f"select coalesce(sum(total_uncompressed_size), 0) from parquet_metadata({_file(file)})"
    ).fetchall()
    require_ratio(file, int(stated), remedy, ratio=PARQUET_RATIO, free=PARQUET_FREE_BYTES)
    needed = [
        f"coalesce(sum(strlen({cell})), 0)"
        for name, cell in zip(names, cells, strict=True)
        if any(column == name or column.startswith(f"{name}.") for column in columns)
    ]
    if needed:
        ((texts,),) = connection.execute(f"select {' + '.join(needed)} from {relation}").fetchall()
        require_ratio(file, int(texts), remedy, ratio=PARQUET_RATIO, free=PARQUET_FREE_BYTES)


def _structure(type_: Any) -> Any:
    """Return the structure of a DuckDB type, in the form of its json_structure."""
    if type_.id == "struct":
        return {name: _structure(inner) for name, inner in type_.children}
    if type_.id in ("list", "array"):
        return [_structure(type_.children[0][1])]
    return "JSON" if type_.id == "map" else str(type_)


def _csv_relation(
    path: Path, kind: str, table: TextTable, columns: Sequence[str]
) -> tuple[str, list[str], list[str]]:
    """Return a CSV file as SQL, its columns, and the text of each."""
    delimiter, header = _csv_header(path, kind, table, columns)
    # Unused columns may be unnamed or have the same name, so DuckDB gets names of its own for them.
    names = [f"h{place}" for place in range(len(header))]
    listed = ", ".join(f"{name}: 'varchar'" for name in names)
    reader = (
        f"read_csv({_file(table.path)}, {_AS_IT_IS}, auto_detect = false, header = true, delim = {literal(delimiter)}, "
        f"quote = '\"', escape = '\"', "
        f"columns = {{{listed}}}, allow_quoted_nulls = false, strict_mode = true, max_line_size = {MAX_ROW_BYTES}, "
        f"buffer_size = {MAX_ROW_BYTES + HEADER_BYTES})"
    )
    return reader, header, names


def _csv_header(path: Path, kind: str, table: TextTable, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the delimiter and the header: the delimiter under which most of the needed columns are found."""
    needed = set(map(column_name, columns))
    headers = _csv_headers(path, table, kind)
    return max(headers.items(), key=lambda item: len(needed & set(map(column_name, item[1]))))


def _csv_headers(path: Path, table: TextTable, kind: str) -> dict[str, list[str]]:
    """Return for each delimiter that the header may have its columns."""
    headers = csv_headers(table, kind, CSV_DELIMITERS)
    if not headers:
        raise InputError(f"{path}: the header cannot be read as {kind.upper()}; quotes in it are not closed.")
    return headers


def _json_options(kind: str) -> str:
    return f"{_AS_IT_IS}, format = '{_JSON_FORMATS[kind]}', maximum_object_size = {MAX_ROW_BYTES}"


def _json_relation(
    connection: duckdb.DuckDBPyConnection, path: Path, kind: str, table: Path, columns: Sequence[str]
) -> tuple[str, list[str], list[str]]:
    """Return a JSON file as SQL, its columns, and the text of each; an object or a list in a cell is JSON."""
    file, options = _file(table), _json_options(kind)
    objects = f"read_json_objects({file}, {options})"
    found = _json_keys(connection, f"(select json from {objects} limit {SAMPLED_ROWS})")
    if any(column_name(column) not in map(column_name, found) for column in columns):
        # A column may appear late; only a file that is about to be refused, or a path, is read whole for it.
        found = _json_keys(connection, objects)
    if not found:
        raise json_error(path, kind, table) or no_rows(path)
    places = sorted({require_column(path, column, found).place for column in columns})
    names = [found[place] for place in places]
    listed = ", ".join(f"{literal(name)}: 'varchar'" for name in names)
    return f"read_json({file}, {options}, columns = {{{listed}}})", names, list(map(identifier, names))


def _json_keys(connection: duckdb.DuckDBPyConnection, objects: str) -> list[str]:
    rows = connection.execute(
        f"select distinct unnest(json_keys(json)) from {objects} where json_type(json) = 'OBJECT'"
    ).fetchall()
    return sorted(str(name) for (name,) in rows)


def _structures(connection: duckdb.DuckDBPyConnection, objects: str, column: str) -> dict[str, Any]:
    """Return what each column of the first rows of JSON holds."""
    found = _structure_of(connection, f"select {column} from {objects} limit {SAMPLED_ROWS}", column)
    return found if isinstance(found, dict) else {}


def _structure_of(connection: duckdb.DuckDBPyConnection, rows: str, column: str) -> Any:
    """Return the structure of the JSON in a column; None without JSON."""
    found = connection.execute(f"select json_group_structure({column}) from ({rows})").fetchall()[0][0]
    return None if found is None else json.loads(found)


def _unreadable(path: Path, kind: str, table: Path, message: str, n_skipped: int) -> InputError:
    if kind in _JSON_FORMATS and (error := json_error(path, kind, table)):
        return error
    if kind == "parquet":
        said = _first_sentence(message).replace(str(table.resolve()), path.name)
        return InputError(f"{path} is not a readable Parquet file: {said}")
    if kind == LOG:
        return InputError(f"{path}: a sample cannot be read: {_first_sentence(message)}")
    if kind in (*_TABLES, FOLDER, "json"):
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
    where = f"line {int(line[1]) + n_skipped} " if line else "a line "
    if cells := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return InputError(
            f"{path}: {where}has {cells[2]} cell{'' if cells[2] == '1' else 's'} and the header {cells[1]}; a cell that holds "
            f"the separator or a line break is in double quotes."
        )
    return InputError(f"{path}: {where}cannot be read as {kind.upper()}: {_first_sentence(cause)}")


def _first_sentence(message: str) -> str:
    text = message.splitlines()[0]
    text = re.sub(r"^(?:[A-Z][A-Za-z ]*Error: )+", "", text)
    return text.rstrip(". ") + "."


def _file(path: Path) -> str:
    """Return a path as a literal that DuckDB takes for this one file: in patterns * ? [ are literal inside brackets.

    Raises:
        InputError: it has a backslash as well, which has a meaning of its own in patterns.
    """
    place = str(path.resolve())
    if _PATTERN.search(place) and "\\" in place:
        raise InputError(
            f"{path} has a backslash and one of * ? [ in its name or its folders': give it another name."
        )
    return literal(_PATTERN.sub(r"[\g<0>]", place))
