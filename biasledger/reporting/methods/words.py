"""Pictures of audits of texts: which words differ, how surely, and whether a classifier tells the groups apart."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.numbers import percent
from biasledger.reporting.captions import headline_of_bars
from biasledger.reporting.charts import NO_DIFFERENCE, Dot, Point, scatter, signed_bars, threshold_rules
from biasledger.reporting.picture import (
    POINTS_AT_MOST,
    Key,
    Panel,
    Picture,
    against,
    contrast,
    drawn,
    group_labels,
    groups_of,
    number,
    paneled,
    readable,
    signed,
    split_panels,
    tabled,
)
from biasledger.reporting.shared_panels import dot_of, dots_panel
from biasledger.reporting.source import Row, Source

_CONTRAST = ("attribute", "group_name", "reference_group")
_NAMES_AT_MOST, _MARKED_NAMED = 14, 8  # of words next to their points
_REMOVED_TOLD = 20


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for texts."""
    return drawn(
        tabled(
            source.ask_analysis("audit_report", run_id),
            "The published report, axis by axis",
            "What the method’s source reports: accuracy ± standard deviation of its classifier of two groups, with "
            "its band (high above 0.80, not meaningful below 0.60); Jensen-Shannon divergence in nats; the words marked most for "
            "the group, with their z (*: borderline, 1.90 to 1.96). These rules have no test behind them, so no verdict rests on "
            "them.",
            key="words-audit-report",
        ),
        paneled(
            source.ask("words_contributions", run_id=run_id),
            _CONTRAST,
            _contributions_panel,
            "contrasts",
            title="Words used more for one group",
            reading="The ten words that contribute most to the divergence of two groups’ texts, each with its share of it: to "
            "the right words that the group gets more, to the left words that it gets less. A bar alone proves nothing: all "
            "words are judged together.",
        ),
        paneled(
            source.ask("words_product_types", run_id=run_id),
            _CONTRAST,
            _product_types_panel,
            "contrasts",
            title="Product types by group",
            reading="Product types are the keys of JSON answers. A point says how many more of 100 answers for the group name "
            "the type than of 100 for its reference group. Types are marked that remain when all are tested together.",
            legend=(
                Key("certain", "marked product type"),
                Key("quiet", "not more than chance"),
                Key("rule-even", "as often for both"),
            ),
        ),
        _scores(source, run_id),
        _classifier_accuracy(source, run_id),
        _removed(source, run_id),
        tabled(
            source.ask("words_address_forms", run_id=run_id),
            "How often people are addressed, by group",
            "The share of answers with a title, a word of kinship, a gendered noun or a pronoun. Who is called Mr and who is "
            "not may matter; it is described here and not judged, and it does not make texts differ above.",
        ),
    )


def _contributions_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    bars = [
        (row["word"], row["signed_share"], f"{percent(abs(row['signed_share']), 1)} of the divergence")
        for row in rows
    ]
    what = "share of the divergence, positive where the group gets the word more"
    listed = "; ".join(f"{word}: {signed(percent(share, 1, has_sign=True))}" for word, share, _ in bars)
    return Panel(
        title,
        f"Bars by word, {title}, {what}: {listed}.",
        signed_bars(bars, what),
        finding=headline_of_bars(
            bars, groups_of(rows[0]), "{label}: {size} of the divergence, more for {who}"
        ),
    )


def _product_types_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    dots = [
        Dot(
            row["product_type"],
            row["difference"],
            status="certain" if row["is_marked"] else "quiet",
            more={
                "answers of 100": f"{row['answers_per_100']:.0f} and {row['reference_answers_per_100']:.0f}"
            },
        )
        for row in rows
    ]
    marked = [dot.label for dot in dots if dot.status == "certain"]
    return dots_panel(
        dots,
        title,
        "answers of 100, group minus reference",
        [NO_DIFFERENCE],
        what=f"Product types, {title}",
        said=f"Marked: {', '.join(marked) or 'none'}.",
        finding=f"More than chance: {', '.join(marked[:3])}" if marked else "No product type is marked",
    )


def _scores(source: Source, run_id: str) -> Picture | None:
    result = source.ask("words_scores", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, _CONTRAST, _scores_panel, "contrasts", POINTS_AT_MOST)
    return Picture(
        key="words-scores",
        title="Certainty and frequency of words",
        reading="Each point is a word. Above the line in the middle the group gets it more, below it the reference "
        "group does. Past a dashed line "
        "|z| is above the published 1.96, which happens to many words by chance. Marked are only those that "
        "remain when all words are tested together; that test counts answers or questions and not uses, so a word with a "
        "larger z may stay unmarked.",
        result=result,
        panels=panels,
        legend=(
            Key("certain", "marked word"),
            Key("quiet", "other word"),
            Key("rule-threshold", "|z| = 1.96, published"),
        ),
        note=note or "Showing the words with the largest |z| and the most frequent ones of each contrast.",
    )


