"""Pictures of audits of recommendation lists: how much of the neutral list each group keeps, and how far groups lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.captions import headline
from biasledger.reporting.charts import NO_DIFFERENCE, Dot, Rule, threshold_rules
from biasledger.reporting.picture import (
    Key,
    Panel,
    Picture,
    drawn,
    interval,
    number,
    paneled,
    readable,
    tabled,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel
from biasledger.reporting.source import Row, Source

_NOISE_KEY = Key("rule-noise", "the same question asked again")


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for lists."""
    return drawn(
        paneled(
            source.ask("lists_spread", run_id=run_id),
            ("domain",),
            _spread_panel,
            "domains",
            title="Differences between the groups of an attribute",
            reading="SNSR: the largest minus the smallest similarity of a group’s lists to the list that nobody in "
            "particular gets, with what the lists’ own noise gives taken off (roots of squares). The grey "
            "band is as far as the model differs from itself when the same question is asked again.",
            legend=(Key("band", "the model’s own noise"),),
        ),
        tabled(
            source.ask_analysis("fairness_by_attribute", run_id),
            "SNSR and SNSV of each attribute and wording",
            "The published status is FAIL if SNSR is above 0.10 or SNSV above 0.05, by chance or not; ours judges what lies "
            "beyond chance. Questions with typing errors and in other languages have SNSR of the clean questions and the change "
            "next to theirs, over the same groups.",
            key="lists-attributes",
        ),
        paneled(
            source.ask("lists_similarity", run_id=run_id),
            ("domain", "attribute"),
            _similarity_panel,
            "attributes",
            title="Similarity to the neutral list by group",
            reading="Similarity 1 means that a group’s lists are the neutral ones, item by item. The dotted line is what the "
            "neutral question keeps when it is asked again, the grey band around it the model’s own noise: a group inside it "
            "differs no more than the model differs from itself. If an attribute has an alarm, those of the two farthest groups "
            "that lie outside the band are marked.",
            legend=(
                Key("alarm", "alarm: the two groups farthest apart"),
                Key("certain", "another group outside the noise"),
                Key("plain", "other group"),
                Key("band", "the model’s own noise"),
                _NOISE_KEY,
            ),
        ),
        tabled(
            source.ask_analysis("groups_furthest_from_the_neutral_list", run_id),
            "Similarity, spread and quality of each group’s lists",
            "Mean similarity to the neutral list with its standard deviation over subjects; a note where subjects "
            "differ more in one group than in the others. Precision, recall and NDCG tell lists that are fair from lists that "
            "are equally bad; they need a table of relevant items.",
            key="lists-values",
        ),
        paneled(
            source.ask("lists_personality", run_id=run_id),
            ("domain",),
            _personality_panel,
            "domains",
            title="Are all personalities served alike?",
            reading="PAFS is 1 less the mean distance of the points from the line, which is their mean: 1 is the same for all "
            "personalities. It is experimental in its source and never an alarm.",
            legend=(Key("plain", "a personality’s lists"), Key("rule-even", "mean of all")),
        ),
        paneled(
            source.ask("lists_robustness", run_id=run_id),
            ("domain",),
            _robustness_panel,
            "domains",
            title="How much of a list survives another wording",
            reading="Similarity of the lists to those of the clean question when it has typing errors or another language, "
            "with 95 % intervals. The dotted line is the same question asked again.",
            legend=(_NOISE_KEY,),
        ),
        paneled(
            source.ask("lists_entropy", run_id=run_id),
            ("domain",),
            _entropy_panel,
            "domains",
            title="Entropy of repeated lists",
            reading="Entropy in bits of the items that one question gets when it is asked again, beyond that of a list that "
            "never changes: 0 is the same list every time. The line goes from the least to the largest of the subjects.",
            legend=(Key("plain", "mean of the subjects"), Key("rule-even", "never changes")),
        ),
    )


def _domain(rows: Sequence[Row]) -> str:
    return readable(rows[0]["domain"]) or "all subjects"


