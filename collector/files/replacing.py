"""Files and folders that are on disk when a call returns, and files put whole in an older one's place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give the block a name next to `path`: the new file replaces `path` when the block ends, or is removed if it fails.

    A path that is no regular file, such as a pipe or a device, and the target of a link are written to directly.

    Raises:
        OSError: a file cannot be written.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        yield path
        return
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        replace_file(new, path)
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, as `written_whole` does.

    Raises:
        OSError: a file cannot be written.
    """
    with written_whole(path) as new:
        new.write_bytes(content)


def replace_file(new: Path, path: Path) -> None:
    """Give `new` the name of `path`, and its permissions where there is such a file, with both on disk when this returns.

    Raises:
        OSError: a file cannot be written.
    """
    sync_file(new)
    if path.exists():
        new.chmod(path.stat().st_mode)
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
