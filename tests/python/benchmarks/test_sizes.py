"""Test the end-to-end benchmarks by size."""

from __future__ import annotations

import pytest

from benchmarks import sizes
from benchmarks.warehouses import N_SLOWEST

pytestmark = pytest.mark.slow


def test_each_step_is_measured_by_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    records = sizes.run(method="words", n_responses=600, n_words=30, n_questions=None, permutations=False)
    steps = ("import", "first build", "report", "nothing new", "import of 1 % more", "build of 1 % more")
    values = {(one.name, one.unit): one.value for one in records if one.size == 600}
    of_steps = {
        (f"sizes: {step}", unit) for step in steps for unit in ("processor s", "wall s", "peak bytes")
    }
    assert values.keys() > of_steps
    assert min(values.values()) > 0
    of_models = values.keys() - of_steps
    assert len(of_models) == N_SLOWEST
    assert {unit for _, unit in of_models} == {"wall s"}
    assert "600 responses of 30 words" in capsys.readouterr().out
