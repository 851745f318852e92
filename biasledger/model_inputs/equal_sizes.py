"""Pairs of runs: relations of both runs' units become arrays whose rows say the same in either run.

Each reader takes `pairs` (pair_key, baseline_run_id, baseline_variant, run_id, variant, incomparable_because, alpha, seed) and
leaves out the pairs that cannot be compared or are in `done`. A side without units of a question leaves the question out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.resampling import Floats
from biasledger.measures.equal_sizes.pairs import Cells, CountPair, CountUnits, ListPair, WordPair
from biasledger.measures.equal_sizes.readings import WordUnits
from biasledger.model_inputs.relations import pending

_Rows = dict[str, NDArray[Any]]
_Question = tuple[Any, ...]
_Sides = tuple[_Rows, _Rows]


def read_word_pairs(
    pairs: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    counts: duckdb.DuckDBPyRelation,
    *,
    done: frozenset[str],
) -> Iterator[WordPair]:
    """Texts of each contrast that both runs of a pair have.

    members: run_id, variant, scheme, attribute, group_name, reference_group, weighting, unit_key, label, stratum, cluster,
    prompt, n_trials, moves_prompts, a row a text and contrast; counts: run_id, unit_key, word_id, n.
    """
    comparable, features = _pending(pairs, done), _Features(counts)
    columns = ("scheme", "attribute", "group_name", "reference_group")
    for pair, question, sides in _questions(comparable, members, columns, order="unit_key"):
        before, after = features.of(pair["baseline_run_id"]), features.of(pair["run_id"])
        units = _word_units(sides[0], before), _word_units(sides[1], after)
        yield Comparison(units=units, **_described(pair, *question, ""))


def read_list_pairs(
    pairs: duckdb.DuckDBPyRelation, cells: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[ListPair]:
    """Values of each feature and attribute that both runs of a pair have, groups in the order of their names.

    cells: run_id, variant, scheme, attribute, subject, similarity, is_personality, entity, group_name, feature, feature_value.
    """
    columns = ("scheme", "attribute", "subject", "similarity", "is_personality", "feature")
    for pair, question, sides in _questions(
        _pending(pairs, done), cells, columns, order="entity, group_name"
    ):
        scheme, attribute, subject, similarity, is_personality, feature = question
        groups = np.unique(np.concatenate([side["group_name"].astype(str) for side in sides]))
        yield ListPair(
            units=(_cells(sides[0], groups), _cells(sides[1], groups)),
            feature=feature,
            similarity=similarity,
            is_personality=bool(is_personality),
            **_described(pair, scheme, attribute, "(all)", "", subject),
        )


def read_selection_pairs(
    pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[CountPair]:
    """Selected and not selected, by unit, of each attribute and subject that both runs of a pair have.

    units: run_id, variant, attribute, subject, unit_key, stratum, cluster, group_name, n_candidates, n, total.
    """
    columns = ("attribute", "subject")
    for pair, (attribute, subject), sides in _questions(
        _pending(pairs, done), units, columns, order="unit_key, group_name"
    ):

        def counted(side: _Rows) -> CountUnits:
            n, total = (side[column].astype(np.float64) for column in ("n", "total"))
            return _count_units(side, np.column_stack([total, n - total])[:, np.newaxis])

        yield CountPair(
            units=(counted(sides[0]), counted(sides[1])),
            n_candidates=int(sides[1]["n_candidates"].max()),
            **_described(pair, "selected", attribute, "(all)", "(best off)", subject),
        )


def read_price_pairs(
    pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[CountPair]:
    """Items of each price level and domain, by unit, of each attribute that both runs of a pair have.

    units: run_id, variant, attribute, unit_key, stratum, cluster, group_name, domain, level, n_levels, n, a row a unit, domain
    and level.
    """
    for pair, (attribute,), sides in _questions(
        _pending(pairs, done), units, ("attribute",), order="unit_key, domain, level"
    ):
        # A domain that one of the runs did not ask about says nothing of a change.
        domains = np.intersect1d(sides[0]["domain"].astype(str), sides[1]["domain"].astype(str))
        n_levels = int(max(side["n_levels"].max() for side in sides))
        if domains.size:
            yield CountPair(
                units=(_priced(sides[0], domains, n_levels), _priced(sides[1], domains, n_levels)),
                **_described(pair, "items", attribute, "(all)", "(all)", ""),
            )


def _described(pair: dict[str, Any], *question: str) -> dict[str, Any]:
    """Key, name, alpha and seed of a pair's comparison; question: as `Question`."""
    alpha, seed = float(pair["alpha"]), int(pair["seed"])
    return {"key": pair["pair_key"], "name": question, "alpha": alpha, "seed": seed}


def _pending(pairs: duckdb.DuckDBPyRelation, done: frozenset[str]) -> list[dict[str, Any]]:
    return [pair for pair in pending(pairs, done, "pair_key") if pair["incomparable_because"] is None]


def _runs(comparable: Sequence[dict[str, Any]]) -> str:
    """The pairs' runs as a list in SQL; empty lists are not valid, so there is always a name."""
    names = sorted({pair[column] for pair in comparable for column in ("baseline_run_id", "run_id")} | {""})
    quoted = (name.replace("'", "''") for name in names)
    return ", ".join(f"'{name}'" for name in quoted)


