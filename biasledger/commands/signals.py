"""Signals that end a command as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

# Signals that a service manager, a container or a closed terminal sends; Windows has no SIGHUP.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block if SIGTERM or SIGHUP arrives, so that the answers so far are kept.

    Ignored signals stay ignored, such as SIGHUP under nohup. Outside the main thread Python has no signals, so nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    changed = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])


@contextlib.contextmanager
def killed_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process at once in the block: DuckDB heeds it in some of its loops alone. A shell says 130."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
