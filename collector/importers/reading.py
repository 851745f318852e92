"""Turn planned answers into rows, in this process or, for a large file, in other processes while this one writes.

Such a process runs this module: pickled batches come in through its standard input, pickled rows go out through its standard
output. It ends with its input, so that it does not outlive a process that was killed.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.answers.failures import OTHER_ERROR, is_error, read_failure
from collector.answers.replies import Answer
from collector.answers.texts.stored_text import storable
from collector.errors import BiasledgerError
from collector.importers.missing import missing_answer
from collector.rows import ResponseRow, response_hash

if TYPE_CHECKING:
    from collector.importers.plan import PlannedAnswer
    from collector.spec.audit import Audit

# With fewer rows, starting processes takes longer than it saves.
_ROWS_FOR_PROCESSES = 30_000
_PROCESSES = 2

# Loading raises one of these if the other process ended before it wrote anything, or half-way.
_CUT_OFF = (EOFError, pickle.UnpicklingError)

# A prompt's id and content hash, and an answer to it.
_Asked = tuple[str, str, "PlannedAnswer"]


@dataclass(frozen=True, slots=True)
class KnownPrompt:
    """The parts of a prompt that its answers need."""

    prompt_id: str
    content_hash: str
    groups: Sequence[tuple[str, str]]


class Reader:
    """Reads batches of answers to an audit in this process; `SeveralReaders` does so in others."""

    def __init__(self, audit: Audit) -> None:
        assert audit.imported is not None
        self._audit = audit
        self._has_replies = audit.imported.columns.has_replies

    def read(
        self, batches: Iterable[list[PlannedAnswer]], known: Mapping[int, KnownPrompt]
    ) -> Iterator[tuple[list[PlannedAnswer], list[ResponseRow]]]:
        """Yield each batch of answers with a row for each of them, in the same order.

        Args:
            batches: the answers.
            known: number of a prompt -> what its answers need of it.
        """
        for found in batches:
            yield found, self.rows(_with_prompts(found, known))

    def rows(self, asked: Sequence[_Asked]) -> list[ResponseRow]:
        """Return the rows of one batch."""
        return [self._row(*one) for one in asked]

    def answer_of(self, found: PlannedAnswer) -> Answer:
        """Return how an answer is read.

        An answer put together from rows has the status ok. An error that the file states goes before a text.
        """
        text = _storable(found.text)
        if not self._has_replies:
            return Answer("ok", answer_text=text)
        missing = missing_answer(text, self._audit.answer)
        answer = self._audit.answer.classify(
            text if missing is None else None,
            found.finish_reason,
            reasoning=found.reasoning,
            options=found.options,
            decimal=found.column.decimal if found.column else None,
            currency=found.column.currency if found.column else None,
        )
        if found.error is None or not is_error(found.error):
            if missing is not None and answer.status == "malformed":
                stands = f"missing ({storable(missing)})" if missing else "empty"
                return Answer("error", error=f"The cell is {stands}.", read_by="missing")
            return answer
        # An error counts even if there is a text: a placeholder, or a part that came before the call failed.
        failure = read_failure(found.error)
        if failure.rule == OTHER_ERROR and answer.status == "refused":
            return answer
        states_error = failure.status == "error"
        return Answer(
            failure.status,
            error=storable(found.error if states_error else f"{failure.sentence} {found.error}"),
            read_by=failure.rule,
            reasoning_text=answer.reasoning_text,
        )

    def prepare(self) -> None:
        """Compile the patterns that reading needs, which takes some seconds."""
        self._audit.answer.classify("This is a text.", None)

    def _row(self, prompt_id: str, prompt_hash: str, found: PlannedAnswer) -> ResponseRow:
        text = _storable(found.text)
        answer = self.answer_of(found)
        return ResponseRow(
            prompt_id=prompt_id,
            trial=found.trial,
            attempt=found.attempt,
            seq=found.seq,
            status=answer.status,
            content_hash=response_hash(prompt_hash, answer.status, text),
            # A file of places or items does not hold what was written.
            response_text=text if self._has_replies else None,
            answer_text=_storable(answer.answer_text),
            finish_reason=_storable(found.finish_reason),
            model_answered=_storable(found.model),
            error=answer.error,
            weight=found.weight,
            reasoning_text=_storable(answer.reasoning_text),
            read_by=answer.read_by,
            read_text=_storable(answer.read_text),
            answer_language=answer.language,
            source_row=found.source_row,
            kept=found.kept,
            is_last=found.is_last,
        )


class SeveralReaders(Reader):
    """Reads batches in processes of their own, so that the next batches are read while one is written."""

    def __init__(self, processes: Sequence[_Process], audit: Audit) -> None:
        super().__init__(audit)
        self._processes = processes
        for process in processes:
            process.send(Reader(audit))

    def read(
        self, batches: Iterable[list[PlannedAnswer]], known: Mapping[int, KnownPrompt]
    ) -> Iterator[tuple[list[PlannedAnswer], list[ResponseRow]]]:
        """Yield batches with their rows, as `Reader.read`; each process reads one batch at a time."""
        being_read: deque[tuple[_Process, list[PlannedAnswer]]] = deque()
        for found in batches:
            asked = _with_prompts(found, known)
            if len(being_read) < len(self._processes):
                process = self._processes[len(being_read)]
                process.send(asked)
            else:
                process, earlier = being_read.popleft()
                rows = process.receive()
                process.send(asked)
                yield earlier, rows
            being_read.append((process, found))
        for process, earlier in being_read:
            yield earlier, process.receive()


@contextmanager
def open_reader(audit: Audit, n_rows: int) -> Iterator[Reader]:
    """Return the reader for a file of so many rows; the processes that it starts end with the context."""
    if n_rows < _ROWS_FOR_PROCESSES:
        yield Reader(audit)
        return
    with ExitStack() as stack:
        processes = [stack.enter_context(_process()) for _ in range(_PROCESSES)]
        yield SeveralReaders(processes, audit)


class _Process:
    """A process that reads; each batch that was sent has to be received before the next one is sent."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        assert running.stdin is not None
        assert running.stdout is not None
        self._input, self._output, self.running = running.stdin, running.stdout, running

    def send(self, content: Reader | Sequence[_Asked]) -> None:
        try:
            pickle.dump(content, self._input, pickle.HIGHEST_PROTOCOL)
            self._input.flush()
        except BrokenPipeError:
            raise _ended() from None

    def receive(self) -> list[ResponseRow]:
        try:
            rows: list[ResponseRow] = pickle.load(self._output)  # noqa: S301 (our own process wrote it)
        except _CUT_OFF:
            raise _ended() from None
        return rows


