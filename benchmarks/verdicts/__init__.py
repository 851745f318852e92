"""Verdicts on data of unfriendly shapes: how often a fair audit alarms, a biased one is called clear, a planted effect is found.

A module of this package holds the cases of one topic in `CASES`; a new topic is a new module and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

from benchmarks.topics import chosen, declared

Rule = Literal["false alarm", "false clear", "found"]

REPETITIONS = 400
_GOALS: dict[Rule, float] = {"false alarm": 0.05, "false clear": 0.025}
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Case:
    """One shape of data and one thing that can happen to its verdict.

    item: where the case comes from, a number of the list in docs/benchmarks.md. name: the shape in a few words. rule: what
    `trial` looks for. trial: a seed to whether it happened in one simulated audit. before: the rate of the version that this
    list was made for, as text. at_least: the share that has to be found, of rule found.
    """

    item: str
    name: str
    rule: Rule
    trial: Callable[[int], bool]
    before: str = ""
    at_least: float | None = None

    def __post_init__(self) -> None:
        if (self.rule == "found") != (self.at_least is not None):
            raise ValueError(f"{self.name}: at_least belongs to the rule found, and to it alone")

    @property
    def goal(self) -> float:
        """The rate that must not be passed, or of rule found, that must be reached."""
        return self.at_least if self.at_least is not None else _GOALS[self.rule]


@dataclass(frozen=True)
class Rate:
    """How often it happened in n trials, with Wilson's 95 % interval."""

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
        """Whether the goal is compatible with what was seen, simulation error allowed for."""
        low, high = self.interval
        return high >= self.case.goal if self.case.rule == "found" else low <= self.case.goal


def all_cases() -> list[Case]:
    """The cases of all topics, by the number of their item."""
    return declared(__name__, "CASES")


def rates(cases: Sequence[Case], *, repetitions: int, seed: int) -> Iterator[Rate]:
    """Each case tried `repetitions` times; the same seeds give the same rates."""
    for case in cases:
        yield Rate(case, sum(case.trial(seed + trial) for trial in range(repetitions)), repetitions)


def run(*, repetitions: int, seed: int, only: str | None = None) -> bool:
    """Print a row a case and say whether all goals hold; only: a part of the names or the items wanted."""
    print("| item | case | looked for | before | now, 95 % | goal | |")
    print("|---|---|---|---|---|---|---|")
    hold = True
    for rate in rates(chosen(all_cases(), only), repetitions=repetitions, seed=seed):
        low, high = rate.interval
        sign = "≥" if rate.case.rule == "found" else "≤"
        hold &= rate.holds
        print(
            f"| {rate.case.item} | {rate.case.name} | {rate.case.rule} | {rate.case.before} | "
            f"{rate.share:.3f} [{low:.3f}, {high:.3f}] | {sign} {rate.case.goal:g} | {'' if rate.holds else 'missed'} |",
            flush=True,
        )
    return hold
