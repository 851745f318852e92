"""Open files that somebody else may have named or made: regular files only, never a wait, and no more than a bound.

A device such as /dev/zero never ends, and opening a pipe without a writer waits without end.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from collector.errors import InputError

MAX_SPEC_BYTES = 4 << 20
MAX_TABLE_BYTES = 256 << 20
MAX_DOCUMENT_BYTES = 1 << 30
# Limits on unpacking: beyond a free amount, at most so many times the packed size. Logs of real evaluations and workbooks shrink
# to a tenth or a thirtieth.
MAX_RATIO = 200
FREE_BYTES = 256 << 20


def open_plain(path: Path) -> BinaryIO:
    """Open a regular file for reading bytes.

    Raises:
        InputError: it is a device, a pipe or a socket.
        OSError: it cannot be opened, or is a folder.
    """
    # Without waiting, a pipe that has no writer opens at once, and is then refused.
    descriptor = os.open(
        path,
        os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0),
    )
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        kind = _kind(mode)
        if kind is not None:
            raise _not_plain(path, kind)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_plain(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes.

    Raises:
        InputError: as in open_plain, or it is larger.
        OSError: it cannot be read.
    """
    with open_plain(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError(f"{path} is larger than {_size(most)}, which is more than is read of such a file.")
    return content


def require_ratio(
    path: Path, n_bytes: int, remedy: str, *, ratio: int = MAX_RATIO, free: int | None = None
) -> None:
    """Raise InputError for a file that would become far more bytes than it has."""
    packed = path.stat().st_size
    if n_bytes > max(FREE_BYTES if free is None else free, ratio * packed):
        raise InputError(
            f"{path} would become {n_bytes:,} bytes, {n_bytes // max(packed, 1):,} times what it is; at most {ratio:,} times as "
            f"much is read: {remedy}."
        )


def require_plain(path: Path) -> None:
    """Raise InputError for a device, a pipe or a socket; an absent file or a folder is left to the code that opens it."""
    try:
        kind = _kind(path.stat().st_mode)
    except (OSError, ValueError):
        return
    if kind is not None:
        raise _not_plain(path, kind)


def _kind(mode: int) -> str | None:
    """Return the kind of a special file by its mode, None for a regular file and for a folder."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _not_plain(path: Path, kind: str) -> InputError:
    return InputError(f"{path} is not a file but {kind}; name a regular file.")


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 30} GiB" if n_bytes >= 1 << 30 else f"{n_bytes >> 20} MiB"
