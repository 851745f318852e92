"""Puts a newly written file in an older one's place: after a crash there is the old one or the new one, whole."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(new: Path, path: Path) -> None:
    """Give `new` the permissions and the name of `path`, with both on disk when this returns.

    Raises:
        OSError: a file cannot be written.
    """
    new.chmod(path.stat().st_mode)
    _sync(new, os.O_RDWR)
    new.replace(path)
    _sync(path.parent, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
