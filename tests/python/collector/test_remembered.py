"""Test the cache of results for short texts; long texts are computed each time and not kept."""

from __future__ import annotations

from collector.answers.texts.remembered import remembered


def test_a_short_text_is_asked_once_and_a_long_one_each_time() -> None:
    asked = []

    @remembered
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    long = "x" * 101
    assert [length("abc"), length("abc"), length(long), length(long), length("")] == [3, 3, 101, 101, 0]
    assert asked == ["abc", long, long, ""]


def test_only_so_many_are_kept() -> None:
    asked = []
    known = remembered(asked.append)
    for number in range(5_000):
        known(str(number))
    known("4999")
    known("0")
    assert len(asked) == 5_001
