"""The batches of a run, according to the events in its journal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collector.journal.records import Event

# Events before a batch is submitted, after that, when its results are stored, and when it has failed.
SUBMITTING = "batch_submitting"
SUBMITTED = "batch_submitted"
COLLECTED = "batch_collected"
FAILED = "batch_failed"


@dataclass(frozen=True, slots=True)
class Submitted:
    """A batch that the service works on, or whose results are not kept yet; `batch_id` is None where it may not have arrived."""

    label: str
    n_requests: int
    since: datetime
    batch_id: str | None = None


@dataclass(slots=True)
class BatchLog:
    """The batches in a journal's events; give `visit` every event in order.

    Attributes:
        pending: label -> batch, for those that are neither collected nor failed.
        ids: of all batches ever.
        n_labels: how many batches were begun.
        replaceable: labels of batches of earlier processes that are submitted again if the service does not know them. It may
            know them under another key, and then the questions are paid for twice.
    """

    pending: dict[str, Submitted] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    n_labels: int = 0
    replaceable: frozenset[str] = frozenset()

    def visit(self, event: Event) -> None:
        """Take in one event; those of other kinds change nothing."""
        detail = event.detail
        if event.event == SUBMITTING:
            self.n_labels += 1
            self.pending[detail["label"]] = Submitted(detail["label"], detail["requests"], event.happened_at)
        elif event.event == SUBMITTED:
            self.ids.add(detail["batch"])
            begun = self.pending[detail["label"]]
            self.pending[detail["label"]] = replace(begun, batch_id=detail["batch"])
        elif event.event in (COLLECTED, FAILED):
            self.pending.pop(detail["label"], None)
