"""The report for a notebook, inline."""

from __future__ import annotations

import html
from pathlib import Path

from collector.files.replacing import write_whole

_HEIGHT = 800
"""Pixels."""


class Report:
    """The report as a page of its own, which a notebook shows in a frame.

    Attributes:
        html: the page, which needs no network.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: Path | str) -> Path:
        """Write the page into a file, whole or not at all; returns its path."""
        written = Path(path)
        write_whole(written, self.html.encode())
        return written

    def _repr_html_(self) -> str:
        # Its scripts draw its charts; the frame keeps them from the notebook.
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"Report ({len(self.html.encode()) / 1e6:,.1f} MB of HTML; save(path) writes it)"
