"""Test recommendation lists of simulated models: each planted difference raises its own alarm and no other."""

from __future__ import annotations

from tests.python.project import Project

from .planting.lists import N_SUBJECTS


def _alarms(project: Project, target: str) -> set[tuple[str, str, str]]:
    rows = project.rows(
        "select measure, attribute, group_name from marts.fct_findings"
        f" where audit = 'lists' and target = '{target}' and status = 'alarm' and severity <> 'none'"
    )
    return {(measure, attribute, group) for measure, attribute, group in rows}


def test_a_fair_model_raises_no_alarm(odd: Project) -> None:
    assert _alarms(odd, "fair") == set()
    statuses = dict(
        odd.rows(
            "select status, count(*) from marts.fct_findings where target = 'fair' and measure in ('snsr', 'snsv') group by 1"
        )
    )
    # SNSR of race and gender, SNSV of race; personality is judged as SNSR and SNSV too.
    assert sum(statuses.values()) == 5
    assert "insufficient_data" not in statuses


def test_steering_one_group_fires_for_its_attribute_alone(odd: Project) -> None:
    # A mistyped or French descriptor no longer steers this model, so its lists are not robust either.
    alarms = {alarm for alarm in _alarms(odd, "steered") if alarm[0] != "robustness"}
    assert alarms == {
        ("snsr", "race", "(all)"),
        ("snsv", "race", "(all)"),
        ("relevance_spread", "race", "(all)"),
    }
    explanations = odd.rows(
        "select explanation from marts.fct_findings where target = 'steered' and measure = 'snsr' and attribute = 'race'"
    )
    assert explanations[0][0].startswith("Lists for Black people share ")


def test_refusals_short_lists_and_repeats_are_findings_of_their_own(odd: Project) -> None:
    alarms = {alarm for alarm in _alarms(odd, "defective") if alarm[1] == "race"}
    assert alarms - {(measure, "race", "(all)") for measure in ("snsr", "snsv", "relevance_spread")} == {
        ("answer_gap", "race", "Asian"),
        ("unanswered_spread", "race", "(all)"),
        ("shortfall_spread", "race", "(all)"),
        ("repeat_spread", "race", "(all)"),
    }


def test_nothing_is_dropped_silently(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, n_answers, n_lists + n_refused, n_refused > 0, n_short > 0, n_with_repeats > 0"
        " from marts.fct_list_quality join marts.dim_runs using (run_id)"
        " where target = 'defective' and attribute = 'race' and wording = 'clean' order by 1"
    )
    assert rows == [
        ("Asian", N_SUBJECTS, N_SUBJECTS, True, False, False),
        ("Black", N_SUBJECTS, N_SUBJECTS, False, True, False),
        ("White", N_SUBJECTS, N_SUBJECTS, False, False, True),
    ]
    absent = odd.rows(
        "select n_absent, n_subjects + n_absent, similarity_absent_as_zero < similarity from marts.fct_group_similarity"
        " join marts.dim_runs using (run_id) where target = 'defective' and group_name = 'Asian'"
        " and wording = 'clean' and similarity_name = 'jaccard' and attribute = 'race'"
    )
    assert absent[0][0] > 0
    assert absent[0][1:] == (N_SUBJECTS, True)


def test_a_language_that_changes_the_lists_fails_robustness(odd: Project) -> None:
    assert _alarms(odd, "unsteady") == {("robustness", "(wording)", "fr")}
    rows = dict(
        odd.rows(
            "select group_name, status from marts.fct_findings where target = 'fair' and measure = 'robustness'"
        )
    )
    assert rows.keys() == {"fr", "typo_drop"}
    assert "alarm" not in rows.values()


def test_personality_is_scored_and_no_alarm(odd: Project) -> None:
    rows = dict(
        odd.rows(
            "select target, pafs from marts.fct_personality_fairness join marts.dim_runs using (run_id)"
            " where is_personality and similarity_name = 'jaccard' and wording = 'clean'"
        )
    )
    assert rows["moody"] < rows["fair"] - 0.05
    severities = odd.rows(
        "select distinct severity from marts.fct_findings where audit = 'lists' and measure = 'personality_fairness'"
    )
    assert severities == [("none",)]


def test_entropy_counts_every_neutral_list(odd: Project) -> None:
    rows = odd.rows(
        "select count(*), min(n_lists), max(n_lists), min(excess_entropy) > 0 from marts.fct_recommendation_entropy"
        " join marts.dim_runs using (run_id) where target = 'fair' and pool = 'neutral'"
    )
    assert rows == [(N_SUBJECTS, 5, 5, True)]


def test_two_groups_make_one_test_and_it_is_said(odd: Project) -> None:
    ((n, explanation),) = odd.rows(
        "select count(*), any_value(explanation) from marts.fct_findings"
        " where target = 'fair' and attribute = 'gender' and measure in ('snsr', 'snsv')"
    )
    assert n == 1
    assert "one test" in explanation
    ((ratio, same_p),) = odd.rows(
        "select max(abs(snsv - snsr / 2)), bool_and(snsr_p_value = snsv_p_value) from marts.fct_similarity_spread"
        " join marts.dim_runs using (run_id) where audit = 'lists' and attribute = 'gender' and is_judged"
    )
    assert ratio < 1e-12
    assert same_p


def test_the_noise_floor_stands_next_to_every_spread(odd: Project) -> None:
    rows = odd.rows(
        "select target, attribute, is_above_noise_floor from marts.fct_similarity_spread join marts.dim_runs using (run_id)"
        " where is_judged and similarity_name = 'jaccard' and target = 'steered' and attribute in ('race', 'gender')"
        " order by 2"
    )
    assert [is_above for *_, is_above in rows] == [False, True]
