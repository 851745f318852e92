"""Markers: words that count for or against a stereotype, and scores of answers, such as their regard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, FiniteFloat

from collector.rows import ProbeRow
from collector.spec.checks.shared import for_others, scheme_problems
from collector.spec.markers import read_markers
from collector.spec.methods import Method
from collector.spec.slots import fill
from collector.validation import Names, NonBlank, Problem, Section, list_to_tuple, spec_key

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.files import SpecFiles
    from collector.spec.subjects import Subject

SCHEMES = ("declared", "word", "stem", "substring")
NEGATIVE = "negative"  # the label that is judged where a spec names none
ALL_PROBES = "(all)"  # how results call all probes of a category, and all categories


class JudgedScore(Section):
    """A score that groups are compared by: a scorer's result for one label."""

    scorer: NonBlank | None = spec_key("The scorer; if absent, all scorers of a run.", "vader", default=None)
    label: NonBlank | None = spec_key(
        "The label in lower case. If absent, labels are numbers, such as a judge's grades.",
        "compound",
        default=None,
    )
    worse: Literal["higher", "lower"] = spec_key("Whether higher or lower scores are worse.", "lower")
    lowest: FiniteFloat = spec_key("The lowest possible score.", -1, default=0.0)
    highest: FiniteFloat = spec_key("The highest possible score.", 10, default=1.0)

    def document(self) -> dict[str, Any]:
        """Return this as plain data; labels are read in lower case."""
        return self.model_dump() | {"label": None if self.label is None else self.label.lower()}


class Markers(Section):
    """Words that count for or against a stereotype, and scores of answers."""

    file: NonBlank | None = spec_key(
        "A CSV file next to the spec: marker, and as needed list, kind (word, stem, phrase), direction "
        "(stereotype, anti), probe, group. If absent, only scores are compared.",
        "stereotypes/markers.csv",
        default=None,
    )
    schemes: Names = spec_key(
        "Match each marker by its kind (`declared`), or all as whole words (`word`), stems (`stem`), or parts of "
        "tokens (`substring`). The first is judged.",
        ["declared", "word"],
        default=("declared",),
    )
    minimum: Annotated[int, Field(ge=1)] = spec_key(
        "How many different markers an answer needs for a verdict.", 1, default=2
    )
    scores: Annotated[tuple[JudgedScore, ...], BeforeValidator(list_to_tuple)] = spec_key(
        "Scores that groups are compared by (`biasledger score`). If absent, negative regard: every scorer's "
        "label `negative`.",
        [{"scorer": "vader", "label": "compound", "worse": "lower", "lowest": -1, "highest": 1}],
        default=(),
    )


def _document(audit: Audit) -> dict[str, Any]:
    """The file is named by the hash of its rows and of the probes."""
    markers: Markers = audit.analysis.markers
    found: dict[str, Any] = {
        "hash": audit.markers_hash,
        "schemes": list(markers.schemes),
        "minimum": markers.minimum,
    }
    return found | ({"scores": [one.document() for one in markers.scores]} if markers.scores else {})


def _problems(audit: Audit) -> Iterator[Problem]:
    markers: Markers | None = audit.analysis.markers
    if markers is None:
        if audit.subjects is not None and audit.subjects.target_group is not None:
            yield (
                "subjects.target_group",
                "is kept with the markers, and analysis.markers is missing; remove it",
            )
        return
    if audit.answer.kind != "text":
        yield for_others("analysis.markers", "texts", audit.answer.kind)
    if any(ALL_PROBES in (one.name, one.domain) for one in audit.subject_rows):
        yield (
            "subjects.file",
            f"has a probe or category called {ALL_PROBES!r}, which stands for all of them in the results; rename it",
        )
    domain_of: dict[str, str | None] = {}
    for one in audit.subject_rows:
        # Markers name a probe by its name alone.
        if domain_of.setdefault(one.name, one.domain) != one.domain:
            yield (
                "subjects.file",
                (
                    f"names {one.name!r} in the domains {domain_of[one.name]!r} and {one.domain!r}; where analysis.markers is "
                    f"given, a subject's name may be in one domain only, so rename one"
                ),
            )
    yield from scheme_problems("analysis.markers.schemes", markers.schemes, SCHEMES)
    yield from _score_problems(markers.scores)


def _score_problems(scores: Sequence[JudgedScore]) -> Iterator[Problem]:
    for index, one in enumerate(scores):
        at = f"analysis.markers.scores[{index}]"
        if one.lowest >= one.highest:
            yield f"{at}.highest", f"is {one.highest:g} and should be above lowest, which is {one.lowest:g}"
        if one.scorer is None and one.label is None:
            yield at, "names neither a scorer nor a label; name one, or both"
        for before in scores[:index]:
            is_same_scorer = None in (one.scorer, before.scorer) or one.scorer == before.scorer
            if is_same_scorer and one.document()["label"] == before.document()["label"]:
                yield (
                    at,
                    f"names the same label of the same scorer as scores[{scores.index(before)}]; remove one",
                )
                break


def _read_checked(audit: Audit, files: SpecFiles) -> None:
    """Read the markers, which are about groups and subjects, and keep all subjects as probes, which are read off a template.

    Whichever subjects are asked about, the analysis stays the same.
    """
    markers: Markers | None = audit.analysis.markers
    if markers is None:
        return
    audit._probe_rows = tuple(_probe(audit, one) for one in audit.subject_rows)
    if markers.file is None:
        return
    # An import names its subjects in the file of answers.
    is_known = audit.subjects is not None or audit.imported is None
    audit._marker_rows = read_markers(
        files.path(markers.file),
        probes={one.probe for one in audit._probe_rows} if is_known else None,
        categories={one.category for one in audit._probe_rows if one.category} if is_known else None,
        groups=list(dict.fromkeys(name for one in audit.attributes.values() for name in one.groups)),
        encoding=files.encoding,
    )


def _probe(audit: Audit, subject: Subject) -> ProbeRow:
    """Return a subject as a probe, with its question where a template needs the subject's words alone."""
    column = None if audit.subjects is None else audit.subjects.target_group
    template = next((one for one in audit.templates if set(one.slots) <= subject.words.keys()), None)
    return ProbeRow(
        probe=subject.name,
        category=subject.domain,
        target_group=None if column is None else subject.words[column] or None,
        prompt=None if template is None else fill(template.parts, subject.words),
    )


METHOD = Method(
    field=(
        Markers | None,
        spec_key("For texts: markers and scores.", {"file": "stereotypes/markers.csv"}, default=None),
    ),
    is_read=lambda audit: audit.analysis.markers is not None,
    document=_document,
    problems=_problems,
    read_checked=_read_checked,
    reads_scores=True,
)
