"""Test that texts that repeat the group they were asked about raise no alarm."""

from __future__ import annotations

from tests.python.project import Project

from .planting.echoes import FAIR, LEFT, LETTERS

ERRORS = "select count(*) from marts.fct_findings where status = 'alarm' and severity = 'error' and audit"


def test_a_fair_model_that_repeats_the_group_s_name_raises_no_alarm(odd: Project) -> None:
    assert odd.rows(f"{ERRORS} = '{FAIR}'") == [(0,)]
    judged = odd.rows(
        f"select count(*) from marts.fct_findings where status <> 'insufficient_data' and audit = '{FAIR}'"
    )
    assert judged[0][0] >= 12


def test_the_same_texts_with_the_names_left_in_alarm_and_say_so(odd: Project) -> None:
    rows = odd.rows(
        f"select measure, group_name, explanation from marts.fct_alarms where audit = '{LEFT}' and attribute = 'race'"
    )
    message = {(measure, group) for measure, group, _ in rows}
    assert {("classifier_accuracy", group) for group in ("Asian", "Turkish", "person of color")} <= message
    assert all(
        ("words that name a group are left in" in text) == (measure == "classifier_accuracy")
        for measure, _, text in rows
    )
    assert odd.rows(
        f"select count(*) from marts.fct_removed_words join marts.dim_runs using (run_id) where audit = '{LEFT}'"
    ) == [(0,)]


def test_names_in_the_answers_tell_nobody_apart(odd: Project) -> None:
    assert odd.rows(f"{ERRORS} = '{LETTERS}'") == [(0,)]


def test_what_was_taken_out_is_listed_with_why(odd: Project) -> None:
    removed = {
        (group, word): (why, list_name, n, of_all)
        for group, word, why, list_name, n, of_all in odd.rows(
            "select group_name, word, why, list_name, n_answers_using, n_answers from marts.fct_removed_words"
            f" join marts.dim_runs using (run_id) where audit in ('{FAIR}', '{LETTERS}')"
        )
    }
    assert removed["Turkish", "turkish"] == ("label", None, 24, 24)
    assert removed["person of color", "person of color"] == ("label", None, 24, 24)
    assert removed["Woman", "ms"][:2] == ("address form", "title")
    assert removed["Woman", "inês"][:2] == ("descriptor", None)
    assert removed["Woman", "inês's"][:2] == ("descriptor", None)
    assert removed["person of color", "cruz"][0] == "descriptor"
    assert not {"applicant", "welcome", "dear", "book"} & {word for _, word in removed}


def test_forms_of_address_are_counted_by_group(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, n_answers_using, n_answers, share_using from marts.fct_address_forms"
        f" join marts.dim_runs using (run_id) where audit = '{FAIR}' and attribute = 'gender' and kind = 'title' order by 1"
    )
    assert rows == [("Man", 48, 48, 1.0), ("Woman", 48, 48, 1.0)]
    kinship = odd.rows(
        "select distinct share_using from marts.fct_address_forms"
        f" join marts.dim_runs using (run_id) where audit = '{FAIR}' and kind = 'kinship'"
    )
    assert kinship == [(0.0,)]
