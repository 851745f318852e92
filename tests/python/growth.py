"""Check that a reader's time grows no faster than the text, by a ratio within one run on any machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median

# Reading four times the text takes 4 times as long where time grows with the length, and 16 times where it grows with its square.
_PARTS = 4
_MOST_GROWTH = 10
# Shorter times are mostly those of the clock; text of 60,000 characters in the square of its length takes far longer.
_MEASURABLE_SECONDS = 0.05
# Other work of the processor can make one reading several times as slow, but hardly three in a row.
_TRIES = 3
# A later try leaves this many characters out at the start, as readers remember texts: a multiple of 1 to 6, so that a text that
# repeats a few characters begins as before.
_LEFT_OUT = 60


def growth(read: Callable[[str], object], text: str, quarter: str | None = None) -> float:
    """Return how many times as long a whole text takes as its first quarter; 1 if both are too short to tell.

    Give `quarter` where the first quarter of a text is of another kind than the rest. Each text is read once, as readers
    remember texts and a second reading would take no time. Processor time of this thread counts, whatever else runs.
    """
    quarter = quarter or text[: len(text) // _PARTS]
    # Patterns are compiled before anything is measured.
    read(quarter[: len(quarter) // 2])
    whole_seconds = _seconds(read, text)
    if whole_seconds < _MEASURABLE_SECONDS:
        return 1.0
    return whole_seconds / _seconds(read, quarter)


def assert_linear(read: Callable[[str], object], text: str, quarter: str | None = None) -> None:
    """Fail if the time grows faster than the text: in one reading, and then in the median of three."""
    times = []
    for left_out in range(0, _TRIES * _LEFT_OUT, _LEFT_OUT):
        times.append(growth(read, text[left_out:], quarter and quarter[left_out:]))
        if len(times) == 1 and times[0] < _MOST_GROWTH:
            return
    assert median(times) < _MOST_GROWTH, f"{_PARTS} times the text takes {median(times):.1f} times as long"


def _seconds(read: Callable[[str], object], text: str) -> float:
    # A collection of garbage walks the objects of all tests before this one, which takes longer than many a reading.
    gc.disable()
    try:
        started = time.thread_time()
        read(text)
        return time.thread_time() - started
    finally:
        gc.enable()
