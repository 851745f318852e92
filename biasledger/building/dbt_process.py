"""dbt as a process of its own, by its documented interface (dbtRunner, its events, its artifacts).

The process reads its command as a line of JSON on standard input: dbt's arguments, and variables to add to the environment. It
ends when standard input ends, because then its parent is gone and the work file would stay locked.

It prints lines that begin with LINE_PREFIX: `{"level": …, "message": …}`, with `node` and `total` (the number of nodes) after a
node. Every ten seconds a line names the nodes in progress: `{"in_progress": …}`.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

REPORT_SECONDS = 10.0
SUCCEEDED, NODES_FAILED, BROKE_DOWN = 0, 1, 2
# dbt's loggers hide the values of these variables, its events do not.
_SECRET = "DBT_ENV_SECRET"  # noqa: S105 (the prefix of names of variables, no password)


def main() -> int:
    """Wait for the command and run it; without one, do nothing. Returns the process's exit code: see `run`."""
    # Collecting garbage while dbt is imported would take a seventh of that time, and most objects stay.
    gc.disable()
    import_module("dbt.cli.main")
    gc.freeze()
    gc.enable()
    asked = sys.stdin.readline()
    if not asked:
        return SUCCEEDED
    threading.Thread(target=_end_without_input, args=(BROKE_DOWN,), daemon=True).start()
    command = json.loads(asked)
    os.environ.update(command["environment"])
    return run(command["arguments"])


def run(arguments: Sequence[str]) -> int:
    """Run a command of dbt, which writes its artifacts.

    Returns the process's exit code: 1 says that nodes failed, 2 that dbt did not get that far.
    """
    from dbt.cli.main import dbtRunner

    from biasledger.model_inputs.progress import progress_callbacks

    events, has_ended = DbtEvents(), threading.Event()
    progress_callbacks.append(events.note)

    def report_nodes_in_progress() -> None:
        while not has_ended.wait(REPORT_SECONDS):
            events.report_nodes_in_progress()

    threading.Thread(target=report_nodes_in_progress, daemon=True).start()
    ended = dbtRunner(callbacks=[events]).invoke(list(arguments))
    has_ended.set()
    if ended.success:
        return SUCCEEDED
    if ended.exception is None:
        return NODES_FAILED
    if not events.has_reported_error:
        say({"level": "error", "message": f"{type(ended.exception).__name__}: {ended.exception}"})
    return BROKE_DOWN


class DbtEvents:
    """Prints dbt's messages for users, one line each."""

    def __init__(self) -> None:
        self.has_reported_error = False
        # Node in progress -> its progress.
        self._in_progress: dict[str, str] = {}

    def __call__(self, event: Any) -> None:
        """Print an event's message, if it is for users."""
        info = event.info
        if info.level in {"debug", "test"}:
            return
        self.has_reported_error |= info.level == "error"
        message: dict[str, Any] = {"level": info.level, "message": info.msg}
        if info.name == "LogStartLine":
            self._in_progress[event.data.node_info.node_name] = ""
        if info.name.startswith("Log") and info.name.endswith("Result"):
            data = event.data
            message["node"] = data.node_info.node_name
            message["total"] = getattr(data, "total", 0) or getattr(data, "num_models", 0)
            self._in_progress.pop(message["node"], None)
        say(message)

    def note(self, model: str, how_far: str) -> None:
        """Note a model's progress."""
        self._in_progress[model] = f" ({how_far})"

    def report_nodes_in_progress(self) -> None:
        """Report the nodes in progress, if any, and this process's memory where the system reports it."""
        if in_progress := ", ".join(
            f"{model}{how_far}" for model, how_far in list(self._in_progress.items())
        ):
            say({"level": "info", "message": "", "in_progress": f"{in_progress}{_memory()}"})


def say(message: dict[str, Any]) -> None:
    """Print a message, without the secrets of the environment."""
    from biasledger.building import LINE_PREFIX

    for name, value in os.environ.items():
        if name.startswith(_SECRET) and value:
            message["message"] = message["message"].replace(value, "*****")
    sys.stdout.write(f"{LINE_PREFIX}{json.dumps(message)}\n")
    sys.stdout.flush()


def _memory() -> str:
    try:
        n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return ""
    return f", {n_pages * mmap.PAGESIZE / 2**30:.1f} GiB"


def _end_without_input(code: int) -> NoReturn:
    """End at once, as if killed, when standard input ends: what DuckDB had committed stays."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
