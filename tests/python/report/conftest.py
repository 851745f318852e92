"""The report's pages in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from biasledger.reporting import write_report
from tests.python.conftest import HANGS
from tests.python.report import warehouses

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@dataclass
class Opened:
    """A page of a report, and what went wrong on the way."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture
def open_report(browser: Browser) -> Iterator[Open]:
    yield from _opener(browser)


@pytest.fixture(scope="module")
def drawn(browser: Browser, hostile_report: Path) -> Iterator[Opened]:
    """One page for all tests that only look."""
    for opener in _opener(browser):
        yield opener(hostile_report)


@pytest.fixture
def opened_large(browser: Browser, large_report: Path) -> Iterator[Opened]:
    """The large report, of which nothing was looked at."""
    for opener in _opener(browser):
        yield opener(large_report)


def _opener(browser: Browser) -> Iterator[Open]:
    for open_page in opening(browser):
        yield partial(_open_report, open_page)


def _open_report(open_page: Open, report: Path, *size: int, **options: Any) -> Opened:
    opened = open_page(report.as_uri(), *size, **options)
    if options.get("java_script_enabled", True):
        opened.page.wait_for_selector("#filter:not([hidden])", state="attached")
    return opened


def opening(browser: Browser) -> Iterator[Open]:
    """Yield what opens an address, and keeps what went wrong on the way."""
    contexts: list[BrowserContext] = []

    def opener(url: str, width: int = 1280, height: int = 900, **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(HANGS)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on(
            "console",
            lambda message: (
                opened.troubles.append(message.text) if message.type in {"error", "warning"} else None
            ),
        )
        opened.page.on("pageerror", lambda error: opened.troubles.append(str(error)))
        opened.page.on("dialog", lambda dialog: opened.troubles.append(f"dialog: {dialog.message}"))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(url)
        return opened

    yield opener
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every picture, every text hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    write_report(warehouses.hostile(folder / "warehouse.duckdb"), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty runs, ten thousand findings."""
    folder = tmp_path_factory.mktemp("large")
    write_report(warehouses.large(folder / "warehouse.duckdb"), folder / "report.html")
    return folder / "report.html"
