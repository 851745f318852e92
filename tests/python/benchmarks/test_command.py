"""Test that the command names a missing requirement in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_absent_texts_give_a_sentence_and_an_exit_code(tmp_path: Path) -> None:
    absent = tmp_path / "personas.parquet"
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks", "calibration", "--data", str(absent)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 2
    assert str(absent) in finished.stderr
    assert "BIASLEDGER_DATA" in finished.stderr
    assert "Traceback" not in finished.stderr
