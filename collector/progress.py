"""Progress on standard error: a bar with rate, failures and time left, and silence where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """What a caller of `progress` reports to."""

    def __call__(self, done: int, failed: int) -> None:
        """Report the number of finished responses so far, and how many of them failed."""
        ...


@contextmanager
def progress(total: int, label: str, show: bool | None) -> Iterator[Advance]:
    """Show a bar while the block runs.

    Args:
        total: responses expected.
        label: what is being done.
        show: None shows it on a terminal only.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda done, failed: None  # noqa: ARG005 (the protocol's names)
        return

    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TextColumn("{task.fields[failed]} failed"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(label, total=total, rate=0.0, failed=0)

        def advance(done: int, failed: int) -> None:
            elapsed = max(time.monotonic() - started, 1e-9)
            bar.update(task, completed=done, failed=failed, rate=done / elapsed)

        yield advance
