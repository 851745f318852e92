"""The README's first audit, run once as printed; several rooms look at what it leaves."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python.audited import make_audited
from tests.python.docs.shell import blocks, run


@dataclass(frozen=True)
class FirstAudit:
    """The project folder that the README's commands made, and what they printed."""

    folder: Path
    finished: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def first_audit(tmp_path_factory: pytest.TempPathFactory) -> FirstAudit:
    folder = tmp_path_factory.mktemp("readme")
    (script,) = [block for block in blocks("README.md") if "biasledger init" in block]
    script = re.sub(r"^pip install .*$", "", script, flags=re.MULTILINE)
    # Alarms are what the simulator is there to raise.
    script = re.sub(
        r"^biasledger build.*$", 'biasledger build || test "$?" -eq 1', script, flags=re.MULTILINE
    )
    return FirstAudit(folder / "my-audit", run(script, folder))


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project with all kinds of audits; see `make_audited` for what is planted. To be read only."""
    return make_audited(tmp_path_factory.mktemp("audited") / "project")
