"""Takes the README's picture: the top of a report in a real browser. Run by `make picture`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_SIZE = {"width": 1120, "height": 1010}


def take(report: Path, picture: Path) -> None:
    """Write the top of a report as PNG.

    Args:
        report: file that `biasledger report` wrote.
        picture: file to write.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=_SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
