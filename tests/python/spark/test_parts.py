"""Test that measures on executors equal those on the driver to the last digit, however the parts are distributed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow
import pytest
from dbt_common.exceptions import DbtDatabaseError

from biasledger.measures.equal_sizes.words import word_sizes
from biasledger.measures.schema import Table, table_of
from biasledger.measures.words.judged import classifier_accuracies, divergences, word_statistics
from biasledger.model_inputs.models import measured, states_by_key, with_states
from biasledger.model_inputs.relations import as_relation
from biasledger.model_inputs.words import CORPUS, read_comparisons, read_pairs, read_word_pairs
from biasledger.project import init_project
from tests.python.project import Project
from tests.python.spark import methods
from tests.python.spark.cluster import SMALL, cluster, connect_server, needed

pytestmark = [
    pytest.mark.slow,
    # As open_session does for a process: pytest has filters of its own for each test.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
WORDS = ("comparisons", "members", "features", "vocabulary")
PER_RUN = ("int_run_pairs", "int_words_comparable_members", "int_words_comparable_counts")


class Model(NamedTuple):
    """A Python model of words: what it measures, how it reads which tables, and what is a part."""

    measure: Callable[[Iterable[Any]], Table]
    read: Callable[..., Iterable[Any]]
    tables: tuple[str, ...]
    by: tuple[str, ...] = CORPUS


_OF_WORDS = tuple(f"int_words_{name}" for name in WORDS)
MODELS = {
    "int_words_classifiers": Model(classifier_accuracies, read_comparisons, _OF_WORDS),
    "int_words_divergences": Model(divergences, read_pairs, ("pairs", *_OF_WORDS[1:], _OF_WORDS[0])),
    "int_words_statistics": Model(word_statistics, read_pairs, ("pairs", *_OF_WORDS[1:], _OF_WORDS[0])),
    "int_words_equal_sizes": Model(word_sizes, read_word_pairs, PER_RUN, ("pair_key",)),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the input tables of the models of words as Parquet, from a ledger of three runs."""
    needed("grpc_status")
    folder = tmp_path_factory.mktemp("parts")
    project = Project(folder / "project")
    init_project(project.folder)
    methods.plant_words(project)
    project.build()
    with duckdb.connect(str(project.work), read_only=True) as connection:
        for name in {table for model in MODELS.values() for table in model.tables} - {"pairs"}:
            (folder / name).mkdir()
            # As `rows_of_runs` adds it; pairs of runs have it.
            state = ", 'state' as run_state" if name == "int_words_comparisons" else ""
            rows = f"select *{state} from intermediate.{name}"
            connection.execute(f"copy ({rows}) to '{folder / name / 'rows.parquet'}'")
        (folder / "pairs").mkdir()
        pairs = "comparison <> 'all_groups' and n_marked_units > 0 and n_reference_units > 0"
        rows = f"select *, 'state' as run_state from intermediate.int_words_comparisons where {pairs}"
        connection.execute(f"copy ({rows}) to '{folder / 'pairs' / 'rows.parquet'}'")
    return folder


# CI tries Spark Connect only; test_build.py (long, too) builds everything in one process.
PLACES = [
    pytest.param("local[2]", marks=pytest.mark.long),
    pytest.param("a master and two workers", marks=pytest.mark.long),
    "Spark Connect",
]


@pytest.fixture(scope="module", params=PLACES)
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    needed("grpc_status")
    from biasledger.spark.session import end_of_server, open_session

    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        place = {"local[2]": None, "Spark Connect": connect_server}.get(request.param, cluster)
        if place is None:
            session = open_session(request.param, SMALL)
            yield session
            session.stop()
        else:
            with place(folder) as address:
                session = open_session(address, SMALL)
                yield session
                # Tests that follow in this process begin sessions of its own.
                end_of_server(session)


def _relations(model: Model, folder: Path) -> list[duckdb.DuckDBPyRelation]:
    connection = duckdb.connect()
    return [connection.read_parquet(str(folder / name / "*.parquet")) for name in model.tables]


