"""Pictures of any kind of audit: answer quality and mitigations of a run; trends over runs, and costs."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.numbers import count, percent
from biasledger.reporting.charts import (
    SERIES_AT_MOST,
    THRESHOLD_KEY,
    Dot,
    Rule,
    describe_dots,
    grouped_bars,
    headline,
    headline_of_parts,
    interval_dots,
    lines,
    linked,
    stacked_shares,
    status_keys,
    threshold_rules,
)
from biasledger.reporting.methods.prices import tables_of_all
from biasledger.reporting.picture import (
    POINTS_AT_MOST,
    STATUS_TEXTS,
    Key,
    Panel,
    Picture,
    against,
    contrast,
    drawn,
    number,
    paneled,
    readable,
    split_panels,
    tabled,
)
from biasledger.reporting.rates import RATE_KEYS, rates_panel
from biasledger.reporting.source import Row, Source

_PARTS = {
    "n_refused": "refused",
    "n_unread": "unread",
    "n_malformed": "malformed",
    "n_truncated": "cut off",
    "n_error": "failed",
}
_VERDICTS = {
    "worse": "worse",
    "inconclusive": "inconclusive",
    "better": "better",
    "unchanged": "quiet",
    "insufficient_data": "insufficient_data",
}
# Scheme of answer_gap -> what became of a question.
_WITHOUT_ANSWER = {
    "refused": "refused",
    "unusable": "malformed, unread, cut off or empty",
    "failed": "failed with an error",
}
_GROUPS_AT_MOST = 16
# A share of answers below this may be taken for a language that they are not in.
_LANGUAGE_AT_LEAST = 0.05
_DIFFERENCES_SHOWN = 4
# runs_reading.sql gives prompts without a group this attribute.
_NO_GROUP = "no group"
_BUILDS_AT_LEAST = 2


# A row a model, a column an attribute.
_INDICATORS = """
pivot (
    select
        audit,
        target as model,
        round(accuracy, 3) as accuracy,
        printf('%d of %d (%.1f %%)', n_inconsistent::integer, n_resumes, 100 * share_inconsistent) as inconsistent,
        translate(replace(most_favoured, '*', ' × '), '_', ' ')
        || replace(printf(' (%+.3f)', highest_rank_value), '-', '−') as most_favoured,
        translate(replace(least_favoured, '*', ' × '), '_', ' ')
        || replace(printf(' (%+.3f)', lowest_rank_value), '-', '−') as least_favoured,
        attribute || ' bias' as attribute,
        replace(printf('%+.3f', bias_indicator), '-', '−')
        || case when published_label like 'favours %' then ', ' || translate(published_label, '_', ' ') else '' end
            as indicator
    from analysis
    where list_contains($run_ids, run_id)
)
on attribute
using string_agg(indicator, '; ' order by indicator)
group by audit, model, accuracy, inconsistent, most_favoured, least_favoured
order by audit, model
""".strip()


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run that do not depend on what kind of audit it is."""
    return drawn(
        _mitigations(source, run_id),
        _quality(source, run_id),
        _answer_gaps(source, run_id),
        _reading(source, run_id),
        _languages(source, run_id),
        _exclusions(source, run_id),
        _ai_act(source, run_id),
    )


def pictures_of_all(source: Source, run_ids: Sequence[str], shown: Sequence[str]) -> list[Picture]:
    """The pictures over all runs: how models differ, how findings moved, and what the runs cost.

    Args:
        run_ids: all of the report.
        shown: those that it reports on in full, whose findings are counted.
    """
    return drawn(
        _models(source, shown),
        _model_indicators(source, shown),
        _model_rates(source, shown),
        _changes(source, run_ids),
        _trend(source, run_ids),
        _history(source, shown),
        _costs(source, run_ids),
        *tables_of_all(source),
    )


def _models(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("models", run_ids=run_ids)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, ("audit", "measure", "attribute"), _models_panel, "measures")
    return Picture(
        key="models",
        title="Models side by side",
        reading="What each model that was asked the same audit has of a measure, with its 95 % interval where there is one.",
        result=result,
        panels=panels,
        legend=(*status_keys(result.rows), THRESHOLD_KEY),
        note=note,
    )


def _models_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['audit'])}: {readable(rows[0]['measure'])} by {readable(rows[0]['attribute'].strip('()'))}"
    dots = [
        Dot(
            ", ".join(
                part for part in (readable(row["target"]), contrast(row), readable(row["subject"])) if part
            ),
            row["value"],
            row["value_low"],
            row["value_high"],
            row["status"],
            finding=row["finding_id"],
        )
        for row in rows
    ]
    rules = threshold_rules(rows, rows[0]["no_difference"], is_two_sided=rows[0]["side"] == "two-sided")
    return Panel(
        title=title,
        description=describe_dots(dots, title),
        spec=interval_dots(dots, readable(rows[0]["measure"]), rules),
        finding=headline(dots),
    )


