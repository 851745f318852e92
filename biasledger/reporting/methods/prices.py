"""Pictures of audits of recommended items: price levels by group, places by price, categories by two attributes."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import (
    Dot,
    Point,
    describe_dots,
    headline,
    headline_of_bars,
    interval_dots,
    level_dots,
    scatter,
    signed_bars,
)
from biasledger.reporting.picture import (
    POINTS_AT_MOST,
    Key,
    Panel,
    Picture,
    contrast,
    drawn,
    groups_of,
    number,
    paneled,
    readable,
    signed,
    split_panels,
)
from biasledger.reporting.source import Row, Source

_ALPHA = 0.05
_NAMES_AT_MOST = 18  # of categories next to their points
_NAMED = 3  # in a finding
_MOST_DOLLARS = 5


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for items."""
    return drawn(
        _levels(source, run_id, "all"),
        _levels(source, run_id, "each"),
        _means(source, run_id),
        _quadrants(source, run_id),
        _item_words(source, run_id),
    )


def _levels(source: Source, run_id: str, domains: str) -> Picture | None:
    """Draw all data sets together, or each; a single data set has no picture of its own, because it would be the same."""
    result = source.ask("prices_levels", run_id=run_id, domains=domains)
    if result is None:
        return None
    rows = [row for row in result.rows if row["excess"] is not None]
    if not rows:
        return None
    is_each = domains == "each"
    panels, note = split_panels(
        rows, ("attribute", "domain"), _levels_panel, "attributes and data sets" if is_each else "attributes"
    )
    return Picture(
        key="prices-each" if is_each else "prices-levels",
        title="The same in each data set" if is_each else "Who gets the cheap and who the dear items",
        reading="A group’s share of the items of each price level, less its share of all items. Above the line it "
        "gets more of that level than its share, below it less.",
        result=result,
        panels=panels,
        note=note,
    )


def _levels_panel(rows: Sequence[Row]) -> Panel:
    domain = rows[0]["domain"]
    title = readable(rows[0]["attribute"]) + ("" if domain == "(all)" else f", {readable(domain)}")
    largest = max(rows, key=lambda row: abs(row["excess"]))
    farthest = signed(f"{largest['excess']:+.1%}")
    spec, legend = level_dots(
        [
            (
                _level(row["price_level"]),
                readable(row["group_name"]),
                row["excess"],
                row["interval_low"],
                row["interval_high"],
            )
            for row in rows
        ],
        [_level(level) for level in sorted({row["price_level"] for row in rows})],
        ("price level", "share of the level minus share of all"),
    )
    return Panel(
        title=title,
        description=f"Share of each price level less the share of all items, {title}. Farthest from zero: "
        f"{readable(largest['group_name'])} at {_level(largest['price_level'])}, {farthest}.",
        spec=spec,
        legend=legend,
        finding=f"{readable(largest['group_name'])}: {farthest} at {_level(largest['price_level'])}",
    )


def _means(source: Source, run_id: str) -> Picture | None:
    result = source.ask("prices_means", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, ("attribute",), _means_panel, "attributes")
    return Picture(
        key="prices-means",
        title="Groups in the order of the prices that they are offered",
        reading="Mean price level of the recommended items (1 is $), the dearest on top. Filled triangles differ "
        "from what they are compared with (their reference group, or the mean of all groups) "
        "by more than chance, all tested together. A word such as a place may have a reason for its prices that a name has not.",
        result=result,
        panels=panels,
        legend=(Key("alarm", "differs, adjusted p < 0.05"), Key("plain", "does not, or is the reference")),
        note=note,
    )


