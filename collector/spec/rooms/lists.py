"""Lists: how lists are cut into items, and which of them are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from collector.hints import did_you_mean
from collector.spec.checks.schemes import neutral_id_problems, scheme_problems
from collector.spec.rooms import Room
from collector.spec.subjects import read_relevance
from collector.validation import Names, NonBlank, Problem, Section

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.files import SpecFiles

SCHEMES = ("items", "reference")
MATCHED = "matched"


class Fuzzy(Section):
    """When two items count as one: at most `distance` edits apart, or more than `overlap` of their words shared."""

    distance: Annotated[int, Field(ge=0, le=10)] = 2
    overlap: Annotated[float, Field(gt=0, le=1)] = 0.8


class Lists(Section):
    """How lists are cut into items and compared; the first scheme and the one similarity are judged.

    `neutral` is 'matched' (each template's own) or a template's id; `personality` names the attribute that PAFS is
    computed for; `relevance` is a CSV file beside the spec with subject, item and grade.
    """

    schemes: Names = ("items",)
    similarity: Literal["jaccard", "serp", "prag"] = "jaccard"
    neutral: NonBlank = MATCHED
    personality: NonBlank | None = None
    fuzzy: Fuzzy | None = None
    relevance: NonBlank | None = None

    def document(self, relevance_hash: str | None) -> dict[str, Any]:
        """Return this as plain data; the relevance file is named by the hash of its rows."""
        return {**self.model_dump(exclude={"relevance"}, mode="json"), "relevance_hash": relevance_hash}


def _document(audit: Audit) -> dict[str, Any]:
    lists: Lists = audit.reading.lists
    return lists.document(audit.relevance_hash)


def _problems(audit: Audit) -> Iterator[Problem]:
    lists: Lists = audit.reading.lists
    yield from scheme_problems("reading.lists.schemes", lists.schemes, SCHEMES)
    if audit.answer.kind != "list" and "lists" in audit.reading.model_fields_set:
        yield "reading.lists", f"is for lists and the answer's kind is {audit.answer.kind!r}; remove it"
    # The file of an import names its own templates.
    if lists.neutral != MATCHED and audit.templates:
        yield from neutral_id_problems(audit, "reading.lists.neutral", lists.neutral)
        part = next((one.part for one in audit.templates if one.id == lists.neutral), None)
        if part is not None:
            yield (
                "reading.lists.neutral",
                f"is {lists.neutral!r}, which is asked with the part {part!r} only; name one that is always asked",
            )
    if lists.personality is not None and lists.personality not in audit.attributes:
        hint = did_you_mean(lists.personality, audit.attributes)
        yield "reading.lists.personality", f"is {lists.personality!r}, which is no attribute{hint}"


def _read_files(audit: Audit, files: SpecFiles) -> None:
    lists: Lists = audit.reading.lists
    if lists.relevance is None:
        return
    subjects = audit.subjects
    names = ("subject",) if subjects is None else (subjects.name, "subject")
    domain = "domain" if subjects is None or subjects.domain is None else subjects.domain
    audit._relevance_rows = read_relevance(files.path(lists.relevance), names, domain, audit.subject_rows)


ROOM = Room(
    field=(Lists, Field(default_factory=Lists)),
    is_read=lambda audit: audit.answer.kind == "list",
    document=_document,
    problems=_problems,
    read_files=_read_files,
)
