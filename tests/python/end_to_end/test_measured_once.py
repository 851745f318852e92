"""Test that no Python model measures a run again whose rows are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

from biasledger.building import MEASURED_BY
from biasledger.model_inputs import models
from biasledger.project import dbt_source
from biasledger.publishing.freshness import measured_by
from tests.python.project import Project

# The shipped audits have no input for these models.
EMPTY = {
    "int_decisions_fixed_values",
    "int_lists_equal_sizes",
    "int_prices_equal_sizes",
    "int_texts_vectors",
    "int_turn_slopes",
}
MODELS = sorted((dbt_source() / "models").rglob("*.py"))


class Built:
    """The `dbt` object of a Python model, on a built work file."""

    is_incremental = True

    def __init__(self, session: duckdb.DuckDBPyConnection, model: str) -> None:
        self._session = session
        self._places = dict(
            session.execute(
                "select table_name, table_schema from information_schema.tables where table_catalog = current_catalog()"
            ).fetchall()
        )
        self.this = self._place(model)

    def _place(self, name: str) -> str:
        return f"{self._places[name]}.{name}"

    def config(self, **_settings: Any) -> None:
        """Accept the settings that a model gives dbt."""

    def ref(self, name: str) -> duckdb.DuckDBPyRelation:
        return self._session.table(self._place(name))


def module_of(file: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(file.stem, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", MODELS, ids=[file.stem for file in MODELS])
def test_nothing_is_read_again(shipped: Project, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def read_all(_model: str, comparisons: Any, total: int | None) -> Any:
        begun.extend(comparisons)
        return iter(begun)

    monkeypatch.setattr(models, "report_progress", read_all)
    # As the build that made the tables.
    monkeypatch.setenv(MEASURED_BY, measured_by(shipped.folder))
    with duckdb.connect(shipped.work, read_only=True) as session:
        session.execute(f"attach '{shipped.ledger}' as ledger (read_only)")
        dbt = Built(session, file.stem)
        [(n_rows,)] = session.execute(f"select count(*) from {dbt.this}").fetchall()
        assert (n_rows == 0) == (file.stem in EMPTY)
        assert module_of(file).model(dbt, session).fetchall() == []
    assert begun == []
