"""A Spark cluster on this machine: a master and two workers on loopback, programs of their own as anywhere else."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_WAIT_SECONDS = 900.0  # only against hanging: what is waited for is a line in the master's log


def missing() -> str | None:
    """What a test on Spark lacks here, as a reason to skip it; None where it can run."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: make spark-test installs it"
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        return "there is no Java"
    return None


@contextmanager
def cluster(folder: Path, n_workers: int = 2) -> Iterator[str]:
    """The address of a cluster whose workers have a core and a gigabyte each; it ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    log = folder / "master.log"
    commands = [["master.Master", "--port", str(port), "--webui-port", "0"]]
    for number in range(n_workers):
        place = str(folder / f"worker-{number}")
        commands.append(
            [
                "worker.Worker",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                place,
                "--webui-port",
                "0",
                address,
            ]
        )
    programs = []
    try:
        for command in commands:
            with log.open("ab") as file:
                programs.append(_start(command, file.fileno()))
        until = time.monotonic() + _WAIT_SECONDS
        while log.read_text(encoding="utf-8", errors="replace").count("Registering worker") < n_workers:
            assert time.monotonic() < until, log.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.2)
        yield address
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait()


def _start(command: list[str], output: int) -> subprocess.Popen[bytes]:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    name, *options = command
    return subprocess.Popen(
        [
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{name}",
            "--host",
            "127.0.0.1",
            *options,
        ],
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        },
        stdout=output,
        stderr=output,
    )
