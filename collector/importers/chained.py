"""A run written into the ledger together with its chain, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collector.journal.chain import Chain, Seal, event_body, prompt_body, response_body, run_body
from collector.journal.records import AnalysisSettings, analysis_body
from collector.ledger.appending import Append
from collector.rows import ResponseRow, RunRow, ScoreRow, utc_now
from collector.spec.prompts import Prompt


class ChainedRun:
    """A run in one open transaction; the run itself and how its answers are read are its first two records.

    Args:
        append: the transaction.
        run: the run, inserted at once.
        analysis: how its answers are read; the caller inserts it.
    """

    def __init__(self, append: Append, run: RunRow, analysis: AnalysisSettings) -> None:
        self._append = append
        self._run_id = run.run_id
        self._chain = Chain()
        append.run(run)
        self._link(("run", run_body(run)), ("analysis", analysis_body(analysis)))

    def event(self, event: str, detail: Mapping[str, Any]) -> None:
        """Insert an event that happens now."""
        now = utc_now()
        self._append.event(self._run_id, event, detail, now)
        self._link(("event", event_body(event, detail, now)))

    def prompts(self, prompts: Sequence[Prompt]) -> None:
        """Insert prompts with their attributes."""
        self._append.prompts(self._run_id, prompts)
        self._link(*(("prompt", prompt_body(prompt)) for prompt in prompts))

    def responses(self, rows: Sequence[ResponseRow]) -> None:
        """Insert responses."""
        self._append.responses(self._run_id, rows)
        self._link(*(("response", response_body(row)) for row in rows))

    def scores(self, rows: Sequence[ScoreRow]) -> None:
        """Insert labels that responses have already; like all scores they are no part of the chain."""
        self._append.scores(self._run_id, rows)

    def seal(self) -> Seal:
        """Insert and return the seal over everything inserted so far."""
        self._append.seal(self._run_id, self._chain.seal)
        return self._chain.seal

    def _link(self, *records: tuple[str, Mapping[str, Any]]) -> None:
        self._append.chain(self._run_id, [self._chain.add(kind, body) for kind, body in records])