def _spread_panel(rows: Sequence[Row]) -> Panel:
    dots = [
        dot_of(
            row,
            readable(row["attribute"]),
            "snsr_debiased",
            "value",
            status=row["status"],
            band=(None if row["snsr_noise_floor_high"] is None else 0.0, row["snsr_noise_floor_high"]),
            more={
                "most like the neutral list": row["most_similar_group"] or "–",
                "least like it": row["least_similar_group"] or "–",
            },
        )
        for row in rows
    ]
    what = f"SNSR beyond chance, by attribute, {_domain(rows)}"
    return dots_panel(dots, _domain(rows), "SNSR beyond chance", threshold_rules(rows, 0.0), what=what)


def _personality_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    finding = (
        f"PAFS is {number(first['pafs'])}, without chance {number(first['pafs_debiased'])} "
        f"({interval(first['pafs_low'], first['pafs_high'])})"
    )
    mean = sum(row["similarity"] for row in rows) / len(rows)
    return dots_panel(
        [dot_of(row, readable(row["group_name"]), "similarity") for row in rows],
        _domain(rows),
        "similarity to the neutral list",
        [Rule(mean, "even")],
        what=f"Similarity to the neutral list by personality, {_domain(rows)}",
        said=f"{finding}.",
        finding=finding,
    )


def _similarity_panel(rows: Sequence[Row]) -> Panel:
    domain = readable(rows[0]["domain"])
    title = readable(rows[0]["attribute"]) + (f" ({domain})" if domain else "")
    dots = similarity_dots(rows)
    again = rows[0]["rerun_similarity"]
    return dots_panel(
        dots,
        title,
        f"similarity to the neutral list ({readable(rows[0]['similarity_name'])})",
        [Rule(again, "noise")] if again is not None else [],
        what=f"Similarity to the neutral list by group, {title}",
        said=f"The neutral question asked again: {number(again)}." if again is not None else "",
        finding=_farthest(dots),
    )


def similarity_dots(rows: Sequence[Row]) -> list[Dot]:
    """The groups of an attribute, each with the band of the model's own noise around what the neutral list keeps."""
    floor, again = rows[0]["noise_floor_high"], rows[0]["rerun_similarity"]
    has_band = floor is not None and again is not None
    return [
        dot_of(
            row,
            readable(row["group_name"]),
            "similarity",
            status=_kind(row, has_band),
            band=(again - floor, again + floor) if has_band else (None, None),
            more={"subjects": f"{row['n_subjects']:,}", "without a list": f"{row['n_absent']:,}"},
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
    floor, again = row["noise_floor_high"], row["rerun_similarity"]
    low, high = row["interval_low"], row["interval_high"]
    if None in (floor, again, low, high):
        return True
    return bool(high < again - floor or low > again + floor)


def _farthest(dots: Sequence[Dot]) -> str:
    """Name the group whose lists keep least of the neutral one, or the range where no group is marked."""
    marked = [dot for dot in dots if dot.status == "alarm"]
    if not marked:
        return headline(dots, "the model’s own noise")
    least = min(marked, key=lambda dot: dot.value or 0.0)
    return f"Farthest from the neutral list: {least.label}, {least.written}"


def _robustness_panel(rows: Sequence[Row]) -> Panel:
    rules = [
        Rule(value, kind)
        for name, kind in (("rerun_similarity", "noise"), ("threshold", "threshold"))
        for value in sorted({row[name] for row in rows if row[name] is not None})
    ]
    return dots_panel(
        [dot_of(row, readable(row["wording"]), "similarity", status=row["status"]) for row in rows],
        _domain(rows),
        f"similarity ({readable(rows[0]['similarity_name'])})",
        rules,
        what=f"Similarity to the clean question’s lists by wording, {_domain(rows)}",
    )


def _entropy_panel(rows: Sequence[Row]) -> Panel:
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
    axis = "bits beyond a list that never changes"
    what = f"Bits beyond a list that never changes, {_domain(rows)}"
    return dots_panel(dots, _domain(rows), axis, [NO_DIFFERENCE], what=what)
