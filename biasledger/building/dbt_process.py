"""dbt as a process of its own. What it is to do comes as JSON on standard input: dbt's arguments, and what its environment has
beside what it began with.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import threading
from typing import NoReturn

from biasledger.model_inputs import beside


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
    from biasledger.building.dbt_command import SUCCEEDED, run

    asked = sys.stdin.read()
    if not asked:
        return SUCCEEDED
    beside.beside = beside.Beside()
    command = json.loads(asked)
    os.environ.update(command["environment"])
    return run(command["arguments"], kept)


def end(code: int) -> NoReturn:
    """End in good order, but for handing back memory, object by object: it takes as long as tens of models, and goes with the
    process."""
    # Exit functions close what is to be closed; dbt-duckdb's lets go of the work file, which closes where nothing else holds it.
    gc.collect()
    if beside.beside is not None:
        beside.beside.end()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    end(main())
