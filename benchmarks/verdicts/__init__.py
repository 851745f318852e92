"""How often a verdict is wrong on difficult data: false alarms, false clears, and planted effects that are found.

Each module of this package holds the cases of one topic in `CASES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

Rule = Literal["false alarm", "false clear", "found"]

_GOALS: dict[Rule, float] = {"false alarm": 0.05, "false clear": 0.025}
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Case:
    """One shape of data and one possible outcome of its verdict.

    Attributes:
        item: the row of the table in docs/benchmarks.md.
        name: the shape in a few words.
        rule: the outcome that `trial` looks for.
        trial: takes a seed and returns whether the outcome happened in one simulated audit.
        at_least: the lowest share that is acceptable, for the rule `found` only.
    """

    item: str
    name: str
    rule: Rule
    trial: Callable[[int], bool]
    at_least: float | None = None

    def __post_init__(self) -> None:
        if (self.rule == "found") != (self.at_least is not None):
            raise ValueError(f"{self.name}: at_least is needed for the rule found and for no other rule")

    @property
    def goal(self) -> float:
        """The highest acceptable rate, or the lowest for the rule `found`."""
        return self.at_least if self.at_least is not None else _GOALS[self.rule]


@dataclass(frozen=True)
class Rate:
    """How often the outcome happened in n trials, with a 95 % Wilson interval."""

    case: Case
    n_happened: int
    n: int

    @property
    def share(self) -> float:
        """Share of the trials."""
        return self.n_happened / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
        low, high = stats.binomtest(self.n_happened, self.n).proportion_ci(_CONFIDENCE, method="wilson")
        return float(low), float(high)

    @property
    def holds(self) -> bool:
        """Whether the goal lies within simulation error of the rate."""
        low, high = self.interval
        return high >= self.case.goal if self.case.rule == "found" else low <= self.case.goal


def all_cases() -> list[Case]:
    """Return the cases of all topics, sorted by item and name."""
    from benchmarks.verdicts import decisions, methods, refusals, texts, words

    cases = [case for topic in (decisions, methods, refusals, texts, words) for case in topic.CASES]
    return sorted(cases, key=lambda case: (not case.item.isdigit(), case.item.zfill(2), case.name))


def rates(cases: Sequence[Case], *, repetitions: int, seed: int) -> Iterator[Rate]:
    """Try each case `repetitions` times; the same seed gives the same rates."""
    for case in cases:
        yield Rate(case, sum(case.trial(seed + trial) for trial in range(repetitions)), repetitions)


def run(*, repetitions: int, seed: int, only: str | None = None) -> bool:
    """Print a row per case and return whether all goals hold; `only` is a part of a name, or an item."""
    chosen = [case for case in all_cases() if only is None or only in case.name or only == case.item]
    print("| item | case | looked for | rate, 95 % | goal | |")
    print("|---|---|---|---|---|---|")
    hold = True
    for rate in rates(chosen, repetitions=repetitions, seed=seed):
        low, high = rate.interval
        sign = "≥" if rate.case.rule == "found" else "≤"
        hold &= rate.holds
        print(
            f"| {rate.case.item} | {rate.case.name} | {rate.case.rule} | {rate.share:.3f} [{low:.3f}, {high:.3f}] | "
            f"{sign} {rate.case.goal:g} | {'' if rate.holds else 'missed'} |",
            flush=True,
        )
    return hold
