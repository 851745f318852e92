"""Pictures of audits of recommendation lists: how much of the neutral list each group keeps, and how far groups lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import (
    Dot,
    Rule,
    describe_dots,
    headline,
    interval_dots,
    status_keys,
    threshold_rules,
)
from biasledger.reporting.picture import (
    Key,
    Panel,
    Picture,
    drawn,
    interval,
    number,
    paneled,
    readable,
    split_panels,
    tabled,
)
from biasledger.reporting.source import Row, Source

_NOISE_KEY = Key("rule-noise", "the same question asked again")


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for lists."""
    return drawn(
        _spread(source, run_id),
        _attributes(source, run_id),
        _similarity(source, run_id),
        _values(source, run_id),
        _personality(source, run_id),
        _robustness(source, run_id),
        _entropy(source, run_id),
    )


def _spread(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "lists_spread",
        run_id,
        by=("domain",),
        draw=_spread_panel,
        noun="domains",
        title="Differences between the groups of an attribute",
        reading="SNSR: the largest minus the smallest similarity of a group’s lists to the list that nobody in "
        "particular gets, with what the lists’ own noise gives taken off (roots of squares). The grey "
        "band is as far as the model differs from itself when the same question is asked again.",
        legend=lambda rows: (*status_keys(rows), Key("band", "the model’s own noise")),
    )


def _spread_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["domain"]) or "all subjects"
    dots = [
        Dot(
            readable(row["attribute"]),
            row["snsr_debiased"],
            row["value_low"],
            row["value_high"],
            row["status"],
            None if row["snsr_noise_floor_high"] is None else 0.0,
            row["snsr_noise_floor_high"],
            {
                "most like the neutral list": row["most_similar_group"] or "–",
                "least like it": row["least_similar_group"] or "–",
            },
            row["finding_id"],
        )
        for row in rows
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"SNSR beyond chance, by attribute, {title}"),
        spec=interval_dots(dots, "SNSR beyond chance", threshold_rules(rows, 0.0)),
        finding=headline(dots),
    )


def _similarity(source: Source, run_id: str) -> Picture | None:
    result = source.ask("lists_similarity", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, ("domain", "attribute"), _similarity_panel, "attributes")
    return Picture(
        key="lists-similarity",
        title="Similarity to the neutral list by group",
        reading="Similarity 1 means that a group’s lists are the neutral ones, item by item. The dotted line is what the neutral "
        "question keeps when it is asked again, the grey band around it the model’s own noise: a group inside it differs no more "
        "than the model differs from itself. If an attribute has an alarm, those of the two farthest groups that lie outside the "
        "band are marked.",
        result=result,
        panels=panels,
        legend=(
            Key("alarm", "alarm: the two groups farthest apart"),
            Key("certain", "another group outside the noise"),
            Key("plain", "other group"),
            Key("band", "the model’s own noise"),
            _NOISE_KEY,
        ),
        note=note,
    )


def _attributes(source: Source, run_id: str) -> Picture | None:
    """Return the table of attributes and wordings, as the source reports them."""
    result = source.ask_analysis("fairness_by_attribute", run_id)
    return tabled(
        key="lists-attributes",
        title="SNSR and SNSV of each attribute and wording",
        reading="The published status is FAIL if SNSR is above 0.10 or SNSV above 0.05, by chance or not; ours judges what lies "
        "beyond chance. Questions with typing errors and in other languages have SNSR of the clean questions and the change next "
        "to theirs, over the same groups.",
        result=result,
    )


def _values(source: Source, run_id: str) -> Picture | None:
    result = source.ask_analysis("groups_furthest_from_the_neutral_list", run_id)
    return tabled(
        key="lists-values",
        title="Similarity, spread and quality of each group’s lists",
        reading="Mean similarity to the neutral list with its standard deviation over subjects; a note where subjects "
        "differ more in one group than in the others. Precision, recall and NDCG tell lists that are fair from lists that are "
        "equally bad; they need a table of relevant items.",
        result=result,
    )


def _personality(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "lists_personality",
        run_id,
        by=("domain",),
        draw=_personality_panel,
        noun="domains",
        title="Are all personalities served alike?",
        reading="PAFS is 1 less the mean distance of the points from the line, which is their mean: 1 is the same for all "
        "personalities. It is experimental in its source and never an alarm.",
        legend=lambda _: (Key("plain", "a personality’s lists"), Key("rule-even", "mean of all")),
    )


