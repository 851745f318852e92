"""What dbt parsed of one project serves the next one: reading all models takes longer than building few of them.

A project that has nothing parsed yet begins with what was parsed last of one like it, or with what a release brings along. dbt
itself finds out whether it may go on from there (its version, project, profile, variables, each file's content), as it does in a
project of which it has parsed an earlier state; where it may not, it reads everything.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from biasledger.project import dbt_source

CACHE = "BIASLEDGER_CACHE"
SHIPPED = Path("parsed")
PARSED = Path("target/partial_parse.msgpack")
# All that dbt reads before models, beside variables and environment: another of these, and it parses everything anew.
_READ_FIRST = ("dbt_project.yml", "profiles.yml")


@contextmanager
def parsed_before(project: Path, rooms: Sequence[str], *, keeps: bool) -> Iterator[None]:
    """Give a project that has nothing parsed what was parsed of one like it.

    Args:
        rooms: those whose models are enabled.
        keeps: whether what dbt parses in the block is kept for other projects of this user.
    """
    own = project / PARSED
    is_new = not own.exists()
    name = _name(project, rooms)
    if is_new:
        _copy_first((cache_folder() / name, dbt_source() / SHIPPED / name), own)
    yield
    if keeps and is_new and own.is_file():
        # The next project only takes longer where nothing can be kept.
        with contextlib.suppress(OSError):
            _keep(own, cache_folder() / name)


def cache_folder() -> Path:
    """The folder of the user's cache: the one that BIASLEDGER_CACHE names, or `biasledger` where the system keeps such."""
    own = os.environ.get(CACHE)
    return (
        Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "biasledger"
    )


def _name(project: Path, rooms: Sequence[str]) -> str:
    read = [(project / name).read_bytes() for name in _READ_FIRST if (project / name).is_file()]
    return f"{hashlib.sha256(b''.join([*read, ' '.join(rooms).encode()])).hexdigest()}.msgpack"


def _copy_first(sources: Sequence[Path], destination: Path) -> None:
    for source in sources:
        with contextlib.suppress(OSError):
            if source.is_file():
                destination.parent.mkdir(exist_ok=True)
                shutil.copyfile(source, destination)
                return


def _keep(source: Path, destination: Path) -> None:
    """Replace what was kept where it differs; builds side by side keep whole files."""
    content = source.read_bytes()
    if destination.is_file() and destination.read_bytes() == content:
        return
    destination.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=destination.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(destination)
