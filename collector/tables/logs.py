"""Logs of other tools as tables: the format is detected from ending and content, each answer is a row of named columns.

The module of each tool describes its columns; the `import` part of an audit maps them as it maps a table's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from collector.answers.texts.stored_text import storable
from collector.errors import InputError
from collector.hints import no_column
from collector.tables import inspect_log, lm_eval_log, promptfoo_log
from collector.tables.log_rows import LogRow, read_lines, read_object

LOG_FORMATS = ("inspect", "promptfoo", "lm_eval")
_ARCHIVE, _DOCUMENT, _LINES = ".eval", ".json", ".jsonl"


def log_rows(path: Path, stated: str | None) -> Iterator[LogRow] | None:
    """Return the rows of a log, or None for a file that is no log.

    Args:
        path: an existing file.
        stated: the format an import states; None infers it from the file's ending and content.

    Raises:
        InputError: it is JSON of no known tool, or not of the tool that was stated; the rows raise it for what is wrong in them.
    """
    ending = path.suffix.lower()
    if stated is not None and stated not in LOG_FORMATS:
        return None
    if ending == _ARCHIVE and stated in (None, "inspect"):
        return inspect_log.archive_rows(path)
    if ending == _DOCUMENT:
        return _document_rows(path, stated)
    if ending == _LINES:
        return _line_rows(path, stated)
    if stated is None:
        return None
    raise _not_of(path, stated)


def write_table(path: Path, rows: Iterator[LogRow], columns: Sequence[str], table: Path) -> None:
    """Write the needed columns of a log's rows as JSON Lines.

    Args:
        path: the log, for error sentences.
        rows: its rows.
        columns: the columns needed; a row may be without some.
        table: the file to write.

    Raises:
        InputError: no row has one of the columns, or there is no row.
    """
    known: dict[str, None] = {}
    n_rows = 0
    with table.open("w", encoding="utf-8") as stream:
        for row in _naming_broken_row(path, rows):
            n_rows += 1
            known |= dict.fromkeys(row)
            needed = {column: row.get(column) for column in columns}
            stored = {column: None if text is None else storable(text) for column, text in needed.items()}
            stream.write(json.dumps(stored, ensure_ascii=False) + "\n")
    if not n_rows:
        raise InputError(f"{path} holds no samples; it should hold one for each response.")
    for column in columns:
        if column not in known:
            raise InputError(f"{path} has no column {column!r}{no_column(column, known)}")


def _naming_broken_row(path: Path, rows: Iterator[LogRow]) -> Iterator[LogRow]:
    """Yield the rows; raise InputError for a sample that its tool would not write."""
    number = 0
    try:
        for row in rows:
            number += 1
            yield row
    except (AttributeError, LookupError, TypeError) as error:
        raise InputError(
            f"{path}: the sample after row {number} is not built as its tool builds samples ({error})."
        ) from None


def _document_rows(path: Path, stated: str | None) -> Iterator[LogRow]:
    document = read_object(path)
    if stated in (None, "inspect") and inspect_log.is_log(document):
        return inspect_log.document_rows(document, path)
    if stated in (None, "promptfoo") and promptfoo_log.is_log(document):
        return promptfoo_log.document_rows(document, path)
    if stated is None:
        raise InputError(
            f"{path} is neither a log of Inspect AI, nor an output of promptfoo, nor an array of objects, [{{…}}, …] (of pandas: "
            f"to_json(orient='records')); a file of JSON Lines should end in .jsonl."
        )
    raise _not_of(path, stated)


def _line_rows(path: Path, stated: str | None) -> Iterator[LogRow] | None:
    try:
        first = next((one for _, one in read_lines(path)), {})
    except InputError:
        # A table's own reader reports what is wrong in it.
        if stated is None:
            return None
        raise
    if stated in (None, "lm_eval") and lm_eval_log.is_sample(first):
        return lm_eval_log.line_rows(path)
    if stated in (None, "promptfoo") and promptfoo_log.is_result(first):
        return promptfoo_log.line_rows(path)
    if stated is None:
        return None
    raise _not_of(path, stated)


def _not_of(path: Path, stated: str) -> InputError:
    right = {
        "inspect": "an .eval or .json log of Inspect AI",
        "promptfoo": "a .json or .jsonl output of promptfoo",
        "lm_eval": "a samples_….jsonl log of lm-evaluation-harness",
    }
    return InputError(f"{path} is not {right[stated]}, which import.format says it is.")
