"""The recipe for pipelines works as printed, in the shell and in GitHub's own words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.python.docs.shell import ROOT, blocks, run


def _steps() -> list[str]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    [workflow] = re.findall(r"^```yaml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    [job] = yaml.safe_load(workflow)["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.slow
def test_the_recipes_run_as_printed(tmp_path: Path) -> None:
    first, *others = blocks("docs/ci.md")
    begun = run(first, tmp_path)
    assert begun.returncode == 0, begun.stderr
    folder = tmp_path / "bias-audit"
    # Without intersections and second scheme the builds that follow take seconds.
    audit = folder / "audits" / "products.yml"
    text = audit.read_text(encoding="utf-8")
    audit.write_text(
        text.replace("crossed: [race*gender]", "crossed: []").replace(
            "[words, seed, seed_vectors]", "[words]"
        ),
        encoding="utf-8",
    )
    for block in others:
        finished = run(block, folder)
        assert finished.returncode == 0, f"{block}\n{finished.stdout}{finished.stderr}"
        assert "Traceback" not in finished.stderr
    assert "alarms: see reports/bias.xml" in finished.stdout
    assert {path.name for path in (folder / "reports").iterdir()} == {"bias.xml", "bias.json"}

    install, *commands = _steps()
    assert install == "pip install biasledger"
    codes = [run(command, folder).returncode for command in commands]
    # The last step, the check, is what goes red.
    assert codes == [0] * (len(codes) - 1) + [1]
