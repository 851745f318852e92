"""Test that no key is left in ledger, journal, logs, output or tracebacks after real runs.

The services echo it wherever they can: in answers, in error bodies, in broken bodies, in every spelling; and one of them takes it
in the address.
"""

from __future__ import annotations

import base64
import html
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest

from tests.python.collector.fake_services import KEY, MODEL, Bytes, Failure, FakeServices, Good

ROOT = Path(__file__).parents[3]
VARIABLE = "BIASLEDGER_TEST_KEY"
SPELLINGS = {
    KEY,
    quote(KEY),
    quote(KEY, safe=""),
    json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "".join(f"\\u{ord(character):04x}" for character in KEY),
    html.escape(KEY),
    base64.b64encode(KEY.encode()).decode(),
    base64.b64encode(f"me:{KEY}".encode()).decode(),
    KEY.encode().hex(),
}
# The middle of the base64 is the same with any text before and after the key.
SEARCHED = SPELLINGS | {base64.b64encode(KEY.encode()).decode()[:-4]}
AUDIT = """
audit: small
templates: [{id: one, text: 'Recommend products for {a race} person.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 3
answer: {kind: text}
"""
ENTRIES = {
    "openai": f"{{kind: openai, base_url: ROOT/openai/v1, model: {MODEL}, api_key_env: {VARIABLE}}}",
    "anthropic": f"{{kind: anthropic, base_url: ROOT/anthropic, model: {MODEL}, api_key_env: {VARIABLE}}}",
    "gemini": f"{{kind: gemini, base_url: ROOT/gemini/v1beta, model: {MODEL}, api_key_env: {VARIABLE}}}",
    "http": (
        f"{{kind: http, url: 'ROOT/custom/recommend?key=${{{VARIABLE}}}', headers: {{X-Api-Key: '${{{VARIABLE}}}'}}, "
        f'body: \'{{"q": "{{prompt}}"}}\', answer: data.reply, secret_env: {VARIABLE}}}'
    ),
    "python": f"{{kind: python, function: 'asks_itself:ask', secret_env: {VARIABLE}, concurrency: 3}}",
}
FUNCTION = f"""
import os

def ask(prompt, system_prompt, seed):
    key = os.environ["{VARIABLE}"]
    if "Asian" in prompt:
        raise ValueError("cannot log in with " + key)
    return {{"text": "logged in with " + key, "raw": {{"request": {{"Authorization": "Bearer " + key}}}}}}
"""
# As `biasledger`, with every log record of every library written to a file.
LOGGED = (
    "import logging; logging.basicConfig(filename='all.log', level=logging.DEBUG); "
    "from biasledger.cli import main; main()"
)


def collect(folder: Path, kind: str, root: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "audit.yml").write_text(AUDIT)
    (folder / "asks_itself.py").write_text(FUNCTION)
    (folder / "targets.yml").write_text(f"targets: {{mine: {ENTRIES[kind].replace('ROOT', root)}}}")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("BIASLEDGER_")},
        "PYTHONPATH": str(ROOT),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        VARIABLE: KEY,
    }
    command = [sys.executable, "-c", LOGGED, "--debug", "collect", "audit.yml", "--target", "mine"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def leaks(folder: Path, done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return the places that contain any spelling of the key."""
    places = {"stdout": done.stdout, "stderr": done.stderr}
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            places[str(path.relative_to(folder))] = path.read_bytes()
    # DuckDB compresses texts, so the file's bytes alone could hide a key.
    connection = duckdb.connect(str(folder / "ledger.duckdb"), read_only=True)
    tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
    for schema, table in tables:
        places[table] = repr(connection.execute(f"from {schema}.{table}").fetchall()).encode()
    connection.close()
    found = [(place, form) for place, text in places.items() for form in SEARCHED if form.encode() in text]
    return [f"{place}: {form}" for place, form in found]


def kept(folder: Path, sql: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect(str(folder / "ledger.duckdb"), read_only=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ENTRIES)
def test_after_a_run_whose_services_echo_the_key(kind: str, services: FakeServices, tmp_path: Path) -> None:
    echoes = [Good(f"You said {form}.", model=KEY) for form in sorted(SPELLINGS)]
    services.will(
        Failure(500, f"cannot serve {KEY}", headers={"retry-after-ms": "20"}),
        Failure(400, f"bad question from Bearer {KEY}"),
        Bytes(f"no JSON but {KEY} and {quote(KEY, safe='')}".encode()),
        *echoes,
    )
    done = collect(tmp_path, kind, services.root)
    assert done.returncode == 0, done.stderr.decode()
    assert leaks(tmp_path, done) == []
    ((n_kept, n_marked),) = kept(
        tmp_path,
        "select count(*), count(*) filter (where concat(response_text, raw_body, error) like '%[key]%') from raw.responses",
    )
    assert isinstance(n_kept, int)
    assert n_kept >= 6
    assert n_marked == n_kept
    if kind != "python":
        assert "POST" in (tmp_path / "all.log").read_text()


@pytest.mark.parametrize("kind", ["openai", "http"])
def test_after_a_run_that_the_key_stopped(kind: str, services: FakeServices, tmp_path: Path) -> None:
    services.will(Bytes(json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode(), status=401))
    # No server listens at this address, so the address appears in an error, too.
    root = "http://127.0.0.1:9" if kind == "http" else services.root
    done = collect(tmp_path, kind, root)
    assert leaks(tmp_path, done) == []
    assert done.returncode == 3
    assert b"Traceback" in done.stderr
