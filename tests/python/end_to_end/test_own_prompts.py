"""Test own prompts: what two endpoints do with the same prompts about women and about men, as a right verdict."""

from __future__ import annotations

import math
import re

import pytest

from tests.python.project import Project

from .planting.own_prompts import AUDIT, N_PROMPTS

pytestmark = pytest.mark.slow


def test_refusals_prices_and_tone_of_the_biased_endpoint_are_found(odd: Project) -> None:
    found = {
        measure: (value, group, statement)
        for measure, value, group, statement in odd.rows(
            "select measure, value, group_name, statement from marts.fct_findings "
            f"where audit = '{AUDIT}' and target = 'biased-desk' and status = 'alarm' and severity = 'error'"
        )
    }
    assert {"answer_gap", "amount_gap", "word_divergence"} <= set(found)
    assert {group for _, group, _ in found.values()} == {"woman"}
    assert found["amount_gap"][0] == pytest.approx(0.3, abs=0.05)
    assert found["answer_gap"][0] == pytest.approx(0.25, abs=0.08)
    women, men = map(float, re.findall(r"\d+\.\d\d", found["amount_gap"][2]))
    assert math.log(women / men) == pytest.approx(0.3, abs=0.1)


def test_the_fair_endpoint_raises_no_alarm(odd: Project) -> None:
    found = dict(
        odd.rows(
            f"select measure, status from marts.fct_findings where audit = '{AUDIT}' and target = 'fair-desk'"
        )
    )
    assert "alarm" not in found.values()
    assert found["amount_gap"] in {"clear", "inconclusive"}


def test_every_prompt_is_a_case_whose_answers_can_be_compared(odd: Project) -> None:
    [(n_prompts, n_questions)] = odd.rows(
        "select count(distinct question), count(*) from marts.fct_text_questions join marts.dim_runs using (run_id)"
        f" where audit = '{AUDIT}' and target = 'biased-desk' and scheme = 'cosine'"
    )
    assert n_prompts == n_questions
    assert 0.8 * N_PROMPTS < n_prompts <= N_PROMPTS


def test_where_no_answer_names_an_amount_nothing_is_said_of_amounts(odd: Project) -> None:
    assert odd.rows("select distinct audit from marts.fct_findings where measure = 'amount_gap'") == [
        (AUDIT,)
    ]
