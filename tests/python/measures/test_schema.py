"""Test how a result's dataclass becomes its table: columns, types and missing values."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import biasledger
from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.engine.design import stable_seed
from biasledger.measures.engine.resampling import PermutationResult
from biasledger.measures.schema import HIDDEN, Table, columns, prefixed, row, table_of
from biasledger.model_inputs.relations import as_relation


@dataclass(frozen=True)
class Part:
    mean: float
    n: int


@dataclass(frozen=True)
class Whole:
    name: str
    label: int | None
    is_large: bool
    part: Part | None = field(metadata=prefixed("part_"))
    other: Part
    unseen: object = field(default=None, metadata=HIDDEN)


@dataclass(frozen=True)
class Words:
    word: NDArray[np.str_]
    z: NDArray[np.float64]
    n: NDArray[np.int64]
    part: Part = field(metadata=prefixed("part_"))


@dataclass(frozen=True)
class Judged:
    value: float
    test: PermutationResult | None


TYPES = {
    "name": "str",
    "label": "Int64",
    "is_large": "bool",
    "part_mean": "float64",
    "part_n": "int64",
    "mean": "float64",
    "n": "int64",
}


IN_DUCKDB = {"str": "VARCHAR", "int64": "BIGINT", "Int64": "BIGINT", "bool": "BOOLEAN", "float64": "DOUBLE"}
PACKAGE = Path(biasledger.__file__).parent


def compared(*names: str, **settings) -> list[Comparison[None]]:
    return [Comparison(name, (name,), None, seed=3, **settings) for name in names]


def test_fields_are_columns_and_other_results_stand_for_theirs() -> None:
    assert columns(Whole) == TYPES
    assert row(Whole("a", 1, True, Part(0.5, 2), Part(1.5, 3))) == {
        "name": "a", "label": 1, "is_large": True, "part_mean": 0.5, "part_n": 2, "mean": 1.5, "n": 3,
    }  # fmt: skip


def test_of_no_result_the_missing_stands_and_types_stay() -> None:
    rows = [
        row(Whole("a", None, False, None, Part(np.nan, 3))),
        row(Whole("b", 2, True, Part(1, 2), Part(1, 3))),
    ]
    for some in (rows, rows[:1], []):
        found = table_of(columns(Whole), some).to_pandas()
        assert {name: str(type_) for name, type_ in found.dtypes.items()} == TYPES
    found = table_of(columns(Whole), rows).to_pandas()
    assert found["part_n"].tolist() == [0, 2]
    assert found[["label", "part_mean", "mean"]].isna().to_numpy().tolist() == [
        [True, True, True],
        [False, False, False],
    ]


def test_arrays_are_as_many_rows_and_single_values_stand_in_each() -> None:
    words = Words(np.array(["x", "y"]), np.array([0.5, np.nan]), np.array([1, 2]), Part(0.1, 9))
    none = Words(np.array([], dtype=str), np.array([]), np.array([], dtype=np.int64), Part(0.2, 8))
    found = table(
        Words, compared("a", "b", "c"), lambda one, _: none if one.key == "b" else words
    ).to_pandas()
    assert found["comparison_key"].tolist() == ["a", "a", "c", "c"]
    assert found["part_n"].tolist() == [9] * 4
    pd.testing.assert_series_equal(found.dtypes, table(Words, [], lambda *_: words).to_pandas().dtypes)


def test_a_table_is_a_relation_of_the_same_types_with_rows_or_without() -> None:
    rows = [
        row(Whole("é", None, False, None, Part(np.nan, 3))),
        row(Whole("b", 2**53 + 1, True, Part(1, 2), Part(1, 3))),
    ]
    with duckdb.connect() as connection:
        for some in (rows, []):
            found = as_relation(connection, table_of(columns(Whole), some))
            types = dict(zip(found.columns, map(str, found.types), strict=True))
            assert types == {name: IN_DUCKDB[type_] for name, type_ in TYPES.items()}
            assert len(found.fetchall()) == len(some)
        found = as_relation(connection, table_of(columns(Whole), rows))
        assert found.fetchall() == [
            ("é", None, False, None, 0, None, 3), ("b", 2**53 + 1, True, 1.0, 2, 1.0, 3),
        ]  # fmt: skip


def test_a_relation_is_no_table_that_is_called_alike_and_needs_no_files() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table given as select 'wrong' as word; set enable_external_access = false")
        one, other = (
            as_relation(connection, table_of({"word": "str"}, [{"word": word}])) for word in ("right", "left")
        )
        assert (one.fetchall(), other.fetchall()) == ([("right",)], [("left",)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": np.zeros(2), "b": np.zeros(3)}, "columns of a table are of one length"),
        ({"a": np.array(["x"])}, "the column a is <U1"),
    ],
)
def test_a_table_of_other_columns_is_refused(given: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(given)


def test_an_array_of_another_length_is_refused() -> None:
    words = Words(np.array(["x", "y"]), np.array([0.5]), np.array([1, 2]), Part(0.1, 9))
    with pytest.raises(ValueError, match="an array of 1 stands next to arrays of 2"):
        table(Words, compared("a"), lambda *_: words)


def test_what_models_import_is_without_pandas() -> None:
    """It takes as long to import as some audits to build."""
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for method in ("measures", "model_inputs")
        for path in sorted((PACKAGE / method).rglob("*.py"))
        if path.stem != "__init__"
    ]
    program = f"import sys, {', '.join(modules)}; sys.exit('pandas' in sys.modules)"
    assert len(modules) > 40
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_field_that_is_no_column_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        value: float
        values: list

    with pytest.raises(TypeError, match=r"^Odd\.values is no column: <class 'list'>$"):
        columns(Odd)


class TestTable:
    def test_what_is_drawn_has_its_seed_which_the_question_and_the_measure_make(self) -> None:
        test = PermutationResult(1.0, 0.5, 0.1, 0.01, 99, is_stopped_early=False)
        found = table(
            Judged, compared("a", "b"), lambda one, _: Judged(1, test if one.key == "a" else None), "gap"
        ).to_pandas()
        assert found["seed"].tolist() == [stable_seed(3, "gap", "a"), stable_seed(3, "gap", "b")]
        assert "observed" not in found
        columns_of_test = {name: value for name, value in asdict(test).items() if name != "observed"}
        assert found[list(columns_of_test)].to_dict("records")[0] == columns_of_test
        assert found["p_value"].isna().tolist() == [False, True]
        assert found["n_permutations"].tolist() == [99, 0]
        assert "seed" not in table(Part, compared("a"), lambda *_: Part(1.0, 2)).columns

    def test_a_comparison_gives_one_row_or_several_or_none(self) -> None:
        of = {"a": Part(1.0, 2), "b": [Part(1.0, 3), Part(1.0, 4)], "c": None}
        found = table(Part, compared("a", "b", "c"), lambda one, _: of[one.key], key="pair_key").to_pandas()
        assert found[["pair_key", "n"]].to_numpy().tolist() == [["a", 2], ["b", 3], ["b", 4]]

    def test_settings_come_with_the_comparison(self) -> None:
        drawn = []
        table(Part, compared("a", n_permutations=19, alpha=0.1), lambda _, draws: drawn.append(draws))
        assert drawn == [{"n_permutations": 19, "alpha": 0.1, "seed": stable_seed(3, "a")}]

    def test_errors_name_the_comparison(self) -> None:
        with pytest.raises(ValueError, match=r"^comparison a: could not convert"):
            table(Part, compared("a"), lambda *_: Part(float("x"), 1))
