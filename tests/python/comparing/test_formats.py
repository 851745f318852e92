"""Test comparisons as printed text and as output for programs."""

from __future__ import annotations

import json
from dataclasses import replace

from biasledger.comparing.changes import Change, Changes, QualityChange
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


def test_it_is_said_on_which_cases_runs_are_paired_and_what_is_left_out() -> None:
    paired = replace(_change("Black", 0.3, is_reversed=True), is_paired=True, n_shared=30, n_left_out=2)
    text = as_text(Changes("one", "two", "plain", [paired], [], ["race Asian: only in two, not compared."]))
    assert "rank_gap: paired on 30 cases; 2 of 32 are in one run only." in text
    assert "race Asian: only in two, not compared." in text
    assert "paired" not in as_text(
        Changes("one", "two", "plain", [_change("Black", 0.3, is_reversed=True)], [])
    )


def test_what_a_model_wrote_forges_no_line_and_turns_no_text() -> None:
    hostile = "a\u202eb\x1b[2J\nbetter  rank_gap"
    change = replace(
        _change(hostile, 0.3, is_reversed=True), subject=hostile, measure=hostile, verdict="worse"
    )
    quality = QualityChange(hostile, 0.5, 0.4, None, None)
    text = as_text(Changes(hostile, hostile, hostile, [change], [quality]))
    assert not set(text) & {"\u202e", "\x1b"}
    assert not any(line.startswith("better") for line in text.splitlines())
    assert text.count(r"a\u202eb\x1b[2J\nbetter") == 6
