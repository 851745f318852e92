"""A ledger with an imported run, and one with a collected run and its journal."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.verify import verify_ledger
from collector.importers.tabular import import_file
from collector.journal.chain import Seal
from collector.journal.reader import journal_path
from collector.journal.records import AnalysisSettings
from collector.journal.writer import JournalWriter
from collector.ledger.database import Ledger
from collector.ledger.loading import load_journal
from collector.rows import ResponseRow, response_hash
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from tests.python.rows import a_run
from tests.python.running import rows_in

AUDIT = """
audit: small
templates:
  - {id: one, text: 'Recommend products for {a race} {gender}.'}
attributes:
  race: {reference: White, groups: [White, Asian]}
  gender: {reference: Man, groups: [Man, Woman]}
trials: 3
answer: {kind: text}
import:
  columns:
    text: answer
    prompt: question
    attributes: {race: race, gender: gender}
"""
# Without it no run is taken for one of before chains were kept: this version's ledgers have had them from their first day.
CHAINS_CAME_LATER = "update raw.schema_migrations set applied_at = '2100-01-01' where version = 5"
# Text that compression cannot hide: the files contain an answer's bytes unchanged.
SECRET = "Jörg Bäcker, born 1971-03-09, lives at 17 Quince Lane; phone 0171-5550199 🙂"


@dataclass(frozen=True)
class Kept:
    """A run in a ledger. `prompts` are its prompt_ids, each of which was asked three times."""

    ledger_path: Path
    run_id: str
    seal: Seal
    prompts: tuple[str, ...]

    @property
    def journal(self) -> Path:
        return journal_path(self.ledger_path, self.run_id)

    def change(self, *statements: str) -> None:
        """Do what a person with the file and a DuckDB shell could do."""
        with duckdb.connect(str(self.ledger_path)) as connection:
            for statement in statements:
                before = connection.execute(statement).fetchall()
                # A change that finds nothing would prove nothing.
                assert before != [(0,)], statement

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return rows_in(self.ledger_path, sql)

    def state(self, seal: Seal | None = None) -> str:
        """What `verify` finds of the run: `intact`, or `broken: ` and the first fault."""
        (verdict,) = verify_ledger(self.ledger_path, [self.run_id], seal)
        return f"{verdict.state}: {verdict.fault}" if verdict.fault else verdict.state


def write_audit(folder: Path, text: str = AUDIT) -> Path:
    path = folder / "audit.yml"
    path.write_text(text, encoding="utf-8")
    return path


def answer_of(number: int) -> str:
    return SECRET if number == 4 else f"Answer {number}: é, \"quotes\"\n\tand 'more' {number * 7919}"


def import_answers(folder: Path) -> Kept:
    path = write_audit(folder)
    rows = ["question,race,gender,answer"]
    numbered = iter(range(1, 13))
    for race in ("White", "Asian"):
        for gender in ("Man", "Woman"):
            for _ in range(3):
                answer = answer_of(next(numbered)).replace('"', '""')
                rows.append(f'For {race} {gender}?,{race},{gender},"{answer}"')
    file = folder / "answers.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    ledger_path = folder / "ledger.duckdb"
    summary = import_file(load_audit(path), path, file, ledger_path)
    file.unlink()
    assert summary.seal is not None
    return _kept(ledger_path, summary.run_id, summary.seal)


def collect_answers(
    folder: Path, run_id: str = "small-model-1", *, load: bool = True, text: str = AUDIT
) -> Kept:
    """Keep answers as the runner does: in the journal first, then in the ledger."""
    audit = load_audit(write_audit(folder, text))
    ledger_path = folder / "ledger.duckdb"
    prompts = build_prompts(audit)
    run = a_run(
        run_id,
        spec=audit.asked(),
        target="model",
        target_kind="openai",
        is_simulated=False,
        model_asked="m-1",
        parameters={"temperature": 0.7, "top_p": None},
        versions={"biasledger": "0"},
    )
    writer = JournalWriter.create(
        journal_path(ledger_path, run_id),
        run,
        AnalysisSettings("small", audit.analysis_document(), run.started_at),
        prompts,
        {"ledger": ledger_path.name, "prompts": len(prompts), "planned": 3 * len(prompts)},
    )
    with writer:
        number = 0
        for prompt in prompts:
            rows = []
            for trial in range(1, 4):
                number += 1
                rows.append(a_response(prompt.prompt_id, prompt.content_hash, trial, number))
            writer.append(rows)
        writer.event("finished", {"responses": number})
        seal = writer.seal
    Ledger(ledger_path).create()
    if load:
        load_journal(writer.path, Ledger(ledger_path))
    return Kept(ledger_path, run_id, seal, tuple(prompt.prompt_id for prompt in prompts))


def a_response(prompt_id: str, prompt_hash: str, trial: int, number: int) -> ResponseRow:
    """Every third answer fails, so that all columns are null once and filled once."""
    text = None if number % 3 == 0 else answer_of(number)
    status = "error" if text is None else "ok"
    return ResponseRow(
        prompt_id=prompt_id,
        trial=trial,
        attempt=1,
        seq=0,
        status=status,
        content_hash=response_hash(prompt_hash, status, text),
        response_text=text,
        answer_text=text,
        raw_body=None if text is None else f'{{"id": {number}, "text": "{text}"}}',
        finish_reason=None if text is None else "stop",
        model_answered=None if text is None else "m-1-2026",
        prompt_tokens=None if text is None else 11,
        completion_tokens=None if text is None else number,
        latency_ms=None if text is None else 0.1 * number,
        error="the service did not answer" if text is None else None,
        requested_at=datetime(2026, 1, 1) + timedelta(milliseconds=500 * number),
    )


def _kept(ledger_path: Path, run_id: str, seal: Seal) -> Kept:
    found = rows_in(ledger_path, "select prompt_id from raw.prompts order by rowid")
    return Kept(ledger_path, run_id, seal, tuple(one for (one,) in found))


Keep = Callable[[Path], Kept]


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Keep, Path], Kept]:
    """A copy, in a folder, of what a function keeps; made once, as every ledger takes a while."""
    made: dict[Keep, Kept] = {}

    def copied(keep: Keep, folder: Path) -> Kept:
        if keep not in made:
            made[keep] = keep(tmp_path_factory.mktemp("kept"))
        kept = made[keep]
        shutil.copytree(kept.ledger_path.parent, folder, dirs_exist_ok=True)
        return replace(kept, ledger_path=folder / kept.ledger_path.name)

    return copied


@pytest.fixture
def imported(copied: Callable[[Keep, Path], Kept], tmp_path: Path) -> Kept:
    return copied(import_answers, tmp_path)


@pytest.fixture
def collected(copied: Callable[[Keep, Path], Kept], tmp_path: Path) -> Kept:
    return copied(collect_answers, tmp_path)


@pytest.fixture(params=[import_answers, collect_answers], ids=["imported", "collected"])
def kept(request: pytest.FixtureRequest, copied: Callable[[Keep, Path], Kept], tmp_path: Path) -> Kept:
    return copied(request.param, tmp_path)
