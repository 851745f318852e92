"""Test paths into JSON documents."""

from __future__ import annotations

import pytest

from collector.targets.http.json_path import parse_json_path

DOCUMENT = {
    "answer": "yes",
    "data": {"results": [{"title": "A", "tags": ["x", "y"]}, {"title": "B", "tags": []}, {"other": 1}]},
    "the answer": [1, 2, 3],
    "it's": {"a.b": None},
    "größe-1": 5,
    "empty": [],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("answer", ["yes"]),
        ("$.answer", ["yes"]),
        (".answer", ["yes"]),
        ("$", [DOCUMENT]),
        ("data.results[0].title", ["A"]),
        ("data.results[-1].other", [1]),
        ("data.results[*].title", ["A", "B"]),
        ("data.results[*].tags[*]", ["x", "y"]),
        ("$['the answer'][1]", [2]),
        ('["it\'s"]["a.b"]', [None]),
        ("größe-1", [5]),
        ("empty[*]", []),
        ("empty[0]", []),
        ("the_answer", []),
        ("answer[0]", []),
        ("answer.length", []),
        ("data.results[7]", []),
        ("data[0]", []),
        ("data[*]", []),
    ],
)
def test_what_a_path_finds(path: str, found: list[object]) -> None:
    assert list(parse_json_path(path).find(DOCUMENT)) == found


@pytest.mark.parametrize(
    ("path", "is_list"),
    [
        ("data.results[*].title", True),
        ("empty[*]", True),
        ("answer[*]", False),
        ("nothing[*]", False),
        ("empty", False),
    ],
)
def test_whether_there_is_a_list_to_look_through(path: str, is_list: bool) -> None:
    assert parse_json_path(path).is_list_in(DOCUMENT) is is_list


@pytest.mark.parametrize(
    "path",
    [
        "a..b",
        "a[",
        "a[]",
        "a[b]",
        "a b",
        "$a",
        "a]",
        "a.[0",
        "a[1.5]",
        "..a",
        "a[?(@.b)]",
        "a.*",
        "['a",
    ],
)
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="should be a path such as answer, data"):
        parse_json_path(path)
