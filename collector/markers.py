"""The markers of an audit: words that count for or against a stereotype, and the probes whose answers they are sought in.

Rows are counted from 1 below the header, as in imports.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from collector.csv_file import read_csv, require_cells
from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean
from collector.rows import MarkerRow, ProbeRow

KINDS = ("word", "stem", "phrase")
DIRECTIONS = ("stereotype", "anti")
# Names the probes of a category in the column of the probe.
CATEGORY = "category:"
COUNTED = "counted"  # the list of a marker with neither list nor direction
_SEPARATOR = re.compile(r"\W+")


def read_markers(
    path: Path,
    *,
    probes: Collection[str] | None,
    categories: Collection[str] | None,
    groups: Collection[str],
) -> tuple[MarkerRow, ...]:
    """Read the markers of an audit.

    Args:
        path: the CSV file. The column `marker` has to be there; `list`, `kind`, `direction`, `probe` and `group` may be, and
            their cells may be empty. Other columns are left unread.
        probes: the names of the probes; None where only a file of answers knows them.
        categories: the names of their categories; None likewise.
        groups: the groups of all attributes.

    Returns:
        The markers in the file's order.

    Raises:
        InputError: the file cannot be read or lacks a column or a cell; a kind, direction, probe, category or group is unknown; a
            marker does not fit its kind, stands twice for the same probe, list, direction and group, or on both sides for the
            same probe and group.
    """
    rows = read_csv(path, "a row for each marker", ["marker"])
    found: list[MarkerRow] = []
    seen: dict[tuple[str | None, ...], int] = {}
    directions: dict[tuple[str | None, ...], tuple[int, str]] = {}
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, ["marker"])
        marker = _marker(path, number, row["marker"], row.get("kind") or KINDS[0])
        direction = row.get("direction") or None
        if direction is not None:
            _require_known(path, number, "direction", direction, DIRECTIONS)
        group = row.get("group") or None
        if group is not None:
            _require_known(path, number, "group", group, groups)
        probe, category = _about(path, number, row.get("probe", ""), probes, categories)
        one = MarkerRow(
            marker=marker,
            kind=row.get("kind") or KINDS[0],
            list=row.get("list") or direction or COUNTED,
            direction=direction,
            probe=probe,
            category=category,
            group_name=group,
        )
        # As answers are read: hip-hop and hip hop are one marker.
        read = _SEPARATOR.sub(" ", marker).strip()
        first = seen.setdefault(
            (read, one.probe, one.category, one.list, one.direction, one.group_name), number
        )
        if first != number:
            raise InputError(
                f"{path}: rows {first} and {number} both hold {row['marker']!r} for the same probe, list, direction and group; "
                f"each may stand once."
            )
        if direction is not None:
            about = (read, one.probe, one.category, one.group_name)
            before, other = directions.setdefault(about, (number, direction))
            if other != direction:
                raise InputError(
                    f"{path}: rows {before} and {number} hold {row['marker']!r} for the same probe and group, once as {other} "
                    f"and once as {direction}; it can count for one side only."
                )
        found.append(one)
    return tuple(found)


def hash_of_markers(markers: Sequence[MarkerRow], probes: Sequence[ProbeRow]) -> str | None:
    """Return the tagged hash of markers and probes whatever their order, None where there are neither."""
    if not markers and not probes:
        return None
    rows = [
        [
            one.probe or "",
            one.category or "",
            one.list,
            one.direction or "",
            one.group_name or "",
            one.kind,
            one.marker,
        ]
        for one in markers
    ]
    asked = [[one.probe, one.category or "", one.target_group or "", one.prompt or ""] for one in probes]
    return hash_of({"markers": sorted(rows), "probes": sorted(asked)})


def _marker(path: Path, number: int, written: str, kind: str) -> str:
    """Return a marker as it is kept; raise InputError where it does not fit its kind."""
    _require_known(path, number, "kind", kind, KINDS)
    at = f"{path}: row {number} has {written!r} as 'marker'"
    n_words = len(_SEPARATOR.sub(" ", written).split())
    if n_words == 0:
        raise InputError(f"{at}; a marker has letters or digits.")
    if kind == "word" and " " in " ".join(written.split()):
        raise InputError(f"{at}, which is several words; its kind should be phrase.")
    if kind == "stem" and n_words > 1:
        raise InputError(f"{at}; a stem is the beginning of one word, and several words are a phrase.")
    if kind == "phrase" and n_words < 2:
        raise InputError(f"{at}, which is one word; its kind should be word or stem.")
    return " ".join(written.lower().split())


def _about(
    path: Path,
    number: int,
    written: str,
    probes: Collection[str] | None,
    categories: Collection[str] | None,
) -> tuple[str | None, str | None]:
    """Return the probe or the category that a marker counts for, neither where it counts for all."""
    if not written:
        return None, None
    if not written.startswith(CATEGORY):
        if probes is not None:
            _require_known(path, number, "probe", written, probes)
        return written, None
    category = written.removeprefix(CATEGORY).strip()
    if not category:
        raise InputError(f"{path}: row {number} has {written!r} as 'probe'; it should name a category.")
    if categories is not None:
        _require_known(path, number, "probe", category, categories, what="category of the probes")
    return None, category


def _require_known(
    path: Path, number: int, column: str, value: str, known: Collection[str], what: str | None = None
) -> None:
    if value not in known:
        hint = did_you_mean(value, known) or "; the audit has none"
        raise InputError(
            f"{path}: row {number} has {value!r} as {column!r}, which is no {what or column}{hint}"
            f"{'' if hint.endswith('?') else '.'}"
        )
