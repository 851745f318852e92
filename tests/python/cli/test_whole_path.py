"""Test the commands from `init` to findings, on the shipped models and a simulated target."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("BIASLEDGER_", "DBT_"))
    }
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-P", "-m", "biasledger.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_answers_that_cannot_be_analysed_are_no_success(tmp_path: Path) -> None:
    run("init", "--all", ".", cwd=tmp_path)
    (tmp_path / "answers.csv").write_text(
        "text,prompt,prompt_num,model,row_id,race,gender\n,p,1,m,1,White,M\n", "utf-8"
    )
    imported = run(
        "import", "audits/replications/personas.yml", "answers.csv", "--name", "empty", cwd=tmp_path
    )
    assert imported.returncode == 3
    assert "1 malformed" in imported.stdout
    assert "No answer of run personas-empty-" in imported.stderr
    again = run("import", "audits/replications/personas.yml", "answers.csv", cwd=tmp_path)
    assert again.returncode == 3
    assert "--again" in again.stderr
