"""The templates of the report and the explorer: every text is escaped, and words and numbers are written alike in both."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from biasledger import __version__
from biasledger.numbers import count
from biasledger.reporting.drawing import as_csv
from biasledger.reporting.picture import (
    STATUS_TEXTS,
    cell,
    clip,
    heading,
    is_number,
    number,
    prose,
    readable,
)
from biasledger.reporting.verdicts import about, in_words, technical

_FILTERS = (about, as_csv, cell, clip, heading, in_words, number, prose, readable, technical)


def environment_of(*packages: str) -> Environment:
    """Return the template environment of these packages; the first package that has a template wins.

    Filters and globals are those that the report and the explorer share.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({one.__name__: one for one in _FILTERS})
    environment.tests["is_number"] = is_number
    environment.globals.update(count=count, statuses=STATUS_TEXTS, version=__version__)
    return environment
