"""Test the Python interface: fast to import, closed in queries, errors in one sentence."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import biasledger
from collector.errors import BiasledgerError, InputError
from tests.python.cli.conftest import add_run
from tests.python.docs.shell import ROOT

SPEC: dict[str, Any] = {
    "audit": "letters",
    "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
    "answer": {"kind": "text"},
    "import": {"columns": {"text": "text", "prompt": "prompt", "attributes": {"race": "race"}}},
    "analysis": {"words": {"schemes": ["words"]}},
}
ASKED = {
    "audit": "letters",
    "attributes": SPEC["attributes"],
    "answer": {"kind": "text"},
    "templates": [{"id": "letter", "text": "Write a letter for {a race} person."}],
    "trials": 15,
}


@pytest.fixture(scope="module")
def warehouse(audited: Path) -> biasledger.Warehouse[pd.DataFrame]:
    return biasledger.open(audited / "warehouse.duckdb")


# --- the package


def test_importing_it_imports_nothing() -> None:
    code = "import sys; before = set(sys.modules); import biasledger; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["biasledger"]


def test_its_names_exist_and_are_typed() -> None:
    stub = (ROOT / "biasledger" / "__init__.pyi").read_text(encoding="utf-8")
    for name in biasledger._INTERFACE:
        assert getattr(biasledger, name) is not None
        assert name in dir(biasledger)
        assert f" as {name}\n" in stub or f"\n{name} = " in stub
    with pytest.raises(AttributeError, match="no attribute 'opn'"):
        _ = biasledger.opn


# --- reading


def test_it_reads_what_the_commands_read(
    warehouse: biasledger.Warehouse[pd.DataFrame], audited: Path
) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        ids = [
            row[0]
            for row in connection.execute(
                "select finding_id from marts.fct_findings where is_current and status = 'alarm'"
            ).fetchall()
        ]
        runs = connection.execute("select run_id from marts.dim_runs where is_current").fetchall()
    alarms = warehouse.findings(status="alarm")
    assert len(alarms) == len(ids)
    assert all(sum(one.startswith(short) for one in ids) == 1 for short in alarms.finding)
    assert len(warehouse.findings(all_runs=True)) > len(warehouse.findings(status=["alarm", "clear"]))
    run = runs[0][0]
    assert set(warehouse.findings(run[:-1]).run_id) == {run}
    explained = warehouse.explain(alarms.finding[0], n_responses=0)
    assert explained.finding["finding_id"].startswith(alarms.finding[0])
    assert explained.data["answers"] == []
    assert "<pre" in explained._repr_html_()
    assert set(warehouse.tables()["table"]) >= {"fct_findings", "thresholds"}
    assert len(warehouse.table("settings.thresholds")) == len(warehouse.table("thresholds"))
    assert warehouse.query("groups_steered_where").shape[0] > 0


def test_frames_of_arrow_and_polars(audited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = biasledger.open(audited, frames="arrow").table("dim_runs")
    assert isinstance(table, pa.Table)
    assert table.num_rows
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=r"^Frames of polars need polars: pip install polars\.$"):
        biasledger.open(audited, frames="polars")
    monkeypatch.setitem(
        sys.modules, "polars", SimpleNamespace(from_arrow=lambda table: table.num_rows, __spec__=object())
    )
    assert biasledger.open(audited, frames="polars").table("dim_runs") == table.num_rows


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("select * from 'ledger.duckdb'", "reads the published tables alone"),
        ("copy fct_findings to 'x.csv'", "A query only reads: COPY is refused"),
        ("delete from fct_findings", "A query only reads: DELETE is refused"),
        ("set threads = 1", "A query only reads: SET is refused"),
        ("select 1; select 2", "has 2 statements and should have one"),
        ("select statuss from fct_findings", "did you mean 'status'?"),
        ("select statement::int from fct_findings", "Could not convert"),
        ("from pd_frame", "There is no table 'pd_frame'"),
    ],
)
def test_it_is_as_closed_as_a_query(
    warehouse: biasledger.Warehouse[pd.DataFrame], sql: str, sentence: str
) -> None:
    pd_frame = pd.DataFrame({"a": [1]})
    assert len(pd_frame) == 1
    with pytest.raises(InputError) as error:
        warehouse.query(sql)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_wrong_use_is_one_sentence(
    warehouse: biasledger.Warehouse[pd.DataFrame], audited: Path, tmp_path: Path
) -> None:
    for wrong, sentence in (
        (lambda: biasledger.open(tmp_path), "There is no warehouse at"),
        (lambda: biasledger.open(audited / "ledger.duckdb"), "is a ledger and no warehouse"),
        (lambda: biasledger.open(audited, frames="panda"), "did you mean 'pandas'?"),
        (lambda: warehouse.findings("latest"), "name one by its id."),
        (lambda: warehouse.findings("nobody"), "There is no run 'nobody'"),
        (lambda: warehouse.findings(status="alarms"), "did you mean 'alarm'?"),
        (lambda: warehouse.table("fct_x"), "There is no table"),
        (lambda: warehouse.explain("zz"), "There is no finding 'zz'"),
        (lambda: warehouse.report("nobody"), "There is no run 'nobody'"),
    ):
        with pytest.raises(BiasledgerError) as error:
            wrong()
        assert sentence in str(error.value)


# --- writing


def test_a_function_is_asked(tmp_path: Path) -> None:
    def answer(prompt: str, system: str | None, seed: int | None) -> str:
        return f"Dear friend, {prompt}"

    run = biasledger.collect(ASKED, answer, project=tmp_path / "letters")
    assert run.counts == {"ok": 30}
    assert run.target == "answer"
    assert not list((tmp_path / "letters").glob("audits/*")), "its audit is the one that was given"
    named = biasledger.collect(ASKED, "simulator", project=tmp_path / "letters")
    assert named.is_simulated


def test_what_cannot_be_asked_is_one_sentence(tmp_path: Path) -> None:
    async def later(prompt: str, system: str | None, seed: int | None) -> str:
        return ""

    for target, sentence in (
        (later, "later is async; name a plain function"),
        (lambda prompt: prompt, "should be named with lower-case letters, digits, - and _: give it a name."),
        (len, "is called with (prompt_text, system_prompt, seed)."),
        ("nobody", "has no target 'nobody'"),
    ):
        with pytest.raises(InputError) as error:
            biasledger.collect(ASKED, target, project=tmp_path / "project")
        assert sentence in str(error.value)
        assert (tmp_path / "project").exists() == (target == "nobody"), "a wrong function leaves no folder"
    with pytest.raises(InputError):
        biasledger.collect(tmp_path / "absent.yml", "simulator", project=tmp_path / "absent")
    assert not (tmp_path / "absent").exists()
    with pytest.raises(BiasledgerError, match=r"^No answer of run .* can be analysed"):
        biasledger.collect(
            ASKED, lambda *_: "I cannot help with that.", name="nothing", project=tmp_path / "project"
        )
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(InputError, match=r"There is no dbt_project\.yml"):
        biasledger.collect(ASKED, lambda *_: "x", name="nothing", project=tmp_path / "taken")
    with pytest.raises(InputError, match=r"There is no dbt_project\.yml"):
        biasledger.build(tmp_path / "taken")


@pytest.mark.parametrize("value", [["a"], {"a": 1}, object(), len, 1j])
def test_python_objects_among_texts_are_refused(value: object) -> None:
    frame = pd.DataFrame({"sex": ["f", "m"], "reply": pd.Series(["a reply", value], dtype=object)})
    with pytest.raises(InputError, match=r"^answers: row 2 has a Python \w+ as 'reply'; make it a text"):
        biasledger.audit(frame, answer="reply", group="sex")


def test_a_frame_is_audited_by_the_names_of_its_columns(tmp_path: Path) -> None:
    """Of 60 resumes asked about both groups, women are rejected in 45 and men in 15; the last row has no answer."""
    rows = [
        (f"resume {case}", sex, "reject" if (case < 45 if sex == "woman" else case >= 45) else "accept")
        for case in range(60)
        for sex in ("man", "woman")
    ]
    frame = pd.DataFrame([*rows, ("resume 60", "man", None)], columns=["resume", "sex", "decision"])
    with warnings.catch_warnings(action="ignore"):
        found = biasledger.audit(
            frame,
            answer="decision",
            group={"sex": "man"},
            subject="resume",
            favourable=["accept"],
            project=tmp_path,
        )
    [ratio] = found[found["measure"] == "impact_ratio"].to_dict("records")
    assert ratio["status"] == "alarm"
    assert ratio["value"] == pytest.approx(15 / 45)
    with pytest.raises(InputError, match=r"^An audit needs a spec, or the names of two columns"):
        biasledger.audit(frame, answer="decision", project=tmp_path)


def test_answers_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for answers, sentence in (
        ([1, 2], "Answers of type list cannot be read: give a data frame or a file."),
        (tmp_path / "none.csv", "none.csv"),
        (pd.DataFrame({"text": ["a"]}), "answers has no column 'race'; known: 'text'"),
        (
            pd.DataFrame({"text": [1, 10**6000]}),
            "answers: row 2 has a number of more than 4,300 digits as 'text'",
        ),
    ):
        with pytest.raises(BiasledgerError) as error:
            biasledger.audit(answers, SPEC, project=project)
        assert sentence in str(error.value)
        assert "\n" not in str(error.value)
    add_run(project / "ledger.duckdb", "other")
    with pytest.raises(InputError, match=r"^spec: the key import is missing"):
        biasledger.audit(pd.DataFrame({"text": ["a"]}), ASKED, project=project)
