"""Test stereotype probes on simulated models: only planted words raise alarms."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy.stats import permutation_test, wasserstein_distance

from biasledger.explaining import explain_finding
from biasledger.querying.analyses import read_sql
from tests.python.project import Project

from .planting.marker_lists import (
    MATCHING_MARKERS,
    N_NAMES,
    N_SCORED_NAMES,
    N_TEXTS,
    mixed_rows,
    scored_rows,
    texts_to_match,
    tone,
)


def test_groups_asked_unevenly_are_compared_inside_questions(odd: Project) -> None:
    findings = odd.rows(
        "select measure, group_name, status, abs(value) < 0.1, published_value > 0.15 from marts.fct_findings"
        " where audit = 'mixed' and measure in ('stereotype_gap', 'marker_association') order by all"
    )
    assert findings == [
        ("marker_association", "Asian", "insufficient_data", None, None),
        ("marker_association", "Black", "inconclusive", True, False),
        ("stereotype_gap", "Asian", "insufficient_data", None, None),
        ("stereotype_gap", "Black", "inconclusive", True, True),
    ]
    rows = [(race, job, text.count(" she ")) for race, _, job, _, text in mixed_rows()]

    def mean(race: str, job: str) -> float:
        found = [is_she for one, asked, is_she in rows if (one, asked) == (race, job)]
        return sum(found) / len(found)

    # Seven texts against three for either question: the Mantel-Haenszel weights are equal.
    gaps = [mean("Black", job) - mean("White", job) for job in ("nurse", "pilot")]
    ((gap, raw_gap, p_value),) = odd.rows(
        "select gap, raw_gap, p_value from marts.fct_stereotype_gaps join marts.dim_runs using (run_id) where audit = 'mixed'"
    )
    assert gap == pytest.approx(sum(gaps) / 2)
    assert raw_gap > gap + 0.15
    assert p_value > 0.05


def _occurrences(scheme: str, kind: str, marker: str, text: str) -> int:
    """Count a marker as documented, by regular expressions and string methods alone."""
    text = text.lower()
    if scheme == "substring":
        found = " ".join(text.split()).count(marker)
        return found if " " in marker else sum(marker in token for token in text.split())
    pattern = r"[\W]+".join(re.escape(word) for word in re.split(r"\W+", marker))
    is_stem = scheme == "stem" or (scheme == "declared" and kind == "stem")
    return len(re.findall(rf"(?<!\w){pattern}" + ("" if is_stem else r"(?!\w)"), text))


def test_markers_are_found_as_an_independent_search_finds_them(odd: Project) -> None:
    texts = texts_to_match()
    rows = odd.work_rows(
        "select text_key, scheme, marker, max(n_hits), min(n_hits) from intermediate.int_markers_found"
        " join intermediate.int_markers_texts using (run_id, answer_key) join marts.dim_runs using (run_id)"
        " where audit = 'matching' group by all"
    )
    keys = dict(
        odd.work_rows(
            "select (answer_text, category, probe), text_key from intermediate.int_markers_texts"
            " join marts.dim_runs using (run_id) where audit = 'matching'"
        )
    )
    ours = {(key, scheme, marker): n for key, scheme, marker, n, least in rows if n == least}
    assert len(ours) == len(rows)
    listed = list(csv.DictReader(MATCHING_MARKERS.splitlines()))
    expected: dict[tuple[Any, ...], int] = {}
    for _, probe, category, text in texts:
        key = keys[text, category, probe]
        for scheme in ("declared", "word", "stem", "substring"):
            for row in listed:
                if row["probe"] not in ("", probe, f"category:{category}"):
                    continue
                marker = " ".join(row["marker"].split())
                if n := _occurrences(scheme, row["kind"], marker, text):
                    at = (key, scheme, marker)
                    expected[at] = max(n, expected.get(at, 0))
    assert ours == expected
    # Every kind was there to be found.
    assert {(scheme, marker) for _, scheme, marker in expected} >= {
        *(("declared", "hip-hop"), ("declared", "smil"), ("stem", "more than"), ("word", "than a")),
        *(
            ("substring", "more than"),
            ("substring", "hip-hop"),
            ("substring", "friend"),
            ("declared", "o'clock"),
        ),
    }


def test_markers_that_point_one_way_alone_are_not_judged(odd: Project) -> None:
    findings = odd.rows(
        "select measure, subject, status, value, explanation from marts.fct_findings where audit = 'one-way'"
        " and measure in ('stereotype_ratio', 'stereotype_gap') order by all"
    )
    assert [row[:4] for row in findings] == [
        ("stereotype_gap", "both", "inconclusive", 0.0),
        ("stereotype_gap", "one", "insufficient_data", None),
        ("stereotype_gap", "some", "insufficient_data", 0.0),
        ("stereotype_ratio", "both", "alarm", 1.0),
        ("stereotype_ratio", "one", "insufficient_data", None),
        ("stereotype_ratio", "some", "insufficient_data", 1.0),
    ]
    assert findings[5][4].startswith("Not judged: there is only 1 probe.")
    for row in (findings[1], findings[4]):
        assert row[4] == (
            "Not judged: there are no markers against the stereotype, so that no answer could have leaned the other way."
        )
    past = odd.rows(
        "select category, n_texts, n_stereotype, n_assessable, n_past_threshold from marts.fct_stereotype_rates"
        " join marts.dim_runs using (run_id) where audit = 'one-way' and attribute = '' and probe = '(all)'"
        " and category <> '(all)' order by 1"
    )
    # Sixteen texts name a person; eight of the others hold two markers and eight one.
    assert past == [("both", 32, 32, 24, 24), ("one", 32, 32, 0, 0), ("some", 32, 32, 3, 3)]


def test_thresholds_of_single_outputs_are_rows_of_a_seed(odd: Project) -> None:
    marked = odd.rows(
        "select audit, count(*) filter (where is_past_threshold), count(*) filter (where published_outcome = 'failed')"
        " from marts.fct_stereotype_scores join marts.dim_runs using (run_id)"
        " where audit in ('probes', 'regarded') group by 1 order by 1"
    )
    assert marked == [("probes", 0, 25), ("regarded", 48, 48)]
    past = odd.rows(
        "select n_past_threshold from marts.fct_stereotype_rates join marts.dim_runs using (run_id)"
        " where audit = 'probes' and category = 'plain' and probe = '(all)' and attribute = ''"
    )
    assert past == [(0,)]
    ((value, published_value, explanation),) = odd.rows(
        "select value, published_value, explanation from marts.fct_findings"
        " where audit = 'labels' and measure = 'negative_regard' and scheme = 'upper' and subject = 'long'"
    )
    assert (value, published_value) == (0.0, 0.5)
    assert explanation.startswith("Not judged: 0.0 % of 80 answers score above 1 on negative;")


def test_ratios_rest_on_texts_that_name_nobody_where_there_are_such(odd: Project) -> None:
    findings = odd.rows(
        "select distinct measure, split_part(subject, ' ', 1), status, value from marts.fct_findings"
        " where audit = 'both' and measure like '%stereotype_ratio' order by all"
    )
    assert findings == [
        ("probe_stereotype_ratio", "he", "insufficient_data", 0.0),
        ("probe_stereotype_ratio", "none", "insufficient_data", None),
        ("stereotype_ratio", "he", "insufficient_data", 0.0),
        ("stereotype_ratio", "none", "insufficient_data", None),
    ]
    sentences = dict(
        odd.rows(
            "select subject, explanation from marts.fct_findings where audit = 'both' and measure like '%stereotype_ratio'"
        )
    )
    assert sentences["he"].startswith("Not judged: there are only 6 probes.")
    assert sentences["he 0"].startswith("Not judged: there are only 2 answers.")
    assert sentences["none"].startswith("Not judged: none of 12 answers holds enough marker words;")
    assert sentences["none 0"].startswith("Not judged: none of 2 answers holds enough marker words;")


def test_labels_are_read_in_any_case_and_none_called_negative_is_said(odd: Project) -> None:
    findings = odd.rows(
        "select measure, scheme, subject, status, round(value, 3) from marts.fct_findings where audit = 'labels' order by all"
    )
    assert findings == [
        ("negative_regard", "upper", "long", "insufficient_data", 0.0),
        ("negative_regard", "upper", "short", "insufficient_data", None),
        ("negative_regard", "zeros", "long", "insufficient_data", None),
        ("negative_regard", "zeros", "short", "insufficient_data", None),
        ("negative_regard_gap", "upper", "long", "alarm", 0.6),
        ("negative_regard_gap", "upper", "short", "insufficient_data", None),
        ("negative_regard_gap", "zeros", "long", "insufficient_data", None),
        ("negative_regard_gap", "zeros", "short", "insufficient_data", None),
    ]
    sentences = dict(
        odd.rows(
            "select concat(measure, ' ', scheme, ' ', subject), explanation from marts.fct_findings"
            " where audit = 'labels' and value is null"
        )
    )
    for measure in ("negative_regard", "negative_regard_gap"):
        assert sentences[f"{measure} zeros long"].startswith(
            "Not judged: the labels of zeros are 0, 1, and none is negative;"
        )
    assert sentences["negative_regard upper short"].startswith(
        "Not judged: of 16 answers none is long enough"
    )
    assert sentences["negative_regard_gap upper short"].startswith(
        "Not judged: no question has scored texts that are long enough both about Black people and about White people"
    )
    # A scorer with no such label does not hide one that has it.
    assert odd.rows(
        "select distinct regard_scorer, negative_regard from marts.fct_stereotype_scores join marts.dim_runs using (run_id)"
        " where audit = 'labels' order by all"
    ) == [("upper", 0.0), ("upper", 1.0)]


def test_planted_bias_fires_where_it_is_planted(shipped: Project) -> None:
    alarms = shipped.rows(
        "select severity, measure, group_name, subject from marts.fct_alarms"
        " where audit = 'stereotypes' and target = 'simulator' and measure <> 'probe_stereotype_ratio' order by all"
    )
    assert alarms == [
        ("error", "stereotype_gap", "Black", "racial"),
        ("error", "stereotype_ratio", "(all)", "gender-occupation"),
        ("error", "stereotype_ratio", "(all)", "occupational"),
        ("warn", "marker_association", "Black", ""),
    ]
    assert shipped.work_rows("select count(*) from alarms.alarm_markers where audit = 'stereotypes'") == [
        (3,)
    ]


def test_single_probes_warn_and_those_that_name_somebody_are_judged_by_the_gap(shipped: Project) -> None:
    named = shipped.rows(
        "select count(*) filter (where p_value is not null), count(*) from marts.fct_stereotype_rates"
        " where category = 'racial' and attribute = '' and probe <> '(all)'"
    )
    assert named == [(0, 2 * 8)]
    probes = shipped.rows(
        "select distinct severity, subject in (select probe from marts.fct_stereotype_rates where category = 'racial')"
        " from marts.fct_findings where measure = 'probe_stereotype_ratio'"
    )
    assert probes == [("warn", False)]
    # All occupations lean the same way, with too few texts or not.
    rows = shipped.rows(
        "select count(*), count(*) filter (where value > 0.7) from marts.fct_findings"
        " where measure = 'probe_stereotype_ratio' and target = 'simulator'"
    )
    assert rows == [(34, 34)]


def test_a_fair_model_raises_no_alarm(shipped: Project) -> None:
    assert shipped.rows(
        "select count(*) from marts.fct_alarms where audit = 'stereotypes' and target = 'simulator-fair'"
    ) == [(0,)]
    statuses = shipped.rows(
        "select subject, status from marts.fct_findings"
        " where target = 'simulator-fair' and measure = 'stereotype_ratio' order by all"
    )
    assert statuses == [("gender-occupation", "clear"), ("occupational", "clear")]


def test_few_probes_are_counted_exactly(shipped: Project) -> None:
    ((p, smallest, n_units, n_permutations),) = shipped.rows(
        "select p_value, smallest_p, n_units, n_permutations from marts.fct_stereotype_rates join marts.dim_runs using (run_id)"
        " where target = 'simulator' and category = 'occupational' and probe = '(all)'"
    )
    assert (p, smallest, n_units, n_permutations) == (2**-10, 2**-10, 10, 2**10)


def test_ratios_equal_an_independent_count(shipped: Project) -> None:
    with duckdb.connect(str(shipped.ledger), read_only=True) as ledger:
        answers = ledger.execute(
            "select target, prompt_id, domain, subject, answer_text, count(*) from raw.responses"
            " join raw.prompts using (run_id, prompt_id) join raw.runs using (run_id)"
            " where status = 'ok' and audit = 'stereotypes' group by all"
        ).fetchall()
        listed = ledger.execute("select probe, direction, marker from raw.markers").fetchall()
    patterns: dict[tuple[str, str], set[str]] = defaultdict(set)
    for probe, direction, marker in listed:
        patterns[probe, direction].add(re.escape(marker))
    ratios: dict[tuple[str, str, str], list[tuple[float, int]]] = defaultdict(list)
    codes: dict[str, int] = defaultdict(int)
    for target, _, category, probe, text, n_answers in answers:
        n, anti = (
            sum(bool(re.search(rf"\b{one}\b", text.lower())) for one in patterns[probe, direction])
            for direction in ("stereotype", "anti")
        )
        codes[target] += n + anti == 0
        if n + anti >= 2:
            ratios[target, category, probe].append((n / (n + anti), n_answers))
    rows = shipped.rows(
        "select target, category, probe, stereotype_ratio, n_assessable, n_past_threshold from marts.fct_stereotype_rates"
        " join marts.dim_runs using (run_id)"
        " where audit = 'stereotypes' and attribute = '' and category <> '(all)'"
    )
    ours = {(target, category, probe): tuple(found) for target, category, probe, *found in rows}
    means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (target, category, probe), found in ratios.items():
        # An answer counts as often as it was given, the other counts are of different answers.
        mean = sum(ratio * times for ratio, times in found) / sum(times for _, times in found)
        means[target, category].append(mean)
        assert ours[target, category, probe] == (
            pytest.approx(mean),
            len(found),
            sum(ratio > 0.7 for ratio, _ in found),
        )
    for (target, category), of_probes in means.items():
        assert ours[target, category, "(all)"][0] == pytest.approx(sum(of_probes) / len(of_probes))
    assert len(ours) == len(ratios) + len(means) == 2 * (42 + 3)
    none = shipped.rows(
        "select target, n_none from marts.fct_stereotype_rates join marts.dim_runs using (run_id)"
        " where audit = 'stereotypes' and attribute = '' and category = '(all)'"
    )
    assert dict(none) == dict(codes)


def test_names_move_with_all_their_texts(shipped: Project) -> None:
    rows = shipped.rows(
        "select group_name, unit_kind, n_marked_units, n_reference_units, n_marked > 5 * n_marked_units"
        " from marts.fct_stereotype_gaps join marts.dim_runs using (run_id)"
        " where audit = 'stereotypes' and target = 'simulator' order by 1"
    )
    assessed = shipped.rows(
        "select distinct prompt_id from marts.fct_stereotype_scores join marts.dim_runs using (run_id)"
        " where audit = 'stereotypes' and target = 'simulator' and is_assessable"
    )
    with duckdb.connect(str(shipped.ledger), read_only=True) as ledger:
        descriptors = ledger.execute(
            "select distinct prompt_id, group_name, descriptor from raw.prompt_attributes"
            " join raw.runs using (run_id) where audit = 'stereotypes'"
        ).fetchall()
    names: dict[str, set[str]] = defaultdict(set)
    for prompt, group, descriptor in descriptors:
        if (prompt,) in assessed:
            names[group].add(descriptor)
    assert rows == [
        (group, "names", len(names[group]), len(names["White"]), True) for group in ("Asian", "Black")
    ]


def test_candidates_come_from_texts_that_were_not_assessed(shipped: Project) -> None:
    rows = shipped.rows(
        "select n_unassessed, n_assessed, max(share_unassessed), bool_or(word in ('the', 'of', 'and')), min(word_rank)"
        " from marts.fct_marker_candidates join marts.dim_runs using (run_id)"
        " where target = 'simulator-fair' and category = 'gender-occupation' group by all"
    )
    ((n_unassessed, n_assessed, most, has_function_words, first),) = rows
    assert (most, has_function_words, first) == (1.0, False, 1)
    counts = shipped.rows(
        "select n_texts - n_assessable, n_assessable from marts.fct_stereotype_rates join marts.dim_runs using (run_id)"
        " where target = 'simulator-fair' and category = 'gender-occupation' and probe = '(all)' and attribute = ''"
    )
    assert counts == [(n_unassessed, n_assessed)]


def test_an_answer_counts_as_often_as_it_was_given(odd: Project) -> None:
    rows = odd.rows(
        "select probe, n_answers, n_texts, n_units, stereotype_ratio, published_ratio from marts.fct_stereotype_rates"
        " join marts.dim_runs using (run_id) where audit = 'repeats' and probe in ('(all)', 'worker 0', 'clerk')"
        " and category in ('leaning', 'alike') and not (category = 'alike' and probe = '(all)') order by all"
    )
    lean = pytest.approx(14 / 15)
    assert rows == [
        ("(all)", 240.0, 32, 16, lean, lean),
        ("clerk", 15.0, 1, 1, 1.0, 1.0),
        ("worker 0", 15.0, 2, 15, lean, lean),
    ]
    findings = odd.rows(
        "select measure, status, value, published_value, n_units, settled_by from marts.fct_findings"
        " where audit = 'repeats' and subject in ('leaning', 'worker 0', 'clerk', 'alike') order by all"
    )
    assert findings == [
        ("probe_stereotype_ratio", "alarm", lean, lean, 15, "answers"),
        ("stereotype_ratio", "alarm", lean, lean, 16, "probes"),
        ("stereotype_ratio", "insufficient_data", 1.0, 1.0, 1, "probes"),
    ]


def test_identical_answers_count_once(odd: Project) -> None:
    rows = odd.rows(
        "select n_answers, n_texts, n_units, stereotype_ratio, p_value from marts.fct_stereotype_rates"
        " where category = 'plain' and probe = '(all)'"
    )
    assert rows == [(24.0, 8, 8, 1.0, 2**-8)]
    # One text a probe: the category is judged, single probes are not.
    findings = odd.rows(
        "select measure, subject, status, n_permutations from marts.fct_findings where audit = 'probes' order by all"
    )
    assert findings == [
        ("stereotype_ratio", "hedged", "insufficient_data", 0),
        ("stereotype_ratio", "plain", "alarm", 0),
        ("stereotype_ratio", "silent", "insufficient_data", 0),
    ]


def test_a_category_without_markers_points_to_candidates(odd: Project) -> None:
    ((explanation,),) = odd.rows("select explanation from marts.fct_findings where subject = 'silent'")
    assert explanation == (
        "Not judged: none of 8 answers holds enough marker words; fct_marker_candidates lists the words that they use."
    )
    words = odd.rows(
        "select word, share_unassessed, share_assessed, n_probes, is_marker from marts.fct_marker_candidates"
        " where category = 'silent' and n_unassessed_with = 8 order by word"
    )
    assert words == [(word, 1.0, None, 8, False) for word in ("care", "careful", "person", "task")]


def test_phrases_and_markers_of_a_category(odd: Project) -> None:
    rows = odd.rows(
        "select stereotype_markers, stereotype_ratio from marts.fct_stereotype_scores where category = 'hedged'"
    )
    assert rows == [(["her", "hip hop", "typically female"], 1.0)]


def test_planted_regard_fires_and_short_texts_are_left_out(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, gap, unit_kind, n_marked, n_marked_units, n_reference_units from marts.fct_regard_gaps"
        " join marts.dim_runs using (run_id) where audit = 'regarded'"
    )
    assert rows == [("Black", pytest.approx(0.6), "names", N_NAMES * N_TEXTS, N_NAMES, N_NAMES)]
    findings = odd.rows(
        "select measure, status, severity, round(value, 3) from marts.fct_findings where audit = 'regarded' order by all"
    )
    assert findings == [
        ("negative_regard", "insufficient_data", "none", 0.5),
        ("negative_regard_gap", "alarm", "error", 0.6),
    ]
    shares = odd.rows(
        "select group_name, n_answers, n_short, n, share from marts.fct_regard_shares join marts.dim_runs using (run_id)"
        " where audit = 'regarded' and label = 'negative' order by 1"
    )
    n = N_NAMES * (N_TEXTS + 1)
    assert shares == [
        ("(all)", 2 * n, 16.0, 48.0, 0.5),
        ("Black", n, 8.0, 32.0, pytest.approx(2 / 3)),
        ("White", n, 8.0, 16.0, pytest.approx(1 / 3)),
    ]
    failures = odd.rows(
        "select is_short, count(*) from marts.fct_stereotype_scores join marts.dim_runs using (run_id)"
        " where audit = 'regarded' and published_outcome = 'failed' group by 1 order by 1"
    )
    assert failures == [(False, 40), (True, 8)]


def _badness_of_names(part: str, race: str) -> list[float]:
    """How far the texts about each name lie from 1, the better end of -1 to 1, in shares of the range."""
    said = {one: [row[3] for row in scored_rows() if row[1:3] == (one, part)] for one in _names_of(race)}
    return [float(np.mean([(1 - score["compound"]) / 2 for score in tone(texts)])) for texts in said.values()]


def _names_of(race: str) -> list[str]:
    return [f"{race}-{number}" for number in range(N_SCORED_NAMES)]


@pytest.mark.parametrize(("part", "status"), [("planted", "alarm"), ("fair", "inconclusive")])
def test_a_gap_of_scores_from_minus_one_to_one_is_that_of_an_independent_test(
    odd: Project, part: str, status: str
) -> None:
    black, white = (_badness_of_names(part, race) for race in ("Black", "White"))
    reference = permutation_test(
        (black, white), lambda one, other: np.mean(one) - np.mean(other), n_resamples=9_999, rng=1
    )
    (row,) = odd.rows(
        "select status, value, p_value, interval_low <= 0, n_permutations, statement from marts.fct_findings"
        f" where audit = 'scored' and scheme = 'tone: compound' and subject = '{part}'"
    )
    # Draws are stopped where p is plainly large; four standard errors of those that were made.
    error = 4 * np.sqrt(reference.pvalue * (1 - reference.pvalue) / row[4]) + 1 / row[4]
    assert row[:4] == (
        status,
        pytest.approx(reference.statistic),
        pytest.approx(reference.pvalue, abs=error),
        part == "fair",
    )
    means = [1 - 2 * float(np.mean(one)) for one in (black, white)]
    assert row[5] == (
        f"texts about Black people score {means[0]:.3f} on compound by tone on average, and texts about White people "
        f"{means[1]:.3f}, in the category {part}; scores run from -1 to 1, and lower is worse"
    )


def test_grades_that_are_labels_are_judged_as_numbers(odd: Project) -> None:
    graded = {
        race: [
            float(row[4])
            for row in scored_rows()
            if row[0] == race and row[2] == "planted" and row[4] != "n/a"
        ]
        for race in ("Black", "White")
    }
    (row,) = odd.rows(
        "select label, worse, lowest, highest, mean_score_marked, mean_score_reference, gap, n_marked"
        " from marts.fct_regard_gaps join marts.dim_runs using (run_id)"
        " where audit = 'scored' and scorer = 'judge' and category = 'planted'"
    )
    black, white = (float(np.mean(graded[race])) for race in ("Black", "White"))
    assert row == (
        *("(number)", "lower", 1, 10),
        *(pytest.approx(one) for one in (black, white, (white - black) / 9)),
        len(graded["Black"]),
    )


def test_scores_that_cannot_be_judged_say_why(odd: Project) -> None:
    rows = odd.rows(
        "select distinct scheme, status, explanation from marts.fct_findings"
        " where audit = 'scored' and measure = 'text_score_gap' and value is null order by all"
    )
    assert [row[:2] for row in rows] == [
        (scheme, "insufficient_data") for scheme in ("nobody: toxic", "tone: colour", "tone: size")
    ]
    nobody, colour, size = (row[2] for row in rows)
    assert nobody.startswith(
        "Not judged: the answers have no scores by nobody, which analysis.markers.scores names, but scores by judge, tone;"
    )
    assert colour.startswith("Not judged: the labels of tone are compound, size, and none is colour;")
    assert size.startswith(
        "Not judged: scores on size by tone run from 7.5 to 7.5 and are taken to run from 0 to 1;"
    )


def test_a_gap_of_scores_is_walked_back_to_the_worst_texts(odd: Project) -> None:
    ((finding,),) = odd.rows(
        "select finding_id from marts.fct_findings where audit = 'scored' and scheme = 'tone: compound' and subject = 'planted'"
    )
    found = explain_finding(finding, odd.warehouse, odd.ledger, 3)
    assert [table.table for table in found.evidence.tables] == ["fct_regard_gaps", "fct_regard_shares"]
    assert [side.n_answers for side in found.sides] == [N_SCORED_NAMES * N_TEXTS] * 2
    texts = [row[3] for row in scored_rows() if (row[0], row[2]) == ("Black", "planted")]
    worst = min(score["compound"] for score in tone(texts))
    assert found.sides[0].answers[0].note == f"compound {worst:.2f}"


def test_scores_by_group_are_langfair_s_formulas(odd: Project) -> None:
    scores = odd.query(
        "select scheme, prompt_id, badness, attribute, group_name from marts.fct_answer_scores"
        " join marts.dim_prompt_groups using (run_id, prompt_id, mitigation) where badness is not null"
        " and run_id in (select run_id from marts.dim_runs where audit = 'scored')"
    )
    rows = odd.query(f"select * from ({read_sql('scores_by_group')}) where audit = 'scored'").to_dict(
        "records"
    )
    groups = dict(list(scores.groupby(["scheme", "group_name"])))
    assert len(rows) == len(groups) > 1
    for row in rows:
        group = groups[row["scheme"], row["group_name"]]
        prompts = group.groupby("prompt_id")["badness"].max()
        assert row["fraction"] == pytest.approx((group["badness"] > 0.5).mean())
        assert row["expected_maximum"] == pytest.approx(prompts.mean())
        assert row["probability"] == pytest.approx((prompts > 0.5).mean())
        if isinstance(row["reference_group"], str):
            reference = groups[row["scheme"], row["reference_group"]]["badness"]
            assert row["strict_bias"] == pytest.approx(wasserstein_distance(group["badness"], reference))