def _model_rates(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("model_rates", run_ids=run_ids)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(
        result.rows, ("audit", "attribute", "outcome"), _model_rates_panel, "outcomes", POINTS_AT_MOST
    )
    return Picture(
        key="model-rates",
        title="Accuracy by model and group",
        reading="The share of a group’s cases that a model judges rightly, and by how many ranks its labels lie above the right "
        "ones on average (left of the line: below). A model that treats all groups alike has bars of one length.",
        result=result,
        panels=panels,
        note=note,
    )


def _model_rates_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    what = readable(first["outcome"])
    title = f"{readable(first['audit'])}: {what} by {readable(first['attribute'])}"
    spec, legend = grouped_bars(
        [(readable(row["group_name"]), row["target"], row["value"]) for row in rows],
        what,
        ".0~%" if first["outcome"] == "accuracy" else "~g",
    )
    listed = "; ".join(
        f"{readable(row['group_name'])}, {row['target']} {number(row['value'])}" for row in rows[:20]
    )
    return Panel(
        title=title,
        description=f"Bars by group and model, {title}: {listed}.",
        spec=spec,
        legend=legend,
        finding=_widest(rows),
    )


def _widest(rows: Sequence[Row]) -> str:
    """Say for the model whose groups lie farthest apart which they are."""
    by_target: dict[str, list[Row]] = {}
    for row in rows:
        by_target.setdefault(row["target"], []).append(row)
    ends = {
        target: (min(of, key=lambda row: row["value"]), max(of, key=lambda row: row["value"]))
        for target, of in by_target.items()
    }
    target, (low, high) = max(ends.items(), key=lambda one: one[1][1]["value"] - one[1][0]["value"])
    return (
        f"{target}: {number(low['value'])} for {readable(low['group_name'])}, {number(high['value'])} for "
        f"{readable(high['group_name'])}"
    )


def _model_indicators(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask_analysis("models_by_bias_indicator", *run_ids, query=_INDICATORS)
    return tabled(
        key="model-indicators",
        title="Accuracy, bias and consistency of each model",
        reading="Bias is the mean rank of the reference group less that of the other: above 0 favours the reference group. "
        "“Favours” is the source’s word for more than 0.05, without a test; findings are tested. Inconsistent are cases with "
        "different answers in versions that differ in the group alone, of all cases.",
        result=result,
    )


def _mitigations(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "runs_mitigations",
        run_id,
        by=("mitigation", "measure"),
        draw=_mitigations_panel,
        noun="measures",
        title="What a mitigation changed",
        reading="The measure with the mitigation less the measure without it, asked in the same run, with a 95 % "
        "interval. An interval that crosses the line shows nothing yet.",
        legend=lambda _: (Key("plain", "change"), Key("rule-even", "no change")),
    )


def _mitigations_panel(rows: Sequence[Row]) -> Panel:
    measure = readable(rows[0]["measure"])
    title = f"{readable(rows[0]['mitigation'])}: {measure}"
    dots = [
        Dot(
            ": ".join(filter(None, (readable(row["attribute"]), contrast(row), readable(row["subject"])))),
            row["difference"],
            row["interval_low"],
            row["interval_high"],
            more={"before": number(row["plain_value"]), "after": number(row["mitigation_value"])},
            finding=row["finding_id"],
        )
        for row in rows[:_GROUPS_AT_MOST]
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"Change by mitigation, {title}"),
        spec=interval_dots(dots, f"{measure}, with mitigation minus without", [Rule(0.0, "even")]),
        finding=headline(dots),
    )


def _quality(source: Source, run_id: str) -> Picture | None:
    result = source.ask("runs_quality", run_id=run_id)
    if result is None or not result.rows:
        return None
    bad = [row for row in result.rows if row["n_ok"] < row["n_answers"] or row["silence"]]
    silent = "; ".join(
        f"{readable(row['attribute'])} {readable(row['group_name'])}: {row['silence']}"
        for row in result.rows
        if row["silence"]
    )
    if not bad:  # the run's own line says how many answers could be used
        return None
    attributes = {row["attribute"] for row in bad}
    panels, note = split_panels(
        [row for row in result.rows if row["attribute"] in attributes],
        ("attribute",),
        _quality_panel,
        "attributes",
    )
    return Picture(
        key="quality",
        title="Who got no usable answer",
        reading="Share of each group’s questions that were refused, answered in a form that could not be read, cut "
        "off, or failed." + (f" Of these groups nothing is known: {silent}." if silent else ""),
        result=result,
        panels=panels,
        legend=tuple(Key(f"bar-{place}", text) for place, text in enumerate(_PARTS.values(), start=1)),
        note=note,
    )


def _reading(source: Source, run_id: str) -> Picture | None:
    """Return how answers were read; None where each was read by the same rule."""
    result = source.ask("runs_reading", run_id=run_id)
    if result is None or not result.rows:
        return None
    n_unread = {row["attribute"]: 0.0 for row in result.rows}
    for row in result.rows:
        n_unread[row["attribute"]] += row["n"] if row["status"] == "unread" else 0
    rules = {row["rule"] for row in result.rows if row["status"] == "ok"}
    if len(rules) < 2 and not any(n_unread.values()):
        return None
    n_without_group = n_unread.pop(_NO_GROUP, 0.0)
    unread = count(round(max(n_unread.values(), default=0.0) + n_without_group), "answer")
    parts = _largest(result.rows, "part", first="unread")
    panels, note = split_panels(
        result.rows, ("attribute",), lambda rows: _parts_panel(rows, "part", parts, "answers"), "attributes"
    )
    return Picture(
        key="reading",
        title="How answers were read",
        reading="The share of each group’s answers that each rule read. "
        + (
            f"No rule reads {unread}: what they decide is unknown, and a finding holds only if it holds whatever they say."
            if n_without_group or any(n_unread.values())
            else "Every answer was read."
        ),
        result=result,
        panels=panels,
        legend=_part_keys(parts),
        note=note,
    )


def _languages(source: Source, run_id: str) -> Picture | None:
    """Return the languages of answers; None where they do not differ between groups and refusals are recognised in all."""
    result = source.ask("runs_languages", run_id=run_id)
    if result is None or not any(
        row["difference"] or (row["is_checked_for_refusals"] is False and row["share"] >= _LANGUAGE_AT_LEAST)
        for row in result.rows
    ):
        return None
    differences = sorted({row["difference"] for row in result.rows if row["difference"]})
    unchecked = sorted({row["language"] for row in result.rows if row["is_checked_for_refusals"] is False})
    parts = _largest(result.rows, "language")
    panels, note = split_panels(
        result.rows,
        ("attribute",),
        lambda rows: _parts_panel(rows, "language", parts, "answers"),
        "attributes",
    )
    sentences = [
        f"{one[:1].upper()}{one[1:]}: their words are not compared."
        for one in differences[:_DIFFERENCES_SHOWN]
    ]
    if unchecked:
        sentences.append(
            f"Refusals are not recognised in {', '.join(unchecked)}: answers in these languages were not checked for refusals."
        )
    return Picture(
        key="languages",
        title="Languages of the answers",
        reading=" ".join(["The share of each group’s answers in each language.", *sentences]),
        result=result,
        panels=panels,
        legend=_part_keys(parts),
        note=note,
    )


def _exclusions(source: Source, run_id: str) -> Picture | None:
    result = source.ask("runs_exclusions", run_id=run_id)
    return tabled(
        key="exclusions",
        title="Answers left out, with reasons",
        reading="Answers and rows that findings leave out. Rows without an attribute concern all findings, the others those on "
        "the attribute. Shares are of all answers of the run; an answer may be left out for several reasons.",
        result=result if result is not None and result.rows else None,
    )


def _ai_act(source: Source, run_id: str) -> Picture | None:
    return tabled(
        key="ai-act",
        title="Findings by heading of the EU AI Act",
        reading="Where findings may be used under Regulation (EU) 2024/1689, as the seed ai_act maps measures to headings. It "
        "does not say whether a system is lawful, or falls under the regulation.",
        result=source.ask_analysis("eu_ai_act", run_id),
    )


def _largest(rows: Sequence[Row], name: str, first: str = "") -> list[str]:
    """Return the values of a column with the most answers, at most as many as a chart has colours; `first` is among them."""
    totals: dict[str, float] = {}
    for row in rows:
        totals[row[name]] = totals.get(row[name], 0.0) + row["n"]
    ordered = sorted(totals, key=lambda part: (part != first, -totals[part], part))
    return ordered[:SERIES_AT_MOST]


def _part_keys(parts: Sequence[str]) -> tuple[Key, ...]:
    return tuple(Key(f"bar-{place}", readable(part)) for place, part in enumerate(parts, start=1))


def _parts_panel(rows: Sequence[Row], name: str, parts: Sequence[str], what: str) -> Panel:
    """Return the bars of an attribute's groups, made of the shares of these parts."""
    title = readable(rows[0]["attribute"])
    shares: dict[str, list[float]] = {}
    for row in rows:
        of_group = shares.setdefault(readable(row["group_name"]), [0.0] * len(parts))
        if row[name] in parts:
            of_group[parts.index(row[name])] += row["share"]
    shown = list(shares.items())[:_GROUPS_AT_MOST]
    listed = "; ".join(
        f"{group} "
        + ", ".join(
            f"{readable(part)} {percent(share)}" for part, share in zip(parts, of, strict=True) if share
        )
        for group, of in shown
    )
    spec = stacked_shares(shown, [readable(part) for part in parts], f"share of the group’s {what}")
    mixes = {group: dict(zip(parts, of, strict=True)) for group, of in shown}
    return Panel(title, f"Shares of {what}, {title}: {listed}.", spec, finding=headline_of_parts(mixes))


def _answer_gaps(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "runs_answer_gaps",
        run_id,
        by=("scheme", "attribute"),
        draw=_answer_gaps_panel,
        noun="attributes",
        title="Who is refused more often",
        reading="The share of a group’s questions that were refused, failed, or were answered in a form that could not be read, "
        "next to that of the group it is compared with, and how many times as large it is. First attempts count, unless the "
        "audit says otherwise.",
        legend=lambda rows: (*status_keys(rows), *RATE_KEYS),
    )


def _answer_gaps_panel(rows: Sequence[Row]) -> Panel:
    what = _WITHOUT_ANSWER[rows[0]["scheme"]]
    title = f"{what[:1].upper()}{what[1:]}, {readable(rows[0]['attribute'])} {against(rows)}"
    return rates_panel(rows[:_GROUPS_AT_MOST], title, f"share {what}")


def _quality_panel(rows: Sequence[Row]) -> Panel:
    title = readable(rows[0]["attribute"])
    shown = rows[:_GROUPS_AT_MOST]
    listed = "; ".join(
        f"{readable(row['group_name'])} {row['n_answers'] - row['n_ok']:,} of {row['n_answers']:,}"
        for row in shown
    )
    spec = stacked_shares(
        [
            (readable(row["group_name"]), [row[part] / max(row["n_answers"], 1) for part in _PARTS])
            for row in shown
        ],
        list(_PARTS.values()),
        "share of the group’s questions",
    )
    most = max(shown, key=lambda row: (row["n_answers"] - row["n_ok"]) / max(row["n_answers"], 1))
    return Panel(
        title,
        f"Questions without a usable answer, {title}: {listed}.",
        spec,
        finding=f"{readable(most['group_name'])}: {most['n_answers'] - most['n_ok']:,} of {most['n_answers']:,} without a usable "
        "answer",
    )


def _trend(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("trend", run_ids=run_ids)
    if result is None or not result.rows:
        return None
    rows = [row for row in result.rows if row["share_of_threshold"] is not None]
    if not rows:
        return None
    panels, note = split_panels(rows, ("audit", "target"), _trend_panel, "audits and targets")
    return Picture(
        key="trend",
        title="From run to run",
        reading="The five findings of each audit and target that ever lay farthest past their thresholds, as a "
        "multiple of the threshold: above the dashed line they are past it. "
        "Runs of different size do not compare exactly.",
        result=result,
        panels=panels,
        legend=(Key("rule-threshold", "threshold"),),
        note=note,
    )


def _trend_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['audit'])}, target {readable(rows[0]['target'])}"
    # Sorted by name, so that the same finding has the same colour in every chart.
    ordered = sorted(rows, key=lambda row: (_finding(row), row["run_number"]))
    points = [
        (
            row["started_at"],
            _finding(row),
            row["share_of_threshold"],
            f"{row['started_at']}, {number(row['value'])} (threshold {number(row['threshold'])}), {row['status']}",
        )
        for row in ordered
    ]
    spec, legend = lines(points, ("run of", "multiple of the threshold"), 1.0)
    last, n_runs = max(row["started_at"] for row in rows), len({run for run, *_ in points})
    latest = [(value, name) for run, name, value, _ in points if run == last]
    listed = "; ".join(f"{name} {number(value)}" for value, name in latest)
    farthest, name = max(latest)
    return Panel(
        title=title,
        description=f"Lines over {n_runs} runs, {title}. Multiples of the threshold in the last run: {listed}.",
        spec=linked(spec, [row["finding_id"] for row in ordered]),
        legend=legend,
        finding=f"{name}: {number(farthest)} times the threshold in the last run",
    )


