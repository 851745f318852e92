"""Pictures of audits of recommendation lists: how much of the neutral list each group keeps, and how far groups lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import THRESHOLD_KEY, Dot, Rule, describe_dots, interval_dots, status_keys
from biasledger.reporting.picture import (
    Key,
    Panel,
    Picture,
    drawn,
    number,
    paneled,
    readable,
    split_panels,
)
from biasledger.reporting.source import Row, Source

_NOISE_KEY = Key("rule-noise", "the same question asked again")


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for lists."""
    return drawn(_spread(source, run_id), _similarity(source, run_id))


def _spread(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "lists_spread",
        run_id,
        by=("domain",),
        draw=_spread_panel,
        noun="domains",
        title="How far the groups of an attribute lie apart",
        reading="SNSR: the largest minus the smallest similarity of a group’s lists to the list that nobody in "
        "particular gets, with what chance alone would give taken off. The grey band is as far as "
        "the model differs from itself when the same question is asked again.",
        legend=lambda rows: (*status_keys(rows), Key("band", "the model’s own noise"), THRESHOLD_KEY),
    )


def _spread_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["domain"]) or "all subjects"
    dots = [
        Dot(
            readable(row["attribute"]),
            row["snsr_debiased"],
            row["interval_low"],
            row["interval_high"],
            row["status"],
            None if row["snsr_noise_floor_high"] is None else 0.0,
            row["snsr_noise_floor_high"],
            {
                "most like the neutral list": row["most_similar_group"] or "–",
                "least like it": row["least_similar_group"] or "–",
            },
        )
        for row in rows
    ]
    thresholds = sorted({row["threshold"] for row in rows if row["threshold"] is not None})
    return Panel(
        title=title,
        description=describe_dots(dots, f"SNSR beyond chance, by attribute, {title}"),
        spec=interval_dots(dots, "SNSR beyond chance", [Rule(value, "threshold") for value in thresholds]),
    )


def _similarity(source: Source, run_id: str) -> Picture | None:
    result = source.ask("lists_similarity", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, ("domain", "attribute"), _similarity_panel, "attributes")
    return Picture(
        key="lists-similarity",
        title="How much of the neutral list each group keeps",
        reading="Sim_a: 1 means that a group’s lists are the neutral ones, item by item. The grey band is as wide as "
        "the model’s own noise: groups inside one band differ "
        "no more than the model differs from itself. The dotted line is the neutral question asked again.",
        result=result,
        panels=panels,
        legend=(
            Key("alarm", "group of an attribute in alarm"),
            Key("plain", "other group"),
            Key("band", "the model’s own noise"),
            _NOISE_KEY,
        ),
        note=note,
    )


def _similarity_dots(rows: Sequence[Row]) -> list[Dot]:
    values = [row["similarity"] for row in rows if row["similarity"] is not None]
    centre = sum(values) / len(values) if values else 0.0
    floor = rows[0]["noise_floor_high"]
    return [
        Dot(
            readable(row["group_name"]),
            row["similarity"],
            row["interval_low"],
            row["interval_high"],
            "alarm" if row["status"] == "alarm" else "plain",
            None if floor is None else centre - floor / 2,
            None if floor is None else centre + floor / 2,
            {"subjects": f"{row['n_subjects']:,}", "without a list": f"{row['n_absent']:,}"},
        )
        for row in rows
    ]


def _similarity_panel(rows: Sequence[Row]) -> Panel:
    domain = readable(rows[0]["domain"])
    title = readable(rows[0]["attribute"]) + (f" ({domain})" if domain else "")
    dots = _similarity_dots(rows)
    again = rows[0]["rerun_similarity"]
    words = describe_dots(
        [dot for dot in dots if dot.value is not None], f"Similarity to the neutral list by group, {title}"
    )
    return Panel(
        title=title,
        description=words
        + (f" The neutral question asked again: {number(again)}." if again is not None else ""),
        spec=interval_dots(
            dots,
            f"similarity to the neutral list ({readable(rows[0]['similarity_name'])})",
            [Rule(again, "noise")] if again is not None else [],
        ),
    )
