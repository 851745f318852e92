"""Test an evidence pack against its ledger; the check names statements that it cannot verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biasledger import __version__
from biasledger.packing import rebuilding
from biasledger.packing.archive import json_bytes
from biasledger.packing.checking import check_figures, check_pack
from biasledger.packing.contents import ledger_files
from biasledger.packing.making import readme, software
from biasledger.verify import Verdict
from collector.errors import InputError
from collector.journal.chain import Seal
from collector.ledger.database import Ledger
from tests.python.running import biasledger, rows_in

from .conftest import JUDGED, Packed


def test_a_pack_fits_its_ledger_and_its_figures_are_not_vouched_for(packed: Packed) -> None:
    path = packed.written()
    _, verdicts = check_pack(path, packed.ledger)
    assert [verdict.state for verdict in verdicts] == ["intact"] * 3
    result = biasledger("verify", "--pack", path, "--ledger", packed.ledger, code=0)
    assert result.output.splitlines()[-1] == (
        "findings, tables, summary, report: not recomputed (--rebuild does)"
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("is_simulated", False, "The manifest states is_simulated False, and the ledger's run has True."),
        ("audit", "resumes", "The manifest states audit 'resumes', and the ledger's run has 'products'."),
        ("target", "person", "The manifest states target 'person', and the ledger's run has 'simulator'."),
        ("seal", None, "The manifest states no seal, and the ledger's run has a chain."),
    ],
)
def test_a_manifest_that_states_otherwise_is_found(
    packed: Packed, name: str, value: Any, message: str
) -> None:
    _, verdicts = check_pack(packed.written(lambda _, facts: facts.update({name: value})), packed.ledger)
    assert (verdicts[-1].state, verdicts[-1].fault) == ("broken", message)


@pytest.mark.parametrize("content", [b"[]x", b"{}", b"[]\n", b'[{"event": "finished"}]'])
def test_events_that_did_not_happen_are_found(packed: Packed, content: bytes) -> None:
    _, verdicts = check_pack(
        packed.written(lambda files, _: files.update({"events.json": content})), packed.ledger
    )
    assert verdicts[-1].fault == "events.json of the pack does not say what the ledger says."


def test_another_engine_is_named_and_not_called_broken(packed: Packed) -> None:
    def judge_otherwise(files: dict[str, bytes], facts: dict[str, Any]) -> None:
        files["build.json"] = json_bytes({**JUDGED, "engine_version": "1"})
        facts["software"] = {"biasledger": "0.0.7"}

    path = packed.written(judge_otherwise)
    result = biasledger("verify", "--pack", path, "--ledger", packed.ledger, "--rebuild", code=3)
    assert "what was asked: intact" in result.stdout
    assert "judged by engine 1, and this biasledger has engine" in result.stderr
    assert "pip install biasledger==0.0.7" in result.stderr
    assert "broken" not in result.output


@pytest.fixture
def otherwise(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Rebuilding as if all came out the same but for the texts named in here."""
    files: set[str] = set()

    def rebuild(*_: object, texts: list[str]) -> dict[str, list[str]]:
        message = {name: ["It is not what comes out again."] if name in files else [] for name in texts}
        return {"findings.csv": [], "groups.csv": [], **message}

    monkeypatch.setattr(rebuilding, "rebuild", rebuild)
    return files


def figures(packed: Packed, readme_txt: bytes | None = None, **versions: str) -> list[Verdict]:
    """Return the verdicts on a pack with these versions."""
    packed.facts["software"] = {**software(), **versions}
    pack = packed.pack(README_txt=readme() if readme_txt is None else readme_txt)
    return check_figures(pack, packed.ledger, lambda *_: None)


def test_what_is_written_anew_and_comes_out_the_same_is_said(packed: Packed, otherwise: set[str]) -> None:
    pytest.importorskip("vl_convert")
    assert not otherwise
    findings, other = figures(packed)
    assert (findings.state, other.state) == ("intact", "intact")
    assert other.notes[0] == "groups.csv, summary.md, report.html came out the same."
    assert "build.json and settings/ are taken at their word" in other.notes[-1]


@pytest.mark.parametrize("name", ["summary.md", "report.html"])
def test_a_forged_text_is_found(packed: Packed, otherwise: set[str], name: str) -> None:
    pytest.importorskip("vl_convert")
    otherwise.add(name)
    _, other = figures(packed)
    assert (other.state, other.fault) == ("broken", f"{name}: It is not what comes out again.")


