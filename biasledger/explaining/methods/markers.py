"""Markers: counts and ratios, and the answers with most markers for or against a stereotype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biasledger.explaining.case import CONTRAST, RUN, Case
from biasledger.explaining.evidence import Evidence, Pick, RowsBehind, Side
from biasledger.explaining.marks import Kind, Mark
from biasledger.explaining.rows import Row

_FOR, _AGAINST = "marker of the stereotype", "marker against it"
_MOST = "stereotype_ratio desc, n_stereotype_markers desc"
# Under the scheme `declared` each marker matches as its file says, which the ledger knows.
_KINDS: Mapping[str, Kind] = {"stem": "stem", "substring": "exact"}


def evidence(case: Case) -> Evidence:
    """The marker counts, and the answers that hold most of them."""
    return _EVIDENCE[case.finding["measure"]](case)


def _ratio(case: Case) -> Evidence:
    # A finding on a probe has the probe as its subject, one on a category the category.
    level = (
        "probe = $subject" if case.finding["measure"] == "probe_stereotype_ratio" else "category = $subject"
    )
    rates = case.behind(
        "fct_stereotype_rates",
        "ratios by probe",
        where=f"{RUN} and scheme = $scheme and attribute = '' and {level}",
        columns="category, probe, stereotype_ratio, interval_low, interval_high, p_value, n_texts, n_assessable, n_stereotype, "
        "n_anti, n_both, n_none",
        order="probe = '(all)' desc, stereotype_ratio desc nulls last, category, probe",
        n=30,
    )
    side = _texts(case, "all texts", condition=level)
    return Evidence(
        [rates], [side], first=_FOR, second=_AGAINST, has_declared_kinds=case.finding["scheme"] == "declared"
    )


def _gap(case: Case) -> Evidence:
    gap = case.behind(
        "fct_stereotype_gaps",
        "the gap",
        where=f"{CONTRAST} and scheme = $scheme and category = $subject",
        columns="mean_marked, mean_reference, gap, adjusted_gap, adjusted_low, adjusted_high, null_mean, null_sd, p_value, "
        "n_marked, n_reference, n_marked_units, n_reference_units, unit_kind",
    )
    sides = [
        _texts(
            case,
            name,
            condition="category = $subject",
            prompt_ids=case.prompts_of(name),
            by=_MOST if wants_more else "stereotype_ratio, n_anti_markers desc",
        )
        for name, wants_more in zip(case.groups, (case.is_more, not case.is_more), strict=True)
    ]
    return Evidence(
        [gap], sides, first=_FOR, second=_AGAINST, has_declared_kinds=case.finding["scheme"] == "declared"
    )


def _texts(case: Case, name: str, *, condition: str, prompt_ids: Sequence[str] = (), by: str = _MOST) -> Side:
    kind = _KINDS.get(case.finding["scheme"], "word")

    def pick(row: Row) -> Pick:
        marks = [
            *(Mark(marker, "first", kind) for marker in row["stereotype_markers"]),
            *(Mark(marker, "second", kind) for marker in row["anti_markers"]),
        ]
        note = f"{row['probe'] or row['category'] or 'text'}: ratio {row['stereotype_ratio']:.2f}"
        return Pick(row["prompt_id"], row["trial"], note, marks)

    return case.first_answers(
        name,
        "fct_stereotype_scores",
        pick,
        where=f"{RUN} and scheme = $scheme and {condition} and is_assessable",
        by=by,
        order="with the ratio that speaks most for the finding",
        prompt_ids=prompt_ids,
    )


def _association(case: Case) -> Evidence:
    contrasts = case.behind(
        "fct_marker_contrasts",
        "lists of markers by certainty",
        where=f"{CONTRAST} and scheme = $scheme",
        columns="list, n_marked, n_reference, n_tokens_marked, n_tokens_reference, odds_ratio, difference, band_low, band_high, "
        "p_value_adjusted, is_associated",
        order="p_value_adjusted nulls last, abs(difference - null_mean) / nullif(null_sd, 0) desc nulls last, list",
    )
    judged = case.finding["member"]
    meaning = f"marker of the list {judged}" if judged else ""
    return Evidence([contrasts], [case.side(name) for name in case.groups], first=meaning, marker_list=judged)


def _scores(case: Case) -> Evidence:
    is_gap = case.finding["measure"] != "negative_regard"
    shares = case.behind(
        "fct_regard_shares",
        "labels by group",
        where=f"{RUN} and category = $subject and attribute = "
        + ("$attribute and group_name in ($group_name, $reference_group)" if is_gap else "''")
        + f" and scorer in (select scorer from marts.fct_answer_scores where {RUN} and scheme = $scheme)",
        columns="group_name, label, n_answers, n_short, n, share, mean_score",
        order="group_name, label",
    )
    if not is_gap:
        return Evidence([shares], [_scored(case, "all texts")])
    gap = case.behind(
        "fct_regard_gaps",
        "the gap",
        where="contrast_id = $contrast_id and scheme = $scheme and category = $subject",
        columns="label, worse, lowest, highest, mean_score_marked, mean_score_reference, gap, adjusted_gap, adjusted_low, "
        "adjusted_high, null_mean, null_sd, p_value, n_marked, n_reference, unit_kind",
    )
    return Evidence(
        [gap, shares, *_against_people(case)],
        [_scored(case, name, case.prompts_of(name)) for name in case.groups],
    )


def _against_people(case: Case) -> list[RowsBehind]:
    """Return how labels of randomly drawn answers agree with the scorer and the gap, over all categories; empty without any."""
    if not case.rows("select 1 from duckdb_tables() where table_name = 'fct_score_agreement'"):
        return []  # a warehouse of an older version
    agreement = case.behind(
        "fct_score_agreement",
        "the scorer against people's labels",
        where=f"{RUN} and scheme = $scheme and attribute = $attribute and group_name in ($group_name, $reference_group)",
        columns="group_name, n_answers, n_drawn, agreement, agreement_low, agreement_high, sensitivity, specificity, "
        "scorer_rate, corrected_rate, corrected_low, corrected_high",
        order="group_name",
    )
    if not any(row["n_drawn"] for row in agreement.rows):
        return []
    correction = case.behind(
        "fct_score_corrections",
        "the gap in problematic answers, corrected by labels",
        where="contrast_id = $contrast_id and scheme = $scheme",
        columns="scorer_gap, corrected_gap, corrected_low, corrected_high, n_marked_drawn, n_reference_drawn",
    )
    return [agreement, correction]


def _scored(case: Case, name: str, prompt_ids: Sequence[str] = ()) -> Side:
    """The texts with the worst scores."""
    # Regard is one of several labels, of which a text has the one with the highest score.
    own = "read as {label_of_text}, " if case.finding["measure"] != "text_score_gap" else ""

    def pick(row: Row) -> Pick:
        note = f"{own.format(**row)}{row['label']} {row['score'] or 0:.2f}"
        return Pick(row["prompt_id"], row["trial"], note)

    return case.first_answers(
        name,
        "fct_answer_scores",
        pick,
        where=f"{RUN} and scheme = $scheme and category = $subject and not is_short",
        by="badness desc nulls last",
        order="with the worst scores",
        prompt_ids=prompt_ids,
    )


_EVIDENCE = {
    "stereotype_ratio": _ratio,
    "probe_stereotype_ratio": _ratio,
    "stereotype_gap": _gap,
    "marker_association": _association,
    "negative_regard": _scores,
    "negative_regard_gap": _scores,
    "text_score_gap": _scores,
}
