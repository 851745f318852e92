"""A result for reading on a terminal: a table, or where that would be too wide one block a row."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from biasledger.querying.formats import plain_text
from collector.terminal import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# A column can be narrowed to this before a table is too wide; longer text is folded.
_NARROW = 30
_GAP = 2


def show_table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows with their columns' names; numbers to six digits, nulls as –, control characters written out."""
    from rich.cells import cell_len

    cells = [[_cell(value) for value in row] for row in rows]
    names = [visible(name) for name in columns]
    longest = [
        max((cell_len(line) for cell in column for line in cell.splitlines()), default=0)
        for column in zip(names, *cells, strict=True)
    ]
    if sum(min(width, _NARROW) + _GAP for width in longest) <= console.width + _GAP:
        _show_columns(console, names, cells, rows)
    else:
        _show_blocks(console, names, cells)


def _show_columns(
    console: Console, names: Sequence[str], cells: Sequence[Sequence[str]], rows: Sequence[Sequence[Any]]
) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    for place, name in enumerate(names):
        is_number = all(_is_number(row[place]) or row[place] is None for row in rows)
        table.add_column(_plain(name), justify="right" if is_number and rows else "left", overflow="fold")
    for line in cells:
        table.add_row(*map(_plain, line))
    console.print(table)


def _show_blocks(console: Console, names: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    for number, line in enumerate(cells, start=1):
        console.rule(f"row {number}", align="left", characters="-")
        block = Table.grid(padding=(0, _GAP, 0, 0))
        block.add_column(no_wrap=True)
        block.add_column(overflow="fold")
        for name, cell in zip(names, line, strict=True):
            block.add_row(_plain(name), _plain(cell))
        console.print(block)


def _plain(text: str) -> Text:
    """Text that rich takes as it is, without looking for its own markup."""
    from rich.text import Text

    return Text(text)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    return visible(plain_text(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
