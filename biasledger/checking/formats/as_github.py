"""A check as commands that GitHub's runner reads in a log and shows as annotations of a commit."""

from __future__ import annotations

from biasledger.checking.cases import FAILED, WARNED, Check
from biasledger.checking.formats.places import Places

_LEVELS = {FAILED: "error", WARNED: "warning"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def write(check: Check) -> str:
    """An annotation for each case that failed or warns, next to the audit's attribute, and one with the result.

    GitHub shows the first ten of a kind in a step; the result, with the counts, is of the third kind and always shown.
    """
    places = Places()
    lines = []
    for case in check.cases:
        if case.status not in _LEVELS:
            continue
        place = places.of(case)
        at = {"file": place.file, "line": str(place.line)} if place is not None else {}
        title = f"{case.measure}, {case.name}"
        said = f"{case.sentence}\n{case.explained_by}"
        lines.append(_command(_LEVELS[case.status], {**at, "title": title}, said))
    lines.append(_command("notice", {"title": f"biasledger: {check.verdict}"}, check.headline))
    return "\n".join(lines) + "\n"


def _command(kind: str, properties: dict[str, str], data: str) -> str:
    """`::kind name=value::data`, with what would end a part of it written as GitHub reads it back."""
    said = ",".join(f"{name}={_escaped(value, _PROPERTY)}" for name, value in properties.items())
    return f"::{kind} {said}::{_escaped(data, _DATA)}"


def _escaped(text: str, codes: dict[str, str]) -> str:
    return "".join(codes.get(character, character) for character in text)
