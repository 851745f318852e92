"""A model that changes while it is audited is a finding of the run, whatever the room."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from .conftest import Project

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


@pytest.fixture(scope="module")
def project(new_project: Callable[[], Project]) -> Project:
    project = new_project()
    (project.folder / "switching.py").write_text(_SWITCHING, encoding="utf-8")
    targets = {name: {"kind": "python", "function": f"switching:{name}"} for name in ("answer", "steady")}
    (project.folder / "targets.yml").write_text(yaml.safe_dump({"targets": targets}), encoding="utf-8")
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
    project.build()
    return project


def test_the_finding_names_both_models_and_how_much_each_answered(project: Project) -> None:
    rows = project.rows(
        "select target, attribute, group_name, reference_group, status, severity, value, n_units, explanation "
        "from marts.fct_findings where measure = 'model_change'"
    )
    ((target, attribute, group, reference, status, severity, value, n_units, explanation),) = rows
    assert (target, attribute, status, severity) == ("answer", "(model)", "alarm", "warn")
    assert (group, reference, n_units) == ("steady-2", "steady-1", 16)
    assert value == pytest.approx(6 / 16)
    assert explanation.startswith("Of 16 answers steady-1 gave 10 (the first on 20")
    assert "steady-2 gave 6" in explanation
    assert "adjusted p" not in explanation


def test_it_warns_by_a_test_of_its_own_and_takes_no_alpha_from_others(project: Project) -> None:
    assert project.work_rows("select count(*) from alarms.warning_runs") == [(1,)]
    assert project.work_rows("select count(*) from alarms.alarm_runs") == [(0,)]
    others = project.rows(
        "select count(*) from marts.fct_findings where measure <> 'model_change' and status = 'alarm'"
    )
    assert others == [(0,)]
