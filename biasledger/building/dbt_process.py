"""dbt as a process of its own, which says in lines of JSON what it has done; its arguments are those of dbt.

Most of dbt's events are for looking into dbt itself, and each takes about as long as a small statement: these are not made into
messages here. A line is `{"level": …, "message": …}`, with `node` and `total`, the nodes in all, where a node is done.
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

SUCCEEDED, NODES_FAILED, BROKE_DOWN = 0, 1, 2
_UNHEARD = {EventLevel.DEBUG, EventLevel.TEST}


class _Events(EventManager):
    """Hands on what people are told."""

    def fire_event(
        self,
        e: BaseEvent,
        level: EventLevel | None = None,
        node: Any = None,
        force_warn_or_error_handling: bool = False,
    ) -> None:
        if force_warn_or_error_handling or (level or e.level_tag()) not in _UNHEARD:
            super().fire_event(e, level, node, force_warn_or_error_handling)


def run(arguments: Sequence[str]) -> int:
    """Run a command of dbt; returns the process's exit code: 1 says that nodes failed, 2 that dbt did not get that far."""
    ctx_set_event_manager(_Events())
    ended = dbtRunner(callbacks=[_tell]).invoke(list(arguments))
    if ended.success:
        return SUCCEEDED
    if ended.exception is None:
        return NODES_FAILED
    # dbt has told of most; of wrong options it has not.
    _say({"level": "error", "message": str(ended.exception)})
    return BROKE_DOWN


def _tell(event: Any) -> None:
    said: dict[str, Any] = {"level": event.info.level, "message": event.info.msg}
    if event.info.name.startswith("Log") and event.info.name.endswith("Result"):
        data = event.data
        said["node"] = data.node_info.node_name
        said["total"] = getattr(data, "total", 0) or getattr(data, "num_models", 0)
    _say(said)


def _say(said: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
