"""A process that measures beside the one that dbt's models run in.

Python runs one thread of a process at a time, and what dbt itself does for models of SQL takes most of that. So what is neither
little nor much goes to a process of its own, which begins with the first: the little is measured sooner than it could be handed
over, and the much costs more to hand over than that gains.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, NoReturn

LEAST_BYTES, MOST_BYTES = 2 * 2**20, 32 * 2**20
"""Of what a model compares, to be measured beside: a few hundred answers with their words, some thousand lists."""
# Libraries of linear algebra that are loaded while it measures have one thread, too; `one_thread` limits those that are.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
# What was measured, what each comparison hands on, and an error with its traceback, or None.
_Answer = tuple[Any, list[dict[str, Any] | None], BaseException | None, str]


class Unmeasured(Exception):  # noqa: N818 (it is no error: it is measured here then)
    """It cannot be measured beside: it is too small or too large, cannot be handed over, or the process is busy or has ended."""


@dataclass(frozen=True)
class _Packed:
    """An object, pickled; its arrays beside it, which can be written to where they are unpacked."""

    data: bytes
    arrays: list[bytearray]

    @property
    def n_bytes(self) -> int:
        return len(self.data) + sum(map(len, self.arrays))

    @classmethod
    def of(cls, thing: object, most: int) -> _Packed:
        """Pack it.

        Raises:
            Unmeasured: it takes more than so many bytes, or cannot be pickled.
        """
        arrays: list[pickle.PickleBuffer] = []
        try:
            data = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
        except Exception as error:  # whatever a class of a project's own does
            raise Unmeasured(str(error)) from error
        raw = [array.raw() for array in arrays]
        if len(data) + sum(array.nbytes for array in raw) > most:
            raise Unmeasured("It is too large.")
        return cls(data, [bytearray(array) for array in raw])

    def unpacked(self) -> Any:
        return pickle.loads(self.data, buffers=self.arrays)  # noqa: S301 (of our own process)


class Parcel:
    """Comparisons as they are handed over, one after another.

    handed: of each, what one measure of it hands on to another, or None; it is afterwards what it is there.
    """

    def __init__(self) -> None:
        self.packed: list[_Packed] = []
        self.handed: list[dict[str, Any] | None] = []
        self.n_bytes = 0

    def add(self, comparison: object) -> None:
        """Pack one more.

        Raises:
            Unmeasured: all are more than MOST_BYTES then, or it cannot be pickled.
        """
        packed = _Packed.of(comparison, MOST_BYTES - self.n_bytes)
        self.packed.append(packed)
        self.handed.append(getattr(comparison, "handed", None))
        self.n_bytes += packed.n_bytes


class _There(Exception):  # noqa: N818 (it stands for a traceback)
    """The traceback of what failed in the process beside, as text."""


class Beside:
    """The process, which measures one model's comparisons at a time. It ends when the one that began it does."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._in_use = threading.Lock()

    @property
    def is_free(self) -> bool:
        """Whether it would measure what is asked now: it measures nothing, and has not ended."""
        return not self._in_use.locked() and (self._process is None or self._process.poll() is None)

    def measured(self, measure: Callable[..., Any], parcel: Parcel) -> Any:
        """What the measure says of a parcel.

        Raises:
            Unmeasured: it is too small, or the process is busy, has ended or does not know the measure.
            Exception: what the measure raised.
        """
        if parcel.n_bytes < LEAST_BYTES:
            raise Unmeasured("It is too small.")
        # Whoever waited would leave the processor to nobody: dbt's other thread waits already.
        if not self._in_use.acquire(blocking=False):
            raise Unmeasured("The process is busy.")
        try:
            found, handed, error, trace = self._answer((_Packed.of(measure, MOST_BYTES).data, parcel.packed))
        finally:
            self._in_use.release()
        if error is not None:
            try:
                raise error from (None if isinstance(error, Unmeasured) else _There(trace))
            finally:
                # Held by its own traceback, it would hold the parcel.
                del error
        for ours, theirs in zip(parcel.handed, handed, strict=True):
            if ours is not None and theirs is not None:
                for used in ours.keys() - theirs.keys():
                    del ours[used]
                ours.update(theirs)
        return found

    def _answer(self, asked: object) -> _Answer:
        try:
            if self._process is None:
                # Not as its main module, whose classes would be others than these.
                command = [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"]
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **_ONE_THREAD}
                )
            asks, answers = self._process.stdin, self._process.stdout
            assert asks is not None
            assert answers is not None
            pickle.dump(pickle.dumps(asked, protocol=5), asks)
            asks.flush()
            # What cannot be unpickled leaves nothing for the next answer.
            given: bytes = pickle.load(answers)  # noqa: S301 (of our own process)
            answer: _Answer = pickle.loads(given)  # noqa: S301
        except Exception as error:
            raise Unmeasured(
                "The process cannot begin, has ended, or says what is not known here."
            ) from error
        return answer

    def end(self) -> None:
        """End it, if it has begun, and wait until it has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


beside: Beside | None = None
"""The one of this process; None where everything is measured here, as where dbt is run by hand."""


def defer_f2py() -> None:
    """Have numpy's compiler of Fortran imported when something of it is used: scipy asks numpy for all of its modules.

    Called before scipy is imported; afterwards, or in a numpy that has no such module, it does nothing.
    """
    import numpy as np

    name = "numpy.f2py"
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # As an import would: without it numpy looks for the module once more.
    np.f2py = module


def serve() -> NoReturn:
    """Measure what comes on standard input, until that ends; whatever is being measured then is given up."""
    # Ctrl-C reaches the terminal's processes all at once. Ours ends with the one that began it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    defer_f2py()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Nothing that a library prints gets in between.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, asked), daemon=True).start()
    while True:
        pickle.dump(_answer(asked.get()), answers)
        answers.flush()


def _read(stream: IO[bytes], asked: queue.SimpleQueue[bytes]) -> None:
    try:
        while True:
            asked.put(pickle.load(stream))  # noqa: S301 (of our own process)
    except (EOFError, pickle.UnpicklingError):
        os._exit(0)


def _answer(asked: bytes) -> bytes:
    try:
        of_measure, packed = pickle.loads(asked)  # noqa: S301 (of our own process)
        measure = pickle.loads(of_measure)  # noqa: S301
        comparisons = [one.unpacked() for one in packed]
    except Exception as error:  # noqa: BLE001 (whatever it is, it is measured where it was asked for)
        return _answered(error=Unmeasured(str(error)))
    from biasledger.model_inputs.one_thread import one_thread

    try:
        with one_thread():
            found = measure(comparisons)
        return _answered(found, [getattr(one, "handed", None) for one in comparisons])
    except Exception as error:  # noqa: BLE001 (whatever it is, it is raised where it was asked for)
        return _answered(error=_sendable(error), trace=traceback.format_exc())


def _answered(
    found: object = None,
    handed: Sequence[dict[str, Any] | None] = (),
    error: Exception | None = None,
    trace: str = "",
) -> bytes:
    return pickle.dumps((found, list(handed), error, trace), protocol=5)


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    except Exception:  # noqa: BLE001 (whatever it is)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
