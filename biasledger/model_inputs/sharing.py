"""What models of one build read but once where they run side by side, and what one hands on to another."""

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
_handed: dict[tuple[str, str], dict[str, Any]] = {}


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


def handed_on(key: str) -> dict[str, Any] | None:
    """Where one model of the build leaves what it found of a key, for another that comes after it; None outside a build.

    It stays until the process ends: it is for what is small.
    """
    build = _build.get()
    return None if build is None else _handed.setdefault((build, key), {})
