"""Simulated audits of all benchmarks, the whole way in one ledger: a planted bias is found, and none where there is none."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from scipy.stats import binom

from benchmarks import decisions, lists, markers, prices
from benchmarks.simulated import ANY, ERROR, Plan, Simulated, simulate_plans

ATTRIBUTES = ("age", "gender", "race")
N_NULL = 6
Audits: TypeAlias = dict[str, list[Simulated[Any]]]
TOPIC = markers.of_category(markers.PLANTED_CATEGORY)


def most_false_alarms(audits: list[Simulated[Any]]) -> int:
    """A calibrated family fires in more of the audits than this in one of a thousand such runs."""
    return int(binom.ppf(0.999, len(audits), 0.05))


def _plans() -> dict[str, list[Plan[Any]]]:
    """By benchmark six audits without bias and two with it; of prices, which have three kinds, one of each kind."""
    of_decisions = [(kind, 0.0) for kind in decisions.KINDS for _ in range(N_NULL // len(decisions.KINDS))]
    of_decisions += [(kind, 0.3) for kind in decisions.KINDS]
    of_prices = [
        (kind, planted) for kind in prices.KINDS for planted in (0.0, prices.OF_KIND[kind].planted[-1])
    ]
    return {
        "lists": lists.plans(lists.core_audit(25, ATTRIBUTES), [0.0] * N_NULL + [0.35] * 2),
        "decisions": decisions.plans(of_decisions),
        "markers": markers.plans([0.0] * N_NULL + [0.45] * 2, trials=3),
        "prices": prices.plans(of_prices),
    }


@pytest.fixture(scope="module")
def audits() -> Audits:
    by_benchmark = _plans()
    plans = [plan for of_benchmark in by_benchmark.values() for plan in of_benchmark]
    audits, costs = simulate_plans(plans, seed=20260201)
    (cost,) = costs
    assert cost.n_audits == len(plans)
    assert min(cost.ledger_bytes, cost.warehouse_bytes, cost.build_peak_bytes) > 0
    assert [(one.audit, one.planted) for one in audits] == [(one.audit.audit, one.planted) for one in plans]
    found = iter(audits)
    return {name: [next(found) for _ in of_benchmark] for name, of_benchmark in by_benchmark.items()}


@pytest.fixture(scope="module")
def planted(audits: Audits) -> Audits:
    return {name: [one for one in found if one.planted] for name, found in audits.items()}


@pytest.fixture(scope="module")
def null(audits: Audits) -> Audits:
    return {name: [one for one in found if not one.planted] for name, found in audits.items()}


@pytest.mark.slow
class TestLists:
    def test_the_planted_group_is_found_and_only_its_attribute(self, planted: Audits) -> None:
        found = planted["lists"]
        for rule in (ERROR, ANY, lists.SIGNIFICANT, lists.SNSR, lists.SNSV):
            assert lists.count(found, rule, ["race"]) == len(found), rule
        assert lists.count(found, ANY, ["age", "gender"]) == 0
        assert not any(audit.attribute("race").is_clear for audit in found)

    def test_models_without_bias_raise_no_more_alarms_than_chance_allows(self, null: Audits) -> None:
        found = null["lists"]
        for rule in (ERROR, ANY, lists.SIGNIFICANT, lists.WARNING_SIGNIFICANT):
            assert lists.count(found, rule, ATTRIBUTES) <= most_false_alarms(found), rule
        # Every attribute was judged, and no two models answered alike.
        assert all([one.attribute for one in audit.attributes] == list(ATTRIBUTES) for audit in found)
        assert all(one.is_judged for audit in found for one in audit.attributes)
        assert len({audit.attribute("race").snsr for audit in found}) == N_NULL


@pytest.mark.slow
class TestDecisions:
    def test_the_planted_group_is_found_and_only_its_attribute(self, planted: Audits) -> None:
        resumes, rankings = found = planted["decisions"]
        for rule in (ERROR, ANY, decisions.SIGNIFICANT, decisions.FOUR_FIFTHS):
            assert decisions.count(found, rule, ["race"]) == len(found), rule
        assert decisions.count(found, ERROR, ["gender"]) == 0
        # The source's rule is one of labels' ranks.
        assert decisions.count([resumes], decisions.RANK_RULE, ["race"]) == 1
        assert decisions.count([rankings], decisions.RANK_RULE) == 0
        assert all(audit.attribute("race").gap < 0 for audit in found)
        assert not any(audit.attribute("race").is_clear for audit in found)

    def test_models_without_bias_raise_no_more_alarms_than_chance_allows(self, null: Audits) -> None:
        found = null["decisions"]
        for rule in (ERROR, ANY, decisions.SIGNIFICANT, decisions.WARNING_SIGNIFICANT):
            assert decisions.count(found, rule) <= most_false_alarms(found), rule
        # Both attributes were judged, the order shown in rankings alone, and no two models answered alike.
        assert all(audit.attribute(name).is_judged for audit in found for name in decisions.SINGLE)
        assert [decisions.POSITION in {one.attribute for one in audit.attributes} for audit in found] == (
            [False] * 3 + [True] * 3
        )
        assert len({audit.attribute("race").gap for audit in found}) == N_NULL


@pytest.mark.slow
class TestMarkers:
    def test_the_planted_pronouns_are_found_and_only_in_their_category(self, planted: Audits) -> None:
        found = planted["markers"]
        for rule in (ERROR, ANY, markers.SIGNIFICANT, markers.PUBLISHED):
            assert markers.count(found, rule, [TOPIC]) == len(found), rule
        elsewhere = [one for one in markers.topics_of(found) if one not in (TOPIC, markers.OF_PROBES)]
        assert elsewhere
        # Elsewhere each may raise one by chance, in one of twenty such audits.
        assert markers.count(found, ERROR, elsewhere) < len(found)
        assert all(audit.attribute(TOPIC).ratio > 0.7 for audit in found)
        assert not any(audit.attribute(TOPIC).is_clear for audit in found)

    def test_models_without_bias_raise_no_more_alarms_than_chance_allows(self, null: Audits) -> None:
        found = null["markers"]
        topics = markers.topics_of(found)
        for rule in (ERROR, ANY, markers.SIGNIFICANT, markers.WARNING_SIGNIFICANT):
            assert markers.count(found, rule, topics) <= most_false_alarms(found), rule
        # Each category was judged, names by their gap, and no two models answered alike.
        for topic in (TOPIC, markers.of_category("occupational"), "stereotype_gap"):
            assert all(audit.attribute(topic).is_judged for audit in found)
        assert len({audit.attribute(TOPIC).ratio for audit in found}) == N_NULL


@pytest.mark.slow
class TestPrices:
    def test_planted_prices_are_found_in_their_attribute(self, audits: Audits) -> None:
        for audit in audits["prices"]:
            kind = prices.OF_KIND[audit.audit]
            found = audit.attribute(kind.attribute)
            assert found.is_judged
            if audit.planted:
                assert found.is_significant, audit.audit
                assert not found.is_clear, audit.audit
                assert found.effect * audit.planted > 0, audit.audit

    def test_models_without_bias_raise_no_more_alarms_than_chance_allows(self, null: Audits) -> None:
        found = null["prices"]
        for rule in prices.RULES:
            assert prices.count(found, rule) <= most_false_alarms(found), rule
