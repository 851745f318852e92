"""From `init` to findings by the command line alone, on the shipped models and a simulated target."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("BIASLEDGER_", "DBT_"))
    }
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-P", "-m", "biasledger.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_newcomer_reaches_findings_by_the_printed_commands(tmp_path: Path) -> None:
    made = run("init", "mine", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "mine"
    audit = folder / "audits" / "products.yml"
    text = audit.read_text(encoding="utf-8")
    # Without intersections and second scheme the build takes seconds; both are tested elsewhere.
    quick = text.replace("crossed: [race*gender]", "crossed: []").replace("[words, seed]", "[words]")
    audit.write_text(quick, encoding="utf-8")

    collected = run("collect", "audits/products.yml", "--target", "simulator", cwd=folder)
    assert collected.returncode == 0, collected.stderr
    assert "products asked of simulator (simulated)" in collected.stdout
    assert "15 prompts, 225 responses" in collected.stdout
    assert collected.stdout.endswith("Next: biasledger build\n")

    built = run("build", cwd=folder)
    assert built.returncode == 1, built.stderr
    assert built.stderr == ""
    rows = [line.split() for line in built.stdout.splitlines() if " vs " in line]
    assert {row[0] for row in rows if row[1] == "race"} == {"alarm"}
    assert "alarm" not in {row[0] for row in rows if row[1] == "gender"}
    assert "18 findings: 12 alarms, " in built.stdout

    listed = run("runs", cwd=folder).stdout
    run_id = next(word for word in listed.split() if word.startswith("products-simulator-"))
    assert "finished" in listed
    shown = run("findings", "--run", run_id, "--status", "alarm", "--why", cwd=folder)
    assert shown.returncode == 0
    assert shown.stdout.count("adjusted p") == 12


@pytest.mark.slow
def test_answers_that_cannot_be_analysed_are_no_success(tmp_path: Path) -> None:
    run("init", ".", cwd=tmp_path)
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
