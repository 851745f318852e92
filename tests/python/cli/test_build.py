"""Test `biasledger build` on a few small models: alarms, a clean run, and every case in which nothing is published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from biasledger.building.analysis_settings import register_analysis_settings
from biasledger.building.build import build_warehouse
from biasledger.publishing.work import locked
from collector.errors import InputError
from collector.ledger.database import Ledger
from tests.python.cli.conftest import write_files
from tests.python.running import biasledger, rows_in


def set_findings(folder: Path, *rows: str) -> None:
    header = "group_name,value,status,is_simulated"
    (folder / "seeds" / "thresholds.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")


def test_alarms_end_with_1_and_are_printed_first(small_project: Path) -> None:
    set_findings(
        small_project, "Asian,0.001,clear,true", "Black,0.5,alarm,true", "Latino,0.03,inconclusive,true"
    )
    result = biasledger("build", code=1)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "products, target robot (simulated), run run-1" in lines
    rows = [line for line in lines if " race " in line]
    assert rows == [
        "f-Blac alarm race Black vs White word_divergence 0.5 0.02 0.0004",
        "f-Lati inconclusive race Latino vs White word_divergence 0.03 0.02 0.0004",
        "f-Asia clear race Asian vs White word_divergence 0.001 0.02 0.0004",
    ]
    assert "3 findings: 1 alarm, 1 inconclusive, 1 clear, 0 insufficient data." in result.stdout
    assert "The run run-2 is not finished, so that products of robot still goes by" in result.stdout
    assert "Next: biasledger findings --status alarm --why" in result.stdout
    why = biasledger("findings", "--status", "alarm", "--why").stdout.splitlines()
    (place,) = [number for number, line in enumerate(why) if "Black vs White" in line]
    assert why[place + 1] == "    because Ask more."
    assert why[-1].startswith("Next: biasledger explain f-Blac, or another id")
    assert "START" not in result.output, "dbt's log stays in its file"
    assert "no_alarms" in (small_project / "logs" / "dbt.log").read_text(encoding="utf-8")


def test_no_alarms_end_with_0_and_the_findings_can_be_read_again(small_project: Path) -> None:
    set_findings(small_project, "Asian,0.001,clear,false")
    result = biasledger("build", "--threads", "2", "--full-refresh", code=0)
    assert "8 models and settings built, 2 quality tests passed, 1 alarm tests run in" in result.stdout
    assert result.stdout.endswith("Next: biasledger explain f-Asia\n")
    again = biasledger("findings", "--run", "run-1", "--all", code=0)
    assert again.stdout.splitlines()[0] == "products, target robot, run run-1", (
        "only simulated runs are called so"
    )
    assert [line for line in again.stdout.splitlines() if "Asian" in line] == [
        line for line in result.stdout.splitlines() if "Asian" in line
    ]
    assert biasledger("findings", "--status", "alarm").stdout.strip().startswith("0 findings")
    unknown = biasledger("findings", "--run", "run-2", code=3)
    assert "did you mean 'run-1'?" in unknown.stderr


def test_a_failed_model_is_named_with_its_message(small_project: Path) -> None:
    warehouse = small_project / "warehouse.duckdb"
    duckdb.connect(str(warehouse)).close()
    before = warehouse.read_bytes()
    write_files(
        small_project,
        {"models/mine.sql": "select nothing_like_it from {{ ref('biasledger', 'fct_findings') }}"},
    )
    result = biasledger("build", code=3)
    assert "Nothing was published: model mine failed: " in result.stderr
    assert "nothing_like_it" in result.stderr
    assert warehouse.read_bytes() == before
    # A slow machine says how far it is.
    assert sum(not line.startswith("Building: ") for line in result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_failed_python_model_shows_its_error_not_its_traceback(small_project: Path) -> None:
    python_model = """
        def model(dbt, session):
            dbt.config(materialized="table")
            if dbt.this:
                raise ValueError("no such scheme: wrods")
            return session.sql("select 1 as one")
        """
    write_files(small_project, {"models/mine.py": python_model})
    result = biasledger("build", "--select", "mine", code=3)
    assert "model mine failed" in result.stderr
    assert "ValueError: no such scheme: wrods (the whole log" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_project_that_dbt_cannot_read_is_one_sentence(small_project: Path) -> None:
    write_files(small_project, {"models/mine.sql": "select * from {{ ref('no_such_model') }}"})
    result = biasledger("build", code=3)
    assert result.stderr.startswith("Error: dbt could not build:")
    assert result.stderr.count("no_such_model") == 1
    assert result.stderr.count("\n") == 1


def published(folder: Path) -> list[tuple[object, ...]]:
    return rows_in(folder / "warehouse.duckdb", "select group_name, value from fct_findings")


@pytest.mark.slow
def test_alarms_do_not_stop_publication_and_failures_do(small_project: Path) -> None:
    set_findings(small_project, "Asian,0.001,clear,true")
    assert biasledger("build").exit_code == 0
    set_findings(small_project, "Black,0.5,alarm,true")
    result = biasledger("build", code=1)
    assert "8 tables published in warehouse.duckdb." in result.stdout
    assert published(small_project) == [("Black", 0.5)]
    before = (small_project / "warehouse.duckdb").read_bytes()

    set_findings(small_project, "Latino,,alarm,true")
    result = biasledger("build", code=3)
    assert result.stderr.startswith(
        "Error: Nothing was published: quality test not_null_thresholds_value failed: Got 1 result"
    )
    assert "logs/dbt.log" in result.stderr
    assert (small_project / "warehouse.duckdb").read_bytes() == before

    assert [path.name for path in small_project.glob(".*.duckdb*")] == []
    assert biasledger("findings").exit_code == 0


@pytest.mark.slow
def test_the_user_s_own_public_models_are_published_and_private_ones_are_not(small_project: Path) -> None:
    write_files(
        small_project,
        {
            "models/mine.sql": "select group_name from {{ ref('biasledger', 'fct_findings') }}",
            "models/inner.sql": "select 1 as one",
            "models/_mine.yml": """
                models:
                  - name: mine
                    description: "Grain: my group."
                    config: {access: public, materialized: view, persist_docs: {relation: true}}
                """,
        },
    )
    assert biasledger("build").exit_code == 1
    assert rows_in(small_project / "warehouse.duckdb", "from mine") == [("Black",)]
    tables = "select table_name, comment from duckdb_tables() where schema_name = 'main' order by 1"
    assert rows_in(small_project / "warehouse.duckdb", tables) == [
        ("dim_runs", None),
        ("exceptions", None),
        ("fct_alarms", None),
        ("fct_findings", "Grain: finding. What 'was' found."),
        ("mine", "Grain: my group."),
        ("model_prices", None),
        ("output_thresholds", None),
        ("thresholds", None),
        ("tolerances", None),
    ]
    keys = "select table_name, key_columns from publication.tables where len(key_columns) > 0"
    assert rows_in(small_project / "warehouse.duckdb", keys) == [("fct_findings", ["finding_id"])]
    ((build_id,),) = rows_in(small_project / "warehouse.duckdb", "select build_id from publication.build")
    built = json.loads((small_project / "target" / "run_results.json").read_text(encoding="utf-8"))
    assert build_id == built["metadata"]["invocation_id"]

    # A deleted work file costs nothing but time.
    before = published(small_project)
    shutil.rmtree(small_project / ".biasledger" / "work")
    assert biasledger("build").exit_code == 1
    assert published(small_project) == before


def test_two_builds_at_once(small_project: Path) -> None:
    """They share dbt's target folder, even with different warehouses."""
    for arguments in ((), ("--warehouse", "elsewhere.duckdb")):
        with locked(small_project):
            result = biasledger("build", *arguments)
        assert result.exit_code == 3
        assert result.stderr == (
            "Error: Another `biasledger build` or `biasledger compare` is under way in this project: wait until it ends.\n"
        )


