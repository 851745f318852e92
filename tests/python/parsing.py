"""What dbt parsed of one project serves the next one: reading all models takes longer than building few of them.

dbt itself finds out whether it may go on from there (project, profile, variables, each file's content), as it does in a project
of which it has parsed an earlier state; where it may not, it reads everything.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_PARSED = Path("target/partial_parse.msgpack")
_READ_FIRST = ("dbt_project.yml", "profiles.yml")


def sharing(folder: Path, run_dbt: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """`run_dbt` for projects that share what was parsed, in `folder`, where project and rooms are the same."""

    def run(
        project: Path,
        *arguments: Any,
        rooms: Sequence[str],
    ) -> list[str]:
        read = [(project / name).read_bytes() for name in _READ_FIRST if (project / name).is_file()]
        read.append(" ".join(rooms).encode())
        kept = folder / f"{hashlib.sha256(b''.join(read)).hexdigest()}.msgpack"
        own = project / _PARSED
        if kept.is_file() and not own.exists():
            own.parent.mkdir(exist_ok=True)
            shutil.copyfile(kept, own)
        messages = run_dbt(project, *arguments, rooms=rooms)
        if own.is_file() and not kept.exists():
            shutil.copyfile(own, kept)
        return messages

    return run
