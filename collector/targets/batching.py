"""Parts that the batch interfaces of chat services share: questions as JSON Lines, results read line by line.

The interface of a kind of target is the class `Batch` of the module named after it, such as openai_batch.
"""

from __future__ import annotations

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from collector.errors import InputError, TargetError
from collector.targets.base import BatchRequest, BatchState, Reply, Submission
from collector.targets.http.errors import is_success, json_object
from collector.targets.http.session import MAX_BODY_BYTES, HttpSession, excerpt

if TYPE_CHECKING:
    from collector.targets.base import Target
    from collector.targets.chat import ChatTarget

# Uploads and downloads are large; to ask how far a batch is takes a moment.
TRANSFER_SECONDS = 1800.0
QUESTION_SECONDS = 60.0
# The size of all questions of a batch; services take more, but they are held in memory.
MAX_BYTES = 64_000_000
# How far a service's clock may be off.
CLOCK_TOLERANCE = timedelta(minutes=10)
_SUFFIX = "_batch"


def batch_interface(target: Target) -> ChatBatch:
    """Return the batch interface of a target.

    Raises:
        InputError: its kind has none.
    """
    import collector.targets as package

    module = f"{package.__name__}.{target.kind}{_SUFFIX}"
    if find_spec(module) is None:
        names = (module.name for module in iter_modules(package.__path__))
        known = sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        raise InputError(
            f"The target {target.name} is of kind {target.kind!r}, which has no batch interface; --batch is for "
            f"{' and '.join(known)}."
        )
    batch = import_module(module).Batch(target)
    assert isinstance(batch, ChatBatch)
    return batch


class ChatBatch(ABC):
    """The batch interface of a chat service, which answers within a day or so and at a lower price.

    Args:
        target: the service; questions are written and answers read as it does one by one.

    Attributes:
        max_requests, max_bytes: how much one batch may hold.
        has_names: batches are found by name; otherwise by size and time.
    """

    has_names: ClassVar[bool]
    max_requests: ClassVar[int]
    max_bytes: ClassVar[int] = MAX_BYTES

    def __init__(self, target: ChatTarget) -> None:
        self.target = target
        self._session = HttpSession(target.name, target.redact, timeout_seconds=TRANSFER_SECONDS)

    @abstractmethod
    def submit(self, submission: Submission, requests: Sequence[BatchRequest]) -> str:
        """Submit a batch; return the service's id of it.

        Raises:
            TargetError: the batch was not submitted; if retryable, it may have been: `find` says so.
        """

    @abstractmethod
    def find(self, submission: Submission) -> str | None:
        """Return the id of a batch whose submission may or may not have arrived; None if it has not.

        Where a service lets batches have no names, another batch of the same size may be meant: its results have other ids.

        Raises:
            TargetError: the service could not be asked.
        """

    @abstractmethod
    def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is.

        Raises:
            TargetError: the service could not be asked, or knows no such batch.
        """

    @abstractmethod
    def results(self, batch_id: str) -> Iterator[tuple[str, Reply | TargetError]]:
        """Yield custom_id and result of each question of a batch that has ended, in any order; some may be missing.

        Raises:
            TargetError: the results could not be read.
        """

    @abstractmethod
    def line(self, request: BatchRequest) -> dict[str, Any]:
        """Return a question as the service wants it in a batch."""

    @abstractmethod
    def result(self, document: dict[str, Any]) -> tuple[str, Reply | TargetError] | None:
        """Read a line of results; None if it is no result."""

    def size(self, request: BatchRequest) -> int:
        """Return the bytes that a question takes in a batch."""
        return len(json.dumps(self.line(request), allow_nan=False)) + 1

    def call(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a request and return the JSON object that comes back.

        Raises:
            TargetError: no success, or no JSON object.
        """
        reply = self._session.send(
            method,
            url,
            headers={**self.target.headers(), **(headers or {})},
            body=body,
            timeout_seconds=QUESTION_SECONDS if body is None else None,
        )
        if not is_success(reply.status):
            raise self._refused(reply.status, reply.text)
        document = json_object(reply.text)
        if document is None:
            raise self._unreadable(
                f"answered {reply.status}, but not with JSON: {excerpt(reply.text)}", reply.text
            )
        return document

    def pages(self, url: str, after: str) -> Iterator[list[dict[str, Any]]]:
        """Yield the batches at an address, the newest first, page by page; `after` is the parameter of where a page begins.

        Raises:
            TargetError: the service could not be asked.
        """
        place = ""
        while True:
            page = self.call("GET", f"{url}?limit=100{place}")
            batches = [one for one in page.get("data") or () if isinstance(one, dict)]
            if batches:
                yield batches
            if not batches or not page.get("has_more"):
                return
            place = f"&{after}={quote(self.required(batches[-1], 'id', 'a batch'), safe='')}"

    def download(self, url: str) -> Iterator[tuple[str, Reply | TargetError]]:
        """Yield the results that an address holds as JSON Lines; they are kept in a file meanwhile.

        Raises:
            TargetError: no success, or a line that is no result.
        """
        with tempfile.TemporaryFile(prefix="biasledger-") as file:
            reply = self._session.send("GET", url, headers=self.target.headers(), into=file)
            if not is_success(reply.status):
                raise self._refused(reply.status, reply.text)
            file.seek(0)
            # A longer line is cut, and is no result.
            while line := file.readline(MAX_BODY_BYTES):
                if not line.strip():
                    continue
                text = self.target.redact(line.decode("utf-8", "replace"))
                document = json_object(text)
                result = self.result(document) if document is not None else None
                if result is None:
                    raise self._unreadable(f"sent results with a line that is none: {excerpt(text)}", text)
                yield result

    def answer(self, status: int, document: object) -> Reply | TargetError:
        """Read one question's answer: its status, and its body as JSON."""
        try:
            return self.target.read(status, json.dumps(document, ensure_ascii=False))
        except TargetError as error:
            return error

    def required(self, document: Mapping[str, Any], key: str, what: str) -> str:
        """Return the text at a key of what came back.

        Raises:
            TargetError: there is none.
        """
        value = document.get(key)
        if not isinstance(value, str) or not value:
            body = json.dumps(document)
            raise self._unreadable(f"answered with no {key} of {what}: {excerpt(body)}", body)
        return value

    def _refused(self, status: int, text: str) -> TargetError:
        try:
            self.target.read(status, text)
        except TargetError as error:
            return error
        # A filter's refusal is an answer to a question and makes no sense here.
        return TargetError(
            f"{self.target.name} answered {status}: {excerpt(text)}", raw_body=text, status=status
        )

    def _unreadable(self, what: str, body: str) -> TargetError:
        return TargetError(f"{self.target.name} {what}", retryable=True, raw_body=body)
