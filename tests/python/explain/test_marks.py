"""Test that words, items and markers are found again in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasledger.explaining.marks import Mark, find_marks


@pytest.mark.parametrize(
    ("text", "marks", "found"),
    [
        ("The theme: he and The HE-man, he.", [Mark("he")], ["he", "he"]),
        ("self-made, self", [Mark("self")], ["self"]),
        ("It’s its", [Mark("it's")], ["It’s"]),
        ("nurture nurturing renurture", [Mark("nurtur", kind="stem")], ["nurture", "nurturing"]),
        ("hip  hop and hip\nhop", [Mark("hip hop")], ["hip  hop", "hip\nhop"]),
        ("Sewing machine, machine", [Mark("machine"), Mark("sewing machine")], ["Sewing machine", "machine"]),
        ("a «Deli*» [x]", [Mark("Deli*", kind="exact"), Mark("[x]", kind="exact")], ["Deli*", "[x]"]),
        ("Straße ÉCOLE école", [Mark("école")], ["ÉCOLE", "école"]),
        ("nothing", [Mark(""), Mark("  ")], []),
        ("nothing", [], []),
    ],
)
def test_what_is_found(text: str, marks: list[Mark], found: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_marks(text, marks)] == found


def test_roles_are_kept() -> None:
    spans = find_marks("she and he", [Mark("she", "first"), Mark("he", "second")])
    assert [(span.start, span.end, span.role) for span in spans] == [(0, 3, "first"), (8, 10, "second")]


@given(
    st.text(),
    st.lists(st.tuples(st.text(max_size=8), st.sampled_from(["word", "stem", "exact"])), max_size=6),
)
def test_spans_lie_in_order_and_apart(text: str, marks: list[tuple[str, str]]) -> None:
    end = 0
    for span in find_marks(text, [Mark(one, kind=kind) for one, kind in marks]):
        assert end <= span.start < span.end <= len(text)
        end = span.end
