"""Pictures of audits of recommended items: price levels by group, places by price, categories by two attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from biasledger.numbers import percent
from biasledger.reporting.captions import headline_of_bars
from biasledger.reporting.charts import Point, level_dots, linked, scatter, signed_bars
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
    tabled,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel
from biasledger.reporting.source import Result, Row, Source

_ALPHA = 0.05
_NAMES_AT_MOST = 18  # of categories next to their points
_NAMED = 3  # in a finding
_MOST_DOLLARS = 5
_LEVEL_PANELS_AT_MOST = 12


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for items."""
    return drawn(
        _levels(source.ask("prices_levels", run_id=run_id, domains="all"), "Price levels by group"),
        _levels_of_each(source.ask("prices_levels", run_id=run_id, domains="each")),
        paneled(
            source.ask("prices_means", run_id=run_id),
            ("attribute",),
            _means_panel,
            "attributes",
            title="Mean prices by group",
            reading="Mean price level of the recommended items (1 is $), the dearest on top. A group is judged "
            "against its reference group; a cross differs from the mean of all groups by more than chance, all tested together. "
            "A word such as a place may have a reason for its prices that a name has not.",
            legend=(
                Key("certain", "differs by more than chance, adjusted p < 0.05"),
                Key("plain", "does not, or is the reference"),
            ),
        ),
        paneled(
            source.ask("prices_quadrants", run_id=run_id),
            ("category_set", "attribute_x", "attribute_y", "group_x", "group_y"),
            _quadrants_panel,
            "pairs of groups",
            title="Categories by group",
            reading="Each point is a category of items. To the right it goes more to the group on the horizontal axis, "
            "upwards more to that on the vertical axis; in the middle it goes to everybody alike. "
            "Crosses are associated with a group by more than chance, all categories tested together.",
            legend=(
                Key("certain", "associated by more than chance, adjusted p < 0.05"),
                Key("quiet", "other category"),
            ),
            keep=lambda row: row["difference_x"] is not None and row["difference_y"] is not None,
            rows_at_most=POINTS_AT_MOST,
        ),
        paneled(
            source.ask("prices_item_words", run_id=run_id),
            ("attribute", "group_name", "reference_group"),
            _item_words_panel,
            "contrasts",
            title="Words in item names by group",
            reading="The most frequent words in the names of either group’s items: to the right words that are a larger share of "
            "all words of the names of the group’s items, to the left a larger share of the reference group’s. Names are counted "
            "and not tested; what goes to whom by more than chance is judged by price level and by category, above.",
        ),
        tabled(
            source.ask_analysis("first_items", run_id),
            "First items by group",
            "The item that a group’s answers most often name first, with one of the names or words that asked for it.",
            key="prices-first-items",
        ),
    )


def tables_of_all(source: Source) -> list[Picture]:
    """The tables of catalogues and recommenders, which belong to no run."""
    return drawn(
        tabled(
            source.ask_analysis("catalogue_by_city"),
            "What the catalogues hold",
            "Reviews, items, categories and each price level’s share by city; the most frequent categories leave out "
            "“restaurants” and “food”.",
            key="catalogues",
        ),
        tabled(
            source.ask_analysis("recommender_quality_by_city"),
            "How good the recommenders are",
            "On held-out texts: whether the right venue is found, and, as category_…, venues that share a category with "
            "it. The system popularity always names the venues with the most texts.",
            key="recommenders",
        ),
    )


def _levels(result: Result | None, title: str, key: str = "", more: str = "") -> Picture | None:
    return paneled(
        result,
        ("attribute", "domain"),
        _levels_panel,
        "attributes and data sets",
        title=title,
        reading="Each group’s share of the items of a price level, which add up to 100 %; the line is an equal share. If price "
        f"does not depend on the group, a group’s points lie at one height. Intervals are 95 %.{more}",
        key=key,
        keep=_has_share,
        rows_at_most=POINTS_AT_MOST,
        panels_at_most=_LEVEL_PANELS_AT_MOST,
    )


def _levels_of_each(result: Result | None) -> Picture | None:
    """Draw every data set; a single one would be the mean again."""
    if result is None or len({row["domain"] for row in filter(_has_share, result.rows)}) == 1:
        return None
    more = " This is the attribute that differs most surely."
    return _levels(result, "The same in each data set", "prices-each", more)


def _has_share(row: Row) -> bool:
    return row["share"] is not None