def _scores_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    marked = [row for row in rows if row["is_marked"]]
    more = sum(row["z_score"] > 0 for row in marked)
    group, reference = groups_of(rows[0])
    # Names get their places in this order: the most certain words, marked and not.
    rows = sorted(rows, key=lambda row: -abs(row["z_score"]))
    others = [row for row in rows if not row["is_marked"]]
    rows = [*marked[:_MARKED_NAMED], *others, *marked[_MARKED_NAMED:]]
    named = {row["word"] for row in rows[:_NAMES_AT_MOST]}
    words = ", ".join(f"{row['word']} ({number(row['z_score'])})" for row in marked[:_NAMES_AT_MOST])
    return Panel(
        title=title,
        description=f"Scatter plot of {len(rows)} words, {title}: how often each is used, and its z. "
        + (f"Marked words with their z: {words}." if marked else "No word is marked."),
        spec=scatter(
            [
                Point(
                    row["word"],
                    max(row["n_occurrences"], 1),
                    row["z_score"],
                    "certain" if row["is_marked"] else "quiet",
                    row["word"] in named,
                )
                for row in rows
            ],
            ("times used by both groups", "z (group above, reference below)"),
            log_x=True,
            rules=(1.96, -1.96),
        ),
        finding=f"{more} words appear more often for {group}, {len(marked) - more} for {reference}"
        if marked
        else "No marked word",
    )


def _classifier_accuracy(source: Source, run_id: str) -> Picture | None:
    result = source.ask("words_classifier_accuracy", run_id=run_id)
    if result is None or not result.rows:
        return None
    pairs = [row for row in result.rows if row["comparison"] != "all_groups"]
    panels, note = split_panels(pairs, ("attribute",), _classifier_accuracy_panel, "attributes")
    # Chance is 1 of all groups here, and no threshold is for that.
    together = [row for row in result.rows if row["comparison"] == "all_groups"]
    if together:
        panels += (_classifier_accuracy_panel(together),)
    return Picture(
        key="words-classifier-accuracy",
        title="Accuracy of a classifier of the groups",
        reading="A linear classifier (SVM) guesses the group from the text. The grey band is what it reaches when "
        "the labels are shuffled: a point inside "
        "it shows nothing. The line ends where a classifier with unlimited texts of this kind might.",
        result=result,
        panels=panels,
        note=note,
    )


def _classifier_accuracy_panel(rows: Sequence[Row]) -> Panel:
    is_together = rows[0]["comparison"] == "all_groups"
    title = "all groups at once" if is_together else f"{readable(rows[0]['attribute'])} {against(rows)}"
    labels = [readable(row["attribute"]) for row in rows] if is_together else group_labels(rows)
    dots = [
        dot_of(
            row,
            label,
            "beyond_chance",
            status=row["status"],
            band=(row["null_low"], row["null_high"]),
            more={"texts": f"{row['n_marked_units']:,} and {row['n_reference_units']:,}"}
            if row["n_reference_units"]
            else {},
        )
        for row, label in zip(rows, labels, strict=True)
    ]
    return dots_panel(
        dots,
        title,
        "balanced accuracy (1: always right)",
        [] if is_together else threshold_rules(rows),
        what=f"Balanced accuracy by contrast, {title}",
        limits=(0.0, 1.0),
        shown=(0.0, 1.0),
    )


def _removed(source: Source, run_id: str) -> Picture | None:
    """The words taken out, as a table; said in words, too, where no word that names a group was."""
    result = source.ask("words_removed", run_id=run_id)
    rows = result.rows if result else ()
    listed = ", ".join(
        f"{row['word']} ({row['list_name'] or row['named_groups'] or row['why']})"
        for row in rows[:_REMOVED_TOLD]
    )
    more = len(rows) - _REMOVED_TOLD
    return tabled(
        result,
        "Which words were taken out before texts were compared",
        "A text that repeats whom it was asked about would give its group away without saying anything of it. So the "
        "groups’ names, what stood for them in the prompt, and forms of address are taken out of all texts, also where such a "
        "word means something else there.",
        note=f"Taken out: {listed}{f' and {more} more' if more > 0 else ''}.",
    )
