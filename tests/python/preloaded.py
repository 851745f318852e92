"""A process that has imported what dbt and the models need, and forks for each command of dbt.

A third of a small build is imports. The command runs as in `biasledger build`, in a process of its own with its own folder,
environment and output; it only does not begin with nothing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import IO, Any

_REPOSITORY = Path(__file__).resolve().parents[2]
_SERVER = (sys.executable, "-m", "tests.python.preloaded")
_BYTES = 1 << 20
_IMPORTED = (
    "dbt.cli.main",
    "dbt.adapters.duckdb.impl",
    "pandas",
    "scipy.stats",
    "sklearn.svm",
    "biasledger.measures",
)


class Preloaded:
    """Starts commands of dbt, from when it is entered until it is left; it imports nothing before the first of them."""

    def __enter__(self) -> SimpleNamespace:
        """Return the stand-in for the module `subprocess` where dbt is started."""
        self._requests: socket.socket | None = None
        return SimpleNamespace(
            Popen=self._start, PIPE=subprocess.PIPE, STDOUT=subprocess.STDOUT, DEVNULL=subprocess.DEVNULL
        )

    def __exit__(self, *_: object) -> None:
        if self._requests is not None:
            self._requests.close()
            self._server.wait()

    def _serving(self) -> socket.socket:
        if self._requests is None:
            self._requests, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            environment = {**os.environ, "PYTHONUTF8": "1"}
            with there:
                self._server = subprocess.Popen(
                    [*_SERVER, str(there.fileno())],
                    cwd=_REPOSITORY,
                    env=environment,
                    pass_fds=[there.fileno()],
                    stdin=subprocess.DEVNULL,
                )
        return self._requests

    def _start(self, _command: Sequence[str], *, cwd: Path, env: Mapping[str, str], **_: Any) -> _Command:
        read_input, write_input = os.pipe()
        read_output, write_output = os.pipe()
        here, there = socket.socketpair()
        asked = {"cwd": str(cwd.resolve()), "env": dict(env)}
        with there:
            given = [read_input, write_output, there.fileno()]
            socket.send_fds(self._serving(), [json.dumps(asked).encode()], given)
        os.close(read_input)
        os.close(write_output)
        return _Command(
            os.fdopen(write_input, "w", encoding="utf-8"),
            os.fdopen(read_output, encoding="utf-8", errors="replace"),
            here,
        )


class _Command:
    """A command that runs: what `subprocess.Popen` gives, as far as it is used."""

    returncode: int | None = None

    def __init__(self, stdin: IO[str], stdout: IO[str], ended: socket.socket) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self._ended = ended

    def terminate(self) -> None:
        """Do nothing: the process ends when its pipes are closed."""

    def wait(self) -> int:
        """Wait for its end; what ends without a word was killed."""
        if self.returncode is None:
            with self._ended:
                self.returncode = int(self._ended.recv(16) or -signal.SIGKILL)
                # It is closed when the process has ended and closed its files.
                self._ended.recv(16)
        return self.returncode

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.stdin.close()
        self.wait()


def _serve(requests: socket.socket) -> None:
    for module in _IMPORTED:
        import_module(module)
    # Forked processes are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        content, descriptors, _, _ = socket.recv_fds(requests, _BYTES, 3)
        if not content:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            _run(json.loads(content), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _run(asked: Mapping[str, Any], given: int, output: int, ended: int) -> None:
    """Run a command and say how it ended; does not return."""
    from biasledger.building import dbt_process

    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    os.dup2(given, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(given)
    os.close(output)
    code = 1
    try:
        code = dbt_process.main()
    finally:
        os.write(ended, str(code).encode())
    sys.exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
