"""Report which comparison a model is at: dbt says nothing of a model before it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Compared = TypeVar("Compared")

listeners: list[Callable[[str, str], None]] = []
"""Called with a model's name and its progress, from dbt's threads."""


def report_progress(model: str, comparisons: Iterable[Compared], total: int | None) -> Iterator[Compared]:
    """Yield the comparisons, of which there are `total` if that is known, and report each one that starts."""
    for number, one in enumerate(comparisons, start=1):
        of = f" of {total:,}" if total is not None and number <= total else ""
        for listener in listeners:
            listener(model, f"comparison {number:,}{of}")
        yield one
