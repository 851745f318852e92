"""Pictures of any kind of audit: answer quality and mitigations of a run; trends over runs, and costs."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.numbers import count, percent
from biasledger.reporting.captions import headline_of_parts
from biasledger.reporting.charts import (
    NO_DIFFERENCE,
    SERIES_AT_MOST,
    Dot,
    Rule,
    bar_keys,
    grouped_bars,
    lines,
    linked,
    stacked_shares,
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
    tabled,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel, rates_panel
from biasledger.reporting.source import Result, Row, Source

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
        paneled(
            source.ask("runs_mitigations", run_id=run_id),
            ("mitigation", "measure"),
            _mitigations_panel,
            "measures",
            title="What a mitigation changed",
            reading="The measure with the mitigation less the measure without it, asked in the same run, with a 95 % "
            "interval. An interval that crosses the line shows nothing yet.",
            legend=(Key("plain", "change"), Key("rule-even", "no change")),
        ),
        _quality(source.ask("runs_quality", run_id=run_id)),
        paneled(
            source.ask("runs_answer_gaps", run_id=run_id),
            ("scheme", "attribute"),
            _answer_gaps_panel,
            "attributes",
            title="Who is refused more often",
            reading="The share of a group’s questions that were refused, failed, or were answered in a form that could not be "
            "read, next to that of the group it is compared with, and how many times as large it is. First attempts count, "
            "unless the audit says otherwise.",
        ),
        _reading(source.ask("runs_reading", run_id=run_id)),
        _languages(source.ask("runs_languages", run_id=run_id)),
        tabled(
            source.ask("runs_exclusions", run_id=run_id),
            "Answers left out, with reasons",
            "Answers and rows that findings leave out. Rows without an attribute concern all findings, the others those on "
            "the attribute. Shares are of all answers of the run; an answer may be left out for several reasons.",
            key="exclusions",
        ),
        tabled(
            source.ask_analysis("eu_ai_act", run_id),
            "Findings by heading of the EU AI Act",
            "Where findings may be used under Regulation (EU) 2024/1689, as the seed ai_act maps measures to headings. It "
            "does not say whether a system is lawful, or falls under the regulation.",
            key="ai-act",
        ),
    )


def pictures_of_all(source: Source, run_ids: Sequence[str], shown: Sequence[str]) -> list[Picture]:
    """The pictures over all runs: how models differ, how findings moved, and what the runs cost.

    Args:
        run_ids: all of the report.
        shown: those that it reports on in full, whose findings are counted.
    """
    return drawn(
        paneled(
            source.ask("models", run_ids=shown),
            ("audit", "measure", "attribute"),
            _models_panel,
            "measures",
            title="Models side by side",
            reading="What each model that was asked the same audit has of a measure, with its 95 % interval where there is one.",
        ),
        tabled(
            source.ask_analysis("models_by_bias_indicator", *shown, query=_INDICATORS),
            "Accuracy, bias and consistency of each model",
            "Bias is the mean rank of the reference group less that of the other: above 0 favours the reference group. "
            "“Favours” is the source’s word for more than 0.05, without a test; findings are tested. Inconsistent are cases with "
            "different answers in versions that differ in the group alone, of all cases.",
            key="model-indicators",
        ),
        paneled(
            source.ask("model_rates", run_ids=shown),
            ("audit", "attribute", "outcome"),
            _model_rates_panel,
            "outcomes",
            title="Accuracy by model and group",
            reading="The share of a group’s cases that a model judges rightly, and by how many ranks its labels lie above the "
            "right ones on average (left of the line: below). A model that treats all groups alike has bars of one length.",
            rows_at_most=POINTS_AT_MOST,
        ),
        paneled(
            source.ask("changes", run_ids=run_ids),
            ("audit", "target", "compared_with"),
            _changes_panel,
            "comparisons",
            title="What changed since the baseline, or the run before",
            reading="Change in the direction that is worse, in multiples of what is tolerated, with a 95 % interval. "
            "Right of the dashed line "
            "a measure got worse by more than that. The verdict is one-sided, so its interval may just cross the line.",
            legend=(
                *(
                    Key(symbol, verdict)
                    for verdict, symbol in _VERDICTS.items()
                    if symbol not in STATUS_TEXTS
                ),
                Key("rule-even", "no change"),
                Key("rule-threshold", "tolerated"),
            ),
            keep=lambda row: row["worsening_in_tolerances"] is not None,
            rows_at_most=_GROUPS_AT_MOST,
        ),
        paneled(
            source.ask("trend", run_ids=run_ids),
            ("audit", "target"),
            _trend_panel,
            "audits and targets",
            title="From run to run",
            reading="The five findings of each audit and target that ever lay farthest past their thresholds, as a "
            "multiple of the threshold: above the dashed line they are past it. "
            "Runs of different size do not compare exactly.",
            keep=lambda row: row["share_of_threshold"] is not None,
        ),
        _history(source.ask("history", run_ids=shown)),
        _costs(source.ask("costs", run_ids=run_ids)),
        *tables_of_all(source),
    )


def _models_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    measure = readable(first["measure"])
    title = f"{readable(first['audit'])}: {measure} by {readable(first['attribute'].strip('()'))}"
    dots = [
        dot_of(
            row,
            _joined(readable(row["target"]), contrast(row), readable(row["subject"])),
            "value",
            "value",
            status=row["status"],
        )
        for row in rows
    ]
    rules = threshold_rules(rows, first["no_difference"], is_two_sided=first["side"] == "two-sided")
    return dots_panel(dots, title, measure, rules, what=title)


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


def _mitigations_panel(rows: Sequence[Row]) -> Panel:
    measure = readable(rows[0]["measure"])
    title = f"{readable(rows[0]['mitigation'])}: {measure}"
    dots = [
        dot_of(
            row,
            ": ".join(filter(None, (readable(row["attribute"]), contrast(row), readable(row["subject"])))),
            "difference",
            more={"before": number(row["plain_value"]), "after": number(row["mitigation_value"])},
        )
        for row in rows[:_GROUPS_AT_MOST]
    ]
    axis = f"{measure}, with mitigation minus without"
    return dots_panel(dots, title, axis, [NO_DIFFERENCE], what=f"Change by mitigation, {title}")


def _quality(result: Result | None) -> Picture | None:
    rows = result.rows if result else ()
    silent = "; ".join(
        f"{readable(row['attribute'])} {readable(row['group_name'])}: {row['silence']}"
        for row in rows
        if row["silence"]
    )
    # Where all answers could be used, the run's own line says so.
    bad = {row["attribute"] for row in rows if row["n_ok"] < row["n_answers"] or row["silence"]}
    return paneled(
        result,
        ("attribute",),
        _quality_panel,
        "attributes",
        title="Who got no usable answer",
        reading="Share of each group’s questions that were refused, answered in a form that could not be read, cut "
        "off, or failed." + (f" Of these groups nothing is known: {silent}." if silent else ""),
        key="quality",
        legend=bar_keys(list(_PARTS.values())),
        keep=lambda row: row["attribute"] in bad,
    )


def _reading(result: Result | None) -> Picture | None:
    """Return how answers were read; None where each was read by the same rule."""
    rows = result.rows if result else ()
    n_unread = {row["attribute"]: 0.0 for row in rows}
    for row in rows:
        n_unread[row["attribute"]] += row["n"] if row["status"] == "unread" else 0
    if len({row["rule"] for row in rows if row["status"] == "ok"}) < 2 and not any(n_unread.values()):
        return None
    n_without_group = n_unread.pop(_NO_GROUP, 0.0)
    unread = count(round(max(n_unread.values(), default=0.0) + n_without_group), "answer")
    said = (
        f"No rule reads {unread}: what they decide is unknown, and a finding holds only if it holds whatever they say."
        if n_without_group or any(n_unread.values())
        else "Every answer was read."
    )
    reading = f"The share of each group’s answers that each rule read. {said}"
    return _parted(result, "part", "How answers were read", reading, "reading", first="unread")


def _languages(result: Result | None) -> Picture | None:
    """Return the languages of answers; None where they do not differ between groups and refusals are recognised in all."""
    rows = result.rows if result else ()
    if not any(
        row["difference"] or (row["is_checked_for_refusals"] is False and row["share"] >= _LANGUAGE_AT_LEAST)
        for row in rows
    ):
        return None
    differences = sorted({row["difference"] for row in rows if row["difference"]})
    unchecked = sorted({row["language"] for row in rows if row["is_checked_for_refusals"] is False})
    sentences = [
        f"{one[:1].upper()}{one[1:]}: their words are not compared."
        for one in differences[:_DIFFERENCES_SHOWN]
    ]
    if unchecked:
        sentences.append(
            f"Refusals are not recognised in {', '.join(unchecked)}: answers in these languages were not checked for refusals."
        )
    reading = " ".join(["The share of each group’s answers in each language.", *sentences])
    return _parted(result, "language", "Languages of the answers", reading, "languages")


def _parted(
    result: Result | None, name: str, title: str, reading: str, key: str, first: str = ""
) -> Picture | None:
    """Return bars of each attribute's groups, made of the column's values with the most answers; `first` is among them."""
    totals: dict[str, float] = {}
    for row in result.rows if result else ():
        totals[row[name]] = totals.get(row[name], 0.0) + row["n"]
    ordered = sorted(totals, key=lambda part: (part != first, -totals[part], part))
    parts = ordered[:SERIES_AT_MOST]
    return paneled(
        result,
        ("attribute",),
        lambda rows: _parts_panel(rows, name, parts),
        "attributes",
        title=title,
        reading=reading,
        key=key,
        legend=bar_keys([readable(part) for part in parts]),
    )


def _parts_panel(rows: Sequence[Row], name: str, parts: Sequence[str]) -> Panel:
    """Return the bars of an attribute's groups, made of the shares of these parts."""
    title = readable(rows[0]["attribute"])
    mixes: dict[str, dict[str, float]] = {}
    for row in rows:
        mix = mixes.setdefault(readable(row["group_name"]), dict.fromkeys(parts, 0.0))
        if row[name] in parts:
            mix[row[name]] += row["share"]
    mixes = dict(list(mixes.items())[:_GROUPS_AT_MOST])
    listed = "; ".join(
        f"{group} " + ", ".join(f"{readable(part)} {percent(share)}" for part, share in mix.items() if share)
        for group, mix in mixes.items()
    )
    bars = [(group, list(mix.values())) for group, mix in mixes.items()]
    return Panel(
        title,
        f"Shares of answers, {title}: {listed}.",
        stacked_shares(bars, [readable(part) for part in parts], "share of the group’s answers"),
        finding=headline_of_parts(mixes),
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
    rules = [NO_DIFFERENCE, Rule(1.0, "threshold")]
    axis = "change for the worse, in tolerances"
    return dots_panel(dots, title, axis, rules, what=f"Change for the worse, {title}")


def _history(result: Result | None) -> Picture | None:
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
    return _joined(
        readable(row["measure"]), readable(row["attribute"]), contrast(row), readable(row["subject"])
    )


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _costs(result: Result | None) -> Picture | None:
    if result is None or not result.rows:
        return None
    paid = [row for row in result.rows if row["cost_usd"]]
    unknown = sum(row["cost_usd"] is None for row in result.rows)
    if not paid and not unknown:
        return None
    total = sum(row["cost_usd"] for row in paid)
    reading = f"At list prices {total:,.2f} USD in all." if paid else "Nothing was paid for."
    if unknown:
        runs = f"{unknown} of {len(result.rows)} runs"
        reading += f" The price of {runs} is not known: a row of seeds/model_prices.csv would say it."
    dots = [
        Dot(f"{row['audit']}, {row['target']}, {row['started_at']}", row["cost_usd"])
        for row in paid[:_GROUPS_AT_MOST]
    ]
    panel = dots_panel(dots, "", "USD at list prices", [NO_DIFFERENCE], what="Cost by run in USD")
    return Picture(
        key="costs",
        title="What the answers cost",
        reading=reading,
        result=result,
        panels=(panel,) if dots else (),
        note=f"Showing the dearest {len(dots)} of {len(paid)} runs." if len(dots) < len(paid) else "",
    )
