"""Attacks: kills, server faults, tampering, attempts to get out and bad files, each tried some times and counted.

A module of this package holds the attacks of one topic in `ATTACKS`; a new topic is a new module and nothing else.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from benchmarks.topics import chosen, declared

Kind = Literal["kills", "faults", "tamperings", "escapes", "files"]


@dataclass(frozen=True)
class Attack:
    """One thing done to the software, and what must not come of it.

    item: the number of the item in docs/benchmarks.md that it belongs to. name: what is done, in a few words. kind: which of
    the table's counts it is part of. times: how often it is tried, each with another seed. before: what came of it in the
    version that the list was made for, as text. trial: a seed and an empty folder to None where it held, or to one sentence
    saying what broke; what it raises counts as broken, too. in_suite: whether the tests make it once; those that take many
    seconds are left to the benchmark.
    """

    item: str
    name: str
    kind: Kind
    times: int
    before: str
    trial: Callable[[int, Path], str | None]
    in_suite: bool = True

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.name}: kind {self.kind} is none of {', '.join(get_args(Kind))}")
        if self.times < 1:
            raise ValueError(f"{self.name}: times is {self.times}, and an attack is made once at least")


@dataclass(frozen=True)
class Outcome:
    """What came of one attack: one sentence for each time that it broke something."""

    attack: Attack
    tried: int
    broken: tuple[str, ...]

    @property
    def held(self) -> int:
        """How often nothing broke."""
        return self.tried - len(self.broken)


def all_attacks() -> list[Attack]:
    """The attacks of all topics, by the number of their item."""
    return declared(__name__, "ATTACKS")


def outcomes(attacks: Sequence[Attack], *, times: int | None, seed: int) -> Iterator[Outcome]:
    """Each attack made as often as it says, or `times` times, in a folder of its own each time."""
    for attack in attacks:
        tried = times or attack.times
        told = [_try(attack, seed + trial) for trial in range(tried)]
        yield Outcome(attack, tried, tuple(sentence for sentence in told if sentence is not None))


def run(*, times: int | None = None, seed: int, only: str | None = None) -> bool:
    """Print a row an attack, the counts of each kind and what broke, and say whether all held."""
    start = time.monotonic()
    print("| item | kind | attack | before | tried | held |")
    print("|---|---|---|---|---|---|")
    tried: Counter[str] = Counter()
    held: Counter[str] = Counter()
    broken = []
    for outcome in outcomes(chosen(all_attacks(), only), times=times, seed=seed):
        attack = outcome.attack
        print(
            f"| {attack.item} | {attack.kind} | {attack.name} | {attack.before} | {outcome.tried} | {outcome.held} |",
            flush=True,
        )
        tried[attack.kind] += outcome.tried
        held[attack.kind] += outcome.held
        broken += [f"{attack.name}: {sentence}" for sentence in dict.fromkeys(outcome.broken)]
    print()
    counts = ", ".join(f"{kind} {held[kind]} of {tried[kind]}" for kind in get_args(Kind) if tried[kind])
    print(f"Held: {counts or 'no attack is called so'}, in {time.monotonic() - start:.0f} s.")
    for sentence in broken:
        print(f"Broke: {sentence}")
    return not broken


def _try(attack: Attack, seed: int) -> str | None:
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        try:
            return attack.trial(seed, Path(folder))
        except Exception as error:  # noqa: BLE001  # a crash is an outcome of an attack, and the others are still made
            return f"it ended with {type(error).__name__}: {error}"
