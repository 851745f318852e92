"""Pictures of audits of decisions: gaps, selection rates, promotions and demotions, and the order shown."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import Dot, Rule, describe_dots, interval_dots, signed_bars, status_keys
from biasledger.reporting.picture import (
    Key,
    Panel,
    Picture,
    against,
    contrast,
    drawn,
    group_labels,
    paneled,
    readable,
    split_panels,
)
from biasledger.reporting.source import Row, Source

_OUTCOMES = {"selected": "share selected", "correct": "share judged rightly"}
_STANDINGS = {"rank_gap": "rank of the label", "place_gap": "place in the ranking", "score_gap": "score"}
_FOUR_FIFTHS = 0.8


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for decisions."""
    return drawn(
        _gaps(source, run_id), _rates(source, run_id), _promotions(source, run_id), _positions(source, run_id)
    )


def _gaps(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "decisions_gaps",
        run_id,
        by=("domain", "outcome"),
        draw=_gaps_panel,
        noun="outcomes",
        title="Who is placed, selected and judged rightly, and by how much less",
        reading="Each point is a group less its reference group, with its 95 % interval; rows with × are "
        "intersections. Left of the line in the middle the group is worse off. "
        "Shares selected are judged as impact ratios, below.",
        legend=lambda rows: (
            *status_keys(rows),
            Key("plain", "not judged as a gap"),
            Key("rule-even", "no difference"),
        ),
    )


def _gaps_panel(rows: Sequence[Row]) -> Panel:
    measure = next((row["measure"] for row in rows if row["measure"]), "")
    outcome = _OUTCOMES.get(rows[0]["outcome"]) or _STANDINGS.get(measure) or readable(rows[0]["outcome"])
    subject = f", {readable(rows[0]['domain'])}" if rows[0]["domain"] else ""
    title = f"{outcome[:1].upper()}{outcome[1:]}{subject}, {against(rows)}"
    dots = [
        Dot(
            label,
            row["adjusted_gap"],
            row["adjusted_low"],
            row["adjusted_high"],
            row["status"],
            more={"compared": contrast(row)},
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"{title}: group minus reference"),
        spec=interval_dots(dots, f"{outcome}, group minus reference", [Rule(0.0, "even")]),
    )


def _rates(source: Source, run_id: str) -> Picture | None:
    result = source.ask("decisions_rates", run_id=run_id)
    if result is None or not any(row["impact_ratio"] is not None for row in result.rows):
        return None
    rows = [row for row in result.rows if row["impact_ratio"] is not None]
    panels, note = split_panels(rows, ("domain", "attribute"), _rates_panel, "attributes")
    return Picture(
        key="decisions-rates",
        title="Selection rates against the best-off group",
        reading="Impact ratio: a group’s selection rate over that of the best-off group, which is 1. Below four "
        "fifths (dashed) United States rules speak of adverse impact; "
        "small groups fall below it by chance, which the verdict on each attribute’s worst-off group allows for.",
        result=result,
        panels=panels,
        legend=(
            *status_keys(rows),
            Key("plain", "another group, not judged by itself"),
            Key("rule-threshold", "four fifths"),
            Key("rule-even", "as often as the best-off group"),
        ),
        note=note,
    )


def _rates_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"]) + (f", {readable(rows[0]['domain'])}" if rows[0]["domain"] else "")
    dots = [
        Dot(
            readable(row["group_name"]),
            row["impact_ratio"],
            row["impact_ratio_low"],
            row["impact_ratio_high"],
            row["status"],
            more={"selected": f"{row['n_selected']:,} of {row['n_people']:,}"},
        )
        for row in rows
    ]
    below = [readable(row["group_name"]) for row in rows if row["is_below_four_fifths"]]
    return Panel(
        title=title,
        description=f"{describe_dots(dots, f'Impact ratio by group, {title}')} Below four fifths: {', '.join(below) or 'none'}.",
        spec=interval_dots(
            dots,
            "impact ratio",
            [Rule(_FOUR_FIFTHS, "threshold"), Rule(1.0, "even")],
            limits=(0.0, 2.0),
        ),
    )


def _promotions(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "decisions_promotions",
        run_id,
        by=("attribute",),
        draw=_promotions_panel,
        noun="attributes",
        title="Promotions and demotions by group alone",
        reading="The same case in versions that differ in the group alone: how often a group’s version stands above "
        "(right) or below (left) the mean of all versions of that case.",
        legend=lambda _: (Key("bar-1", "promoted"), Key("bar-2", "demoted")),
    )


def _promotions_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"])
    told = "; ".join(
        f"{readable(row['group_name'])} promoted {row['n_promotions']:,} and demoted {row['n_demotions']:,} times "
        f"of {row['n_predictions']:,}"
        for row in rows
    )
    return Panel(
        title=title,
        description=f"Bars by group, {title}: {told}.",
        spec=signed_bars(
            [
                (readable(row["group_name"]), row["share_promoted"] or 0.0, -(row["share_demoted"] or 0.0))
                for row in rows
            ],
            "share of the group’s versions",
        ),
    )


def _positions(source: Source, run_id: str) -> Picture | None:
    result = source.ask("decisions_positions", run_id=run_id)
    if result is None or not result.rows:
        return None
    dots = [
        Dot(
            f"shown {_ordinal(row['position'])}",
            row["share_top"],
            more={"mean rank": f"{row['mean_rank']:.2f}"},
        )
        for row in result.rows
        if row["share_top"] is not None
    ]
    if not dots:
        return None
    panel = Panel(
        title="",
        description=describe_dots(dots, "Share put first by place in the question"),
        spec=interval_dots(
            dots, "share put first", [Rule(result.rows[0]["expected_share"], "even")], limits=(0.0, 1.0)
        ),
    )
    return Picture(
        key="decisions-positions",
        title="Does the order in which candidates are shown decide?",
        reading="Without any effect of the order every place is put first equally often (line). A strong effect of "
        "the order hides effects of names.",
        result=result,
        panels=(panel,),
        legend=(Key("plain", "share put first"), Key("rule-even", "by chance")),
    )


def _ordinal(place: int) -> str:
    names = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    return names[place - 1] if place <= len(names) else f"at place {place}"
