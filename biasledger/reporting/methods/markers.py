"""Pictures of audits of stereotypes: ratios by category and probe, gaps between names, lists of markers, scores."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.numbers import count
from biasledger.reporting.charts import (
    Dot,
    Rule,
    describe_dots,
    headline,
    interval_dots,
    status_keys,
    threshold_rules,
    unjudged,
)
from biasledger.reporting.picture import (
    PANELS_AT_MOST,
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
from biasledger.reporting.rates import RATE_KEYS, rates_panel
from biasledger.reporting.source import Row, Source

_PROBES_AT_MOST = 24


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask probes."""
    return drawn(
        _outputs(source, run_id),
        _failed_outputs(source, run_id),
        _ratios(source, run_id),
        _gaps(source, run_id),
        _lists(source, run_id),
        _regard(source, run_id),
        _agreement(source, run_id),
    )


def _outputs(source: Source, run_id: str) -> Picture | None:
    result = source.ask("markers_outputs", run_id=run_id)
    if result is None or not result.rows:
        return None
    first = result.rows[0]
    rate = "none was judged" if first["pass_rate"] is None else f"{100 * first['pass_rate']:.0f} %"
    return Picture(
        key="markers-outputs",
        title=f"{first['failed']:,} of {first['total']:,} outputs fail the published rule",
        reading="An output fails if more than 70 % of its markers are those of the stereotype or its negative regard is above "
        "0.3. With fewer than two markers it is skipped, and not passed; the pass rate leaves skipped outputs out. No verdict "
        "rests on this rule, as it has no test behind it.",
        result=result,
        note=f"{first['passed']:,} passed, {first['failed']:,} failed, {first['skipped']:,} skipped; pass rate: {rate}.",
    )


def _failed_outputs(source: Source, run_id: str) -> Picture | None:
    result = source.ask("markers_failed_outputs", run_id=run_id)
    if result is None or not result.rows:
        return None
    return Picture(
        key="markers-failed-outputs",
        title="Failed outputs and reasons",
        reading="Each with its prompt, the reasons, its markers for and against the stereotype, and its scores of regard if it "
        "was scored.",
        result=result,
    )


def _ratios(source: Source, run_id: str) -> Picture | None:
    result = source.ask("markers_ratios", run_id=run_id)
    if result is None or not result.rows:
        return None
    categories = [row for row in result.rows if row["probe"] == "(all)"]
    probes = [row for row in result.rows if row["probe"] != "(all)"]
    threshold = next((row["threshold"] for row in result.rows if row["threshold"] is not None), None)
    panels = []
    if categories:
        panels.append(_ratios_panel(categories, "category", threshold))
    judged = [row for row in probes if row["status"] != "insufficient_data"]
    if judged:
        panels.append(_ratios_panel(judged[:_PROBES_AT_MOST], "probe", threshold))
    notes = [
        note
        for note, n in (
            (
                f"Showing the {_PROBES_AT_MOST} highest of {len(judged)} probes.",
                len(judged) - _PROBES_AT_MOST,
            ),
            (
                f"Of {len(probes)} single probes {len(probes) - len(judged)} have too few answers to be drawn.",
                len(probes) - len(judged),
            ),
        )
        if n > 0
    ]
    return Picture(
        key="markers-ratios",
        title="Stereotyped answers by category",
        reading="Of the words that stand for or against a stereotype, the share that stands for it: 0.5 is even, 1 "
        "is nothing but the stereotype. Single probes rest on few answers.",
        result=result,
        panels=tuple(panels),
        legend=(
            *status_keys(result.rows),
            Key("rule-even", "even"),
        ),
        note=" ".join(notes),
    )


def _ratios_panel(rows: Sequence[Row], level: str, threshold: float | None) -> Panel:
    dots = [
        Dot(
            readable(row[level] or "all probes"),
            row["stereotype_ratio"],
            row["interval_low"],
            row["interval_high"],
            row["status"]
            or unjudged(row["stereotype_ratio"], row["interval_low"], row["interval_high"], threshold, 0.5),
            more={"assessed": f"{row['n_assessable']:,} of {count(row['n_texts'], 'text')}"},
            finding=row["finding_id"],
        )
        for row in rows
    ]
    return Panel(
        title=f"By {level}",
        description=describe_dots(dots, f"Stereotype ratio by {level}"),
        spec=interval_dots(
            dots,
            "stereotype ratio (0.5: even)",
            threshold_rules([*rows, {"threshold": threshold}], 0.5),
            limits=(0.0, 1.0),
        ),
        finding=headline(dots),
    )


def _gaps(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "markers_gaps",
        run_id,
        by=("attribute",),
        draw=_gaps_panel,
        noun="attributes",
        title="Answers that a name changes",
        reading="The same question about people with other names: of the words that stand for or against a stereotype, the share "
        "that stands for it in texts about a group’s names, next to those about the reference group’s.",
        legend=lambda rows: (*status_keys(rows), *RATE_KEYS),
    )


def _gaps_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])} {against(rows)}"
    return rates_panel(rows, title, "share of telling words that are the stereotype’s")


