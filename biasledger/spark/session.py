"""The Spark session of a process, with the functions that Spark lacks."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow

from biasledger.spark.masters import ACTIVE, is_connect, shown, without_secrets
from collector.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Settings that decide the meaning of a statement, which users cannot change.
_MEANING = {
    # As DuckDB does, Spark then fails where a number overflows or a text is no number.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.caseSensitive": "false",
}
_DEFAULTS = {
    "spark.app.name": "biasledger",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Inferring conditions from hundreds of others takes longer than it saves.
    "spark.sql.constraintPropagation.enabled": "false",
    # If one side of a join is small, such as texts joined to their words, the other need not be sorted.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64m",
}
# By this variable pyspark remembers that a process went the way of Spark Connect; and whether it does since a session of ours.
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_begun_here: set[str] = set()
_SET_UP = ("SPARK_DRIVER_MEMORY", "SPARK_CONF_DIR", "SPARK_HOME")
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_LEAST_MEMORY = 1 << 30  # of Java, as Spark has it
LOG = Path("logs/spark.log")


def open_session(master: str, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with the functions and settings of a build.

    Spark has one context in a process. Where there is one already it is used, whatever `master` says but sc://, by a session
    next to those that it has: settings, functions and tables are each session's own, so nothing changes for others.

    Args:
        master: local[*], spark://HOST:PORT and the like, `active` for what this process has and nothing else, or
            sc://HOST:PORT, a server of Spark Connect.
        settings: of Spark; those that only a server or a context can be started with are left to it.

    Raises:
        InputError: the server cannot be reached, or was started with another setting than builds need; there is no session that
            is active.
    """
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import ArrayType, BooleanType, StringType

    # Its errors come as exceptions, too.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    # Workers on this machine use this Python, which has biasledger.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    session = _session(master, {**_DEFAULTS, **settings, **_MEANING})
    session.udf.register("c_printf", c_printf, StringType())
    session.udf.register("json_merge_patch", json_merge_patch, StringType())
    session.udf.register("text_of_number", text_of_number, StringType())
    of_arrays: Any = arrow_udf  # its types name functions of iterators alone
    session.udf.register("json_valid", of_arrays(json_valid, BooleanType()))
    session.udf.register("keys_of_object", of_arrays(keys_of_object, ArrayType(StringType())))
    return session


def _session(master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if is_connect(master):
        if _CONNECT_MODE not in os.environ:
            _begun_here.add(_CONNECT_MODE)
        try:
            # Sessions of a server are apart from each other.
            return _adapted(SparkSession.builder.remote(master).create(), shown(master), settings)
        except (PySparkException, OSError, ValueError) as error:
            raise InputError(without_secrets(_unreached(master, error), master)) from None
    try:
        found = SparkSession.active()
    except PySparkException:
        if master == ACTIVE:
            raise InputError(
                f"This process has no session of Spark, and master is {ACTIVE}: begin one before, or name where Spark runs "
                "(local[*], spark://HOST:PORT, sc://HOST:PORT)."
            ) from None
        return _begun(master, settings)
    return _adapted(found.newSession(), "this process's session", settings)


def end_of_server(session: SparkSession) -> None:
    """End a session of a server. Where it was this process's first, sessions of its own can be begun again."""
    session.stop()
    if _CONNECT_MODE in _begun_here:
        _begun_here.discard(_CONNECT_MODE)
        os.environ.pop(_CONNECT_MODE, None)


def _unreached(master: str, error: Exception) -> str:
    reason = " ".join(str(error).split("JVM stacktrace")[0].split())
    return f"The server of Spark Connect at {shown(master)} cannot be used: {reason}"


def _begun(master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in {**_of_master(master), **settings}.items():
        builder = builder.config(name, str(value))
    with _errors_in(LOG):
        return builder.getOrCreate()


def _of_master(master: str) -> dict[str, str]:
    """Return defaults that settings may override.

    On one machine the driver does all the work, and Spark's default of one gigabyte holds too few long texts: it gets a quarter
    of the machine's memory, because DuckDB and Python work next to it.
    """
    # An installed Spark's own configuration takes precedence.
    if not master.startswith("local") or any(name in os.environ for name in _SET_UP):
        return {}
    return {"spark.driver.memory": f"{max(_LEAST_MEMORY, _memory() // 4) >> 20}m"}


def _memory() -> int:
    """Return the bytes of memory that this machine has, or that its container may take; 0 if unknown."""
    known = []
    with suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit in _LIMITS:
        # "max" means no limit.
        with suppress(ValueError, OSError):
            known.append(int(limit.read_text(encoding="ascii")))
    return min(known, default=0)


def _adapted(session: SparkSession, where: str, settings: Mapping[str, str]) -> SparkSession:
    """Return a session of what others have started, with the settings that it can be given."""
    for name, value in settings.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, str(value))
    for name, value in _MEANING.items():
        if (found := session.conf.get(name)) != value:
            raise InputError(f"Spark at {where} was started with {name}={found}: start it with {value}.")
    return session


@contextmanager
def _errors_in(log: Path) -> Iterator[None]:
    """Redirect standard error of programs that start in the block, such as Java, into a file, which is overwritten."""
    log.parent.mkdir(parents=True, exist_ok=True)
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def c_printf(form: str, *values: Any) -> str | None:
    """Format as DuckDB's printf does, like C; Java's rounds the shown decimal half up instead of the binary number."""
    if any(value is None for value in values):
        return None
    if form == "%,d":  # thousands are separated, which Python's % cannot do
        return f"{values[0]:,d}"
    return form % tuple(float(value) if isinstance(value, Decimal) else value for value in values)


def text_of_number(value: float | None) -> str | None:
    """Return a double as DuckDB casts it to text, which is as Python writes it."""
    return None if value is None else repr(float(value))


def json_valid(texts: pyarrow.Array) -> pyarrow.Array:
    """Return whether texts are JSON. Engines differ: DuckDB takes a comma at the end, and no line break that is not escaped."""
    return _by_duckdb("json_valid(one)", texts)


def keys_of_object(texts: pyarrow.Array) -> pyarrow.Array:
    """Compute the macro of this name on DuckDB."""
    keys = """
        case
            when not coalesce(json_valid(one), false) then []
            when len(json_keys(one)) = 1 and json_type(json_extract(one, '$.*')[1]) = 'OBJECT'
                then json_keys(json_extract(one, '$.*')[1])
            else json_keys(one)
        end
    """
    return _by_duckdb(keys, texts)


def _by_duckdb(expression: str, texts: pyarrow.Array) -> pyarrow.Array:
    """Return an expression of DuckDB of each text, as `one`."""
    with duckdb.connect(config={"threads": 1}) as connection:
        rows = connection.from_arrow(pyarrow.table({"one": texts}))
        return rows.project(f"{expression} as made").to_arrow_table()["made"].combine_chunks()


def json_merge_patch(document: str | None, patch: str | None) -> str | None:
    """RFC 7396, as text without blanks."""
    if document is None or patch is None:
        return None
    return json.dumps(
        _merged(json.loads(document), json.loads(patch)), separators=(",", ":"), ensure_ascii=False
    )


def _merged(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
