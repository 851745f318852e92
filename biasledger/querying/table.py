"""A result for reading on a terminal: a table of as many columns as fit, or one row as a block of names and values."""

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
# The number of left-out columns that are named.
_NAMED = 8


def show_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    wide: bool = False,
    paged: bool = False,
) -> list[str]:
    """Print rows with their columns' names; numbers to six digits, nulls as –, control characters written out.

    Args:
        wide: every column, on lines as long as they are.
        paged: every column, in as many tables below each other as it takes; the first has those that differ between rows.

    Returns:
        The names of the columns that were left out because the console is too narrow for them: those that say the same in every
        row first, then those on the right.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    names = [visible(name) for name in columns]
    longest = _lengths(names, cells)
    width = console.width
    if wide:
        chosen, width = list(range(len(names))), max(width, sum(longest) + _GAP * len(longest))
    elif len(rows) == 1 and len(_fitting(longest, cells, console.width)) < len(names):
        _show_block(console, names, cells[0])
        return []
    else:
        chosen = _fitting(longest, cells, console.width)
        if paged and len(chosen) < len(names):
            _show_pages(console, columns, rows)
            return []
    narrow, console.width = console.width, width
    _show_columns(
        console,
        [names[place] for place in chosen],
        [[line[place] for place in chosen] for line in cells],
        _are_numeric(rows, chosen),
    )
    console.width = narrow
    return [name for place, name in enumerate(names) if place not in chosen]


def _show_pages(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print all columns of rows in tables that fit, each with the rows' numbers; columns with one value everywhere come last."""
    different = [len({_cell(row[place]) for row in rows}) > 1 for place in range(len(columns))]
    left = sorted(range(len(columns)), key=lambda place: not different[place])
    n_shown = 0
    while left:
        for n in range(len(left), 0, -1):
            page = left[:n]
            cells = [
                [str(number), *(_cell(row[place]) for place in page)] for number, row in enumerate(rows, 1)
            ]
            titles = ["row", *(visible(columns[place]) for place in page)]
            longest = _lengths(titles, cells)
            if n == 1 or sum(min(one, _NARROW) + _GAP for one in longest) <= console.width + _GAP:
                break
        left = left[n:]
        console.print(f"Columns {n_shown + 1} to {n_shown + n} of {len(columns)}:", highlight=False)
        n_shown += n
        _show_columns(console, titles, cells, [True, *_are_numeric(rows, page)])


def _lengths(names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_length, column)) for column in zip(names, *cells, strict=True)]


def _are_numeric(rows: Sequence[Sequence[Any]], places: Sequence[int]) -> list[bool]:
    return [
        bool(rows) and all(_is_number(row[place]) or row[place] is None for row in rows) for place in places
    ]


def left_out_sentence(names: Sequence[str]) -> str:
    """Name the columns that did not fit into a table."""
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"{len(names)} column{'' if len(names) == 1 else 's'} did not fit ({shown})."


def cell_length(text: str) -> int:
    """Return the width of the longest line of a text on a terminal."""
    from rich.cells import cell_len

    return max(map(cell_len, text.splitlines()), default=0)


def fitted(columns: Sequence[Sequence[str]], width: int, *, gap: int) -> list[int]:
    """Return the columns' widths, of which the widest are narrowed, all alike, until they fit with a gap after each.

    None becomes narrower than its longest word, so that texts are folded at blanks and numbers and ids are not.
    """
    widths = [max(map(cell_length, column)) for column in columns]
    least = [word_length(column) for column in columns]
    while sum(widths) + gap * len(widths) > width and widths != least:
        _, place = max((one, place) for place, one in enumerate(widths) if one > least[place])
        widths[place] -= 1
    return widths


def word_length(column: Sequence[str]) -> int:
    """Return how many places the longest word of some texts takes, at most those to which a column can be narrowed."""
    return min(max((cell_length(word) for text in column for word in text.split()), default=0), _NARROW)


def _fitting(longest: Sequence[int], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the places of the columns that fit side by side, at least one."""
    needed = [min(one, _NARROW) + _GAP for one in longest]
    left = list(range(len(needed)))
    # Columns with the same value everywhere are left out first.
    same = [place for place in left if len(cells) > 1 and len({line[place] for line in cells}) == 1]
    for place in (*reversed(same), *reversed([place for place in left if place not in same])):
        if sum(needed[one] for one in left) <= width + _GAP or len(left) == 1:
            break
        left.remove(place)
    return left


def _show_columns(
    console: Console, names: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    for name, is_number in zip(names, numeric, strict=True):
        table.add_column(_unstyled(name), justify="right" if is_number else "left", overflow="fold")
    for line in cells:
        table.add_row(*map(_unstyled, line))
    console.print(table)


def _show_block(console: Console, names: Sequence[str], cells: Sequence[str]) -> None:
    from rich.table import Table

    block = Table.grid(padding=(0, _GAP, 0, 0))
    block.add_column(no_wrap=True)
    block.add_column(overflow="fold")
    for name, cell in zip(names, cells, strict=True):
        block.add_row(_unstyled(name), _unstyled(cell))
    console.print(block)


def _unstyled(text: str) -> Text:
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
