"""Pairs of runs: relations of both runs' units become arrays whose rows say the same in either run.

Each reader takes `pairs` (pair_key, baseline_run_id, baseline_mitigation, run_id, mitigation, is_same_question,
incomparable_because, alpha, seed) and leaves out the pairs that cannot be compared. A side without units of a
question leaves the question out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from biasledger.measures.engine.design import Floats
from biasledger.measures.equal_sizes.counts import CountUnits
from biasledger.model_inputs.relations import in_order
from collector.sql import literal

Rows = dict[str, NDArray[Any]]
_Question = tuple[Any, ...]


def questions(
    comparable: Sequence[dict[str, Any]],
    rows: duckdb.DuckDBPyRelation,
    columns: Sequence[str],
    *,
    order: str,
) -> Iterator[tuple[dict[str, Any], _Question, tuple[Rows, Rows]]]:
    """Yield each pair's questions that both sides have, with each side's rows in the given order."""
    if not comparable:
        return
    needed = rows.filter(f"run_id in ({_runs(comparable)})")
    names = ", ".join(("run_id", "mitigation", *columns))
    table = needed.order(f"{names}, {order}").fetchnumpy()
    keys = [table[name] for name in ("run_id", "mitigation", *columns)]
    slices = _slices(keys)
    for pair in comparable:
        before = slices.get((pair["baseline_run_id"], pair["baseline_mitigation"]), {})
        after = slices.get((pair["run_id"], pair["mitigation"]), {})
        for question in sorted(before.keys() & after.keys()):
            one, other = (
                {name: np.ma.getdata(column)[side[question]] for name, column in table.items()}
                for side in (before, after)
            )
            yield pair, question, (one, other)


def _slices(keys: Sequence[NDArray[Any]]) -> dict[tuple[str, str], dict[_Question, slice]]:
    """(run, mitigation) -> question -> the places of its rows in a table sorted by these columns."""
    n = len(keys[0])
    slices: dict[tuple[str, str], dict[_Question, slice]] = {}
    if n == 0:
        return slices
    starts = np.zeros(n, dtype=np.bool_)
    starts[0] = True
    for column in keys:
        starts[1:] |= column[1:] != column[:-1]
    [first] = np.nonzero(starts)
    for start, stop in zip(first, [*first[1:], n], strict=True):
        run_id, mitigation, *question = (column[start] for column in keys)
        slices.setdefault((run_id, mitigation), {})[tuple(question)] = slice(int(start), int(stop))
    return slices


def _runs(comparable: Sequence[dict[str, Any]]) -> str:
    """Return the pairs' runs as a list in SQL; empty lists are not valid, so there is always a name."""
    names = sorted({pair[column] for pair in comparable for column in ("baseline_run_id", "run_id")} | {""})
    return ", ".join(map(literal, names))


def comparable_pairs(
    pairs: duckdb.DuckDBPyRelation, *, of_same_question: bool = True
) -> list[dict[str, Any]]:
    """Pairs that can be compared, as rows; of_same_question: those alone that were asked the same."""
    return [
        pair
        for pair in in_order(pairs, "pair_key")
        if pair["incomparable_because"] is None and (pair["is_same_question"] or not of_same_question)
    ]


def asked(pair: dict[str, Any], *question: str) -> dict[str, Any]:
    """Return the fields of a pair's `Comparison` without its units: key, name, alpha and seed; question: as `Question`."""
    return {
        "key": pair["pair_key"],
        "name": question,
        "alpha": float(pair["alpha"]),
        "seed": int(pair["seed"]),
    }


def count_units(rows: Rows, counts: Floats) -> CountUnits:
    """Return a side's rows with the counts (n_units, n_sets, n_kinds) of each."""
    keys, groups, strata, clusters = (
        rows[column].astype(np.str_) for column in ("unit_key", "group_name", "stratum", "cluster")
    )
    return CountUnits(keys, groups, strata, clusters, counts)
