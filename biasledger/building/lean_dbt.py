"""What dbt does in a build and nobody has use for, left out: parts of dbt-core below 1.12, each replaced by a smaller one.

What is built is the same. A build by hand has all of dbt.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import current_thread
from typing import Any

from dbt.adapters.factory import FACTORY
from dbt.artifacts.resources.types import NodeType
from dbt.artifacts.schemas.results import RunStatus
from dbt.artifacts.schemas.run import RunResult
from dbt.compilation import Linker
from dbt.context.configured import ConfiguredContext
from dbt.context.macro_resolver import TestMacroNamespace
from dbt.context.manifest import ManifestContext
from dbt.contracts.graph.manifest import Manifest
from dbt.flags import get_flags
from dbt.task.build import BuildTask
from dbt.task.run import ModelRunner
from dbt.task.runnable import GraphRunnableTask
from dbt.task.seed import SeedRunner
from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.events import functions
from dbt_common.events.base_types import BaseEvent
from dbt_common.exceptions import base as exceptions
from dbt_common.exceptions import env_secrets

from biasledger.building import STOOD
from biasledger.building.kept_code import KeptCode, code_kept
from biasledger.building.own_nodes import PACKAGE, is_bare, is_left_whole, stands
from biasledger.building.quality_tests import QualityTests, rows_before


@contextmanager
def lean(kept: KeptCode) -> Iterator[None]:
    """Have dbt leave out, in this process and from now on, what is not read; for one command."""
    _make_events_when_read()
    _look_at_less()
    _keep_what_is_parsed()
    BuildTask.RUNNER_MAP[NodeType.Model] = Models
    BuildTask.RUNNER_MAP[NodeType.Seed] = Seeds
    BuildTask.RUNNER_MAP[NodeType.Test] = QualityTests
    with code_kept(kept):
        yield


def manifest() -> Manifest:
    """What dbt parsed for the last command of this process."""
    (adapter,) = FACTORY.adapters.values()
    found = adapter.get_macro_resolver()
    assert isinstance(found, Manifest)
    return found


def _make_events_when_read() -> None:
    """An event's message is made when somebody reads it: of most, nobody does."""
    make = BaseEvent.__init__

    def remember(event: Any, *args: Any, **said: Any) -> None:
        event.__dict__["_said"] = args, said

    def message(event: Any) -> Any:
        if "_message" not in event.__dict__:
            args, said = event.__dict__["_said"]
            make(event, *args, **said)
        return event.__dict__["_message"]

    def set_message(event: Any, made: Any) -> None:
        event.__dict__["_message"] = made

    # The process is dbt's alone and ends with the command; mypy takes no method for one that may be exchanged.
    BaseEvent.__init__ = remember  # type: ignore[method-assign, assignment]
    BaseEvent.pb_msg = property(message, set_message)


def _look_at_less() -> None:
    """What dbt works out again and again, or for those who look into it, done once or left out: together a twentieth of a small
    build. For this process, as above.
    """
    find_secrets = cache(env_secrets)
    macros_of: Any = ManifestContext
    to_dict = macros_of.to_dict

    def with_macros(context: Any) -> Any:
        if isinstance(context.namespace, TestMacroNamespace):
            return to_dict(context)
        found = ConfiguredContext.to_dict(context)
        # The first that has a name gives it; dbt looks each name up in all of them, for each node.
        for namespace in reversed(list(context.namespace._search_order())):
            found.update(namespace)
        return found

    # The environment is looked through for secrets with each message and each exception.
    exceptions.env_secrets = find_secrets
    functions.env_secrets = find_secrets  # type: ignore[attr-defined]
    # Whose an adapter's flag is, is told from the source of every function on the stack.
    BehaviorFlagRendered._default_source = staticmethod(lambda: "dbt")  # type: ignore[method-assign]
    # It is for target/graph_summary.json, which is for those who look into dbt.
    Linker.get_graph_summary = lambda *_: {}  # type: ignore[method-assign]
    macros_of.to_dict = with_macros


def _keep_what_is_parsed() -> None:
    """From when nodes are run, what cannot be reached is looked for again, but not among what dbt imported and parsed."""
    execute_nodes: Any = GraphRunnableTask.execute_nodes

    def freeze_and_execute(task: Any) -> Any:
        gc.freeze()
        gc.enable()
        return execute_nodes(task)

    # For this process, as above: dbt has no setting for it.
    GraphRunnableTask.execute_nodes = freeze_and_execute  # type: ignore[method-assign]


