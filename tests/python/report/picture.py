"""Take the documents' pictures in a browser: the first screen of a report, and each view of the explorer. See `make picture`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

from biasledger.serving.asked import link
from tests.python.serving.conftest import Explorer, serving

_WIDTH = 1060
_HEIGHT = 640
_FIRST_SCREEN: ViewportSize = {"width": 1280, "height": 900}
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
        report = browser.new_page(viewport=_FIRST_SCREEN, color_scheme="light")
        report.goto((project / "report.html").resolve().as_uri())
        report.screenshot(path=folder / "report.png")
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        with serving(project, label_as=_LABELLER) as explorer:
            for name, path in _views(explorer).items():
                page.goto(explorer.address.rstrip("/") + path)
                page.screenshot(path=folder / f"explorer-{name}.png")
        browser.close()


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
