"""How a check is written: a format is a file here, `as_NAME.py`, whose function `write` takes the check and gives the text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasledger.checking.cases import Check

FORMATS: Mapping[str, str] = {
    "text": "sentences for people",
    "json": "every case, for programs",
    "junit": "XML that GitLab and Jenkins show as test results",
    "sarif": "alarms for GitHub's code scanning",
    "github": "annotations on the audits' files, for the log of a GitHub workflow",
    "markdown": "a summary for a pull request or a job's page",
}
"""Name of a format -> what it is for."""


def written(check: Check, form: str) -> str:
    """A check in one of the formats; ends with a line feed."""
    write: Callable[[Check], str] = import_module(f"{__name__}.as_{form}").write
    return write(check)
