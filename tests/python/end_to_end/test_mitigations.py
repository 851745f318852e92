"""Test that mitigations are compared with the plain audit."""

from __future__ import annotations

import pytest

from biasledger.comparing.changes import compare_mitigations
from collector.errors import InputError
from tests.python.project import Project

OF_RACE = "audit = 'products' and target = 'simulator' and attribute = 'race'"


def test_mitigations_are_compared_with_the_plain_audit(shipped: Project) -> None:
    rows = shipped.rows(
        "select mitigation, count(*), count(*) filter (where difference < 0 and p_value < 0.001)"
        " from marts.fct_mitigation_comparisons join marts.dim_runs using (run_id)"
        f" where {OF_RACE} and measure = 'word_divergence' group by 1 order by 1"
    )
    assert rows == [("debiased", 4, 4), ("masked", 4, 4)]
    # `compare RUN --mitigation` shows the same, with the change in the answers' quality.
    ((run_id,),) = shipped.rows(f"select distinct run_id from marts.fct_findings where {OF_RACE}")
    both = compare_mitigations(shipped.warehouse, run_id, None)
    assert [changes.mitigation for changes in both] == ["debiased", "masked"]
    for changes in both:
        better = {change.group_name for change in changes.changes if change.verdict == "better"}
        assert better == {"Asian", "Black", "Latino", "Middle-Eastern"}
        assert {one.name for one in changes.quality} >= {"refused", "in another form than asked"}
    with pytest.raises(
        InputError, match="was not asked under the mitigation 'other'; it was asked under debiased, masked"
    ):
        compare_mitigations(shipped.warehouse, run_id, "other")
    # A mitigation never fails the audit's alarm test; the plain audit does.
    severities = shipped.rows(
        "select mitigation, list(distinct severity order by severity) from marts.fct_findings"
        f" where {OF_RACE} and measure <> 'length_gap' group by 1 order by 1"
    )
    assert severities == [("debiased", ["warn"]), ("masked", ["warn"]), ("plain", ["error"])]
    # Masked prompts are the same for every group, so nothing can differ but chance.
    masked = shipped.rows(f"select count(*) from marts.fct_alarms where mitigation = 'masked' and {OF_RACE}")
    assert masked == [(0,)]
