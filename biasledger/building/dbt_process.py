"""dbt as a process of its own. What it is to do comes as a line of JSON on standard input: dbt's arguments, and what its
environment has beside what it began with. It ends when standard input does: then whoever began it is gone, however that came,
and a work file that nobody waits for would be held until all is built.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import threading
from typing import NoReturn


def main() -> int:
    """Wait for the command and run it; without one, do nothing. Returns the process's exit code: see `dbt_command.run`."""
    # Nearly all that is made while dbt begins stays until it ends: looking through it again and again for what could go takes
    # a seventh of that time. `lean_dbt.lean` switches it on again for the work.
    gc.disable()
    from dbt import mp_context

    from biasledger.building import CODE
    from biasledger.building.kept_code import KeptCode, defer_schemas, keep_methods

    kept = KeptCode(CODE)
    kept.read()
    keep_methods(kept)
    defer_schemas()
    # Locks for processes would start one more, which looks after them.
    mp_context._MP_CONTEXT = threading  # type: ignore[assignment]  # it has the two that dbt asks for
    from biasledger.building.dbt_command import BROKE_DOWN, SUCCEEDED, run

    asked = sys.stdin.readline()
    if not asked:
        return SUCCEEDED
    threading.Thread(target=_end_without_input, args=(BROKE_DOWN,), daemon=True).start()
    command = json.loads(asked)
    os.environ.update(command["environment"])
    return run(command["arguments"], kept)


def _end_without_input(code: int) -> NoReturn:
    """End at once, as if killed, when standard input ends: what DuckDB had committed stays."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(code)


def end(code: int) -> NoReturn:
    """End in good order, but for handing back memory, object by object: it takes as long as tens of models, and goes with the
    process."""
    # Exit functions close what is to be closed; dbt-duckdb's lets go of the work file, which closes where nothing else holds it.
    gc.collect()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    end(main())
