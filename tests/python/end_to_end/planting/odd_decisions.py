"""Decisions that are kept incompletely."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.python.project import Project

RACE = {"race": {"reference": "white", "groups": ["white", "black"]}}


def _spec(name: str, answer: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit": name,
        "attributes": RACE,
        "answer": answer,
        "import": {"columns": {**columns, "attributes": {"race": "race"}}},
        "reading": {"decisions": {"ordered": answer["kind"] == "label", "favourable": ["yes"]}}
        if answer["kind"] == "label"
        else {},
    }


def _write(path: Path, header: str, rows: Iterable[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


def plant(project: Project) -> None:
    label = {"kind": "label", "labels": ["no", "yes"]}
    # Rankings of two that name the winner alone, who is white in nine of ten; 40 names a group.
    winners = _write(
        project.folder / "winners.csv",
        "run,job,place,name,race,rank,missing",
        (
            (run, "clerk", place, f"{race} {run % 40}", race, 1 if won else "", 0 if won else 1)
            for run in range(200)
            for place, race in ((1, "white"), (2, "black"))
            for won in [(race == "white") == (run % 10 > 0)]
        ),
    )
    roles = {
        "response": "run",
        "subject": "job",
        "domain": "job",
        "slot": "place",
        "rank": "rank",
        "missing": "missing",
    }
    audit = project.write_audit(
        "winners", _spec("winners", {"kind": "ranking"}, {**roles, "carrier": "name"})
    )
    project.import_file(audit, winners)
    # Applicants numbered anew for each job; only black ones have a right label.
    columns = {"text": "decision", "subject": "id", "domain": "job"}
    restarted = _write(
        project.folder / "restarted.csv",
        "id,job,race,decision",
        (
            (number, job, ("white", "black")[number % 2 ^ shift], "yes" if number % 3 else "no")
            for shift, job in enumerate(("clerk", "driver"))
            for number in range(40)
        ),
    )
    project.import_file(project.write_audit("restarted", _spec("restarted", label, columns)), restarted)
    partly = _write(
        project.folder / "partly.csv",
        "id,job,race,decision,right",
        (
            (number, "clerk", race, "yes", "no" if race == "black" else "")
            for number, race in enumerate(["white", "black"] * 30)
        ),
    )
    audit = project.write_audit("partly", _spec("partly", label, {**columns, "expected": "right"}))
    project.import_file(audit, partly)
