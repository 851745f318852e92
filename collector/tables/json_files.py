"""Files of JSON: what is wrong in one that DuckDB does not read, and a folder of them as one table.

A file of the folder has one answer, an array of them, or one a line; rows are in the order of the files' names. The column
`file` is the name of the file that a row comes from, without its ending; a row that has a key `file` keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.files.plain import MAX_DOCUMENT_BYTES, MAX_TABLE_BYTES, read_plain
from collector.tables.encodings import STATE_ENCODING, marked_encoding
from collector.tables.log_rows import json_fault, no_rows

_DOCUMENT, _LINES = (".json",), (".jsonl", ".ndjson")
FILE_COLUMN = "file"
# An answer may be long (5 MB is tested); DuckDB's own limits of 2 MB (CSV) and 16 MB (JSON) a row are too low for that.
MAX_ROW_BYTES = 64 << 20
HALF_PAIR = "half a surrogate pair (\\ud800 to \\udfff), which is no character"


def json_files(path: Path) -> list[Path]:
    """Return the JSON files in a folder, sorted by name, without hidden ones."""
    return sorted(
        (
            file
            for file in path.iterdir()
            if file.suffix.lower() in (*_DOCUMENT, *_LINES)
            and not file.name.startswith(".")
            and file.is_file()
        ),
        key=lambda file: file.name,
    )


def write_folder(path: Path, encoding: str | None, table: Path) -> None:
    """Write all rows of a folder as JSON Lines.

    Raises:
        InputError: a file cannot be read, is no JSON, or holds something else than objects; or there is no row.
    """
    n_rows = 0
    with table.open("w", encoding="utf-8") as stream:
        for file in json_files(path):
            for where, value in _values(file, encoding):
                if not isinstance(value, dict):
                    raise InputError(f"{where} is a JSON {type(value).__name__}; it should be an object.")
                if not can_be_written(value):
                    raise InputError(f"{where} has {HALF_PAIR}.")
                stream.write(json.dumps({FILE_COLUMN: file.stem, **value}, ensure_ascii=False) + "\n")
                n_rows += 1
    if not n_rows:
        raise no_rows(path)


def _values(file: Path, encoding: str | None) -> Iterator[tuple[str, Any]]:
    """Yield each value of a file with its place, for error sentences."""
    text = _text(file, encoding)
    if file.suffix.lower() in _LINES:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{file}: line {number}", _parsed(line, f"{file}: line {number}")
        return
    value = _parsed(text, str(file))
    if isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield f"{file}: element {number}", one
    else:
        yield str(file), value


def _text(file: Path, encoding: str | None) -> str:
    try:
        content = read_plain(file, MAX_DOCUMENT_BYTES)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    try:
        return content.decode(marked_encoding(file) or encoding or "utf-8-sig").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}: line {line} is not {encoding or 'UTF-8'}; save the file as UTF-8, or {STATE_ENCODING}."
        ) from None
    except LookupError:
        raise InputError(
            f"There is no encoding {encoding!r}; known are utf-8, utf-16, cp1252 and others."
        ) from None


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not valid JSON ({json_fault(error)}).") from None


def can_be_written(value: object) -> bool:
    """Return whether a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def json_error(path: Path, kind: str, table: Path) -> InputError | None:
    """Return the error in a file of JSON, None if none is found.

    Args:
        path: the file, for the sentence.
        kind: json, an array of objects, or jsonl.
        table: the file that is read.
    """
    if kind == "json":
        return _error_in_array(path, table)
    if bad := _bad_line(table):
        return InputError(f"{path}: line {bad[0]} is {bad[1]}; each line should be one JSON object.")
    return None


def _error_in_array(path: Path, table: Path) -> InputError | None:
    """Return the error in an array; a very long one is not checked."""
    if table.stat().st_size > MAX_TABLE_BYTES:
        return None
    try:
        value = json.loads(read_plain(table, MAX_TABLE_BYTES).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return InputError(f"{path} is not valid JSON ({json_fault(error)}).")
    if not isinstance(value, list):
        return InputError(
            f"{path} is a JSON {type(value).__name__}; it should be an array of objects, [{{…}}, …]."
        )
    for number, one in enumerate(value, start=1):
        if not isinstance(one, dict):
            return InputError(
                f"{path}: element {number} is a JSON {type(one).__name__}; each should be an object."
            )
        if not can_be_written(one):
            return InputError(f"{path}: element {number} has {HALF_PAIR}.")
    return None


def _bad_line(path: Path) -> tuple[int, str] | None:
    """Return the number of the first line that is no JSON object, and its kind."""
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
                return number, f"not valid JSON ({json_fault(error)})"
            if not can_be_written(value):
                return number, f"JSON with {HALF_PAIR}"
            if not isinstance(value, dict):
                return number, f"a JSON {type(value).__name__} and no object"
    return None
