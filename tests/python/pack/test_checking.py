"""What a pack states is held against the ledger, and what is not held against anything is said."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from biasledger import __version__
from biasledger.cli import cli
from biasledger.pack import rebuilding
from biasledger.pack.archive import json_bytes
from biasledger.pack.checking import check_figures, check_pack
from biasledger.pack.making import readme, software
from collector.errors import InputError

from .conftest import JUDGED, Packed


def test_a_pack_fits_its_ledger_and_its_figures_are_not_vouched_for(packed: Packed) -> None:
    path = packed.written()
    _, verdicts = check_pack(path, packed.ledger)
    assert [verdict.state for verdict in verdicts] == ["intact"] * 3
    result = CliRunner().invoke(cli, ["verify", "--pack", str(path), "--ledger", str(packed.ledger)])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == (
        "findings, tables, summary, report: not computed anew (--rebuild does)"
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("is_simulated", False, "The manifest states is_simulated False, and the ledger's run has True."),
        ("audit", "resumes", "The manifest states audit 'resumes', and the ledger's run has 'products'."),
        ("target", "person", "The manifest states target 'person', and the ledger's run has 'simulator'."),
        ("seal", None, "The manifest states no seal, and the ledger's run has a chain."),
    ],
)
def test_a_manifest_that_states_otherwise_is_found(packed: Packed, name: str, value: Any, told: str) -> None:
    _, verdicts = check_pack(packed.written(lambda _, facts: facts.update({name: value})), packed.ledger)
    assert (verdicts[-1].state, verdicts[-1].fault) == ("broken", told)


@pytest.mark.parametrize("content", [b"[]x", b"{}", b'[{"event": "finished"}]'])
def test_events_that_did_not_happen_are_found(packed: Packed, content: bytes) -> None:
    _, verdicts = check_pack(
        packed.written(lambda files, _: files.update({"events.json": content})), packed.ledger
    )
    assert verdicts[-1].fault == "events.json of the pack does not say what the ledger says happened first."


def test_another_engine_is_named_and_not_called_broken(packed: Packed) -> None:
    def judge_otherwise(files: dict[str, bytes], facts: dict[str, Any]) -> None:
        files["build.json"] = json_bytes({**JUDGED, "engine_version": "1"})
        facts["software"] = {"biasledger": "0.0.7"}

    path = packed.written(judge_otherwise)
    result = CliRunner().invoke(
        cli, ["verify", "--pack", str(path), "--ledger", str(packed.ledger), "--rebuild"]
    )
    assert result.exit_code == 3
    assert "what was asked: intact" in result.stdout
    assert "judged by engine 1, and this biasledger has engine" in result.stderr
    assert "pip install biasledger==0.0.7" in result.stderr
    assert "broken" not in result.output


@pytest.fixture
def rebuilt(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Rebuilding as if all came out the same; collects which texts were asked for."""
    asked: list[list[str]] = []

    def rebuild(*_: object, texts: list[str]) -> dict[str, list[str]]:
        asked.append(list(texts))
        return {"findings.csv": [], "groups.csv": [], **{name: [] for name in texts}}

    monkeypatch.setattr(rebuilding, "rebuild", rebuild)
    return asked


def stating(packed: Packed, **versions: str) -> Packed:
    packed.facts["software"] = {**software(), **versions}
    packed.files["README.txt"] = readme()
    return packed


def test_summary_and_report_are_compared_where_the_same_program_wrote_them(
    packed: Packed, rebuilt: list[list[str]]
) -> None:
    pytest.importorskip("vl_convert")
    here = check_figures(stating(packed).pack(), packed.ledger, lambda *_: None)
    assert [verdict.state for verdict in here] == ["intact"] * 2
    assert rebuilt.pop() == ["summary.md", "report.html"]
    drawn = {"vl-convert-python": "0.1"}
    [_, other] = check_figures(stating(packed, **drawn).pack(), packed.ledger, lambda *_: None)
    assert rebuilt.pop() == ["summary.md"]
    assert any(note.startswith("report.html was not compared") for note in other.notes)
    [_, other] = check_figures(
        stating(packed, biasledger="9.9", numpy="0.1").pack(), packed.ledger, lambda *_: None
    )
    assert rebuilt.pop() == []
    assert other.notes[1:3] == (
        f"summary.md and report.html were not compared, as they were written by biasledger 9.9, and here is {__version__}.",
        f"Made with biasledger 9.9, and computed anew with {__version__}.",
    )
    assert any(note.startswith("Made with numpy 0.1") for note in other.notes)


def test_another_readme_is_found(packed: Packed, rebuilt: list[list[str]]) -> None:
    pack = stating(packed).pack(README_txt=b"All is proven.\n")
    [_, other] = check_figures(pack, packed.ledger, lambda *_: None)
    assert rebuilt
    assert (other.state, other.fault) == ("broken", "README.txt is not the one that this biasledger packs.")


def test_a_table_that_is_none_is_one_sentence(packed: Packed) -> None:
    with pytest.raises(InputError, match=r"findings\.csv of the pack is no table"):
        check_figures(packed.pack(findings_csv=b"\xff"), packed.ledger, lambda *_: None)
    with pytest.raises(InputError, match=r"findings\.csv of the pack has no column 'finding_id'"):
        check_figures(packed.pack(findings_csv=b"a\n1\n"), packed.ledger, lambda *_: None)
