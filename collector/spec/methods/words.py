"""Words: how texts are split into words, and which are removed first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator

from collector.spec.checks.shared import scheme_problems
from collector.spec.methods import Method
from collector.spec.parts import DECISIONS, RECOMMENDATIONS
from collector.validation import Names, Problem, Section, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit

SCHEMES = ("words", "seed", "seed_vectors", "reference", "reference_anonymised", "reference_vectors", "keys")
KEYS = "keys"  # the keys of an answer that is a JSON object, such as product types
NOTHING = "none"  # what analysis.words.remove takes out where texts are to be left as they are


def _allow_nothing(schema: dict[str, Any]) -> None:
    """Allow the word NOTHING instead of lists of terms in a JSON schema."""
    lists = {key: schema.pop(key) for key in ("type", "additionalProperties")}
    schema["anyOf"] = [lists, {"const": NOTHING}]


class Words(Section):
    """How texts are split into words, and which are removed first: by default groups' names, descriptors and forms of address."""

    schemes: Names = spec_key(
        "How texts are split (docs/methods.md). The first is judged, normally `words`; others give the "
        "sources' numbers. `keys` tests the keys of JSON answers.",
        ["words", "seed"],
        default=("words",),
        json_schema_extra={"items": {"enum": list(SCHEMES)}},
    )
    weighting: Literal["tfidf", "counts"] = spec_key(
        "The classifier's weights of words: higher for rare ones (`tfidf`), or their number (`counts`).",
        "counts",
        default="tfidf",
    )
    remove: Mapping[str, Names] = spec_key(
        "Further terms to remove: list → terms. `none` removes nothing at all.",
        {"titles": ["mr", "mrs", "ms"]},
        NOTHING,
        default_factory=dict,
        json_schema_extra=_allow_nothing,
    )
    unasked: bool = spec_key("false removes the lists of `remove` alone.", False, default=True)
    keep: Names = spec_key("Words to keep that would be removed by default.", ["lady"], default=())

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, value: Any) -> Any:
        """Read `remove: none` as no lists, and nothing unasked."""
        if not isinstance(value, Mapping) or not isinstance(value.get("remove"), str):
            return value
        if value["remove"] != NOTHING:
            raise ValueError(
                f"has {value['remove']!r} as remove, which should be lists of terms (titles: [mr, ms]) or the word {NOTHING}, "
                f"which takes nothing out of the texts"
            )
        if "unasked" in value or "keep" in value:
            raise ValueError(
                f"has unasked or keep next to remove: {NOTHING}, which takes nothing out; remove one"
            )
        return {**value, "remove": {}, "unasked": False}


def _term(written: str) -> str:
    return " ".join(written.lower().split())


def _is_read(audit: Audit) -> bool:
    """Answers in free words are, unless markers are sought in them; any others where the spec says how."""
    is_of_words = audit.answer.kind not in (*RECOMMENDATIONS, *DECISIONS) and audit.analysis.markers is None
    return is_of_words or "words" in audit.analysis.model_fields_set


def _document(audit: Audit) -> dict[str, Any]:
    """Terms are lower-case, white space within them is single, each (list, term) occurs once.

    Newer keys are only included if they are used, so that the hash of an older analysis stays the same.
    """
    words: Words = audit.analysis.words
    terms = {(name, _term(term)) for name, listed in words.remove.items() for term in listed}
    document: dict[str, Any] = {
        "schemes": list(words.schemes),
        "weighting": words.weighting,
        "terms": [{"list": name, "term": term} for name, term in sorted(terms)],
    }
    if not words.unasked:
        document["unasked"] = False
    if words.keep:
        document["keep"] = sorted(set(map(_term, words.keep)))
    return document


def _problems(audit: Audit) -> Iterator[Problem]:
    schemes = audit.analysis.words.schemes
    yield from scheme_problems("analysis.words.schemes", schemes, SCHEMES)
    if KEYS in schemes and audit.answer.kind != "json_object":
        yield (
            "analysis.words.schemes",
            f"has {KEYS!r}, which is for answers of the kind json_object and not {audit.answer.kind!r}; remove it",
        )
    if schemes[:1] == (KEYS,):
        yield (
            "analysis.words.schemes",
            f"begins with {KEYS!r}, which stands next to what is judged; put words first",
        )


METHOD = Method(
    field=(
        Words,
        spec_key(
            "For texts and JSON: words.", {"remove": {"pronouns": ["she", "he"]}}, default_factory=Words
        ),
    ),
    is_read=_is_read,
    document=_document,
    problems=_problems,
)
