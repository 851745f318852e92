"""Changes as they are printed and as they are handed to programs."""

from __future__ import annotations

import json

from biasledger.comparing.changes import Change, Changes
from biasledger.comparing.formats import as_json, as_text


def _change(group: str, value: float, *, is_reversed: bool) -> Change:
    return Change(
        measure="rank_gap",
        scheme="decisions",
        attribute="race",
        group_name=group,
        reference_group="White",
        subject="",
        member="",
        verdict="unchanged",
        severity="error",
        baseline_value=-0.3,
        value=value,
        worsening=abs(value) - 0.3,
        interval_low=-0.01,
        interval_high=0.01,
        p_value=1.0,
        p_value_adjusted=1.0,
        tolerance=0.02,
        baseline_n_units=50,
        n_units=50,
        is_at_equal_sizes=False,
        is_reversed=is_reversed,
    )


def test_a_bias_that_was_turned_round_is_shown_and_said_to_be() -> None:
    same, turned = _change("Asian", -0.3, is_reversed=False), _change("Black", 0.3, is_reversed=True)
    changes = Changes("one", "two", "plain", [same, turned], [])
    text = as_text(changes)
    assert "unchanged, turned round  rank_gap  race: Black against White" in text
    assert "Asian" not in text
    assert text.startswith("one -> two: 2 unchanged.")
    assert "turned round" not in as_text(Changes("one", "two", "plain", [same], []), show_all=True)
    [comparison] = json.loads(as_json([changes]))["comparisons"]
    assert [change["is_reversed"] for change in comparison["changes"]] == [False, True]
