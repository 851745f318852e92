"""Test labels of answers: the run's chain holds who gave them and when, and a person's last label counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from biasledger.packing.contents import ledger_files
from biasledger.verify import verify_ledger
from collector.errors import InputError
from collector.journal.writer import JournalWriter
from collector.ledger.database import Ledger
from collector.ledger.labels import KeptLabel, Label, Labelling, keep_labels, read_labels
from collector.ledger.loading import load_journal
from collector.ledger.overview import list_runs
from tests.python.evidence.conftest import Kept
from tests.python.running import biasledger


def labels_in(kept: Kept) -> list[KeptLabel]:
    with Ledger(kept.ledger_path).read() as connection:
        return read_labels(connection)


def message(kept: Kept) -> list[tuple[str, int, str | None, str]]:
    return sorted((one.prompt_id, one.trial, one.label, one.labelled_by) for one in labels_in(kept))


def test_the_last_label_of_each_person_counts_and_the_chain_holds_all(kept: Kept) -> None:
    ledger, (first, second, *_) = Ledger(kept.ledger_path), sorted(kept.prompts)

    def give(prompt_id: str, label: str | None, by: str) -> Labelling:
        return keep_labels(ledger, [Label(kept.run_id, prompt_id, 1, label)], by)

    assert give(first, "acceptable", " Ada  L. ") == Labelling(1, 0, 0)
    assert give(first, "acceptable", "Ada L.") == Labelling(0, 1, 0)
    give(first, "problematic", "Ada L.")
    give(first, "acceptable", "Bo")
    give(second, "problematic", "Bo")
    give(second, None, "Bo")
    assert message(kept) == [(first, 1, "acceptable", "Bo"), (first, 1, "problematic", "Ada L.")]
    [verdict] = verify_ledger(kept.ledger_path)
    assert (verdict.state, verdict.seal.count if verdict.seal else 0) == ("intact", kept.seal.count + 5)
    [older] = verify_ledger(kept.ledger_path, [kept.run_id], kept.seal)
    assert older.state == "intact"
    # Labels do not count for a run's progress.
    [listed], _ = list_runs(kept.ledger_path)
    assert listed.state == "finished"
    assert ledger.runs()[0].state == "finished"


def test_a_changed_label_breaks_the_chain(kept: Kept) -> None:
    keep_labels(Ledger(kept.ledger_path), [Label(kept.run_id, kept.prompts[0], 1, "acceptable")], "Ada")
    kept.change(
        "update raw.run_events set detail = replace(detail::varchar, 'acceptable', 'problematic')::json "
        "where event = 'labelled'"
    )
    [verdict] = verify_ledger(kept.ledger_path)
    assert verdict.state == "broken"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run_id": "no-such-run"}, "holds no text of run no-such-run"),
        ({"prompt_id": "0123"}, "holds no text of run .*, prompt 0123, trial 1"),
        ({"trial": 99}, "prompt .*, trial 99 to give a label to"),
        ({"label": "fine"}, "'fine' is no label of an answer: it is acceptable or problematic"),
    ],
)
def test_only_answers_that_are_there_have_labels(kept: Kept, change: dict[str, object], said: str) -> None:
    values = {"run_id": kept.run_id, "prompt_id": kept.prompts[0], "trial": 1, "label": "acceptable"}
    with pytest.raises(InputError, match=said):
        keep_labels(Ledger(kept.ledger_path), [Label(**{**values, **change})], "Ada")
    for name in ("", " \n", "x" * 101):
        with pytest.raises(InputError, match="Labels need the name"):
            keep_labels(Ledger(kept.ledger_path), [Label(**values)], name)
    assert message(kept) == []


def test_a_run_of_before_chains_may_be_labelled(imported: Kept) -> None:
    imported.change(
        *("delete from raw.chain", "delete from raw.seals"),
        "insert into raw.unchained_runs select run_id from raw.runs",
        "update raw.schema_migrations set applied_at = "
        "(select max(happened_at) + interval 1 microsecond from raw.run_events) where version = 5",
    )
    ((analysis_hash,),) = imported.query("select analysis_hash from raw.analysis_settings")

    def found() -> tuple[str, Mapping[str, bytes]]:
        [verdict] = verify_ledger(imported.ledger_path)
        with Ledger(imported.ledger_path).read() as connection:
            return verdict.state, ledger_files(connection, imported.run_id, analysis_hash)

    before = found()
    assert before[0] == "unsealed"
    keep_labels(
        Ledger(imported.ledger_path), [Label(imported.run_id, imported.prompts[0], 1, "acceptable")], "Ada"
    )
    assert found() == before
    imported.change("update raw.run_events set event = 'noted' where event = 'labelled'")
    assert found()[0] == "broken"


def test_a_run_that_is_being_collected_has_to_wait(collected: Kept) -> None:
    one = Label(collected.run_id, collected.prompts[0], 1, "acceptable")
    with JournalWriter.resume(collected.journal), pytest.raises(InputError, match="is being collected"):
        keep_labels(Ledger(collected.ledger_path), [one], "Ada")
    assert message(collected) == []


def test_a_ledger_in_use_gets_the_label_from_the_journal(collected: Kept) -> None:
    ledger = Ledger(collected.ledger_path, wait_seconds=0)
    one = Label(collected.run_id, collected.prompts[0], 1, "acceptable")
    with duckdb.connect(str(collected.ledger_path), read_only=True):
        assert keep_labels(ledger, [one], "Ada") == Labelling(1, 0, 1)
    load_journal(collected.journal, ledger)
    assert message(collected) == [(collected.prompts[0], 1, "acceptable", "Ada")]


def test_a_file_of_labels_is_kept_by_hash_or_by_address(kept: Kept, tmp_path: Path) -> None:
    answers = kept.query(
        "select prompt_id, trial, content_hash from raw.responses where response_text is not null order by seq"
    )
    (prompt_id, trial, digest), other = answers[0], answers[1]
    file = tmp_path / "labels.csv"

    def keep(header: str, *rows: object) -> str:
        text = io.StringIO()
        csv.writer(text).writerows([header.split(","), *rows])
        file.write_text(text.getvalue(), encoding="utf-8")
        done = biasledger("label", str(file), "--ledger", str(kept.ledger_path), "--by", "Ada")
        return done.stdout if done.exit_code == 0 else done.stderr

    said = keep("response,text,label", (digest[7:23], "a, b", "Problematic"), (other[2], "", ""))
    assert said == ("Labels stored: 1; unchanged: 0; rows without a label: 1.\nNext: biasledger tune\n")
    assert message(kept) == [(prompt_id, trial, "problematic", "Ada")]
    said = keep(
        "run,prompt,trial,label",
        (kept.run_id, prompt_id, trial, "problematic"),
        (kept.run_id, *other[:2], "acceptable"),
    )
    assert said.startswith("Labels stored: 1; unchanged: 1;")
    for row, fault in (
        (
            ("123456789abc", "acceptable"),
            "row 1 has '123456789abc' as 'response', which is no answer of the ledger",
        ),
        (("123", "acceptable"), "row 1 has '123' as 'response'; it should be an output's hash"),
        ((digest, "good"), "row 1 has 'good' as 'label'"),
        ((digest, ""), "no row has a label"),
    ):
        assert fault in keep("response,label", row)
    assert "row 1 has '1.5' as 'trial'" in keep("run,prompt,trial,label", ("r", "p", "1.5", "acceptable"))
    # A row that repeats a label adds nothing; one that contradicts it leaves everything as it was.
    assert "Labels stored: 1;" in keep("response,label", (digest, "acceptable"), (digest[7:19], "acceptable"))
    contradiction = "rows 1 and 2 are the same output with different labels; give it one"
    stood = message(kept)
    assert contradiction in keep("response,label", (digest, "problematic"), (digest[7:19], "acceptable"))
    address = (kept.run_id, prompt_id, trial)
    assert contradiction in keep(
        "run,prompt,trial,label", (*address, "problematic"), (*address, "acceptable")
    )
    kept.change(f"update raw.responses set content_hash = '{digest[:20]}' || content_hash[21:]")
    assert "'response', which belongs to several outputs of the ledger; give more digits" in keep(
        "response,label", (digest[7:19], "problematic")
    )
    assert message(kept) == stood
