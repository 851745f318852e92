"""Test the dashboard in examples/superset: each chart's query, and its import into Superset."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT

FOLDER = ROOT / "examples/superset"
FILES = {
    file.relative_to(FOLDER): yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted(FOLDER.rglob("*.yaml"))
}
CHARTS = {path.stem: content for path, content in FILES.items() if path.parts[0] == "charts"}
DATASETS = {content["uuid"]: content for path, content in FILES.items() if path.parts[0] == "datasets"}
OPERATORS = {"==": "= '{}'", ">": "> {}", "IS TRUE": "is true"}
# Superset's Python, which the test makes none of: the whole installation takes minutes.
SUPERSET = os.environ.get("SUPERSET_PYTHON", "")
ASKED = """
import json, sys
from superset.app import create_app
app = create_app()
with app.app_context():
    from flask import g
    from superset import db, security_manager
    from superset.charts.schemas import ChartDataQueryContextSchema
    from superset.commands.chart.data.get_data_command import ChartDataCommand
    from superset.models.slice import Slice
    rows = {}
    with app.test_request_context():
        g.user = security_manager.find_user("admin")
        for chart in db.session.query(Slice):
            query = json.loads(sys.argv[1])[chart.slice_name]
            asked = {"datasource": {"id": chart.datasource_id, "type": "table"}, "queries": [query]}
            command = ChartDataCommand(ChartDataQueryContextSchema().load(asked))
            command.validate()
            rows[chart.slice_name] = command.run()["queries"][0]["rowcount"]
print("ROWS " + json.dumps(rows))
"""


def columns(params: dict[str, Any]) -> list[str]:
    if params["viz_type"] == "table":
        return list(params["all_columns"])
    return [params["x_axis"], *params["groupby"]]


@pytest.mark.slow
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_asks_for_columns_of_the_warehouse(chart: str, first_audit: FirstAudit) -> None:
    params, dataset = CHARTS[chart]["params"], DATASETS[CHARTS[chart]["dataset_uuid"]]
    metrics = [metric["sqlExpression"] for metric in params.get("metrics", [])]
    conditions = [
        f"{filtered['subject']} {OPERATORS[filtered['operator']].format(filtered['comparator'])}"
        for filtered in params["adhoc_filters"]
    ]
    sorted_by = [json.loads(one)[0] for one in params.get("order_by_cols", [])]
    query = (
        f"select {', '.join([*columns(params), *metrics])} from {dataset['schema']}.{dataset['table_name']} "
        f"where {' and '.join(['true', *conditions])} {'group by all' if metrics else ''} "
        f"{'order by ' + ', '.join(sorted_by) if sorted_by else ''}"
    )
    with duckdb.connect(first_audit.folder / "warehouse.duckdb", read_only=True) as connection:
        assert connection.execute(query).fetchall()
        described = {
            name: kind
            for name, kind, *_ in connection.execute(
                f"describe {dataset['schema']}.{dataset['table_name']}"
            ).fetchall()
        }
    listed = {column["column_name"]: column["type"] for column in dataset["columns"]}
    assert listed.items() <= described.items()
    assert {*columns(params), *sorted_by, *(one["subject"] for one in params["adhoc_filters"])} <= set(listed)


def test_the_dashboard_shows_each_chart_once() -> None:
    (dashboard,) = [content for path, content in FILES.items() if path.parts[0] == "dashboards"]
    shown = [
        cell["meta"]["uuid"] for name, cell in dashboard["position"].items() if name.startswith("CHART-")
    ]
    assert sorted(shown) == sorted(chart["uuid"] for chart in CHARTS.values())
    database = FILES[Path("databases/biasledger.yaml")]["uuid"]
    assert {dataset["database_uuid"] for dataset in DATASETS.values()} == {database}


@pytest.mark.long
@pytest.mark.skipif(not SUPERSET, reason="SUPERSET_PYTHON names no Python with Superset")
def test_superset_imports_it_and_answers_each_chart(first_audit: FirstAudit, tmp_path: Path) -> None:
    warehouse = shutil.copy(first_audit.folder / "warehouse.duckdb", tmp_path)
    (tmp_path / "superset_config.py").write_text(
        f'SECRET_KEY = "{"k" * 42}"\nSQLALCHEMY_DATABASE_URI = "sqlite:///{tmp_path}/superset.db"\n'
        "PREVENT_UNSAFE_DB_CONNECTIONS = False\n"
    )
    with zipfile.ZipFile(tmp_path / "dashboard.zip", "w") as archive:
        for path in FILES:
            text = (FOLDER / path).read_text(encoding="utf-8")
            archive.writestr(f"superset/{path}", text.replace("/path/to/warehouse.duckdb", str(warehouse)))

    def superset(*arguments: str) -> str:
        done = subprocess.run(
            [SUPERSET, *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "FLASK_APP": "superset",
                "SUPERSET_CONFIG_PATH": str(tmp_path / "superset_config.py"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tool = str(Path(SUPERSET).parent / "superset")
    superset(tool, "db", "upgrade")
    named = ("--username", "admin", "--firstname", "a", "--lastname", "b", "--email", "a@example.com")
    superset(tool, "fab", "create-admin", *named, "--password", "admin")
    superset(tool, "init")
    superset(tool, "import-dashboards", "-p", "dashboard.zip", "-u", "admin")
    queries = {
        chart["slice_name"]: {
            "columns": columns(chart["params"]),
            "metrics": chart["params"].get("metrics", []),
            "filters": [
                {"col": one["subject"], "op": one["operator"], "val": one["comparator"]}
                for one in chart["params"]["adhoc_filters"]
            ],
        }
        for chart in CHARTS.values()
    }
    answered = superset("-c", ASKED, json.dumps(queries))
    rows = json.loads(answered.rpartition("ROWS ")[2])
    assert rows.keys() == queries.keys()
    assert all(rows.values())
