"""The seeds that say what measures are: written from the declarations in `biasledger/measures`, and read for sentences.

`python -m biasledger.measure_seeds` writes `measures.csv`, `thresholds.csv` and `tolerances.csv`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import cache

from biasledger.measures.declared import Tolerance, declared
from biasledger.project import dbt_source, dbt_variables

# Alarms of an audit hold together at this level.
_ALPHA = 0.05
# Methods of measures that belong to no method: of all answers, and of the run as a whole.
_SHARED = ("runs", "answers")
# The tolerance of a measure that declares none.
_ANY_MEASURE = Tolerance(
    0.02,
    "How much worse a measure may get before it is a regression, in the measure's own units: the published guide on "
    "recommendation lists (Sah et al. 2026) fails a pipeline that exceeds its baseline by 0.02",
)


def seeds() -> Mapping[str, str]:
    """The seeds that are written from the declarations: name of the file -> its text."""
    return {
        "measures.csv": _csv(_measures()),
        "thresholds.csv": _csv(_thresholds()),
        "tolerances.csv": _csv(_tolerances()),
    }


@cache
def measure_rows() -> Mapping[str, Mapping[str, str]]:
    """Each measure's row of the installed seed `measures.csv`: quicker to read than the modules that declare them."""
    with (dbt_source() / "seeds" / "measures.csv").open(encoding="utf-8", newline="") as file:
        return {row["measure"]: row for row in csv.DictReader(file)}


def _methods() -> tuple[str, ...]:
    return (*dbt_variables()["methods"], *_SHARED)


def _measures() -> Iterator[Mapping[str, object]]:
    for method in _methods():
        for one in declared(method):
            yield {
                "measure": one.name,
                "method": method,
                "scale": one.scale,
                "lowest": _number(one.bounds[0]),
                "highest": _number(one.bounds[1]),
                "side": one.side,
                "clear_scale": one.clear_scale,
                "no_difference": _number(one.no_difference),
                "is_at_equal_sizes": str(one.is_at_equal_sizes).lower(),
                "unit": one.unit,
                "description": one.description,
                "label": one.label,
                "past": one.past,
                "statement": one.statement,
                "display_factor": _number(one.display[0]),
                "display_unit": one.display[1],
                "is_read_as_percent": str(one.is_read_as_percent).lower(),
                "only_where_found": str(one.only_where_found).lower(),
                "harmful_sign": one.harmful_sign,
                "restates": " ".join(one.restates),
            }


def _thresholds() -> Iterator[Mapping[str, object]]:
    for method in _methods():
        for one in declared(method):
            found = one.threshold
            row = {
                "measure": one.name,
                "audit": "*",
                "attribute": "*",
                "threshold": _number(found.value),
                "clear_threshold": _number(found.value if found.clear is None else found.clear),
                "published_threshold": _number(found.published),
                "alpha": _number(_ALPHA),
                "min_units": found.min_units,
                "severity": found.severity,
                "reason": found.reason,
                "source": found.source,
            }
            yield row
            if found.crossed:
                yield row | {"attribute": "(crossed)", "severity": "warn", "reason": found.crossed}


def _tolerances() -> Iterator[Mapping[str, object]]:
    own = ((one.name, one.tolerance) for method in _methods() for one in declared(method))
    for name, tolerance in (("*", _ANY_MEASURE), *own):
        if tolerance is not None:
            yield {
                "measure": name,
                "audit": "*",
                "attribute": "*",
                "tolerance": _number(tolerance.value),
                "reason": tolerance.reason,
            }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _csv(rows: Iterator[Mapping[str, object]]) -> str:
    listed = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(listed[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return text.getvalue()


def main() -> None:
    """Write this checkout's seeds that are declared in Python."""
    for name, text in seeds().items():
        (dbt_source() / "seeds" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
