"""dbt as a process of its own, by its documented interface (dbtRunner, its events, its artifacts).

The process reads its command as a line of JSON on standard input: dbt's arguments, and variables to add to the environment. It
ends when standard input ends: then the process that started it is gone, and a work file that nobody waits for would stay locked.

It prints lines that begin with SAID, each `{"level": …, "message": …}`, with `node` and `total` (the number of nodes) where a
node is done. Every ten seconds a line names the nodes in progress: `{"doing": …}`.
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

SAID_EVERY_SECONDS = 10.0
SUCCEEDED, NODES_FAILED, BROKE_DOWN = 0, 1, 2
# dbt's loggers hide the values of these variables, its events do not.
_SECRET = "DBT_ENV_SECRET"  # noqa: S105 (the prefix of names of variables, no password)


def main() -> int:
    """Wait for the command and run it; without one, do nothing. Returns the process's exit code: see `run`."""
    # Most of what is made while dbt is imported stays until the end: looking for garbage there takes a seventh of that time.
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

    from biasledger.model_inputs.progress import listeners

    teller, has_ended = Teller(), threading.Event()
    listeners.append(teller.note)

    def say_doing() -> None:
        while not has_ended.wait(SAID_EVERY_SECONDS):
            teller.say_doing()

    threading.Thread(target=say_doing, daemon=True).start()
    ended = dbtRunner(callbacks=[teller]).invoke(list(arguments))
    has_ended.set()
    if ended.success:
        return SUCCEEDED
    if ended.exception is None:
        return NODES_FAILED
    if not teller.has_told_error:
        say({"level": "error", "message": f"{type(ended.exception).__name__}: {ended.exception}"})
    return BROKE_DOWN


class Teller:
    """Prints dbt's messages for users, one line each."""

    def __init__(self) -> None:
        self.has_told_error = False
        # Node in progress -> its progress.
        self._doing: dict[str, str] = {}

    def __call__(self, event: Any) -> None:
        """Print an event's message, if it is for users."""
        info = event.info
        if info.level in {"debug", "test"}:
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
        say(said)

    def note(self, model: str, how_far: str) -> None:
        """Remember how far a model has come."""
        self._doing[model] = f" ({how_far})"

    def say_doing(self) -> None:
        """Say what is being done, if anything is, and what memory this process takes, where the system tells."""
        if doing := ", ".join(f"{model}{how_far}" for model, how_far in list(self._doing.items())):
            say({"level": "info", "message": "", "doing": f"{doing}{_memory()}"})


def say(said: dict[str, Any]) -> None:
    """Print a message, without the secrets of the environment."""
    from biasledger.building import SAID

    for name, value in os.environ.items():
        if name.startswith(_SECRET) and value:
            said["message"] = said["message"].replace(value, "*****")
    sys.stdout.write(f"{SAID}{json.dumps(said)}\n")
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
