"""One command of dbt, which says in lines of JSON what it has done.

Most of dbt's events serve to debug dbt itself, and each takes about as long as a small statement: they become messages only if
dbt is set to log them. A line is SAID and `{"level": …, "message": …}`, with `node` and `total` (the number of nodes) where a
node is done. Every ten seconds a line names the nodes in progress: `{"doing": …}`.
"""

from __future__ import annotations

import json
import mmap
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import BaseEvent, EventLevel
from dbt_common.events.event_manager import EventManager
from dbt_common.events.event_manager_client import ctx_set_event_manager
from dbt_common.events.functions import env_scrubber
from dbt_common.exceptions import DbtBaseException
from dbt_common.invocation import get_invocation_id

from biasledger.building import BUILT, SAID
from biasledger.building.kept_code import KeptCode
from biasledger.building.lean_dbt import lean, manifest
from biasledger.model_inputs.progress import listeners

SAID_EVERY_SECONDS = 10.0
SUCCEEDED, NODES_FAILED, BROKE_DOWN = 0, 1, 2
_FOR_DBT = (EventLevel.DEBUG, EventLevel.TEST)
_OF_A_NODE = ("resource_type", "package_name", "schema", "name", "alias", "access", "tags", "attached_node")


class _Events(EventManager):
    """Pass on the messages for users, and more where a more detailed log is asked for."""

    def fire_event(
        self,
        e: BaseEvent,
        level: EventLevel | None = None,
        node: Any = None,
        force_warn_or_error_handling: bool = False,
    ) -> None:
        is_for_dbt = (level or e.level_tag()) in _FOR_DBT
        if (
            force_warn_or_error_handling
            or not is_for_dbt
            or any(log.level in _FOR_DBT for log in self.loggers)
        ):
            super().fire_event(e, level, node, force_warn_or_error_handling)


class _Teller:
    """Print the messages for users, one line each."""

    def __init__(self) -> None:
        self.has_told_error = False
        # Node in progress -> its progress.
        self._doing: dict[str, str] = {}

    def __call__(self, event: Any) -> None:
        info = event.info
        if info.level in _FOR_DBT:
            return
        self.has_told_error |= info.level == "error"
        said: dict[str, Any] = {"level": info.level, "message": info.msg}
        if info.name == "LogStartLine":
            self._doing[event.data.node_info.node_name] = ""
        if info.name.startswith("Log") and info.name.endswith("Result"):
            data = event.data
            said["node"] = data.node_info.node_name
            said["total"] = getattr(data, "total", 0) or getattr(data, "num_models", 0)
            self._doing.pop(said["node"], None)
        _say(said)

    def note(self, model: str, how_far: str) -> None:
        """Remember how far a model has come."""
        self._doing[model] = f" ({how_far})"

    def say_doing(self) -> None:
        """Say what is being done, if anything is, and what memory this process takes, where the system tells."""
        if doing := ", ".join(f"{model}{how_far}" for model, how_far in list(self._doing.items())):
            _say({"level": "info", "message": "", "doing": f"{doing}{_memory()}"})


def run(arguments: Sequence[str], kept: KeptCode) -> int:
    """Run a command of dbt, with what earlier ones kept.

    Returns the process's exit code: 1 says that nodes failed, 2 that dbt did not get that far.
    """
    ctx_set_event_manager(_Events())
    teller, has_ended = _Teller(), threading.Event()
    listeners.append(teller.note)

    def say_doing() -> None:
        while not has_ended.wait(SAID_EVERY_SECONDS):
            teller.say_doing()

    threading.Thread(target=say_doing, daemon=True).start()
    with lean(kept):
        ended = dbtRunner(callbacks=[teller]).invoke(["--no-write-json", *arguments])
    has_ended.set()
    if isinstance(ended.result, RunExecutionResult):
        BUILT.write_text(json.dumps(built(ended.result)), encoding="utf-8")
    if ended.success:
        return SUCCEEDED
    if ended.exception is None:
        return NODES_FAILED
    if not teller.has_told_error:
        error = ended.exception
        name = "" if isinstance(error, DbtBaseException) else f"{type(error).__name__}: "
        _say({"level": "error", "message": f"{name}{error}"})
    return BROKE_DOWN


def built(done: RunExecutionResult) -> dict[str, Any]:
    """Return what a build reads of dbt's run_results.json and manifest.json, which dbt does not write here: the results, and the
    project's nodes by id."""
    known = manifest()
    return {
        "invocation_id": get_invocation_id(),
        "generated_at": done.generated_at.isoformat(),
        "results": [
            {
                "unique_id": result.node.unique_id,
                "status": str(result.status),
                "message": result.message,
                "seconds": result.execution_time,
                "relation_name": getattr(result.node, "relation_name", None),
            }
            for result in done.results
        ],
        "nodes": {name: _described(node) for name, node in {**known.nodes, **known.unit_tests}.items()},
    }


def _described(node: Any) -> dict[str, Any]:
    config, test = node.config, getattr(node, "test_metadata", None)
    return {
        **{name: getattr(node, name, None) for name in _OF_A_NODE},
        "config": {name: getattr(config, name, None) for name in ("materialized", "where")},
        "test_metadata": test and {"name": test.name, "kwargs": test.kwargs},
    }


def _memory() -> str:
    try:
        n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return ""
    return f", {n_pages * mmap.PAGESIZE / 2**30:.1f} GiB"


def _say(said: dict[str, Any]) -> None:
    # Its loggers hide what is secret in the environment, its events do not.
    said["message"] = env_scrubber(said["message"])
    sys.stdout.write(f"{SAID}{json.dumps(said)}\n")
    sys.stdout.flush()
