"""What benchmarks measured, as JSON, and two of these held against each other.

A machine is now idle and now busy, so that seconds of two days say little. Where a plain script did the same work in the same
run, what counts is how many times the script's value ours is.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.processes import BenchmarkError

# A run on the same machine differs from the one before by less.
WORSE = 1.2


@dataclass(frozen=True, slots=True)
class Record:
    """One value.

    Attributes:
        name: what was measured, such as 'speed: end to end'.
        size: of how many answers.
        unit: such as 'processor s'; of all units less is better.
        value: in this unit; the median of repeats.
        script: the same of the plain script in the same run; None where there is none.
    """

    name: str
    size: int
    unit: str
    value: float
    script: float | None = None

    @property
    def ratio(self) -> float:
        """The value over the script's; the value itself where there is no script."""
        return self.value / self.script if self.script else self.value


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(one) for one in records], indent=1) + "\n", encoding="utf-8")


def read_records(path: Path) -> list[Record]:
    """Read what `write_records` wrote.

    Raises:
        BenchmarkError: it is no such file.
    """
    try:
        return [Record(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise BenchmarkError(f"{path} is no file of benchmarks' records: {error}.") from None


def growth(records: Sequence[Record]) -> dict[tuple[str, str], float]:
    """Return (name, unit) -> the exponent by which a value grows with size: 1 where twice as many answers take twice as much.

    It is the slope of a least-squares line through the logarithms; only what was measured at two sizes or more has one.
    """
    points: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for one in records:
        points[one.name, one.unit][one.size] = one.value
    return {key: _slope(found) for key, found in points.items() if len(found) > 1 and all(found.values())}


def _slope(found: dict[int, float]) -> float:
    xs, ys = [math.log(size) for size in found], [math.log(value) for value in found.values()]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - x_mean) ** 2 for x in xs
    )


def print_growth(console: Console, records: Sequence[Record]) -> None:
    """Print the exponents."""
    for (name, unit), exponent in growth(records).items():
        console.print(f"{name}, {unit}: grows as answers to the power of {exponent:.2f}")


def print_comparison(old: Sequence[Record], new: Sequence[Record], worse: float = WORSE) -> bool:
    """Print both values of whatever both have, the worst change first; return whether one is worse than so many times the old."""
    before = {(one.name, one.size, one.unit): one for one in old}
    pairs = [
        (before[one.name, one.size, one.unit], one) for one in new if (one.name, one.size, one.unit) in before
    ]
    # With a script on one side only, values of another kind would be compared.
    pairs = [pair for pair in pairs if (pair[0].script is None) == (pair[1].script is None) and pair[0].ratio]
    if not pairs:
        raise BenchmarkError("The two files have no measurement in common.")
    table = Table("", "answers", "unit", "before", "now", "now / before", "")
    has_worse = False
    for was, one in sorted(pairs, key=lambda pair: -pair[1].ratio / pair[0].ratio):
        change = one.ratio / was.ratio
        has_worse |= change > worse
        unit = one.unit if one.script is None else f"{one.unit}, of the script's"
        message = "worse" if change > worse else ""
        table.add_row(
            one.name, f"{one.size:,}", unit, f"{was.ratio:.3g}", f"{one.ratio:.3g}", f"{change:.2f}", message
        )
    console = Console(width=130, highlight=False)
    console.print(table)
    console.print(f"{len(new) - len(pairs)} of {len(new)} measurements have no counterpart before.")
    print_growth(console, new)
    return has_worse
