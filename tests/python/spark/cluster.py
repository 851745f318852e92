"""A Spark cluster on this machine: a master and two workers on loopback, programs of their own as anywhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

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


def settings_of_spark(project: Path, settings: Mapping[str, str], **others: str) -> None:
    """Write settings of Spark, and other keys of that target, into a project's profiles.yml."""
    profiles = project / "profiles.yml"
    profile = yaml.safe_load(profiles.read_text(encoding="utf-8"))
    profile["biasledger"]["outputs"]["spark"].update(settings=dict(settings), **others)
    profiles.write_text(yaml.safe_dump(profile), encoding="utf-8")


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
    log = folder / "master.log"
    web = ["--host", "127.0.0.1", "--webui-port", "0"]
    with _running(log, memory="256m") as programs:
        programs.start("org.apache.spark.deploy.master.Master", *web, "--port", "0")
        (address,) = programs.said(r"Starting Spark master at (spark://\S+)")
        for number in range(n_workers):
            place = str(folder / f"worker-{number}")
            size = ["--cores", "1", "--memory", "1g", "--work-dir", place]
            programs.start("org.apache.spark.deploy.worker.Worker", *web, *size, address)
        programs.said("Registering worker", times=n_workers)
        yield address


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """The address of a server of Spark Connect with one core; it ends with the block."""
    settings = {
        **SMALL,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    command = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[1]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with _running(folder / "server.log", memory="1g") as programs:
        programs.start(*command)
        (address,) = programs.said(r"Spark Connect server started at: (\S+)")
        yield f"sc://{address}"


class _Programs:
    """Programs of Spark that write into one log. Each takes a port that is free and says which: a port that was free when
    it was looked for may be taken, by Spark itself too, before a server binds it."""

    def __init__(self, log: Path, memory: str) -> None:
        self.log = log
        self.memory = memory
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str) -> None:
        with self.log.open("ab") as file:
            self.running.append(_start(command, file.fileno(), self.memory))

    def said(self, pattern: str, times: int = 1) -> list[str]:
        """What a pattern found in the log, once it is there so often."""
        until = time.monotonic() + _WAIT_SECONDS
        while len(found := re.findall(pattern, self.read())) < times:
            assert time.monotonic() < until, f"no {pattern!r} in {_WAIT_SECONDS:.0f} s:\n{self.read()}"
            self.live()
            time.sleep(0.2)
        return found

    def read(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def live(self) -> None:
        for program in self.running:
            assert program.poll() is None, (
                f"a program of Spark ended with {program.returncode}:\n{self.read()}"
            )

    def end(self) -> None:
        for program in self.running:
            program.terminate()
        for program in self.running:
            program.wait()


@contextmanager
def _running(log: Path, memory: str) -> Iterator[_Programs]:
    """Programs of Spark, which end with the block. Where it fails and one of them has ended before, that is what is told."""
    programs = _Programs(log, memory)
    try:
        yield programs
    except Exception:
        programs.live()
        raise
    finally:
        programs.end()


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
