"""Tables in Markdown: header, rows, and where each begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table: the number of its header's line, the header's cells, and the cells of each row below the rule."""

    line: int
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def markdown_tables(lines: Sequence[str]) -> Iterator[MarkdownTable]:
    """Yield the tables of a text that have a row: a line of cells, a line of dashes and pipes, and lines of cells."""
    at = 1
    while at < len(lines):
        if not _is_rule(lines[at]):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        rows = tuple(cells_of(line) for line in lines[at + 1 : end])
        if rows:
            yield MarkdownTable(at - 1, cells_of(lines[at - 1]), rows)
        at = end


def table_without_rule(lines: Sequence[str]) -> MarkdownTable | None:
    """Return the table whose lines all begin with a pipe and whose rows are numbered from 1; its header may be absent."""
    places = [at for at, line in enumerate(lines) if line.lstrip().startswith("|")]
    if len(places) < 2 or places != list(range(places[0], places[0] + len(places))):
        return None
    rows = [cells_of(lines[at]) for at in places]
    is_numbered = [row[0].strip("#.) ").isdecimal() if row else False for row in rows]
    header = () if is_numbered[0] else rows[0]
    counted = rows if is_numbered[0] else rows[1:]
    numbers = [int(row[0].strip("#.) ")) for row, one in zip(rows, is_numbered, strict=True) if one]
    if numbers != list(range(1, len(counted) + 1)) or min(len(row) for row in counted) < 2:
        return None
    return MarkdownTable(places[0], header or ("#", *[""] * (len(rows[0]) - 1)), tuple(counted))


def cells_of(line: str) -> tuple[str, ...]:
    """Return the cells of a line; a pipe behind a backslash belongs to its cell."""
    cells = [cell.strip() for cell in _PIPE.split(line.strip())]
    if len(cells) > 1:
        cells = cells[not cells[0] : len(cells) - (not cells[-1])]
    return tuple(cells)


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and set(line) <= set("|:- \t")