def _changes(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("changes", run_ids=run_ids)
    if result is None:
        return None
    rows = [row for row in result.rows if row["worsening_in_tolerances"] is not None]
    if not rows:
        return None
    panels, note = split_panels(
        rows, ("audit", "target", "compared_with"), _changes_panel, "comparisons", _GROUPS_AT_MOST
    )
    return Picture(
        key="changes",
        title="What changed since the baseline, or the run before",
        reading="Change in the direction that is worse, in multiples of what is tolerated, with a 95 % interval. "
        "Right of the dashed line "
        "a measure got worse by more than that. The verdict is one-sided, so its interval may just cross the line.",
        result=result,
        panels=panels,
        legend=(
            *(Key(status, readable(verdict)) for verdict, status in _VERDICTS.items()),
            Key("rule-even", "no change"),
            Key("rule-threshold", "tolerated"),
        ),
        note=note,
    )


def _changes_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    title = (
        f"{readable(first['audit'])}, target {readable(first['target'])}, against {first['compared_with']}"
    )
    dots = [
        Dot(
            _finding(row),
            row["worsening_in_tolerances"],
            row["low_in_tolerances"],
            row["high_in_tolerances"],
            _VERDICTS.get(row["verdict"], "plain"),
            more={
                "before": number(row["baseline_value"]),
                "after": number(row["value"]),
                "paired on": row["paired_on"] or "–",
            },
            finding=row["finding_id"],
        )
        for row in rows
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"Change for the worse, {title}"),
        spec=interval_dots(
            dots, "change for the worse, in tolerances", [Rule(0.0, "even"), Rule(1.0, "threshold")]
        ),
        finding=headline(dots),
    )