def _questions(
    comparable: Sequence[dict[str, Any]],
    rows: duckdb.DuckDBPyRelation,
    columns: Sequence[str],
    *,
    order: str,
) -> Iterator[tuple[dict[str, Any], _Question, _Sides]]:
    """Each pair's questions that both sides have, with each side's rows in the given order."""
    if not comparable:
        return
    needed = rows.filter(f"run_id in ({_runs(comparable)})")
    names = ", ".join(("run_id", "variant", *columns))
    table = needed.order(f"{names}, {order}").fetchnumpy()
    keys = [table[name] for name in ("run_id", "variant", *columns)]
    slices = _slices(keys)
    for pair in comparable:
        before = slices.get((pair["baseline_run_id"], pair["baseline_variant"]), {})
        after = slices.get((pair["run_id"], pair["variant"]), {})
        for question in sorted(before.keys() & after.keys()):
            one, other = (
                {name: np.ma.getdata(column)[side[question]] for name, column in table.items()}
                for side in (before, after)
            )
            yield pair, question, (one, other)


def _slices(keys: Sequence[NDArray[Any]]) -> dict[tuple[str, str], dict[_Question, slice]]:
    """(run, variant) -> question -> where its rows lie in a table sorted by these columns."""
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
        run_id, variant, *question = (column[start] for column in keys)
        slices.setdefault((run_id, variant), {})[tuple(question)] = slice(int(start), int(stop))
    return slices


class _Features:
    """Word counts of runs, each read when it is first asked for; the last two are kept."""

    def __init__(self, counts: duckdb.DuckDBPyRelation) -> None:
        self._counts = counts
        self._read: dict[str, tuple[NDArray[np.str_], sparse.csr_array]] = {}

    def of(self, run_id: str) -> tuple[NDArray[np.str_], sparse.csr_array]:
        """A run's units in the order of their keys, and their word counts (n_units, n_words)."""
        if run_id not in self._read:
            while len(self._read) > 1:
                self._read.pop(next(iter(self._read)))
            quoted = run_id.replace("'", "''")
            columns = self._counts.filter(f"run_id = '{quoted}'").select("unit_key, word_id, n").fetchnumpy()
            keys, rows = np.unique(columns["unit_key"].astype(str), return_inverse=True)
            words, places = np.unique(columns["word_id"], return_inverse=True)
            matrix = sparse.csr_array(
                (np.asarray(columns["n"], dtype=np.float64), (rows, places)), shape=(keys.size, words.size)
            )
            matrix.sort_indices()
            # scikit-learn takes 32-bit indices alone.
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
            self._read[run_id] = keys, matrix
        return self._read[run_id]


def _word_units(rows: _Rows, features: tuple[NDArray[np.str_], sparse.csr_array]) -> WordUnits:
    keys, matrix = features
    trials = _in_no_order(np.ma.filled(rows["n_trials"], 1.0).astype(np.int64))
    places = np.searchsorted(keys, rows["unit_key"].astype(str))[trials]
    return WordUnits(
        rows["label"].astype(np.int8)[trials],
        rows["stratum"].astype(np.str_)[trials],
        np.unique(rows["cluster"].astype(str), return_inverse=True)[1].astype(np.int64)[trials],
        sparse.csr_array(matrix[places]),
        str(rows["weighting"][0]),
        rows["prompt"].astype(np.str_)[trials] if bool(rows["moves_prompts"][0]) else None,
    )


def _in_no_order(n_trials: NDArray[np.int64]) -> NDArray[np.intp]:
    """Every text as often as it was answered; repeats are mixed, so that the first so many are no copies of a few."""
    trials = np.repeat(np.arange(n_trials.size), np.maximum(n_trials, 1))
    if trials.size == n_trials.size:
        return trials
    return np.random.Generator(np.random.PCG64(trials.size)).permutation(trials)


def _cells(rows: _Rows, groups: NDArray[np.str_]) -> Cells:
    subjects, places = np.unique(rows["entity"].astype(np.str_), return_inverse=True)
    values = np.full((subjects.size, groups.size), np.nan)
    values[places, np.searchsorted(groups, rows["group_name"].astype(np.str_))] = rows["feature_value"]
    return Cells(values, subjects)


def _count_units(rows: _Rows, counts: Floats) -> CountUnits:
    keys, groups, strata, clusters = (
        rows[column].astype(np.str_) for column in ("unit_key", "group_name", "stratum", "cluster")
    )
    return CountUnits(keys, groups, strata, clusters, counts)


def _priced(rows: _Rows, domains: NDArray[np.str_], n_levels: int) -> CountUnits:
    inside = np.isin(rows["domain"].astype(np.str_), domains)
    rows = {name: column[inside] for name, column in rows.items()}
    _, first, places = np.unique(rows["unit_key"].astype(np.str_), return_index=True, return_inverse=True)
    counts = np.zeros((first.size, domains.size, n_levels))
    sets = np.searchsorted(domains, rows["domain"].astype(np.str_))
    np.add.at(counts, (places, sets, rows["level"].astype(np.int64) - 1), rows["n"].astype(np.float64))
    return _count_units({name: column[first] for name, column in rows.items()}, counts)
