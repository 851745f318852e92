"""Rows from the bodies of a journal's records; `collector.journal.chain` makes the bodies.

Timestamps are ISO 8601 in UTC without a zone, as they are in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from collector.journal import chain
from collector.journal.chain import FIELDS, without_erased
from collector.rows import MarkerRow, ProbeRow, RelevanceRow, ResponseRow, RunRow

if TYPE_CHECKING:
    from collector.spec.prompts import Prompt

# The fields of a prompt that are computed from the others.
_COMPUTED = ("prompt_id", "content_hash", "attributes")
# The fields of a prompt that older journals lack.
_LATER = ("cluster", "block", "turns")


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """An audit's analysis: its `analysis_document()`, and the relevance, markers and probes that this names by hash."""

    audit: str
    document: Mapping[str, Any]
    registered_at: datetime
    relevance_hash: str | None = None
    relevance: Sequence[RelevanceRow] = ()
    markers_hash: str | None = None
    markers: Sequence[MarkerRow] = ()
    probes: Sequence[ProbeRow] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a run: started, resumed, finished, failed, …"""

    event: str
    detail: Mapping[str, Any]
    happened_at: datetime


def run_of(body: Mapping[str, Any]) -> RunRow:
    """Return the run of a body."""
    fields = {name: body[name] for name in FIELDS["run"]}
    return RunRow(**{**fields, "started_at": datetime.fromisoformat(body["started_at"])})


def analysis_body(analysis: AnalysisSettings) -> dict[str, Any]:
    """Return the body of an analysis's record, with the relevance, markers and probes it brings along."""
    return {
        **chain.analysis_body(analysis.audit, analysis.document),
        "registered_at": analysis.registered_at.isoformat(),
        "relevance_hash": analysis.relevance_hash,
        "relevance": [[row.subject, row.domain, row.item, row.grade] for row in analysis.relevance],
        "markers_hash": analysis.markers_hash,
        "markers": [asdict(row) for row in analysis.markers],
        "probes": [asdict(row) for row in analysis.probes],
    }


def analysis_of(body: Mapping[str, Any]) -> AnalysisSettings:
    """Return the analysis of a body; journals of before there were markers and probes bring none along."""
    return AnalysisSettings(
        audit=body["audit"],
        document=body["analysis"],
        registered_at=datetime.fromisoformat(body["registered_at"]),
        relevance_hash=body["relevance_hash"],
        relevance=tuple(RelevanceRow(*row) for row in body["relevance"]),
        markers_hash=body.get("markers_hash"),
        markers=tuple(MarkerRow(**row) for row in body.get("markers", ())),
        probes=tuple(ProbeRow(**row) for row in body.get("probes", ())),
    )


def changed_tables(body: Mapping[str, Any]) -> str | None:
    """Return which table that an analysis's record brings along is not the one that it names by its hash, None where all are.

    Raises:
        KeyError, TypeError, ValueError: the body is no analysis's.
    """
    from collector.spec.markers import hash_of_markers
    from collector.spec.subjects import hash_of_relevance

    analysis = analysis_of(body)
    if hash_of_relevance(analysis.relevance) != analysis.relevance_hash:
        return "rows of relevance"
    if hash_of_markers(analysis.markers, analysis.probes) != analysis.markers_hash:
        return "markers and probes"
    return None


def prompt_of(body: Mapping[str, Any]) -> Prompt:
    """Return the prompt of a body, with recomputed hashes."""
    # Importing the spec takes long, and most readers of journals read no prompt.
    from collector.spec.prompts import Prompt, PromptAttribute

    fields = {name: body[name] for name in FIELDS["prompt"] if name not in (*_COMPUTED, *_LATER)}
    fields |= {name: body.get(name) for name in _LATER}
    return Prompt(**fields, attributes=tuple(PromptAttribute(**one) for one in body["attributes"]))


def response_body(row: ResponseRow) -> dict[str, Any]:
    """Return the body of a collected response's record, which also says whether its trial is done."""
    return {**chain.response_body(row), "is_last": row.is_last}


def response_of(body: Mapping[str, Any]) -> ResponseRow:
    """Return the response of a body; an erased text is None."""
    requested_at = body["requested_at"]
    fields = {
        **without_erased(body),
        "requested_at": None if requested_at is None else datetime.fromisoformat(requested_at),
    }
    return ResponseRow(**fields)


def event_of(body: Mapping[str, Any]) -> Event:
    """Return the event of a body."""
    return Event(body["event"], body["detail"], datetime.fromisoformat(body["happened_at"]))
