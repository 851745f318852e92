"""Files and folders that are on disk when a call returns, and files put whole in an older one's place."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(new: Path, path: Path) -> None:
    """Give `new` the name of `path`, and its permissions where there is such a file, with both on disk when this returns.

    Raises:
        OSError: a file cannot be written.
    """
    if path.exists():
        new.chmod(path.stat().st_mode)
    sync_file(new)
    new.replace(path)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Make sure that a file's content is on disk."""
    _sync(path, os.O_RDWR)


def sync_folder(folder: Path) -> None:
    """Make sure that the names of new files and folders in it are on disk, too."""
    _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
