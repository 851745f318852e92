"""The folders of published data, which the repository does not contain, and the project that builds them all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from .warehouses import DATA_OF, find_data, import_and_build, rows_of


def data_folder(name: str) -> Path:
    """The folder of one data set; skips the test, saying why, where it is absent."""
    folder = find_data(name)
    if folder is None:
        pytest.skip(f"the data set {name} is not here; set BIASLEDGER_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., duckdb.DuckDBPyConnection]:
    """The public tables with the rows of the audits named; skips the test where their data are absent.

    All data sets that are here are built together and once, by whichever process of a parallel run comes first.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    project = shared / "replications"

    def replicated(*audits: str) -> duckdb.DuckDBPyConnection:
        for audit in audits:
            data_folder(DATA_OF[audit])
        with (shared / "replications.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not project.exists():
                import_and_build(project, find_data)
        return rows_of(project / "warehouse.duckdb", *audits)

    return replicated
