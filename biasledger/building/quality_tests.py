"""Tests of tables, all of one table as one statement, and of rows that a build kept not again.

A row is tested by the build that makes it. What a model appends or makes of the runs to build is looked at alone, where the last
build came to its end; keys that two builds could not have made alike are unique then, too. A full build tests every row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Any, ClassVar

from dbt.artifacts.resources.types import NodeType
from dbt.contracts.graph.manifest import Manifest
from dbt.task.test import TestResultData, TestRunner
from dbt_common.clients.jinja import CallableMacroGenerator
from duckdb import Error as DuckDBError

from biasledger.building import STOOD
from biasledger.building.own_nodes import PACKAGE, is_bare, is_left_whole, stands

_PLAIN = {"severity": "ERROR", "fail_calc": "count(*)", "warn_if": "!= 0", "error_if": "!= 0"}
_ABSENT = ("where", "limit", "store_failures")
_OF_EACH_ROW = {"filled", "in_range"}
# Columns of whose values each comes of one build: a run or a hash of it, a comparison, and what is made once, as of a text.
_MADE_ONCE = {
    *("run_id", "contrast_id", "comparison_key", "pool_key", "block_key", "subject_key"),
    *("answer_key", "item_set_id", "list_set_id", "lists_key", "list_key", "text_key", "unit_key"),
}

rows_before: dict[str, int] = {}
"""Of models whose rows this build only appended to their tables: how many were there."""


class QualityTests(TestRunner):
    """Runs dbt's tests, and all of biasledger's own that look at one table alone as one statement, when the first is due."""

    # By table: how many rows fail each test, and who may count them.
    _counted: ClassVar[dict[str, dict[str, int]]] = {}
    _stood: ClassVar[set[str]] = set()
    _locks: ClassVar[dict[str, Lock]] = defaultdict(Lock)

    def before_execute(self) -> None:
        """Say that a test begins, but of one that was counted with others, which ends in the same moment."""
        counted = self._counted.get(getattr(self.node, "attached_node", None) or "", {})
        if self.node.unique_id not in counted:
            super().before_execute()

    def compile_and_execute(self, manifest: Manifest, ctx: Any) -> Any:
        """Run one test; a failing one has its own name."""
        # On Spark a statement is handed over as dbt does, so that it is translated.
        if self.adapter.type() != "duckdb" or not _is_of_one_table(self.node):
            return super().compile_and_execute(manifest, ctx)
        table = self.node.attached_node
        with self._locks[table]:
            if table not in self._counted:
                self._counted[table] = self._passed(manifest, table) or self._count(manifest, table)
        failures = self._counted[table].get(self.node.unique_id)
        if failures is None:
            return super().compile_and_execute(manifest, ctx)
        found = TestResultData(
            failures, should_warn=failures > 0, should_error=failures > 0, adapter_response={}
        )
        result = self.build_test_run_result(self.node, found)
        if table in self._stood:
            result.message = STOOD
        return result

    def _passed(self, manifest: Manifest, table: str) -> dict[str, int]:
        """That no row fails any test of a seed that stands: the last build, which came to its end, tested it."""
        node = manifest.nodes.get(table)
        if getattr(node, "resource_type", None) != NodeType.Seed or not stands(self, node):
            return {}
        # A build ends well where an alarm fires.
        passed = [test.unique_id for test in _tests_of(manifest, table) if "alarm" not in test.tags]
        if passed:
            self._stood.add(table)
        return dict.fromkeys(passed, 0)

    def _count(self, manifest: Manifest, table: str) -> dict[str, int]:
        """How many rows fail each test of a table; nothing of a table whose tests do not run together."""
        node = manifest.nodes.get(table)
        relation = getattr(node, "relation_name", None)
        if relation is None:
            return {}
        with self.adapter.connection_named(self.node.unique_id, self.node):
            cursor = self.adapter.connections.get_thread_connection().handle.cursor()
            try:
                new = _new_rows(manifest, node, relation)
                statements = [
                    f"select '{test.unique_id}', count(*) from "
                    f"({_statement(manifest, test, new if _is_of_one_build(test) else relation)})"
                    for test in _tests_of(manifest, table)
                ]
                return dict(cursor.execute(" union all ".join(statements)).fetchall())
            except DuckDBError:
                return {}


def _tests_of(manifest: Manifest, table: str) -> list[Any]:
    """The tests of a table that run together."""
    return [
        node
        for node in manifest.nodes.values()
        if getattr(node, "attached_node", None) == table and _is_of_one_table(node)
    ]


def _is_of_one_table(test: Any) -> bool:
    """Whether a test is one of biasledger's generic tests and reads no other table than the one it hangs on."""
    config = test.config
    return (
        test.resource_type == NodeType.Test
        and getattr(test, "attached_node", None) is not None
        and test.depends_on.nodes == [test.attached_node]
        and f"macro.{PACKAGE}.test_{test.test_metadata.name}" in test.depends_on.macros
        and all(getattr(config, name).upper() == value.upper() for name, value in _PLAIN.items())
        and not any(getattr(config, name) for name in _ABSENT)
    )


def _new_rows(manifest: Manifest, node: Any, relation: str) -> str:
    """The rows of a table that this build made, to be selected from; the table where it may have made them all."""
    if node.config.materialized == "by_run" and is_bare(node) and is_left_whole(node):
        build_runs = manifest.nodes[f"model.{PACKAGE}.int_build_runs"].relation_name
        return f"(from {relation} where run_id in (select run_id from {build_runs} where why <> 'same'))"
    if n_before := rows_before.get(node.unique_id):
        return f"(from {relation} where rowid >= {n_before})"
    return relation


def _is_of_one_build(test: Any) -> bool:
    """Whether no row that a build makes can fail the test for the sake of one that another made."""
    kwargs = test.test_metadata.kwargs
    columns = {*kwargs.get("columns", ()), kwargs.get("column_name")}
    return test.test_metadata.name in _OF_EACH_ROW or not _MADE_ONCE.isdisjoint(columns)


def _statement(manifest: Manifest, test: Any, relation: str) -> str:
    macro: Callable[..., str] = CallableMacroGenerator(
        manifest.macros[f"macro.{PACKAGE}.test_{test.test_metadata.name}"], {}
    )
    return macro(**{**test.test_metadata.kwargs, "model": relation})
