"""The JSON schema of audit specs, by which editors complete and check them while they are written.

It lies next to the shipped audits, which name it in their first line by a relative path: that works in a checkout, in a project
that `biasledger init` laid out and in a clone of one, without a network.

python -m collector.spec.schema audits/audit.schema.json
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from collector.spec.audit import Audit
from collector.spec.wordings import shipped_wordings

NAME = "audit.schema.json"


class _InOrder(GenerateJsonSchema):
    """Leaves keys in the order of the models, and out the titles that pydantic makes of names."""

    def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ARG002 (pydantic's signature)
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 (pydantic's signature)
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a part of a file that a person writes."""
    return model.model_json_schema(by_alias=True, schema_generator=_InOrder)


def audit_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a spec as it is written, before the files that it names are read.

    It covers what types can express: keys, kinds of values, choices. `biasledger validate` checks the rest.
    """
    schema = schema_of(Audit)
    inline = schema["properties"]["attributes"]
    inline["anyOf"] = [
        {"type": "string", "pattern": r"\S"},
        {key: inline.pop(key) for key in ("type", "additionalProperties")},
    ]
    listed = schema["properties"]["templates"]
    listed["anyOf"] = [
        {"type": "string", "pattern": r"\S"},
        {key: listed.pop(key) for key in ("type", "items")},
    ]
    attribute = schema["$defs"]["Attribute"]
    by_language = attribute["properties"]["wordings"]
    shipped = {
        "properties": {"wordings": {"type": "string"}},
        "required": ["wordings"],
        "not": {"required": ["groups"]},
    }
    attribute["oneOf"] = [{"required": attribute.pop("required")}, {"required": ["file"]}, shipped]
    by_language["anyOf"] = [
        {"enum": list(shipped_wordings())},
        {key: by_language.pop(key) for key in ("type", "additionalProperties")},
    ]
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": "An audit of biasledger"}


def modeline(spec: Path, schema: Path) -> str:
    """Return the line by which editors find the schema of a spec in the same tree of folders."""
    return f"# yaml-language-server: $schema={Path(os.path.relpath(schema, spec.parent)).as_posix()}"


def schema_text() -> str:
    """Return the schema as its file holds it."""
    return json.dumps(audit_schema(), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the schema."""
    parser = argparse.ArgumentParser(prog="python -m collector.spec.schema", description=main.__doc__)
    parser.add_argument("file", type=Path, help=f"audits/{NAME}")
    parser.parse_args().file.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
