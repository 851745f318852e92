"""Decisions with missing parts."""

from __future__ import annotations

from typing import Any

from tests.python.project import Project

RACE = {"race": {"reference": "white", "groups": ["white", "black"]}}


def _spec(name: str, answer: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit": name,
        "attributes": RACE,
        "answer": answer,
        "import": {"columns": {**columns, "attributes": {"race": "race"}}},
        "analysis": {"decisions": {"ordered": answer["kind"] == "label", "favourable": ["yes"]}}
        if answer["kind"] == "label"
        else {},
    }


def plant(project: Project) -> None:
    label = {"kind": "label", "labels": ["no", "yes"]}
    # Rankings of two that name the winner alone, who is white in nine of ten; 40 names a group.
    winners = project.write_rows(
        "winners.csv",
        "run,job,place,name,race,rank,missing",
        (
            (run, "clerk", place, f"{race} {run % 40}", race, 1 if won else "", 0 if won else 1)
            for run in range(200)
            for place, race in ((1, "white"), (2, "black"))
            for won in [(race == "white") == (run % 10 > 0)]
        ),
    )
    # The same with 5 names a group.
    few = project.write_rows(
        "few.csv",
        "run,job,place,name,race,rank,missing",
        (
            (run, "clerk", place, f"{race} {run % 5}", race, 1 if won else "", 0 if won else 1)
            for run in range(60)
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
        "winners", _spec("winners", {"kind": "ranking"}, {**roles, "descriptor": "name"})
    )
    project.import_file(audit, winners)
    audit = project.write_audit("few", _spec("few", {"kind": "ranking"}, {**roles, "descriptor": "name"}))
    project.import_file(audit, few)
    # Twelve resumes of which one prompt is kept for both groups, with the same answer; and the same answers to other prompts.
    levels = {"kind": "label", "labels": ["no", "perhaps", "yes"]}
    asked = {"text": "decision", "subject": "id", "prompt": "prompt"}
    for name, prompt in (("blind", "Resume {}"), ("unseen", "Resume {} of a {} person")):
        rows = project.write_rows(
            f"{name}.csv",
            "id,race,prompt,decision",
            (
                (number, race, prompt.format(number, race), levels["labels"][number % 3])
                for number in range(12)
                for race in ("white", "black")
            ),
        )
        project.import_file(project.write_audit(name, _spec(name, levels, asked)), rows)
    # Two names a group, reused over all resumes; one of them is always put a level lower.
    reused = project.write_rows(
        "reused.csv",
        "id,race,name,decision",
        (
            (number, race, name, levels["labels"][1 + number % 2 - (name == "Jamal")])
            for number in range(40)
            for race, name in (("white", "Anne"), ("white", "Todd"), ("black", "Ebony"), ("black", "Jamal"))
        ),
    )
    named = {"text": "decision", "subject": "id", "descriptor": "name"}
    project.import_file(project.write_audit("reused", _spec("reused", levels, named)), reused)
    # Applicants numbered anew for each job; only black ones have a right label.
    columns = {"text": "decision", "subject": "id", "domain": "job"}
    restarted = project.write_rows(
        "restarted.csv",
        "id,job,race,decision",
        (
            (number, job, ("white", "black")[number % 2 ^ shift], "yes" if number % 3 else "no")
            for shift, job in enumerate(("clerk", "driver"))
            for number in range(40)
        ),
    )
    project.import_file(project.write_audit("restarted", _spec("restarted", label, columns)), restarted)
    partly = project.write_rows(
        "partly.csv",
        "id,job,race,decision,right",
        (
            (number, "clerk", race, "yes", "no" if race == "black" else "")
            for number, race in enumerate(["white", "black"] * 30)
        ),
    )
    audit = project.write_audit("partly", _spec("partly", label, {**columns, "expected": "right"}))
    project.import_file(audit, partly)
    # Applicants with right labels. Half of the black ones to be taken and a tenth of the white ones are not; of the
    # others a fifth of both are.
    erring = project.write_rows(
        "erring.csv",
        "id,race,decision,right",
        (
            (
                f"{race} {number}",
                race,
                {True: "yes", False: "no"}[is_right != is_wrong],
                "yes" if is_right else "no",
            )
            for race, n_missed in (("white", 1), ("black", 5))
            for number in range(200)
            for is_right in [number % 2 == 0]
            for is_wrong in [number // 2 % 10 < (n_missed if is_right else 2)]
        ),
    )
    asked = {"text": "decision", "subject": "id", "expected": "right"}
    project.import_file(project.write_audit("erring", _spec("erring", label, asked)), erring)
    # Salaries of 40 jobs from 30,000 to 300,000: women are offered 5 % less in each, or as much as men.
    money = {"kind": "score", "minimum": 1000, "maximum": 1_000_000}
    for name, share in (("underpaid", 0.95), ("paid_alike", 1.0), ("ranked", 0.95)):
        salaries = project.write_rows(
            f"{name}.csv",
            "job,race,answer",
            (
                (f"job {job}", race, round(amount * (1 + 0.01 * ((7 * job + 3 * turn) % 5 - 2) / 2)))
                for job in range(40)
                for turn, (race, amount) in enumerate(
                    (("white", 30_000 + 7_000 * job), ("black", (30_000 + 7_000 * job) * share))
                )
            ),
        )
        spec = _spec(name, money, {"text": "answer", "subject": "job"})
        if name == "ranked":
            spec["analysis"] = {"decisions": {"scale": "ranks"}}
        audit = project.write_audit(name, spec)
        project.import_file(audit, salaries)
