"""One finding with its evidence, as `biasledger explain` gathers it, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasledger.explaining import explain_finding
from biasledger.explaining.marks import Role, Span
from biasledger.explaining.rows import with_values
from biasledger.querying.connection import locked_warehouse
from biasledger.reporting.null import null_panel
from biasledger.serving.asked import Asked, Served, link
from biasledger.serving.builds import build_of
from biasledger.serving.findings import neighbours
from biasledger.serving.labelling import labels_of_run

_ANSWERS, _ANSWERS_AT_MOST = 3, 20


@dataclass(frozen=True)
class Piece:
    """A part of a text, marked for a side or not."""

    text: str
    role: Role | None


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """Return the explanation, its null as a chart, and addresses of related pages and findings, for a template.

    Raises:
        InputError: there is no such finding, several, or no warehouse.
        BiasledgerError: the warehouse cannot be read.
    """
    n_answers = asked.whole("answers", _ANSWERS, most=_ANSWERS_AT_MOST)
    explained = explain_finding(asked.get("finding"), served.warehouse, served.ledger, n_answers)
    finding = explained.judgement.finding
    with locked_warehouse(served.warehouse) as connection:
        around = neighbours(connection, asked, finding["finding_id"])
    shown = {one.response_id.rpartition(".")[0] for side in explained.sides for one in side.answers}
    # The scheme of a judge's scores is its name and what it graded.
    scorer = finding["scheme"].rpartition(": ")[0]
    labels = labels_of_run(served, finding["run_id"], shown)
    questions = [one.question for said in labels.values() for one in said]
    return {
        "build": build_of(served.warehouse),
        "around": around,
        "kept": {name: value for name, value in asked.values.items() if name not in ("finding", "answers")},
        "explained": explained,
        "finding": finding,
        "null": null_panel(
            finding,
            explained.judgement.measure,
            explained.evidence.observed,
            "#answers" if explained.sides else _pairs_href(finding),
        ),
        "sql": with_values("select * from marts.fct_findings where finding_id = $finding_id", finding),
        "pairs_href": _pairs_href(finding),
        "pieces": pieces,
        "labels": labels,
        "graded_by": next((one.rubric for one in questions if scorer in one.scorers), ""),
        "n_answers": n_answers,
        "more": min(2 * max(n_answers, _ANSWERS), _ANSWERS_AT_MOST),
    }


def pieces(text: str, spans: Sequence[Span]) -> Iterator[Piece]:
    """A text in pieces, so that each can be escaped by itself."""
    end = 0
    for span in spans:
        yield Piece(text[end : span.start], None)
        yield Piece(text[span.start : span.end], span.role)
        end = span.end
    yield Piece(text[end:], None)


def _pairs_href(finding: Mapping[str, Any]) -> str:
    """The pairs of the groups that it compares; empty where it compares none with another."""
    group, reference = finding["group_name"], finding["reference_group"]
    if finding["member"] and finding["reference_member"]:
        group, reference = finding["member"], finding["reference_member"]
    if any(name.startswith("(") for name in (group, reference, finding["attribute"])):
        return ""
    return link(
        "/pairs",
        run=finding["run_id"],
        mitigation=finding["mitigation"],
        attribute=finding["attribute"],
        group=group,
        reference=reference,
    )
