"""Writes the generated parts of docs/audits.md and docs/targets.md: every key of a spec and of a target, as models describe it.

python -m biasledger.reference docs/audits.md docs/targets.md
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from collector.spec.schema import audit_schema, schema_of
from collector.targets import kinds

_PART = re.compile(
    r"(?P<begin><!-- keys of (?P<name>audits|targets) -->\n).*?(?P<end><!-- end of keys -->)", re.DOTALL
)
_MANY = 2
"""A section refers to another for its keys if at least this many are described there."""
Schema = Mapping[str, Any]
_REF = "#/$defs/"


def with_generated_parts(page: str) -> str:
    """Return the page with the part between `<!-- keys of audits -->`, or `targets`, and its end rewritten."""
    parts = {"audits": _audits, "targets": _targets}
    return _PART.sub(
        lambda part: "\n".join([part["begin"], *parts[part["name"]](), part["end"]]),
        page,
    )


def sections(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield every section of a spec: where it stands (`templates[…]`, `mitigations.NAME`), and its schema; each once."""
    seen: set[str] = set()

    def below(at: str, section: Schema) -> Iterator[tuple[str, Schema]]:
        yield at, section
        for key, one in section["properties"].items():
            for place, name in _sections_in(f"{at}.{key}" if at else key, one):
                if name not in seen:
                    seen.add(name)
                    yield from below(place, schema["$defs"][name])

    yield from below("", schema)


def _sections_in(at: str, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield where sections stand inside a value, and what they are called."""
    if "$ref" in schema:
        yield at, schema["$ref"].removeprefix(_REF)
    for one in schema.get("anyOf", ()):
        yield from _sections_in(at, one)
    if isinstance(inner := schema.get("items"), Mapping):
        yield from _sections_in(f"{at}[…]", inner)
    if isinstance(inner := schema.get("additionalProperties"), Mapping):
        yield from _sections_in(f"{at}.NAME", inner)


def _audits() -> Iterator[str]:
    described: dict[str, str] = {}
    for at, section in sections(audit_schema()):
        yield from _section(f"`{at}`" if at else "The top level", section, described)


def _targets() -> Iterator[str]:
    described: dict[str, str] = {}
    for kind, schema in target_schemas().items():
        for at, section in sections(schema):
            yield from _section(f"`{kind}`{f': `{at}`' if at else ''}", section, described)


def target_schemas() -> dict[str, Schema]:
    """Return the JSON schema of each kind of target's settings, in the order of their names."""
    return {kind: schema_of(module.Settings) for kind, module in sorted(kinds().items())}


def _section(title: str, section: Schema, described: dict[str, str]) -> Iterator[str]:
    """Describe a section's keys, refer to those that a section above describes alike, and add its own ones to them."""
    needed = section.get("required", ())
    keys = sorted(section["properties"].items(), key=lambda one: one[0] not in needed)
    rows = {key: _row(key, value, is_needed=key in needed) for key, value in keys}
    above = {key: described[row] for key, row in rows.items() if row in described}
    uses = Counter(above.values())
    above = {key: place for key, place in above.items() if uses[place] >= _MANY}
    yield f"### {title}"
    yield ""
    yield " ".join(section["description"].split())
    yield ""
    for place in dict.fromkeys(above.values()):
        names = ", ".join(f"`{key}`" for key, at in above.items() if at == place)
        yield f"As in [{place}](#{_anchor(place)}): {names}."
        yield ""
    yield "| key | is | meaning | example |"
    yield "|---|---|---|---|"
    for key, row in rows.items():
        if key not in above:
            yield row
            described.setdefault(row, title)
    yield ""


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _row(key: str, schema: Schema, *, is_needed: bool) -> str:
    kind = f"{_kind(schema)}; needed" if is_needed else _kind(schema)
    default = schema.get("default")
    if default not in (None, [], {}, ""):
        kind += f"; `{json.dumps(default, ensure_ascii=False)}` if absent".replace('"', "")
    examples = " or ".join(f"`{_example(key, one)}`" for one in schema["examples"])
    return f"| `{key}` | {_cell(kind)} | {_cell(schema['description'])} | {_cell(examples)} |"


class _OneLine(yaml.SafeDumper):
    """Writes everything on one line, with double quotes around what is empty or has line breaks."""


_OneLine.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style='"' if not text or "\n" in text else None
    ),
)


def _example(key: str, value: Any) -> str:
    text: str = yaml.dump(
        {key: value},
        Dumper=_OneLine,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=math.inf,
    )
    # PyYAML writes an empty key as a complex one.
    return text.strip()[1:-1].replace('? "" : ', '"": ')


def _kind(schema: Schema) -> str:
    """Return what a value is, in words."""
    if "anyOf" in schema:
        kinds = [_kind(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind == "array":
        return "list" if "$ref" in schema["items"] else f"list of {_kind(schema['items'])}"
    if kind == "integer" or kind == "number":
        return f"{'whole number' if kind == 'integer' else 'number'}{_range(schema)}"
    return {"string": "text", "boolean": "true or false"}.get(str(kind), "mapping")


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" from {low}" if low is not None else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Rewrite the generated parts of pages."""
    parser = argparse.ArgumentParser(prog="python -m biasledger.reference", description=main.__doc__)
    parser.add_argument("pages", type=Path, nargs="+", help="docs/audits.md, docs/targets.md")
    for path in parser.parse_args().pages:
        path.write_text(with_generated_parts(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
