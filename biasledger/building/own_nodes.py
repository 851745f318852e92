"""Which of dbt's nodes are biasledger's own."""

from __future__ import annotations

import os
from typing import Any

from biasledger.building import KEPT, STANDS

PACKAGE = "biasledger"


def stands(runner: Any, node: Any) -> bool:
    """Whether a seed or view of biasledger's own is there as a build would make it."""
    if not os.environ.get(STANDS) or not is_bare(node) or runner.adapter.type() != "duckdb":
        return False
    with runner.adapter.connection_named(node.unique_id, node):
        found = runner.adapter.get_relation(node.database, node.schema, node.alias)
    return found is not None


def is_bare(node: Any) -> bool:
    """Whether a node is a shipped one without hooks or grants added by the project."""
    config = node.config
    return node.package_name == PACKAGE and not (config.pre_hook or config.post_hook or config.grants)


def is_left_whole(model: Any) -> bool:
    """Whether the last build completed and made this model, as macros/engine/by_run.sql asks: all its rows were tested."""
    left = os.environ.get(KEPT, "").split()
    methods = os.environ.get("BIASLEDGER_METHODS", "").split()
    return bool(left) and (model.config.group in left or model.config.group not in methods)
