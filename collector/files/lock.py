"""Locks on files that one process at a time may write: the journal, a build and a publication use them.

The lock is flock(2)'s, of Linux and macOS. It belongs to an opened file: another opening cannot lock it, in this process or in
another; programs that do not ask for the lock may read meanwhile; closing another opening of the same file leaves it; and the
system frees it when the process ends, however it ends. Windows has no lock that allows reading. On network file systems the lock
is as reliable as the file system makes it.
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
    """Return whether another opening holds the lock on an opened file; the check itself uses a shared lock, which others may
    take, too.

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
