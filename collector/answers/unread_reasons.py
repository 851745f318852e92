"""Why answers are unread, counted by reason, with the way out that fits each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from collector.hints import shown

REASONS_SHOWN = 8
EXAMPLES_SHOWN = 3
# Quoted words and numbers differ between two answers of one reason.
_SAID = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)"""
_VARIABLE = re.compile(rf"({_SAID}(?:(?:, | and | or ){_SAID})*(?:, …)?)")
_READ = "run `biasledger read --with TARGET`"
_CONVERT = "Amounts are not converted: convert the others in the file, or leave them unread."
# Pattern of a reason's sentence -> what to do; the first that matches counts.
_WAYS_OUT = {
    r"audit's pattern": "Correct answer.pattern.",
    r"\bis in .+, and not in |different currencies": f"answer.currency names the currency of the scores. {_CONVERT}",
    r"is an amount of money": "If amounts are asked for, name their currency as answer.currency.",
    r"\bamounts? per ": f"answer.per names the period of the scores. {_CONVERT}",
    r"is out of .+, and the scale ends|several scales": (
        "answer.rescale: true converts scores from another scale that starts at 0."
    ),
    r"\bis outside |no number on the scale": (
        "If such scores are right, change answer.minimum and answer.maximum."
    ),
    r"separator could mean either": "answer.decimal names the decimal separator.",
    r"^The values? of .+ (?:is|differ)": (
        "answer.key names the key that holds the decision, and answer.labels what it may say."
    ),
    r"none of the labels": (
        f"If one of these is a label, add it to answer.labels; if a label is among other words, set answer.key or "
        f"answer.pattern, or {_READ}."
    ),
    r"holds no number|ranks no candidate": f"If these hold a decision in words, {_READ}.",
}
_ANY_WAY_OUT = f"Set answer.key or answer.pattern, or {_READ}."


@dataclass(slots=True)
class _Reason:
    """A reason: its sentence in parts, in which each second one varies (None where answers differ in it)."""

    parts: list[str | None]
    n: int = 0
    texts: Counter[str] = field(default_factory=Counter)

    @property
    def sentence(self) -> str:
        return "".join("…" if part is None else part for part in self.parts)


class UnreadReasons:
    """Counts unread answers by reason: sentences that differ in a number or in quoted words are one."""

    def __init__(self) -> None:
        self._reasons: dict[tuple[str, ...], _Reason] = {}

    def note(self, problem: str | None, text: str | None) -> None:
        """Count an unread answer; `problem` is the sentence that says why it is unread."""
        parts = _VARIABLE.split(problem or "No rule reads the answer.")
        reason = self._reasons.setdefault(tuple(parts[::2]), _Reason([*parts]))
        reason.n += 1
        reason.parts = [one if one == other else None for one, other in zip(reason.parts, parts, strict=True)]
        reason.texts[(text or "").strip()[:1_000]] += 1

    def sentences(self) -> Iterator[str]:
        """Yield "12 answers cannot be read: …" for each reason, the most frequent first: why, examples, and what to do."""
        ordered = sorted(self._reasons.values(), key=lambda one: -one.n)
        for reason in ordered[:REASONS_SHOWN]:
            examples = ", ".join(
                f"{shown(text)}{f' ({n:,})' if n > 1 else ''}"
                for text, n in reason.texts.most_common(EXAMPLES_SHOWN)
            )
            yield f"{_counted(reason.n)}: {reason.sentence} Examples: {examples}. {suggestion(reason.sentence)}"
        if rest := ordered[REASONS_SHOWN:]:
            yield f"{_counted(sum(one.n for one in rest))} for {len(rest):,} other reasons."


def suggestion(problem: str) -> str:
    """Return what to do about answers that are unread for a reason."""
    return next((way for says, way in _WAYS_OUT.items() if re.search(says, problem)), _ANY_WAY_OUT)


def _counted(n: int) -> str:
    return "1 answer cannot be read" if n == 1 else f"{n:,} answers cannot be read"
