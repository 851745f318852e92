"""The public tables as their YAML describes them: the one description that dbt, the documents and the messages share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from biasledger.methods import method_names
from biasledger.project import dbt_source

SHARED = "findings"
"""Stands for the method in the list of tables that all methods share."""
_GRAIN = "Grain: "


@dataclass(frozen=True)
class Column:
    """A column of a public table: its name, its type in DuckDB, and what it means."""

    name: str
    data_type: str
    description: str


@dataclass(frozen=True)
class DescribedTable:
    """A mart: its method (`SHARED` for what all methods share), what one row is, its description, key and columns."""

    name: str
    method: str
    grain: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


@cache
def described_tables() -> tuple[DescribedTable, ...]:
    """Return the marts in the order of their methods and, in each, of their YAML."""
    order = (SHARED, *method_names())
    models = dbt_source() / "models"
    # First the tables that people ask for most, then the findings themselves, then comparisons and records.
    first = ["_current.yml", "_findings.yml"]
    shared = sorted((models / SHARED).glob("_*.yml"), key=lambda path: (path.name not in first, path.name))
    files = [*shared, *sorted((models / "marts").glob("*/_*.yml"))]
    tables = [table for path in files for table in _tables(path)]
    return tuple(sorted(tables, key=lambda table: order.index(table.method)))


def _tables(path: Path) -> Iterable[DescribedTable]:
    import yaml

    for model in yaml.safe_load(path.read_text(encoding="utf-8")).get("models", ()):
        if model["name"].startswith("int_"):
            continue
        grain, _, description = model["description"].removeprefix(_GRAIN).partition(". ")
        yield DescribedTable(
            name=model["name"],
            method=path.parent.name if path.parent.name in method_names() else SHARED,
            grain=grain.rstrip("."),
            description=" ".join(description.split()),
            key=_key(model),
            columns=tuple(
                Column(column["name"], column["data_type"], " ".join(column["description"].split()))
                for column in model["columns"]
            ),
        )


def _key(model: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that a test holds to be unique together, or the one column that is by itself."""
    for test in model.get("data_tests", ()):
        if isinstance(test, dict) and "unique_combination" in test:
            return tuple(test["unique_combination"]["arguments"]["columns"])
    return tuple(column["name"] for column in model["columns"] if "unique" in column.get("data_tests", ()))
