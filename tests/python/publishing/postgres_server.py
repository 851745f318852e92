"""A PostgreSQL server for tests: in its own folder, reached by a socket, without root, and ended with the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "s3cret/&%pass word"
QUOTED_PASSWORD = "s3cret%2F%26%25pass%20word"
_SECONDS = 60


@dataclass(frozen=True)
class PostgresServer:
    """A running server; `uri` holds its password."""

    folder: Path
    program: str

    def uri(self, database: str = "postgres", user: str = "owner") -> str:
        return f"postgresql://{user}:{QUOTED_PASSWORD}@/{database}?host={self.folder}"


def _program(name: str) -> str | None:
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    return found or (str(places[-1]) if places else None)


def _user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    pytest.skip("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server; skips the test, saying why, where PostgreSQL is not installed."""
    server, initdb = _program("postgres"), _program("initdb")
    if server is None or initdb is None:
        pytest.skip("PostgreSQL is not installed here (Debian: apt-get install postgresql)")
    user = _user()
    # Short, since a socket's path may have about 100 characters; and not below pytest's folder, which is root's alone.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        password = folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        if user is not None:
            for path in (folder, password):
                shutil.chown(path, user)
        subprocess.run(
            [
                *(initdb, "-D", folder / "data", "-U", "owner", "-A", "scram-sha-256", "--pwfile", password),
                *("--encoding", "UTF8", "--no-locale", "--no-sync"),
            ],
            user=user,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        options = {"listen_addresses": "", "unix_socket_directories": str(folder), "fsync": "off"}
        command = [server, "-D", str(folder / "data")]
        command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + _SECONDS
            while b"ready to accept connections" not in (folder / "log").read_bytes():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield PostgresServer(folder, server)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
