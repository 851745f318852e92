"""What tests of several rooms share: built projects, and which tests a worker of pytest-xdist takes together."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python.audited import make_audited
from tests.python.docs.shell import blocks, run

# Session fixtures that build a warehouse -> a group of files that goes to one worker, so that each is built once; some files
# use several of the first group.
_BUILT = {
    "audited": "end to end",
    "odd": "end to end",
    "alone": "end to end",
    "first_audit": "first audit",
    "replicated": "replications",
}
# What takes longest starts first, so that no worker is left with it alone at the end.
_FIRST = ("end_to_end", "docs", "query", "explain", "replication", "benchmarks", "cli")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group files by the built project they use, for `--dist loadgroup`, and order them by how long they take."""
    used: dict[Path, set[str]] = {}
    for item in items:
        used.setdefault(item.path, set()).update(getattr(item, "fixturenames", ()))
    for item in items:
        groups = (group for name, group in _BUILT.items() if name in used[item.path])
        item.add_marker(pytest.mark.xdist_group(next(groups, item.nodeid.partition("::")[0])))
    items.sort(key=lambda item: (*_FIRST, item.path.parent.name).index(item.path.parent.name))


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
