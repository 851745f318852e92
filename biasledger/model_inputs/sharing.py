"""What models that run side by side in one build read but once."""

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


@contextmanager
def sharing(build: str) -> Iterator[None]:
    """What is `shared` in this thread meanwhile is so with all that reads for the same build."""
    token = _build.set(build)
    try:
        yield
    finally:
        _build.reset(token)


def shared(key: tuple[Any, ...], read: Callable[[], Read]) -> Read:
    """What is read, or what another model of the build has read by that key and still holds; nobody changes it.

    It goes with the last who holds it. Outside a build everyone reads for themselves.
    """
    build = _build.get()
    if build is None:
        return read()
    with _reading:
        held = _held.get((build, *key))
        if held is None:
            held = _held[(build, *key)] = read()
    return cast("Read", held)
