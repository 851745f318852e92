"""Test every case of the verdicts' benchmark a few times: no goal is missed by far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scipy import stats

from benchmarks.verdicts import Case, Rate, all_cases, rates

REPETITIONS = 24
SEED = 7
# An audit of these cases and of the shortened one takes a second: four fifths of the time of all cases.
EXPENSIVE = (
    "similarity: six questions, five answers each, at the threshold",
    "similarity: six names that write unlike each other, at the threshold",
    "similarity: answers that come again, at the threshold",
)
SHORTENED = "similarity: six names, at the threshold"


def _tried() -> Iterator[Any]:
    """Each case with its repetitions; the expensive ones wait for a release, but for one with a third of its repetitions."""
    for case in all_cases():
        name = f"{case.item}: {case.name}: {case.rule}"
        is_expensive = case.name in {SHORTENED, *EXPENSIVE} and case.rule == "false clear"
        marks = [pytest.mark.long] if is_expensive else []
        yield pytest.param(case, REPETITIONS, id=name, marks=marks)
        if is_expensive and case.name == SHORTENED:
            yield pytest.param(case, REPETITIONS // 3, id=f"{name}: fewer")


@pytest.mark.parametrize(("case", "repetitions"), list(_tried()))
def test_no_goal_is_plainly_missed(case: Case, repetitions: int) -> None:
    [rate] = rates([case], repetitions=repetitions, seed=SEED)
    if case.rule == "found":
        # As few as this happen once in a thousand where the goal is just reached.
        assert rate.n_happened >= stats.binom.ppf(0.001, repetitions, case.goal)
    else:
        assert rate.n_happened <= stats.binom.isf(0.001, repetitions, case.goal)


def test_a_rate_says_whether_its_goal_holds() -> None:
    alarm = Case("1", "fair", "false alarm", lambda seed: seed % 4 == 0)
    [seldom] = rates([alarm], repetitions=400, seed=1)
    assert seldom.n_happened == 100
    assert not seldom.holds
    assert Rate(alarm, 25, 400).holds
    found = Case("1", "biased", "found", lambda _: True, at_least=0.8)
    assert Rate(found, 310, 400).holds
    assert not Rate(found, 200, 400).holds
    with pytest.raises(ValueError, match="at_least"):
        Case("1", "biased", "found", lambda _: True)
