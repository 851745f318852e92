"""A comparison of groups, and the table that a measure makes of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from biasledger.measures.engine.design import stable_seed
from biasledger.measures.engine.resampling import Draws
from biasledger.measures.schema import Table, columns, row, table_of

Units = TypeVar("Units")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Comparison(Generic[Units]):
    """The groups of one attribute in one run, or in two.

    key: identifies the comparison. name: what is asked, but for attributes and groups, from
    which seeds are made. units: the input of its measure. n_permutations: 0 for no test. alpha: one minus the confidence of
    intervals. shared: results that one measure leaves for another of the same build; None if measures share nothing.
    """

    key: str
    name: tuple[str, ...]
    units: Units
    n_permutations: int = 0
    alpha: float = 0.05
    seed: int = 0
    shared: dict[str, Any] | None = field(default=None, compare=False, kw_only=True)

    def seed_for(self, *measure: str) -> int:
        """Return the seed of a measure's draws: the same for the same question in every run."""
        return stable_seed(self.seed, *measure, *self.name)


Compared = TypeVar("Compared", bound=Comparison[Any])


class Settings(Draws):
    """Settings for judging a comparison: the draws of its tests, and one minus the confidence of its intervals."""

    alpha: float


def table(
    kind: type[Result],
    comparisons: Iterable[Compared],
    measure: Callable[[Compared, Settings], Result | Iterable[Result] | None],
    *seeds: str,
    key: str = "comparison_key",
) -> Table:
    """Return a measure's rows for each comparison: its key first, then the columns of `kind`, and the seed of the draws.

    measure: one result of a comparison, several, or None. seeds: what the measure's seeds are made from, besides what the
    comparison is about. key: the name of the column of keys.

    Raises:
        ValueError: what the measure refuses; names the comparison.
    """
    types = {key: "str", **columns(kind)}
    if "n_permutations" in types:
        types.setdefault("seed", "int64")
    rows = []
    for one in comparisons:
        seed = one.seed_for(*seeds)
        with named_errors(one.key):
            given = measure(one, Settings(n_permutations=one.n_permutations, alpha=one.alpha, seed=seed))
            results = [given] if given is None or isinstance(given, kind) else cast("Iterable[Result]", given)
            rows += [{key: one.key, "seed": seed, **row(result)} for result in results if result is not None]
    return table_of(types, rows)


@contextmanager
def named_errors(key: str) -> Iterator[None]:
    """Put the comparison's key in front of every ValueError that the block raises."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"comparison {key}: {error}") from error
