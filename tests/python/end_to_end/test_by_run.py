"""Test that incremental builds equal full builds when a run grows, stays, or is analysed or grouped differently."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchmarks.same import differences
from biasledger.building.build import build_warehouse
from biasledger.publishing.work import work_file
from collector.ledger.database import Ledger
from collector.ledger.labels import Label, keep_labels
from tests.python.project import Project, import_spec

from .planting import echoes, marker_lists, odd_decisions, odd_lists, odd_prices
from .planting.texts import made_texts

pytestmark = pytest.mark.slow
NewProject = Callable[[], Project]
# Some incremental tables; each is compared with that of a full build.
OF_MARKERS = [
    "int_markers_counts",
    "int_markers_found",
    "int_markers_scores",
    "int_markers_texts",
    "int_markers_units",
]
SOME_BY_RUN = {
    *OF_MARKERS,
    *("int_answers_counts", "int_answers_gap_prompts", "int_markers_label_scores"),
    *("int_prompt_groups", "int_run_answers", "int_words_members", "int_words_units"),
    *("dim_prompt_groups", "fct_answer_quality", "fct_marker_counts", "fct_stereotype_scores"),
}
MARKERS = """list,marker,kind,direction,group
first,word1,word,stereotype,
first,word2,stem,anti,
second,word3,word,stereotype,
second,word6,word,anti,Black
,word4 word1,phrase,anti,
"""


def _spec() -> dict[str, Any]:
    """Texts that are read by words and by markers."""
    spec = import_spec("texts")
    spec["analysis"]["markers"] = {"file": "markers.csv", "schemes": ["declared", "substring"], "minimum": 1}
    return spec


@pytest.fixture(scope="module")
def two_runs(new_project: NewProject) -> Project:
    """The same audit imported twice, with other texts, which begin alike; not built."""
    project = new_project()
    (project.folder / "audits" / "markers.csv").write_text(MARKERS, encoding="utf-8")
    audit = project.write_audit("texts", _spec())
    for seed in (1, 2):
        file = project.folder / "texts.csv"
        made_texts(seed).to_csv(file, index=False)
        project.import_file(audit, file)
    return project


@pytest.fixture
def project(two_runs: Project, tmp_path: Path) -> Project:
    return Project(Path(shutil.copytree(two_runs.folder, tmp_path / "project", symlinks=True)))


def _runs(project: Project) -> list[str]:
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        return [
            run for (run,) in connection.execute("select run_id from raw.runs order by started_at").fetchall()
        ]


def _change(project: Project, *statements: str) -> None:
    with duckdb.connect(str(project.ledger)) as connection:
        for statement in statements:
            connection.execute(statement)


def _without_run(run: str) -> Sequence[str]:
    tables = ("runs", "run_events", "prompts", "prompt_attributes", "responses", "chain", "seals")
    return [f"delete from raw.{table} where run_id = '{run}'" for table in tables]


def _differences(project: Project, new_project: NewProject) -> list[str]:
    """Return the differences between this project and one build of the same ledger, audits and settings."""
    whole = new_project()
    for folder in ("audits", "seeds"):
        shutil.copytree(project.folder / folder, whole.folder / folder, dirs_exist_ok=True)
    shutil.copyfile(project.ledger, whole.ledger)
    whole.build()
    found = differences(project.warehouse, whole.warehouse)
    tables = project.tables_by_run()
    assert tables == whole.tables_by_run()
    assert {table.split(".")[1] for table in tables} >= SOME_BY_RUN
    assert all(
        whole.work_rows(f"select count(*) from intermediate.{table}") != [(0,)] for table in OF_MARKERS
    )
    with duckdb.connect() as connection:
        connection.execute(f"attach '{project.work}' as one (read_only)")
        connection.execute(f"attach '{whole.work}' as other (read_only)")
        for table in tables:
            rows = f"from {{}}.{table}"
            query = f"({rows.format('one')} except all {rows.format('other')})"
            query += f" union all ({rows.format('other')} except all {rows.format('one')})"
            found += [f"{table}: {row}" for row in connection.execute(query).fetchmany(1)]
    return found


def test_a_run_grows_and_others_come(project: Project, new_project: NewProject) -> None:
    first, second = _runs(project)
    ledger = project.ledger.read_bytes()
    _change(
        project, *_without_run(second), f"delete from raw.responses where run_id = '{first}' and seq % 3 = 0"
    )
    project.build()
    [(n_before,)] = project.work_rows("select count(*) from intermediate.int_words_units")
    project.ledger.write_bytes(ledger)
    project.build(is_forced=True)
    [(n_after,)] = project.work_rows("select count(*) from intermediate.int_words_units")
    assert n_after == 3 * n_before
    assert _differences(project, new_project) == []


def test_a_warehouse_may_lie_and_be_called_as_one_likes(project: Project, tmp_path: Path) -> None:
    """The database that tables are made in is named after its file."""
    _, second = _runs(project)
    warehouse = tmp_path / "out" / "my-audits of may.duckdb"
    ledger = project.ledger.read_bytes()
    _change(project, *_without_run(second))
    build_warehouse(project.folder, project.ledger, warehouse)
    project.ledger.write_bytes(ledger)
    build_warehouse(project.folder, project.ledger, warehouse)
    with duckdb.connect(str(work_file(project.folder, warehouse)), read_only=True) as connection:
        built = connection.execute("select why from intermediate.int_build_runs order by all").fetchall()
    assert built == [("new",), ("same",)]
    project.build()
    assert differences(project.warehouse, warehouse) == []


def test_by_hand_a_published_warehouse_is_not_written_into(project: Project) -> None:
    project.build()
    before = project.warehouse.stat().st_mtime_ns
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "show", "--inline", "select 1"]
    shown = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout
    assert project.warehouse.stat().st_mtime_ns == before
    with duckdb.connect(str(project.warehouse), read_only=True) as connection:
        tables = connection.execute("select table_name from duckdb_tables()").fetchall()
    assert ("int_build_runs",) not in tables


@pytest.mark.long
def test_where_the_project_s_own_settings_change_every_run_is_built(
    project: Project, new_project: NewProject
) -> None:
    """A table that was somewhere else for one build has missed what came then."""
    first, _ = _runs(project)
    file = project.folder / "dbt_project.yml"
    before = file.read_text(encoding="utf-8")
    project.build()
    elsewhere = "models: {biasledger: {findings: {fct_answer_quality: {+schema: reporting}}}}\n"
    file.write_text(f"{before}\n{elsewhere}", encoding="utf-8")
    _change(project, f"delete from raw.responses where run_id = '{first}' and seq % 3 = 0")
    project.build()
    file.write_text(before, encoding="utf-8")
    project.build()
    whole = new_project()
    shutil.copytree(project.folder / "audits", whole.folder / "audits", dirs_exist_ok=True)
    shutil.copyfile(project.ledger, whole.ledger)
    whole.build()
    assert differences(project.warehouse, whole.warehouse) == []


@pytest.mark.long
def test_odd_audits_come_one_after_another(new_project: NewProject) -> None:
    """Every method, with unequal groups, repeated answers, names for several people and answers that are refused or missing."""
    project = new_project()
    for odd in (odd_decisions, marker_lists, odd_lists, odd_prices, echoes):
        odd.plant(project)
        project.build()
    assert _differences(project, new_project) == []


@pytest.mark.long
def test_groups_and_weights_are_others(project: Project, new_project: NewProject, tmp_path: Path) -> None:
    """A build also notices changes that no collector makes: no row contradicts the ledger."""
    first, second = _runs(project)
    project.build()
    before = Path(shutil.copy(project.warehouse, tmp_path / "before.duckdb"))
    _change(
        project,
        "update raw.prompt_attributes set group_name = if(group_name = 'Black', 'Asian', 'Black') "
        f"where run_id = '{first}' and group_name in ('Asian', 'Black')",
        # All alike, which a sum of hashes may not see.
        f"update raw.responses set weight = 2 where run_id = '{second}'",
    )
    project.build(is_forced=True)
    assert any("fct_marked_words" in message for message in differences(before, project.warehouse))
    # Pairs of runs are cached by their answers alone: of groups that change under them they know nothing.
    found = _differences(project, new_project)
    assert [message for message in found if not message.startswith("marts.fct_run_comparisons:")] == []


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(
            {"words": {"remove": {"more": ["word3", "word1 word2"]}}},
            id="words removed",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {
                "words": {"schemes": ["words", "seed"]},
                "markers": {"schemes": ["declared", "stem"], "minimum": 2},
            },
            id="schemes",
        ),
        pytest.param({"crossed": ["race*gender"]}, id="crossed", marks=pytest.mark.long),
        pytest.param({}, id="other markers", marks=pytest.mark.long),
    ],
)
def test_it_is_read_in_another_way(
    project: Project, new_project: NewProject, changed: dict[str, Any]
) -> None:
    project.build()
    hits = project.work_rows("select * from intermediate.int_markers_counts order by all")
    spec = _spec()
    for method, value in changed.items():
        spec["analysis"][method] = (
            {**spec["analysis"][method], **value} if method in spec["analysis"] else value
        )
    if not changed:
        other = MARKERS.replace("word3", "word5").replace("word2,stem", "word2,word")
        (project.folder / "audits" / "markers.csv").write_text(other, encoding="utf-8")
    project.write_audit("texts", spec)
    project.build()
    if not changed:
        assert project.work_rows("select * from intermediate.int_markers_counts order by all") != hits
    assert _differences(project, new_project) == []


def test_scores_labels_and_thresholds_come_later(project: Project, new_project: NewProject) -> None:
    """These change a run's rows without a new answer."""
    first, second = _runs(project)
    project.build()
    scored = "from raw.responses where run_id = '{}' and status = 'ok'"
    _change(
        project,
        "insert into raw.response_scores select run_id, prompt_id, trial, attempt, 'one', 'negative', "
        f"hash(prompt_id, trial) % 100 / 100, false, now() {scored.format(first)}",
    )
    project.build(is_forced=True)
    shares = "select run_id, scorer, sum(n_answers) from marts.fct_regard_shares group by all order by all"
    before = project.rows(shares)
    assert {(run, scorer) for run, scorer, _ in before} == {(first, "one")}
    assert _differences(project, new_project) == []

    _change(
        project,
        "update raw.response_scores set score = 1 - score where trial % 2 = 0",
        "insert into raw.response_scores select run_id, prompt_id, trial, attempt, 'other', 'negative', 0.9, false, now() "
        f"{scored.format(second)}",
    )
    thresholds = project.folder / "seeds" / "output_thresholds.csv"
    text = thresholds.read_text(encoding="utf-8")
    thresholds.write_text(
        f"{text}negative_regard,texts,0.31,0.31,a test of judging anew,none\n", encoding="utf-8"
    )
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        answers = connection.execute(
            f"select prompt_id, trial {scored.format(first)} order by all limit 20"
        ).fetchall()
    labels = [
        Label(first, prompt_id, trial, "problematic" if n % 3 else "acceptable")
        for n, (prompt_id, trial) in enumerate(answers)
    ]
    keep_labels(Ledger(project.ledger), labels, "ada", is_drawn=True)
    past = "select count(*) from marts.fct_stereotype_scores where is_past_threshold"
    n_before = project.rows(past)
    project.build(is_forced=True)
    assert project.rows(past) != n_before
    assert len(project.rows(shares)) == 2
    labelled = "select distinct run_id from intermediate.int_markers_label_rates where n_labelled > 0"
    assert project.work_rows(labelled) == [(first,)]
    assert _differences(project, new_project) == []


