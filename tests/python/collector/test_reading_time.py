"""Test that readers take time in proportion to a text's length, whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from collector.answers.decisions import read_label, read_score
from collector.answers.failures import failure_of_answer, read_failure
from collector.answers.recommendations.item_rules import ItemRules
from collector.answers.recommendations.items import find_items
from collector.answers.recommendations.lists import find_list
from collector.answers.replies import classify
from collector.answers.texts.json_text import json_values
from tests.python.growth import assert_linear

AB, LEVELS, NAMES = ("A", "B"), ("junior", "mid", "senior"), ("Keisha", "Brad", "Jill", "Jamal")


def _read_json(text: str) -> None:
    assert classify(text, "json_object", 10**6).status in ("malformed", "truncated")


READERS: dict[str, Callable[[str], object]] = {
    "decisions": lambda text: (read_label(text, AB), read_label(text, LEVELS), read_score(text, 0, 10)),
    "rankings": lambda text: [
        classify(text, kind, 100_000, labels=LEVELS, minimum=0, maximum=10, candidates=NAMES)
        for kind in ("label", "score", "ranking")
    ],
    "lists": find_list,
    "items": lambda text: classify(text, "items", 1_000_000),
    "amounts": lambda text: find_items(text, 4, ItemRules(prices="amounts")),
    "json": _read_json,
    "failures": lambda text: (failure_of_answer(text), read_failure(text)),
}
TEXTS = {
    "decisions": [
        "a" * 60_000, "1" * 60_000, "1," * 30_000, "- " * 30_000, "mid " * 15_000, "Answer: A\n" * 6_000, "不是" * 30_000,
        "Answer: A wait Answer: B " * 2_400, "A is better than B. " * 3_000, "{" * 60_000, "[[" * 30_000,
        "<answer>" * 7_500, "A) " * 20_000, "not " * 15_000, "(\"'" * 20_000, "\n" * 60_000, "answer " * 8_500,
        "if " * 20_000, "$1,000 - " * 6_600, "7/10 " * 12_000, "8 → 9 " * 10_000, "raise of $5 to " * 4_000,
        '{"a_eur": 1, "b": "monthly"} ' * 2_000, "Score: 7\n" * 6_600, "7 or " * 12_000, '{"a": 1} ' * 6_600,
        "1 000 " * 10_000, "** " * 20_000,
    ],
    "rankings": ["a" * 60_000, "1" * 60_000, "1," * 30_000, "- " * 30_000, "mid " * 15_000],
    "lists": [
        "**a" * 66_000, "__b " * 50_000, "[a](" * 50_000, "1. " * 66_000, '"a' * 100_000, "- " * 100_000,
        "recommend " * 20_000 + ",", "1. a\n" * 40_000, "[" * 200_000, '{"' * 100_000, '["a",' * 40_000, "a, " * 66_000,
        "'a" * 100_000, "*" * 200_000, " " * 200_000 + "x", "1." * 100_000, "\n" * 200_000, ": " * 100_000, "A. " * 66_000,
        "“a" * 100_000, "_a" * 100_000, "a — " * 50_000, "①" * 60_000, "一、" * 60_000, "(" * 100_000 + "1", "1️⃣" * 30_000,
        "《" * 100_000, "«a» " * 40_000, "a) " * 60_000, "No. 1 " * 30_000, "Song " * 40_000 + "1:",
        "🎬" * 60_000 + " x\n🎬 y", "<li>" * 40_000, "<" * 100_000, "|-|\n| a |\n" * 20_000, "# a\n" * 40_000,
        "**a**\n" * 30_000, "title: " * 30_000, "- title: a, b: " * 15_000, "I. a\n" * 30_000, "i) a\nii) b\n" * 15_000,
        "\u3000" * 100_000 + "1、", "」「" * 60_000, "a——" * 50_000, "- a\n1] b\n" * 20_000, "① a ③ b\n" * 20_000,
        "① a ② b\n" * 20_000,
    ],
    "items": [
        '{"a": ' * 3_000 + "1" + "}" * 3_000, "[" * 3_000 + "]" * 3_000,
        json.dumps([{"name": "price" + " " * 60_000, "price": "price" + " " * 60_000 + "x"}]),
        json.dumps([{"name": "(" * 60_000, "price": "$" * 60_000}]), "1. A ($$ " * 20_000, "$$ " * 20_000,
        "- A ($$)\n" * 8_000, "- price level " * 20_000, "| a | b |\n|---|---|\n" * 10_000,
        "A | " * 20_000 + "\n" + "|-" * 20_000, "#" * 100_000 + "\n**" + "a" * 100_000,
        "1. A\n" + " " * 100_000 + "$" * 100_000, json.dumps([{"name": "($" * 60_000, "categories": "/ " * 60_000}]),
    ],
    "amounts": [
        "1" * 100_000 + " €", "1. A 1.1.1.1" * 10_000, "1 € " * 10_000, "für " * 20_000 + "1 €", "- A 1 - 1 €\n" * 3_000,
        "1 111 " * 10_000 + "€", json.dumps([{"name": "A " + "1 €" * 8_000, "price": "€" * 60_000}]),
        json.dumps({"x": [[{"y" * 50_000: 1}]] * 10}),
    ],
    "json": [
        "[{" * 100_000, '{"' * 100_000, '\\"' * 100_000, '{"a":,}' * 30_000, "{ " * 100_000, '"' * 200_001, ",}" * 100_000,
    ],
    "failures": [
        "error " * 20_000, "Error: " * 20_000, "a." * 50_000, "Error code: 400 - {" + "{" * 100_000,
        "Error code: 400 - {" + "}a" * 50_000, "[" * 100_000, "blocked " + "safety " * 20_000,
        "<html><head><title>error</title>" + "x" * 100_000, '{"error": ' * 20_000, "finish_reason " * 20_000,
        "violates a a a " * 10_000,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        pytest.param(reader, text, id=f"{reader}-{text[:20]}".encode("unicode_escape").decode())
        for reader, texts in TEXTS.items()
        for text in texts
    ],
)
def test_reading_takes_time_in_proportion_to_the_length(reader: str, text: str) -> None:
    assert_linear(READERS[reader], text)


def test_a_table_of_many_columns_takes_no_long_time() -> None:
    def table(n_columns: int) -> str:
        return "| a " * n_columns + "\n" + "|-" * n_columns + "\n| b |"

    assert_linear(find_list, table(40_000), table(10_000))


@pytest.mark.parametrize("reader", ["decisions", "rankings"])
def test_deeply_nested_json_takes_time_in_proportion_to_the_length(reader: str) -> None:
    def nested(depth: int) -> str:
        objects = ",".join(['{"b":"x"}'] * (15 * depth))
        return '{"a":' * depth + f"[{objects}]" + "}" * depth

    assert json_values(nested(800)), "the JSON is too deep to be read"
    assert_linear(READERS[reader], nested(800), nested(200))
