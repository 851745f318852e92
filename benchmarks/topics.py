"""What the modules of a package declare, one topic a module: a new topic is a new module and nothing else."""

from __future__ import annotations

import importlib
import math
import pkgutil
import sys
from typing import Any, Protocol, TypeVar


class Listed(Protocol):
    """One row of a benchmark's table."""

    @property
    def item(self) -> str:
        """The number of the item that it belongs to."""
        ...

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        ...


L = TypeVar("L", bound=Listed)


def declared(package: str, constant: str) -> list[Any]:
    """What `constant` holds in each module of the package, by the number of its item and its name."""
    rows = [
        row
        for module in pkgutil.iter_modules(sys.modules[package].__path__)
        for row in getattr(importlib.import_module(f"{package}.{module.name}"), constant)
    ]
    return sorted(rows, key=lambda row: (_number(row.item), row.name))


def chosen(rows: list[L], only: str | None) -> list[L]:
    """The rows whose name holds `only` or whose item it is; all where it is None."""
    return [row for row in rows if only is None or only in row.name or only == row.item]


def _number(item: str) -> float:
    digits = "".join(character for character in item if character.isdigit())
    return float(digits) if digits else math.inf
