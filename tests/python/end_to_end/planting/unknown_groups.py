"""Decisions on people, some of whom state no sex or no race, and an attribute that few state."""

from __future__ import annotations

import csv

from tests.python.project import Project

SPEC = {
    "audit": "unknown-groups",
    "attributes": {
        "sex": {"reference": "Male", "groups": ["Male", "Female"]},
        "race": {"reference": "White", "groups": ["White", "Black", "Asian"]},
    },
    "answer": {"kind": "label", "labels": ["reject", "accept"], "missing": ["[FAILED]"]},
    "import": {
        "columns": {"text": "decision", "subject": "id", "attributes": {"sex": "Sex", "race": "Race"}},
        "values": {"sex": {"": None}, "race": {"Not disclosed": None}},
    },
    "analysis": {"crossed": ["sex*race"], "decisions": {"favourable": ["accept"]}},
}
# Sex is left out in 9 rows in three ways, race is not disclosed in 6, of which one states neither; one of each has no decision.
NO_SEX = ["", "", "#N/A", "#N/A", "nan", "", "", "", "-"]


def plant(project: Project) -> None:
    """200 people: 14 of unknown sex or race, one Asian, and six decisions that are missing."""
    file = project.folder / "unknown-groups.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(["id", "Sex", "Race", "decision"])
        for number in range(200):
            sex = NO_SEX[number] if number < len(NO_SEX) else ("Male", "Female")[number % 2]
            race = (
                "Not disclosed"
                if 8 <= number < 14
                else "Asian"
                if number == 20
                else ("White", "Black")[number // 2 % 2]
            )
            decision = ("accept", "reject", "accept")[number % 3]
            decision = {0: "#REF!", 9: "[FAILED]", 50: "", 51: "#N/A", 52: "null", 53: "[FAILED]"}.get(
                number, decision
            )
            writer.writerow([number, sex, race, decision])
    project.import_file(project.write_audit("unknown-groups", SPEC), file)
