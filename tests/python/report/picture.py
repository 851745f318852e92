"""Takes the README's picture: the top of a report, down to its first verdicts, in a real browser. Run by `make picture`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_WIDTH = 1120
_ROWS = 3


def take(report: Path, picture: Path) -> None:
    """Write the top of a report as PNG.

    Args:
        report: file that `biasledger report` wrote.
        picture: file to write.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-lcd-text"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": 900}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        # A few lines are enough, and keep the file below 200 kB.
        rows = page.locator(".verdicts tbody")
        last = rows.nth(min(rows.count(), _ROWS) - 1).bounding_box() if rows.count() else None
        if last is None:
            raise SystemExit(f"{report} shows no verdicts: is it a report?")
        height = last["y"] + last["height"] + 8
        page.screenshot(
            path=picture, full_page=True, clip={"x": 0, "y": 0, "width": _WIDTH, "height": height}
        )
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
