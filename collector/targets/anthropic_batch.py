"""Anthropic's Message Batches: questions in one request, results as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from urllib.parse import quote

from collector.errors import TargetError
from collector.targets.base import BatchRequest, BatchState, Reply, Submission
from collector.targets.batching import CLOCK_TOLERANCE, ChatBatch
from collector.targets.http.errors import count, error_of

_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
# Results for questions that were not asked.
_UNASKED = {"expired": "the batch expired before it", "canceled": "the batch was cancelled before it"}
# Types of errors -> the status with which the same error comes to a single question.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Batch(ChatBatch):
    """The batch interface of Anthropic's Messages API."""

    has_names = False
    max_requests = 100_000

    @property
    def _url(self) -> str:
        return f"{self.target.url}/batches"

    def line(self, request: BatchRequest) -> dict[str, Any]:
        """Return a question as an entry of the batch."""
        return {"custom_id": request.custom_id, "params": self.target.question(request.request)}

    def submit(self, submission: Submission, requests: Sequence[BatchRequest]) -> str:  # noqa: ARG002 (batches have no names)
        """Submit a batch; return its id."""
        body = json.dumps({"requests": [self.line(one) for one in requests]}, allow_nan=False)
        return self.required(self.call("POST", self._url, body.encode("ascii")), "id", "the batch")

    def find(self, submission: Submission) -> str | None:
        """Return the latest unknown batch of the submission's size made since it began, None if there is none."""
        oldest = submission.since - CLOCK_TOLERANCE
        for batch in chain.from_iterable(self.pages(self._url, "after_id")):
            batch_id = self.required(batch, "id", "a batch")
            if _created_at(batch) < oldest:
                return None
            if batch_id not in submission.known and sum(_counts(batch).values()) == submission.n_requests:
                return batch_id
        return None

    def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        batch = self.call("GET", f"{self._url}/{quote(batch_id, safe='')}")
        if batch.get("processing_status") != "ended":
            return BatchState(None)
        counts = _counts(batch)
        if counts["canceled"]:
            return BatchState("cancelled")
        return BatchState("expired" if counts["expired"] else "completed")

    def results(self, batch_id: str) -> Iterator[tuple[str, Reply | TargetError]]:
        """Yield custom_id and result of each question."""
        # The address that a batch states as results_url is this one; what it states is not followed, for the key goes along.
        yield from self.download(f"{self._url}/{quote(batch_id, safe='')}/results")

    def result(self, document: dict[str, Any]) -> tuple[str, Reply | TargetError] | None:
        """Read a line of results; None where it is no result."""
        custom_id, result = document.get("custom_id"), document.get("result")
        if not isinstance(custom_id, str) or not isinstance(result, dict):
            return None
        kind = result.get("type")
        if kind == "succeeded":
            return custom_id, self.answer(200, result.get("message"))
        if kind == "errored":
            error = result.get("error")
            # The error is in an envelope like that of a single question's reply.
            inner = error_of(error) if isinstance(error, dict) and "error" in error else error
            named = inner.get("type") if isinstance(inner, dict) else None
            return custom_id, self.answer(_STATUSES.get(str(named), 500), {"type": "error", "error": inner})
        if kind in _UNASKED:
            return custom_id, TargetError(
                f"{self.target.name} did not answer in the batch: {_UNASKED[kind]} was asked.",
                retryable=True,
                raw_body=json.dumps(document, ensure_ascii=False),
            )
        return None


def _counts(batch: dict[str, Any]) -> dict[str, int]:
    """Return how many questions of a batch are in each state."""
    found = batch.get("request_counts") or {}
    return {name: count(found.get(name)) or 0 for name in _COUNTS}


def _created_at(batch: dict[str, Any]) -> datetime:
    """Return when a batch was made, naive UTC; now where that cannot be read."""
    try:
        made = datetime.fromisoformat(str(batch.get("created_at")))
    except ValueError:
        made = datetime.now(UTC)
    return made.astimezone(UTC).replace(tzinfo=None)
