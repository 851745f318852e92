"""A target whose answers a test decides."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collector.targets.base import Reply, Request

Query = Callable[[str], list[tuple[Any, ...]]]


GOOD = '{"Tea": "Warm. Good."}'


@dataclass
class Scripted:
    """A target whose answers a function gives, and which counts the questions."""

    answer: Callable[[Request], Reply] = lambda _: Reply(GOOD)
    name: str = "scripted"
    kind: str = "scripted"
    is_simulated: bool = False
    model: str = "m"
    concurrency: int = 2
    parameters: Mapping[str, Any] = field(default_factory=dict)
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Request) -> Reply:
        with self.lock:
            self.asked[request.prompt_text, request.trial] += 1
        return self.answer(request)
