"""Pictures of answers beyond their words: how alike they are inside and between groups, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import Dot, threshold_rules
from biasledger.reporting.picture import (
    Panel,
    Picture,
    against,
    contrast,
    drawn,
    group_labels,
    number,
    paneled,
    readable,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel, rates_panel
from biasledger.reporting.source import Row, Source


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where its answers were not read as texts."""
    return drawn(
        paneled(
            source.ask("texts_similarity", run_id=run_id),
            ("attribute", "scheme"),
            _similarity_panel,
            "attributes and kinds of similarity",
            title="Are answers about another group other answers?",
            reading="By how much two answers to one question are less alike where they are about different groups than where "
            "they are about the same one, words that name groups taken out. To the right the group makes more of a difference.",
        ),
        paneled(
            source.ask("texts_gaps", run_id=run_id),
            ("attribute", "outcome"),
            _gaps_panel,
            "attributes and outcomes",
            title="How answers are put",
            reading="How answers about a group are written, compared with those about its reference group: numbers of each "
            "answer, such as how easily it reads, by their difference; shares next to those of the reference group.",
        ),
    )


def _similarity_panel(rows: Sequence[Row]) -> Panel:
    dots = [
        dot_of(
            row,
            label,
            "similarity_gap",
            status=row["status"],
            more={
                "compared": contrast(row),
                "between groups": number(row["similarity_between"]),
                "inside groups": number(row["similarity_within"]),
            },
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    axis = f"{readable(rows[0]['scheme'])} similarity, inside groups less between them"
    return _panel(rows, dots, axis, is_two_sided=False)


def _gaps_panel(rows: Sequence[Row]) -> Panel:
    label = rows[0]["outcome_label"]
    if rows[0]["is_share"]:
        title = f"{readable(rows[0]['attribute'])} {against(rows)}: {label}"
        return rates_panel(rows, title, f"share of {label}")
    dots = [
        dot_of(row, name, "adjusted_gap", "gap", status=row["status"], more={"compared": contrast(row)})
        for row, name in zip(rows, group_labels(rows), strict=True)
    ]
    return _panel(
        rows, dots, f"{rows[0]['outcome_unit']} of {label}, group minus reference", is_two_sided=True
    )


def _panel(rows: Sequence[Row], dots: Sequence[Dot], axis: str, *, is_two_sided: bool) -> Panel:
    title = f"{readable(rows[0]['attribute'])} {against(rows)}"
    rules = threshold_rules(rows, 0.0, is_two_sided=is_two_sided)
    return dots_panel(dots, title, axis, rules, what=f"{axis[:1].upper()}{axis[1:]}, {title}")
