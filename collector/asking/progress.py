"""Progress on standard error: a bar with rate, failures, cost and time left, and silence where nobody watches."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from collector.terminal import console, is_watched

if TYPE_CHECKING:
    from collector.asking.pacing import Pause

# A shorter pause is not worth a line.
TOLD_SECONDS = 10.0

logger = logging.getLogger(__name__)


class Advance(Protocol):
    """What a caller of `progress` reports to."""

    def __call__(
        self, done: int, failed: int, cost_usd: float | None = None, pause: Pause | None = None
    ) -> None:
        """Report the number of finished responses so far, how many of them failed, what was spent, if that is known, and what
        is waited for, if anything is.
        """
        ...


class _PauseLog:
    """Says in the log what is waited for, once a pause, where no bar says so."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._until = 0.0

    def __call__(
        self,
        done: int,
        failed: int,  # noqa: ARG002 (as of Advance)
        cost_usd: float | None = None,  # noqa: ARG002 (as of Advance)
        pause: Pause | None = None,
    ) -> None:
        now = time.monotonic()
        if pause is None or pause.seconds < TOLD_SECONDS or now + pause.seconds < self._until + TOLD_SECONDS:
            return
        self._until = now + pause.seconds
        logger.warning("%s: %d answered; %s", self._label, done, _waiting(pause))


def _waiting(pause: Pause) -> str:
    """Say until when is waited, by the clock on the wall, and for what."""
    until = datetime.now().astimezone() + timedelta(seconds=pause.seconds)
    return f"waiting until {until:%H:%M:%S}: {pause.reason}"


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
        yield _PauseLog(label)
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from collector.asking.costs import usd

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TextColumn("{task.fields[failed]} failed"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[waiting]}", markup=False),
        console=console(err=True),
    )
    started = time.monotonic()
    with bar:
        task = bar.add_task(label, total=total, rate=0.0, failed=0, cost="", waiting="")

        def advance(
            done: int, failed: int, cost_usd: float | None = None, pause: Pause | None = None
        ) -> None:
            elapsed = max(time.monotonic() - started, 1e-9)
            cost = "" if cost_usd is None else f"{usd(cost_usd)} USD"
            rate = (done - n_before) / elapsed
            waiting = "" if pause is None else _waiting(pause)
            bar.update(task, completed=done, failed=failed, rate=rate, cost=cost, waiting=waiting)

        yield advance
