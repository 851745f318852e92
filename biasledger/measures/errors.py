"""Errors of measures say which comparison they are about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def named_errors(key: str) -> Iterator[None]:
    """Put the comparison's key in front of every ValueError that the block raises."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"comparison {key}: {error}") from error
