"""Prices: how recommended items are compared by price and category."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from collector.hints import did_you_mean, quoted
from collector.spec.checks.shared import for_others, slot_name_problems
from collector.spec.methods import Method
from collector.spec.subjects import read_categories
from collector.validation import NonBlank, Problem, Section, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.files import SpecFiles


class Prices(Section):
    """How recommended items are compared by price and category."""

    catalogue: NonBlank | None = spec_key(
        "The catalogue to look items up in (`biasledger import-items`). If absent, answers state prices and "
        "categories.",
        "boston",
        default=None,
    )
    category_sets: Mapping[str, NonBlank] = spec_key(
        "Categories also counted as a whole: set → CSV file next to the spec with the column category.",
        {"nightlife": "restaurants/nightlife.csv"},
        default_factory=dict,
    )
    items_per_answer: Annotated[int, Field(ge=1)] | None = spec_key(
        "For imports that count categories: items in an answer.", 20, default=None
    )


def _document(audit: Audit) -> dict[str, Any]:
    """The categories of each set are in alphabetical order."""
    prices: Prices = audit.analysis.prices
    return {
        "catalogue": prices.catalogue,
        "category_sets": {name: sorted(categories) for name, categories in audit.category_sets.items()},
        "items_per_answer": prices.items_per_answer,
        "levels": audit.answer.levels,
    }


def _problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `analysis.prices` and `analysis.same`."""
    if audit.answer.kind != "items":
        for key in ("prices", "same"):
            if key in audit.analysis.model_fields_set:
                yield for_others(f"analysis.{key}", "items", audit.answer.kind)
        return
    prices = audit.analysis.prices
    for name in prices.category_sets:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
            yield (
                f"analysis.prices.category_sets.{name}",
                f"is called {name!r}; a set's name consists of lower-case letters, digits, - and _",
            )
    columns = None if audit.imported is None else audit.imported.columns
    counts_categories = columns is not None and columns.counts_categories
    if counts_categories and prices.items_per_answer is None:
        yield (
            "the key analysis.prices.items_per_answer",
            "is missing; an import that counts categories does not say how many items an answer has",
        )
    if prices.items_per_answer is not None and not counts_categories:
        yield (
            "analysis.prices.items_per_answer",
            "is for imports that count categories, with the columns category and count alone; remove it",
        )
    for name, pair in audit.analysis.same.items():
        yield from _same_problems(audit, name, pair)


def _same_problems(audit: Audit, name: str, pair: tuple[str, ...]) -> Iterator[Problem]:
    at = f"analysis.same.{name}"
    yield from slot_name_problems(at, name)
    if name in audit.attributes:
        yield at, "is called like an attribute; rename it"
    if len(pair) != 2 or pair[0] == pair[1]:
        yield at, f"names {len(set(pair))} attribute{'' if len(set(pair)) == 1 else 's'} and should name two"
        return
    for index, one in enumerate(pair):
        if one not in audit.attributes:
            yield (
                f"{at}[{index}]",
                f"is {one!r}, which is no attribute{did_you_mean(one, audit.attributes)}",
            )
            return
    first, second = (set(audit.attributes[one].groups) for one in pair)
    if first != second or len(first) != 2:
        found = " and ".join(quoted(sorted(groups)) for groups in (first, second))
        yield (
            at,
            f"compares {pair[0]!r} and {pair[1]!r}, which should have the same two groups; they have {found}",
        )


def _read_files(audit: Audit, files: SpecFiles) -> None:
    prices: Prices = audit.analysis.prices
    audit.answer._has_catalogue = prices.catalogue is not None
    audit._category_sets = {
        name: read_categories(files.path(file), files.encoding) for name, file in prices.category_sets.items()
    }


METHOD = Method(
    field=(
        Prices,
        spec_key("For items: prices and categories.", {"catalogue": "boston"}, default_factory=Prices),
    ),
    is_read=lambda audit: audit.answer.kind == "items",
    document=_document,
    problems=_problems,
    read_files=_read_files,
    reads_predictions=True,
)
