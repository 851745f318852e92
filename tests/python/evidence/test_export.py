"""Test the ledger's export as Parquet and Delta tables: complete, incremental, without erased texts, and checked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable

from biasledger.verify import Verdict, verify_ledger
from biasledger.verify_export import verify_export
from collector.errors import InputError, LedgerError
from collector.exports import delta
from collector.exports.folder import IN_MANIFEST, OF_RUNS, SHARED, Format, require_manifest
from collector.exports.importing import take_in
from collector.exports.writing import Exported, export_ledger
from collector.hashing import hash_of_file
from collector.importers.catalogue import import_items
from collector.journal.writer import JournalWriter
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from collector.ledger.labels import Label, keep_labels
from collector.ledger.loading import load_journal
from collector.ledger.retraction import retract
from collector.rows import ScoreRow, utc_now
from tests.python.evidence.conftest import CHAINS_CAME_LATER, SECRET, Kept
from tests.python.running import biasledger, rows_in

FORMATS: tuple[Format, ...] = ("parquet", "delta")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "exported"


def export(kept: Kept, folder: Path, format_: Format = "parquet") -> Exported:
    return export_ledger(kept.ledger_path, folder, format_)


def broken(folder: Path) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict in verify_export(folder) if verdict.state == "broken"}


def file_of(folder: Path, kept: Kept, table: str = "responses") -> Path:
    return folder / require_manifest(folder).runs[kept.run_id].files[table].path


def content(ledger_path: Path) -> dict[str, list[Any]]:
    return {
        table: sorted(map(repr, rows_in(ledger_path, f"select * from raw.{table}")))
        for (table,) in rows_in(
            ledger_path, "select table_name from duckdb_tables() where schema_name = 'raw'"
        )
    }


def score(kept: Kept) -> None:
    with Ledger(kept.ledger_path).append() as append:
        row = ScoreRow(kept.prompts[0], 1, 1, "vader", "positive", 0.5, is_short=False, scored_at=utc_now())
        append.scores(kept.run_id, [row])


def rewrite(path: Path, rows: str) -> None:
    """Write a Parquet file anew with other rows, `rows` being what follows `select * from` it."""
    other = path.with_suffix(".other")
    duckdb.execute(
        f"copy (select * from read_parquet('{path}', hive_partitioning = false) {rows}) to '{other}' (format parquet)"
    )
    other.replace(path)


def admit(folder: Path, kept: Kept, table: str = "responses") -> None:
    """Let the manifest describe a changed file, as an attacker who knows this program could."""
    path = file_of(folder, kept, table)
    sha256 = hash_of_file(path)
    new = path.with_name(f"{sha256.removeprefix('sha256:')[:16]}.parquet")
    path.rename(new)
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    (run,) = (run for run in document["runs"] if run["run_id"] == kept.run_id)
    ((rows,),) = duckdb.execute(f"select num_rows from parquet_file_metadata('{new}')").fetchall()
    stated = {
        "path": new.relative_to(folder).as_posix(),
        "rows": rows,
        "bytes": new.stat().st_size,
        "sha256": sha256,
    }
    run["files"][table] = stated
    manifest.write_text(json.dumps(document), encoding="utf-8")


def test_every_table_of_the_ledger_has_its_place(collected: Kept) -> None:
    assert set(content(collected.ledger_path)) == {*OF_RUNS, *SHARED, *IN_MANIFEST}


@pytest.mark.parametrize("format_", FORMATS)
def test_a_ledger_is_made_again_from_its_export(
    collected: Kept, folder: Path, tmp_path: Path, format_: Format
) -> None:
    items = tmp_path / "items.csv"
    items.write_text("name,price_level,categories\nA,1,thai\nB,2,\n", encoding="utf-8")
    import_items(items, collected.ledger_path, name="shop", columns={}, levels=4)
    score(collected)
    done = export(collected, folder, format_)
    assert (done.written, done.rewritten, done.left_out) == ((collected.run_id,), (), ())
    assert [verdict.state for verdict in verify_export(folder, seal=collected.seal)] == ["intact", "intact"]
    made = tmp_path / "made.duckdb"
    taken = take_in(folder, require_manifest(folder), made)
    assert (taken.taken, taken.had, taken.n_responses) == ((collected.run_id,), (), 12)
    assert content(made) == content(collected.ledger_path)
    assert take_in(folder, require_manifest(folder), made).had == (collected.run_id,)
    assert content(made) == content(collected.ledger_path)
    if format_ == "delta":
        log = DeltaTable(folder / "responses")
        assert (log.count(), log.metadata().partition_columns) == (12, ["run_id"])
        assert [field.name for field in log.schema().fields][:3] == ["run_id", "prompt_id", "trial"]


@pytest.mark.parametrize("format_", FORMATS)
def test_only_what_is_new_or_changed_is_written(collected: Kept, folder: Path, format_: Format) -> None:
    first = export(collected, folder, format_)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*/run_id=*/*")}
    again = export(collected, folder, format_)
    assert (again.written, again.rewritten, again.sha256) == ((), (), first.sha256)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/run_id=*/*")} == before
    for change in (
        lambda: score(collected),
        lambda: erase(collected.ledger_path, collected.run_id, collected.prompts[1], 1, reason="private"),
        lambda: retract(collected.ledger_path, collected.run_id, reason="wrong"),
    ):
        change()
        assert export(collected, folder, format_).rewritten == (collected.run_id,)
        assert not broken(folder)
    if format_ == "delta":
        assert DeltaTable(folder / "responses").count() == 12


def test_a_pin_is_no_fault_of_an_export_that_lacks_the_run(collected: Kept, folder: Path) -> None:
    collected.change(
        "insert into raw.baselines by name select audit, target, 'elsewhere' as run_id, now()::timestamp as set_at from raw.runs"
    )
    export(collected, folder)
    assert not broken(folder)
    assert [one.name for one in verify_ledger(collected.ledger_path) if one.state == "broken"] == [
        "seals and baselines"
    ]


def test_what_was_erased_is_in_no_file(collected: Kept, folder: Path) -> None:
    export(collected, folder)

    def n_found() -> int:
        files = [str(path) for path in folder.rglob("*.parquet") if path.parts[-3] == "responses"]
        ((n,),) = duckdb.execute(
            "select count(*) from read_parquet(?) where response_text = ?", [files, SECRET]
        ).fetchall()
        return int(n)

    assert n_found() == 1
    erase(collected.ledger_path, collected.run_id, collected.prompts[1], 1, reason="private")
    export(collected, folder)
    assert n_found() == 0


def test_a_run_that_is_being_collected_waits(collected: Kept, folder: Path) -> None:
    with JournalWriter.resume(collected.journal) as writer:
        writer.event("resumed", {})
        with Ledger(collected.ledger_path).append() as append:
            append.chain(collected.run_id, [])
        collected.change("delete from raw.seals")
        assert export(collected, folder).left_out == (collected.run_id,)
    load_journal(collected.journal, Ledger(collected.ledger_path))
    assert export(collected, folder).written == (collected.run_id,)


def test_a_changed_byte_a_missing_file_and_a_lost_row_are_named(collected: Kept, folder: Path) -> None:
    export(collected, folder)
    path = file_of(folder, collected)
    whole = path.read_bytes()
    name = path.relative_to(folder).as_posix()

    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    path.write_bytes(changed)
    fault = broken(folder)[collected.run_id].fault
    assert fault == f"{name} was changed: its bytes are not those of the manifest's SHA-256."

    path.unlink()
    assert broken(folder)[collected.run_id].fault == f"{name} is gone."

    path.write_bytes(whole)
    rewrite(path, "where seq <> 5")
    verdict = broken(folder)[collected.run_id]
    assert verdict.fault == f"{name} was changed: its bytes are not those of the manifest's SHA-256."
    assert f"{name} has 11 rows, and the manifest says 12." in verdict.notes
    gone = f"Response {collected.prompts[1]}.2.1"
    assert any(
        note.startswith(gone) and note.endswith("is gone from raw.responses.") for note in verdict.notes
    )


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        ("responses", "where seq <> 5", "is gone from raw.responses."),
        ("prompts", "where prompt_text not like '%Asian%'", "its row does not match its hash."),
        ("chain", "where position < 15", "records that it was sealed with are gone."),
    ],
)
def test_a_row_removed_from_the_manifest_is_missed_by_the_chain(
    imported: Kept, folder: Path, table: str, rows: str, message: str
) -> None:
    export(imported, folder)
    rewrite(file_of(folder, imported, table), rows)
    admit(folder, imported, table)
    assert set(broken(folder)) == {imported.run_id}
    assert (broken(folder)[imported.run_id].fault or "").endswith(message)


def test_a_changed_text_with_a_matching_manifest_is_found(imported: Kept, folder: Path) -> None:
    export(imported, folder)
    path = file_of(folder, imported)
    text = "case when seq = 3 then 'Other' else response_text end"
    duckdb.execute(
        f"copy (select * replace ({text} as response_text) from read_parquet('{path}', hive_partitioning = false)) "
        f"to '{path}.other' (format parquet)"
    )
    Path(f"{path}.other").replace(path)
    admit(folder, imported)
    assert "was changed: its row does not match its hash" in (broken(folder)[imported.run_id].fault or "")


def test_a_seal_kept_elsewhere_finds_an_export_made_of_another_ledger(imported: Kept, folder: Path) -> None:
    export(imported, folder)
    other = type(imported.seal)(imported.seal.count, "sha256:" + "0" * 64)
    (run, _) = verify_export(folder, seal=other)
    assert run.state == "broken"
    with pytest.raises(InputError, match="There is no run 'none' in"):
        verify_export(folder, ["none"])


def test_files_of_what_runs_share_and_those_that_nobody_listed(imported: Kept, folder: Path) -> None:
    export(imported, folder, "delta")
    analyses = require_manifest(folder).shared["analysis_settings"].path
    extra = file_of(folder, imported).with_name("0123456789abcdef.parquet")
    extra.write_bytes(b"")
    verdict = broken(folder)[str(folder)]
    assert verdict.fault == f"{extra.relative_to(folder).as_posix()} is not in the manifest."
    export(imported, folder, "delta")  # what was left by one that was killed goes with the next one
    assert not broken(folder)
    (folder / analyses).unlink()
    assert broken(folder)[str(folder)].fault == f"{analyses} is gone."
    export(imported, folder, "delta")
    assert not broken(folder)
    log = next((folder / "responses" / "_delta_log").glob("*1.json"))
    log.unlink()
    assert "The log of responses and the manifest differ" in (broken(folder)[str(folder)].fault or "")


def test_a_folder_holds_one_ledger_in_one_format(imported: Kept, folder: Path, tmp_path: Path) -> None:
    export(imported, folder)
    with pytest.raises(InputError, match="holds an export as parquet: say --format parquet"):
        export(imported, folder, "delta")
    other = tmp_path / "other.duckdb"
    Ledger(other).create()
    with pytest.raises(InputError, match=f"holds the run {imported.run_id}, which this ledger does not"):
        export_ledger(other, folder, "parquet")
    theirs = tmp_path / "theirs" / "responses"
    theirs.mkdir(parents=True)
    (theirs / "a.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"holds responses/a\.parquet, which no export wrote"):
        export(imported, theirs.parent)
    assert (theirs / "a.parquet").exists()
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest of `biasledger export`"):
        export(imported, folder)


def test_no_manifest_reaches_out_of_its_folder(imported: Kept, folder: Path) -> None:
    export(imported, folder)
    manifest = folder / "manifest.json"
    place = file_of(folder, imported).relative_to(folder).as_posix()
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(place, f"../{place}"), encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest of `biasledger export`"):
        verify_export(folder)


def test_an_export_of_a_newer_version_is_refused(imported: Kept, folder: Path) -> None:
    export(imported, folder)
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    document["migrations"].append([99, "later", "2030-01-01T00:00:00"])
    manifest.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(LedgerError, match=r"has schema 99 .* upgrade biasledger\."):
        verify_export(folder)


def test_a_run_of_before_chains_stays_one(imported: Kept, folder: Path, tmp_path: Path) -> None:
    imported.change(
        "delete from raw.chain", "delete from raw.seals", CHAINS_CAME_LATER,
        f"insert into raw.unchained_runs values ('{imported.run_id}')",
    )  # fmt: skip
    export(imported, folder)
    assert [verdict.state for verdict in verify_export(folder)] == ["unsealed", "intact"]
    made = tmp_path / "made.duckdb"
    take_in(folder, require_manifest(folder), made)
    assert content(made) == content(imported.ledger_path)


def label(kept: Kept) -> None:
    keep_labels(Ledger(kept.ledger_path), [Label(kept.run_id, kept.prompts[0], 1, "acceptable")], "Ada")


def later(kept: Kept) -> None:
    """A label, a score and an erasure."""
    label(kept)
    score(kept)
    erase(kept.ledger_path, kept.run_id, kept.prompts[1], 1, reason="personal data")


@pytest.fixture
def gathered(collected: Kept, folder: Path, tmp_path: Path) -> Kept:
    """A ledger that took in the export of the collected run."""
    export(collected, folder)
    made = tmp_path / "gathering" / "made.duckdb"  # without the journals
    take_in(folder, require_manifest(folder), made)
    return replace(collected, ledger_path=made)


def test_what_happened_to_a_run_since_is_taken_in(collected: Kept, folder: Path, gathered: Kept) -> None:
    assert SECRET.encode() in gathered.ledger_path.read_bytes()
    later(collected)
    export(collected, folder)
    for renewed, had in (((collected.run_id,), ()), ((), (collected.run_id,))):
        done = take_in(folder, require_manifest(folder), gathered.ledger_path)
        assert (done.taken, done.renewed, done.had) == ((), renewed, had)
        assert content(gathered.ledger_path) == content(collected.ledger_path)
    assert SECRET.encode() not in gathered.ledger_path.read_bytes()
    [verdict] = verify_ledger(gathered.ledger_path, needs_journals=False)
    assert verdict.state == "intact"
    # Scores are in no chain.
    gathered.change("delete from raw.response_scores")
    assert take_in(folder, require_manifest(folder), gathered.ledger_path).renewed == (collected.run_id,)
    assert content(gathered.ledger_path) == content(collected.ledger_path)


def test_what_happened_to_a_run_in_the_gathering_ledger_stays(folder: Path, gathered: Kept) -> None:
    later(gathered)
    before = content(gathered.ledger_path)
    done = take_in(folder, require_manifest(folder), gathered.ledger_path)
    assert (done.taken, done.renewed, done.had) == ((), (), (gathered.run_id,))
    assert content(gathered.ledger_path) == before


def test_a_run_that_went_on_in_both_ledgers_is_not_taken_in(
    collected: Kept, folder: Path, gathered: Kept
) -> None:
    label(collected)
    label(gathered)
    before = content(gathered.ledger_path)
    export(collected, folder)
    with pytest.raises(InputError, match=f"each have something of the run {collected.run_id}"):
        take_in(folder, require_manifest(folder), gathered.ledger_path)
    assert content(gathered.ledger_path) == before


def test_the_commands(imported: Kept, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ("--ledger", str(imported.ledger_path))
    done = biasledger("export", "--to", str(folder), "--format", "delta", *ledger, code=0)
    assert "1 runs written, 0 rewritten, 0 as they were" in done.output
    assert biasledger("verify", "--export", str(folder)).exit_code == 0
    made = str(tmp_path / "made.duckdb")
    assert (
        "1 runs with 12 responses taken in"
        in biasledger("import-ledger", str(folder), "--ledger", made).output
    )
    assert biasledger("verify", "--ledger", made, "--without-journals").exit_code == 0

    file_of(folder, imported).unlink()
    checked = biasledger("verify", "--export", str(folder), code=3)
    assert "is gone." in checked.output
    refused = biasledger("import-ledger", str(folder), "--ledger", made, code=3)
    assert f"Nothing was taken in, as {imported.run_id} is broken" in refused.output

    monkeypatch.setattr(delta, "find_spec", lambda _: None)
    missing = biasledger("export", "--to", str(folder), "--format", "delta", *ledger, code=3)
    assert "pip install 'biasledger[delta]'" in missing.output
