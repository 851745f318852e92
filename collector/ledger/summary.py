"""What a collection or an import reports when it is done, and how runs are named."""

from __future__ import annotations

import platform
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from collector.errors import BiasledgerError
from collector.journal.chain import Seal


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A finished run.

    Attributes:
        run_id: its name in the ledger.
        audit, target: what was asked of whom.
        is_simulated: the answers are made up.
        n_prompts: distinct prompts.
        n_responses: prompt × trial; the last attempt of each counts.
        n_attempts: rows written, tries on malformed answers and failures included.
        counts: responses by status, statuses that occurred only.
        seconds: wall time.
        warnings: one sentence each.
        seal: how many records the run's chain has, and its last hash.
        cost_usd: what it cost so far at list prices; None where the price is not known.
        asked_again: how many questions were asked again, and about which groups they were; None where none was.
        stopped: why it is not complete, as a sentence; None if it is.
    """

    run_id: str
    audit: str
    target: str
    is_simulated: bool
    n_prompts: int
    n_responses: int
    n_attempts: int
    counts: Mapping[str, int]
    seconds: float
    warnings: tuple[str, ...]
    seal: Seal | None = None
    cost_usd: float | None = None
    asked_again: str | None = None
    stopped: str | None = None

    def require_answers(self) -> None:
        """Check that an answer of the run can be analysed.

        Raises:
            BiasledgerError: none can.
        """
        if not self.counts.get("ok"):
            raise BiasledgerError(
                f"No answer of run {self.run_id} can be analysed: the column error of raw.responses in the ledger says why."
            )


def new_run_id(audit: str, target: str, started_at: datetime) -> str:
    """Return a run's name, such as products-simulator-20261121T013000-3f2a."""
    slug = re.sub(r"[^a-z0-9_-]+", "-", target.lower()).strip("-")[:60] or "target"
    return f"{audit}-{slug}-{started_at:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"


def all_versions(versions: Mapping[str, str] | None) -> dict[str, str]:
    """Return the caller's versions together with those of Python and DuckDB."""
    import duckdb

    return {"python": platform.python_version(), "duckdb": duckdb.__version__, **(versions or {})}
