"""A target whose answers a test decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collector.targets.base import Reply, Request

Query = Callable[[str], list[tuple[Any, ...]]]


GOOD = '{"Tea": "Warm. Good."}'


@dataclass
class Scripted:
    """A target whose answers a function gives."""

    answer: Callable[[Request], Reply]
    name: str = "scripted"
    kind: str = "scripted"
    is_simulated: bool = False
    model: str = "none"
    concurrency: int = 2
    parameters: Mapping[str, Any] = field(default_factory=dict)
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def ask(self, request: Request) -> Reply:
        return self.answer(request)