def _ended() -> BiasledgerError:
    return BiasledgerError(
        "A process that reads the answers ended too early, and nothing was imported; import the file again."
    )


@contextmanager
def _process() -> Iterator[_Process]:
    # -P: a package of the same name in the working directory is not imported. In a session of its own, Ctrl-C ends this process,
    # whose end closes the pipes.
    command = [sys.executable, "-P", "-m", __name__]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield _Process(running)
    finally:
        running.kill()
        running.communicate()


def _serve() -> None:
    """Read batches from standard input until it ends, or until the reader of the rows is gone."""
    batches, results = sys.stdin.buffer, sys.stdout.buffer
    # The process that started this one wrote all that is loaded here.
    with suppress(*_CUT_OFF, BrokenPipeError):
        reader: Reader = pickle.load(batches)  # noqa: S301 (see above)
        # While that process still writes the prompts.
        reader.prepare()
        while True:
            rows = reader.rows(pickle.load(batches))  # noqa: S301 (see above)
            pickle.dump(rows, results, pickle.HIGHEST_PROTOCOL)
            results.flush()
    # Otherwise Python would try again to write the rows at exit, and report an error.
    os._exit(0)


def _with_prompts(found: Sequence[PlannedAnswer], known: Mapping[int, KnownPrompt]) -> list[_Asked]:
    prompts = (known[one.prompt_number] for one in found)
    return [(prompt.prompt_id, prompt.content_hash, one) for prompt, one in zip(prompts, found, strict=True)]


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


if __name__ == "__main__":
    _serve()
