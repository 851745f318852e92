"""Run dbt as a process of its own, started early because its imports are slow.

dbt's in-process runner would keep its connection to both DuckDB files until this process ends. With a process, the files are free
when `Dbt.run` returns, dbt has an environment of its own, and an interrupt leaves no state.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from biasledger.building import INCREMENTAL, LINE_PREFIX, MEASURED_BY, RESULTS
from biasledger.building.parsed import parsed_before
from collector.errors import BiasledgerError

LOG = Path("logs/dbt.log")
_SHOWN_CHARACTERS = 600
_PROCESS = "biasledger.building.dbt_process"
# dbt_process prints the steps as JSON lines; dbt itself writes the log.
_LOG_OPTIONS = (
    *("--log-level", "none", "--log-format-file", "text", "--log-level-file", "info"),
    *("--log-path", str(LOG.parent), "--no-use-colors", "--no-send-anonymous-usage-stats"),
)
_PLACES = ("--project-dir", ".", "--profiles-dir", ".", "--target-path", "target")

# dbt reads these names, after DBT_, and all names after DBT_ENGINE_ as options of a build.
_OPTIONS = """
    ARTIFACT_STATE_PATH CACHE_SELECTED_ONLY DEBUG DEFER DEFER_STATE DEFER_TO_STATE EMPTY EVENT_TIME_END
    EVENT_TIME_START EXCLUDE_RESOURCE_TYPES EXPORT_SAVED_QUERIES FAIL_FAST FAVOR_STATE FAVOR_STATE_MODE
    FULL_REFRESH INCLUDE_SAVED_QUERY INDIRECT_SELECTION LOG_CACHE_EVENTS LOG_FILE_MAX_BYTES LOG_FORMAT
    LOG_FORMAT_FILE LOG_LEVEL LOG_LEVEL_FILE LOG_PATH MACRO_DEBUGGING NO_PRINT PARTIAL_PARSE
    PARTIAL_PARSE_FILE_DIFF PARTIAL_PARSE_FILE_PATH POPULATE_CACHE PRINT PRINTER_WIDTH PROFILE PROFILES_DIR
    PROJECT_DIR QUIET RESOURCE_TYPES SAMPLE SEND_ANONYMOUS_USAGE_STATS SHOW_RESOURCE_REPORT SINGLE_THREADED
    STATE STATIC_PARSER STORE_FAILURES TARGET TARGET_PATH UPLOAD_TO_ARTIFACTS_INGEST_API USE_COLORS
    USE_COLORS_FILE USE_EXPERIMENTAL_PARSER USE_FAST_TEST_EDGES VERSION_CHECK WARN_ERROR WARN_ERROR_OPTIONS
    WRITE_JSON
""".split()

OnStep = Callable[[int, int, str], None]


class BuildError(BiasledgerError):
    """The warehouse could not be built: a model or a quality test failed, or dbt could not start."""


class Dbt:
    """A process that runs one command of dbt in a project. It starts when the context is entered, so that dbt's slow imports run
    while the ledger is read. Without a command it ends when the context is left."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def __enter__(self) -> Dbt:
        self._process = subprocess.Popen(
            # -P: never import a script in the project's folder as a module.
            [sys.executable, "-P", "-m", _PROCESS],
            cwd=self._project,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The terminal's Ctrl-C reaches both processes, other signals only this one. One that has ended takes no harm.
        self._process.terminate()
        with suppress(BrokenPipeError):
            self._process.__exit__(kind, error, trace)

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        on_step: OnStep,
        *,
        methods: Sequence[str],
        is_closed: bool = False,
    ) -> list[str]:
        """Run a command, the only one; its log goes to logs/dbt.log, its artifacts to target.

        Args:
            arguments: the command and its options, without --vars.
            environment: variables to add to this process's environment for dbt.
            methods: the methods whose models are enabled.
            is_closed: the project is untrusted, and its parsed state is not shared with other projects.

        Returns:
            The error messages dbt reported, in order. If dbt failed, followed by its process's other lines, such as a traceback.

        Raises:
            BuildError: dbt could not read the project or broke down.
        """
        (self._project / RESULTS).unlink(missing_ok=True)
        # dbt keeps its parsed state and renders a package's project file by the environment without noticing that this has
        # changed. So the methods are also given as a variable, whose change makes dbt parse everything; generate_schema_name
        # reads that it is given.
        given = json.dumps({"built_methods": " ".join(methods)})
        asked = {
            "arguments": [*_LOG_OPTIONS, *arguments, "--vars", given, *_PLACES],
            "environment": {**environment, "BIASLEDGER_METHODS": " ".join(methods)},
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with parsed_before(self._project, methods, keeps=not is_closed):
            # If the process crashed on start, its output explains why.
            with suppress(BrokenPipeError):
                # Keep stdin open: the child exits when it closes.
                self._process.stdin.write(f"{json.dumps(asked)}\n")
                self._process.stdin.flush()
            messages, others = _follow(self._process.stdout, on_step)
            code = self._process.wait()
        # After success, other lines are only warnings of libraries.
        if code != 0:
            messages += others
        # 1 means failed nodes, which are in the results, or that dbt could not start, which leaves no results.
        if code not in {0, 1} or (code == 1 and not (self._project / RESULTS).exists()):
            reason = one_line(messages) or "it gave no reason"
            raise BuildError(f"dbt could not build: {reason} (the whole log is {LOG}).")
        return messages


def ignored_variables() -> list[str]:
    """Return which variables of the environment a build ignores: those by which dbt would build or test something else."""
    options = {f"DBT_{option}" for option in _OPTIONS}
    return sorted(name for name in os.environ if name.startswith("DBT_ENGINE_") or name in options)


def _environment() -> dict[str, str]:
    # The models import biasledger.measures: dbt must find the package that this program runs from.
    package_parent = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package_parent, os.environ.get("PYTHONPATH")]))
    # These variables are set by a build alone, never taken from the shell.
    not_own = {INCREMENTAL, MEASURED_BY, *ignored_variables()}
    own = {name: value for name, value in os.environ.items() if name not in not_own}
    return {**own, "PYTHONPATH": path, "PYTHONUTF8": "1"}


def _follow(lines: IO[str], on_step: OnStep) -> tuple[list[str], list[str]]:
    """Return the error messages among the lines of dbt's process, and its other lines."""
    messages: list[str] = []
    others: list[str] = []
    done, total, last = 0, 0, "none"
    for line in lines:
        if not line.startswith(LINE_PREFIX):
            if line.strip():
                others.append(line.strip())
            continue
        message = json.loads(line.removeprefix(LINE_PREFIX))
        if "node" in message:
            done, total, last = done + 1, message["total"], message["node"]
            on_step(done, total, last)
        elif "in_progress" in message:
            on_step(done, total, f"{last}; now {message['in_progress']}")
        elif message["level"] == "error":
            messages.append(message["message"].strip())
    return messages, others


def one_line(messages: Iterable[str]) -> str:
    """Join dbt's messages into one shortened line; a traceback is cut to its last line."""
    before, found, trace = "\n".join(messages).partition("Traceback (most recent call last):")
    reason = trace.strip().splitlines()[-1] if trace.strip() else ""
    text = " ".join(f"{before} {reason if found else ''}".split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"
