"""The explorer on a socket of this machine, for the shared project and for one with hostile texts."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import requests

from biasledger.serving.server import Server, address, listening
from tests.python.report import warehouses
from tests.python.report.conftest import Open, opening

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SECONDS = 600


@dataclass(frozen=True)
class Explorer:
    """A running explorer: its address, and the files that it shows."""

    address: str
    warehouse: Path
    ledger: Path

    def get(self, path: str, **options: Any) -> requests.Response:
        return requests.get(self.address.rstrip("/") + path, timeout=SECONDS, **options)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            return connection.execute(sql).fetchall()


def copied(project: Path, folder: Path) -> Path:
    """A project's warehouse, ledger and journals once more, to be changed."""
    for name in ("warehouse.duckdb", "ledger.duckdb"):
        shutil.copyfile(project / name, folder / name)
    if (project / "journal").is_dir():
        shutil.copytree(project / "journal", folder / "journal")
    return folder


@contextmanager
def serving(folder: Path, *, label_as: str = "") -> Iterator[Explorer]:
    """The explorer of a project's folder, in a thread of this process."""
    warehouse, ledger = folder / "warehouse.duckdb", folder / "ledger.duckdb"
    ready = threading.Event()
    with listening(0) as opened:
        server = Server(warehouse, ledger, ready.set, label_as)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        assert ready.wait(SECONDS)
        yield Explorer(address(opened), warehouse, ledger)
        server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def explorer(audited: Path) -> Iterator[Explorer]:
    with serving(audited) as running:
        yield running


@pytest.fixture(scope="session")
def hostile(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """The shared project, with what people and models may write replaced in every text that a page shows."""
    folder = copied(audited, tmp_path_factory.mktemp("hostile explorer"))
    text = "\n".join(warehouses.HOSTILE)
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        for table, column in (
            ("fct_findings", "explanation"),
            ("fct_findings", "target"),
            ("dim_runs", "target"),
            ("dim_prompt_groups", "descriptor"),
            ("fct_removed_words", "why"),
            ("fct_word_divergence_words", "word"),
        ):
            connection.execute(
                f"update marts.{table} set {column} = left(?, 9000) || left({column}, 40)", [text]
            )
    with duckdb.connect(str(folder / "ledger.duckdb")) as connection:
        for table, column in (
            ("responses", "response_text"),
            ("prompts", "prompt_text"),
            ("prompt_attributes", "descriptor"),
        ):
            connection.execute(f"update raw.{table} set {column} = ? || {column}", [text])
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Twenty runs and ten thousand findings."""
    folder = tmp_path_factory.mktemp("large explorer")
    warehouses.large(folder / "warehouse.duckdb")
    with serving(folder) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    yield from opening(browser)
