"""dbt as a process of its own, which says in lines of JSON what it has done; its arguments are those of dbt.

Most of dbt's events are for looking into dbt itself, and each takes about as long as a small statement: these are not made into
messages here, unless dbt is told to log them. A line is SAID and `{"level": …, "message": …}`, with `node` and `total` (nodes in
all) where a node is done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import BaseEvent, EventLevel
from dbt_common.events.event_manager import EventManager
from dbt_common.events.event_manager_client import ctx_set_event_manager
from dbt_common.events.functions import env_scrubber
from dbt_common.exceptions import DbtBaseException

from biasledger.building import SAID

SUCCEEDED, NODES_FAILED, BROKE_DOWN = 0, 1, 2
_FOR_DBT = (EventLevel.DEBUG, EventLevel.TEST)


class _Events(EventManager):
    """Hands on what people are told, and more where a log of more is asked for."""

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
    """Says what people are told, one line each."""

    def __init__(self) -> None:
        self.has_told_error = False

    def __call__(self, event: Any) -> None:
        info = event.info
        if info.level in _FOR_DBT:
            return
        self.has_told_error |= info.level == "error"
        said: dict[str, Any] = {"level": info.level, "message": info.msg}
        if info.name.startswith("Log") and info.name.endswith("Result"):
            data = event.data
            said["node"] = data.node_info.node_name
            said["total"] = getattr(data, "total", 0) or getattr(data, "num_models", 0)
        _say(said)


def run(arguments: Sequence[str]) -> int:
    """Run a command of dbt; returns the process's exit code: 1 says that nodes failed, 2 that dbt did not get that far."""
    ctx_set_event_manager(_Events())
    teller = _Teller()
    ended = dbtRunner(callbacks=[teller]).invoke(list(arguments))
    if ended.success:
        return SUCCEEDED
    if ended.exception is None:
        return NODES_FAILED
    if not teller.has_told_error:
        error = ended.exception
        name = "" if isinstance(error, DbtBaseException) else f"{type(error).__name__}: "
        _say({"level": "error", "message": f"{name}{error}"})
    return BROKE_DOWN


def _say(said: dict[str, Any]) -> None:
    # Its loggers hide what is secret in the environment, its events do not.
    said["message"] = env_scrubber(said["message"])
    sys.stdout.write(f"{SAID}{json.dumps(said)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
