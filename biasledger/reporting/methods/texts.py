"""Pictures of answers beyond their words: how alike they are inside and between groups, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import (
    Dot,
    describe_dots,
    headline,
    interval_dots,
    status_keys,
    threshold_rules,
)
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
from biasledger.reporting.rates import RATE_KEYS, rates_panel
from biasledger.reporting.source import Row, Source


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where its answers were not read as texts."""
    return drawn(_similarity(source, run_id), _gaps(source, run_id))


def _similarity(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "texts_similarity",
        run_id,
        by=("attribute", "scheme"),
        draw=_similarity_panel,
        noun="attributes and kinds of similarity",
        title="Are answers about another group other answers?",
        reading="By how much two answers to one question are less alike where they are about different groups than where "
        "they are about the same one, words that name groups taken out. To the right the group makes more of a difference.",
        legend=status_keys,
    )


def _similarity_panel(rows: Sequence[Row]) -> Panel:
    dots = [
        Dot(
            label,
            row["similarity_gap"],
            row["interval_low"],
            row["interval_high"],
            row["status"] or "plain",
            more={
                "compared": contrast(row),
                "between groups": number(row["similarity_between"]),
                "inside groups": number(row["similarity_within"]),
            },
            finding=row["finding_id"],
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    return _panel(
        rows, dots, f"{readable(rows[0]['scheme'])} similarity, inside groups less between them", False
    )


def _gaps(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "texts_gaps",
        run_id,
        by=("attribute", "outcome"),
        draw=_gaps_panel,
        noun="attributes and outcomes",
        title="How answers are put",
        reading="How answers about a group are written, compared with those about its reference group: numbers of each answer, "
        "such as how easily it reads, by their difference; shares next to those of the reference group.",
        legend=lambda rows: (*status_keys(rows), *RATE_KEYS),
    )


def _gaps_panel(rows: Sequence[Row]) -> Panel:
    label = rows[0]["outcome_label"]
    if rows[0]["is_share"]:
        return rates_panel(
            rows, f"{readable(rows[0]['attribute'])} {against(rows)}: {label}", f"share of {label}"
        )
    dots = [
        Dot(
            label,
            row["adjusted_gap"],
            row["gap_low"],
            row["gap_high"],
            row["status"] or "plain",
            more={"compared": contrast(row)},
            finding=row["finding_id"],
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    return _panel(rows, dots, f"{rows[0]['outcome_unit']} of {label}, group minus reference", True)


def _panel(rows: Sequence[Row], dots: Sequence[Dot], axis: str, is_two_sided: bool) -> Panel:
    title = f"{readable(rows[0]['attribute'])} {against(rows)}"
    return Panel(
        title=title,
        description=describe_dots(dots, f"{axis[:1].upper()}{axis[1:]}, {title}"),
        spec=interval_dots(dots, axis, threshold_rules(rows, 0.0, is_two_sided=is_two_sided)),
        finding=headline(dots),
    )
