"""Locks on files that one process at a time may write: what the journal, a build and a publication need of the system.

The lock is flock(2)'s, of Linux and macOS. It belongs to an opened file: another opening is kept out, of this process or of
another; whoever does not ask may read meanwhile; closing another opening of the same file leaves it; and the system frees it when
the process ends, however it ends. Windows has none that leaves readers alone. On network file systems it is as good as these
make it.
"""

from __future__ import annotations

from collector.errors import BiasledgerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def lock(descriptor: int) -> bool:
    """Take the lock on an opened file until it is closed; return False at once where somebody else holds it.

    Raises:
        BiasledgerError: the system has no such locks.
        OSError: the file cannot be locked.
    """
    return _lock(descriptor, is_shared=False)


def is_locked(descriptor: int) -> bool:
    """Whether somebody holds the lock on an opened file; nobody who asks the same is kept out meanwhile.

    Raises:
        BiasledgerError: the system has no such locks.
        OSError: the file cannot be locked.
    """
    if not _lock(descriptor, is_shared=True):
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _lock(descriptor: int, *, is_shared: bool) -> bool:
    if fcntl is None:
        raise BiasledgerError(
            "This system has no locks as a journal needs them: biasledger runs on Linux and macOS, and on Windows inside WSL."
        )
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
