"""SQL on the published tables: the report's queries and the shipped analyses to begin with, a table, a chart, and downloads."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from biasledger.explaining.rows import Row, rows, with_values
from biasledger.methods import method_names
from biasledger.numbers import count
from biasledger.querying.analyses import list_analyses, question_of, without_jinja
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.formats import without_formulas
from biasledger.querying.statements import Result
from biasledger.reporting.captions import describe_dots
from biasledger.reporting.charts import Dot, Point, interval_dots, scatter
from biasledger.reporting.picture import Panel
from biasledger.serving.asked import Asked, Served
from biasledger.serving.builds import read_build
from biasledger.serving.statements import Rows, ask
from collector.errors import InputError
from collector.hints import did_you_mean

# The parameters of a report's query that the explorer fills in; queries with others, such as two groups, are not offered.
_FILLED = frozenset({"run_id", "run_ids", "methods"})
UNREAD = "Another site led to this statement: read it on the page SQL before you run it."
_SHOWN = 200
_DRAWN_AT_MOST = 30
_POINTS_AT_MOST = 2_000
CHARTS = ("dots", "points")


@dataclass(frozen=True)
class Prepared:
    """A statement to begin with: its name, where it comes from, and the question that it answers."""

    name: str
    source: str
    question: str


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """Return the statement, its result, and a chart of it, for a template.

    Errors in a statement are returned next to it, so that its author can correct it there.

    Raises:
        InputError: there is no such prepared statement, or no warehouse.
        BiasledgerError: the warehouse cannot be read.
    """
    with locked_warehouse(served.warehouse) as connection:
        build = read_build(connection)
        runs = rows(
            connection,
            """
            select runs.run_id, runs.audit, runs.target, runs.is_current, list(distinct measures.method) as methods
            from marts.dim_runs as runs
            left join marts.fct_findings as findings on runs.run_id = findings.run_id
            left join marts.dim_measures as measures on findings.measure = measures.measure
            group by all
            order by runs.is_current desc, runs.audit, runs.target, runs.run_id
            """,
            {},
        )
    sql = _statement(asked, runs)
    values = {
        "build": build,
        "runs": runs,
        "prepared": prepared(),
        "sql": sql,
        "charts": CHARTS,
        "found": None,
        "panel": None,
        "error": "",
        "rows_at_most": _SHOWN,
    }
    if not sql:
        return values
    if asked.is_from_elsewhere and asked.get("sql"):
        return {**values, "error": UNREAD}
    try:
        found = ask(served.warehouse, sql, limit=_POINTS_AT_MOST)
    except InputError as error:
        return {**values, "error": str(error)}
    return {**values, "found": found, "shown": found.rows[:_SHOWN], **_chart(found, asked)}


def download(served: Served, asked: Asked) -> Result:
    """All rows of a statement.

    Raises:
        InputError: there is none, it is wrong, or it gives more rows than are given out here.
        BiasledgerError: the warehouse cannot be read.
    """
    if not asked.get("sql"):
        raise InputError("There is no statement to run: write one on the page SQL.")
    if asked.is_from_elsewhere:
        raise InputError(UNREAD)
    found = ask(served.warehouse, asked.get("sql"))
    if found.is_cut:
        raise InputError(
            f"The query gives more than {len(found.rows):,} rows, which is the limit here: `biasledger query` has none."
        )
    return found.result


def download_inert(served: Served, asked: Asked) -> Result:
    """The same, safe for spreadsheets.

    Raises:
        InputError, BiasledgerError: as `download`.
    """
    return without_formulas(download(served, asked))


@cache
def prepared() -> tuple[Prepared, ...]:
    """The shipped analyses, and the queries of the report's pictures."""
    shipped = [Prepared(one.name, "analysis", one.question) for one in list_analyses()]
    of_report = [
        Prepared(path.stem, "report", question_of(path.read_text(encoding="utf-8")))
        for path in sorted(_report_queries().glob("*.sql"))
        if _FILLED.issuperset(re.findall(r"\$([a-z_]+)", path.read_text(encoding="utf-8")))
    ]
    return (*shipped, *of_report)


def _report_queries() -> Path:
    return Path(str(files("biasledger.reporting"))) / "queries"


