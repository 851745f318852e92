"""Test that a retracted run stays as evidence, is left out of all results, and is marked in the chain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasledger.building.analysis_settings import register_analysis_settings
from biasledger.comparing.baselines import list_baselines, set_baseline
from biasledger.publishing.erasures import hash_erasures
from biasledger.verify import verify_ledger
from collector.asking.runner import resume
from collector.errors import InputError, LedgerError
from collector.importers.tabular import import_file
from collector.journal.writer import JournalWriter
from collector.ledger import events
from collector.ledger.database import Ledger
from collector.ledger.retraction import retract
from collector.ledger.scorable import answers_to_score
from collector.spec.loading import load_audit
from collector.targets.python_function import of_function
from tests.python.evidence.conftest import (
    AUDIT,
    CHAINS_CAME_LATER,
    Kept,
    collect_answers,
    import_answers,
    write_audit,
)
from tests.python.running import biasledger

REASON = "the spec took the columns for each other"
VIEWS = ("runs", "run_events", "prompts", "prompt_attributes", "responses", "response_scores")


def test_what_is_kept_stays_and_what_is_read_has_nothing_of_it(kept: Kept) -> None:
    tables = ("runs", "prompts", "prompt_attributes", "responses")
    before = [kept.query(f"from raw.{table} order by all") for table in tables]
    assert all(before)

    done = retract(kept.ledger_path, kept.run_id, reason=f" {REASON} ")

    assert [kept.query(f"from raw.{table} order by all") for table in tables] == before
    assert [view for view in VIEWS if kept.query(f"from raw.kept_{view}")] == []
    assert kept.query("select run_id, reason from raw.retracted_runs") == [(kept.run_id, REASON)]
    assert done.seal is not None
    assert done.seal.count == kept.seal.count + 1
    assert not done.was_retracted
    for seal in (None, done.seal, kept.seal):
        assert kept.state(seal) == "intact"
    ((day,),) = kept.query("select cast(retracted_at as date) from raw.retracted_runs")
    (verdict,) = verify_ledger(kept.ledger_path)
    assert verdict.notes == (f"it was retracted on {day} and counts for nothing any more: {REASON}",)

    again = retract(kept.ledger_path, kept.run_id, reason="another")
    assert again.was_retracted
    assert again.seal == done.seal
    assert kept.query("select reason from raw.retracted_runs") == [(REASON,)]


def test_the_others_are_read_as_before(imported: Kept) -> None:
    path = imported.ledger_path.parent / "other.csv"
    path.write_text("question,race,gender,answer\nWho?,White,Man,Jane\n", encoding="utf-8")
    spec = write_audit(path.parent)
    other = import_file(load_audit(spec), spec, path, imported.ledger_path)
    retract(imported.ledger_path, imported.run_id, reason=REASON)
    for view in VIEWS[:5]:
        assert imported.query(f"select distinct run_id from raw.kept_{view}") == [(other.run_id,)]
    assert [verdict.state for verdict in verify_ledger(imported.ledger_path)] == ["intact", "intact"]


READ_WRONG, READ_OTHER = (
    AUDIT + f"analysis: {{crossed: [{crossed}]}}\n" for crossed in ("race*gender", "gender*race")
)


def read_by(kept: Kept) -> str:
    """The analysis of the audit in force, as the models take it."""
    ((analysis,),) = kept.query(
        "select analysis from raw.analysis_settings order by registered_at desc limit 1"
    )
    return str(json.loads(analysis)["crossed"])


def read_by_of(kept: Kept) -> str:
    """The hash of the analysis in force."""
    ((found,),) = kept.query(
        "select analysis_hash from raw.analysis_settings order by registered_at desc limit 1"
    )
    return str(found)


def import_by(kept: Kept, text: str, name: str) -> str:
    path = kept.ledger_path.parent / f"{name}.csv"
    path.write_text(f"question,race,gender,answer\nWho?,White,Man,{name}\n", encoding="utf-8")
    spec = write_audit(path.parent, text)
    return import_file(load_audit(spec), spec, path, kept.ledger_path).run_id


def test_the_reading_of_a_wrong_spec_goes_with_its_run(imported: Kept) -> None:
    before = read_by(imported)
    wrong = import_by(imported, READ_WRONG, "wrong")
    assert read_by(imported) != before

    assert retract(imported.ledger_path, wrong, reason=REASON).has_restored_analysis

    assert read_by(imported) == before
    kept = imported.query("select count(*) from raw.analysis_settings")
    assert kept == [(3,)], "nothing is removed"
    assert not retract(imported.ledger_path, wrong, reason=REASON).has_restored_analysis
    assert imported.query("select count(*) from raw.analysis_settings") == kept
    assert {verdict.state for verdict in verify_ledger(imported.ledger_path)} == {"intact"}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_readings_of_two_wrong_specs_go_in_any_order(imported: Kept, order: tuple[int, int]) -> None:
    before = read_by(imported)
    wrong = [import_by(imported, READ_WRONG, "wrong"), import_by(imported, READ_OTHER, "other")]
    for place in order:
        retract(imported.ledger_path, wrong[place], reason=REASON)
    assert read_by(imported) == before


def test_a_reading_that_others_go_by_stays(imported: Kept) -> None:
    wrong = [import_by(imported, READ_WRONG, name) for name in ("one", "two")]
    in_force = read_by(imported)
    assert not retract(imported.ledger_path, wrong[0], reason=REASON).has_restored_analysis
    assert read_by(imported) == in_force
    assert retract(imported.ledger_path, wrong[1], reason=REASON).has_restored_analysis
    assert read_by(imported) != in_force


def test_a_reading_that_an_audit_file_registered_stays(imported: Kept) -> None:
    project = imported.ledger_path.parent
    wrong = import_by(imported, READ_WRONG, "wrong")
    (project / "audits").mkdir()
    (project / "audits" / "small.yml").write_text(READ_OTHER, encoding="utf-8")
    assert register_analysis_settings(project, imported.ledger_path) == ["small"]
    in_force = read_by(imported)
    assert not retract(imported.ledger_path, wrong, reason=REASON).has_restored_analysis
    assert read_by(imported) == in_force


def test_a_hidden_retraction_is_found(kept: Kept) -> None:
    retract(kept.ledger_path, kept.run_id, reason=REASON)
    kept.change("delete from raw.run_events where event = 'retracted'")
    assert "broken: Event retracted" in kept.state()
    assert "is gone from raw.run_events" in kept.state()


def test_a_retraction_that_was_put_in_is_found(kept: Kept) -> None:
    detail = json.dumps({"reason": REASON})
    kept.change(
        f"insert into raw.run_events values ('{kept.run_id}', 'retracted', '{detail}', now()::timestamp)"
    )
    assert "is in raw.run_events and not in the chain: it was put in later" in kept.state()


def test_its_reason_is_chained(kept: Kept) -> None:
    retract(kept.ledger_path, kept.run_id, reason=REASON)
    kept.change("""update raw.run_events set detail = '{"reason": "x"}' where event = 'retracted'""")
    assert "was changed: its row does not match its hash" in kept.state()


def test_a_ledger_made_anew_from_the_journal_has_retracted_too(collected: Kept) -> None:
    from collector.ledger.loading import load_all

    retract(collected.ledger_path, collected.run_id, reason=REASON)
    collected.ledger_path.unlink()
    load_all(collected.ledger_path)
    assert collected.query("select reason from raw.retracted_runs") == [(REASON,)]
    assert collected.query("from raw.kept_runs") == []
    assert collected.state() == "intact"


def test_a_ledger_made_anew_from_journals_reads_as_before(tmp_path: Path) -> None:
    from collector.ledger.loading import load_all

    kept = collect_answers(tmp_path, "run-1")
    in_force = read_by_of(kept)
    collect_answers(tmp_path, "run-2", text=READ_WRONG)
    retract(kept.ledger_path, "run-2", reason=REASON)
    assert read_by_of(kept) == in_force
    analyses = kept.query(
        "select audit, analysis_hash, registered_at from raw.analysis_settings order by rowid"
    )
    assert len(analyses) == 3
    kept.ledger_path.unlink()
    load_all(kept.ledger_path)
    assert (
        kept.query("select audit, analysis_hash, registered_at from raw.analysis_settings order by rowid")
        == analyses
    )
    assert {verdict.state for verdict in verify_ledger(kept.ledger_path)} == {"intact"}
    # A run of after it keeps what the retracted one brought, and nothing is restored again.
    collect_answers(tmp_path, "run-3", text=READ_WRONG)
    analyses = kept.query(
        "select audit, analysis_hash, registered_at from raw.analysis_settings order by rowid"
    )
    kept.ledger_path.unlink()
    load_all(kept.ledger_path)
    anew = kept.query("select analysis_hash from raw.analysis_settings order by registered_at desc limit 1")
    assert anew == [(analyses[-1][1],)]


def test_a_run_of_before_chains_can_be_retracted(imported: Kept) -> None:
    imported.change(
        "delete from raw.chain",
        "delete from raw.seals",
        f"insert into raw.unchained_runs values ('{imported.run_id}')",
        CHAINS_CAME_LATER,
    )
    done = retract(imported.ledger_path, imported.run_id, reason=REASON)
    assert done.seal is None
    (verdict,) = verify_ledger(imported.ledger_path)
    assert verdict.state == "unsealed"
    assert verdict.notes[-1].endswith(f"counts for nothing any more: {REASON}")


def test_its_file_can_be_imported_again(tmp_path: Path) -> None:
    kept = import_answers(tmp_path)
    file = tmp_path / "answers.csv"
    file.write_text("question,race,gender,answer\nWho?,White,Man,Jane\n", encoding="utf-8")
    spec = write_audit(tmp_path)
    first = import_file(load_audit(spec), spec, file, kept.ledger_path)
    with pytest.raises(InputError, match="was imported for the audit 'small' before"):
        import_file(load_audit(spec), spec, file, kept.ledger_path)
    retract(kept.ledger_path, first.run_id, reason=REASON)
    second = import_file(load_audit(spec), spec, file, kept.ledger_path)
    assert second.run_id != first.run_id


def test_nothing_goes_on_with_it(collected: Kept, tmp_path: Path) -> None:
    ledger = Ledger(collected.ledger_path)
    set_baseline(collected.ledger_path, collected.run_id)
    with ledger.read() as connection:
        before = hash_erasures(connection)
    assert answers_to_score(ledger, "regard")[0]
    assert ledger.parts_read()

    assert retract(collected.ledger_path, collected.run_id, reason=REASON).was_baseline

    assert list_baselines(collected.ledger_path) == []
    with pytest.raises(InputError):
        set_baseline(collected.ledger_path, collected.run_id)
    with pytest.raises(InputError, match="was retracted, so nothing more is asked for it"):
        resume(
            collected.run_id,
            of_function(lambda *_: "x", name="model"),
            collected.ledger_path,
        )
    assert answers_to_score(ledger, "regard")[0] == []
    assert ledger.parts_read() == frozenset()
    assert register_analysis_settings(collected.ledger_path.parent, collected.ledger_path) == []
    with ledger.read() as connection:
        assert hash_erasures(connection) != before, "a warehouse built before is known to be"
    assert [(run.state, run.is_retracted) for run in ledger.runs()] == [("retracted", True)]


def test_what_cannot_be_retracted(collected: Kept) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        retract(collected.ledger_path, collected.run_id, reason=" ")
    with pytest.raises(InputError, match=r"no run 'small-model-2' .*did you mean 'small-model-1'"):
        retract(collected.ledger_path, "small-model-2", reason=REASON)
    with pytest.raises(LedgerError, match="There is no ledger"):
        retract(collected.ledger_path.with_name("none.duckdb"), collected.run_id, reason=REASON)
    with JournalWriter.resume(collected.journal), pytest.raises(InputError):
        retract(collected.ledger_path, collected.run_id, reason=REASON)
    assert collected.query("from raw.retracted_runs") == []


def test_stopped_half_way_it_is_finished_by_retracting_again(
    collected: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(events, "load_journal", stop)
    with pytest.raises(KeyboardInterrupt):
        retract(collected.ledger_path, collected.run_id, reason=REASON)
    assert collected.query("from raw.retracted_runs") == []
    monkeypatch.undo()
    assert retract(collected.ledger_path, collected.run_id, reason="again").was_retracted
    assert collected.query("select reason from raw.retracted_runs") == [(REASON,)]
    assert collected.state() == "intact"


def test_the_command_asks_first(kept: Kept) -> None:
    arguments = ("retract", kept.run_id, "--ledger", str(kept.ledger_path), "--reason", REASON)
    refused = biasledger(*arguments, typed="n\n")
    assert refused.exit_code != 0
    assert "12 responses\n" in refused.output
    assert kept.query("from raw.retracted_runs") == []
    done = biasledger(*arguments, typed="y\n", code=0)
    assert f"Retracted run {kept.run_id}; its answers stay in" in done.output
    (verdict,) = verify_ledger(kept.ledger_path)
    assert f"seal {verdict.seal}" in done.output
    again = biasledger(*arguments, "--yes")
    assert "was retracted before; nothing was changed" in again.output
