"""A PostgreSQL server of its own, in a temporary folder and reached through a socket there, for as long as a test needs it."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_START_SECONDS = 60


def missing() -> str | None:
    """Why no server can be started here; None where one can."""
    if _programs() is None:
        return "PostgreSQL (postgres, initdb, psql) is not installed here"
    if os.geteuid() == 0 and _other_user() is None:
        return "PostgreSQL does not run as root, and there is no user nobody to run it as"
    return None


@dataclass(frozen=True)
class Server:
    """A running server; `run` gives the rows of the last statement as texts, None for null."""

    psql: Path
    socket: Path
    user: str

    def run(self, sql: str) -> list[list[str | None]]:
        command = [str(self.psql), "--no-psqlrc", "--quiet", "--csv", "--tuples-only", "--set=ON_ERROR_STOP=1"]
        # A null is told from an empty text by a word that no test holds.
        command += ["--pset=null=<null>", f"--host={self.socket}", f"--username={self.user}", "postgres"]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{done.stderr}\n{sql}")
        return [[None if field == "<null>" else field for field in row] for row in csv.reader(io.StringIO(done.stdout))]


@contextmanager
def server() -> Iterator[Server]:
    """Start a server whose text sorts by code point, as DuckDB's does, and stop it at the end."""
    programs = _programs()
    assert programs is not None
    user = _other_user() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user is not None else {}
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "--pgdata", data, "--username=test", "--locale=C", "--encoding=UTF8", "--no-sync"],
            check=True,
            capture_output=True,
            **options,
        )
        process = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **options,
        )
        try:
            yield _ready(Server(programs / "psql", folder, "test"), process)
        finally:
            process.terminate()
            process.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ready(one: Server, process: subprocess.Popen[bytes]) -> Server:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            one.run("select 1")
        except AssertionError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return one


def _programs() -> Path | None:
    """The folder that holds all three programs; a link to one of them leads there."""
    found = shutil.which("postgres")
    if found is None:
        return None
    folder = Path(found).resolve().parent
    return folder if all((folder / name).is_file() for name in ("postgres", "initdb", "psql")) else None


def _other_user() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        return None
