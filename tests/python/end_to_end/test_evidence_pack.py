"""Test evidence packs of the README's first audit: their bytes, their content, and forged ones."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

from biasledger.packing.archive import MANIFEST, read_pack, write_pack
from biasledger.packing.checking import check_figures, check_pack
from biasledger.packing.contents import read_table
from biasledger.packing.making import Made, make_pack
from biasledger.packing.rebuilding import _differences
from collector.errors import BiasledgerError, InputError
from tests.python.project import Project

pytest.importorskip("vl_convert", reason="the extra `report` is not installed here")


@pytest.fixture(scope="module")
def made(planted: Project, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_pack("latest", planted.ledger, planted.warehouse, tmp_path_factory.mktemp("packs"))


def packed_again(made: Made, folder: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return a pack with other files and a matching manifest, as an attacker who knows this program could make it."""
    pack = read_pack(made.path)
    files = dict(pack.files)
    change(files)
    facts = {name: value for name, value in pack.manifest.items() if name not in {"files", "format"}}
    write_pack(folder / "forged.zip", "forged", facts, files)
    return folder / "forged.zip"


def zipped(made: Made, path: Path, change: Callable[[dict[str, bytes]], None], **options: int) -> Path:
    """The same entries but for a change, and the manifest as it was."""
    with zipfile.ZipFile(made.path) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    change(entries)
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_the_same_run_gives_the_same_bytes(made: Made, planted: Project, tmp_path: Path) -> None:
    again = make_pack(made.run_id[:12], planted.ledger, planted.warehouse, tmp_path / "again.zip")
    assert again.sha256 == made.sha256
    assert again.path.read_bytes() == made.path.read_bytes()


def test_it_holds_what_an_auditor_needs(made: Made, planted: Project) -> None:
    pack = read_pack(made.path)
    assert pack.manifest["seal"] == str(made.seal)
    assert pack.manifest["software"].keys() >= {"python", "duckdb", "dbt-core", "scikit-learn"}
    assert json.loads(pack.files["spec.json"])["templates"][0]["id"] == "products"
    assert json.loads(pack.files["run.json"])["versions"]
    assert json.loads(pack.files["build.json"])["alpha"] == 0.05
    findings = list(csv.DictReader(io.StringIO(pack.files["findings.csv"].decode())))
    in_warehouse = planted.rows("select finding_id, value from marts.fct_findings order by 1")
    assert sorted((row["finding_id"], float(row["value"])) for row in findings) == in_warehouse
    thresholds = list(csv.DictReader(io.StringIO(pack.files["settings/thresholds.csv"].decode())))
    assert all(row["reason"] for row in thresholds)
    assert "settings/exceptions.csv" in pack.files
    summary = pack.files["summary.md"].decode()
    assert "simulated" in summary
    assert re.search(
        r"tells answers about .+ from answers about .+ \d+ % of the time", " ".join(summary.split())
    )
    assert b"<html" in pack.files["report.html"]
    message = set(
        re.findall(r"^(\S+\.\w+|settings/) ", pack.files["README.txt"].decode(), flags=re.MULTILINE)
    )
    assert message == {name.partition("/")[0] + ("/" if "/" in name else "") for name in pack.files} - {
        "README.txt"
    } | {MANIFEST}


def test_no_answer_is_in_it(made: Made, planted: Project) -> None:
    pack = read_pack(made.path)
    with duckdb.connect(str(planted.ledger), read_only=True) as connection:
        texts = connection.execute("select response_text from raw.responses limit 50").fetchall()
    everything = b"".join(pack.files.values()).decode()
    assert not [text for (text,) in texts if text in everything]


