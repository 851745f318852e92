"""OpenAI's Batch API: a file of questions, a batch made of it, a file of answers and one of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import quote

from collector.errors import TargetError
from collector.targets.base import BatchRequest, BatchState, Outcome, Reply, Submission
from collector.targets.batching import CLOCK_TOLERANCE, ChatBatch
from collector.targets.http.errors import count

ENDPOINT = "/v1/chat/completions"
COMPLETION_WINDOW = "24h"
# The key in a batch's metadata that holds its label.
LABEL = "biasledger"
_OUTCOMES: Mapping[str, Outcome] = {
    "completed": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
# Results for questions that were not asked, or not completely.
_RETRYABLE = {"batch_expired", "batch_cancelled", "request_timeout"}


class Batch(ChatBatch):
    """The batch interface of an OpenAI-compatible endpoint."""

    has_names = True
    max_requests = 50_000

    @property
    def _base(self) -> str:
        return self.target.base_url.rstrip("/")

    def line(self, request: BatchRequest) -> dict[str, Any]:
        """Return a question as a line of the file that is uploaded."""
        return {
            "custom_id": request.custom_id,
            "method": "POST",
            "url": ENDPOINT,
            "body": self.target.question(request.request),
        }

    def submit(self, submission: Submission, requests: Sequence[BatchRequest]) -> str:
        """Upload the questions and make a batch of them; return its id."""
        lines = "".join(json.dumps(self.line(one), allow_nan=False) + "\n" for one in requests)
        body, content_type = _form(f"{submission.label}.jsonl", lines.encode("ascii"))
        uploaded = self.call("POST", f"{self._base}/files", body, {"Content-Type": content_type})
        made = {
            "input_file_id": self.required(uploaded, "id", "the uploaded file"),
            "endpoint": ENDPOINT,
            "completion_window": COMPLETION_WINDOW,
            "metadata": {LABEL: submission.label},
        }
        batch = self.call("POST", f"{self._base}/batches", json.dumps(made).encode("ascii"))
        return self.required(batch, "id", "the batch")

    def find(self, submission: Submission) -> str | None:
        """Return the id of the batch with the submission's label, None if there is none."""
        oldest = (submission.since - CLOCK_TOLERANCE).replace(tzinfo=UTC).timestamp()
        for batches in self.pages(f"{self._base}/batches", "after"):
            for batch in batches:
                if (batch.get("metadata") or {}).get(LABEL) == submission.label:
                    return self.required(batch, "id", "a batch")
            if (batches[-1].get("created_at") or 0) < oldest:
                return None
        return None

    def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        batch = self._batch(batch_id)
        found = (batch.get("errors") or {}).get("data") or []
        sentences = [str(one.get("message")) for one in found if isinstance(one, dict)]
        return BatchState(
            outcome=_OUTCOMES.get(str(batch.get("status"))),
            error="; ".join(sentences[:3]) or None,
        )

    def results(self, batch_id: str) -> Iterator[tuple[str, Reply | TargetError]]:
        """Yield custom_id and result of each question, from the file of answers and that of errors."""
        batch = self._batch(batch_id)
        for key in ("output_file_id", "error_file_id"):
            if batch.get(key):
                yield from self.download(f"{self._base}/files/{quote(str(batch[key]), safe='')}/content")

    def result(self, document: dict[str, Any]) -> tuple[str, Reply | TargetError] | None:
        """Read a line of either file; None where it is no result."""
        custom_id, response, error = (document.get(key) for key in ("custom_id", "response", "error"))
        if not isinstance(custom_id, str):
            return None
        if isinstance(response, dict):
            return custom_id, self.answer(count(response.get("status_code")) or 500, response.get("body"))
        if not isinstance(error, dict):
            return None
        sentence = error.get("message") or error.get("code") or "no reason given"
        return custom_id, TargetError(
            f"{self.target.name} did not answer in the batch: {sentence}",
            retryable=error.get("code") in _RETRYABLE,
            raw_body=json.dumps(document, ensure_ascii=False),
        )

    def _batch(self, batch_id: str) -> dict[str, Any]:
        return self.call("GET", f"{self._base}/batches/{quote(batch_id, safe='')}")


def _form(name: str, content: bytes) -> tuple[bytes, str]:
    """Return a file as a form, and the form's content type."""
    import requests

    form = requests.Request(
        "POST",
        "http://unused.invalid",
        data={"purpose": "batch"},
        files={"file": (name, content, "application/jsonl")},
    ).prepare()
    assert isinstance(form.body, bytes)
    return form.body, form.headers["Content-Type"]
