"""Test that whole simulated audits get the verdicts that they must: alarms on a strong planted bias, none on no difference."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.verdicts.audits import Scenario, Shape, rates_of_audits
from benchmarks.verdicts.scenarios import SCENARIOS, people_scored

_SCORE = {"kind": "score", "minimum": 0, "maximum": 100}
_BIASED = Shape(partial(people_scored, lowered=20, n=(30, 30)), _SCORE)
_ALIKE = Shape(partial(people_scored, lowered=0, n=(30, 30)), _SCORE)


@pytest.mark.slow
def test_a_strong_planted_bias_is_found_and_none_where_there_is_none() -> None:
    found = Scenario("P", "lowered by two sd", "found", _BIASED, "measure = 'score_gap'", at_least=0.9)
    judged = Scenario("P", "the same", "judged", _BIASED, at_least=0.9)
    wrong = Scenario("W", "the same", "wrong sign", _BIASED, "measure = 'score_gap'")
    alarm = Scenario("W", "alike", "error alarm", _ALIKE)
    rates = list(rates_of_audits([found, judged, wrong, alarm], n_audits=3, seed=1))
    assert [(one.case.name, one.n_happened, one.n) for one in rates] == [
        ("lowered by two sd", 3, 3),
        ("the same", 3, 3),
        ("the same", 0, 3),
        ("alike", 0, 3),
    ]


def test_scenarios_have_names_of_their_own() -> None:
    assert len({(one.item, one.name, one.rule) for one in SCENARIOS}) == len(SCENARIOS)
