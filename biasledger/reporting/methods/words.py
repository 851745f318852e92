"""Pictures of audits of texts: which words differ, how surely, and whether a classifier tells the groups apart."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import (
    Dot,
    Point,
    describe_dots,
    headline,
    headline_of_bars,
    interval_dots,
    scatter,
    signed_bars,
    status_keys,
    threshold_rules,
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
    groups_of,
    number,
    paneled,
    readable,
    split_panels,
)
from biasledger.reporting.source import Row, Source

_CONTRAST = ("attribute", "group_name", "reference_group")
_NAMES_AT_MOST, _MARKED_NAMED = 14, 8  # of words next to their points
_REMOVED_TOLD = 20
_WORDS_AT_MOST, _WORDS_READ = 12, 24


def pictures(source: Source, run_id: str) -> list[Picture]:
    """The pictures of one run; empty where it did not ask for texts."""
    return drawn(
        _contributions(source, run_id),
        _scores(source, run_id),
        _classifier_accuracy(source, run_id),
        _removed(source, run_id),
        _address_forms(source, run_id),
    )


def _contributions(source: Source, run_id: str) -> Picture | None:
    return paneled(
        source,
        "words_contributions",
        run_id,
        by=_CONTRAST,
        draw=_contributions_panel,
        noun="contrasts",
        title="Which words make the difference",
        reading="The words that add most to how far two groups’ texts lie apart: how many more of 100 answers use them about the "
        "group (right) or about its reference group (left). Words that always come together, as those of one product do, "
        "share a row. A bar alone proves nothing; whether the texts differ by more than chance is judged for all words together.",
        rows_at_most=_WORDS_READ,
    )


def _contributions_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    phrases = _phrases(rows)[:_WORDS_AT_MOST]
    listed = "; ".join(f"{phrase}: {using:.0f} against {others:.0f}" for phrase, using, others in phrases)
    bars = [
        (phrase, using - others, f"{using:.1f} and {others:.1f} of 100 answers")
        for phrase, using, others in phrases
    ]
    return Panel(
        title=title,
        description=f"Bars by word, {title}, answers of 100 that use it: {listed}.",
        spec=signed_bars(
            bars,
            "difference of the answers of 100 that use it",
            axis="+~r",
            number_format="{:+.1f}",
        ),
        finding=headline_of_bars(
            bars, groups_of(rows[0]), "{label}: {size:.0f} more of 100 answers for {who}"
        ),
    )


def _phrases(rows: Sequence[Row]) -> list[tuple[str, float, float]]:
    """Words with how many of 100 answers of each group use them; words of one phrase have all numbers alike and share a row."""
    phrases: dict[tuple[float, float, float], list[str]] = {}
    for row in rows:
        if row["answers_per_100"] is not None and row["reference_answers_per_100"] is not None:
            using = (row["answers_per_100"], row["reference_answers_per_100"], row["contribution_bits"])
            phrases.setdefault(using, []).append(row["word"])
    return [(" + ".join(words[:3]), using, others) for (using, others, _), words in phrases.items()]


def _scores(source: Source, run_id: str) -> Picture | None:
    result = source.ask("words_scores", run_id=run_id)
    if result is None or not result.rows:
        return None
    panels, note = split_panels(result.rows, _CONTRAST, _scores_panel, "contrasts", POINTS_AT_MOST)
    return Picture(
        key="words-scores",
        title="How surely a word belongs to a group, against how often it is used",
        reading="Each point is a word. Above the line in the middle the group gets it more, below it the reference "
        "group does. Past a dashed line "
        "|z| is above the published 1.96, which happens to many words by chance; marked are only those that "
        "remain when all words are tested together.",
        result=result,
        panels=panels,
        legend=(
            Key("alarm", "marked word"),
            Key("quiet", "other word"),
            Key("rule-threshold", "|z| = 1.96, published"),
        ),
        note=note or "Showing the words with the largest |z| and the most frequent ones of each contrast.",
    )


def _scores_panel(rows: Sequence[Row]) -> Panel:
    title = f"{readable(rows[0]['attribute'])}: {contrast(rows[0])}"
    marked = [row for row in rows if row["is_marked"]]
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
                    "alarm" if row["is_marked"] else "quiet",
                    row["word"] in named,
                )
                for row in rows
            ],
            ("times used by both groups", "z (group above, reference below)"),
            log_x=True,
            rules=(1.96, -1.96),
        ),
        finding=_marked_for(rows, marked),
    )


def _marked_for(rows: Sequence[Row], marked: Sequence[Row]) -> str:
    """Say how many words are marked, and for whom."""
    more = sum(row["z_score"] > 0 for row in marked)
    group, reference = groups_of(rows[0])
    return (
        f"{more} words appear more often for {group}, {len(marked) - more} for {reference}"
        if marked
        else "No marked word"
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
        title="Can a classifier tell from the words whom a text was written for?",
        reading="A linear classifier (SVM) guesses the group from the text. The grey band is what it reaches when "
        "the labels are shuffled: a point inside "
        "it shows nothing. The line ends where a classifier with unlimited texts of this kind might.",
        result=result,
        panels=panels,
        legend=status_keys(result.rows),
        note=note,
    )


def _classifier_accuracy_panel(rows: Sequence[Row]) -> Panel:
    is_together = rows[0]["comparison"] == "all_groups"
    title = "all groups at once" if is_together else f"{readable(rows[0]['attribute'])} {against(rows)}"
    labels = [readable(row["attribute"]) for row in rows] if is_together else group_labels(rows)
    dots = [
        Dot(
            label,
            row["beyond_chance"],
            row["interval_low"],
            row["interval_high"],
            row["status"],
            row["null_low"],
            row["null_high"],
            {"texts": f"{row['n_marked_units']} and {row['n_reference_units']}"}
            if row["n_reference_units"]
            else {},
        )
        for row, label in zip(rows, labels, strict=True)
    ]
    return Panel(
        title=title,
        description=describe_dots(dots, f"Balanced accuracy by contrast, {title}"),
        spec=interval_dots(
            dots,
            "balanced accuracy (1: always right)",
            [] if is_together else threshold_rules(rows),
            limits=(0.0, 1.0),
            shown=(0.0, 1.0),
        ),
        finding=headline(dots),
    )


def _removed(source: Source, run_id: str) -> Picture | None:
    """The words taken out, as a table; said in words, too, where no word that names a group was."""
    result = source.ask("words_removed", run_id=run_id)
    if result is None or not result.rows:
        return None
    listed = ", ".join(f"{row['word']} ({_reason(row)})" for row in result.rows[:_REMOVED_TOLD])
    more = len(result.rows) - _REMOVED_TOLD
    return Picture(
        key="words-removed",
        title="Which words were taken out before texts were compared",
        reading="A text that repeats whom it was asked about would give its group away without saying anything of it. So the "
        "groups’ names, what stood for them in the prompt, and forms of address are taken out of all texts, also where such a "
        "word means something else there.",
        result=result,
        note=f"Taken out: {listed}{f' and {more} more' if more > 0 else ''}.",
    )


def _reason(row: Row) -> str:
    return str(row["list_name"] or row["named_groups"] or row["why"])


def _address_forms(source: Source, run_id: str) -> Picture | None:
    result = source.ask("words_address_forms", run_id=run_id)
    if result is None or not result.rows:
        return None
    return Picture(
        key="words-address-forms",
        title="How often people are addressed, by group",
        reading="The share of answers with a title, a word of kinship, a gendered noun or a pronoun. Who is called Mr and who is "
        "not may matter; it is described here and not judged, and it does not make texts differ above.",
        result=result,
    )
