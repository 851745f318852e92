"""The explorer: pages on a built warehouse for a browser on this machine, read-only."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from collector.errors import InputError

_NEEDED = ("starlette", "uvicorn", "vl_convert")


def serve(warehouse: Path, ledger: Path, *, port: int, when_ready: Callable[[str], None]) -> None:
    """Show a warehouse to browsers of this machine, and of no other, until Ctrl-C or SIGTERM.

    Args:
        warehouse: the published file; each page reads what stands there then.
        ledger: where answers and prompts are read, if it is there.
        port: of 127.0.0.1; 0 takes one that is free.
        when_ready: is told the address once pages can be asked for.

    Raises:
        InputError: the extra `serve` is not installed, there is no warehouse, or the port is taken.
        BiasledgerError: the warehouse cannot be read.
    """
    if any(find_spec(name) is None for name in _NEEDED):
        raise InputError("The explorer needs starlette and uvicorn: pip install 'biasledger[serve]'.")
    from biasledger.querying.connection import locked_warehouse
    from biasledger.serving.server import run

    with locked_warehouse(warehouse):
        pass
    run(warehouse, ledger, port, when_ready)
