"""Wordings of groups that are shipped, such as `race/en`: `<attribute>/<language>.yml`, group -> noun phrases."""

from __future__ import annotations

from pathlib import Path

from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.hints import quoted, shown

_FOLDER = Path(__file__).parent


def shipped_wordings() -> tuple[str, ...]:
    """Return the names of all shipped wordings, sorted."""
    files = _FOLDER.glob("*/*.yml")
    return tuple(sorted(file.relative_to(_FOLDER).with_suffix("").as_posix() for file in files))


def read_wordings(name: str) -> dict[str, list[str]]:
    """Return group -> wordings of a shipped file.

    Raises:
        InputError: there is none of that name; the message begins with the name and lists those that exist.
    """
    if name not in shipped_wordings():
        raise InputError(f"{shown(name)} is not shipped; shipped are {quoted(shipped_wordings())}.")
    return read_yaml_mapping(_FOLDER / f"{name}.yml", what="wordings")