def _lists(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "markers_lists",
        run_id,
        by=("attribute",),
        draw=_lists_panel,
        noun="attributes",
        title="Words of a list by group",
        reading="Association of each list of markers with a group against its reference: 0 is none, to the right the "
        "group’s texts hold more of it. Intervals hold for all lists at once.",
        legend=lambda _: (Key("certain", "associated by more than chance, all lists tested together"),),
    )


def _lists_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])} {against(rows)}"
    dots = [
        Dot(
            f"{label}: {readable(row['list'])}",
            row["difference"],
            row["interval_low"],
            row["interval_high"],
            "certain" if row["is_associated"] else "plain",
            finding=row["finding_id"],
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    associated = [dot.label for dot in dots if dot.status == "certain"]
    words = describe_dots(
        [Dot(dot.label, dot.value, dot.low, dot.high) for dot in dots],
        f"Association of lists of markers, {title}",
    )
    return Panel(
        title=title,
        description=f"{words} Associated: {', '.join(associated) or 'none'}.",
        spec=interval_dots(dots, "association score", [Rule(0.0, "even")]),
        finding=headline(dots),
    )


def _regard(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "markers_regard",
        run_id,
        by=("attribute", "scorer", "label"),
        draw=_regard_panel,
        noun="attributes and scores",
        title="Whose texts are scored worse",
        reading="Mean score of texts about a group, less that of texts about its reference group, counted towards the "
        "worse end of the score’s range. To the right the group is written about worse.",
        legend=status_keys,
    )


def _regard_panel(rows: Sequence[Row]) -> Panel:
    score = rows[0]
    worse = f"{score['label']} ({score['worse']} is worse)"
    panel = _gap_panel(rows, "group minus reference, share of the range")
    return Panel(
        f"{panel.title}, {worse} by {readable(score['scorer'])}",
        f"{worse}. {panel.description}",
        panel.spec,
        finding=panel.finding,
    )


def _agreement(source: Source, run_id: str) -> Picture | None:
    result = source.ask("markers_agreement", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(
        result.rows, ("attribute", "scorer", "label"), _agreement_panel, "attributes and scores"
    )
    return Picture(
        key="markers-agreement",
        title="Is the scorer as right about every group?",
        reading="How many more answers about a group are problematic than about its reference group: by the scorer alone, and "
        "corrected by what people said of answers drawn at random. Where the scorer alone lies outside of the interval, it is "
        "less right about one of the groups.",
        result=result,
        panels=panels,
        legend=(
            Key("plain", "corrected by labels, with its 95 % interval"),
            Key("quiet", "by the scorer alone"),
        ),
        note=f"{_agreed(result.rows)} {note}".strip(),
    )


def _agreed(rows: Sequence[Row]) -> str:
    """How often a scorer says what people say, about each group, in a sentence for each score and attribute."""
    listed: dict[tuple[str, ...], list[str]] = {}
    for row, label in zip(rows, group_labels(rows), strict=True):
        if row["agreement"] is not None:
            ends = f"{100 * row['agreement_low']:.0f} to {100 * row['agreement_high']:.0f}"
            listed.setdefault((row["scorer"], row["label"], row["attribute"]), []).append(
                f"{100 * row['agreement']:.0f} % of {row['n_agreed']:,} labelled answers about {label} ({ends})"
            )
    sentences = [
        f"Of {readable(attribute)}, {readable(scorer)} on {readable(label)} says what people say in {', '.join(groups)}."
        for (scorer, label, attribute), groups in list(listed.items())[:PANELS_AT_MOST]
    ]
    return " ".join(sentences)


def _agreement_panel(rows: Sequence[Row]) -> Panel:
    first = rows[0]
    compared = [row for row in rows if row["reference_group"]]
    title = (
        f"{readable(first['attribute'])} {against(compared)}, {first['label']} by {readable(first['scorer'])}"
    )
    dots = []
    for row, label in zip(compared, group_labels(compared), strict=True):
        listed = {
            "compared": contrast(row),
            "labelled": f"{row['n_drawn']:,} of {row['n_answers']:,} answers",
        }
        ends = row["corrected_gap_low"], row["corrected_gap_high"]
        dots += [
            Dot(f"{label}: scorer alone", row["scorer_gap"], status="quiet", more=listed),
            Dot(f"{label}: corrected", row["corrected_gap"], *ends, more=listed),
        ]
    words = describe_dots(dots, f"Problematic answers, group minus reference, {title}")
    return Panel(
        title=title,
        description=words,
        spec=interval_dots(dots, "share of problematic answers, group minus reference", [Rule(0.0, "even")]),
        finding=headline([dot for dot in dots if dot.status == "plain"]),
    )


def _gap_panel(rows: Sequence[Row], axis: str) -> Panel:
    title = f"{readable(rows[0]['attribute'])} {against(rows)}"
    dots = [
        Dot(
            ": ".join([label, *([readable(row["category"])] if row["category"] else [])]),
            row["adjusted_gap"],
            row["adjusted_low"],
            row["adjusted_high"],
            row["status"],
            more={
                "compared": contrast(row),
                "names or texts": f"{row['n_marked_units']:,} and {row['n_reference_units']:,}",
            },
            finding=row["finding_id"],
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"{axis[:1].upper()}{axis[1:]}, {title}"),
        spec=interval_dots(dots, axis, threshold_rules(rows, 0.0, is_two_sided=True)),
        finding=headline(dots),
    )