def test_of_what_did_not_change_nothing_is_made_again(project: Project) -> None:
    first, second = _runs(project)
    project.build()
    with duckdb.connect(str(project.work)) as connection:
        connection.execute("update marts.fct_answer_quality set n_distinct_texts = -7")
        n_left = {}
        for table in OF_MARKERS:
            of_first = f"from intermediate.{table} where run_id = '{first}'"
            # Without the row of a unit's tokens, its hits would be too many.
            one = f"select min(rowid) {of_first}{' and list is not null' if table.endswith('list_units') else ''}"
            connection.execute(f"delete from intermediate.{table} where rowid = ({one})")
            [(n_left[table],)] = connection.execute(f"select count(*) {of_first}").fetchall()
    project.pass_as_built()
    _change(project, f"update raw.responses set weight = 2 where run_id = '{second}' and seq = 5")
    project.build(is_forced=True)
    message = project.rows(
        "select distinct run_id, n_distinct_texts = -7 from marts.fct_answer_quality order by all"
    )
    assert message == sorted([(first, True), (second, False)])
    # A missing row of a run that is up to date is not made either.
    assert all(n_left.values())
    assert n_left == {
        table: n
        for table in OF_MARKERS
        for (n,) in project.work_rows(f"select count(*) from intermediate.{table} where run_id = '{first}'")
    }


