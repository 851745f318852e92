"""The explorer: pages on a built warehouse for a browser on this machine, which write nothing but labels."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from collector.errors import InputError

_NEEDED = ("starlette", "uvicorn", "vl_convert")


def serve(
    warehouse: Path,
    ledger: Path,
    *,
    port: int,
    when_ready: Callable[[str], None],
    label_as: str | None = None,
) -> None:
    """Show a warehouse to browsers of this machine, and of no other, until Ctrl-C or SIGTERM.

    Args:
        warehouse: the published file; each page reads its current state.
        ledger: where answers and prompts are read, if it is there.
        port: of 127.0.0.1; 0 takes one that is free.
        when_ready: called with the address as soon as pages can be requested.
        label_as: lets readers label answers in this name; the ledger is then brought up to date first.

    Raises:
        InputError: the extra `serve` is not installed, there is no warehouse, the port is taken, or the name is none.
        BiasledgerError: the warehouse cannot be read, or the ledger cannot be written where labels are to go.
    """
    if any(find_spec(name) is None for name in _NEEDED):
        raise InputError("The explorer needs starlette and uvicorn: pip install 'biasledger[serve]'.")
    from biasledger.querying.connection import locked_warehouse
    from biasledger.serving.server import run
    from collector.ledger.database import Ledger
    from collector.ledger.labels import name_of_labeller

    with locked_warehouse(warehouse):
        pass
    name = "" if label_as is None else name_of_labeller(label_as)
    if name:
        Ledger(ledger).update()
    run(warehouse, ledger, port, when_ready, name)
