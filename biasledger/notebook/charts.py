"""A chart for a notebook: Vega-Lite, which notebooks show and Altair takes over."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasledger.numbers import AXES
from collector.errors import InputError
from collector.files.replacing import write_whole


class Chart:
    """A chart of the report or of a finding.

    Attributes:
        spec: Vega-Lite, with its data.
        title: what it shows.
    """

    def __init__(self, spec: dict[str, Any], title: str) -> None:
        self.spec = {"title": {"text": textwrap.wrap(title, 80), "anchor": "start"}, **spec}
        self.title = title

    def to_altair(self) -> Any:
        """Return it as an altair.Chart, to change or combine it.

        Raises:
            InputError: Altair is not installed.
        """
        if find_spec("altair") is None:
            raise InputError("This needs Altair: pip install altair.")
        return import_module("altair").Chart.from_dict(self.spec, validate=False)

    def save(self, path: Path | str) -> Path:
        """Write it as .svg, .png or .json, by the end of the name; returns its path.

        Raises:
            InputError: the name ends otherwise.
        """
        written = Path(path)
        writers: dict[str, Callable[[], bytes]] = {
            ".svg": lambda: self._svg().encode(),
            ".png": self._png,
            ".json": lambda: json.dumps(self.spec).encode(),
        }
        if written.suffix not in writers:
            raise InputError(f"A chart is written as {', '.join(writers)}, and not as {written.name}.")
        write_whole(written, writers[written.suffix]())
        return written

    def _svg(self) -> str:
        import vl_convert

        return vl_convert.vegalite_to_svg(self.spec, format_locale=AXES)

    def _png(self) -> bytes:
        import vl_convert

        return vl_convert.vegalite_to_png(self.spec, scale=2, format_locale=AXES)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        # Notebooks that draw no Vega-Lite show the SVG.
        return {
            "application/vnd.vegalite.v6+json": self.spec,
            "image/svg+xml": self._svg(),
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:
        return f"Chart: {self.title}"
