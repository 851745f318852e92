"""When a run stops early: where asking on would only fill the ledger with the same failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.errors import TargetError, UnusableError
from collector.targets.http.session import excerpt

if TYPE_CHECKING:
    from collector.rows import ResponseRow

# Before anything was answered the fault is likely ours (a parameter, a model), and it is the same for every question.
MAX_FIRST_FAILURES = 10
# After that the service is down.
MAX_FAILURES_IN_A_ROW = 20
# Questions, of whose replies none could be used: all were paid for, and those to come would be like them.
MAX_UNUSABLE = 30
# A refusal is a finding.
USABLE = frozenset({"ok", "refused"})


class Usability:
    """Counts questions whose replies cannot be used, until one can.

    Args:
        has_usable: one could, earlier.
        most: so many questions stop the run; 0 for none.
    """

    def __init__(self, *, has_usable: bool = False, most: int = MAX_UNUSABLE) -> None:
        self._has_usable = has_usable
        self._most = most
        self._unusable: set[tuple[str, int]] = set()
        self._first = ""
        self._body: str | None = None

    def replied(self, row: ResponseRow) -> TargetError | None:
        """Note a reply; return the error to stop the run with, None to go on. A row without a reply changes nothing."""
        if row.status in USABLE:
            self._has_usable = True
        has_no_reply = row.status == "error" and row.response_text is None
        if has_no_reply or self._has_usable or not self._most:
            return None
        if not self._unusable:
            shown = row.response_text or row.raw_body or ""
            self._first = f"{row.error or row.status} {excerpt(shown)}".strip()
            self._body = row.raw_body or row.response_text
        self._unusable.add((row.prompt_id, row.trial))
        if len(self._unusable) < self._most:
            return None
        return UnusableError(
            f"No reply to the first {len(self._unusable)} questions could be used, so the run stops (--max-unusable). The first: "
            f"{self._first}",
            stops_run=True,
            raw_body=self._body or "",
        )


class Breaker:
    """Counts questions that failed for good; used by one thread, which gets to know the end of each question.

    Args:
        concurrency: questions under way at once; so many may fail together by one mishap.
    """

    def __init__(self, concurrency: int) -> None:
        self._most_in_a_row = max(MAX_FAILURES_IN_A_ROW, 2 * concurrency)
        self._has_answered = False
        self._in_a_row = 0
        self._alike = 0
        self._first: TargetError | None = None

    def answered(self) -> None:
        """Note an answer of any kind."""
        self._has_answered = True
        self._in_a_row = 0

    def failed(self, error: TargetError) -> TargetError | None:
        """Note that a question got no answer after its last try; return the error to stop the run with, None to go on."""
        if error.stops_run:
            return error
        self._in_a_row += 1
        if self._first is None:
            self._first = error
        # Two failures have one cause if their status is the same, or if neither reached the service.
        self._alike += error.status == self._first.status
        if not self._has_answered and self._alike == self._in_a_row >= MAX_FIRST_FAILURES:
            return _stop(f"None of the first {self._in_a_row} questions was answered", error)
        if self._in_a_row >= self._most_in_a_row:
            return _stop(f"{self._in_a_row} questions in a row failed", error)
        return None


def _stop(what: str, error: TargetError) -> TargetError:
    return TargetError(
        f"{what}, so the run stops: {error}", stops_run=True, status=error.status, raw_body=error.raw_body
    )
