"""Fuzz damaged journals and packs: none is taken for intact, and each gives one sentence."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from biasledger.packing.archive import REQUIRED, json_bytes, read_pack, write_pack
from biasledger.packing.judged import read_judged
from biasledger.verify import verify_ledger
from collector.errors import BiasledgerError, InputError, LedgerError
from collector.journal.chain import ZERO, next_hash, record_digest
from collector.journal.reader import end_of, journal_line, read_journal
from collector.ledger.database import Ledger
from collector.ledger.loading import load_all, read_head
from tests.python.evidence.conftest import Kept, collect_answers

from .conftest import changed, damaged, examples, message

FACTS = {
    "run_id": "r",
    "audit": "a",
    "target": "t",
    "is_simulated": True,
    "analysis_hash": "sha256:0",
    "seal": None,
    "software": {},
}
JUDGED = {
    "engine_version": "5",
    "alpha": 0.05,
    "permutations": True,
    "min_permutations": 1999,
    "all_groups": True,
    "seed": 20260201,
    "judged_on": "2026-11-21",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return collect_answers(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "pack.zip"
    files = {**dict.fromkeys(REQUIRED, b"text\n"), "build.json": json_bytes(JUDGED)}
    write_pack(path, "evidence", FACTS, files)
    return path


def hashed(lines: list[dict[str, Any]]) -> Iterator[bytes]:
    """Lines with hashes that match their content, as an attacker who knows this program could write them."""
    previous = ZERO
    for position, line in enumerate(lines):
        linked = next_hash(position, line["kind"], record_digest(line["kind"], line["body"]), previous)
        yield journal_line(position, line["kind"], line["body"], previous, linked)
        previous = linked


@examples(150)
@given(data=st.data())
def test_a_damaged_journal_says_nothing_that_was_not_kept(kept: Kept, data: st.DataObject) -> None:
    whole = [record.body for record in read_journal(kept.journal)]
    path = kept.journal.with_name("damaged.journal")
    path.write_bytes(data.draw(damaged(kept.journal.read_bytes())))
    read = []
    try:
        read.extend(record.body for record in read_journal(path, to_the_byte=True))
    except LedgerError as error:
        message(error, "damaged.journal is broken at line")
    assert read == whole[: len(read)]
    try:
        end_of(path)
        read_head(path)
    except LedgerError:
        pass


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("run", "answer_rules_version", None),
        ("analysis", "audit", None),
        ("prompt", "template", None),
        ("response", "attempt", None),
        ("response", "attempt", []),
        ("event", "event", None),
    ],
)
def test_a_record_that_is_none_of_its_kind_is_reported(
    kept: Kept, tmp_path: Path, kind: str, name: str, value: Any
) -> None:
    """What fuzzing found."""
    lines = [json.loads(line) for line in kept.journal.read_text(encoding="utf-8").splitlines()]
    next(line for line in lines if line["kind"] == kind)["body"][name] = value
    path = tmp_path / "journal" / kept.journal.name
    path.parent.mkdir()
    path.write_bytes(b"".join(hashed(lines)))
    [sentence] = load_all(tmp_path / "ledger.duckdb")
    assert re.search(r"none of its kind|is broken at line|lack what a run", sentence), sentence
    assert "aborted" not in sentence


@examples(20)
@given(data=st.data())
def test_a_forged_journal_is_loaded_whole_or_refused(
    kept: Kept, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = [json.loads(line) for line in kept.journal.read_text(encoding="utf-8").splitlines()]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place]["body"] = data.draw(changed(lines[place]["body"]))
    try:
        content = b"".join(hashed(lines))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        assume(False)
    folder = tmp_path_factory.mktemp("forged")
    ledger = folder / "ledger.duckdb"
    path = folder / "journal" / kept.journal.name
    path.parent.mkdir()
    path.write_bytes(content)
    sentences = load_all(ledger)
    assert len(sentences) <= 1
    if ledger.exists() and Ledger(ledger).runs():
        states = {verdict.name: verdict for verdict in verify_ledger(ledger)}
        assert sentences
        assert states[kept.run_id].state in ("intact", "broken")
    shutil.rmtree(folder)


@examples(150)
@given(data=st.data())
def test_a_damaged_pack_is_refused(packed: Path, data: st.DataObject) -> None:
    whole = packed.read_bytes()
    content = data.draw(damaged(whole))
    assume(content != whole)
    path = packed.with_name("damaged.zip")
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"damaged\.zip"):
        read_pack(path)


@examples(80)
@given(facts=changed(FACTS), judged=changed(JUDGED))
def test_a_pack_that_fits_its_manifest_is_read_as_it_stands_or_refused(
    packed: Path, facts: Any, judged: Any
) -> None:
    assume(isinstance(facts, dict))
    path = packed.with_name("forged.zip")
    try:
        files = {**dict.fromkeys(REQUIRED, b"text\n"), "build.json": json_bytes(judged)}
        write_pack(path, "evidence", facts, files)
    except (ValueError, TypeError):
        assume(False)
    try:
        pack = read_pack(path)
        assert {name: pack.manifest[name] for name in FACTS} == facts
        read_judged(pack)
    except BiasledgerError as error:
        message(error)
