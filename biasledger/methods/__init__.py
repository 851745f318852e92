"""The methods of looking for bias in answers, each from reading an answer to showing a finding.

A method is named once, in the variable `methods` of dbt_project.yml, in the order in which people read of them. All else is found
by its name: a module of this package with its METHOD, and one in each package that has one for every method (`module_of`).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from biasledger.project import dbt_variables
from collector.errors import InputError

KEY = {"run_id": "varchar", "mitigation": "varchar", "attribute": "varchar"}
"""Columns that most parts have."""
UNIT = {**KEY, **dict.fromkeys(("unit_key", "stratum", "cluster", "group_name"), "varchar")}
"""Columns of parts with a row a unit."""


@dataclass(frozen=True)
class Part:
    """Rows of a run that a baseline's file brings, so that runs can be compared where the baseline itself is not.

    Args:
        table: the built table that they are taken from.
        columns: column -> the type that `imported_rows` casts it to; what else a row holds is not read.
        query: the rows of the run `$run`, of `{table}` in `{schema}`.
        fault: what is wrong with a row whose columns are of their types, as the end of a sentence; None where nothing is.
    """

    table: str
    columns: Mapping[str, str]
    query: str = "select * from {table} where run_id = $run and mitigation = 'plain' order by all"
    fault: Callable[[Mapping[str, Any]], str | None] = lambda _row: None


def method_names() -> tuple[str, ...]:
    """The methods' names, in their order."""
    return tuple(dbt_variables().get("methods", ()))


@cache
def baseline_parts() -> Mapping[str, Part]:
    """The parts of all methods, by their names in a baseline's file."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return {name: part for module in modules for name, part in module.PARTS.items()}


def module_of(package: str, method: str) -> ModuleType:
    """The module of a method in a package that has one for each.

    Raises:
        InputError: it has none of that name: a warehouse may have been built by a later version.
    """
    if method not in {info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__)}:
        raise InputError(
            f"This version of biasledger has nothing on {method!r}: use the version that the warehouse was built with."
        )
    return importlib.import_module(f"{package}.{method}")
