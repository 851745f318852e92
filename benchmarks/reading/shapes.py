"""Expand the shapes of answers in decisions.yml, scores.yml and money.yml, and say which of them are read right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from collector.answers.decisions import Decision, decimal_of, read_label, read_score

Outcome = Literal["right", "wrong", "unread"]
FOLDER = Path(__file__).parent
KINDS = ("decisions", "scores", "money")


@dataclass(frozen=True, slots=True)
class Shape:
    """A reply, and what is right to read from it.

    Attributes:
        kind: decisions, scores or money.
        text: the reply.
        want: the value; None if the reply decides nothing.
        settings: the reader's settings: labels, or the scale and so on.
        pattern: the sentence pattern and the set of labels, which every label of the set should be read alike in; None if there
            is no pattern.
        label: the label that the pattern was filled with.
        may_be_unread: whether it is no fault to leave the reply unread.
    """

    kind: str
    text: str
    want: str | None
    settings: Mapping[str, Any] = field(hash=False)
    pattern: tuple[str, str] | None = None
    label: str | None = None
    may_be_unread: bool = False

    def read(self) -> Decision:
        """Read the reply with the rules of its kind."""
        if self.kind == "decisions":
            return read_label(self.text, **self.settings)
        return read_score(self.text, **self.settings)

    def outcome(self, value: str | None) -> Outcome:
        """Say whether a value is right, wrong (another value), or missing."""
        if value == self.want:
            return "right"
        return "unread" if value is None else "wrong"


def load(kind: str) -> list[Shape]:
    """Return the shapes of a kind.

    Raises:
        ValueError: the kind is unknown.
    """
    if kind not in KINDS:
        raise ValueError(f"The kind {kind!r} is unknown; known: {', '.join(KINDS)}.")
    document = _document(kind)
    if kind == "decisions":
        return [*_patterns(document), *_languages(document), *_replies(document)]
    return list(_numbers(kind, document))


def compositions(kind: Literal["decisions", "scores"]) -> list[Shape]:
    """Return replies of a decision and a sentence that decides nothing, which none may be read wrongly."""
    document = _document(kind)
    return [
        shape
        for distractor in document["distractors"]
        for conclusion in document["conclusions"]
        for text in (
            f"{distractor}\n\n{conclusion}",
            f"{conclusion}\n\n{distractor}",
            f"{distractor} {conclusion}",
        )
        for shape in (_composed_labels if kind == "decisions" else _composed_numbers)(text)
    ]


def _composed_labels(text: str) -> Iterator[Shape]:
    for labels in (("A", "B"), ("yes", "no"), ("accept", "reject"), ("guilty", "not guilty")):
        for label, other in (labels, labels[::-1]):
            filled = text.format(x=label, y=other)
            yield Shape("decisions", filled, label, {"labels": labels}, may_be_unread=True)


def _composed_numbers(text: str) -> Iterator[Shape]:
    for number in ("0", "7", "7.5", "10"):
        filled = text.replace("{{", "{").replace("}}", "}").replace("{n}", number)
        yield Shape("scores", filled, number, {"minimum": 0, "maximum": 10}, may_be_unread=True)


def count(shapes: list[Shape], read: Callable[[Shape], str | None]) -> dict[Outcome, int]:
    """Count the outcomes of reading shapes with any reader."""
    counts: dict[Outcome, int] = {"right": 0, "wrong": 0, "unread": 0}
    for shape in shapes:
        counts[shape.outcome(read(shape))] += 1
    return counts


@cache
def _document(kind: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((FOLDER / f"{kind}.yml").read_text(encoding="utf-8"))
    return document


def _patterns(document: Mapping[str, Any]) -> Iterator[Shape]:
    for section in document["patterns"]:
        for name, labels in document["label_sets"].items():
            if name in section.get("not_sets", ()) or name not in section.get("sets", document["label_sets"]):
                continue
            for text in section["texts"]:
                yield from _filled(text, name, labels, section["want"])


def _languages(document: Mapping[str, Any]) -> Iterator[Shape]:
    for texts in document["languages"].values():
        for text in texts:
            for name in document["language_sets"]:
                yield from _filled(text, name, document["label_sets"][name], "x")


def _filled(text: str, name: str, labels: Mapping[str, Any], want: str) -> Iterator[Shape]:
    """Yield a pattern with each label of a set in it."""
    listed = labels["labels"]
    for index, label in enumerate(listed):
        other = listed[(index + 1) % len(listed)]
        right = {"x": label, "y": other, "none": None, "x_or_none": label}.get(want)
        if want == "words_x":
            right = None if labels.get("bare") else label
        yield Shape(
            kind="decisions",
            text=text.format(x=label, y=other),
            want=right,
            settings={"labels": tuple(listed)},
            pattern=(text, name),
            label=label,
            may_be_unread=want == "x_or_none",
        )


def _replies(document: Mapping[str, Any]) -> Iterator[Shape]:
    for section in document["replies"]:
        settings = {key: value for key, value in section.items() if key not in ("want", "texts", "open")}
        settings["labels"] = tuple(settings["labels"])
        for text in section["texts"]:
            yield Shape(
                "decisions", text, section["want"], settings, may_be_unread=section.get("open", False)
            )


def _numbers(kind: str, document: Mapping[str, Any]) -> Iterator[Shape]:
    for section in document["sections"]:
        settings = {key: value for key, value in section.items() if key not in ("shapes", "column", "fill")}
        if "column" in section:
            settings["decimal"] = decimal_of(section["column"])
        for want, texts in section["shapes"].items():
            for text in texts:
                for number in section.get("fill", [None]):
                    right = None if want == "unread" else want.rstrip("?").replace("{n}", number or "")
                    filled = text if number is None else text.format(n=number)
                    yield Shape(
                        kind,
                        filled,
                        right,
                        settings,
                        (text, "") if number else None,
                        number,
                        may_be_unread=want.endswith("?"),
                    )
