"""Separate a model's reasoning from its answer.

Reasoning is kept next to the answer and never judged. It comes between tags (`<think>`, `[THINK]`, `◁think▷`, …), in the channels
of OpenAI's Harmony format, or in a fenced block called `thinking`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_OPEN = (
    rf"(?:<|&lt;){_NAMES}(?:\s[^<>\n]{{0,200}})?(?:>|&gt;)|<details\s+type=[\"']reasoning[\"'][^<>\n]{{0,200}}>"
    r"|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>"
)
_CLOSE = rf"(?:<|&lt;)/{_NAMES}\s{{0,3}}(?:>|&gt;)|</details>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>"
# The first characters of tags come first in the pattern, which makes the search fast.
_TAG = re.compile(rf"(?=[<&\[◁])(?:(?P<open>{_OPEN})|(?P<close>{_CLOSE}))", re.IGNORECASE)
_FENCE = re.compile(
    r"\A\s{0,20}(?P<fence>`{3,})(?:think|thinking|reasoning)[ \t]*\n(?P<text>.*?)(?:\n(?P=fence)[ \t]*(?:\n|\Z)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# Tokens around an answer that carry no content.
_FRAME = re.compile(
    r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>|<\|(?:end|return|im_end|eot_id)\|>\s*\Z"
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<\n]{0,100}(?:<\|constrain\|>\w*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_HARMONY_START = re.compile(r"\A\s*(?:<\|start\|>\s*assistant\s*)?(?:<\|message\|>)?")
# The same format after a tokenizer dropped its special tokens.
_BARE_CHANNELS = re.compile(
    r"\A\s*analysis(?=[A-Z\s\"'])(?P<reasoning>.*?)assistant\s?final(?P<answer>.*)\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Parted:
    """A reply in two parts.

    Attributes:
        answer: the reply without reasoning; the reply itself, unchanged, where it holds none.
        reasoning: the reasoning, None where there is none.
        is_unclosed: the reply ends inside its reasoning, so that there is no answer, or only a part of one.
    """

    answer: str
    reasoning: str | None = None
    is_unclosed: bool = False


def split_reasoning(text: str) -> Parted:
    """Split a reply into answer and reasoning.

    Blocks may be nested and may follow one another. Where the opening tag is missing, the text begins with reasoning; where the
    closing tag is missing, it ends with it. A tag between backticks is a word of the answer.
    """
    if "<|channel|>" in text:
        return _split_channels(text)
    if (bare := _BARE_CHANNELS.match(text)) is not None:
        return Parted(bare["answer"].strip(), bare["reasoning"].strip() or None)
    if (fenced := _FENCE.match(text)) is not None:
        answer = text[fenced.end() :].strip()
        return Parted(answer, fenced["text"].strip() or None, is_unclosed=not answer)
    # Most answers have no character that begins a tag.
    may_hold_tags = "<" in text or "&" in text or "◁" in text or ("]" in text and "think]" in text.lower())
    if not may_hold_tags:
        return Parted(text)
    tags = [
        tag
        for tag in _TAG.finditer(text)
        if not (text.endswith("`", 0, tag.start()) and text.startswith("`", tag.end()))
    ]
    if not tags:
        return Parted(text)
    blocks, is_unclosed = _blocks(text, tags)
    if not blocks:
        return Parted(text)
    kept: list[str] = []
    reasoning: list[str] = []
    position = 0
    for start, end in blocks:
        kept.append(text[position:start])
        reasoning.append(_TAG.sub("", text[start:end]).strip())
        position = end
    kept.append(text[position:])
    said = "\n\n".join(stripped for part in kept if (stripped := _FRAME.sub("", part).strip()))
    return Parted(said, "\n\n".join(filter(None, reasoning)) or None, is_unclosed)


def _blocks(text: str, tags: list[re.Match[str]]) -> tuple[list[tuple[int, int]], bool]:
    """Return where reasoning starts and ends, and whether the last block is left open."""
    last_close = max((tag.end() for tag in tags if tag["close"]), default=0)
    blocks: list[tuple[int, int]] = []
    start, depth = 0, 0
    for tag in tags:
        if tag["open"]:
            if depth == 0 and tag.start() >= last_close and not _opens_a_line(text, tag):
                continue  # a word of the answer: it is not closed, and text precedes it
            start = tag.start() if depth == 0 else start
            depth += 1
        elif tag[0].lower() == "</details>" and depth == 0:
            continue  # HTML of the answer
        elif depth:
            depth -= 1
            if depth == 0:
                blocks.append((start, tag.end()))
        else:
            # The opening tag was part of the prompt: all before this tag is reasoning.
            blocks = [(0, tag.end())]
    if depth == 0:
        return blocks, False
    if last_close > start:
        # The reasoning speaks of the tag itself: it ends with the last closing tag.
        return [*blocks, (start, last_close)], False
    return [*blocks, (start, len(text))], True


def _opens_a_line(text: str, tag: re.Match[str]) -> bool:
    before = text[max(0, tag.start() - 200) : tag.start()].rstrip(" \t>")
    return before == "" or before.endswith(("\n", "/think", "/thinking", "/reasoning", "|", "]"))


def _split_channels(text: str) -> Parted:
    """Split a reply in the Harmony format: the channel `final` is the answer, every other one is reasoning."""
    first = text.index("<|channel|>")
    answer = [_END_OF_MESSAGE.sub("", _HARMONY_START.sub("", text[:first], count=1))]
    reasoning: list[str] = []
    has_final = False
    for channel in _CHANNEL.finditer(text):
        end = _END_OF_MESSAGE.search(text, channel.end())
        content = text[channel.end() : end.start() if end else len(text)].strip()
        if channel["name"] == "final":
            has_final = True
            answer.append(content)
        else:
            reasoning.append(content)
    return Parted(
        "\n\n".join(part.strip() for part in answer if part.strip()),
        "\n\n".join(filter(None, reasoning)) or None,
        is_unclosed=not has_final,
    )
