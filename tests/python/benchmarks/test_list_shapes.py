"""Test that every shape of list in `python -m benchmarks reading` is read correctly."""

from __future__ import annotations

from benchmarks.reading.list_shapes import list_shapes
from collector.answers.recommendations.lists import find_list


def test_every_shape_of_a_list_is_read_right() -> None:
    shapes = list(list_shapes())
    assert len(shapes) > 500
    assert len({text for text, _ in shapes}) == len(shapes)
    wrong = {text: found for text, want in shapes if (found := list(find_list(text).items)) != (want or [])}
    # A comma list of what one may say; the refusal in it is found before the list.
    assert set(wrong) <= {"I'm sorry, but I can't recommend any books."}
