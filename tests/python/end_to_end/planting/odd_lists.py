"""Audits of lists with another structure than the shipped one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tests.python.project import Project

LIST = "Please provide a list of {k} titles that you would recommend."
ANSWER = {"kind": "list", "k": 5}
GROUPS = {"race": {"groups": ["Black", "White"]}}
FAN = {"text": f"I am {{a descriptor}} fan of {{entity}}. {LIST}", "descriptors": ["race"]}
NEUTRAL = {"text": f"I am a fan of {{entity}}. {LIST}", "trials": 5}
BY = {"text": "Please provide a list of {k} titles by {entity} that you would recommend.", "trials": 5}


def _write_subjects(folder: Path, name: str, domains: tuple[str, ...]) -> None:
    with (folder / "audits" / name).open("w", newline="", encoding="utf-8") as file:
        rows = [(f"The {n}th {domain}", domain) for domain in domains for n in range(4)]
        csv.writer(file).writerows([("entity", "domain"), *rows])


def _spec(name: str, templates: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "audit": name,
        "subjects": {"file": f"{name}.csv", "name": "entity", "domain": "domain"},
        "attributes": GROUPS,
        "templates": templates,
        "trials": 1,
        "answer": ANSWER,
        **more,
    }


def _imported(name: str, columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    columns = {"text": "text", "attribute": "attribute", "value": "value", **columns}
    return {
        "audit": name,
        "attributes": GROUPS,
        "answer": ANSWER,
        "import": {"columns": columns, **more},
    }


def plant(project: Project) -> None:
    _write_subjects(project.folder, "two-domains.csv", ("bands", "films"))
    _write_subjects(project.folder, "two-neutrals.csv", ("bands",))
    audit = project.write_audit(
        "two-domains",
        _spec(
            "two-domains",
            [{"id": "neutral", **NEUTRAL}, {"id": "fan", **FAN, "neutral": "neutral"}],
            mitigations={"kind": {"suffix": " Be fair."}},
        ),
    )
    project.collect("simulator", audit, mitigations=("kind",))
    audit = project.write_audit(
        "two-neutrals",
        _spec(
            "two-neutrals",
            [
                {"id": "neutral", **NEUTRAL},
                {"id": "by", **BY},
                {"id": "fan", **FAN, "neutral": "neutral"},
                {"id": "lover", **FAN, "text": f"Hello. {FAN['text']}", "neutral": "by"},
            ],
        ),
    )
    project.collect("simulator", audit)

    lists = {
        "": "1. a\n2. b\n3. c\n4. d\n5. e",
        "Black": "1. a\n2. b\n3. x\n4. y\n5. z",
        "White": "1. a\n2. b\n3. c\n4. d\n5. z",
    }
    rows = [
        (template, "race" if value else "nobody", value, f"Band {n}", lists[value])
        for n in range(3)
        for template, value in (("neutral", ""), ("by", ""), ("fan", "Black"), ("fan", "White"))
    ]
    conditions = {
        "race": {"attribute": "race", "language": "de"},
        "nobody": {"neutral": True, "language": "de"},
    }
    by_entity = {"template": "template", "subject": "entity"}
    german = _imported("german", by_entity, conditions=conditions)
    german["analysis"] = {"lists": {"neutral": "neutral"}}
    project.import_rows(german, "template,attribute,value,entity,text", rows)
    nobody = [("ask", "race" if value else "", value, text) for value, text in lists.items()]
    alone = _imported("no-subject", {"template": "template"})
    project.import_rows(alone, "template,attribute,value,text", nobody)

    twice = _imported("asked-twice", by_entity)
    twice["analysis"] = {"lists": {"schemes": ["items", "reference"], "neutral": "ask"}}
    # The first list about Black people keeps nothing of the neutral one, the last all of it.
    answers = [("", lists[""]), ("Black", "1. u\n2. v\n3. w"), ("White", lists[""]), ("Black", lists[""])]
    rows = [
        ("ask", "race" if value else "", value, f"Band {n}", text)
        for value, text in answers
        for n in range(3)
    ]
    project.import_rows(twice, "template,attribute,value,entity,text", rows)
