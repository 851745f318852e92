"""Test thousands of shapes of replies (benchmarks/reading): none is read wrongly, with any label."""

from __future__ import annotations

from collections import defaultdict

import pytest

from benchmarks.reading.shapes import KINDS, Shape, compositions, load

# Patterns in languages whose files are incomplete, and hard sentences.
MOST_UNREAD = {"decisions": 2, "scores": 1, "money": 0}


@pytest.fixture(scope="module")
def readings() -> dict[str, dict[Shape, str | None]]:
    return {kind: {shape: shape.read().value for shape in load(kind)} for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_almost_every_shape_is_read_and_none_wrongly(
    kind: str, readings: dict[str, dict[Shape, str | None]]
) -> None:
    found = [(shape, value, shape.outcome(value)) for shape, value in readings[kind].items()]
    assert [
        (shape.text, shape.settings, value, shape.want) for shape, value, how in found if how == "wrong"
    ] == []
    unread = [shape.text for shape, _, how in found if how == "unread" and not shape.may_be_unread]
    assert len(unread) <= MOST_UNREAD[kind], unread


def test_a_pattern_is_read_alike_whatever_the_label(readings: dict[str, dict[Shape, str | None]]) -> None:
    outcomes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for shape, value in readings["decisions"].items():
        if shape.pattern is not None:
            labels = shape.settings["labels"]
            # Whether it is the label of the pattern, another one, or none.
            read_as = "none" if value is None else "x" if value == shape.label else str(labels.index(value))
            outcomes[shape.pattern].add(read_as)
    assert len({text for text, _ in outcomes}) >= 300
    assert {pattern: found for pattern, found in outcomes.items() if len(found) > 1} == {}


def test_there_are_enough_shapes(readings: dict[str, dict[Shape, str | None]]) -> None:
    assert sum(len({shape.text for shape in found}) for found in readings.values()) >= 1_000


@pytest.mark.parametrize("kind", ["decisions", "scores"])
def test_a_sentence_that_decides_nothing_does_not_change_the_decision(kind: str) -> None:
    shapes = compositions(kind)[::19]
    assert [shape.text for shape in shapes if shape.outcome(shape.read().value) == "wrong"] == []
    n_right = sum(shape.outcome(shape.read().value) == "right" for shape in shapes[::5])
    assert n_right / len(shapes[::5]) > 0.8


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="kind 'titles' is unknown; known: decisions, scores, money"):
        load("titles")
