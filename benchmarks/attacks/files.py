"""Attempts to get out of what a command may read or print, and bad files of many kinds; all in this process."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import os
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.attacks import Attack
from collector.errors import BiasledgerError, InputError

KEY = "sk-live-0123456789+abc/DEF=xyz"
VARIABLE = "BIASLEDGER_ATTACKED_KEY"

# --- out of `query`

SECRET_FILE = "secret.csv"
QUERIES = (
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_json('{secret}')",
    "select * from '{secret}'",
    "from '{secret}'",
    "select * from glob('{folder}/*')",
    "select * from query('select * from read_text(''{secret}'')')",
    "select * from query_table('{secret}')",
    "with a as (from read_csv('{secret}')) select * from a",
    "select (select content from read_text('{secret}'))",
    "select * from sniff_csv('{secret}')",
    "select * from parquet_metadata('{secret}')",
    "select getenv('HOME')",
    "attach '{folder}/other.duckdb'",
    "copy (select 1) to '{folder}/out.csv'",
    "copy dim_runs to '{folder}/out.csv'",
    "export database '{folder}/out'",
    "import database '{folder}/out'",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "reset enable_external_access",
    "pragma enable_profiling",
    "set lock_configuration = false",
    "set search_path = 'main'",
    "create table a as select 1",
    "create temp table a as select 1",
    "create macro a() as 1",
    "insert into dim_runs select * from dim_runs",
    "update dim_runs set run_id = 'a'",
    "delete from dim_runs",
    "drop table marts.dim_runs",
    "alter table marts.dim_runs add column a int",
    "truncate marts.dim_runs",
    "detach warehouse",
    "use main",
    "checkpoint",
    "vacuum",
    "begin transaction",
    "call pragma_version()",
    "prepare a as select 1",
    "select 1; drop table marts.dim_runs",
    "select 1; select * from read_text('{secret}')",
    "explain analyze copy (select 1) to '{folder}/out.csv'",
    "/* a */ copy (select 1) to '{folder}/out.csv'",
    "describe select * from read_csv('{secret}')",
    "summarize select * from read_csv('{secret}')",
    "select * from duckdb_secrets()",
    "create secret a (type s3)",
)


def _query(seed: int, folder: Path) -> str | None:
    """Hold a statement that reads or writes elsewhere against a warehouse: it is refused, or says nothing of the outside."""
    import duckdb

    from biasledger.querying.connection import locked_warehouse
    from biasledger.querying.statements import run_statement

    warehouse, secret = folder / "warehouse.duckdb", folder / SECRET_FILE
    secret.write_text(f"a\n{KEY}\n")
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema marts; create table marts.dim_runs as select 'run-1' as run_id")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    sql = QUERIES[seed % len(QUERIES)].format(secret=secret, folder=folder)
    try:
        with locked_warehouse(warehouse) as connection:
            told = repr(list(run_statement(connection, sql).rows))
    except BiasledgerError as error:
        told = str(error)
    if KEY in told or ((home := os.environ.get("HOME")) and home in told.replace(str(folder), "")):
        return f"{sql} read what is outside"
    if {path.name: path.read_bytes() for path in folder.iterdir()} != before:
        return f"{sql} changed a file"
    return None


# --- out of a spec's project

SPEC = """
audit: people
subjects: {{file: {file}, name: nothing}}
templates: [{{id: one, text: 'Who is {{nothing}}, {{a race}} person?'}}]
attributes: {{race: {{reference: White, groups: [White, Asian]}}}}
trials: 5
"""
OUTSIDE = (
    "/proc/self/environ",
    "/proc/self/cmdline",
    "/etc/passwd",
    "../../outside",
    "link",
    "folder/outside",
    "./../audits/../../outside",
    "//etc/passwd",
    "ABSOLUTE",
    "loop",
)


def _spec(seed: int, folder: Path) -> str | None:
    """Let a spec name a file that is none of its project."""
    from collector.spec.loading import load_audit

    project = folder / "project"
    (project / "audits").mkdir(parents=True)
    (project / "dbt_project.yml").touch()
    (folder / "outside").write_text(f"{KEY}\nb\n")
    (project / "audits" / "link").symlink_to(folder / "outside")
    (project / "audits" / "folder").symlink_to(folder)
    (project / "audits" / "loop").symlink_to("loop")
    named = OUTSIDE[seed % len(OUTSIDE)].replace("ABSOLUTE", str(folder / "outside"))
    spec = project / "audits" / "people.yml"
    spec.write_text(SPEC.format(file=json.dumps(named)))
    with _key_set():
        try:
            load_audit(spec)
        except InputError as error:
            told = str(error)
            return (
                f"{named}: the error shows what is in it: {told[:200]}"
                if KEY in told or "root:" in told
                else None
            )
    return f"{named} was read"


def _excerpt(seed: int, folder: Path) -> str | None:
    """Let a command read a file whose first line holds a key, and print what is wrong with it."""
    rng = random.Random(seed)
    from click.testing import CliRunner

    from biasledger.cli import cli

    place = folder / "audits"
    place.mkdir()
    filler = "".join(rng.choice("abc,;= \t\0\x1b\u202e") for _ in range(rng.randrange(200)))
    cut = rng.randrange(len(filler) + 1)
    (place / "named").write_text(f"{filler[:cut]}{KEY}{filler[cut:]}\n", encoding="utf-8")
    (folder / "targets.yml").write_text(
        f"targets: {{x: {{kind: openai, base_url: 'http://127.0.0.1:9', api_key_env: {VARIABLE}}}}}"
    )
    (place / "a.yml").write_text(SPEC.format(file="named"))
    with _key_set():
        done = CliRunner().invoke(
            cli, ["collect", str(place / "a.yml"), "--target", "x", "--targets", str(folder / "targets.yml")]
        )
    if done.exit_code != 3:
        return f"the command ended with {done.exit_code}: {done.output[:200]!r}"
    if KEY[:12] in done.output or _steers(done.output):
        return f"it printed {done.output[:200]!r}"
    return None


# --- keys

SPELLINGS: Sequence[Callable[[str], str]] = (
    str,
    lambda key: quote(key, safe=""),
    lambda key: quote(quote(key, safe=""), safe=""),
    lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    lambda key: "".join(f"&#{ord(one)};" for one in key),
    lambda key: "".join(f"&#x{ord(one):x};" for one in key),
    lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    lambda key: json.dumps(key).replace("/", "\\/"),
    html.escape,
    lambda key: key[::-1],
    lambda key: key.encode().hex(),
    lambda key: key.encode().hex().upper(),
    lambda key: base64.b64encode(f"me:{key}".encode()).decode(),
    lambda key: base64.urlsafe_b64encode(f"someone:{key}".encode()).decode(),
    lambda key: base64.b32encode(f"me:{key}:you".encode()).decode(),
    lambda key: base64.b32encode(key.encode()).decode().lower(),
)


@contextmanager
def _key_set() -> Iterator[None]:
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = KEY
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def _echoed(seed: int, _folder: Path) -> str | None:
    """Echo a key in a spelling of its own inside of something else."""
    from collector.redaction import KEY_PLACEHOLDER, Redactor

    rng = random.Random(seed)
    place = seed % (len(SPELLINGS) + 3)
    if place < len(SPELLINGS):
        spelled = SPELLINGS[place](KEY)
    else:  # each character in a way of its own
        ways = (
            str,
            lambda one: f"%{ord(one):02x}",
            lambda one: f"&#{ord(one)};",
            lambda one: f"\\u{ord(one):04x}",
        )
        spelled = "".join(rng.choice(ways)(one) for one in KEY)
    with _key_set():
        cleaned = Redactor([VARIABLE])(f"100% of {{\\n{spelled}}} & more")
    if KEY_PLACEHOLDER not in cleaned or len(cleaned) > 60:
        return f"it left {cleaned!r}"
    return None


WRITTEN = (
    "AIza" + "0123456789abcdefghijABCDEFGHIJ-_xyz",
    "hf_" + "abcdefghij" * 4,
    "ghp_" + "abcdefghij" * 4,
    "github_pat_" + "a1B2c3D4e5" * 4,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "sk-ant-api03-" + "abcdefghij" * 3,
    "xoxb-" + "1234567890-abcdef",
    "glpat-" + "abcdefghij" * 2,
    "gsk_" + "abcdefghij" * 4,
)
PLACES = (
    "url: 'https://host/v1?q={prompt}&trace=KEY'",
    "url: 'https://host/KEY?q={prompt}'",
    "url: 'https://host?q={prompt}', headers: {X-Trace: 'KEY'}",
    "url: 'https://host?q={prompt}', headers: {'KEY': a}",
    "url: 'https://host?q={prompt}', headers: {X-Trace: 'Token KEY'}",
    'url: \'https://host\', body: \'{"q": "{prompt}", "trace": "KEY"}\'',
    "url: 'https://host', headers: {Content-Type: application/x-www-form-urlencoded}, body: 'q={prompt}&trace=KEY'",
)


def _in_targets(seed: int, folder: Path) -> str | None:
    """Write a key into targets.yml, where no name says that it is one."""
    from collector.targets import load_target

    key = WRITTEN[seed % len(WRITTEN)]
    path = folder / "targets.yml"
    path.write_text(
        f"targets: {{x: {{kind: http, {PLACES[seed // len(WRITTEN) % len(PLACES)].replace('KEY', key)}}}}}\n"
    )
    try:
        load_target(path, "x")
    except InputError as error:
        if key in str(error):
            return f"the error shows the key: {error}"
        return None if "looks like a secret" in str(error) else f"it was refused for something else: {error}"
    return f"{path.read_text()} was taken"


# --- the terminal

_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SEQUENCES = (
    *(
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x1b[31m",
        "\x9b2J",
        "\x1bP1$r\x1b\\",
        "\x1b]8;;http://a\x1b\\",
        "\x1b[6n",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u2069",
        "\u200f",
        "\u061c",
        "\r",
        "\b",
        "\x7f",
        "\x85",
        "\ud800",
        "\u2028",
        "\ufeff",
    ),
)


def _steers(text: str) -> bool:
    return _STEERING.search(text) is not None


def _printed(seed: int, _folder: Path) -> str | None:
    """Print foreign text in each of the ways that there are."""
    from click.testing import CliRunner
    from rich.table import Table

    from biasledger.cli import cli
    from biasledger.commands.display import findings_table
    from collector import terminal

    rng = random.Random(seed)
    hostile = "".join(rng.choice((*_SEQUENCES, "a", " ", "日", "[red]")) for _ in range(rng.randrange(1, 30)))
    into = io.StringIO()
    with redirect_stdout(into), redirect_stderr(into):
        terminal.say(hostile)
        terminal.say(hostile, err=True)
        findings_table([_finding(hostile)])
        table = Table(hostile)
        table.add_row(terminal.on_one_line(hostile).replace("[", "("))
        terminal.console().print(table, markup=False)
        told = CliRunner().invoke(cli, ["findings", "--warehouse", hostile.replace("\0", "")]).output
    shown = into.getvalue() + told
    return f"{hostile!r} came out as {_STEERING.search(shown)!r}" if _steers(shown) else None


def _finding(text: str) -> Any:
    """A finding of which every text is this one."""
    from biasledger.findings import Finding

    kinds: dict[str, Any] = {"str": text, "str | None": text, "float | None": 0.5, "bool": True}
    return Finding(**{name: kinds[str(kind)] for name, kind in Finding.__annotations__.items()})


# --- files that are none


def _import(path: Path) -> object:
    from collector.importers.tabular import import_file
    from collector.spec.loading import load_audit

    spec = path.with_name("import.yml")
    spec.write_text(
        "audit: people\nattributes: {race: {reference: White, groups: [White, Asian]}}\nanswer: {kind: text}\n"
        "import: {columns: {text: answer, prompt: question, attributes: {race: race}}}\n"
    )
    return import_file(load_audit(spec), spec, path, path.with_name("ledger.duckdb"), show_progress=False)


def _replay(path: Path) -> object:
    from collector.targets import load_target

    targets = path.with_name("replay.yml")
    targets.write_text(f"targets: {{x: {{kind: replay, file: {path.name}}}}}")
    return load_target(targets, "x")


def _readers() -> Sequence[tuple[str, Callable[[Path], object]]]:
    from biasledger.comparing.baseline_file import read_baseline
    from biasledger.findings import read_findings
    from biasledger.packing.archive import read_pack
    from biasledger.verify import verify_ledger
    from collector.journal.reader import end_of, read_journal
    from collector.spec.loading import load_audit
    from collector.targets import load_target

    return (
        ("yml", load_audit),
        ("yml", lambda path: load_target(path, "x")),
        ("csv", _import),
        ("tsv", _import),
        ("jsonl", _import),
        ("parquet", _import),
        ("json", _import),
        ("eval", _import),
        ("jsonl", _replay),
        ("csv", _replay),
        ("zip", read_pack),
        ("gz", read_baseline),
        ("jsonl", lambda path: list(read_journal(path))),
        ("jsonl", end_of),
        ("duckdb", verify_ledger),
        ("duckdb", read_findings),
    )


def _refused(read: Callable[[Path], object], path: Path) -> str | None:
    try:
        read(path)
    except BiasledgerError as error:
        sentence = str(error)
        return (
            None
            if path.name in sentence and len(sentence) < 2000
            else f"{path.name}: it says {sentence[:200]!r}"
        )
    return f"{path.name} was read"


def _device(seed: int, folder: Path) -> str | None:
    """Give a device or a pipe that nobody writes where a file is read."""
    readers = _readers()
    ending, read = readers[seed % len(readers)]
    path = folder / f"given.{ending}"
    if seed // len(readers) % 2:
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return _refused(read, path)


def _bomb(seed: int, folder: Path) -> str | None:
    """Give a small file that becomes a large one."""
    ending, read, content = BOMBS[seed % len(BOMBS)]
    path = folder / f"given.{ending}"
    path.write_bytes(content())
    return _refused(_readers()[read][1], path)


def _aliases(width: int, depth: int) -> bytes:
    rows = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * width)}]\n" for n in range(depth))
    return "".join(rows).encode()


def _merges(width: int, depth: int) -> bytes:
    rows = (f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * width)}]}}\n" for n in range(1, depth))
    return ("a0: &a0 {k: x}\n" + "".join(rows)).encode()


def _archive(size: int) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as log:
        log.writestr("header.json", json.dumps({"eval": {"task": "a", "model": "b"}}))
        with log.open("samples/1_epoch_1.json", "w") as stream:
            for _ in range(size >> 20):
                stream.write(b" " * (1 << 20))
    return into.getvalue()


# Ending, place of its reader, content.
BOMBS: tuple[tuple[str, int, Callable[[], bytes]], ...] = (
    ("yml", 0, lambda: _aliases(10, 12)),
    ("yml", 1, lambda: _aliases(10, 12)),
    ("yml", 0, lambda: _merges(10, 12)),
    ("yml", 1, lambda: _merges(2, 40)),
    ("yml", 0, lambda: b"a: &a [*a]\n"),
    ("yml", 0, lambda: b"a: " + b"1:" * 200_000 + b"1\n"),
    ("yml", 1, lambda: b"a: " + b"[" * 3000 + b"\n"),
    ("eval", 7, lambda: _archive(300 << 20)),
    ("gz", 11, lambda: gzip.compress(b" " * (1 << 20), 1) * 600),
    ("zip", 10, lambda: _archive(1 << 20)),
)


def _garbage(seed: int, folder: Path) -> str | None:
    """Give a file of which bytes were changed, cut or put in: it is refused in a sentence, or read as what it says now."""
    rng = random.Random(seed)
    readers = _readers()
    ending, read = readers[seed % len(readers)]
    content = bytearray(_whole(ending))
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(content))
        way = rng.randrange(4)
        if way == 0:
            content[place] = rng.randrange(256)
        elif way == 1:
            content[place:place] = rng.choice(
                (b"\0", b'"', b"\xff\xfe", b"\xed\xa0\x80", b"{" * 2000, b"[" * 2000, b"'", b"\\")
            )
        elif way == 2 and place:
            del content[place:]
        else:
            content[place:place] = content[: rng.randrange(1, 60)]
    path = folder / f"given.{ending}"
    path.write_bytes(bytes(content))
    try:
        read(path)
    except BiasledgerError as error:
        return f"it says {str(error)[:300]!r}" if len(str(error)) > 2000 else None
    return None


def _whole(ending: str) -> bytes:
    rows = [
        {"answer": f"She is {n}, “quiet”.", "question": "Who?", "race": race, "prompt": "Who?", "reply": "a"}
        for n, race in enumerate(("White", "Asian"))
    ]
    table = "\n".join(
        [",".join(rows[0]), *(",".join(f'"{value}"' for value in row.values()) for row in rows), ""]
    )
    if ending == "yml":
        return SPEC.format(file="names.csv").encode()
    if ending in ("csv", "tsv"):
        return table.replace(",", "\t" if ending == "tsv" else ",").encode()
    if ending == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if ending in ("eval", "zip"):
        return _archive(1 << 20)
    if ending == "json":
        return json.dumps(
            {"eval": {"task": "a", "model": "b"}, "samples": [{"id": 1, "epoch": 1, "input": "Who?"}]}
        ).encode()
    if ending == "gz":
        return gzip.compress(b'{"format": "biasledger-baseline", "version": 2}\n')
    return rows_as(ending, rows)


def rows_as(ending: str, rows: Sequence[dict[str, object]]) -> bytes:
    """The rows as a Parquet file, or as a table of a DuckDB file."""
    import tempfile

    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        place = Path(folder) / f"rows.{ending}"
        listed = ", ".join(f"({', '.join(repr(str(value)) for value in row.values())})" for row in rows)
        values = f"(values {listed}) as rows ({', '.join(rows[0])})"
        if ending == "parquet":
            connection.execute(f"copy (select * from {values}) to '{place}'")
        else:
            connection.execute(
                f"attach '{place}' as given; create table given.rows as select * from {values}; detach given"
            )
        return place.read_bytes()


ATTACKS = (
    Attack("–", "a statement that leaves `query`", "escapes", len(QUERIES), "held 50 of 50", _query),
    Attack("2", "a spec names a file outside of its project", "escapes", len(OUTSIDE), "held 3 of 10", _spec),
    Attack(
        "2", "a key in the first line of a file that a spec names", "escapes", 20, "held 0 of 20", _excerpt
    ),
    Attack("7", "foreign text steers the terminal", "escapes", 40, "held 0 of 40", _printed),
    Attack("11", "a service echoes a key in another spelling", "escapes", 40, "held 18 of 40", _echoed),
    Attack("11", "a key of a known form in targets.yml", "escapes", 70, "held 6 of 70", _in_targets),
    Attack("10", "a pipe or a device in place of a file", "files", 32, "held 17 of 32", _device),
    Attack("10", "a small file that becomes a large one", "files", 10, "held 4 of 10", _bomb),
    Attack("–", "a file with bytes changed, cut or put in", "files", 96, "held 96 of 96", _garbage),
)