class Models(ModelRunner):
    """Runs dbt's models, and those of biasledger's own that are plain tables or views by their statement alone, without the
    macros of a materialisation: what macros/engine/rebuilt.sql and dbt-duckdb's `view` make, in one transaction. Rows that are
    only appended, in SQL or Python, go straight into their table. Views that stand are left."""

    def compile_and_execute(self, manifest: Manifest, ctx: Any) -> Any:
        """Compile and make it, or see that it stands."""
        if self.node.config.materialized == "view" and stands(self, self.node):
            return _done(self.node, STOOD)
        return super().compile_and_execute(manifest, ctx)

    def execute(self, model: Any, manifest: Manifest) -> Any:
        """Make the table or view, or its new rows; where they cannot be made, the old one stays."""
        macro = manifest.find_materialization_macro_by_name(
            self.config.project_name, model.config.materialized, self.adapter.type()
        )
        # A project may have a materialisation of its own in its place.
        is_ours = macro is not None and macro.package_name in {PACKAGE, "dbt", "dbt_duckdb"}
        if self.adapter.type() == "duckdb" and is_ours and is_bare(model):
            relation = self.adapter.Relation.create_from(self.config, model)
            before = self.adapter.get_relation(relation.database, relation.schema, relation.identifier)
            kind = _PLAIN_MODELS.get(model.config.materialized)
            if kind is not None and _is_plain(model):
                return self._made(relation.incorporate(type=kind), before, model)
            if before is not None and before.type == "table" and self._is_appended(before, model):
                return self._appended(before, model)
        # dbt gives its own no types.
        return super().execute(model, manifest)  # type: ignore[no-untyped-call]

    def _made(self, relation: Any, before: Any, model: Any) -> Any:
        drop = (
            f"drop {before.type} if exists {before}; "
            if before is not None and before.type != relation.type
            else ""
        )
        statement = self._view(relation, model) if relation.type == "view" else self._table(relation, model)
        return self._ran(f"{drop}{statement}", relation, model)

    def _ran(self, statement: str, relation: Any, model: Any) -> Any:
        connections = self.adapter.connections
        _, cursor = connections.add_query(statement)
        self.adapter.commit_if_has_connection()
        self.adapter.cache_added(relation.incorporate(dbt_created=True))
        return _done(model, str(connections.get_response(cursor)))

    def _appended(self, relation: Any, model: Any) -> Any:
        """Rows that the model gives go into the table as they are, not into a temporary one first."""
        if is_left_whole(model):
            cursor = self.adapter.connections.get_thread_connection().handle.cursor()
            [(rows_before[model.unique_id],)] = cursor.execute(f"select count(*) from {relation}").fetchall()
        if model.language == "sql":
            return self._ran(f"insert into {relation} by name ({model.compiled_code})", relation, model)
        append = _APPEND.format(relation=json.dumps(str(relation)))
        response = self.adapter.submit_python_job({"alias": model.alias}, f"{model.compiled_code}\n{append}")
        return _done(model, str(response))

    def _is_appended(self, relation: Any, model: Any) -> bool:
        """Whether the model's rows only come to those that its table has, with the same columns.

        Those of a model in Python are what its measure says, and a work file of other measures is deleted.
        """
        if not _only_appends(model):
            return False
        if model.language != "sql":
            return True
        cursor = self.adapter.connections.get_thread_connection().handle.cursor()
        made, there = (
            {row[:2] for row in cursor.execute(f"describe {what}").fetchall()}
            for what in (model.compiled_code, f"from {relation}")
        )
        return bool(made == there)

    def _view(self, relation: Any, model: Any) -> str:
        return f"create or replace view {relation} as ({model.compiled_code})"

    def _table(self, relation: Any, model: Any) -> str:
        if not model.config.contract.enforced:
            return f"create or replace table {relation} as ({model.compiled_code})"
        described = {name: column.to_dict() for name, column in model.columns.items()}
        names = {
            name: self.adapter.quote(name) if column.quote else name for name, column in model.columns.items()
        }
        columns = self.adapter.render_raw_columns_constraints(raw_columns=described)
        columns += self.adapter.render_raw_model_constraints(
            raw_constraints=[constraint.to_dict() for constraint in model.constraints]
        )
        listed = ", ".join(names.values())
        statements = [
            f"create or replace table {relation} ({', '.join(columns)})",
            f"insert into {relation} ({listed}) select {listed} from ({model.compiled_code})",
        ]
        persisted = model.config.persist_docs
        if persisted.get("relation") and model.description:
            statements.append(f"comment on table {relation} is {_quoted(model.description)}")
        if persisted.get("columns"):
            statements += [
                f"comment on column {relation}.{name} is {_quoted(model.columns[column].description)}"
                for column, name in names.items()
                if model.columns[column].description
            ]
        return "; ".join(statements)


class Seeds(SeedRunner):
    """Reads dbt's seeds in, but for those that stand."""

    def compile_and_execute(self, manifest: Manifest, ctx: Any) -> Any:
        """Read it in, or see that it stands."""
        return (
            _done(self.node, STOOD) if stands(self, self.node) else super().compile_and_execute(manifest, ctx)
        )


_PLAIN_MODELS = {"rebuilt": "table", "view": "view"}
# What dbt-duckdb calls with what a model in Python returned.
_APPEND = """
def materialize(df, con):
    con.register("new_rows", df)
    con.execute("insert into " + {relation} + " by name select * from new_rows")
    con.unregister("new_rows")
"""


def _done(node: Any, message: str) -> RunResult:
    return RunResult(
        node=node,
        status=RunStatus.Success,
        timing=[],
        thread_id=current_thread().name,
        execution_time=0.0,
        message=message,
        adapter_response={},
        failures=None,
        batch_results=None,
    )


def _is_plain(model: Any) -> bool:
    """Whether a model is one of biasledger's own in SQL that asks for no more than its statement; a view has no contract."""
    config = model.config
    return (
        is_bare(model)
        and model.language == "sql"
        and not config.get("sql_header")
        and not (
            config.materialized == "view" and (config.contract.enforced or any(config.persist_docs.values()))
        )
    )


def _only_appends(model: Any) -> bool:
    """Whether a model, in SQL or Python, asks for no more than that its rows come to those that its table has, in this build."""
    config, flags = model.config, get_flags()  # type: ignore[no-untyped-call]  # dbt gives its own no types
    return (
        config.materialized == "incremental"
        and config.incremental_strategy == "append"
        and not config.contract.enforced
        and not config.get("sql_header")
        and not any(config.persist_docs.values())
        and not (flags.FULL_REFRESH or config.full_refresh)
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
