"""The methods that answers are read in: each is one part of an audit's `analysis`, under the method's name.

A method is one module of this package that holds its METHOD. Modules are found by that, so a new method is a new file and nothing
else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.files import SpecFiles

# An audit knows of the methods; who names its class here would make a circle.
Audit: TypeAlias = Any


def _read_nothing(_audit: Audit, _files: SpecFiles) -> None:
    """Read no further files, for a method that has none next to the spec."""


@dataclass(frozen=True)
class Method:
    """A method of analysis.

    Args:
        field: the type of its part of `analysis`, and its default.
        is_read: whether the answers of an audit are read in this method.
        document: how they are read, as plain data; asked of audits that `is_read` holds for.
        problems: checks of its part that types alone cannot make.
        read_files: reads the files that its part names into the audit.
        read_checked: the same for those that only an audit without problems can be read with.
        reads_scores: whether scores of classifiers are read here, independently of the analysis of their run.
        reads_predictions: whether what recommenders predicted is read here, which is of no run.
    """

    field: tuple[Any, Any]
    is_read: Callable[[Audit], bool]
    document: Callable[[Audit], dict[str, Any]]
    problems: Callable[[Audit], Iterator[Problem]]
    read_files: Callable[[Audit, SpecFiles], None] = _read_nothing
    read_checked: Callable[[Audit, SpecFiles], None] = _read_nothing
    reads_scores: bool = False
    reads_predictions: bool = False


@cache
def methods() -> Mapping[str, Method]:
    """Return the methods by name, which is their module's and that of their part of `analysis`."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return {name: importlib.import_module(f"{__name__}.{name}").METHOD for name in names}
