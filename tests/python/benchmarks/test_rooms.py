"""Generated answers of every room go through the real commands, and come out as findings of that room."""

from __future__ import annotations

from pathlib import Path

import click
import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main, sizes
from benchmarks.rooms import ROOMS, write_answers
from benchmarks.rooms.asked import Asked, people
from biasledger.cli import cli
from biasledger.project import init_project
from biasledger.rooms import room_names

N_ANSWERS = 600
N_WORDS = 30


def _asked(room: str, *, n_answers: int = N_ANSWERS, n_questions: int | None = None) -> Asked:
    return Asked(n_answers, N_WORDS, n_questions or ROOMS[room].n_questions, 1)


def test_every_room_can_be_measured() -> None:
    choice = next(one.type for one in sizes.params if one.name == "rooms")
    assert isinstance(choice, click.Choice)
    assert set(choice.choices) == set(ROOMS) == set(room_names())


@pytest.mark.parametrize("room", ROOMS)
def test_the_same_seed_gives_the_same_answers(room: str, tmp_path: Path) -> None:
    one, again, other = (tmp_path / f"{name}.parquet" for name in ("one", "again", "other"))
    write_answers(one, ROOMS[room], _asked(room))
    write_answers(again, ROOMS[room], _asked(room))
    write_answers(other, ROOMS[room], Asked(N_ANSWERS, N_WORDS, None, 2))
    assert pq.read_table(one).num_rows == N_ANSWERS
    assert pq.read_table(one).equals(pq.read_table(again))
    assert not pq.read_table(one).equals(pq.read_table(other))


def test_questions_grow_with_answers_or_are_asked_again(tmp_path: Path) -> None:
    n_people, questions = len(people()), {}
    for limit in (None, 3):
        file = tmp_path / "answers.parquet"
        write_answers(file, ROOMS["texts"], _asked("texts", n_answers=5 * n_people, n_questions=limit))
        questions[limit] = set(pq.read_table(file, columns=["question"])["question"].to_pylist())
    assert {limit: len(asked) for limit, asked in questions.items()} == {None: 5, 3: 3}


def test_a_room_that_is_none_is_refused() -> None:
    ended = CliRunner().invoke(main, ["sizes", "--room", "smells"])
    assert ended.exit_code == 2
    assert "'smells' is not one of" in ended.output


@pytest.mark.slow
@pytest.mark.long
def test_one_build_of_all_rooms_has_findings_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    init_project(project)
    monkeypatch.chdir(project)
    for room, answers in ROOMS.items():
        file = tmp_path / f"{room}.parquet"
        write_answers(file, answers, _asked(room))
        imported = CliRunner().invoke(cli, ["import", str(answers.audit), str(file), "--simulated"])
        assert imported.exit_code == 0, imported.output
    built = CliRunner().invoke(cli, ["build"])
    assert built.exit_code in {0, 1}, built.output
    with duckdb.connect("warehouse.duckdb", read_only=True) as warehouse:
        rows = warehouse.execute(
            "select room, count(*) filter (where status <> 'insufficient_data') from marts.fct_findings"
            " inner join settings.measures using (measure) group by room"
        ).fetchall()
    n_judged = dict(rows)
    assert {room for room in ROOMS if n_judged.get(room, 0) > 0} == set(ROOMS), n_judged
