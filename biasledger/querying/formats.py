"""A result as CSV, JSON or Markdown, for other programs and documents: every value exactly, as far as the format can."""

from __future__ import annotations

import datetime
import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from collector.files.csv import inert
from collector.terminal import visible

if TYPE_CHECKING:
    from biasledger.querying.statements import Result


class Sink(Protocol):
    """A destination of text: a file, or standard output."""

    def write(self, text: str, /) -> object:
        """Take some text."""


_CSV_QUOTED = re.compile(r'[,"\r\n]|^\s|\s$')
_MARKDOWN = re.compile(r"([\\`*\[\]|])")


def write_csv(result: Result, sink: Sink) -> None:
    """RFC 4180 with line feeds. A null is an empty field, an empty text is `""`; lists and structs are JSON."""
    sink.write(_csv_line(result.columns))
    for row in result.rows:
        sink.write(_csv_line(row))


def without_formulas(result: Result) -> Result:
    """Return the same with a ' before each text that a spreadsheet would take for a formula."""
    rows = (tuple(_inert(value) for value in row) for row in result.rows)
    return replace(result, columns=tuple(map(_inert, result.columns)), rows=rows)


def _inert(value: Any) -> Any:
    return inert(value) if isinstance(value, str) else value


def write_json(result: Result, sink: Sink) -> None:
    """Write a list of objects, one a line. Values without a number in JSON (NaN, infinity) become texts."""
    names = _distinct(result.columns)
    separator = "[\n"
    for row in result.rows:
        values = {name: json_value(value) for name, value in zip(names, row, strict=True)}
        sink.write(separator + json.dumps(values, ensure_ascii=False))
        separator = ",\n"
    sink.write("[]\n" if separator == "[\n" else "\n]\n")


def write_markdown(result: Result, sink: Sink) -> None:
    """A table as GitHub, GitLab and pandoc read it; text of answers is escaped and shows as it is."""
    sink.write(_markdown_line(map(_markdown_cell, result.columns)))
    sink.write(_markdown_line("---" for _ in result.columns))
    for row in result.rows:
        sink.write(_markdown_line(map(_markdown_cell, row)))


def plain_text(value: object) -> str:
    """Return a value as lossless text: the shortest digits that read back as the same number, ISO dates, JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, bytes):
        return "".join(f"\\x{byte:02X}" for byte in value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(json_value(value), ensure_ascii=False)
    return "" if value is None else str(value)


def json_value(value: object) -> Any:
    """Return a value as a JSON value."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        # A number where it reads back as the same one.
        return float(value) if value.is_finite() and Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, dict):
        return {str(name): json_value(one) for name, one in value.items()}
    return plain_text(value)


def _csv_line(values: Iterable[object]) -> str:
    return ",".join(map(_csv_field, values)) + "\n"


def _csv_field(value: object) -> str:
    text = plain_text(value)
    if (text == "" and value is not None) or _CSV_QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _distinct(columns: Sequence[str]) -> list[str]:
    """Return names for an object's keys: a second `run_id` is `run_id_2`."""
    names: list[str] = []
    for column in columns:
        name, number = column, 2
        while name in names:
            name, number = f"{column}_{number}", number + 1
        names.append(name)
    return names


def _markdown_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _markdown_cell(value: object) -> str:
    text = html.escape(visible(plain_text(value).replace("\r\n", "\n")), quote=False)
    return "<br>".join(_MARKDOWN.sub(r"\\\1", text).splitlines())
