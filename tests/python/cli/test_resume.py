"""Test that stopped runs are resumed, listed, and loaded by the next build."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.journal.reader import journal_folder, journal_path
from collector.journal.writer import JournalWriter
from tests.python.cli.conftest import query
from tests.python.running import biasledger

AUDIT = "audits/products.yml"


def cut(folder: Path, n_responses: int) -> str:
    """Make as if the only run had been killed after so many responses, and its ledger lost; return the run."""
    (path,) = journal_folder(folder / "ledger.duckdb").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    head = [line for line in lines if b'"kind":"response"' not in line and b'"event":"finished"' not in line]
    responses = [line for line in lines if b'"kind":"response"' in line][:n_responses]
    path.write_bytes(b"".join([*head, *responses]) + b'{"body":{"answer_text"')
    (folder / "ledger.duckdb").unlink()
    return path.stem


def assert_listed(output: str, *parts: str) -> None:
    """A table's cells may be folded where it is narrow."""
    words = " ".join(output.split())
    for part in parts:
        assert part in words


def test_a_killed_run_is_listed_and_resumed(thin: Path) -> None:
    biasledger("collect", AUDIT, "--target", "simulator")
    run = cut(thin, 100)
    listed = biasledger("runs", code=0)
    # Asked, kept, planned, and what the ledger lacks: run, reading, start, 120 prompts and 100 responses.
    assert_listed(listed.output, run, "100 100 240 started, not", "223 ahead")
    # The audit's file is not needed.
    (thin / AUDIT).unlink()
    resumed = biasledger("collect", "--resume", run, code=0)
    assert f"Run {run}, products, target simulator (simulated):" in resumed.output
    assert "120 prompts, 240 responses" in resumed.output
    assert "Next: biasledger build" in resumed.output
    assert query("select count(*), count(distinct (prompt_id, trial)) from raw.responses") == [(240, 240)]
    assert biasledger("verify").exit_code == 0
    listed = biasledger("runs")
    assert_listed(listed.output, run, "240 240 240 finished")
    assert "ahead" not in listed.output
    again = biasledger("collect", "--resume", run, code=0)
    assert again.stderr == f"Warning: Run {run} was complete before, so nothing was asked.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--resume", "RUN", AUDIT), "--resume takes the questions from the run's journal; leave AUDIT.yml out."),
        (("--resume", "RUN", "--trials", "3"), "--resume takes the questions from the run's journal; leave --trials out."),
        (("--resume", "RUN", "--target", "simulator"),
         "--resume takes the questions from the run's journal; leave --target out."),
        ((AUDIT, "--target", "simulator", "--retry-failed"), "--retry-failed goes with --resume RUN."),
        ((AUDIT,), "--target NAME is missing: say what to ask whom, or --resume RUN."),
        (("--target", "simulator"), "AUDIT.yml is missing: say what to ask whom, or --resume RUN."),
        (("--resume", "../x"), "'../x' is no run's name; `biasledger runs` lists the runs."),
        (("--resume", "products-1"),
         ("There is no journal journal/products-1.jsonl; `biasledger runs` lists the runs, and --ledger says next to which "
          "ledger their journals are.")),
    ],
)  # fmt: skip
def test_wrong_ways_to_resume(thin: Path, arguments: tuple[str, ...], message: str) -> None:
    result = biasledger("collect", *arguments, code=3)
    assert result.stderr.endswith(f"Error: {message}\n")
    assert not (thin / "ledger.duckdb").exists()
    assert not (thin / "journal").exists()


def test_a_target_that_was_changed_is_refused(thin: Path) -> None:
    biasledger("collect", AUDIT, "--target", "simulator")
    run = cut(thin, 50)
    targets = thin / "targets.yml"
    targets.write_text("targets: {simulator: {kind: simulator, seed: 8}}\n", encoding="utf-8")
    result = biasledger("collect", "--resume", run, code=3)
    assert "The target 'simulator' has another" in result.stderr
    assert f"than run {run} was begun with" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_that_is_being_collected_is_left_alone(thin: Path) -> None:
    biasledger("collect", AUDIT, "--target", "simulator")
    run = cut(thin, 50)
    with JournalWriter.resume(journal_path(thin / "ledger.duckdb", run)):
        result = biasledger("collect", "--resume", run, code=3)
        assert f"Error: Run {run} is being collected by another process" in result.stderr
        listed = biasledger("runs")
    assert_listed(listed.output, run, "50 50 240 being collected;", "173 ahead")


@pytest.mark.slow
def test_a_build_loads_what_the_ledger_lacks(small_project: Path) -> None:
    biasledger("collect", AUDIT, "--target", "simulator", "--trials", "2")
    run = cut(small_project, 20)
    built = biasledger("build")
    assert built.exit_code in {0, 1}, built.stderr
    assert f"Run {run}: 143 records loaded from its journal." in built.output
    assert f"`biasledger collect --resume {run}` asks for it again." in built.output
    assert query("select count(*) from raw.responses") == [(20,)]
    built = biasledger("build")
    assert "records loaded" not in built.output
