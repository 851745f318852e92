"""Columns found by name: in any Unicode form, with or without outer spaces, and inside columns that hold JSON.

`response.score` is the key `score` of the objects in the column `response`; `turns[0].text` and `turns.0.text` go into a list,
and `turns[-1]` takes its last element. A column that has exactly this name goes first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.composed import composed
from collector.errors import InputError
from collector.hints import ended, no_column

# A step into an object or a list: .name, ['any name'], [0] or [-1].
_STEP = re.compile(r"\.([^.\[\]]+)|\[(-?\d{1,9})\]|\['([^']*)'\]")
_INDEX = re.compile(r"-?\d{1,9}")
MOST_STEPS = 30


@dataclass(frozen=True, slots=True)
class Found:
    """The place of a column in a file, and the steps into the JSON in its cells, none for the cell itself."""

    place: int
    steps: tuple[str | int, ...] = ()


def column_name(text: str) -> str:
    """Return a column's name as names are compared: composed, without outer spaces."""
    return composed(text).strip()


def find_column(column: str, names: Sequence[str]) -> Found | None:
    """Return where a column is among a file's columns; None where it is not.

    Raises:
        ValueError: several columns have this name.
    """
    alike = [place for place, name in enumerate(names) if name == column]
    alike = alike or [place for place, name in enumerate(names) if column_name(name) == column_name(column)]
    if len(alike) > 1:
        raise ValueError("several columns have this name")
    if alike:
        return Found(alike[0])
    # The longest name in front of a step wins: of `a.b.c` the column `a.b` before the column `a`.
    roots = [
        (len(name), place)
        for place, name in enumerate(names)
        if name and column.startswith((f"{name}.", f"{name}["))
    ]
    for length, place in sorted(roots, reverse=True):
        if steps := _steps(column[length:]):
            return Found(place, steps)
    return None


def require_column(path: Path, column: str, names: Sequence[str], message: str = "") -> Found:
    """Return where a column is among a file's columns.

    Args:
        path: the file, for error sentences.
        column: the column.
        names: the file's columns.
        message: added after the sentence about a missing column.

    Raises:
        InputError: there is no such column, or several have its name.
    """
    try:
        found = find_column(column, names)
    except ValueError:
        raise InputError(
            f"{path}: the header holds the column {column!r} twice; each needs its own name."
        ) from None
    if found is None:
        raise missing_column(path, column, names, message)
    require_distinct(path, [name for name in names if _folded(name) == _folded(names[found.place])])
    return found


def require_distinct(path: Path, names: Sequence[str]) -> None:
    """Refuse columns of the same name, also of one that differs in capitals: DuckDB would rename one or take the other.

    Raises:
        InputError: there are such columns.
    """
    seen: dict[str, str] = {}
    for name in names:
        first = seen.get(_folded(name))
        if first is not None:
            raise InputError(
                f"{path}: the columns {first!r} and {name!r} have one name, or differ in capitals alone; rename one of them."
            )
        seen[_folded(name)] = name


def _folded(name: str) -> str:
    return column_name(name).casefold()


def missing_column(path: Path, column: str, names: Sequence[str], message: str = "") -> InputError:
    """Return the error for a column that a file lacks."""
    return InputError(ended(f"{path} has no column {column!r}{no_column(column, names)}") + message)


def _steps(text: str) -> tuple[str | int, ...]:
    """Return the steps of a path; none where it is no path."""
    steps: list[str | int] = []
    position = 0
    while position < len(text) and len(steps) < MOST_STEPS:
        match = _STEP.match(text, position)
        if match is None:
            return ()
        name, index, quoted = match.groups()
        steps.append(int(index) if index is not None else name if name is not None else quoted)
        position = match.end()
    return tuple(steps) if position == len(text) and not any('"' in str(one) for one in steps) else ()


def json_paths(steps: Sequence[str | int]) -> list[str]:
    """Return the steps as DuckDB's JSON paths: a name of digits alone is a key of an object or a place in a list."""
    each = [
        [_index(one)]
        if isinstance(one, int)
        else [f'."{one}"', *([_index(int(one))] if _INDEX.fullmatch(one) else [])]
        for one in steps
    ]
    return ["$" + "".join(parts) for parts in itertools.islice(itertools.product(*each), 8)]


def _index(place: int) -> str:
    return f"[{place}]" if place >= 0 else f"[#{place}]"


def has_steps(structure: Any, steps: Sequence[str | int]) -> bool:
    """Return whether a path exists in values of this structure, as returned by DuckDB's json_structure."""
    for number, step in enumerate(steps):
        if structure == "JSON":  # values of several kinds
            return True
        if isinstance(structure, list) and (isinstance(step, int) or _INDEX.fullmatch(step)):
            structure = structure[0] if structure else "JSON"
        elif isinstance(structure, dict) and step in structure:
            structure = structure[step]
        else:
            return number > 0 and structure == "NULL"
    return True


def nested_names(name: str, structure: Any) -> Iterator[str]:
    """Yield the dotted names of all that the objects in a column hold."""
    if isinstance(structure, dict):
        for key, inner in structure.items():
            yield f"{name}.{key}"
            yield from nested_names(f"{name}.{key}", inner)