def _statement(asked: Asked, runs: Sequence[Row]) -> str:
    """Return the statement in the address, or the prepared one that it names, with its run filled in.

    A query of the report on one run uses the first run of its method if the address names none.
    """
    if asked.get("sql"):
        return asked.get("sql")
    if name := asked.get("analysis"):
        known = {one.name: one.path for one in list_analyses()}
        if name not in known:
            raise InputError(f"There is no analysis {name!r}{did_you_mean(name, known) or '.'}")
        return without_jinja(known[name].read_text(encoding="utf-8"), known[name]).strip()
    if name := asked.get("report"):
        names = [one.name for one in prepared() if one.source == "report"]
        if name not in names:
            raise InputError(f"The report has no query {name!r}{did_you_mean(name, names) or '.'}")
        sql = (_report_queries() / f"{name}.sql").read_text(encoding="utf-8").strip()
        method = name.partition("_")[0]
        of_method = [
            row["run_id"] for row in runs if method in (row["methods"] or ()) or method not in method_names()
        ]
        run = asked.get("run") or next(iter(of_method), "")
        run_ids = [run] if asked.get("run") else [row["run_id"] for row in runs if row["is_current"]]
        return with_values(sql, {"run_id": run, "run_ids": run_ids, "methods": method_names()})
    return ""


def _chart(found: Rows, asked: Asked) -> Mapping[str, Any]:
    """Draw what the address asks for, or else numbers by the first text, or the first two numbers."""
    numbers = [name for place, name in enumerate(found.columns) if _is_numeric(found, place)]
    texts = [name for name in found.columns if name not in numbers]
    kind = asked.get("chart") if asked.get("chart") in CHARTS else "dots" if texts else "points"
    across = numbers if kind == "points" else texts
    # Prefer the text column that has the most different values in the drawn rows; an id says nothing.
    usual = (
        across
        if kind == "points"
        else sorted(texts, key=lambda name: (name == "finding_id", -_n_different(found, name)))
    )
    x = _column(asked.get("x"), across, usual)
    y = _column(asked.get("y"), numbers, [name for name in _fractions_first(found, numbers) if name != x])
    values = {"numbers": numbers, "texts": texts, "kind": kind, "x": x, "y": y}
    if x is None or y is None or not found.rows:
        return {**values, "panel": None}
    return {**values, "panel": (_points if kind == "points" else _dots)(found, x, y)}


def _column(asked: str, known: Sequence[str], usual: Sequence[str]) -> str | None:
    return asked if asked in known else next(iter(usual), None)


def _n_different(found: Rows, name: str) -> int:
    place = found.columns.index(name)
    return len({str(row[place]) for row in found.rows[:_DRAWN_AT_MOST]})


def _fractions_first(found: Rows, names: Sequence[str]) -> list[str]:
    """Measured numbers before counted ones."""
    return sorted(
        names, key=lambda name: all(isinstance(row[found.columns.index(name)], int) for row in found.rows)
    )


def _is_numeric(found: Rows, place: int) -> bool:
    """Whether a column holds numbers and nothing else."""
    values = [row[place] for row in found.rows if row[place] is not None]
    return bool(values) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


def _dots(found: Rows, x: str, y: str) -> Panel:
    at, of = found.columns.index(x), found.columns.index(y)
    ends = [found.columns.index(name) for name in ("interval_low", "interval_high") if name in found.columns]
    dots = [
        Dot(
            str(row[at]),
            _finite(row[of]),
            _finite(row[ends[0]]) if len(ends) == 2 else None,
            _finite(row[ends[1]]) if len(ends) == 2 else None,
            finding=_finding(found, row),
        )
        for row in found.rows[:_DRAWN_AT_MOST]
    ]
    title = _title(found, x, y, _DRAWN_AT_MOST)
    return Panel(title, describe_dots(dots, f"{y} by {x}"), interval_dots(dots, y))


def _points(found: Rows, x: str, y: str) -> Panel:
    at, of = found.columns.index(x), found.columns.index(y)
    drawn = [
        (row, left, right)
        for row in found.rows
        if (left := _finite(row[at])) is not None and (right := _finite(row[of])) is not None
    ]
    points = [
        Point(
            ", ".join(str(one) for one in row if isinstance(one, str))[:60],
            left,
            right,
            "plain",
            False,
            _finding(found, row),
        )
        for row, left, right in drawn
    ]
    title = _title(found, x, y, _POINTS_AT_MOST)
    return Panel(title, f"{count(len(points), 'point')}: {y} against {x}.", scatter(points, (x, y)))


def _finding(found: Rows, row: Sequence[Any]) -> str | None:
    """The id of the finding that a row is about; None where the statement does not give it."""
    value = row[found.columns.index("finding_id")] if "finding_id" in found.columns else None
    return None if value is None else str(value)


def _title(found: Rows, x: str, y: str, most: int) -> str:
    n = len(found.rows)
    return f"{y} by {x}" + (f", the first {most} rows" if n > most or found.is_cut else "")


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