def test_the_ledger_is_not_taken_for_the_warehouse(small_project: Path) -> None:
    result = biasledger("build", "--warehouse", "ledger.duckdb", code=3)
    assert result.stderr == "Error: ledger.duckdb is the ledger: name another file for the warehouse.\n"


@pytest.mark.slow
def test_a_selection_builds_only_that_and_reports_progress(small_project: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    summary = build_warehouse(
        small_project,
        small_project / "ledger.duckdb",
        small_project / "elsewhere.duckdb",
        select=["thresholds"],
        on_step=lambda done, total, name: steps.append((done, total, name)),
    )
    assert (summary.n_models, summary.n_quality_tests, summary.n_alarm_tests) == (1, 1, 0)
    assert summary.alarm_tests == ()
    assert steps == [(1, 2, "thresholds"), (2, 2, "not_null_thresholds_value")]
    assert summary.published == {}
    assert not (small_project / "elsewhere.duckdb").exists(), "published tables are all of one build"
    assert rows_in(summary.work, "from thresholds") == [("Black", 0.5, "alarm", True)]


def test_an_interrupted_build_says_what_is_kept(small_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr("biasledger.building.running.Dbt.run", interrupted)
    result = biasledger("build", code=130)
    assert result.stderr.strip() == (
        "Stopped: warehouse.duckdb is as it was. The next build uses the measures that were done, which are in "
        ".biasledger/work/warehouse.duckdb, unless settings change."
    )
    monkeypatch.setattr("biasledger.building.build.runs_on_spark", lambda *_: True)
    assert biasledger("build").stderr.strip() == (
        "Stopped: warehouse.duckdb is as it was. The next build on Spark starts from the beginning."
    )


def test_readings_of_audits_in_the_ledger_are_registered_once(
    small_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = small_project / "ledger.duckdb"
    assert register_analysis_settings(small_project, ledger) == ["products"], "personas is not in this ledger"
    opened: list[Path] = []
    append = Ledger.append
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "append", lambda one: opened.append(one.path) or append(one))
        register_analysis_settings(small_project, ledger)
    assert opened == [], "nothing is to be written"
    query = "select audit, analysis ->> '$.words.schemes[0]' from raw.analysis_settings"
    assert rows_in(ledger, query) == [("products", "words")]

    # Another project reads them otherwise; here they are as before.
    with Ledger(ledger).append() as append_to:
        append_to.analysis("products", {"words": {"schemes": ["other"]}})
    register_analysis_settings(small_project, ledger)
    found = rows_in(ledger, f"{query} order by registered_at")
    assert [scheme for _, scheme in found] == ["words", "other", "words"]


def test_two_files_of_one_audit_are_both_left_out(small_project: Path) -> None:
    audits, notes = small_project / "audits", list[str]()
    shutil.copy(audits / "products.yml", audits / "copy.yml")
    assert (
        register_analysis_settings(small_project, small_project / "ledger.duckdb", on_note=notes.append) == []
    )
    (note,) = notes
    assert note == (
        f"Warning: {audits / 'copy.yml'} and {audits / 'products.yml'} both describe the audit 'products': neither is read, and "
        f"its runs keep their last settings. Rename one of them."
    )


def test_a_wrong_audit_file_stops_no_build(small_project: Path) -> None:
    ledger, draft = small_project / "ledger.duckdb", small_project / "audits" / "my draft.yml"
    notes: list[str] = []
    draft.write_text("audit: draft\ntemplates: [{id: 1}]\n", encoding="utf-8")
    assert register_analysis_settings(small_project, ledger, on_note=notes.append) == ["products"]
    message = f"`biasledger validate '{draft}'` shows what is wrong"
    assert notes == [
        f"{draft} is left out: it has problems, and the ledger has no run of 'draft'; {message}."
    ]
    for text in ("templates: []\n", "audit: [\n", "audit: products\ntemplates: [{id: 1}]\n"):
        notes.clear()
        draft.write_text(text, encoding="utf-8")
        assert register_analysis_settings(small_project, ledger, on_note=notes.append) == ["products"]
        (note,) = notes
        assert note.startswith(f"Warning: {draft}: ")
        assert note.endswith(f"; {message}.")
    assert "the runs of 'products' keep their last settings" in note


@pytest.mark.slow
def test_nothing_judged_is_said(small_project: Path) -> None:
    set_findings(small_project)
    result = biasledger("build", code=0)
    assert "Nothing could be judged: there is no finding.\n" in result.stdout
    assert "0 findings" not in result.stdout
    assert "Nothing could be judged: there is no finding.\n" in biasledger("findings").stdout


def test_a_missing_ledger_is_one_sentence(small_project: Path) -> None:
    (small_project / "ledger.duckdb").unlink()
    result = biasledger("build", code=3)
    assert "There is no ledger at ledger.duckdb" in result.stderr
    assert not (small_project / "warehouse.duckdb").exists()


def test_outside_a_project_the_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = biasledger("build", code=3)
    assert "`biasledger init .`" in result.stderr
    with pytest.raises(InputError):
        build_warehouse(tmp_path, tmp_path / "ledger.duckdb", tmp_path / "warehouse.duckdb")
