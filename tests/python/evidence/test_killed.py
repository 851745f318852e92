"""Programs that are killed while they import, load a journal or erase: all or nothing is done, and doing it again finishes it."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from biasledger.verify import verify_ledger
from collector.errors import BiasledgerError
from collector.importers.tabular import import_file
from collector.ledger.erasure import erase
from collector.ledger.loading import load_all
from collector.spec.loading import load_audit
from tests.python.running import run_python

from .conftest import Kept, collect_answers, import_answers, write_audit

pytestmark = pytest.mark.slow

N_MOMENTS = 8
N_ANSWERS = 40
# Does the work in the first folder to its end and counts statements and changes of files; in each other folder it kills the
# process that does it at one of these, evenly spread. Prints the exit statuses.
PROGRAM = """
import functools, os, signal, sys
from pathlib import Path
import duckdb
from collector.importers.tabular import import_file
from collector.ledger.erasure import erase
from collector.ledger.loading import load_all
from collector.spec.loading import load_audit

audit, ledger = Path("audit.yml"), Path("ledger.duckdb")
n = moment = 0

def counted(holder, name):
    inner = getattr(holder, name)
    @functools.wraps(inner)
    def call(*args, **given):
        global n
        n += 1
        if n == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return inner(*args, **given)
    setattr(holder, name, call)

for name in ("execute", "executemany", "commit"):
    counted(duckdb.DuckDBPyConnection, name)
for name in ("fsync", "replace", "rename", "unlink"):
    counted(os, name)

def status(folder):
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        WORK
        Path("events").write_text(str(n))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

undisturbed, *folders = sys.argv[1:]
print(status(undisturbed))
n_events = int(Path(undisturbed, "events").read_text())
for number, folder in enumerate(folders, start=1):
    moment = max(1, n_events * number // len(folders))
    print(status(folder))
"""


def killed(kept: Kept, work: str, tmp_path: Path) -> Iterator[Kept]:
    """Copies of a ledger's folder, in each of which the work was killed at another moment, the last one at its last event."""
    folders = [tmp_path / str(number) for number in range(N_MOMENTS + 1)]
    for folder in folders:
        shutil.copytree(kept.ledger_path.parent, folder)
    done = run_python("-c", PROGRAM.replace("WORK", work), *folders, OMP_NUM_THREADS="1")
    assert done.stdout.split() == ["0", *[str(-signal.SIGKILL)] * N_MOMENTS], done.stderr
    for folder in folders[1:]:
        yield replace(kept, ledger_path=folder / kept.ledger_path.name)


def is_intact(kept: Kept) -> bool:
    return {one.state for one in verify_ledger(kept.ledger_path)} == {"intact"}


def test_an_import(copied: Callable[..., Kept], tmp_path: Path) -> None:
    start = copied(collect_answers, tmp_path / "start")
    rows = [f"Who?,{race},Man,Answer {n}" for race in ("White", "Asian") for n in range(N_ANSWERS // 2)]
    answers = start.ledger_path.with_name("answers.csv")
    answers.write_text("\n".join(["question,race,gender,answer", *rows]), encoding="utf-8")
    spec = write_audit(answers.parent)
    work = "import_file(load_audit(audit), audit, Path('answers.csv'), ledger)"
    n_imported = (
        f"select count(*), count(distinct run_id) from raw.responses where run_id <> '{start.run_id}'"
    )
    for kept in killed(start, work, tmp_path):
        assert kept.query(n_imported) in ([(0, 0)], [(N_ANSWERS, 1)])
        with suppress(BiasledgerError):  # it was imported before
            import_file(load_audit(spec), spec, answers, kept.ledger_path)
        assert kept.query(n_imported) == [(N_ANSWERS, 1)]
        assert is_intact(kept)


def test_loading_a_journal(copied: Callable[..., Kept], tmp_path: Path) -> None:
    start = copied(collect_answers, tmp_path / "start")
    start.ledger_path.unlink()
    for kept in killed(start, "load_all(ledger)", tmp_path):
        load_all(kept.ledger_path)
        assert kept.query("select count(*), count(distinct seq) from raw.responses") == [(12, 12)]
        assert kept.query("select head_hash from raw.seals") == [(kept.seal.head_hash,)]
        assert is_intact(kept)


@pytest.mark.parametrize("keep", [import_answers, collect_answers], ids=["imported", "collected"])
def test_an_erasure(copied: Callable[..., Kept], tmp_path: Path, keep: Callable[[Path], Kept]) -> None:
    start = copied(keep, tmp_path / "start")
    [(prompt_id, trial)] = start.query("select prompt_id, trial from raw.responses where seq = 4")
    n_erased = "select count(*), count(*) filter (response_text is null and status = 'ok') from raw.responses"
    work = f"erase(ledger, '{start.run_id}', '{prompt_id}', {trial}, reason='a name')"
    for kept in killed(start, work, tmp_path):
        assert kept.query(n_erased) in ([(12, 0)], [(12, 1)])
        erase(kept.ledger_path, kept.run_id, prompt_id, trial, reason="a name")
        assert kept.query(n_erased) == [(12, 1)]
        assert kept.query("select count(*) from raw.erasures") == [(1,)]
        assert is_intact(kept)
