"""Pictures of audits of decisions: gaps, selection rates, promotions and demotions, and the order shown."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.numbers import count, percent
from biasledger.reporting.captions import headline_of_bars, headline_of_parts
from biasledger.reporting.charts import (
    SERIES_AT_MOST,
    Dot,
    Rule,
    bar_keys,
    signed_bars,
    stacked_shares,
    threshold_rules,
    unjudged,
)
from biasledger.reporting.picture import (
    POINTS_AT_MOST,
    Key,
    Panel,
    Picture,
    against,
    contrast,
    drawn,
    group_labels,
    paneled,
    readable,
    tabled,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel, rates_panel
from biasledger.reporting.source import Result, Row, Source

_OUTCOMES = {
    "selected": "share {}",
    "correct": "share of right decisions",
    "false_positive": "false positive rate",
    "false_negative": "false negative rate",
}
_STANDINGS = {
    "rank_gap": "rank of the label",
    "place_gap": "place in the ranking",
    "score_gap": "score",
    "relative_gap": "logarithm of the score",
    "percentile_gap": "percentile rank of the score",
}
_FOUR_FIFTHS = 0.8
_LABEL_ROWS = 80
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for decisions."""
    return drawn(
        paneled(
            source.ask("decisions_gaps", run_id=run_id),
            ("domain", "outcome"),
            _gaps_panel,
            "outcomes",
            title="Differences in ranks, scores and decisions",
            reading="Shares: each row is a group next to its reference group, and at the right how many times its share the "
            "group’s is. Ranks and scores: each point is a group less its reference group, with its 95 % interval; left of "
            "the line the group is worse off. Rows with × are intersections. Shares are judged as impact ratios.",
        ),
        paneled(
            source.ask("decisions_rates", run_id=run_id),
            ("domain", "attribute"),
            _rates_panel,
            "attributes",
            title="Selection rates by group",
            reading="Impact ratio: a group’s selection rate over that of the best-off group, which is 1. Below four "
            "fifths (dashed) United States rules speak of adverse impact; "
            "small groups fall below it by chance, which the verdict on each attribute’s worst-off group allows for. The judged "
            "group’s interval is that of its finding and allows for the choice of the worst-off group. Other intervals are of "
            "their row alone. Verdicts hold for all findings of the audit together, so a row whose interval leaves 1 out may be "
            "inconclusive.",
            keep=lambda row: row["impact_ratio"] is not None,
            note=_left_out(source.ask("decisions_left_out", run_id=run_id)),
        ),
        tabled(
            source.ask_analysis("nyc_local_law_144", run_id),
            "New York City, Local Law 144: impact ratios",
            "In the form of 6 RCNY 5-301: by sex, by race and ethnicity, and by both. The rate of scores is the share above "
            "the median of the sample. A ratio is a category’s rate over that of the category selected, or scored, most; "
            "intervals are 95 % and of each row alone, so narrower than that of a finding about the worst-off group. "
            "A small category is left out of ratios, as the rules allow, and shown: one under 2 % of the data, or under "
            "the audit’s analysis.decisions.smallest_share (0 leaves out none). People of unknown category are counted in "
            "columns of their own.",
            key="local-law-144",
        ),
        tabled(
            source.ask_analysis("eeoc_four_fifths", run_id),
            "Uniform Guidelines: the four-fifths rule",
            "29 CFR 1607.4(D): a selection rate below four fifths of the highest is generally regarded as adverse impact, "
            "unless numbers are small and the difference is not significant. Small groups are left out as in the table before. "
            "Fisher’s exact p assumes independent decisions.",
            key="four-fifths",
        ),
        _labels(source.ask("decisions_labels", run_id=run_id)),
        paneled(
            source.ask("decisions_promotions", run_id=run_id),
            ("attribute",),
            _promotions_panel,
            "attributes",
            title="Promotions and demotions by group alone",
            reading="The same case in versions that differ in the group alone: how often a group’s version is ranked above the "
            "mean of all versions of that case, less how often below it. Left of the line the group is demoted more often than "
            "promoted.",
        ),
        _consistency(source.ask("decisions_consistency", run_id=run_id)),
        paneled(
            source.ask("decisions_positions", run_id=run_id),
            (),
            _positions_panel,
            "places",
            title="Effect of the order of candidates",
            reading="Without any effect of the order every place is put first equally often (line). A strong effect of "
            "the order hides effects of names.",
            legend=(Key("rule-even", "by chance"),),
            keep=lambda row: row["share_top"] is not None,
            rows_at_most=POINTS_AT_MOST,
        ),
    )


def _of_attribute(rows: Sequence[Row]) -> str:
    """Name the attribute, and the job if there are several."""
    return readable(rows[0]["attribute"]) + (f", {readable(rows[0]['domain'])}" if rows[0]["domain"] else "")


