"""A model that changes during an audit, one that does not, and two models under one name."""

from __future__ import annotations

from tests.python.project import Project

# Answers as one model up to the tenth question and as another from then on.
_SWITCHING = """
import itertools

_asked = itertools.count(1)


def answer(prompt, system_prompt, seed):
    n = next(_asked)
    return {"text": f"Text number {n} with words enough.", "model": "steady-1" if n <= 10 else "steady-2"}


def steady(prompt, system_prompt, seed):
    return {"text": "Always the same.", "model": "steady-1"}
"""


def plant(project: Project) -> None:
    (project.folder / "switching.py").write_text(_SWITCHING, encoding="utf-8")
    project.add_targets(
        {name: {"kind": "python", "function": f"switching:{name}"} for name in ("answer", "steady")}
    )
    audit = project.write_audit(
        "small",
        {
            "audit": "small",
            "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
            "templates": [{"id": "t", "text": "Write one line for a {race} customer."}],
            "answer": {"kind": "text"},
            "trials": 8,
        },
    )
    project.collect("answer", audit)
    project.collect("steady", audit)
    _plant_two_under_one_name(project)


def _plant_two_under_one_name(project: Project) -> None:
    audit = project.write_audit(
        "renamed",
        {
            "audit": "renamed",
            "attributes": {"race": {"reference": "White", "groups": ["White", "Black"]}},
            "answer": {"kind": "text"},
            "import": {"columns": {"text": "text", "model": "model", "attributes": {"race": "race"}}},
        },
    )
    for model in ("first-model", "second-model"):
        file = project.folder / f"{model}.csv"
        file.write_text(f"race,text,model\nWhite,Tea,{model}\nBlack,Tea,{model}\n", encoding="utf-8")
        project.import_file(audit, file, name="assistant")
