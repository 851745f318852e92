"""Test that a simulated model without planted bias raises no alarm."""

from __future__ import annotations

from biasledger.methods import method_names
from tests.python.project import Project

FAIR = "target = 'simulator-fair'"


def test_no_bias_stays_silent(shipped: Project) -> None:
    assert shipped.rows(f"select count(*) from marts.fct_alarms where {FAIR}") == [(0,)]
    for method in (*method_names(), "answers", "runs"):
        assert shipped.work_rows(f"select count(*) from alarms.alarm_{method} where {FAIR}") == [(0,)]
    clear = shipped.rows(
        f"select distinct audit from marts.fct_findings where {FAIR} and status = 'clear' order by 1"
    )
    assert clear == [("advice",), ("products",), ("rankings",), ("restaurants",), ("stereotypes",)]
    assert shipped.rows(
        "select bool_or(is_marked) from marts.fct_marked_words join marts.dim_runs using (run_id)"
        f" where {FAIR} and scheme = 'keys'"
    ) == [(False,)]
    explanations = shipped.rows(
        f"select explanation from marts.fct_findings where {FAIR} and audit = 'products' and measure = 'marked_words'"
    )
    assert explanations
    assert all(
        text.startswith("No single word is shown to appear more often in answers about")
        for (text,) in explanations
    )