def _gaps_panel(rows: Sequence[Row]) -> Panel:
    measure = next((row["measure"] for row in rows if row["measure"]), "")
    selected = rows[0]["noun_outcome"] or "selected"
    outcome = (
        _OUTCOMES.get(rows[0]["outcome"], "").format(selected)
        or _STANDINGS.get(measure)
        or readable(rows[0]["outcome"])
    )
    subject = f", {readable(rows[0]['domain'])}" if rows[0]["domain"] else ""
    title = f"{outcome[:1].upper()}{outcome[1:]}{subject}, {against(rows)}"
    if rows[0]["outcome"] in _OUTCOMES:
        return rates_panel(rows, title, outcome)
    dots = [
        dot_of(row, label, "adjusted_gap", "gap", status=row["status"], more={"compared": contrast(row)})
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    rules = threshold_rules(rows, 0.0, is_two_sided=True)
    compared = "group minus reference"
    return dots_panel(dots, title, f"{outcome}, {compared}", rules, what=f"{title}: {compared}")


def _left_out(result: Result | None) -> str:
    """Say who is left out of the rates, and why; nothing if nobody is."""
    parts = [_left_out_part(row) for row in (result.rows if result else ())]
    return f"Left out: {'; '.join(parts)}." if parts else ""


def _left_out_part(row: Row) -> str:
    """Return "29 people whose Sex is not stated", or the people of a group that is excluded."""
    people = count(row["n_people"], "person", "people")
    job = f" ({readable(row['domain'])})" if row["domain"] else ""
    if row["group_name"]:
        return f"{people} of {readable(row['group_name'])}{job}, as they are {row['reason']}"
    why = row["reason"].removeprefix("the group is ")
    return f"{people} whose {readable(row['attribute'])} is {why}{job}"


def _rates_panel(rows: Sequence[Row]) -> Panel:
    title = _of_attribute(rows)
    dots = [
        dot_of(
            row,
            readable(row["group_name"]),
            "impact_ratio",
            "impact_ratio",
            status=row["status"]
            or unjudged(
                row["impact_ratio"], row["impact_ratio_low"], row["impact_ratio_high"], _FOUR_FIFTHS, 1.0
            ),
            more={row["noun_outcome"] or "selected": f"{row['n_selected']:,} of {row['n_people']:,}"},
        )
        for row in rows
    ]
    below = [readable(row["group_name"]) for row in rows if row["is_below_four_fifths"]]
    return dots_panel(
        dots,
        title,
        "impact ratio",
        [Rule(_FOUR_FIFTHS, "threshold"), Rule(1.0, "even")],
        what=f"Impact ratio by group, {title}",
        said=f"Below four fifths: {', '.join(below) or 'none'}.",
        limits=(0.0, 2.0),
    )


def _promotions_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"])
    listed = "; ".join(
        f"{readable(row['group_name'])} promoted {row['n_promotions']:,} and demoted {row['n_demotions']:,} times "
        f"of {row['n_predictions']:,}"
        for row in rows
    )
    shares = [(row["share_promoted"] or 0.0, row["share_demoted"] or 0.0) for row in rows]
    bars = [
        (readable(row["group_name"]), up - down, f"{percent(up, 1)} promoted, {percent(down, 1)} demoted")
        for row, (up, down) in zip(rows, shares, strict=True)
    ]
    return Panel(
        title,
        f"Bars by group, {title}: {listed}.",
        signed_bars(bars, "promoted minus demoted, share of the group’s versions"),
        finding=headline_of_bars(bars, ("promoted", "demoted"), "{label} net {who} {size}"),
    )


def _labels(result: Result | None) -> Picture | None:
    labels = list(dict.fromkeys(row["label"] for row in (result.rows if result else ())))[:SERIES_AT_MOST]
    return paneled(
        result,
        ("domain", "attribute"),
        lambda rows: _labels_panel(rows, labels),
        "attributes",
        title="Labels by group",
        reading="The mix of labels of a group’s cases, from the lowest label to the highest. Cases are the same for all groups "
        "where only the name differs, and then so should the mix be.",
        legend=bar_keys([readable(label) for label in labels], "order"),
        rows_at_most=_LABEL_ROWS,
    )


def _labels_panel(rows: Sequence[Row], labels: Sequence[str]) -> Panel:
    title = _of_attribute(rows)
    mixes = {group: dict.fromkeys(labels, 0.0) for group in dict.fromkeys(row["group_name"] for row in rows)}
    for row in rows:
        if row["label"] in labels:
            mixes[row["group_name"]][row["label"]] = row["share"] or 0.0
    listed = "; ".join(
        f"{readable(group)} " + ", ".join(f"{label} {percent(share)}" for label, share in mix.items())
        for group, mix in mixes.items()
    )
    bars = [(readable(group), list(mix.values())) for group, mix in mixes.items()]
    return Panel(
        title,
        f"Labels by group, {title}: {listed}.",
        stacked_shares(bars, labels, "share of the group’s cases", is_ordered=True),
        finding=headline_of_parts(mixes),
    )


def _consistency(result: Result | None) -> Picture | None:
    if result is None or not result.rows:
        return None
    nouns = result.rows[0]["noun_case"] or "case", result.rows[0]["noun_cases"] or "cases"
    n, n_changed = (sum(row[name] for row in result.rows) for name in ("n_cases", "n_inconsistent"))
    return tabled(
        result,
        "Answers that the group alone changes",
        f"{n_changed:,} of {count(n, *nouns)} ({percent(n_changed / n)}) got different answers in versions that differ "
        "in the group alone. Some of that is chance: a model that is asked the same twice may answer differently, too.",
    )


def _positions_panel(rows: Sequence[Row]) -> Panel:
    dots = [
        Dot(
            f"shown {_ordinal(row['position'])}",
            row["share_top"],
            more={"mean rank": f"{row['mean_rank']:.2f}"},
            finding=row["finding_id"],
        )
        for row in rows
    ]
    line = Rule(rows[0]["expected_share"], "even")
    what = "Share put first by place in the question"
    return dots_panel(dots, "", "share put first", [line], what=what, limits=(0.0, 1.0))


def _ordinal(place: int) -> str:
    return _ORDINALS[place - 1] if place <= len(_ORDINALS) else f"at place {place}"
