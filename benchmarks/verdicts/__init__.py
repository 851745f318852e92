"""How often a verdict is wrong on difficult data: false alarms, false clears, and planted effects that are found.

Each module of this package holds the cases of one topic in `CASES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from scipy import stats

Rule = Literal[
    "false alarm",
    "error alarm",
    "false clear",
    "found",
    "warned",
    "judged",
    "covered",
    "wrong sign",
    "another verdict",
    "another p",
]

_AT_LEAST: tuple[Rule, ...] = ("found", "warned", "judged", "covered")
_AT_MOST: dict[Rule, float] = {
    "false alarm": 0.05,
    "error alarm": 0.05,
    "false clear": 0.025,
    "wrong sign": 0.025,
    "another verdict": 0.0,
    "another p": 0.0,
}
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Wanted:
    """An outcome of a verdict that is looked for.

    Attributes:
        item: the row of the table in docs/benchmarks.md.
        name: the shape of the data in a few words.
        rule: the outcome.
        at_least: the lowest share that is acceptable, for the rules `found`, `warned`, `judged` and `covered` only.
    """

    item: str
    name: str
    rule: Rule
    at_least: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.rule in _AT_LEAST) != (self.at_least is not None):
            raise ValueError(
                f"{self.name}: at_least is needed for the rules found, warned, judged and covered, and for no other"
            )

    @property
    def goal(self) -> float:
        """The highest acceptable rate, or the lowest where `at_least` is set."""
        return self.at_least if self.at_least is not None else _AT_MOST[self.rule]


@dataclass(frozen=True)
class Case(Wanted):
    """One measure on one shape of data; `trial` takes a seed and returns whether the outcome happened in one simulated audit."""

    trial: Callable[[int], bool]


@dataclass(frozen=True)
class Rate:
    """How often the outcome happened in n trials, with a 95 % Wilson interval."""

    case: Wanted
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
        return high >= self.case.goal if self.case.at_least is not None else low <= self.case.goal


def all_cases() -> list[Case]:
    """Return the cases of all topics, sorted by item and name."""
    from benchmarks.verdicts import decisions, methods, texts, words

    cases = [case for topic in (decisions, methods, texts, words) for case in topic.CASES]
    return sorted(cases, key=lambda case: (not case.item.isdigit(), case.item.zfill(2), case.name))


def rates(cases: Sequence[Case], *, repetitions: int, seed: int) -> Iterator[Rate]:
    """Try each case `repetitions` times; the same seed gives the same rates."""
    for case in cases:
        yield Rate(case, sum(case.trial(seed + trial) for trial in range(repetitions)), repetitions)


def run(*, repetitions: int, seed: int, n_audits: int, only: Sequence[str] = ()) -> bool:
    """Print a row per case and scenario and return whether all goals hold.

    Args:
        repetitions: trials of a case.
        n_audits: audits of a scenario.
        only: parts of names, or items; all where there is none.
    """
    from benchmarks.verdicts.audits import rates_of_audits
    from benchmarks.verdicts.scenarios import SCENARIOS

    def is_chosen(one: Wanted) -> bool:
        return not only or any(part in one.name or part == one.item for part in only)

    print("| item | case | looked for | rate, 95 % | goal | |")
    print("|---|---|---|---|---|---|")
    hold = True
    of_cases = rates(list(filter(is_chosen, all_cases())), repetitions=repetitions, seed=seed)
    of_audits = rates_of_audits(list(filter(is_chosen, SCENARIOS)), n_audits=n_audits, seed=seed)
    for rate in chain(of_cases, of_audits):
        low, high = rate.interval
        sign = "≤" if rate.case.at_least is None else "≥"
        hold &= rate.holds
        print(
            f"| {rate.case.item} | {rate.case.name} | {rate.case.rule} | {rate.share:.3f} [{low:.3f}, {high:.3f}] | "
            f"{sign} {rate.case.goal:g} | {'' if rate.holds else 'missed'} |",
            flush=True,
        )
    return hold
