"""Take the documents' pictures in a browser: the top of a report, and each view of the explorer. See `make picture`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from biasledger.serving.asked import link
from tests.python.serving.conftest import Explorer, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

_WIDTH = 1060
_HEIGHT = 640
_ROWS = 2
_LABELLER = "Ada Lovelace"


def take(project: Path, folder: Path) -> None:
    """Write pictures as PNG; of a project without mitigations none of a comparison.

    Args:
        project: a built project's folder, with the report.html that `biasledger report` wrote.
        folder: where report.png and explorer-….png are written.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-lcd-text"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        _take_report(page, project / "report.html", folder / "report.png")
        with serving(project, label_as=_LABELLER) as explorer:
            for name, path in _views(explorer).items():
                page.goto(explorer.address.rstrip("/") + path)
                page.screenshot(path=folder / f"explorer-{name}.png")
        browser.close()


def _take_report(page: Page, report: Path, picture: Path) -> None:
    page.goto(report.resolve().as_uri())
    # A few lines are enough, and keep the file small.
    rows = page.locator(".verdicts tbody")
    last = rows.nth(min(rows.count(), _ROWS) - 1).bounding_box() if rows.count() else None
    if last is None:
        raise SystemExit(f"{report} shows no verdicts: is it a report?")
    height = last["y"] + last["height"] + 8
    page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, "width": _WIDTH, "height": height})


def _views(explorer: Explorer) -> Mapping[str, str]:
    """Name of a picture -> address of what it shows, of that which the project has."""
    words = explorer.rows(
        "select finding_id from marts.fct_findings where measure = 'word_divergence' and mitigation = 'plain' "
        "order by status <> 'alarm', value desc limit 1"
    )
    short = explorer.rows(
        "select run_id from marts.dim_runs where is_current order by audit <> 'stereotypes' limit 1"
    )
    mitigated = explorer.rows(
        "select run_id, mitigation from marts.fct_findings where mitigation <> 'plain' limit 1"
    )
    views = {"findings": "/findings", "sql": link("/sql", report="words_classifier_accuracy")}
    for (finding,) in words:
        views["finding"] = f"/finding/{finding}"
    for (run,) in short:
        views["pairs"] = link("/pairs", run=run)
    for run, mitigation in mitigated:
        views["compare"] = link("/compare", before=run, after=run, mitigation=mitigation)
    return views


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
