"""The report for a notebook, inline."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.notebook.charts import Chart
from collector.errors import InputError
from collector.files.replacing import write_whole
from collector.hints import did_you_mean

if TYPE_CHECKING:
    from biasledger.reporting.picture import Panel

_HEIGHT = 800
"""Pixels."""
_SHAPES = {f"series-{place}": shape for place, shape in enumerate("●◆■▲▼", start=1)}


class Report:
    """The report as a page of its own, which a notebook shows in a frame.

    Attributes:
        html: the page, which needs no network.
    """

    def __init__(self, page: str, read_panels: Callable[[], Mapping[str, Panel]]) -> None:
        self.html = page
        self._read_panels = read_panels

    @cached_property
    def charts(self) -> Mapping[str, str]:
        """The names of its charts, as their files have them, and what each shows."""
        return {name: _title(panel) for name, panel in self._panels.items()}

    def chart(self, name: str) -> Chart:
        """Return one of its charts as Vega-Lite, by a name of `charts`.

        Raises:
            InputError: there is no such chart.
        """
        from biasledger.reporting.drawing import standalone

        if name not in self._panels:
            raise InputError(f"The report has no chart {name!r}{did_you_mean(name, self._panels)}")
        panel = self._panels[name]
        series = [f"{_SHAPES[key.symbol]} {key.text}" for key in panel.legend if key.symbol in _SHAPES]
        return Chart(standalone(panel.spec), " ".join([_title(panel), *series]))

    @cached_property
    def _panels(self) -> Mapping[str, Panel]:
        return self._read_panels()

    def save(self, path: Path | str) -> Path:
        """Write the page into a file, whole or not at all; returns its path."""
        written = Path(path)
        write_whole(written, self.html.encode())
        return written

    def _repr_html_(self) -> str:
        # Its script filters its table; the frame keeps it from the notebook.
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"Report ({len(self.html.encode()) / 1e6:,.1f} MB of HTML; save(path) writes it)"


def _title(panel: Panel) -> str:
    return ". ".join(filter(None, (panel.title, panel.finding)))