def _history(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("history", run_ids=run_ids)
    if result is None:
        return None
    builds = {row["build_number"]: row["built_at"] for row in result.rows}
    if len(builds) < _BUILDS_AT_LEAST:
        return None
    counts = {(row["build_number"], row["status"]): row["n_findings"] for row in result.rows}
    present = {status for _, status in counts}
    points = [
        (built_at, text, counts.get((build, status), 0), f"{built_at}: {counts.get((build, status), 0):,}")
        for status, text in STATUS_TEXTS.items()
        if status in present
        for build, built_at in builds.items()
    ]
    shown = {text: status for status, text in STATUS_TEXTS.items() if status in present}
    spec, legend = lines(points, ("build of", "findings"), statuses=shown)
    last = builds[max(builds)]
    listed = ", ".join(f"{n:,} {status}" for built_at, status, n, _ in points if built_at == last)
    now, before = (counts.get((build, "alarm"), 0) for build in sorted(builds)[:-3:-1])
    finding = f"{count(now, 'alarm')} in the last build, {_than(now - before)} the one before"
    return Picture(
        key="history",
        title="Changes between builds",
        reading="How many findings had which status. They change with new runs, and when a threshold, an exception "
        "or a measure does.",
        result=result,
        panels=(Panel("", f"Lines over builds. In the last: {listed}.", spec, legend, finding),),
    )


def _than(more: int) -> str:
    return "as many as in" if not more else f"{abs(more):,} {'more' if more > 0 else 'fewer'} than in"


def _finding(row: Row) -> str:
    parts = (readable(row["measure"]), readable(row["attribute"]), contrast(row), readable(row["subject"]))
    return ", ".join(part for part in parts if part)


def _costs(source: Source, run_ids: Sequence[str]) -> Picture | None:
    result = source.ask("costs", run_ids=run_ids)
    if result is None or not result.rows:
        return None
    paid = [row for row in result.rows if row["cost_usd"]]
    if not paid and all(row["cost_usd"] is not None for row in result.rows):
        return None
    total = sum(row["cost_usd"] for row in paid)
    unknown = sum(row["cost_usd"] is None for row in result.rows)
    reading = f"At list prices {total:,.2f} USD in all." if paid else "Nothing was paid for."
    if unknown:
        runs = f"{unknown} of {len(result.rows)} runs"
        reading += f" The price of {runs} is not known: a row of seeds/model_prices.csv would say it."
    dots = [
        Dot(f"{row['audit']}, {row['target']}, {row['started_at']}", row["cost_usd"])
        for row in paid[:_GROUPS_AT_MOST]
    ]
    panel = Panel(
        title="",
        description=describe_dots(dots, "Cost by run in USD"),
        spec=interval_dots(dots, "USD at list prices", [Rule(0.0, "even")]),
        finding=headline(dots),
    )
    return Picture(
        key="costs",
        title="What the answers cost",
        reading=reading,
        result=result,
        panels=(panel,) if dots else (),
        note=f"Showing the dearest {len(dots)} of {len(paid)} runs." if len(dots) < len(paid) else "",
    )
