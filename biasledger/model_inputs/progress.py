"""Report which comparison a model is computing: dbt reports nothing before a model is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Compared = TypeVar("Compared")

progress_callbacks: list[Callable[[str, str], None]] = []
"""Called with a model's name and its progress, from dbt's threads."""


def report_progress(model: str, comparisons: Iterable[Compared], total: int | None) -> Iterator[Compared]:
    """Yield the comparisons, of which there are `total` if that is known, and report each one that starts."""
    for number, one in enumerate(comparisons, start=1):
        of = f" of {total:,}" if total is not None and number <= total else ""
        for callback in progress_callbacks:
            callback(model, f"comparison {number:,}{of}")
        yield one
