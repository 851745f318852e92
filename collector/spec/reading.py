"""The `reading` part of an audit spec: how answers become words, items, decisions, prices or markers to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from collector.validation import Names, NonBlank, Section

SCHEMES = ("words", "seed", "seed_vectors", "reference", "reference_anonymised", "reference_vectors")
LIST_SCHEMES = ("items", "reference")
MARKER_SCHEMES = ("declared", "word", "stem", "substring")
MATCHED = "matched"
NOTHING = "none"  # what reading.words.remove takes out where texts are to be left as they are
ALL_PROBES = "(all)"  # how results call all probes of a category, and all categories


class Words(Section):
    """How texts are split into words, how a classifier weighs these, and which terms are removed first.

    `remove` are lists of terms, beside what is removed unasked: the groups' labels and carriers, and forms of address. `keep`
    names words that are not removed unasked, `unasked: false` leaves all of these to the lists, and `remove: none` removes
    nothing at all.
    """

    schemes: Names = ("words",)
    weighting: Literal["tfidf", "counts"] = "tfidf"
    remove: Mapping[str, Names] = Field(default_factory=dict)
    unasked: bool = True
    keep: Names = ()

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
                f"has unasked or keep beside remove: {NOTHING}, which takes nothing out; remove one"
            )
        return {**value, "remove": {}, "unasked": False}

    def document(self) -> dict[str, Any]:
        """Return this as plain data: terms are lower-case, white space within them is single, each (list, term) stands once.

        Keys that came later stand only where they are used, so that the hash of an older reading stays.
        """
        terms = {(name, _term(term)) for name, listed in self.remove.items() for term in listed}
        later = {
            "unasked": None if self.unasked else False,
            "keep": sorted({_term(term) for term in self.keep}) or None,
        }
        return {
            "schemes": list(self.schemes),
            "weighting": self.weighting,
            "terms": [{"list": name, "term": term} for name, term in sorted(terms)],
            **{key: used for key, used in later.items() if used is not None},
        }


def _term(written: str) -> str:
    return " ".join(written.lower().split())


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


class Decisions(Section):
    """What a decision about a person amounts to.

    `ordered` says that the labels are listed from the lowest to the highest and so have ranks 0, 1, 2, …. *Selected* is who
    gets one of the `favourable` labels, a score above the sample's median, or one of the first `top` places of a ranking.
    `paired` says whether the same subject is answered for people of different groups; it is told from the data if null.
    """

    ordered: bool = False
    favourable: Names = ()
    top: Annotated[int, Field(ge=1)] = 1
    paired: bool | None = None

    def document(self) -> dict[str, Any]:
        """Return this as plain data."""
        return {**self.model_dump(mode="json"), "favourable": list(self.favourable)}


class Prices(Section):
    """How recommended items are compared by price and category.

    `catalogue` names an imported catalogue that the items are looked up in; without one, answers state prices and categories
    themselves. `category_sets` are counted as a whole beside their categories: name of the set -> CSV file beside the spec
    with the column category. `items_per_answer` is how many items stand behind the categories of an answer in imports that
    count categories.
    """

    catalogue: NonBlank | None = None
    category_sets: Mapping[str, NonBlank] = Field(default_factory=dict)
    items_per_answer: Annotated[int, Field(ge=1)] | None = None

    def document(self, levels: int, category_sets: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return this as plain data, with the categories of each set in alphabetical order."""
        return {
            "catalogue": self.catalogue,
            "category_sets": {name: sorted(categories) for name, categories in category_sets.items()},
            "items_per_answer": self.items_per_answer,
            "levels": levels,
        }


class Markers(Section):
    """Words that count for or against a stereotype, sought in answers; `file` is a CSV beside the spec, none for regard alone.

    The first of `schemes` is judged: each marker by its own kind (declared), or all of them as whole words, as stems, or as
    substrings of tokens between white space. `minimum` is how many different markers an answer needs for a verdict.
    """

    file: NonBlank | None = None
    schemes: Names = ("declared",)
    minimum: Annotated[int, Field(ge=1)] = 2

    def document(self, markers_hash: str | None) -> dict[str, Any]:
        """Return this as plain data; the file is named by the hash of its rows and of the probes."""
        return {"hash": markers_hash, "schemes": list(self.schemes), "minimum": self.minimum}


class Reading(Section):
    """How answers are read: it can change without asking again.

    `same` are derived attributes: name -> two attributes whose groups have the same names; the derived group is 'same' or
    'different', which is its reference.
    """

    crossed: Names = ()
    pairwise: bool = False
    words: Words = Field(default_factory=Words)
    lists: Lists = Field(default_factory=Lists)
    decisions: Decisions = Field(default_factory=Decisions)
    prices: Prices = Field(default_factory=Prices)
    markers: Markers | None = None
    same: Mapping[str, Names] = Field(default_factory=dict)
