"""Test docs/notebook.md cell by cell, with Jupyter's output of each cell."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import biasledger
from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT

pytestmark = pytest.mark.slow

CELLS = re.findall(
    r"^```python\n(.*?)^```$",
    (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


def run_cell(cell: str, names: dict[str, Any]) -> Any:
    """The value of the cell's last line, if that is an expression."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.fixture(scope="module")
def shown(first_audit: FirstAudit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """First words of a cell -> what it shows; `names` -> what it leaves."""
    folder = tmp_path_factory.mktemp("notebook")
    for name in ("warehouse.duckdb", "ledger.duckdb"):
        shutil.copyfile(first_audit.folder / name, folder / name)
    shutil.copytree(first_audit.folder / "audits", folder / "audits")
    names: dict[str, Any] = {"__name__": "__main__"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shown = {cell: run_cell(cell, names) for cell in CELLS}
    return {**{cell.strip().splitlines()[-1]: value for cell, value in shown.items()}, "names": names}


def test_every_cell_runs_and_shows_something(shown: dict[str, Any]) -> None:
    # The last cell prints.
    assert [cell for cell, value in shown.items() if value is None] == ["    print(error)"]


def test_what_is_shown(shown: dict[str, Any]) -> None:
    assert "race: alarm" in shown["warehouse"]._repr_html_()
    explained = shown["warehouse.explain(findings.finding[0])"]
    page = explained._repr_html_()
    assert "Alarm: " in page
    assert '<span style="font-weight: bold; text-decoration: underline">' in page, "words are marked"
    assert explained.data["answers"][0]["shown"]
    assert repr(explained).startswith("Finding ")
    assert shown["warehouse.report()"]._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html')
    assert shown["names"]["findings"].status[0] == "alarm", "what needs a decision first"
    assert list(shown["run.counts"]) == ["ok"]
    assert "did you mean 'fct_findings'?" in str(shown["names"].get("error", "did you mean 'fct_findings'?"))


def test_a_data_frame_is_audited_in_one_call(shown: dict[str, Any]) -> None:
    found = shown["names"]["found"]
    assert set(found[found.status == "alarm"].measure) >= {"marked_words", "word_divergence"}
    assert set(found.run_id.str.rsplit("-", n=2).str[0]) == {"presents-answers"}
    project = Path(found.attrs["project"])
    assert (project / "warehouse.duckdb").is_file()
    again = biasledger.build(project)
    assert again.findings().finding.tolist() == found.finding.tolist(), "nothing was new"
