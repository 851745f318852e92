"""Test the names by which people select runs of a ledger and its journals."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasledger.cli import cli
from biasledger.comparing.ledger_runs import run_in_journals, run_in_ledger
from collector.asking.runner import CollectOptions, collect
from collector.errors import InputError
from collector.journal.reader import journal_path
from collector.ledger.retraction import retract
from collector.spec.loading import load_audit
from collector.targets.python_function import of_function

AUDIT = """
audit: {name}
templates: [{{id: one, text: 'A present for {{a race}} person.'}}]
attributes: {{race: {{reference: White, groups: [White, Black]}}}}
trials: 15
answer: {{kind: text}}
"""


def asked(folder: Path, name: str) -> str:
    spec = folder / f"{name}.yml"
    spec.write_text(AUDIT.format(name=name), encoding="utf-8")

    def answer(prompt: str, system: str | None, seed: int | None) -> str:
        return "A book."

    target = of_function(answer, name="robot")
    return collect(
        load_audit(spec), target, folder / "ledger.duckdb", CollectOptions(show_progress=False)
    ).run_id


def test_what_names_mean(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.duckdb"
    assert run_in_ledger(ledger, "latest") == "latest", "whoever looks for it says that there is no ledger"
    with pytest.raises(
        InputError, match=r"^There is nothing to resume: no journal lies next to .*ledger\.duckdb"
    ):
        run_in_journals(ledger, "latest")
    first, second = asked(tmp_path, "small"), asked(tmp_path, "small")
    for named in (run_in_ledger, run_in_journals):
        assert named(ledger, "latest") == second
        assert named(ledger, "previous") == first
        assert named(ledger, first[:-1]) == first
        assert named(ledger, first) == first
        assert named(ledger, "nobody") == "nobody"
        with pytest.raises(InputError, match=r"'small' may mean .*: write more of the run's id\.$"):
            named(ledger, "small")
    retract(ledger, second, reason="wrong")
    assert run_in_ledger(ledger, "latest") == first
    other = asked(tmp_path, "other")
    for named in (run_in_ledger, run_in_journals):
        with pytest.raises(InputError, match=r"'latest' may mean .*: name one by its id\.$"):
            named(ledger, "latest")
        assert named(ledger, "oth") == other


def biasledger(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_commands_take_them(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.duckdb"
    run = asked(tmp_path, "small")
    assert f"{run}: intact" in biasledger("verify", "latest", "--ledger", ledger).stdout
    assert "nobody" in biasledger("verify", "nobody", "--ledger", ledger).stderr
    gone = biasledger("collect", "--resume", "nobody", "--ledger", ledger)
    assert gone.exit_code == 3
    targets = tmp_path / "targets.yml"
    targets.write_text("targets: {simulator: {kind: simulator}}", encoding="utf-8")
    foreign = biasledger("collect", "--resume", "latest", "--ledger", ledger, "--targets", targets)
    assert foreign.exit_code == 3
    assert f"Run {run} asked a Python function, " in foreign.stderr
    erased = biasledger(
        "erase", run[:8], "--prompt", "none", "--trial", "1", "--reason", "x", "--yes", "--ledger", ledger
    )
    assert erased.exit_code == 3
    assert f"{run}" in erased.stderr
    retracted = biasledger("retract", "latest", "--reason", "wrong spec", "--yes", "--ledger", ledger)
    assert retracted.exit_code == 0, retracted.stderr
    assert retracted.stdout.startswith(f"Retracted run {run};")
    assert journal_path(ledger, run).is_file()
