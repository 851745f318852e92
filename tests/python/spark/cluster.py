"""A Spark cluster on this machine: a master and two workers on loopback, programs of their own as anywhere else."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

JAVA = 17
# For little data: what compiles, replans and spreads pays where there is much.
SMALL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "640m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_WAIT_SECONDS = 900.0  # only against hanging: what is waited for is a line in the master's log


def needed(*packages: str) -> None:
    """Skip a test on Spark where that, or a package besides, is missing; where BIASLEDGER_SPARK_REQUIRED is true it fails."""
    if reason := _missing("pyspark", *packages):
        if os.environ.get("BIASLEDGER_SPARK_REQUIRED") == "true":
            pytest.fail(f"{reason}, and a test on Spark may not be skipped here")
        pytest.skip(reason)


def _missing(*packages: str) -> str | None:
    for name in packages:
        if find_spec(name) is None:
            return f"{name} is not installed: make spark-test installs it"
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return f"there is no Java: {java} does not start"
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < JAVA:
        return f"Spark needs Java {JAVA} or newer; {java} is {said.splitlines()[0]}"
    return None


@contextmanager
def cluster(folder: Path, n_workers: int = 2) -> Iterator[str]:
    """The address of a cluster whose workers have a core and a gigabyte each; it ends with the block."""
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    log = folder / "master.log"
    web = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [["org.apache.spark.deploy.master.Master", *web, "--port", str(port)]]
    for number in range(n_workers):
        place = str(folder / f"worker-{number}")
        size = ["--cores", "1", "--memory", "1g", "--work-dir", place]
        commands.append(["org.apache.spark.deploy.worker.Worker", *web, *size, address])

    def has_workers() -> bool:
        return log.read_text(encoding="utf-8", errors="replace").count("Registering worker") >= n_workers

    with _running(commands, log, memory="256m") as programs:
        _wait(has_workers, programs, log)
        yield address


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """The address of a server of Spark Connect with one core; it ends with the block."""
    port = _free_port()
    log = folder / "server.log"
    settings = {
        **SMALL,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    command = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[1]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with _running([command], log, memory="1g") as programs:
        _wait(lambda: _answers(port), programs, log)
        yield f"sc://127.0.0.1:{port}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _wait(done: Callable[[], bool], programs: Sequence[subprocess.Popen[bytes]], log: Path) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while not done():
        is_hopeless = time.monotonic() > until or any(program.poll() is not None for program in programs)
        assert not is_hopeless, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.2)


@contextmanager
def _running(
    commands: Sequence[Sequence[str]], log: Path, memory: str
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Programs of Spark that write into one log; they end with the block."""
    programs: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with log.open("ab") as file:
                programs.append(_start(command, file.fileno(), memory))
        yield programs
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait()


def _start(command: Sequence[str], output: int, memory: str) -> subprocess.Popen[bytes]:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    return subprocess.Popen(
        [str(home / "bin" / "spark-class"), *command],
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
        },
        stdout=output,
        stderr=output,
    )
