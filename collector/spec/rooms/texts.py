"""Texts: how alike counterfactual answers are, how they read and how much they hedge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from collector.spec.checks.schemes import scheme_problems
from collector.spec.parts import DECISIONS, RECOMMENDATIONS
from collector.spec.rooms import Room
from collector.validation import Names, Problem, Section

if TYPE_CHECKING:
    from collector.spec.audit import Audit

SIMILARITIES = ("cosine", "rouge_l", "bleu", "lsa")


class Texts(Section):
    """How answers about different people are compared beyond their words."""

    similarity: Names = Field(
        default=SIMILARITIES[:3],
        description="How two texts are held against each other: `cosine` of TF-IDF vectors, `rouge_l`, `bleu`, or `lsa`, the "
        "cosine in a latent space of the answers. The first is judged, the others are shown.",
        examples=[["rouge_l", "cosine"]],
    )


def _problems(audit: Audit) -> Iterator[Problem]:
    if "texts" not in audit.reading.model_fields_set:
        return
    if audit.answer.kind in (*RECOMMENDATIONS, *DECISIONS):
        yield (
            "reading.texts",
            f"is for answers in free words and the answer's kind is {audit.answer.kind!r}; remove it",
        )
    yield from scheme_problems("reading.texts.similarity", audit.reading.texts.similarity, SIMILARITIES)


ROOM = Room(
    field=(
        Texts,
        Field(
            default_factory=Texts,
            description="Of texts: how alike answers about different people are, how they read and how much they hedge.",
            examples=[{"similarity": ["cosine"]}],
        ),
    ),
    is_read=lambda audit: "texts" in audit.reading.model_fields_set,
    document=lambda audit: audit.reading.texts.model_dump(mode="json"),
    problems=_problems,
)
