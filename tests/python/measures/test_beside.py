"""Test the worker process that computes measures: same numbers, and a fallback to this process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasledger.measures.comparisons import Comparison
from biasledger.measures.schema import Table
from biasledger.measures.words.judged import classifier_accuracies, divergences, word_statistics
from biasledger.model_inputs import beside as module
from biasledger.model_inputs.beside import LEAST_BYTES, MOST_BYTES, Beside, Parcel, Unmeasured
from biasledger.model_inputs.models import measured
from tests.python.measures.simulated_texts import comparison, corpus

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Beside]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(module, "LEAST_BYTES", 0)
    process = Beside()
    monkeypatch.setattr(module, "beside", process)
    yield process
    process.end()


def compared(n: int = 3, **settings) -> list[Comparison]:
    return [
        comparison(*corpus(np.random.default_rng(seed), 12, 12), key=f"c{seed}", **settings)
        for seed in range(n)
    ]


def of_bytes(n: int) -> Comparison[np.ndarray]:
    return Comparison(key="k", name=("k",), units=np.arange(n, dtype=np.uint8))


def pids(comparisons) -> Table:
    return Table({"pid": np.array([os.getpid() for _ in comparisons])})


def pools(comparisons) -> Table:
    from scipy import linalg
    from threadpoolctl import threadpool_info

    assert linalg
    return Table(
        {"n": np.array([max(pool["num_threads"] for pool in threadpool_info()) for _ in comparisons])}
    )


def changed(comparisons) -> Table:
    """Writes to what it is given, and where a library would print."""
    print("nothing for whoever reads results")  # noqa: T201
    for one in comparisons:
        np.add(one.units, 1, out=one.units)
    return Table({"sum": np.array([int(one.units.sum()) for one in comparisons])})


def failing(comparisons) -> Table:
    raise ValueError(f"comparison {next(iter(comparisons)).key}: it is odd")


class OddError(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} is not {second}")


def failing_oddly(_) -> Table:
    raise OddError(1, 2)


def ending(_) -> Table:
    os._exit(9)


def waiting(comparisons) -> Table:
    """Opening a pipe waits until its other end is opened."""
    (one,) = comparisons
    (one.units / "begun").open("w").close()
    (one.units / "end").open().close()
    return Table({})


def endless(_) -> Table:
    threading.Event().wait()
    return Table({})


@pytest.mark.parametrize("measure", [word_statistics, divergences, classifier_accuracies])
def test_numbers_are_the_same(worker, measure):
    there = measured(measure, compared()).to_pandas()
    assert worker._process is not None
    pd.testing.assert_frame_equal(there, measure(compared()).to_pandas())


def test_the_outputs_of_one_measure_come_back(worker):
    there, here = ([replace(one, handed={}) for one in compared(2)] for _ in range(2))
    for measure in word_statistics, divergences:
        pd.testing.assert_frame_equal(measured(measure, there).to_pandas(), measure(here).to_pandas())
        assert [list(one.handed) for one in there] == [list(one.handed) for one in here]
        # The second measure uses the results of the first, which are freed then.
        assert all(len(one.handed) == (measure is word_statistics) for one in here)


def test_arrays_can_be_written_to_and_what_is_printed_is_no_answer(worker, capfd):
    assert measured(changed, [of_bytes(3)]).columns["sum"].tolist() == [6]
    assert "nothing for whoever" in capfd.readouterr().err


def test_the_first_that_it_measures_is_on_one_thread_too(worker):
    """Loading the linear algebra libraries does not start more threads."""
    assert [measured(pools, [of_bytes(1)]).columns["n"].tolist() for _ in range(2)] == [[1], [1]]


def test_it_is_another_process_and_one_for_all(worker):
    there = {int(pid) for _ in range(2) for pid in measured(pids, [of_bytes(1)] * 2).columns["pid"]}
    assert len(there) == 1
    assert there != {os.getpid()}


@pytest.mark.parametrize("n_bytes", [1, LEAST_BYTES // 2, MOST_BYTES + 1])
def test_little_and_much_is_measured_here(worker, monkeypatch, n_bytes):
    monkeypatch.setattr(module, "LEAST_BYTES", LEAST_BYTES)
    comparisons = [of_bytes(n_bytes), of_bytes(1)]
    assert measured(pids, comparisons).columns["pid"].tolist() == [os.getpid()] * 2
    assert worker._process is None


def test_comparisons_that_cannot_be_pickled_are_each_measured_once_and_in_order(worker):
    keys = []

    def measure(comparisons):  # not to be found in another process
        keys.extend(one.key for one in comparisons)
        return Table({})

    comparisons = compared(5)
    measured(measure, iter(comparisons))
    comparisons[2] = Comparison(key="c2", name=("c2",), units=lambda: "cannot be pickled")
    measured(measure, iter(comparisons))
    assert keys == ["c0", "c1", "c2", "c3", "c4"] * 2


def test_a_large_one_is_not_kept_while_it_is_measured(worker):
    """A comparison that was read to see whether it can be pickled is freed when the measure is done with it."""
    alive = []

    class Large:
        def __reduce__(self):
            raise TypeError("cannot be pickled")

        def __del__(self):
            alive.remove(id(self))

    def one():
        large = Large()
        alive.append(id(large))
        return large

    def measure(comparisons):
        for given in comparisons:
            del given
            assert len(alive) <= 1
        return Table({})

    measured(measure, (one() for _ in range(4)))
    assert not alive


def test_an_error_is_raised_as_it_was_with_where_it_was(worker):
    with pytest.raises(ValueError, match=r"^comparison c0: it is odd$") as raised:
        measured(failing, compared(1))
    assert "in failing" in str(raised.value.__cause__)
    # An error that cannot be pickled is reported as text, and the worker goes on.
    with pytest.raises(RuntimeError, match=r"^OddError: 1 is not 2$"):
        measured(failing_oddly, compared(1))
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() != [os.getpid()]


def test_a_measure_that_it_does_not_know_is_measured_here(worker, monkeypatch):
    only_here = types.ModuleType("known_only_here")
    monkeypatch.setitem(sys.modules, only_here.__name__, only_here)

    def unknown(comparisons) -> Table:
        return pids(comparisons)

    unknown.__module__, unknown.__qualname__ = only_here.__name__, "unknown"
    only_here.unknown = unknown
    assert measured(unknown, [of_bytes(1)]).columns["pid"].tolist() == [os.getpid()]
    assert worker._process is not None


def test_where_it_cannot_begin_all_is_measured_here(worker, monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "/no/such/program")
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() == [os.getpid()]


class Odd:
    """Cannot be pickled, or not be unpickled."""

    def __init__(self, *, there: bool) -> None:
        self._there = there

    def __reduce__(self):
        if not self._there:
            raise ValueError("not from here")
        return _refused, ()


def _refused():
    if "serve" in " ".join(sys.orig_argv):
        raise ValueError("not there")


@pytest.mark.parametrize("there", [False, True])
def test_what_cannot_be_pickled_is_measured_here_and_the_next_one_there(worker, there):
    odd = Comparison(key="k", name=("k",), units=Odd(there=there))
    assert measured(pids, [odd]).columns["pid"].tolist() == [os.getpid()]
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() != [os.getpid()]


def test_progress_is_reported_for_comparisons_measured_here(worker):
    begun = []

    def tell(comparisons):
        for one in comparisons:
            begun.append(one.key)
            yield one

    comparisons = [Comparison(key=key, name=("k",), units=np.zeros(1)) for key in "ab"]
    measured(pids, comparisons, tell)
    assert begun == []
    worker.end()
    measured(pids, comparisons, tell)
    assert begun == ["a", "b"]


def test_what_the_worker_cannot_finish_is_measured_here(worker, monkeypatch):
    parcel = Parcel()
    parcel.add(of_bytes(1))
    with pytest.raises(Unmeasured, match="has ended"):
        worker.measured(ending, parcel)
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() == [os.getpid()]


def test_while_it_is_busy_others_measure_here(worker, tmp_path):
    for name in ("begun", "end"):
        os.mkfifo(tmp_path / name)
    busy = threading.Thread(
        target=measured, args=(waiting, [Comparison(key="k", name=("k",), units=tmp_path)])
    )
    busy.start()
    (tmp_path / "begun").open().close()
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() == [os.getpid()]
    (tmp_path / "end").open("w").close()
    busy.join()
    assert measured(pids, [of_bytes(1)]).columns["pid"].tolist() != [os.getpid()]


def test_it_ends_with_the_one_that_began_it_whatever_it_measures():
    program = (
        "from biasledger.model_inputs import beside\n"
        "from tests.python.measures.test_beside import endless, of_bytes, pids\n"
        "from biasledger.model_inputs.models import measured\n"
        "beside.LEAST_BYTES, beside.beside = 0, beside.Beside()\n"
        "print(measured(pids, [of_bytes(1)]).columns['pid'][0], flush=True)\n"
        "measured(endless, [of_bytes(1)])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as began:
        assert began.stdout is not None
        assert began.stderr is not None
        assert int(began.stdout.readline()) != began.pid
        began.kill()
        # Both write there: it ends when both have ended.
        assert began.stderr.read() == ""
