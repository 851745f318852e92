"""Test that a model that changes during an audit is a finding of the run, with every method."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.comparing.built_runs import hidden_models
from biasledger.comparing.built_tables import open_tables
from tests.python.project import Project


def test_the_finding_names_both_models_and_how_much_each_answered(odd: Project) -> None:
    rows = odd.rows(
        "select target, attribute, group_name, reference_group, status, severity, value, n_units, explanation "
        "from marts.fct_findings where measure = 'model_change'"
    )
    ((target, attribute, group, reference, status, severity, value, n_units, explanation),) = rows
    assert (target, attribute, status, severity) == ("answer", "(model)", "alarm", "warn")
    assert (group, reference, n_units) == ("steady-2", "steady-1", 16)
    assert value == pytest.approx(6 / 16)
    assert explanation.startswith("Of 16 answers, steady-1 gave 10 (the first on 20")
    assert "steady-2 gave 6" in explanation
    assert "adjusted p" not in explanation


def test_of_two_models_under_one_name_the_hidden_one_is_said(odd: Project) -> None:
    rows = odd.rows(
        "select model_asked, is_current, hides_models from marts.dim_runs where audit = 'renamed' order by model_asked"
    )
    assert rows == [("first-model", False, None), ("second-model", True, "first-model")]
    assert odd.rows("select count(*) from marts.dim_runs where hides_models is not null") == [(1,)]
    with open_tables(odd.warehouse) as tables:
        (sentence,) = hidden_models(tables)
    assert (
        "of renamed asked second-model, and other runs under the target name assistant asked first-model"
        in sentence
    )
    said = CliRunner().invoke(cli, ["findings", "--warehouse", str(odd.warehouse)])
    assert said.exit_code == 0, said.output
    assert sentence in said.stdout


def test_it_warns_by_a_test_of_its_own_and_takes_no_alpha_from_others(odd: Project) -> None:
    assert odd.work_rows("select count(*) from alarms.warning_runs") == [(1,)]
    assert odd.work_rows("select count(*) from alarms.alarm_runs") == [(0,)]
    others = odd.rows(
        "select count(*), count(*) filter (where status = 'alarm') from marts.fct_findings"
        " where audit = 'small' and measure <> 'model_change'"
    )
    assert others == [(8, 0)]
