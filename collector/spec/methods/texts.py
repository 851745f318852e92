"""Texts: how alike counterfactual answers are, how they read and how much they hedge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.files.encoders import find_encoder, hub_copy
from collector.spec.checks.shared import for_others, scheme_problems
from collector.spec.methods import Method
from collector.spec.parts import DECISIONS, RECOMMENDATIONS
from collector.validation import Names, NonBlank, Problem, Section, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.files import SpecFiles

SIMILARITIES = ("cosine", "rouge_l", "bleu", "lsa", "encoder", "encoder_centred")
OF_VECTORS = frozenset(SIMILARITIES[-2:])


class Texts(Section):
    """How answers are compared beyond their words."""

    similarity: Names = spec_key(
        "Similarity of two texts: `cosine` (TF-IDF), `rouge_l`, `bleu`, `lsa` (latent space), `encoder`, "
        "`encoder_centred` (less the mean). The first is judged.",
        ["rouge_l", "cosine"],
        default=SIMILARITIES[:3],
    )
    encoder: NonBlank | None = spec_key(
        "The sentence encoder: a folder next to the spec, or a name on the Hugging Face hub with a local "
        "copy. Needs the extra `encoders`.",
        "sentence-transformers/all-MiniLM-L6-v2",
        default=None,
    )


def _problems(audit: Audit) -> Iterator[Problem]:
    if "texts" not in audit.analysis.model_fields_set:
        return
    if audit.answer.kind in (*RECOMMENDATIONS, *DECISIONS):
        yield for_others("analysis.texts", "answers in free words", audit.answer.kind)
    texts: Texts = audit.analysis.texts
    yield from scheme_problems("analysis.texts.similarity", texts.similarity, SIMILARITIES)
    named = next((one for one in texts.similarity if one in OF_VECTORS), None)
    if named is not None and texts.encoder is None:
        yield (
            "analysis.texts.encoder",
            f"is missing, and similarity names {named!r}; name one, or remove that",
        )
    if named is None and texts.encoder is not None:
        yield (
            "analysis.texts.encoder",
            f"is read where similarity names {' or '.join(map(repr, sorted(OF_VECTORS)))}; add that, or remove it",
        )


def _read_files(audit: Audit, files: SpecFiles) -> None:
    """Find the encoder; its files may be large, and are hashed and not read into memory."""
    texts: Texts = audit.analysis.texts
    if texts.encoder is None or OF_VECTORS.isdisjoint(texts.similarity):
        return
    name = texts.encoder
    if not (files.spec.parent / name).is_dir():
        audit._encoder = find_encoder(name, name, hub_copy(name))
        return
    folder = Path(os.path.realpath(files.path(name)))
    is_inside = files.root is not None and folder.is_relative_to(files.root)
    place = folder.relative_to(files.root).as_posix() if files.root and is_inside else str(folder)
    audit._encoder = find_encoder(folder.name, place, folder)


def _document(audit: Audit) -> dict[str, Any]:
    texts: Texts = audit.analysis.texts
    document: dict[str, Any] = {"similarity": list(texts.similarity)}
    encoder = audit._encoder
    return document | ({} if encoder is None else {"encoder": asdict(encoder)})


METHOD = Method(
    field=(
        Texts,
        spec_key(
            "For texts: similarity, and outcomes such as reading ease.",
            {"similarity": ["cosine"]},
            default_factory=Texts,
        ),
    ),
    is_read=lambda audit: "texts" in audit.analysis.model_fields_set,
    document=_document,
    problems=_problems,
    read_files=_read_files,
)
