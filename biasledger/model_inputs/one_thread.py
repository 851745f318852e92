"""Linear algebra on one thread, for as long as anyone in the process measures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from threadpoolctl import threadpool_limits


class OneThread:
    """A context that limits linear algebra to one thread, so that sums do not depend on the machine's cores.

    OpenBLAS has one process-wide limit; the last thread to finish must restore it. threadpoolctl requires that the thread that
    set the limit restores it, so a separate thread does both.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._setter: ThreadPoolExecutor | None = None
        self._limits = ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """With OpenMP the limit belongs to each thread, so it is set here."""
        with self._lock:
            self._setter = self._setter or ThreadPoolExecutor(1)
            # Set again by each, because a library may have been loaded since.
            self._setter.submit(lambda: self._limits.enter_context(threadpool_limits(limits=1))).result()
            self._n_inside += 1
        try:
            with threadpool_limits(limits=1, user_api="openmp"):
                yield
        finally:
            with self._lock:
                self._n_inside -= 1
                if not self._n_inside and self._setter:
                    # In reverse order: the first one knows the original limit.
                    self._setter.submit(self._limits.close).result()
                    self._setter.shutdown()
                    self._setter = None


one_thread = OneThread()
