"""Ask a target about answers, outside of any run: paced, tried again, and within limits of cost and of requests."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from collector.asking.costs import estimate_prompt_tokens, estimate_tokens
from collector.asking.pacing import Pace, retry_seconds
from collector.errors import TargetError
from collector.targets.base import Request

if TYPE_CHECKING:
    from collector.asking.costs import CostMeter
    from collector.targets.base import Target

MAX_TRIES = 3
# A question that is refused for the rate so often is left for the next call.
MAX_REFUSALS = 20
_BACKOFF_SECONDS = 1.0
_Value = TypeVar("_Value")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answered(Generic[_Value]):
    """The content of a reply, None where that could not be read; `error` is why there is no reply."""

    value: _Value | None
    error: str | None = None


class SingleQuestions:
    """Asks a target single questions; safe to use from many threads.

    Args:
        target: the system to ask.
        meter: adds up the cost, and refuses what might pass its limit.
        max_requests: most requests, tries included; None for no limit.
    """

    def __init__(self, target: Target, meter: CostMeter, max_requests: int | None = None) -> None:
        self.n_requests = 0
        self._target = target
        self._meter = meter
        self._max_requests = max_requests
        self._pace = Pace(max(1, target.concurrency), target.requests_per_minute, target.tokens_per_minute)
        self._lock = threading.Lock()

    def ask(
        self, prompt: str, read: Callable[[str], _Value | None], *, needs_value: bool = False
    ) -> Answered[_Value] | None:
        """Ask one question, again where that may help; None where a limit forbids it.

        Args:
            prompt: the question.
            read: returns what a reply says, None where it says nothing that can be used.
            needs_value: ask again where nothing can be used.

        Raises:
            TargetError: the target cannot be asked at all, as with a wrong key.
        """
        estimated = estimate_prompt_tokens(prompt, None)
        n_tries = n_refusals = 0
        said: Answered[_Value] = Answered(None)
        while n_tries < MAX_TRIES and n_refusals < MAX_REFUSALS:
            if not self._take(estimated):
                return None if n_tries == n_refusals == 0 else said
            try:
                n_tries += 1
                said = Answered(self._try(prompt, n_tries, estimated, read))
                if said.value is not None or not needs_value:
                    return said
                logger.info("The reply holds nothing that can be used; asking again.")
            except TargetError as error:
                if error.stops_run:
                    raise
                said = Answered(None, str(error))
                if error.asks_to_slow_down:
                    n_tries, n_refusals = n_tries - 1, n_refusals + 1
                elif not error.retryable:
                    return said
                elif n_tries < MAX_TRIES:
                    time.sleep(retry_seconds(error, n_tries, _BACKOFF_SECONDS))
            finally:
                self._meter.release(estimated)
        return said

    def _take(self, estimated: int) -> bool:
        """Take one request out of both limits; False, and nothing taken, where one would be passed."""
        with self._lock:
            if self._max_requests is not None and self.n_requests >= self._max_requests:
                return False
            if not self._meter.reserve(estimated):
                return False
            self.n_requests += 1
            return True

    def _try(
        self, prompt: str, trial: int, estimated: int, read: Callable[[str], _Value | None]
    ) -> _Value | None:
        with self._pace.slot() as slot:
            try:
                reply = self._target.ask(Request(prompt_text=prompt, trial=trial))
            except TargetError as error:
                slot.failed(error)
                raise
            tokens = [count for count in (reply.prompt_tokens, reply.completion_tokens) if count is not None]
            slot.done(sum(tokens) if tokens else None, reply.latency_ms, reply.hints)
        text = reply.text or ""
        self._meter.charge(
            reply.prompt_tokens or estimated,
            reply.completion_tokens or estimate_tokens(text),
            estimated_prompt_tokens=estimated,
            is_counted=bool(reply.completion_tokens),
        )
        return read(text)


def batches_of(items: Sequence[_Value], size: int) -> Iterator[Sequence[_Value]]:
    """Yield the items in batches of at most this size."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
