"""Test the JSON schema of audit specs: descriptions and examples of keys, shipped audits, and wrong structure."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from biasledger.reference import sections, target_schemas
from collector.files.yaml import read_yaml_mapping
from collector.spec.audit import Audit
from collector.spec.schema import NAME, audit_schema, modeline, schema_text

ROOT = Path(__file__).parents[3]
SPECS = sorted((ROOT / "audits").rglob("*.yml"))
SCHEMA = audit_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SCHEMAS = {"audit": SCHEMA, **target_schemas()}
KEYS = [
    (f"{name}:{at}.{key}", one, schema.get("$defs", {}))
    for name, schema in SCHEMAS.items()
    for at, section in sections(schema)
    for key, one in section["properties"].items()
]


def test_the_file_is_what_the_models_say() -> None:
    written = (ROOT / "audits" / NAME).read_text(encoding="utf-8")
    assert written == schema_text(), "run: python -m collector.spec.schema audits/audit.schema.json"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_part_of_the_models_is_walked() -> None:
    parts = [part for schema in SCHEMAS.values() for part in (schema, *schema.get("$defs", {}).values())]
    assert len(KEYS) == sum(len(one["properties"]) for one in parts)


@pytest.mark.parametrize(("at", "schema", "parts"), KEYS, ids=[at for at, *_ in KEYS])
def test_keys_have_descriptions_and_right_examples(
    at: str, schema: dict[str, Any], parts: dict[str, Any]
) -> None:
    assert re.fullmatch(r"[A-Zf`…].*[.…]", schema.get("description", "")), "a sentence"
    assert schema.get("examples"), "an example"
    for example in schema["examples"]:
        jsonschema.Draft202012Validator({**schema, "$defs": parts}).validate(example)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_a_shipped_audit_is_right_and_names_the_schema(path: Path) -> None:
    VALIDATOR.validate(read_yaml_mapping(path, what="an audit spec"))
    line = path.read_text(encoding="utf-8").splitlines()[0]
    assert line == modeline(path, ROOT / "audits" / NAME)
    assert (path.parent / line.partition("$schema=")[2]).is_file()


SPEC: dict[str, Any] = {
    "audit": "small",
    "templates": [{"id": "one", "text": "Ask {a race} person."}],
    "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
    "trials": 2,
    "answer": {"kind": "text"},
    "analysis": {"words": {"remove": "none"}, "markers": None},
    "import": {"columns": {"text": "answer"}, "values": {"race": {"w": "White", "": None}}},
}


def changed(*at: str | int, value: Any = None, missing: bool = False) -> dict[str, Any]:
    spec = copy.deepcopy(SPEC)
    inside: Any = spec
    for step in at[:-1]:
        inside = inside[step]
    if missing:
        del inside[at[-1]]
    else:
        inside[at[-1]] = value
    return spec


WRONG = {
    "an unknown key": changed("templtes", value=[]),
    "an unknown key below": changed("templates", 0, "txt", value="x"),
    "an unknown key of a method": changed("analysis", "words", "kep", value=["x"]),
    "no name": changed("audit", missing=True),
    "no id": changed("templates", 0, "id", missing=True),
    "no groups": changed("attributes", "race", "groups", missing=True),
    "no columns": changed("import", "columns", missing=True),
    "blank": changed("title", value="  "),
    "a number for text": changed("audit", value=7),
    "text for a number": changed("trials", value="2"),
    "text for a truth value": changed("templates", 0, "paired", value="yes"),
    "a list for a mapping": changed("attributes", value=["race"]),
    "a group that is no text": changed("attributes", "race", "groups", value=["White", False]),
    "an unknown kind": changed("answer", "kind", value="texts"),
    "too small": changed("templates", 0, "trials", value=0),
    "too large": changed("answer", "k", value=1001),
    "a word for lists of terms": changed("analysis", "words", "remove", value="nothing"),
    "a value that means a list": changed("import", "values", "race", "w", value=["White"]),
}


def validated(validate: Callable[[Any], object], spec: Any, errors: tuple[type[Exception], ...]) -> bool:
    try:
        validate(spec)
    except errors:
        return False
    return True


def test_the_small_spec_is_right() -> None:
    VALIDATOR.validate(SPEC)
    Audit.model_validate(SPEC)


@pytest.mark.parametrize("what", WRONG)
def test_wrong_structure_is_refused_as_the_models_refuse_it(what: str) -> None:
    assert not validated(Audit.model_validate, WRONG[what], (ValidationError,))
    assert not validated(VALIDATOR.validate, WRONG[what], (jsonschema.ValidationError,))


@pytest.mark.parametrize("analysis", [{"unknown": 1}, {"pairwise": 1}, {"crossed": "race"}])
def test_a_wrong_reading_is_refused(analysis: dict[str, Any]) -> None:
    assert not validated(
        VALIDATOR.validate, changed("analysis", value=analysis), (jsonschema.ValidationError,)
    )


@pytest.mark.parametrize(
    "attributes",
    [
        "attributes.csv",
        {"race": {"file": "groups.csv"}},
        {"race": {"groups": {"White": "a White", "Black": ["a Black", "an African American"]}}},
    ],
)
def test_what_files_hold_may_be_named_in_their_place(attributes: Any) -> None:
    VALIDATOR.validate(changed("attributes", value=attributes))
