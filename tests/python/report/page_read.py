"""A page of the report as a browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from biasledger.reporting import panels
from tests.python.report import warehouses
from tests.python.report.warehouses import run


class Page(HTMLParser):
    """Parse a page as a browser would: texts by element, attributes, scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data


def specs(warehouse: Path) -> dict[str, Any]:
    """The charts of a report as Vega-Lite, by their names."""
    return {name: panel.spec for name, panel in panels(warehouse).items()}


def small(tmp_path: Path, findings: list[dict[str, Any]], runs: list[dict[str, Any]] | None = None) -> Path:
    return warehouses.create(
        tmp_path / "warehouse.duckdb", {"dim_runs": runs or [run("run-1")], "fct_findings": findings}
    )