def _means_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"])
    dots = [
        Dot(
            readable(row["group_name"]),
            row["mean_price_level"],
            row["interval_low"],
            row["interval_high"],
            "alarm" if row["p_value_adjusted"] is not None and row["p_value_adjusted"] < _ALPHA else "plain",
            more={
                "rank": str(row["rank_from_dearest"]),
                "compared with": readable(row["reference_group"] or "–"),
            },
        )
        for row in rows
    ]
    differing = [dot.label for dot in dots if dot.status == "alarm"]
    words = describe_dots(
        [Dot(dot.label, dot.value, dot.low, dot.high) for dot in dots], f"Mean price level by group, {title}"
    )
    return Panel(
        title=title,
        description=f"{words} Differing by more than chance: {', '.join(differing) or 'none'}.",
        spec=interval_dots(dots, "mean price level"),
        finding=f"{_listed(differing)} by more than chance" if differing else headline(dots),
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    verb = "differs" if len(names) == 1 else "differ"
    return f"{', '.join(names[:_NAMED])}{f' and {more} more' if more > 0 else ''} {verb}"


def _quadrants(source: Source, run_id: str) -> Picture | None:
    result = source.ask("prices_quadrants", run_id=run_id)
    if result is None:
        return None
    rows = [row for row in result.rows if row["difference_x"] is not None and row["difference_y"] is not None]
    if not rows:
        return None
    panels, note = split_panels(
        rows,
        ("category_set", "attribute_x", "attribute_y", "group_x", "group_y"),
        _quadrants_panel,
        "pairs of groups",
        POINTS_AT_MOST,
    )
    return Picture(
        key="prices-quadrants",
        title="Which categories go with whom",
        reading="Each point is a category of items. To the right it goes more to the group on the horizontal axis, "
        "upwards more to that on the vertical axis; in the middle it goes to everybody alike. "
        "Triangles are associated with a group by more than chance, all categories tested together.",
        result=result,
        panels=panels,
        legend=(
            Key("alarm", "associated, adjusted p < 0.05"),
            Key("quiet", "other category"),
        ),
        note=note,
    )


def _quadrants_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    group_x, group_y = readable(first["group_x"]), readable(first["group_y"])
    title = f"{group_x} and {group_y}" + (
        f", {readable(first['category_set'])} only" if first["category_set"] else ""
    )
    # Names get their places in this order: associated categories, then those farthest out.
    rows = sorted(
        rows,
        key=lambda row: (not _is_associated(row), -max(abs(row["difference_x"]), abs(row["difference_y"]))),
    )
    associated = [row for row in rows if _is_associated(row)]
    named = {row["category"] for row in rows[:_NAMES_AT_MOST]}
    listed = ", ".join(
        f"{row['category']} ({number(row['difference_x'])}, {number(row['difference_y'])})"
        for row in associated[:_NAMES_AT_MOST]
    )
    return Panel(
        title=title,
        description=f"Scatter plot of {len(rows)} categories by their association with {group_x} (horizontal) and "
        f"{group_y} (vertical). "
        + (
            f"Associated by more than chance: {listed}."
            if associated
            else "None is associated by more than chance."
        ),
        spec=scatter(
            [
                Point(
                    row["category"],
                    row["difference_x"],
                    row["difference_y"],
                    "alarm" if _is_associated(row) else "quiet",
                    row["category"] in named,
                )
                for row in rows
            ],
            (f"association with {group_x} →", f"association with {group_y} →"),
        ),
        finding=f"{len(associated)} of {len(rows)} categories are associated with a group by more than chance",
    )


def _item_words(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "prices_item_words",
        run_id,
        by=("attribute", "group_name", "reference_group"),
        draw=_item_words_panel,
        noun="contrasts",
        title="What the items that each group gets are called",
        reading="Of the words of the items’ names those whose shares differ most: to the right the group gets more of them, "
        "to the left its reference group. Names are counted and not tested; what goes to whom by more than chance is "
        "judged by price level and by category, above.",
    )


def _item_words_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    listed = "; ".join(
        f"{row['word']} {row['share']:.1%} against {row['reference_share']:.1%}" for row in rows
    )
    bars = [
        (
            row["word"],
            row["share"] - row["reference_share"],
            f"{row['share']:.1%} and {row['reference_share']:.1%}",
        )
        for row in rows
    ]
    return Panel(
        title=title,
        description=f"Bars by word, {title}, shares of the words of items’ names: {listed}.",
        spec=signed_bars(bars, "difference of shares of the words of items’ names"),
        finding=headline_of_bars(bars, groups_of(rows[0]), "{label}: {size:.1%} more for {who}"),
    )


def _is_associated(row: Row) -> bool:
    return any(
        row[name] is not None and row[name] < _ALPHA for name in ("p_value_adjusted_x", "p_value_adjusted_y")
    )


def _level(level: int) -> str:
    """The usual dollar signs, or the number where there are too many to count."""
    return "$" * level if 1 <= level <= _MOST_DOLLARS else str(level)
