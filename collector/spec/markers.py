"""The markers of an audit: words that count for or against a stereotype, and the probes whose answers they are sought in.

Rows are counted from 1 below the header, as in imports.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean, ended, quoted, shown
from collector.rows import MarkerRow, ProbeRow
from collector.tables.rows import read_rows, require_cells

KINDS = ("word", "stem", "phrase")
DIRECTIONS = ("stereotype", "anti")
# Names the probes of a category in the column of the probe.
CATEGORY = "category:"
COUNTED = "counted"  # the list of a marker with neither list nor direction
_SEPARATOR = re.compile(r"\W+")
# Which directions a probe's markers have -> which ones it lacks, in words.
_LACKING = {
    frozenset({"stereotype"}): "against the stereotype",
    frozenset({"anti"}): "for the stereotype",
    frozenset(): "for or against the stereotype",
}


@dataclass(frozen=True, slots=True)
class AskedProbe:
    """A probe that is asked about: its name and category where it has them, and whether any of its questions names a group."""

    name: str | None
    category: str | None
    names_group: bool


def read_markers(
    path: Path,
    *,
    probes: Collection[str] | None,
    categories: Collection[str] | None,
    groups: Collection[str],
    encoding: str | None = None,
) -> tuple[MarkerRow, ...]:
    """Read the markers of an audit.

    Args:
        path: the file. The column `marker` has to be there; `list`, `kind`, `direction`, `probe` and `group` may be, and
            their cells may be empty. Other columns are left unread.
        probes: the names of the probes; None where only a file of answers knows them.
        categories: the names of their categories; None likewise.
        groups: the groups of all attributes.
        encoding: as in read_rows.

    Returns:
        The markers in the file's order.

    Raises:
        InputError: the file cannot be read or lacks a column or a cell; a kind, direction, probe, category or group is unknown; a
            marker does not fit its kind, occurs twice for the same probe, list, direction and group, or on both sides for the
            same probe and group.
    """
    rows = read_rows(
        path,
        "a row for each marker",
        ["marker"],
        hoped=["list", "kind", "direction", "probe", "group"],
        encoding=encoding,
    )
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
        # As in answers, hip-hop and hip hop are one marker.
        read = _SEPARATOR.sub(" ", marker).strip()
        first = seen.setdefault(
            (read, one.probe, one.category, one.list, one.direction, one.group_name), number
        )
        if first != number:
            raise InputError(
                f"{path}: rows {first} and {number} both hold {shown(row['marker'])} for the same probe, list, direction and "
                f"group; each may occur once."
            )
        if direction is not None:
            about = (read, one.probe, one.category, one.group_name)
            before, other = directions.setdefault(about, (number, direction))
            if other != direction:
                raise InputError(
                    f"{path}: rows {before} and {number} hold {shown(row['marker'])} for the same probe and group, once as "
                    f"{other} and once as {direction}; it can count for one side only."
                )
        found.append(one)
    return tuple(found)


def one_sided(markers: Sequence[MarkerRow], probes: Iterable[AskedProbe]) -> list[str]:
    """Return a sentence for all probes that have no markers on one side, so that their answers could lean one way only.

    Where no marker has a direction nothing is to be judged, and nothing is said.
    """
    directed = [one for one in markers if one.direction is not None]
    if not directed:
        return []
    by_category: dict[str | None, dict[str | None, frozenset[str]]] = {}
    for probe in probes:
        sides = by_category.setdefault(probe.category, {})
        sides[probe.name] = sides.get(probe.name, frozenset()) | {
            str(one.direction) for one in directed if _counts_for(one, probe)
        }
    return [sentence for category, sides in by_category.items() for sentence in _lacking(category, sides)]


def _counts_for(marker: MarkerRow, probe: AskedProbe) -> bool:
    if marker.group_name is not None and not probe.names_group:
        return False
    if marker.probe is not None:
        return marker.probe == probe.name
    return marker.category is None or marker.category == probe.category


def _lacking(category: str | None, sides: Mapping[str | None, frozenset[str]]) -> Iterator[str]:
    """Yield what the probes of a category lack: name -> the directions of its markers."""
    where = "the audit" if category is None else f"the category {category!r}"
    for found, lacking in _LACKING.items():
        probes = [name for name, directions in sides.items() if directions == found]
        if len(probes) == len(sides):
            yield f"No marker of {where} counts {lacking}; its answers are not judged until there are such markers."
        elif probes:
            yield (
                f"{len(probes)} of {len(sides)} probes of {where} have no marker {lacking} "
                f"({quoted(name or '' for name in probes)}); their answers are not assessed until there are such markers."
            )


def hash_of_markers(markers: Sequence[MarkerRow], probes: Sequence[ProbeRow]) -> str | None:
    """Return the tagged hash of markers and probes, independent of their order; None if there are neither."""
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
    at = f"{path}: row {number} has {shown(written)} as 'marker'"
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
        raise InputError(f"{path}: row {number} has {shown(written)} as 'probe'; it should name a category.")
    if categories is not None:
        _require_known(path, number, "probe", category, categories, what="category of the probes")
    return None, category


def _require_known(
    path: Path, number: int, column: str, value: str, known: Collection[str], what: str | None = None
) -> None:
    if value not in known:
        hint = did_you_mean(value, known) or "; the audit has none"
        sentence = (
            f"{path}: row {number} has {shown(value)} as {column!r}, which is no {what or column}{hint}"
        )
        raise InputError(ended(sentence))
