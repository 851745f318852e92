"""All findings: counts, a table filtered by any column, and matrices of groups by measures, one for each audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasledger.explaining.rows import Row, rows
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.formats import without_formulas
from biasledger.querying.statements import Result
from biasledger.reporting.picture import STATUS_TEXTS, contrast, readable
from biasledger.serving.asked import Asked, Served, link
from biasledger.serving.builds import read_build
from biasledger.verdicts import PLAIN, gravest
from collector.errors import InputError
from collector.hints import did_you_mean
from collector.sql import identifier

if TYPE_CHECKING:
    import duckdb

PAGE = 50
MATRICES = "matrices"
_MATRICES_AT_MOST = 12
_CHOSEN = ("status", "audit", "target", "attribute", "group_name", "measure", "severity", "mitigation")
_SORTED = {
    "status": "Status",
    "measure": "Finding",
    "value": "Value",
    "threshold": "Threshold",
    "value_low": "95 % interval",
    "p_value_adjusted": "Adjusted p",
    "n_units": "Units",
}
# The columns that a search looks through.
_SEARCHED = (
    "concat_ws(' ', findings.explanation, measure, audit, target, attribute, group_name, subject, finding_id)"
)
_FROM = "from marts.fct_findings as findings inner join marts.dim_measures as measures using (measure)"
_GRAVEST = """
    findings.is_current desc, findings.is_excepted,
    list_position(['alarm', 'inconclusive', 'clear', 'insufficient_data'], findings.status),
    list_position(['error', 'warn', 'none'], findings.severity),
    case measures.side
        when 'lower' then findings.threshold / nullif(abs(findings.value), 0)
        else abs(findings.value) / nullif(findings.threshold, 0)
    end desc nulls last
"""


@dataclass(frozen=True)
class Cell:
    """The findings of a group in a measure: the gravest status, the value of a single one, and where they are shown."""

    status: str
    value: float | None
    n: int
    href: str


@dataclass(frozen=True)
class Line:
    """A row of a matrix: whom it is about, and a cell for each measure, None where nothing was found."""

    attribute: str
    about: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Matrix:
    """Groups by measures of one audit and target, asked plainly or with a mitigation."""

    audit: str
    target: str
    mitigation: str
    n_alarms: int
    measures: Sequence[str]
    lines: Sequence[Line]


@dataclass(frozen=True)
class Neighbours:
    """A finding's place in a list of n, and the ids of the ones before and after it, None at an end."""

    place: int
    n: int
    previous: str | None
    next: str | None


@dataclass(frozen=True)
class _Where:
    """A filter's condition as SQL, and its values."""

    sql: str
    values: Mapping[str, Any]


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """Counts and one page of the table, or the matrices if the address asks for them, for a template.

    Raises:
        InputError: a column to filter or sort by is none of fct_findings, or there is no warehouse.
        BiasledgerError: the warehouse cannot be read.
    """
    with locked_warehouse(served.warehouse) as connection:
        columns = _columns(connection)
        where = _where(asked, columns)
        first = asked.whole("first", 0)
        has_matrices = asked.get("view") == MATRICES
        shown = rows(
            connection,
            f"select findings.*, measures.side, measures.no_difference {_FROM} where {where.sql} "
            f"order by {_order(asked, columns)} limit {PAGE} offset {first}",
            where.values,
        )
        [counted] = rows(connection, f"select count(*) as n {_FROM} where {where.sql}", where.values)
        found = list(_matrices(connection, where, asked)) if has_matrices else []
        facets = {name: _facet(connection, asked, columns, name) for name in _CHOSEN}
        return {
            "build": read_build(connection),
            "rows": shown,
            "n": counted["n"],
            "first": first,
            "page_size": PAGE,
            "has_matrices": has_matrices,
            "matrices": found[:_MATRICES_AT_MOST],
            "n_matrices": len(found),
            "facets": facets,
            "chosen": sum(bool(asked.get(name)) for name in (*_CHOSEN[1:], "runs", "is")),
            "kept": {name: value for name, value in asked.values.items() if name != "first"},
            "columns": columns,
            "sorted": _SORTED,
            "others": {name: asked.get(name) for name in columns if name not in _CHOSEN and asked.get(name)},
        }


def download(served: Served, asked: Asked) -> Result:
    """All columns of the findings that a filter leaves, in its order, safe for spreadsheets.

    Raises:
        InputError, BiasledgerError: as `page`.
    """
    with locked_warehouse(served.warehouse) as connection:
        columns = _columns(connection)
        where = _where(asked, columns)
        order = _order(asked, columns)
        cursor = connection.execute(
            f"select findings.* {_FROM} where {where.sql} order by {order}", dict(where.values)
        )
        return without_formulas(Result(tuple(columns), iter(cursor.fetchall())))


