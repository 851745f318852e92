"""What dbt does in a build and nobody has use for, left out: parts of dbt-core below 1.12, each replaced by a smaller one.

What is built is the same. A build by hand has all of dbt.
"""

from __future__ import annotations

import hashlib
import marshal
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any, ClassVar

import jinja2
from dbt.adapters.factory import FACTORY
from dbt.artifacts.resources.types import NodeType
from dbt.contracts.graph.manifest import Manifest
from dbt.task.build import BuildTask
from dbt.task.test import TestResultData, TestRunner
from dbt_common.clients.jinja import CallableMacroGenerator, MacroFuzzEnvironment
from dbt_common.events.base_types import BaseEvent
from duckdb import Error as DuckDBError
from jinja2.bccache import bc_magic

from biasledger.building import TEMPLATES
from collector.files.replacing import write_whole

_PACKAGE = "biasledger"
_PLAIN = {"severity": "ERROR", "fail_calc": "count(*)", "warn_if": "!= 0", "error_if": "!= 0"}
_DIGEST = hashlib.sha256().digest_size
_ABSENT = ("where", "limit", "store_failures")


@contextmanager
def lean() -> Iterator[None]:
    """Have dbt leave out, in this process and from now on, what is not read; for one command."""
    _make_events_when_read()
    BuildTask.RUNNER_MAP[NodeType.Test] = QualityTests
    with templates_kept(TEMPLATES):
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


@contextmanager
def templates_kept(file: Path) -> Iterator[None]:
    """Macros and models as Jinja compiled them, from the file, and into it what is new."""
    compiled = MacroFuzzEnvironment.compile
    version = bc_magic + jinja2.__version__.encode()
    kept: dict[str, CodeType] = {}
    with suppress(OSError):
        written = file.read_bytes()
        # The project's own file, as what dbt parsed is, which holds code as well; one that was damaged would end the process.
        if written[:_DIGEST] == _stamp(version, written[_DIGEST:]):
            kept = marshal.loads(written[_DIGEST:])  # noqa: S302 (see above)
    n_before = len(kept)

    def compile_once(environment: Any, source: Any, *args: Any, **options: Any) -> Any:
        if args or options or not isinstance(source, str):
            return compiled(environment, source, *args, **options)
        key = hashlib.sha256(f"{type(environment).__name__} {source}".encode()).hexdigest()
        if key not in kept:
            kept[key] = compiled(environment, source)
        return kept[key]

    # Exchanged for one command and put back: dbt has no setting for it, and mypy takes no method for one that may be exchanged.
    MacroFuzzEnvironment.compile = compile_once  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        MacroFuzzEnvironment.compile = compiled  # type: ignore[method-assign]
        if len(kept) > n_before:
            # Without it, the next build only takes longer.
            with suppress(OSError):
                content = marshal.dumps(kept)
                write_whole(file, _stamp(version, content) + content)


def _stamp(version: bytes, content: bytes) -> bytes:
    """What tells a whole file of this version."""
    return hashlib.sha256(version + content).digest()


class QualityTests(TestRunner):
    """Runs dbt's tests, and all of biasledger's own that look at one table alone as one statement, when the first is due."""

    # By table: how many rows fail each test, and who may count them.
    _counted: ClassVar[dict[str, dict[str, int]]] = {}
    _locks: ClassVar[dict[str, Lock]] = defaultdict(Lock)

    def compile_and_execute(self, manifest: Manifest, ctx: Any) -> Any:
        """Run one test; a failing one has its own name."""
        # On Spark a statement is handed over as dbt does, so that it is translated.
        if self.adapter.type() != "duckdb" or not _is_of_one_table(self.node):
            return super().compile_and_execute(manifest, ctx)
        table = self.node.attached_node
        with self._locks[table]:
            if table not in self._counted:
                self._counted[table] = self._count(manifest, table)
        failures = self._counted[table].get(self.node.unique_id)
        if failures is None:
            return super().compile_and_execute(manifest, ctx)
        found = TestResultData(
            failures, should_warn=failures > 0, should_error=failures > 0, adapter_response={}
        )
        return self.build_test_run_result(self.node, found)

    def _count(self, manifest: Manifest, table: str) -> dict[str, int]:
        """How many rows fail each test of a table; nothing of a table whose tests do not run together."""
        relation = getattr(manifest.nodes.get(table), "relation_name", None)
        if relation is None:
            return {}
        tests = [
            node
            for node in manifest.nodes.values()
            if getattr(node, "attached_node", None) == table and _is_of_one_table(node)
        ]
        statements = [
            f"select '{test.unique_id}', count(*) from ({_statement(manifest, test, relation)})"
            for test in tests
        ]
        with self.adapter.connection_named(self.node.unique_id, self.node):
            cursor = self.adapter.connections.get_thread_connection().handle.cursor()
            try:
                return dict(cursor.execute(" union all ".join(statements)).fetchall())
            except DuckDBError:
                return {}


def _is_of_one_table(test: Any) -> bool:
    """Whether a test is one of biasledger's generic tests and reads no other table than the one it hangs on."""
    config = test.config
    return (
        test.resource_type == NodeType.Test
        and getattr(test, "attached_node", None) is not None
        and test.depends_on.nodes == [test.attached_node]
        and f"macro.{_PACKAGE}.test_{test.test_metadata.name}" in test.depends_on.macros
        and all(getattr(config, name).upper() == value.upper() for name, value in _PLAIN.items())
        and not any(getattr(config, name) for name in _ABSENT)
    )


def _statement(manifest: Manifest, test: Any, relation: str) -> str:
    macro: Callable[..., str] = CallableMacroGenerator(
        manifest.macros[f"macro.{_PACKAGE}.test_{test.test_metadata.name}"], {}
    )
    return macro(**{**test.test_metadata.kwargs, "model": relation})
