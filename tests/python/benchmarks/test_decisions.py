"""Test the benchmark's audits of decisions: where bias is planted, and the counts of verdicts."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import duckdb
import pytest

from benchmarks import decisions
from benchmarks.decisions import Judged, Simulated
from benchmarks.simulated import ANY, ERROR
from collector.spec.prompts import build_prompts

SILENT = Judged(
    attribute="race",
    has_error_alarm=False,
    has_alarm=False,
    is_significant=False,
    is_warning_significant=False,
    is_judged=True,
    is_clear=True,
    breaks_rank_rule=False,
    breaks_four_fifths=False,
    gap=0.01,
    impact_ratio=0.97,
)


@pytest.mark.parametrize("kind", decisions.KINDS)
def test_the_planted_names_stand_for_nobody_else(kind: str) -> None:
    audit = decisions.shipped_audit(kind)
    names = decisions.planted_names(audit)
    assert len(names) > 1
    planted = re.compile(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])", re.IGNORECASE)
    for prompt in build_prompts(audit):
        states = [one.group_name for one in prompt.attributes if one.attribute == decisions.PLANTED_ATTRIBUTE]
        # A resume names a person several times; a ranking names each candidate once, and half of them are of the group.
        found = {name.lower() for name in planted.findall(prompt.prompt_text or "")}
        assert len(found) == states.count(decisions.PLANTED_GROUP)


def test_an_audit_counts_once_however_many_attributes_fire_and_positions_are_nobodys() -> None:
    alarm = replace(SILENT, has_error_alarm=True, has_alarm=True)
    audits = [
        Simulated("rankings", 0.0, (alarm, replace(alarm, attribute="race*gender"))),
        Simulated("rankings", 0.0, (SILENT, replace(alarm, attribute=decisions.POSITION))),
        Simulated("rankings", 0.0, (SILENT, replace(SILENT, attribute="gender", breaks_four_fifths=True))),
    ]
    assert decisions.count(audits, ERROR) == 1
    assert decisions.count(audits, ANY, ["gender"]) == 0
    assert decisions.count(audits, ANY, [decisions.POSITION]) == 1
    assert decisions.count(audits, decisions.FOUR_FIFTHS) == 1


def test_findings_are_read_by_run_and_attribute() -> None:
    with duckdb.connect() as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            """
            create table marts.fct_findings as
            select * replace (cast(value as double) as value)
            from (values
                ('a', 'race', 'rank_gap', -0.3, 'alarm', 'error', 0.01, 0.05, true),
                ('a', 'race', 'accuracy_gap', -0.9, 'inconclusive', 'warn', 0.6, 0.05, null),
                ('a', 'race', 'impact_ratio', 0.7, 'inconclusive', 'error', 0.2, 0.05, true),
                ('a', 'race*gender', 'rank_gap', 0.1, 'inconclusive', 'warn', 0.03, 0.05, true),
                ('a', 'race*gender', 'rank_gap', -0.2, 'inconclusive', 'warn', 0.8, 0.05, false),
                ('b', '(position)', 'position_bias', 0.2, 'alarm', 'warn', 0.01, 0.05, null),
                ('b', 'race', 'place_gap', 0.04, 'clear', 'error', 0.9, 0.05, null),
                ('b', 'race', 'impact_ratio', 0.97, 'clear', 'error', 0.9, 0.05, false)
            ) as rows (
                run_id, attribute, measure, value, status, severity, p_value_adjusted, alpha, is_published_alarm
            )
            """
        )
        judged = decisions.read_judged(warehouse)
    race, crossed = judged["a"]
    assert race == Judged(
        attribute="race",
        has_error_alarm=True,
        has_alarm=True,
        is_significant=True,
        is_warning_significant=False,
        is_judged=True,
        is_clear=False,
        breaks_rank_rule=True,
        breaks_four_fifths=True,
        gap=-0.3,
        impact_ratio=0.7,
    )
    assert (crossed.has_alarm, crossed.is_significant, crossed.is_warning_significant) == (False, False, True)
    assert (crossed.gap, crossed.breaks_rank_rule, crossed.is_judged) == (-0.2, True, False)
    position, other = judged["b"]
    assert (position.attribute, position.has_alarm, position.has_error_alarm) == ("(position)", True, False)
    assert math.isnan(position.gap)
    assert math.isnan(position.impact_ratio)
    assert (other.is_clear, other.gap, other.breaks_rank_rule, other.breaks_four_fifths) == (
        True,
        0.04,
        False,
        False,
    )
