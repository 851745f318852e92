"""The public tables, and their descriptions in dbt's manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PACKAGE = "biasledger"


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A table that readers may build on.

    Attributes:
        schema, name: where it is, in the work file and when published.
        key: the columns that together identify its rows, by its test; empty without one.
    """

    schema: str
    name: str
    key: tuple[str, ...]


def public_tables(manifest: Mapping[str, Any]) -> list[PublicTable]:
    """Return the public models of all packages, a user's own among them, and biasledger's settings; by schema and name."""
    nodes: Mapping[str, Any] = manifest["nodes"]
    keys: dict[str, tuple[str, ...]] = {}
    for model, columns in _unique(nodes):
        # If several keys are tested, take the shortest.
        if len(columns) < len(keys.get(model, columns)) or model not in keys:
            keys[model] = columns
    tables = [
        PublicTable(node["schema"], node["alias"], keys.get(name, ()))
        for name, node in nodes.items()
        if is_public(node)
    ]
    return sorted(tables, key=lambda table: (table.schema, table.name))


def is_public(node: Mapping[str, Any]) -> bool:
    """Return whether a node's table is published."""
    if node["resource_type"] == "seed":
        # They say by what findings were judged. A user's own seeds may be anything.
        return bool(node["package_name"] == _PACKAGE)
    return bool(
        node["resource_type"] == "model"
        and node["access"] == "public"
        and node["config"]["materialized"] != "ephemeral"
    )


def _unique(nodes: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield model and columns of each test that these columns identify the model's rows."""
    for node in nodes.values():
        test, model = node.get("test_metadata") or {}, node.get("attached_node")
        if model is None or node["config"].get("where"):
            continue
        if test.get("name") == "unique_combination":
            yield model, tuple(test["kwargs"]["columns"])
        elif test.get("name") == "unique":
            yield model, (test["kwargs"]["column_name"],)
