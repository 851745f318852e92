"""How a check is written: a format is a file here, `as_NAME.py`, whose function `write` takes the check and gives the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasledger.checking.cases import Check


@dataclass(frozen=True)
class Format:
    """The purpose of a format, and the ending of its files; None for a format that is only written to a log."""

    meant: str
    ending: str | None


FORMATS: Mapping[str, Format] = {
    "text": Format("sentences for people", ".txt"),
    "json": Format("every case, for programs", ".json"),
    "junit": Format("XML that GitLab and Jenkins show as test results", ".xml"),
    "sarif": Format("alarms for GitHub's code scanning", ".sarif"),
    "github": Format("annotations on the audits' files, for the log of a GitHub workflow", None),
    "markdown": Format("a summary for a pull request or a job's page", ".md"),
}
ENDINGS: Mapping[str, str] = {one.ending: name for name, one in FORMATS.items() if one.ending is not None}
"""How a file ends -> the name of its format."""


def written(check: Check, form: str, *, shows_all: bool = True) -> str:
    """A check in one of the formats; ends with a line feed. shows_all: text lists every case that failed or warns."""
    write: Callable[..., str] = import_module(f"{__name__}.as_{form}").write
    return write(check, shows_all=shows_all) if form == "text" else write(check)
