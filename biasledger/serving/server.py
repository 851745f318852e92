"""The explorer as a process: one socket of this machine, which ends at Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from biasledger.serving.app import make_app
from biasledger.serving.guards import HOST
from biasledger.serving.statements import interrupt_all
from collector.errors import InputError

_SECONDS_TO_END = 3
_PAUSE = 0.1


class Server(uvicorn.Server):
    """The explorer of a warehouse; `run(sockets=[…])` answers what comes there until a signal, or `should_exit`, ends it.

    Args:
        warehouse: the published file.
        ledger: where answers and prompts are.
        when_ready: called once pages can be asked for.
        label_as: the name for labels; without it readers cannot label.
    """

    def __init__(
        self, warehouse: Path, ledger: Path, when_ready: Callable[[], None], label_as: str = ""
    ) -> None:
        config = uvicorn.Config(
            make_app(warehouse, ledger, label_as),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open for requests."""
        await super().startup(sockets)
        self._when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End after the requests that are being answered; queries that run are stopped, as they would be waited for."""
        stopping = asyncio.create_task(_stop_queries())
        await super().shutdown(sockets)
        stopping.cancel()


async def _stop_queries() -> None:
    """Again and again: one that was about to begin begins all the same."""
    while True:
        interrupt_all()
        await asyncio.sleep(_PAUSE)


def run(
    warehouse: Path, ledger: Path, port: int, when_ready: Callable[[str], None], label_as: str = ""
) -> None:
    """Answer requests until a signal ends it.

    Raises:
        InputError: the port is taken.
        KeyboardInterrupt: at a signal, after the last request was answered.
    """
    with listening(port) as opened:
        server = Server(warehouse, ledger, lambda: when_ready(address(opened)), label_as)
        server.run(sockets=[opened])
        # The signal's own interrupt is lost where nothing is awaited after it.
        raise KeyboardInterrupt


def listening(port: int) -> socket.socket:
    """A socket of this machine alone; port 0 takes one that is free.

    Raises:
        InputError: the port is taken.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((HOST, port))
    except OSError as error:
        opened.close()
        raise InputError(
            f"Port {port} of this machine cannot be used ({error.strerror}): name another with --port, or 0 for one that is free."
        ) from error
    return opened


def address(opened: socket.socket) -> str:
    """Where a browser of this machine finds it."""
    return f"http://{HOST}:{opened.getsockname()[1]}/"