@pytest.mark.long
def test_a_method_that_was_left_out_keeps_nothing_of_builds_before(
    project: Project, new_project: NewProject
) -> None:
    """Its tables are of the same runs with the same analysis, but they were not built here."""
    project.build()
    with duckdb.connect(str(project.work)) as connection:
        connection.execute("delete from intermediate.int_markers_texts where rowid = 0")
    project.pass_as_built()
    spec = _spec()
    del spec["analysis"]["markers"]
    project.write_audit("texts", spec)
    project.build()
    assert project.work_rows("select count(*) from intermediate.int_markers_texts") != [(0,)]
    project.write_audit("texts", _spec())
    project.build()
    assert _differences(project, new_project) == []


@pytest.mark.long
def test_after_a_selection_or_other_materialisations_all_is_made_of_what_there_is(
    project: Project, new_project: NewProject
) -> None:
    ledger = project.ledger.read_bytes()
    first, _ = _runs(project)
    _change(project, f"delete from raw.responses where run_id = '{first}' and seq % 3 = 0")
    project.build()
    project.ledger.write_bytes(ledger)
    # Units of all texts against words of the earlier ones.
    project.build(select=["+int_words_units", "int_words_comparison_units"])
    project.build(is_forced=True)
    assert _differences(project, new_project) == []

    with (project.folder / "dbt_project.yml").open("a", encoding="utf-8") as settings:
        settings.write("\nmodels: {biasledger: {intermediate: {+materialized: table}}}\n")
    before = project.warehouse.read_bytes()
    project.build()
    other = project.folder / "before.duckdb"
    other.write_bytes(before)
    assert differences(project.warehouse, other) == []