def test_a_pack_fits_its_ledger(made: Made, planted: Project) -> None:
    _, verdicts = check_pack(made.path, planted.ledger)
    assert [verdict.state for verdict in verdicts] == ["intact"] * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: entries.update({name(entries, "findings.csv"): b""}), "findings.csv was changed"),
        (lambda entries: entries.pop(name(entries, "analysis.json")), "lacks analysis.json"),
        (lambda entries: entries.update({"x/more.csv": b""}), "holds more.csv"),
        (lambda entries: entries.pop(name(entries, MANIFEST)), "is no evidence pack"),
        (
            lambda entries: entries.update({name(entries, MANIFEST): b'{"format": 9, "files": {}}'}),
            "has format 9",
        ),
    ],
)
def test_a_changed_zip_is_refused_by_name(
    made: Made, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    path = zipped(made, tmp_path / "changed.zip", change)
    with pytest.raises(InputError, match=re.escape(message)):
        read_pack(path)


def name(entries: Mapping[str, bytes], wanted: str) -> str:
    return next(entry for entry in entries if entry.endswith(f"/{wanted}"))


def test_other_files_are_no_packs(made: Made, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no"):
        read_pack(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(InputError, match="cannot be read as a zip"):
        read_pack(tmp_path / "text.zip")
    path = zipped(made, tmp_path / "small.zip", lambda _: None, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="not compressed"):
        read_pack(path)


def test_another_spec_than_the_ledger_s_is_found(made: Made, planted: Project, tmp_path: Path) -> None:
    def ask_otherwise(files: dict[str, bytes]) -> None:
        files["spec.json"] = files["spec.json"].replace(b'"products"', b'"presents"')

    _, verdicts = check_pack(packed_again(made, tmp_path, ask_otherwise), planted.ledger)
    assert verdicts[-1].state == "broken"
    assert verdicts[-1].fault == "spec.json of the pack does not say what the ledger says."


def test_a_tampered_ledger_is_neither_packed_nor_fits(made: Made, planted: Project, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.duckdb"
    shutil.copyfile(planted.ledger, ledger)
    with duckdb.connect(str(ledger)) as connection:
        connection.execute("update raw.responses set answer_text = 'nothing' where seq = 7")
    _, verdicts = check_pack(made.path, ledger)
    assert verdicts[1].state == "broken"
    with pytest.raises(BiasledgerError, match="No pack was made"):
        make_pack("latest", ledger, planted.warehouse, tmp_path)
    assert not list(tmp_path.glob("*.zip"))


def test_answers_after_the_build_are_no_reason_to_pack(planted: Project, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    shutil.copyfile(planted.warehouse, warehouse)
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("update marts.dim_runs set n_responses = n_responses - 5")
    with pytest.raises(InputError, match="235 responses, and the ledger holds 240"):
        make_pack("latest", planted.ledger, warehouse, tmp_path)


def test_erased_texts_after_the_build_are_no_reason_to_pack(planted: Project, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    shutil.copyfile(planted.warehouse, warehouse)
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("update publication.build set erasures_hash = 'sha256:before'")
    with pytest.raises(InputError, match=r"Answers were erased .* run `biasledger build` first"):
        make_pack("latest", planted.ledger, warehouse, tmp_path)


def test_rebuilding_finds_what_was_prettied(odd: Project, tmp_path: Path) -> None:
    """The pack is of one run among many others, which are left out."""
    ((run_id,),) = odd.rows("select run_id from marts.dim_runs where audit = 'lists' and target = 'steered'")
    made = make_pack(run_id, odd.ledger, odd.warehouse, tmp_path)
    changed: list[str] = []

    def prettify(files: dict[str, bytes]) -> None:
        text = files["findings.csv"].decode()
        row = next(line for line in text.splitlines() if ",alarm," in line)
        changed.append(row.split(",")[0])
        files["findings.csv"] = text.replace(row, row.replace(",alarm,", ",clear,", 1)).encode()
        files["summary.md"] = b"# No alarms\n"
        files["report.html"] = b"<h1>All clear</h1>"

    path = packed_again(made, tmp_path, prettify)
    pack, verdicts = check_pack(path, odd.ledger)
    assert all(verdict.state == "intact" for verdict in verdicts)
    before = odd.ledger.read_bytes()
    verdict, other = check_figures(pack, odd.ledger, lambda *_: None)
    assert (verdict.state, verdict.n_faults) == ("broken", 1)
    assert verdict.fault is not None
    assert changed[0][:8] in verdict.fault
    assert "status 'clear' and now 'alarm'" in verdict.fault
    # Everything else came out the same.
    assert other.fault == "summary.md: It is not what comes out again."
    assert other.n_faults == 2
    assert odd.ledger.read_bytes() == before


def test_what_is_compared_is_what_the_pack_says(made: Made) -> None:
    """Every column but one that later runs change."""
    rows = read_table(read_pack(made.path), "findings.csv")
    assert not list(_differences(rows, [{**row, "is_current": "other"} for row in rows]))
    assert len(list(_differences(rows, rows[1:]))) == 1
    assert len(list(_differences(rows[1:], rows))) == 1
    shifted = [{**row, "value": repr(float(row["value"]) * (1 + 1e-4))} for row in rows]
    assert len(list(_differences(rows, shifted))) == len(rows)
