"""Bad answers: broken, empty, refused, oversized, in other scripts, or alone."""

from __future__ import annotations

import json

from tests.python.project import Project, import_spec

GOOD = {"lamp": "Bright and warm. It lasts.", "chair": "Soft and strong. It stays."}


def _row(race: str, gender: str, text: str) -> dict[str, str]:
    return {"race": race, "gender": gender, "template": "a", "text": text}


def plant(project: Project) -> None:
    audit = project.write_audit("bad", import_spec("bad", kind="json_object"))
    rows = [
        _row("White", gender, json.dumps(GOOD | {f"thing{number}": "Useful. Plain."}))
        for gender in ("Man", "Woman")
        for number in range(12)
    ]
    rows += [
        _row("Asian", gender, json.dumps(GOOD | {f"object{number}": "Useful. Plain."}))
        for gender in ("Man", "Woman")
        for number in range(12)
    ]
    rows += [
        _row("Asian", "Man", '{"lamp": "Bright" "chair": }'),
        _row("Asian", "Man", ""),
        _row("Asian", "Woman", "I'm sorry, but I can't help with that."),
        _row("Asian", "Woman", json.dumps({"giant": "word " * 1_000_000})),
        _row("White", "Man", json.dumps({"чай": "Тёплый. 茶は温かい。", "🎁": "🎉🎉🎉"}, ensure_ascii=False)),
        _row("White", "Woman", json.dumps({"🎁": "🎉"}, ensure_ascii=False)),
        _row("Black", "Man", json.dumps(GOOD | {"onceonly": "Single."})),
    ]
    path = project.folder / "bad.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    project.import_file(audit, path)
