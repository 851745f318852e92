"""Test the benchmark's audits of recommended items: where bias is planted, and the counts of verdicts."""

from __future__ import annotations

import re
from dataclasses import replace

import duckdb
import pytest

from benchmarks import prices
from benchmarks.prices import Judged, Simulated
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
    effect=0.01,
)


@pytest.mark.parametrize("kind", prices.KINDS)
def test_the_planted_words_stand_for_one_group_alone(kind: str) -> None:
    words, attribute = prices.planted_words(kind), prices.OF_KIND[kind].attribute
    planted = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])")
    groups = set()
    for prompt in build_prompts(prices.core_audit(kind)):
        groups_of = {one.attribute: one.group_name for one in prompt.attributes}
        if kind == prices.COUPLES:
            is_same = groups_of["first_relationship"] == groups_of["second_relationship"]
            assert bool(planted.search(prompt.prompt_text or "")) == is_same
        elif planted.search(prompt.prompt_text or ""):
            groups.add(groups_of[attribute])
        else:
            assert groups_of.get(attribute) not in (prices.PLANTED_GROUP, prices.PLANTED_PLACE)
    expected = {prices.NAMES: {prices.PLANTED_GROUP}, prices.PLACES: {prices.PLANTED_PLACE}}
    assert groups == expected.get(kind, set())


def test_an_audit_counts_once_however_many_attributes_fire() -> None:
    alarm = replace(SILENT, has_error_alarm=True, has_alarm=True)
    audits = [
        Simulated(prices.NAMES, 0.0, (alarm, replace(alarm, attribute="gender"))),
        Simulated(prices.NAMES, 0.0, (SILENT, replace(SILENT, attribute="gender", has_alarm=True))),
    ]
    assert prices.count(audits, ERROR) == 1
    assert prices.count(audits, ANY) == 2
    assert prices.count(audits, ERROR, ["location"]) == 0


def test_the_effect_is_the_largest_gap_or_the_spread() -> None:
    with duckdb.connect() as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            """
            create table marts.fct_findings as
            select * replace (cast(value as double) as value)
            from (values
                ('a', 'race', 'price_gap', -0.3, 'alarm', 'error', 0.01, 0.05),
                ('a', 'race', 'price_gap', 0.1, 'clear', 'error', 0.9, 0.05),
                ('a', 'race', 'price_share', 0.8, 'inconclusive', 'warn', 0.02, 0.05),
                ('b', 'location', 'price_spread', 0.4, 'clear', 'error', 0.2, 0.05)
            ) as rows (run_id, attribute, measure, value, status, severity, p_value_adjusted, alpha)
            """
        )
        judged = prices.read_judged(warehouse)
    ((race,), (location,)) = judged["a"], judged["b"]
    assert (race.effect, race.has_error_alarm, race.is_clear) == (-0.3, True, False)
    assert (race.is_significant, race.is_warning_significant) == (True, True)
    assert (location.effect, location.has_alarm, location.is_clear) == (0.4, False, True)
