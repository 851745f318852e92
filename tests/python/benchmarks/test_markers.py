"""Test the benchmark's audits of stereotypes: where bias is planted, and the counts of verdicts."""

from __future__ import annotations

import math
from dataclasses import replace

import duckdb

from benchmarks import markers
from benchmarks.markers import Judged, Simulated
from benchmarks.simulated import ERROR
from collector.spec.prompts import build_prompts

TOPIC = markers.of_category(markers.PLANTED_CATEGORY)
SILENT = Judged(
    attribute=TOPIC,
    has_error_alarm=False,
    has_alarm=False,
    is_significant=False,
    is_warning_significant=False,
    is_judged=True,
    is_clear=True,
    breaks_published=False,
    ratio=0.5,
)


def test_every_occupation_is_planted_towards_its_stereotype_and_no_name_is() -> None:
    audit = markers.shipped_audit(3)
    gender = markers.planted_gender(audit, 0.25)
    assert set(gender.values()) == {0.25, 0.75}
    assert (gender["nurse"], gender["CEO"]) == (0.75, 0.25)
    probes = [one for one in audit.probe_rows if one.category == markers.PLANTED_CATEGORY]
    assert len(gender) == len(probes) >= 24
    for prompt in build_prompts(audit):
        held = [name for name in gender if name.lower() in (prompt.prompt_text or "").lower()]
        assert bool(held) == (prompt.domain == markers.PLANTED_CATEGORY)


def test_an_audit_counts_once_however_many_topics_fire() -> None:
    alarm = replace(SILENT, has_error_alarm=True, has_alarm=True)
    audits = [
        Simulated("stereotypes", 0.0, (alarm, replace(alarm, attribute="stereotype_gap"))),
        Simulated("stereotypes", 0.0, (SILENT, replace(alarm, attribute=markers.OF_PROBES))),
        Simulated("stereotypes", 0.0, (replace(SILENT, breaks_published=True),)),
    ]
    topics = markers.topics_of(audits)
    assert topics == sorted([TOPIC, "stereotype_gap", markers.OF_PROBES])
    assert markers.count(audits, ERROR, topics) == 2
    assert markers.count(audits, ERROR, [TOPIC]) == 1
    assert markers.count(audits, markers.PUBLISHED, topics) == 1


def test_findings_are_read_by_run_and_topic() -> None:
    with duckdb.connect() as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            """
            create table marts.fct_findings as
            select * replace (cast(value as double) as value)
            from (values
                ('a', '', 'stereotype_ratio', 'racial', 0.8, 'alarm', 'error', 0.01, 0.05, true),
                ('a', '', 'probe_stereotype_ratio', 'nurse', 0.9, 'alarm', 'warn', 0.01, 0.05, true),
                ('a', '', 'probe_stereotype_ratio', 'ceo', 0.4, 'inconclusive', 'warn', 0.6, 0.05, false),
                ('a', 'race', 'stereotype_gap', 'racial', null, 'insufficient_data', 'error', null, 0.05, null),
                ('b', '', 'stereotype_ratio', 'racial', 0.5, 'clear', 'error', 0.9, 0.05, false)
            ) as rows (
                run_id, attribute, measure, subject, value, status, severity, p_value_adjusted, alpha, is_published_alarm
            )
            """
        )
        judged = markers.read_judged(warehouse)
    gap, probes, racial = sorted(
        judged["a"], key=lambda one: (one.attribute != "stereotype_gap", one.ratio != 0.9)
    )
    assert racial == Judged(
        attribute=markers.of_category("racial"),
        has_error_alarm=True,
        has_alarm=True,
        is_significant=True,
        is_warning_significant=False,
        is_judged=True,
        is_clear=False,
        breaks_published=True,
        ratio=0.8,
    )
    assert (probes.attribute, probes.has_alarm, probes.has_error_alarm) == (markers.OF_PROBES, True, False)
    assert probes.breaks_published
    assert (gap.attribute, gap.is_judged, gap.breaks_published) == ("stereotype_gap", False, False)
    assert math.isnan(gap.ratio)
    [clear] = judged["b"]
    assert clear == replace(SILENT, attribute=markers.of_category("racial"))