def _levels_panel(rows: Sequence[Row]) -> Panel:
    domain = rows[0]["domain"]
    title = readable(rows[0]["attribute"]) + (", mean" if domain == "(all)" else f", {readable(domain)}")
    # As in the finding on price levels: a difference that its interval explains comes last, then the surest comes first.
    largest = max(rows, key=lambda row: (_is_certain(row), _sureness(row)))
    spec, legend = level_dots(
        [
            (
                _level(row["price_level"]),
                readable(row["group_name"]),
                row["share"],
                row["share_low"],
                row["share_high"],
            )
            for row in rows
        ],
        [_level(level) for level in sorted({row["price_level"] for row in rows})],
        ("price level", "share of the level’s items"),
        1 / rows[0]["n_groups"],
    )
    return Panel(
        title=title,
        description=f"Share of each price level by group, {title}. Most surely different from its share of all items: "
        f"{readable(largest['group_name'])} at {_level(largest['price_level'])}, {percent(largest['share'], 1)} of that level "
        f"and {percent(largest['expected_share'], 1)} of all.",
        spec=linked(spec, [row["finding_id"] for row in rows]),
        legend=legend,
        finding=f"{readable(largest['group_name'])}: {percent(largest['share'])} of {_level(largest['price_level'])}, "
        f"{percent(largest['expected_share'])} of all items"
        if _is_certain(largest)
        else "Each interval holds the group’s share of all items",
    )


def _sureness(row: Row) -> float:
    """How far a share lies from that of all items, in widths of its interval."""
    distance = abs(row["share"] - row["expected_share"])
    width = 0.0 if row["share_low"] is None else row["share_high"] - row["share_low"]
    return (
        float(distance / width) if width else math.inf if distance and row["share_low"] is not None else 0.0
    )


def _is_certain(row: Row) -> bool:
    ends = row["share_low"], row["share_high"]
    return None in ends or not ends[0] <= row["expected_share"] <= ends[1]


def _means_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"])
    dots = [
        dot_of(
            row,
            readable(row["group_name"]),
            "mean_price_level",
            status=row["status"] or ("certain" if _is_certain_mean(row) else "plain"),
            more={
                "rank": str(row["rank_from_dearest"]),
                "compared with": readable(row["reference_group"] or "–"),
            },
        )
        for row in rows
    ]
    differing = [readable(row["group_name"]) for row in rows if _is_certain_mean(row)]
    return dots_panel(
        dots,
        title,
        "mean price level",
        what=f"Mean price level by group, {title}",
        said=f"Differing by more than chance: {', '.join(differing) or 'none'}.",
        finding=f"{_listed(differing) if differing else 'No group differs'} by more than chance",
    )


def _is_certain_mean(row: Row) -> bool:
    return row["p_value_adjusted"] is not None and row["p_value_adjusted"] < _ALPHA


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    verb = "differs" if len(names) == 1 else "differ"
    return f"{', '.join(names[:_NAMED])}{f' and {more} more' if more > 0 else ''} {verb}"


def _quadrants_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    group_x, group_y = readable(first["group_x"]), readable(first["group_y"])
    title = f"{readable(first['attribute_x'])} and {readable(first['attribute_y'])}: {first['category_set'] or 'all categories'}"
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
    ) + (f" and {len(associated) - _NAMES_AT_MOST} more" if len(associated) > _NAMES_AT_MOST else "")
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
                    "certain" if _is_associated(row) else "quiet",
                    row["category"] in named,
                    row["finding_id"],
                )
                for row in rows
            ],
            (_axis(first, "x"), _axis(first, "y")),
        ),
        finding=f"{len(associated)} of {len(rows)} categories are associated with a group by more than chance",
    )


def _axis(row: Row, axis: str) -> str:
    """Return an axis with the attribute and the groups at its ends: "← male · first relationship · female →"."""
    ends = [readable(row[f"{name}_{axis}"]) for name in ("reference", "attribute", "group")]
    return "← " + " · ".join(ends) + " →"


def _item_words_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    title = f"{readable(first['attribute'])}: {contrast(first)}"
    listed = "; ".join(
        f"{row['word']} {percent(row['share'], 1)} against {percent(row['reference_share'], 1)}"
        for row in rows
    )
    bars = [
        (
            row["word"],
            row["share"] - row["reference_share"],
            f"{percent(row['share'], 1)} against {percent(row['reference_share'], 1)}",
        )
        for row in rows
    ]
    group, reference = groups_of(first)
    return Panel(
        title=title,
        description=f"Bars by word, {title}, shares of the words of items’ names: {listed}.",
        spec=signed_bars(bars, f"share of the words of items’ names, {group} less {reference}"),
        finding=headline_of_bars(
            bars, (group, reference), "{label}: {points:.1f} percentage points more for {who}"
        ),
    )


def _is_associated(row: Row) -> bool:
    return any(
        row[name] is not None and row[name] < _ALPHA for name in ("p_value_adjusted_x", "p_value_adjusted_y")
    )


def _level(level: int) -> str:
    """The usual dollar signs, or the number where there are too many to count."""
    return "$" * level if 1 <= level <= _MOST_DOLLARS else str(level)
