"""Test the end-to-end benchmarks by size."""

from __future__ import annotations

import pytest

from benchmarks import sizes

pytestmark = pytest.mark.slow


def test_each_step_is_measured_by_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    took = sizes.run(method="words", n_responses=600, n_words=30, n_questions=None, permutations=False)
    assert list(took) == [
        "import",
        "first build",
        "report",
        "nothing new",
        "import of 1 % more",
        "build of 1 % more",
    ]
    assert all(min(one.wall, one.cpu, one.peak_bytes) > 0 for one in took.values())
    assert "600 responses of 30 words" in capsys.readouterr().out
