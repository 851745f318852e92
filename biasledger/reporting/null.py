"""The null of a finding as a chart: the values of shuffled labels, and the observed value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from biasledger.reporting.charts import layer, spec_of
from biasledger.reporting.picture import Key, Panel, number, readable

_POINTS = 121
_SPREAD = 4.0  # standard deviations to either side


def null_panel(
    finding: Mapping[str, Any], measure: Mapping[str, Any], observed: float | None, address: str | None = None
) -> Panel | None:
    """A normal curve with the null's mean and standard deviation, as far as the measure's scale reaches, and the observed value.

    Args:
        finding: a row of fct_findings.
        measure: its row of dim_measures.
        observed: what was compared with the null, where that is not the finding's value.
        address: of the answers that the finding rests on, to which curve and line lead.

    Returns:
        None where the finding has no null with a spread; a family's members have one each, which its tables show.
    """
    at = finding["value"] if observed is None else observed
    mean, sd = finding["null_mean"], finding["null_sd"]
    if at is None or mean is None or not sd:
        return None
    least = -math.inf if measure["lowest"] is None else measure["lowest"]
    most = math.inf if measure["highest"] is None else measure["highest"]
    curve = [
        {"at": x, "density": math.exp(-0.5 * ((x - mean) / sd) ** 2), "address": address}
        for x in (mean + sd * _SPREAD * (2 * place / (_POINTS - 1) - 1) for place in range(_POINTS))
        if least <= x <= most
    ]
    if not curve:
        return None
    # The threshold is on the scale of the value, not of what is debiased first.
    rules = [(at, "observed")]
    if observed is None:
        rules += [(end, "threshold") for end in _ends(finding["threshold"], measure["side"])]
    x = {
        "type": "quantitative",
        "title": readable(finding["measure"]) + ("" if observed is None else ", before chance is taken off"),
        "scale": {
            "domain": [
                min(curve[0]["at"], at - sd / 2, *(end for end, _ in rules)),
                max(curve[-1]["at"], at + sd / 2, *(end for end, _ in rules)),
            ],
            "nice": False,
        },
    }
    y = {"type": "quantitative", "axis": None}
    href = {"href": {"field": "address"}} if address else {}
    strokes = {
        "observed": ("var(--ink-2)", [1, 0], 3),
        "threshold": ("var(--alarm)", [6, 4], 1.5),
    }
    outline = {"color": "var(--ink-3)", "strokeWidth": 1, "aria": False}
    layers = [
        layer(
            {"type": "area", "color": "var(--band)", "line": outline},
            x={"field": "at", **x},
            y={"field": "density", **y},
            **href,
        ),
        *(
            {
                "data": {"values": [{"at": end, "address": address} for end, one in rules if one == kind]},
                **layer(
                    {
                        "type": "rule",
                        "stroke": stroke,
                        "strokeDash": dash,
                        "strokeWidth": width,
                        "clip": True,
                    },
                    x={"field": "at", **x},
                    **href,
                ),
            }
            for kind, (stroke, dash, width) in strokes.items()
        ),
    ]
    deviations = (at - mean) / sd
    way = "above" if deviations > 0 else "below"
    keys = [Key("band", "by chance alone"), Key("rule-even", "observed")]
    if len(rules) > 1:
        keys.append(Key("rule-threshold", "threshold"))
    return Panel(
        title="What chance alone gives",
        description=f"By chance {number(mean)} on average, give or take {number(sd)}; observed {number(at)}, "
        f"{abs(deviations):.1f} standard deviations {way}.",
        spec=spec_of(curve, layers, 150),
        legend=tuple(keys),
        finding=f"The observed value is {abs(deviations):.1f} standard deviations {way} chance",
    )


def _ends(threshold: float | None, side: str) -> list[float]:
    if threshold is None:
        return []
    return [-threshold, threshold] if side == "two-sided" else [threshold]
