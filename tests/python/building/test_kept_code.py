"""Test the cache of compiled macros and schemas: it is made once and gives the same as without it."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dbt.contracts.graph.manifest import Manifest
from dbt.parser.manifest import extended_mashumaro_encoder, extended_mashumuro_decoder
from dbt_common.clients.jinja import MacroFuzzEnvironment
from mashumaro.core.meta.code import builder

from biasledger.building import CODE, kept_code
from biasledger.building.kept_code import KeptCode, code_kept, keep_methods

ROOT = Path(__file__).parents[3]


def made(kept: KeptCode, name: str) -> bool:
    """Whether it had to be made."""
    asked: list[str] = []

    def make() -> str:
        asked.append(name)
        return "made"

    assert kept.get(name, make) == "made"
    return bool(asked)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "code.marshal"


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts back what compiles methods."""
    for module in (dataclasses, builder):
        monkeypatch.setattr(module, "exec", exec, raising=False)


def test_a_damaged_file_is_made_anew(file: Path) -> None:
    def written(template: str) -> bytes:
        with code_kept(KeptCode(file)):
            environment = MacroFuzzEnvironment()
            assert environment.from_string(template).render({"name": "a table"}) == "select * from a table"
        return file.read_bytes()

    whole = written("select * from {{ name }}")
    assert written("select * from {{ name }}") == whole
    for damaged in (b"", whole[:-1], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], whole[32:]):
        file.write_bytes(damaged)
        assert written("select * from {{ name }}") == whole


def test_other_versions_keep_nothing_for_each_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptCode(file)
    assert made(kept, "a")
    kept.write()
    again = KeptCode(file)
    again.read()
    assert not made(again, "a")
    monkeypatch.setattr(kept_code, "version", lambda _name: "another")
    other = KeptCode(file)
    other.read()
    assert made(other, "a")


def test_a_file_that_came_after_the_process_is_read_next_to_what_there_is(file: Path) -> None:
    early, other = KeptCode(file), KeptCode(file)
    early.read()
    assert made(early, "own")
    assert made(other, "theirs")
    other.write()
    with code_kept(early):
        assert not made(early, "own")
        assert not made(early, "theirs")


@pytest.mark.usefixtures("stored")
def test_methods_are_compiled_once_and_do_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_it: Callable[..., object] = compile

    def noted(source: str, *rest: object, **options: object) -> object:
        compiled.append(source)
        return compile_it(source, *rest, **options)

    monkeypatch.setattr(kept_code, "compile", noted, raising=False)

    def classes() -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for default in (1, 2):
            one = dataclasses.make_dataclass("One", [("name", str), ("n", int, default)], frozen=True)
            found.append(
                (repr(one("a")), one("a") == one("a", default), hash(one("b")) == hash(one("b", 3 - default)))
            )
            with pytest.raises(dataclasses.FrozenInstanceError):
                one("a").n = 3
        return found

    expected = classes()
    assert not compiled
    kept = KeptCode(file)
    keep_methods(kept)
    assert classes() == expected
    assert compiled
    kept.write()
    compiled.clear()
    again = KeptCode(file)
    again.read()
    keep_methods(again)
    assert classes() == expected
    assert not compiled


SMALL = {
    "dbt_project.yml": "{name: small, profile: small, flags: {send_anonymous_usage_stats: false}}",
    "profiles.yml": "small: {target: file, outputs: {file: {type: duckdb, path: made.duckdb}}}",
    "models/one.sql": "select 1 as id",
    "models/_models.yml": "models: [{name: one, columns: [{name: id, data_tests: [not_null, unique]}]}]",
}
PARSE = {"arguments": ["parse", "--project-dir", ".", "--profiles-dir", "."], "environment": {}}


def parse(project: Path) -> bytes:
    """Have a process of its own parse a small project; what it kept."""
    (project / "models").mkdir(exist_ok=True)
    for name, text in SMALL.items():
        (project / name).write_text(text, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "biasledger.building.dbt_process"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # It ends when its input does.
        process.stdin.write(f"{json.dumps(PARSE)}\n")
        process.stdin.flush()
        said = process.stdout.read()
        assert process.wait() == 0, said
    return (project / CODE).read_bytes()


def test_what_has_another_name_in_each_process_is_not_kept(tmp_path: Path) -> None:
    parse(tmp_path)
    once = parse(tmp_path)
    assert len(once) > 1_000_000
    assert parse(tmp_path) == once


def test_what_was_parsed_is_the_same_read_again(tmp_path: Path, file: Path) -> None:
    parse(tmp_path)
    content = (tmp_path / "target/partial_parse.msgpack").read_bytes()

    def read() -> Manifest:
        return Manifest.from_msgpack(content, decoder=extended_mashumuro_decoder)

    expected = read()
    public = [field.name for field in dataclasses.fields(expected) if not field.name.startswith("_")]
    for _ in range(2):
        kept = KeptCode(file)
        with code_kept(kept):
            found = read()
        assert len(found.nodes) == 3
        assert found.to_msgpack(extended_mashumaro_encoder) == expected.to_msgpack(extended_mashumaro_encoder)
        assert [type(getattr(found, name)) for name in public] == [
            type(getattr(expected, name)) for name in public
        ]
        # Changing one manifest changes no other.
        found.nodes.clear()
    size = file.stat().st_size

    # A manifest that was just written replaces the cached one.
    expected.metadata.project_name = "another"
    with code_kept(KeptCode(file)):
        expected.to_msgpack(extended_mashumaro_encoder)
    assert abs(file.stat().st_size - size) < 100
    with code_kept(KeptCode(file)):
        content = expected.to_msgpack(extended_mashumaro_encoder)
        assert read().metadata.project_name == "another"


_DESCRIBED = """
import json, sys
from biasledger.building.kept_code import defer_schemas

if sys.argv[1] == "deferred":
    defer_schemas()
import dbt.cli.main
from dbt.adapters.duckdb.credentials import DuckDBCredentials
from dbt.artifacts.resources import ModelConfig
from dbt.contracts.project import Project

made = "mashumaro.jsonschema.models" in sys.modules
if len(sys.argv) > 2:
    from mashumaro.jsonschema import JSONSchemaBuilder

    assert JSONSchemaBuilder.__module__ == "mashumaro.jsonschema.builder"
schemas = [json.loads(json.dumps(one.json_schema())) for one in (DuckDBCredentials, ModelConfig, Project)]
print(json.dumps([made, schemas]))
"""


@pytest.mark.slow
def test_schemas_are_made_when_they_are_asked_for_and_are_the_same() -> None:
    def described(*how: str) -> tuple[bool, object]:
        command = [sys.executable, "-c", _DESCRIBED, *how]
        made, schemas = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
        return made, schemas

    (at_once, whole), (deferred, schemas) = described("at once"), described("deferred")
    assert (at_once, deferred) == (True, False)
    assert schemas == whole
    assert described("deferred", "and all of it") == (False, whole)