def _columns(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = rows(
        connection,
        "select column_name from duckdb_columns() where schema_name = 'marts' and table_name = 'fct_findings' "
        "order by column_index",
        {},
    )
    return [row["column_name"] for row in found]


def _where(asked: Asked, columns: Sequence[str], but: str = "") -> _Where:
    """Every value of the address that names a column, the words of a search, and current runs unless others are asked for.

    The column `but` is left out.
    """
    conditions: list[str] = ["true"]
    values: dict[str, Any] = {}
    wanted = {name: asked.get(name) for name in columns if asked.get(name) and name != but}
    if asked.get("column") and asked.get("is"):
        wanted[_column(asked.get("column"), columns)] = asked.get("is")
    for name, value in wanted.items():
        conditions.append(f"cast(findings.{identifier(name)} as varchar) = $is_{name}")
        values[f"is_{name}"] = value
    if words := asked.get("q").lower().split():
        conditions.append(
            f"len(list_filter($words, lambda word: not contains(lower({_SEARCHED}), word))) = 0"
        )
        values["words"] = words
    if asked.get("runs") != "all" and "run_id" not in wanted and "is_current" not in wanted:
        conditions.append("findings.is_current")
    return _Where(" and ".join(conditions), values)


def _column(name: str, columns: Sequence[str]) -> str:
    if name not in columns:
        raise InputError(f"fct_findings has no column {name!r}{did_you_mean(name, columns) or '.'}")
    return name


def _order(asked: Asked, columns: Sequence[str]) -> str:
    name = asked.get("sort")
    if not name:
        return f"{_GRAVEST}, findings.run_id, findings.finding_id"
    direction = "desc" if asked.get("desc") else "asc"
    return f"findings.{identifier(_column(name, columns))} {direction} nulls last, {_GRAVEST}, findings.finding_id"


def _facet(
    connection: duckdb.DuckDBPyConnection, asked: Asked, columns: Sequence[str], name: str
) -> dict[str, int]:
    """Each value of a column, with how many findings have it under all other filters; the chosen one also where none has."""
    where = _where(asked, columns, but=name)
    found = rows(
        connection,
        f"select cast(findings.{name} as varchar) as value, count(*) as n {_FROM} "
        f"where {where.sql} and findings.{name} is not null group by 1 order by 1",
        where.values,
    )
    counts = {row["value"]: row["n"] for row in found}
    if name == "status":
        return {status: counts.get(status, 0) for status in STATUS_TEXTS}
    if asked.get(name):
        counts.setdefault(asked.get(name), 0)
    return counts


def neighbours(connection: duckdb.DuckDBPyConnection, asked: Asked, finding_id: str) -> Neighbours | None:
    """Where a finding is in the list that the address filters and sorts; None where the list has it not."""
    columns = _columns(connection)
    where = _where(asked, columns)
    found = rows(
        connection,
        f"""
        select place, n, previous, next from (
            select
                findings.finding_id,
                row_number() over in_order as place,
                count(*) over () as n,
                lag(findings.finding_id) over in_order as previous,
                lead(findings.finding_id) over in_order as next
            {_FROM}
            where {where.sql}
            window in_order as (order by {_order(asked, columns)})
        )
        where finding_id = $finding
        """,
        {**where.values, "finding": finding_id},
    )
    return Neighbours(**found[0]) if found else None


def _matrices(connection: duckdb.DuckDBPyConnection, where: _Where, asked: Asked) -> Iterator[Matrix]:
    """One for each audit, target and mitigation, that with the most alarms first; crossed attributes after plain ones."""
    found = rows(
        connection,
        f"""
        select
            audit, target, mitigation, attribute, group_name, reference_group, measure,
            list(distinct findings.status) as statuses,
            if(count(*) = 1, any_value(value), null) as value,
            if(count(*) = 1, any_value(finding_id), null) as finding_id,
            count(*) as n,
            count(*) filter (where findings.status = 'alarm' and severity = 'error') as n_alarms
        {_FROM}
        where {where.sql}
        group by audit, target, mitigation, attribute, group_name, reference_group, measure
        order by attribute like '%*%', attribute, group_name, reference_group, measure
        """,
        where.values,
    )
    parts: dict[tuple[str, str, str], list[Row]] = {}
    for row in found:
        parts.setdefault((row["audit"], row["target"], row["mitigation"]), []).append(row)

    def urgency(part: tuple[tuple[str, str, str], list[Row]]) -> tuple[Any, ...]:
        (audit, target, mitigation), cells = part
        return -sum(row["n_alarms"] for row in cells), audit, target, mitigation != PLAIN, mitigation

    for (audit, target, mitigation), cells in sorted(parts.items(), key=urgency):
        measures = sorted({row["measure"] for row in cells})
        lines: dict[tuple[str, str, str], dict[str, Row]] = {}
        for row in cells:
            about = row["attribute"], row["group_name"], row["reference_group"]
            lines.setdefault(about, {})[row["measure"]] = row
        yield Matrix(
            audit,
            target,
            mitigation,
            sum(row["n_alarms"] for row in cells),
            measures,
            [
                Line(
                    readable(attribute.strip("()")),
                    contrast(next(iter(line.values()))),
                    [_cell(line.get(measure), asked) for measure in measures],
                )
                for (attribute, _, _), line in lines.items()
            ],
        )


def _cell(row: Row | None, asked: Asked) -> Cell | None:
    if row is None:
        return None
    names = ("audit", "target", "mitigation", "attribute", "group_name", "reference_group", "measure")
    more = {"runs": asked.get("runs"), "status": asked.get("status"), "q": asked.get("q")}
    href = (
        f"/finding/{row['finding_id']}"
        if row["finding_id"]
        else link("/findings", **{name: row[name] for name in names}, **more) + "#table"
    )
    return Cell(gravest(row["statuses"]), row["value"], row["n"], href)
