"""Find scores that are shares of one among scores on a larger scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collector.hints import shown

if TYPE_CHECKING:
    from collector.spec.audit import Audit

# On shorter scales a score below 1 is a score like any other.
_LOWEST_END = 50
# Fewer scores below 1 may be meant.
_FEWEST = 3


@dataclass(slots=True)
class Shares:
    """Counts scores between 0 and 1 on a scale that ends far above, by group."""

    n_above: int = 0
    n_shares: int = 0
    shares: Counter[tuple[str, str]] = field(default_factory=Counter)
    scores: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, audit: Audit, score: str | None, groups: Iterable[tuple[str, str]]) -> None:
        """Count a score, with the (attribute, group) pairs that it is about."""
        if score is None or audit.answer.kind != "score" or (audit.answer.maximum or 0) < _LOWEST_END:
            return
        value, named = float(score), set(groups)
        self.scores.update(named)
        self.n_above += value > 1
        if 0 < value < 1:
            self.n_shares += 1
            self.shares.update(named)

    def sentences(self) -> list[str]:
        """Return a sentence where some scores are shares of one and others are not."""
        if self.n_shares < _FEWEST or not self.n_above:
            return []
        groups = ", ".join(
            f"{attribute} {shown(group)} {self.shares[attribute, group]:,} of {n:,}"
            for (attribute, group), n in self.scores.most_common()
        )
        sentence = (
            f"{self.n_shares:,} scores lie between 0 and 1, and {self.n_above:,} above 1 ({groups}). If they "
            f"are shares, as 0.55 for 55 %, write all scores of the file alike; where the others have a percent sign, minimum: 0 "
            f"and maximum: 1 reads 78% as 0.78."
        )
        return [sentence]
