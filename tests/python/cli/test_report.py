"""Test the output and errors of `biasledger report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.report import warehouses
from tests.python.running import biasledger


def test_it_writes_the_report_and_says_where(tmp_path: Path) -> None:
    warehouse = warehouses.create(
        tmp_path / "warehouse.duckdb",
        {"dim_runs": [warehouses.run("run-1")], "fct_findings": [warehouses.finding("run-1")]},
    )
    output = tmp_path / "out.html"
    done = biasledger(
        "report", "--warehouse", str(warehouse), "--output", str(output), "--run", "run-1", code=0
    )
    assert done.output == f"Wrote {output} ({output.stat().st_size / 1e6:,.1f} MB): open it in a browser.\n"
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
    latest = biasledger("report", "--warehouse", str(warehouse), "--output", str(output), "--run", "latest")
    assert latest.output == done.output


def test_it_opens_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = warehouses.create(
        tmp_path / "warehouse.duckdb",
        {"dim_runs": [warehouses.run("run-1")], "fct_findings": [warehouses.finding("run-1")]},
    )
    output = tmp_path / "a b.html"
    opened: list[str] = []
    for has_browser, said in ((True, "and opened it."), (False, "no browser could be started")):
        monkeypatch.setattr("webbrowser.open", lambda url, has=has_browser: opened.append(url) or has)
        done = biasledger("report", "--warehouse", str(warehouse), "--output", str(output), "--open", code=0)
        assert said in done.output
    assert opened == [output.as_uri()] * 2


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    done = biasledger(
        "report", "--warehouse", str(tmp_path / "none.duckdb"), "--output", str(tmp_path / "r.html"), code=3
    )
    assert (
        done.output
        == f"Error: There is no warehouse at {tmp_path / 'none.duckdb'}: `biasledger build` makes it.\n"
    )
    assert not (tmp_path / "r.html").exists()
