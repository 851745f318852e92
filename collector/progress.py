"""Progress on standard error: a bar with rate, failures, cost and time left, and silence where nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from collector.terminal import console, is_watched


class Advance(Protocol):
    """What a caller of `progress` reports to."""

    def __call__(self, done: int, failed: int, cost_usd: float | None = None) -> None:
        """Report the number of finished responses so far, how many of them failed, and what was spent, if that is known."""
        ...


@contextmanager
def progress(total: int, label: str, show: bool | None, n_before: int = 0) -> Iterator[Advance]:
    """Show a bar while the block runs.

    Args:
        total: responses expected.
        label: what is being done.
        show: None shows it on a terminal only.
        n_before: responses that were finished before, which tell nothing about the rate.
    """
    if not (is_watched() if show is None else show):
        yield lambda *_, **__: None
        return

    import time

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from collector.costs import usd

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TextColumn("{task.fields[failed]} failed"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
        console=console(err=True),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(label, total=total, rate=0.0, failed=0, cost="")

        def advance(done: int, failed: int, cost_usd: float | None = None) -> None:
            elapsed = max(time.monotonic() - started, 1e-9)
            cost = "" if cost_usd is None else f"{usd(cost_usd)} USD"
            bar.update(task, completed=done, failed=failed, rate=(done - n_before) / elapsed, cost=cost)

        yield advance
