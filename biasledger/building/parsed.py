"""Reuse what dbt parsed in one project for the user's next one: reading all models takes longer than building a few of them.

A new project begins with the parsed state of a similar one. dbt itself decides whether the state is still valid (profile,
variables, files), as it does with its own earlier state; if not, it parses everything.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from biasledger import __version__
from biasledger.building import PARSED
from biasledger.publishing.work import hash_models
from collector.files.replacing import write_whole

CACHE = "BIASLEDGER_CACHE"
# dbt reads these before models, as well as variables and environment; if one of them differs, it parses everything.
_READ_FIRST = ("dbt_project.yml", "profiles.yml")
# Files that a project adds itself are never shared with another project.
_OWN = ("models", "macros", "analyses", "tests", "snapshots")
_MOST_KEPT = 8


@contextmanager
def parsed_before(project: Path, methods: Sequence[str], *, keeps: bool) -> Iterator[None]:
    """Give a project without parsed state that of a similar project.

    Args:
        methods: those whose models are enabled.
        keeps: whether what dbt parses in the block is kept for other projects of this user.
    """
    own = project / PARSED
    folder = cache_folder()
    if folder is None or own.exists():
        yield
        return
    kept = folder / f"{_name(project, methods)}{own.suffix}"
    # A project whose state cannot be taken or kept only takes longer.
    with contextlib.suppress(OSError):
        own.parent.mkdir(exist_ok=True)
        if kept.is_file():
            shutil.copyfile(kept, own)
    yield
    if keeps and own.is_file() and not any((project / name).exists() for name in _OWN):
        with contextlib.suppress(OSError):
            _keep(own.read_bytes(), kept)


def cache_folder() -> Path | None:
    """Return the folder of the user's cache, which BIASLEDGER_CACHE may name; None for a user who has no home."""
    if own := os.environ.get(CACHE):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "biasledger"
    try:
        return Path.home() / ".cache" / "biasledger"
    except RuntimeError:
        return None


def _name(project: Path, methods: Sequence[str]) -> str:
    """dbt takes a file whose time is the same for unchanged, and files of two releases may have the same time."""
    read = [(project / name).read_bytes() for name in _READ_FIRST if (project / name).is_file()]
    stated = " ".join((__version__, version("dbt-core"), hash_models(), *methods))
    return hashlib.sha256(b"".join([*read, stated.encode()])).hexdigest()


def _keep(content: bytes, kept: Path) -> None:
    if kept.is_file() and kept.read_bytes() == content:
        return
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(kept, content)
    newest = sorted(kept.parent.glob(f"*{kept.suffix}"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in newest[_MOST_KEPT:]:
        old.unlink()
