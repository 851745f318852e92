"""Temporary folders that hold answers; those that a killed process left are removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from collector.errors import BiasledgerError
from collector.files.lock import is_locked, lock

_PREFIX = "biasledger-scratch-"
_LOCK = ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder, removed at the end, that `remove_left_scratch` leaves alone while this process lives."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        with (folder / f"{_LOCK}.new").open("wb") as file:
            # Without locks a folder is removed at the end alone: one that is left has no file of that name.
            with suppress(BiasledgerError):
                # Locked before it has its name: a folder with an unlocked file of that name is taken for one that was left.
                lock(file.fileno())
                (folder / f"{_LOCK}.new").rename(folder / _LOCK)
            yield folder


def remove_left_scratch() -> int:
    """Remove the folders of killed processes of this user; return how many there were."""
    n_removed = 0
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as file:
                if is_locked(file.fileno()):
                    continue
            shutil.rmtree(folder)
        except OSError:  # of another user, or removed meanwhile
            continue
        n_removed += 1
    return n_removed
