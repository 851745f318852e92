"""Test that reasoning is separated from the answer, and that an answer that only mentions the tags stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.reasoning import Parted, split_reasoning
from collector.answers.replies import classify

TAGS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<Thought>", "</Thought>"),
    ('<think type="long">', "</think>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ('<details type="reasoning" done="true">', "</details>"),
]
CHANNELS = "<|channel|>analysis<|message|>Hm, B?<|end|><|start|>assistant<|channel|>final<|message|>Answer: A<|return|>"


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_tags(opening: str, closing: str) -> None:
    closed = f"{opening}\nMaybe B.\n{closing}\n\nAnswer: A"
    assert split_reasoning(closed) == Parted("Answer: A", "Maybe B.")
    assert split_reasoning(f"{opening}Maybe B") == Parted("", "Maybe B", is_unclosed=True)
    nested = f"{opening}a {opening}b{closing} c{closing}Answer: A"
    assert split_reasoning(nested) == Parted("Answer: A", "a b c")
    several = f"{opening}a{closing}Yes.\n{opening}b{closing}No."
    assert split_reasoning(several) == Parted("Yes.\n\nNo.", "a\n\nb")
    assert split_reasoning(f"The tag `{opening}` opens it.").reasoning is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Maybe B.\n</think>\nAnswer: A", Parted("Answer: A", "Maybe B.")),
        ("<think>I close with </think> now</think>A", Parted("A", "I close with  now")),
        ("<think>\n\n</think>\n\nAnswer: A", Parted("Answer: A")),
        ("<think>Should I write <think> here?</think>\nA", Parted("A", "Should I write  here?")),
        ("A\n<think>after all", Parted("A", "after all", is_unclosed=True)),
        (CHANNELS, Parted("Answer: A", "Hm, B?")),
        ("<|channel|>analysis<|message|>Hm, B?", Parted("", "Hm, B?", is_unclosed=True)),
        ("analysisThe user asks. B?assistantfinalAnswer: A", Parted("Answer: A", "The user asks. B?")),
        ("```thinking\nMaybe B.\n```\nAnswer: A", Parted("Answer: A", "Maybe B.")),
        (
            "<|begin_of_thought|>b<|end_of_thought|><|begin_of_solution|>A<|end_of_solution|>",
            Parted("A", "b"),
        ),
        ("People think <b>A</b> is right.", Parted("People think <b>A</b> is right.")),
        (
            "<details><summary>More</summary>text</details> A",
            Parted("<details><summary>More</summary>text</details> A"),
        ),
        ("I wrote <think> once in a paper.", Parted("I wrote <think> once in a paper.")),
        ("  plain text \n", Parted("  plain text \n")),
    ],
)
def test_shapes(reply: str, expected: Parted) -> None:
    assert split_reasoning(reply) == expected


def test_reasoning_is_kept_and_not_judged() -> None:
    reply = "<think>I'm sorry, but I cannot help with that. Or: reject.</think>\naccept"
    answer = classify(reply, "label", 1000, labels=["reject", "accept"])
    assert (answer.status, answer.answer_text) == ("ok", "accept")
    assert answer.reasoning_text == "I'm sorry, but I cannot help with that. Or: reject."
    cut = classify("<think>Let me see", "text", 1000)
    assert (cut.status, cut.error) == ("truncated", "The reply ends inside the model's reasoning.")
    apart = classify("accept", "label", 1000, labels=["reject", "accept"], reasoning="Well.")
    assert (apart.answer_text, apart.reasoning_text) == ("accept", "Well.")


@given(st.text(alphabet="<>/think|channel`[]THINK \nab", max_size=300))
def test_nothing_is_lost_and_nothing_raises(text: str) -> None:
    parted = split_reasoning(text)
    assert len(parted.answer) + len(parted.reasoning or "") <= len(text) + 2 * text.count("think") + 2


def test_many_tags_take_no_longer_than_their_length() -> None:
    assert split_reasoning("`<think>`" * 20_000).reasoning is None
    assert split_reasoning("<think>" * 20_000 + "</think>" * 20_000 + "A").answer == "A"
