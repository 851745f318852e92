"""Test the benchmark's audits of lists: they ask the core of the shipped audit, and verdicts are counted correctly."""

from __future__ import annotations

import math
from dataclasses import replace

import duckdb

from benchmarks import lists
from benchmarks.lists import Judged, Simulated
from benchmarks.simulated import ANY, ERROR

SILENT = Judged(
    attribute="race",
    has_error_alarm=False,
    has_alarm=False,
    is_significant=False,
    is_warning_significant=False,
    is_judged=True,
    is_clear=True,
    snsr=0.02,
    snsv=0.01,
    snsr_debiased=0.0,
)


def test_the_audit_keeps_the_core_of_the_shipped_one() -> None:
    audit = lists.core_audit(30)
    neutral, fan = audit.templates
    assert (neutral.id, audit.trials_of("neutral"), audit.trials_of("fan")) == ("neutral", 5, 1)
    assert fan.neutral == "neutral"
    assert fan.descriptors == tuple(audit.attributes) == lists.ATTRIBUTES
    assert {one.domain for one in audit.subject_rows} == {lists.DOMAIN}
    assert len(audit.subject_rows) == 30
    # Only the steered group is called by its word.
    descriptors = [
        descriptor
        for attribute in audit.attributes.values()
        for (descriptor,) in attribute.groups.values()
        if lists.PLANTED_DESCRIPTOR.lower() in descriptor.lower().split()
    ]
    assert descriptors == [lists.PLANTED_DESCRIPTOR]


def test_an_audit_counts_once_however_many_attributes_fire() -> None:
    alarm = replace(SILENT, has_error_alarm=True, has_alarm=True)
    audits = [
        Simulated("recommendations", 0.0, (alarm, replace(alarm, attribute="age"))),
        Simulated("recommendations", 0.0, (SILENT, replace(SILENT, attribute="age", has_alarm=True))),
        Simulated("recommendations", 0.0, (SILENT,)),
    ]
    assert lists.count(audits, ERROR) == 1
    assert lists.count(audits, ANY) == 2
    assert lists.count(audits, ANY, ["race"]) == 1
    assert lists.count(audits, lists.SNSR) == 0


def test_published_rules_fire_past_their_threshold_and_not_at_it_or_without_a_value() -> None:
    def fires(rule: str, snsr: float, snsv: float) -> bool:
        return Simulated("recommendations", 0.0, (replace(SILENT, snsr=snsr, snsv=snsv),)).fires(
            lists.RULES[rule], ["race"]
        )

    assert fires(lists.SNSR, 0.101, 0.0)
    assert fires(lists.SNSV, 0.0, 0.051)
    assert not fires(lists.SNSR, 0.10, 1.0)
    assert not fires(lists.SNSV, 1.0, 0.05)
    assert not fires(lists.SNSR, math.nan, math.nan)


def test_findings_are_read_by_run_and_attribute() -> None:
    with duckdb.connect() as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            """
            create table marts.fct_findings as
            from (values
                ('a', 'race', 'snsr', 'alarm', 'error', 0.01, 0.05),
                ('a', 'race', 'snsv', 'inconclusive', 'error', 0.2, 0.05),
                ('a', 'age', 'snsr', 'clear', 'error', 0.3, 0.05),
                ('a', 'age', 'unanswered_spread', 'alarm', 'warn', 0.02, 0.05),
                ('b', 'race', 'snsr', 'inconclusive', 'error', 0.04, 0.05),
                ('b', 'race', 'personality_fairness', 'alarm', 'none', 0.01, 0.05),
                ('c', 'race', 'snsr', 'insufficient_data', 'error', null, 0.05)
            ) as rows (run_id, attribute, measure, status, severity, p_value_adjusted, alpha)
            """
        )
        warehouse.execute(
            """
            create table marts.fct_similarity_spread as
            select
                * replace (
                    cast(snsr as double) as snsr,
                    cast(snsv as double) as snsv,
                    cast(snsr_debiased as double) as snsr_debiased
                )
            from (values
                ('a', 'race', 'jaccard', true, 0.21, 0.11, 0.17),
                ('a', 'race', 'serp', true, 0.91, 0.81, 0.71),
                ('a', 'race', 'jaccard', false, 0.92, 0.82, 0.72),
                ('b', 'race', 'jaccard', true, 0.04, 0.02, null)
            ) as rows (run_id, attribute, similarity_name, is_judged, snsr, snsv, snsr_debiased)
            """
        )
        judged = lists.read_judged(warehouse)
    age, race = judged["a"]
    assert race == Judged(
        attribute="race",
        has_error_alarm=True,
        has_alarm=True,
        is_significant=True,
        is_warning_significant=False,
        is_judged=True,
        is_clear=False,
        snsr=0.21,
        snsv=0.11,
        snsr_debiased=0.17,
    )
    assert (age.attribute, age.has_error_alarm, age.has_alarm, age.is_clear) == ("age", False, True, True)
    assert (age.is_significant, age.is_warning_significant) == (False, True)
    assert math.isnan(age.snsr)
    (other,) = judged["b"]
    assert (other.has_error_alarm, other.has_alarm, other.is_significant, other.is_clear) == (
        False,
        False,
        True,
        False,
    )
    assert other.snsr == 0.04
    assert math.isnan(other.snsr_debiased)
    (unjudged,) = judged["c"]
    assert (unjudged.has_alarm, unjudged.is_significant, unjudged.is_clear, unjudged.is_judged) == (
        False,
    ) * 4