def _here(model: Model, folder: Path) -> list[str]:
    relations = _relations(model, folder)
    table = measured(model.measure, model.read(*relations))
    states = states_by_key(relations[0], next(iter(table.columns)))
    return _cells(as_relation(duckdb.connect(), with_states(table, states)).to_arrow_table())


def _by_part(spark: Any, model: Model, folder: Path, n_tasks: int) -> list[str]:
    from biasledger.spark.parts import rows_by_part

    rows = rows_by_part(
        spark, model.measure, model.read, _relations(model, folder), model.by, n_tasks=n_tasks
    )
    return _cells(rows.toArrow())


def _cells(rows: pyarrow.Table) -> list[str]:
    """Every row to its last digit, in an order of no meaning."""
    return sorted(map(repr, rows.to_pylist()))


@pytest.mark.parametrize("name", list(MODELS))
def test_executors_measure_what_the_driver_does(spark: Any, tables: Path, name: str) -> None:
    here = _here(MODELS[name], tables)
    assert here
    for n_tasks in (1, 1_000):
        assert _by_part(spark, MODELS[name], tables, n_tasks) == here


def test_one_other_count_of_a_word_is_noticed(spark: Any, tables: Path, tmp_path: Path) -> None:
    model = MODELS["int_words_statistics"]
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    place = tmp_path / "int_words_features" / "rows.parquet"
    place.unlink()
    duckdb.read_parquet(str(tables / "int_words_features" / "rows.parquet")).select(
        "* replace (if(row_number() over () = 1, n_occurrences + 1, n_occurrences) as n_occurrences)"
    ).write_parquet(str(place))
    assert _by_part(spark, model, tmp_path, 2) != _here(model, tables)


def test_parts_are_measured_in_other_processes(spark: Any, tables: Path) -> None:
    def where(comparisons: Iterable[Any]) -> Table:
        rows = [{"comparison_key": one.key, "pid": os.getpid()} for one in comparisons]
        return table_of({"comparison_key": "str", "pid": "int64"}, rows)

    model = MODELS["int_words_classifiers"]._replace(measure=where)
    processes = _by_part(spark, model, tables, 1_000)
    assert processes
    assert not any(f"'pid': {os.getpid()}," in row for row in processes)


def test_an_error_on_an_executor_is_one_sentence(spark: Any, tables: Path) -> None:
    from biasledger.spark.adapter import as_dbt_errors

    def refuse(comparisons: Iterable[Any]) -> Table:
        for one in comparisons:
            raise ValueError(f"comparison {one.key}:\nno texts")
        return table_of({"comparison_key": "str"}, [])

    model = MODELS["int_words_classifiers"]._replace(measure=refuse)
    sentence = (
        r"On an executor, where \"run_id\" = '[^']+' and \"mitigation\" = '[^']+' and \"scheme\" = '[^']+': "
        r"ValueError: comparison \w+: no texts"
    )
    with pytest.raises(DbtDatabaseError, match=rf"^Database Error\n  {sentence}$"), as_dbt_errors():
        _by_part(spark, model, tables, 1)


def test_a_part_reads_its_rows_its_keys_and_of_the_rest_everything() -> None:
    needed()
    from biasledger.spark.parts import _of_part

    with duckdb.connect() as connection:
        relations = [
            connection.sql(
                "from (values ('r', 'k1', 's1'), ('r', 'k2', null), ('o', 'k3', 's3')) t(run_id, a_key, b_key)"
            ),
            connection.sql("from (values ('r', 'k4'), ('o', 'k3')) t(run_id, a_key)"),
            connection.sql("from (values ('k1', 1), ('k3', 3), ('k4', 4), ('k5', 5)) t(a_key, n)"),
            connection.sql("from (values ('s1', 1), ('s3', 3)) t(b_key, n)"),
            connection.sql("from (values (1)) t(n)"),
        ]
        found = [rows.order("all").fetchall() for rows in _of_part(relations, ["run_id"], "run_id = 'r'")]
    assert found == [
        [("r", "k1", "s1"), ("r", "k2", None)],
        [("r", "k4")],
        [("k1", 1), ("k4", 4)],
        [("s1", 1)],
        [(1,)],
    ]
