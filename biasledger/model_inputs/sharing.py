"""Inputs that models of one build read once although they run in parallel, and results that one leaves for another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

Read = TypeVar("Read")

_build: ContextVar[str | None] = ContextVar("build", default=None)
_held: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_reading = Lock()
_results: dict[tuple[str, str], dict[str, Any]] = {}


@contextmanager
def sharing(build: str) -> Iterator[None]:
    """Share everything that is read with `shared` in this thread with all readers of the same build."""
    token = _build.set(build)
    try:
        yield
    finally:
        _build.reset(token)


def shared(key: tuple[Any, ...], read: Callable[[], Read]) -> Read:
    """Return the result of `read`, or of another model of the build that read by that key and still holds it; do not change it.

    It is freed when the last reference is dropped. Outside a build nothing is shared.
    """
    build = _build.get()
    if build is None:
        return read()
    with _reading:
        held = _held.get((build, *key))
        if held is None:
            held = _held[(build, *key)] = read()
    return cast("Read", held)


def shared_results(key: str) -> dict[str, Any] | None:
    """Return the place where one model of the build leaves results of a key for a later one; None outside a build.

    It stays until the process ends, so it is for small results.
    """
    build = _build.get()
    return None if build is None else _results.setdefault((build, key), {})
