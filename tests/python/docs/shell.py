"""Run the documentation's commands in a shell with this installation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# This checkout and this Python, whether or not they are installed as scripts.
_PRELUDE = f"""
biasledger() {{ "{sys.executable}" -c 'from biasledger.cli import main; main()' "$@"; }}
python() {{ "{sys.executable}" "$@"; }}
dbt() {{ "{sys.executable}" -c 'from dbt.cli.main import cli; cli(prog_name="dbt")' "$@"; }}
set -o pipefail
"""


def blocks(document: str) -> list[str]:
    """The ```sh blocks of a file of the repository, in order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(script: str) -> int:
    """How many commands of biasledger a block has."""
    return len(re.findall(r"^biasledger ", script, flags=re.MULTILINE))


def files(document: str) -> dict[str, str]:
    """The files that a document has the reader save: name -> content."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return dict(found)


def run(script: str, folder: Path, site: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a block in `folder` with bash, stopping at the first command that fails; biasledger is the one in `site`."""
    return subprocess.run(
        ["bash", "-e", "-c", _PRELUDE + script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(site), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
