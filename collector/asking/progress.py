"""Progress on standard error: a bar with rate, cost and time left, or a line now and then if it is no terminal."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from collector.terminal import PeriodicLine, console, is_watched

if TYPE_CHECKING:
    from collector.asking.pacing import Pause

# A shorter pause is not worth a line.
REPORTED_SECONDS = 10.0

logger = logging.getLogger(__name__)


class Advance(Protocol):
    """The function that a caller of `progress` reports to."""

    def __call__(
        self, done: int, unusable: int, cost_usd: float | None = None, pause: Pause | None = None
    ) -> None:
        """Report how many responses are finished so far, how many of them cannot be used (refused, unread, failed), what was
        spent, if that is known, and what is waited for, if anything is.
        """
        ...


class _Lines:
    """Reports without a bar: logs each pause once and, on request, the progress."""

    def __init__(self, label: str, total: int, *, reports: bool) -> None:
        self._label = label
        self._total = total
        self._until = 0.0
        self._periodic_line = PeriodicLine() if reports else None

    def __call__(
        self, done: int, unusable: int, cost_usd: float | None = None, pause: Pause | None = None
    ) -> None:
        if self._periodic_line is not None:
            self._periodic_line(lambda: self._sentence(done, unusable, cost_usd))
        now = time.monotonic()
        if (
            pause is None
            or pause.seconds < REPORTED_SECONDS
            or now + pause.seconds < self._until + REPORTED_SECONDS
        ):
            return
        self._until = now + pause.seconds
        logger.warning("%s: %d answered; %s", self._label, done, _waiting(pause))

    def _sentence(self, done: int, unusable: int, cost_usd: float | None) -> str:
        from collector.asking.costs import usd

        cost = "" if cost_usd is None else f", {usd(cost_usd)} USD"
        return f"{self._label}: {done:,} of {self._total:,} done, {unusable:,} not usable{cost}"


def _waiting(pause: Pause) -> str:
    """Say until when is waited, by the clock on the wall, and for what."""
    until = datetime.now().astimezone() + timedelta(seconds=pause.seconds)
    return f"waiting until {until:%H:%M:%S}: {pause.reason}"


@contextmanager
def progress(total: int, label: str, show: bool | None, n_before: int = 0) -> Iterator[Advance]:
    """Show a bar while the block runs, or where standard error is no terminal a line half a minute apart.

    Args:
        total: responses expected.
        label: what is being done.
        show: None shows a bar on a terminal and lines elsewhere, False neither.
        n_before: responses that were finished before, which do not count for the rate.
    """
    if not (is_watched() if show is None else show):
        yield _Lines(label, total, reports=show is None)
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from collector.asking.costs import usd

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TextColumn("{task.fields[unusable]} not usable"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[waiting]}", markup=False),
        console=console(err=True),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(label, total=total, rate=0.0, unusable=0, cost="", waiting="")

        def advance(
            done: int, unusable: int, cost_usd: float | None = None, pause: Pause | None = None
        ) -> None:
            elapsed = max(time.monotonic() - started, 1e-9)
            cost = "" if cost_usd is None else f"{usd(cost_usd)} USD"
            rate = (done - n_before) / elapsed
            waiting = "" if pause is None else _waiting(pause)
            bar.update(task, completed=done, unusable=unusable, rate=rate, cost=cost, waiting=waiting)

        yield advance