def _personality_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    title = readable(first["domain"]) or "all subjects"
    finding = (
        f"PAFS is {number(first['pafs'])}, without chance {number(first['pafs_debiased'])} "
        f"({interval(first['pafs_low'], first['pafs_high'])})"
    )
    dots = [
        Dot(
            readable(row["group_name"]),
            row["similarity"],
            row["interval_low"],
            row["interval_high"],
            finding=row["finding_id"],
        )
        for row in rows
    ]
    mean = sum(row["similarity"] for row in rows) / len(rows)
    return Panel(
        title=title,
        description=f"{describe_dots(dots, f'Similarity to the neutral list by personality, {title}')} {finding}.",
        spec=interval_dots(dots, "similarity to the neutral list", [Rule(mean, "even")]),
        finding=finding,
    )


def _similarity_dots(rows: Sequence[Row]) -> list[Dot]:
    floor, again = rows[0]["noise_floor_high"], rows[0]["rerun_similarity"]
    has_band = floor is not None and again is not None
    return [
        Dot(
            readable(row["group_name"]),
            row["similarity"],
            row["interval_low"],
            row["interval_high"],
            _kind(row, has_band),
            again - floor if has_band else None,
            again + floor if has_band else None,
            {"subjects": f"{row['n_subjects']:,}", "without a list": f"{row['n_absent']:,}"},
            row["finding_id"],
        )
        for row in rows
    ]


def _kind(row: Row, has_band: bool) -> str:
    """How a group is drawn: a pair of groups has the alarm, and others may lie outside the noise, too."""
    if row["status"] != "alarm" or not _is_outside(row):
        return "plain"
    return "alarm" if row["is_farthest"] else "certain" if has_band else "plain"


def _is_outside(row: Row) -> bool:
    """Whether a group differs from the neutral list by more than the model from itself, for certain."""
    floor, again, ends = (
        row["noise_floor_high"],
        row["rerun_similarity"],
        (row["interval_low"], row["interval_high"]),
    )
    if None in (floor, again, *ends):
        return True
    return bool(ends[1] < again - floor or ends[0] > again + floor)


def _farthest(dots: Sequence[Dot]) -> str:
    """Name the group whose lists keep least of the neutral one, or the range where no group is marked."""
    marked = [dot for dot in dots if dot.status == "alarm"]
    if not marked:
        return headline(dots, "the model’s own noise")
    least = min(marked, key=lambda dot: dot.value or 0.0)
    return f"Farthest from the neutral list: {least.label}, {number(least.value)}"


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
        finding=_farthest(dots),
    )


def _robustness(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "lists_robustness",
        run_id,
        by=("domain",),
        draw=_robustness_panel,
        noun="domains",
        title="How much of a list survives another wording",
        reading="Similarity of the lists to those of the clean question when it has typing errors or another language, "
        "with 95 % intervals. The dotted line is the same question asked again.",
        legend=lambda rows: (*status_keys(rows), _NOISE_KEY),
    )


def _robustness_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["domain"]) or "all subjects"
    dots = [
        Dot(
            readable(row["wording"]),
            row["similarity"],
            row["interval_low"],
            row["interval_high"],
            row["status"],
            finding=row["finding_id"],
        )
        for row in rows
    ]
    rules = [
        Rule(value, kind)
        for name, kind in (("rerun_similarity", "noise"), ("threshold", "threshold"))
        for value in sorted({row[name] for row in rows if row[name] is not None})
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"Similarity to the clean question’s lists by wording, {title}"),
        spec=interval_dots(dots, f"similarity ({readable(rows[0]['similarity_name'])})", rules),
        finding=headline(dots),
    )


def _entropy(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "lists_entropy",
        run_id,
        by=("domain",),
        draw=_entropy_panel,
        noun="domains",
        title="Entropy of repeated lists",
        reading="Entropy in bits of the items that one question gets when it is asked again, beyond that of a list that never "
        "changes: 0 is the same list every time. The line goes from the least to the largest of the subjects.",
        legend=lambda _: (Key("plain", "mean of the subjects"), Key("rule-even", "never changes")),
    )


def _entropy_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["domain"]) or "all subjects"
    dots = [
        Dot(
            ": ".join(filter(None, (readable(row["asked_about"]), readable(row["group_name"])))),
            row["excess_entropy"],
            row["least"],
            row["most"],
            more={"lists": f"{row['n_lists']:,}"},
        )
        for row in rows
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"Bits beyond a list that never changes, {title}"),
        spec=interval_dots(dots, "bits beyond a list that never changes", [Rule(0.0, "even")]),
        finding=headline(dots),
    )
