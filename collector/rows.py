"""The rows that go into the ledger, and the hashes that identify them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any

from collector.hashing import canonical_json, hash_of, tagged_hash

# The event of a run that a person ended, in place of an error.
INTERRUPTED = "interrupted"
# The event of labels that a person gave to a run's answers, which does not change the run's state.
LABELLED = "labelled"
# The event of answers that a second reader read.
READ = "read"
# The event of a judge that grades answers by a rubric.
GRADED = "graded"
# Events that do not change a run's progress.
NO_PROGRESS = (LABELLED, READ, GRADED)
# The event of a retracted run, which counts for nothing any more.
RETRACTED = "retracted"
# Events that may follow the end of a run, also of one from before chains existed.
LATER_EVENTS = (RETRACTED, LABELLED, READ, GRADED)
# In the method's source a classifier gives the same score to every shorter text.
SHORT_CHARACTERS = 20

# The key of the hash in the first line of a baseline's file.
BASELINE_HASH = "content_hash"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run: its audit and target, fixed when it starts; `spec` is the audit's asked() document."""

    run_id: str
    audit: str
    spec: Mapping[str, Any]
    target: str
    target_kind: str
    is_simulated: bool
    model_asked: str | None
    parameters: Mapping[str, Any]
    answer_rules_version: str
    versions: Mapping[str, str]
    origin: str
    started_at: datetime
    source_name: str | None = None
    source_hash: str | None = None


@dataclass(slots=True)
class ResponseRow:
    """A response: good, bad or none; `content_hash` identifies the question and the answer in every run.

    `is_last` says that its trial is done; the journal keeps it, the ledger does not. `source_row` of an imported answer is the
    row of the file, from 1, and `kept` canonical JSON of the columns that are kept. In a conversation `turn` is the number of the
    answer, from 1, and `is_judged` says whether it is judged; both are None elsewhere.
    """

    prompt_id: str
    trial: int
    attempt: int
    seq: int
    status: str
    content_hash: str
    response_text: str | None = None
    answer_text: str | None = None
    raw_body: str | None = None
    finish_reason: str | None = None
    model_answered: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: float | None = None
    error: str | None = None
    requested_at: datetime | None = None
    weight: float = 1.0
    reasoning_text: str | None = None
    read_by: str | None = None
    read_text: str | None = None
    answer_language: str | None = None
    source_row: int | None = None
    kept: str | None = None
    turn: int | None = None
    is_judged: bool | None = None
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class RelevanceRow:
    """An item's relevance for a subject; a larger grade (above 0) is more relevant."""

    subject: str
    domain: str | None
    item: str
    grade: float


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A question that probes a stereotype: the subject's name, its domain, its target group, and its text."""

    probe: str
    category: str | None
    target_group: str | None
    prompt: str | None


@dataclass(frozen=True, slots=True)
class MarkerRow:
    """A word that counts for or against a stereotype.

    It counts in answers to `probe`, or else to the probes of `category`, or else to all. `kind` is word, stem or phrase;
    `direction` is stereotype, anti, or None where the marker is counted only; it holds for answers about the group
    `group_name`, or for all. `marker` is lower-case.
    """

    marker: str
    kind: str
    list: str
    direction: str | None = None
    probe: str | None = None
    category: str | None = None
    group_name: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A scorer's result for one response: `score` (0 to 1) of a label; `is_short` under SHORT_CHARACTERS characters.

    `reason` is what a judge gives for its grade.
    """

    prompt_id: str
    trial: int
    attempt: int
    scorer: str
    label: str
    score: float
    is_short: bool
    scored_at: datetime
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item of a catalogue; price levels run from 1, the cheapest, and `domain` is the city it is offered in."""

    item_id: str
    name: str
    price_level: int | None
    categories: tuple[str, ...]
    domain: str | None
    n_reviews: int | None = None


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """A recommender's prediction for a held-out text: the columns of raw.predictions and of an imported file."""

    city: str
    review_id: str
    user_id: str
    business_id: str
    predicted_business_id: str
    rank: float | None
    popularity_rank: float | None
    category_precision_at_5: float | None
    category_precision_at_10: float | None
    category_precision_at_20: float | None
    category_r_precision: float | None
    category_map: float | None
    category_mrr: float | None
    category_ndcg: float | None


def response_hash(prompt_hash: str, status: str, response_text: str | None) -> str:
    """Return the tagged hash of a response: over its prompt's content hash, its status and its text, a line each.

    The third line distinguishes no text from empty text; the text comes last, so that its line breaks are harmless.
    """
    has_text = "none" if response_text is None else "text"
    return tagged_hash(f"{prompt_hash}\n{status}\n{has_text}\n{response_text or ''}")


def hash_of_items(rows: Sequence[ItemRow]) -> str:
    """Return the tagged hash of a catalogue's content, independent of the order of its rows."""
    listed = sorted(
        canonical_json(
            [row.item_id, row.name, row.price_level, list(row.categories), row.domain]
            # So that catalogues without them keep their hashes.
            + ([] if row.n_reviews is None else [row.n_reviews])
        )
        for row in rows
    )
    return hash_of(listed)


def hash_of_predictions(rows: Sequence[PredictionRow]) -> str:
    """Return the tagged hash of predictions, independent of the order of their rows."""
    return hash_of(sorted(canonical_json(astuple(row)) for row in rows))


def hash_of_baseline(head: Mapping[str, Any], lines: Sequence[str]) -> str | None:
    """Return the tagged hash of a baseline's file: its first line without the hash, and its rows as canonical JSON in order.

    None if the first line is no canonical JSON.
    """
    try:
        return tagged_hash("\n".join([canonical_json(head), *lines]))
    except ValueError:
        return None


def utc_now() -> datetime:
    """Return the present moment as naive UTC, the form of every timestamp in the ledger."""
    return datetime.now(UTC).replace(tzinfo=None)
