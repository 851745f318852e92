"""Test that statuses and parts of bars can be distinguished in grey, and statuses by who sees no red."""

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


def _linear(colour: str) -> list[float]:
    """Linear red, green and blue of `#rgb` or `#rrggbb` (IEC 61966-2-1)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _contrast(one: str, other: str) -> float:
    """The ratio of two colours' lightness, 1 to 21 (WCAG 2)."""
    weights = (0.2126, 0.7152, 0.0722)
    low, high = sorted(
        sum(weight * part for weight, part in zip(weights, _linear(colour), strict=True))
        for colour in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def _lab(linear: list[float]) -> list[float]:
    """CIELAB of linear sRGB under D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (
        max(sum(factor * part for factor, part in zip(row, linear, strict=True)), 0) / white
        for row, white in zip(rows, (0.9505, 1, 1.089), strict=True)
    )
    fx, fy, fz = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]


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


def test_an_alarm_and_what_is_open_differ_for_who_sees_no_red_and_in_grey_print() -> None:
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    # Deuteranopia after Machado, Oliveira & Fernandes (2009), severity 1.
    rows = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881))
    pairs = list(
        zip(*(re.findall(rf"--{name}: (#\w+)", style) for name in ("alarm", "undecided")), strict=True)
    )
    # In light, in the dark and printed.
    assert len(pairs) == 3
    for pair in pairs:
        seen = [
            [sum(factor * part for factor, part in zip(row, _linear(colour), strict=True)) for row in rows]
            for colour in pair
        ]
        first, second = (_lab(one) for one in seen)
        assert sum((one - other) ** 2 for one, other in zip(first, second, strict=True)) ** 0.5 > 12
        assert abs(_lab(_linear(pair[0]))[0] - _lab(_linear(pair[1]))[0]) > 12
    # And one is filled, the other is not.
    shared = (TEMPLATES / "shared.html.j2").read_text(encoding="utf-8")
    assert re.search(r'symbol-alarm"[^>]*><path fill="currentColor"', shared)
    assert re.search(r'symbol-inconclusive"[^>]*><path fill="none" stroke="currentColor"', shared)
