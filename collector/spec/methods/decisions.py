"""Decisions: what a decision about a person amounts to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from collector.hints import did_you_mean
from collector.spec.checks.shared import for_others
from collector.spec.methods import Method
from collector.spec.parts import DECISIONS
from collector.validation import Names, Problem, Section, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.parts import Answer


class Decisions(Section):
    """The meaning of a decision about a person.

    *Selected* is who gets a `favourable` label, a score above the sample's median, or one of the first `top` places.
    A rating (a scale of four to seven whole numbers) selects nobody unless `selected` is `median`.
    """

    ordered: bool = spec_key(
        "Labels are listed from lowest to highest and have ranks 0, 1, 2, ….", True, default=False
    )
    favourable: Names = spec_key("The labels that select somebody.", ["senior"], default=())
    top: Annotated[int, Field(ge=1)] = spec_key("Rankings select this many first places.", 3, default=1)
    selected: Literal["median", "none"] | None = spec_key(
        "Whether a score above the sample's `median` selects somebody, or `none` does. The default is `none` "
        "for a rating, else `median`.",
        "none",
        default=None,
    )
    paired: bool | None = spec_key(
        "Whether people of different groups share subjects; detected if absent.", False, default=None
    )
    scale: Literal["raw", "log", "ranks"] | None = spec_key(
        "How gaps between scores are judged. `raw`: in standard deviations of all scores. `log`: in per "
        "cent, as for salaries. `ranks`: by places among the scores of the same case, or job, which no "
        "outlier moves. The default depends on the scores (docs/methods.md); the audit's first run decides "
        "for all.",
        "log",
        default=None,
    )

    against: float | None = spec_key(
        "Hold answers of all groups together against this value: the share of `favourable` labels, or the "
        "mean score. Such an audit needs no attributes.",
        0.5,
        default=None,
    )

    smallest_share: Annotated[float, Field(ge=0, lt=0.5)] | None = spec_key(
        "Impact ratios leave out groups below this share of the sample; 0.02 if absent, as Local Law 144 "
        "allows, and 0 leaves out none.",
        0,
        default=None,
    )


def _document(audit: Audit) -> dict[str, Any]:
    decisions: Decisions = audit.analysis.decisions
    optional = ("scale", "against", "selected", "smallest_share")
    left_out = {key for key in optional if getattr(decisions, key) is None}
    document = decisions.model_dump(mode="json", exclude=left_out)
    return {"selected": "none", **document} if _is_rating(audit.answer) else document


def _is_rating(answer: Answer) -> bool:
    """Return whether answers are points of a short scale of whole numbers, such as 1 to 5 stars."""
    lowest, highest = answer.minimum, answer.maximum
    if answer.kind != "score" or lowest is None or highest is None:
        return False
    return lowest.is_integer() and highest.is_integer() and 3 <= highest - lowest <= 6


def _problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `analysis.decisions`."""
    decisions, kind = audit.analysis.decisions, audit.answer.kind
    at = "analysis.decisions"
    if kind not in DECISIONS:
        if "decisions" in audit.analysis.model_fields_set:
            yield for_others(at, "labels, scores and rankings", kind)
        return
    for key, of_kind in (
        ("ordered", "label"),
        ("favourable", "label"),
        ("top", "ranking"),
        ("scale", "score"),
        ("selected", "score"),
    ):
        if key in decisions.model_fields_set and kind != of_kind:
            yield for_others(f"{at}.{key}", f"answers of the kind {of_kind}", kind)
    if kind == "score" and decisions.scale == "log" and (audit.answer.minimum or 0) <= 0:
        yield (
            f"{at}.scale",
            (
                f"is log, which needs scores above 0, and the answer's minimum is {audit.answer.minimum or 0:g}; "
                "raise the minimum, or write scale: ranks"
            ),
        )
    yield from _against_problems(audit)
    if kind == "ranking" and audit.people_rows and decisions.top >= audit.n_candidates:
        yield (
            f"{at}.top",
            f"is {decisions.top}, and of {audit.n_candidates} candidates fewer should be selected",
        )
    for index, label in enumerate(decisions.favourable):
        if label not in audit.answer.labels:
            yield (
                f"{at}.favourable[{index}]",
                f"is {label!r}, which is none of the labels{did_you_mean(label, audit.answer.labels)}",
            )
        if label in decisions.favourable[:index]:
            yield f"{at}.favourable[{index}]", f"names {label!r} a second time"
    if audit.answer.labels and set(audit.answer.labels) <= set(decisions.favourable):
        yield (
            f"{at}.favourable",
            "holds all labels, so that everybody is selected; leave out what is not favourable",
        )


def _against_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of the value that answers are compared with."""
    decisions, answer = audit.analysis.decisions, audit.answer
    at, against = "analysis.decisions.against", decisions.against
    if against is None:
        return
    if answer.kind == "ranking":
        yield for_others(at, "answers of the kinds label and score", answer.kind)
        return
    if answer.kind == "label" and not decisions.favourable:
        yield (
            at,
            "needs analysis.decisions.favourable: it is the share of these labels that is compared with it",
        )
    lowest, highest = (0, 1) if answer.kind == "label" else (answer.minimum, answer.maximum)
    if lowest is not None and highest is not None and not lowest < against < highest:
        yield at, f"is {against:g} and should lie between {lowest:g} and {highest:g}"


METHOD = Method(
    field=(
        Decisions,
        spec_key(
            "For labels, scores and rankings.",
            {"ordered": True, "favourable": ["senior"]},
            default_factory=Decisions,
        ),
    ),
    is_read=lambda audit: audit.answer.kind in DECISIONS,
    document=_document,
    problems=_problems,
)
