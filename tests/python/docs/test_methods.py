"""Test that the table of measures in docs/methods.md matches the settings."""

from __future__ import annotations

import csv
import re

from tests.python.docs.shell import ROOT


def test_every_measure_is_listed_with_its_threshold_and_severity() -> None:
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \| .* \| ([^|]+) \| (error|warn|none) \| .* \|$", text, flags=re.MULTILINE)
    listed = {}
    for names, thresholds, severity in rows:
        measures, numbers = (
            re.findall(r"`(\w+)`", names),
            [float(one) for one in re.findall(r"[\d.]+", thresholds)],
        )
        # One number applies to all measures of a row, or each has its own.
        for measure, number in zip(
            measures, numbers * (len(measures) if len(numbers) == 1 else 1), strict=True
        ):
            listed[measure] = (number, severity)
    with (ROOT / "seeds" / "thresholds.csv").open(encoding="utf-8", newline="") as file:
        settings = {
            row["measure"]: (float(row["threshold"]), row["severity"])
            for row in csv.DictReader(file)
            if (row["audit"], row["attribute"]) == ("*", "*")
        }
    assert listed == settings