@pytest.mark.parametrize("name", ["summary.md", "report.html"])
def test_a_forged_text_under_another_version_s_name_is_not_called_intact(
    packed: Packed, otherwise: set[str], name: str
) -> None:
    pytest.importorskip("vl_convert")
    otherwise.add(name)
    _, other, unchecked = figures(packed, biasledger="9.9", numpy="0.1")
    assert (other.state, unchecked.state) == ("intact", "unchecked")
    assert name not in other.notes[0]
    [message] = unchecked.notes
    assert message == (
        f"{name} is not what biasledger {__version__} writes, and the pack says that 9.9 wrote it, which anybody can say: do not "
        f"rely on it, or compare it with that version."
    )
    assert any(note.startswith("Made with numpy 0.1 by its own account") for note in other.notes)


def test_another_version_that_wrote_the_same_is_checked(packed: Packed, otherwise: set[str]) -> None:
    assert not otherwise
    assert [verdict.state for verdict in figures(packed, biasledger="9.9")] == ["intact"] * 2
    [*_, unchecked] = figures(packed, b"All is proven.\n", biasledger="9.9")
    assert unchecked.notes[0].startswith("README.txt is not what biasledger ")


def test_a_report_under_another_drawing_s_name_is_not_called_intact(
    packed: Packed, otherwise: set[str]
) -> None:
    pytest.importorskip("vl_convert")
    otherwise.add("report.html")
    _, other, unchecked = figures(packed, **{"vl-convert-python": "0.1"})
    assert (other.state, unchecked.state) == ("intact", "unchecked")
    assert unchecked.notes[0].startswith("report.html is not what vl-convert-python ")
    otherwise.add("summary.md")
    assert figures(packed, **{"vl-convert-python": "0.1"})[1].state == "broken"


def test_what_could_not_be_checked_has_an_exit_code(packed: Packed, otherwise: set[str]) -> None:
    otherwise.add("summary.md")
    packed.facts["software"] = {**software(), "biasledger": "9.9"}
    packed.files["README.txt"] = readme()
    result = biasledger("verify", "--pack", packed.written(), "--ledger", packed.ledger, "--rebuild", code=4)
    assert "not checked: unchecked\n  summary.md is not what biasledger" in result.output


def test_another_readme_is_found(packed: Packed, otherwise: set[str]) -> None:
    assert not otherwise
    _, other = figures(packed, b"All is proven.\n")
    assert (other.state, other.fault) == (
        "broken",
        "README.txt: It is not the one that this biasledger packs.",
    )


def test_a_shorter_seal_that_is_true_does_not_hide_what_came_after(packed: Packed) -> None:
    with Ledger(packed.ledger).read() as connection:
        ((count, head_hash),) = connection.execute(
            "select position + 1, hash from raw.chain where kind = 'event' order by position limit 1"
        ).fetchall()
        shorter = Seal(count, head_hash)
        held = ledger_files(connection, packed.facts["run_id"], packed.facts["analysis_hash"], shorter)

    def shorten(files: dict[str, bytes], facts: dict[str, Any]) -> None:
        facts["seal"] = str(shorter)

    _, [*_, asked] = check_pack(packed.written(shorten), packed.ledger)
    assert asked.fault == "events.json of the pack does not say what the ledger says."
    packed.files["events.json"] = held["events.json"]
    assert [one["event"] for one in json.loads(held["events.json"])] == ["started"]
    _, [*_, asked] = check_pack(packed.written(shorten), packed.ledger)
    assert asked.state == "intact"
    n_later = Seal.parse(packed.facts["seal"]).count - count
    assert asked.notes[-1].startswith(
        f"the pack's seal ends before the run does: it says nothing of the {n_later:,} records that came after (1 of kind event, "
    )


def test_what_is_computed_anew_is_what_the_seal_counts(packed: Packed, tmp_path: Path) -> None:
    with Ledger(packed.ledger).read() as connection:
        ((position, head_hash),) = connection.execute(
            "select position, hash from raw.chain where kind = 'response' order by position offset 4 limit 1"
        ).fetchall()
    packed.facts["seal"] = str(Seal(position + 1, head_hash))
    rebuilding._copy_run(packed.pack(), packed.ledger, tmp_path / "copy.duckdb")
    assert rows_in(tmp_path / "copy.duckdb", "select count(*) from raw.responses") == [(5,)]
    assert rows_in(tmp_path / "copy.duckdb", "select event from raw.run_events") == [("started",)]


def test_a_table_that_is_none_is_one_sentence(packed: Packed) -> None:
    with pytest.raises(InputError, match=r"findings\.csv of the pack is no table"):
        check_figures(packed.pack(findings_csv=b"\xff"), packed.ledger, lambda *_: None)
    with pytest.raises(InputError, match=r"findings\.csv of the pack has no column 'finding_id'"):
        check_figures(packed.pack(findings_csv=b"a\n1\n"), packed.ledger, lambda *_: None)
