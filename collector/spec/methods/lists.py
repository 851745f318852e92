"""Lists: how lists are cut into items, and which of them are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from collector.hints import did_you_mean
from collector.spec.checks.shared import for_others, neutral_id_problems, scheme_problems
from collector.spec.methods import Method
from collector.spec.subjects import read_relevance
from collector.validation import Names, NonBlank, Problem, Section, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.files import SpecFiles

SCHEMES = ("items", "reference")
MATCHED = "matched"


class Fuzzy(Section):
    """When two items count as one although they are spelt differently."""

    distance: Annotated[int, Field(ge=0, le=10)] = spec_key(
        "They are at most this many edits apart, or …", 1, default=2
    )
    overlap: Annotated[float, Field(gt=0, le=1)] = spec_key(
        "… they share more than this share of their words.", 0.9, default=0.8
    )


class Lists(Section):
    """How lists are cut into items and compared."""

    schemes: Names = spec_key(
        "How a list is cut into items; `reference` is the source's way. The first is judged.",
        ["items", "reference"],
        default=("items",),
        json_schema_extra={"items": {"enum": list(SCHEMES)}},
    )
    similarity: Literal["jaccard", "serp", "prag"] = spec_key(
        "The similarity that is judged: of shared items (`jaccard`), or also of their places (`serp`, `prag`).",
        "prag",
        default="jaccard",
    )
    neutral: NonBlank = spec_key(
        "The prompt that lists are compared with: each template's own (`matched`), or one template's id.",
        "neutral_by",
        default=MATCHED,
    )
    personality: NonBlank | None = spec_key(
        "The attribute whose groups are personality profiles, for PAFS.", "personality", default=None
    )
    fuzzy: Fuzzy | None = spec_key(
        "Count near-equal items as one; if absent, only equal ones.",
        {"distance": 2, "overlap": 0.8},
        default=None,
    )
    relevance: NonBlank | None = spec_key(
        "A CSV file of relevant items next to the spec: subject, item, and grade above 0.",
        "recommendations/relevance.csv",
        default=None,
    )


def _document(audit: Audit) -> dict[str, Any]:
    """The relevance file is named by the hash of its rows."""
    lists: Lists = audit.analysis.lists
    return {**lists.model_dump(exclude={"relevance"}, mode="json"), "relevance_hash": audit.relevance_hash}


def _problems(audit: Audit) -> Iterator[Problem]:
    lists: Lists = audit.analysis.lists
    yield from scheme_problems("analysis.lists.schemes", lists.schemes, SCHEMES)
    if audit.answer.kind != "list" and "lists" in audit.analysis.model_fields_set:
        yield for_others("analysis.lists", "lists", audit.answer.kind)
    # The file of an import names its own templates.
    if lists.neutral != MATCHED and audit.templates:
        yield from neutral_id_problems(audit, "analysis.lists.neutral", lists.neutral)
        part = next((one.part for one in audit.templates if one.id == lists.neutral), None)
        if part is not None:
            yield (
                "analysis.lists.neutral",
                f"is {lists.neutral!r}, which is asked with the part {part!r} only; name one that is always asked",
            )
    if lists.personality is not None and lists.personality not in audit.attributes:
        hint = did_you_mean(lists.personality, audit.attributes)
        yield "analysis.lists.personality", f"is {lists.personality!r}, which is no attribute{hint}"


def _read_files(audit: Audit, files: SpecFiles) -> None:
    lists: Lists = audit.analysis.lists
    if lists.relevance is None:
        return
    subjects = audit.subjects
    names = ("subject",) if subjects is None else (subjects.name, "subject")
    domain = "domain" if subjects is None or subjects.domain is None else subjects.domain
    audit._relevance_rows = read_relevance(
        files.path(lists.relevance), names, domain, audit.subject_rows, files.encoding
    )


METHOD = Method(
    field=(
        Lists,
        spec_key("For lists.", {"similarity": "serp", "neutral": "neutral_by"}, default_factory=Lists),
    ),
    is_read=lambda audit: audit.answer.kind == "list",
    document=_document,
    problems=_problems,
    read_files=_read_files,
)
