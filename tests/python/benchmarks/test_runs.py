"""The benchmark of nightly runs, on the smallest audit."""

from __future__ import annotations

import pytest

from benchmarks import runs
from benchmarks.__main__ import main
from benchmarks.__main__ import runs as command

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_each_build_of_a_run_more_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    records = runs.run(audits=["rankings"], n_runs=2)
    assert {one.name for one in records} == {"runs of rankings: build"}
    assert [one.unit for one in records] == ["processor s", "wall s"] * 2
    first, _, second, _ = (one.size for one in records)
    assert second == 2 * first > 0
    assert all(one.value > 0 for one in records)
    told = capsys.readouterr().out
    assert "Slowest models of the last build of rankings" in told
    assert "last / second" in told


def test_every_audit_that_can_be_asked_has_its_options() -> None:
    choice = next(one.type for one in command.params if one.name == "audits")
    assert list(choice.choices) == list(runs.ASKED)  # type: ignore[attr-defined]  # a choice has them
    assert "runs" in main.commands
