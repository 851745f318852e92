"""Test that generated answers of every method become findings of that method through the real commands."""

from __future__ import annotations

from pathlib import Path

import click
import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main, sizes
from benchmarks.methods import METHODS, write_answers
from benchmarks.methods.asked import Asked, people
from biasledger.cli import cli
from biasledger.methods import method_names
from biasledger.project import init_project

N_ANSWERS = 600
N_WORDS = 30


def _asked(method: str, *, n_answers: int = N_ANSWERS, n_questions: int | None = None) -> Asked:
    return Asked(n_answers, N_WORDS, n_questions or METHODS[method].n_questions, 1)


def test_every_method_can_be_measured() -> None:
    choice = next(one.type for one in sizes.params if one.name == "methods")
    assert isinstance(choice, click.Choice)
    assert set(choice.choices) == set(METHODS) == set(method_names())


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_answers(method: str, tmp_path: Path) -> None:
    one, again, other = (tmp_path / f"{name}.parquet" for name in ("one", "again", "other"))
    write_answers(one, METHODS[method], _asked(method))
    write_answers(again, METHODS[method], _asked(method))
    write_answers(other, METHODS[method], Asked(N_ANSWERS, N_WORDS, None, 2))
    assert pq.read_table(one).num_rows == N_ANSWERS
    assert pq.read_table(one).equals(pq.read_table(again))
    assert not pq.read_table(one).equals(pq.read_table(other))


def test_questions_grow_with_answers_or_are_asked_again(tmp_path: Path) -> None:
    n_people, questions = len(people()), {}
    for limit in (None, 3):
        file = tmp_path / "answers.parquet"
        write_answers(file, METHODS["texts"], _asked("texts", n_answers=5 * n_people, n_questions=limit))
        questions[limit] = set(pq.read_table(file, columns=["question"])["question"].to_pylist())
    assert {limit: len(asked) for limit, asked in questions.items()} == {None: 5, 3: 3}


def test_a_method_that_is_none_is_refused() -> None:
    ended = CliRunner().invoke(main, ["sizes", "--method", "smells"])
    assert ended.exit_code == 2
    assert "'smells' is not one of" in ended.output


@pytest.mark.slow
@pytest.mark.long
def test_one_build_of_all_methods_has_findings_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    init_project(project)
    monkeypatch.chdir(project)
    for method, answers in METHODS.items():
        file = tmp_path / f"{method}.parquet"
        write_answers(file, answers, _asked(method))
        imported = CliRunner().invoke(cli, ["import", str(answers.audit), str(file), "--simulated"])
        assert imported.exit_code == 0, imported.output
    built = CliRunner().invoke(cli, ["build"])
    assert built.exit_code in {0, 1}, built.output
    with duckdb.connect("warehouse.duckdb", read_only=True) as warehouse:
        rows = warehouse.execute(
            "select method, count(*) filter (where status <> 'insufficient_data') from marts.fct_findings"
            " inner join settings.measures using (measure) group by method"
        ).fetchall()
    n_judged = dict(rows)
    assert {method for method in METHODS if n_judged.get(method, 0) > 0} == set(METHODS), n_judged
