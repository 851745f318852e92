"""Test that statuses and parts of bars can be distinguished in grey."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from biasledger.reporting import charts

TEMPLATES = Path(charts.__file__).parent / "templates"


def _of_print() -> dict[str, str]:
    """The colours that the page prints in, by their names; what print leaves as it is has that of the screen."""
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    on_screen, printed = css[: css.index("@media screen")], css[css.index("@media print") :]
    return dict(re.findall(r"--([\w-]+): (#\w+);", on_screen)) | dict(
        re.findall(r"--([\w-]+): (#\w+);", printed)
    )


def _contrast(one: str, other: str) -> float:
    """The ratio of two colours' lightness, 1 to 21 (WCAG 2)."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_statuses_differ_in_grey_by_lightness_and_by_shape() -> None:
    colours = _of_print()
    statuses = {
        "alarm": "alarm",
        "inconclusive": "undecided",
        "clear": "clear",
        "insufficient_data": "unjudged",
    }
    for one, other in itertools.combinations(statuses.values(), 2):
        assert _contrast(colours[one], colours[other]) > 1.25, (one, other)
    for name in statuses.values():
        assert _contrast(colours[name], colours[f"{name}-ground"]) >= 4.5, name
    # Both are filled circles.
    assert _contrast(colours["clear"], colours["accent"]) > 1.5
    shapes = {status: (charts._KINDS[status][1], status in charts._HOLLOW) for status in statuses}
    assert len(set(shapes.values())) == len(statuses)
    symbols = dict(
        re.findall(
            r'<symbol id="symbol-(\w+)"[^>]*>(.*?)</symbol>',
            (TEMPLATES / "shared.html.j2").read_text(encoding="utf-8"),
        )
    )
    assert len({symbols[status] for status in statuses}) == len(statuses)


def _of_screen(mode: str) -> dict[str, str]:
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    light, _, rest = css.partition("@media screen and (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", light))
    return colours | (
        dict(re.findall(r"--([\w-]+): (#\w+);", rest.partition("}\n}")[0])) if mode == "dark" else {}
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_bands_and_bars_have_a_contrast_of_3_and_neighbours_differ_in_lightness(mode: str) -> None:
    colours = _of_screen(mode)
    assert _contrast(colours["band-edge"], colours["card"]) >= 3
    ordered = [colours[f"order-{place}"] for place in range(1, charts.SERIES_AT_MOST + 1)]
    series = [colours[f"series-{place}"] for place in range(1, charts.SERIES_AT_MOST + 1)]
    assert min(_contrast(one, colours["card"]) for one in [*ordered, *series]) >= 3
    assert min(_contrast(one, other) for one, other in itertools.combinations(series, 2)) > 1.4
    steps = [_contrast(one, colours["card"]) for one in ordered]
    assert all(later / earlier > 1.35 for earlier, later in itertools.pairwise(steps))


def test_parts_of_a_bar_differ_in_grey() -> None:
    colours = _of_print()
    series = [colours[f"series-{place}"] for place in range(1, charts.SERIES_AT_MOST + 1)]
    for one, other in itertools.combinations(series, 2):
        assert _contrast(one, other) > 1.4, (one, other)
    # Neighbours in bars of two or three parts, which are most bars, have clear contrast.
    assert min(_contrast(one, other) for one, other in itertools.combinations(series[:3], 2)) > 2
    assert min(_contrast(one, "#ffffff") for one in series) >= 3
