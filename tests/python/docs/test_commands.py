"""Test that every command in the documentation works as printed."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tomllib

import duckdb
import pytest

from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT, blocks, run

DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
)


def _commands(program: str) -> list[tuple[str, str]]:
    return [
        (document, line.split("#")[0].strip())
        for document in DOCUMENTS
        for block in blocks(document)
        for line in block.splitlines()
        if line.startswith(program)
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed here")
@pytest.mark.parametrize(("document", "command"), _commands("make "))
def test_make_targets_exist(document: str, command: str) -> None:
    dry = subprocess.run(
        ["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert dry.returncode == 0, f"{document}: {command}: {dry.stderr}"


def test_pip_installs_this_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = project["name"]
    known = {
        f"pip install {name}",
        *(f"pip install '{name}[{extra}]'" for extra in project["optional-dependencies"]),
    }
    assert f"pip install {name}" in {command for _, command in _commands("pip install")} <= known


@pytest.mark.parametrize(("document", "command"), _commands("python -m "))
def test_modules_know_their_arguments(document: str, command: str) -> None:
    module, rest = command.split()[:3], command.split()[3:]
    # Options before a command's name apply to all its subcommands; each has a value.
    n_before = 2 if rest and rest[0].startswith("--") and len(rest) > 2 else 0
    parts = [(module, rest[:n_before]), ([*module, *rest[n_before:][:1]], rest[n_before:])]
    for asked, options in parts if n_before else parts[1:]:
        finished = run(" ".join([*asked, "--help"]), ROOT)
        assert finished.returncode == 0, f"{document}: {command}"
        wanted = (option for option in options if option.startswith("--"))
        assert all(option in finished.stdout for option in wanted), f"{document}: {command}"


def test_the_readme_s_first_audit(first_audit: FirstAudit) -> None:
    finished = first_audit.finished
    assert finished.returncode == 0, finished.stderr
    assert "products, target simulator (simulated)" in finished.stdout
    assert "120 prompts, 240 responses" in finished.stdout
    assert "Next: biasledger build\n" in finished.stdout
    rows = [line.split() for line in finished.stdout.splitlines() if " vs " in line]
    # No group's texts are longer; the words differ by race.
    assert {row[1] for row in rows if row[2] == "race" and "length_gap" not in row} == {"alarm"}
    assert "alarm" not in {row[1] for row in rows if row[2] == "gender"}
    assert re.search(
        r"^  race: alarm( \(\d of \d measures\))? · gender: (inconclusive|clear)",
        finished.stdout,
        re.MULTILINE,
    )
    assert "inconclusive" in finished.stdout
    assert "Traceback" not in finished.stdout + finished.stderr


def test_what_it_leaves_can_be_listed_and_read(first_audit: FirstAudit) -> None:
    listed = run("biasledger runs", first_audit.folder).stdout
    assert "finished" in listed
    run_id = next(word for word in listed.split() if word.startswith("products-simulator-"))
    shown = run(f"biasledger findings --run {run_id} --status alarm --why", first_audit.folder)
    assert shown.returncode == 0, shown.stderr
    with duckdb.connect(str(first_audit.folder / "warehouse.duckdb"), read_only=True) as connection:
        ((n_alarms,),) = connection.execute(
            "select count(*) from marts.fct_findings where status = 'alarm'"
        ).fetchall()
    assert f"{n_alarms} findings: {n_alarms} alarms" in shown.stdout
    assert "adjusted p" in shown.stdout
    for line in _without_ids(_readme_s_output()):
        # A line that is cut off ends with dots.
        assert any(printed.startswith(line.removesuffix("…")) for printed in _without_ids(shown.stdout)), line


def _readme_s_output() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (output,) = re.findall(r"^<!-- output: .*? -->\n```\n(.*?)^…$", text, flags=re.MULTILINE | re.DOTALL)
    return str(output)


def _without_ids(output: str) -> set[str]:
    """Its lines, without what differs from run to run."""
    return {
        re.sub(r"^[0-9a-f]{6,} |-\d{8}T\d{6}-\w{4}", "", " ".join(line.split()))
        for line in output.splitlines()
    }


@pytest.mark.slow
def test_the_report_s_commands_write_it(first_audit: FirstAudit) -> None:
    # The README's own commands have written one; those of its document write the same bytes.
    report = first_audit.folder / "report.html"
    first = report.read_bytes()
    report.unlink()
    for block in blocks("docs/report.md"):
        finished = run(
            "\n".join(line for line in block.splitlines() if "pip install" not in line), first_audit.folder
        )
        assert finished.returncode == 0, finished.stderr
    assert report.read_bytes() == first
    assert "Words used more for one group" in first.decode()
    sql = html.unescape(
        re.findall(
            r"<pre><code>(-- The ten words that add most.*?)</code></pre>", first.decode(), flags=re.DOTALL
        )[0]
    )
    (first_audit.folder / "words.sql").write_text(sql, encoding="utf-8")
    asked = run("biasledger query words.sql --format csv", first_audit.folder)
    assert asked.stdout.startswith("attribute,group_name,reference_group,finding_id,status,word,"), (
        asked.stderr
    )
    assert len(asked.stdout.splitlines()) == 61  # ten words of six contrasts


def test_the_readme_s_query_runs(first_audit: FirstAudit) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (query,) = re.findall(r"^```sql\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    with duckdb.connect(str(first_audit.folder / "warehouse.duckdb"), read_only=True) as connection:
        assert len(connection.execute(query).fetchall()) > 0
