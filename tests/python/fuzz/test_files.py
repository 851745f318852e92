"""Fuzz damaged specs, targets and foreign files: each is read or gives one sentence."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from biasledger.project import init_project
from collector.errors import BiasledgerError
from collector.importers.tabular import import_file
from collector.ledger.database import Ledger
from collector.spec.loading import check_audit, load_audit
from collector.tables.logs import log_rows, write_table
from collector.tables.source import read_table
from collector.targets import load_target

from .conftest import changed, damaged, examples, message

ROOT = Path(__file__).parents[3]
LOGS = Path(__file__).parents[1] / "collector" / "tool_logs"
SHIPPED = {path.stem: path for path in sorted((ROOT / "audits").glob("*.yml"))}
SHIPPED |= {path.stem: path for path in (ROOT / "audits" / "replications").glob("re*.yml")}
IMPORTING = """
audit: small
templates: [{id: one, text: 'Recommend products for {a race}.'}]
attributes: {race: {reference: White, groups: [White, Asian]}}
trials: 3
answer: {kind: text}
import: {columns: {text: answer, prompt: question, attributes: {race: race}}}
"""
TABLE = b'question,race,answer\nWho?,White,"An answer, with commas"\nWho?,Asian,"Two\nlines"\nWho?,White,\xc3\xa9\n'
LINES = b'{"question": "Who?", "race": "White", "answer": "one"}\n{"question": "Who?", "race": "Asian", "answer": null}\n'
ARRAY = b"[" + LINES.replace(b"}\n{", b"},\n{") + b"]"


def workbook() -> bytes:
    """The same rows in a workbook."""
    book, kept = openpyxl.Workbook(), io.BytesIO()
    for row in (["question", "race", "answer"], ["Who?", "White", "one"], ["Who?", "Asian", None]):
        book.active.append(row)
    book.save(kept)
    return kept.getvalue()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzed") / "project"
    init_project(folder)
    shutil.copytree(ROOT / "audits" / "replications", folder / "audits" / "replications", dirs_exist_ok=True)
    return folder


def spec_of(name: str) -> dict[str, Any]:
    document = yaml.safe_load(SHIPPED[name].read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("name", sorted(SHIPPED))
@examples(12)
@given(data=st.data())
def test_a_changed_spec_is_read_or_refused(project: Path, name: str, data: st.DataObject) -> None:
    path = project / "audits" / SHIPPED[name].relative_to(ROOT / "audits").with_name("fuzzed.yml")
    document = data.draw(changed(spec_of(name)))
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    # Every error has a message, however many there are.
    with contextlib.suppress(BiasledgerError):
        assert all(one.message for one in check_audit(path).problems)
    try:
        audit = load_audit(path)
    except BiasledgerError as error:
        message(error, "audits")
    else:
        assert audit.asked()
        assert audit.analysis_document()


@examples(40)
@given(content=damaged(SHIPPED["products"].read_bytes()))
def test_a_damaged_spec_is_read_or_refused(project: Path, content: bytes) -> None:
    path = project / "audits" / "damaged.yml"
    path.write_bytes(content)
    try:
        load_audit(path)
    except BiasledgerError as error:
        message(error)


@examples(60)
@given(data=st.data())
def test_changed_targets_are_read_or_refused(project: Path, data: st.DataObject) -> None:
    document = yaml.safe_load((project / "targets.yml").read_text(encoding="utf-8"))
    path = project / "fuzzed_targets.yml"
    path.write_text(yaml.safe_dump(data.draw(changed(document)), allow_unicode=True), encoding="utf-8")
    for name in document.get("targets", document):
        try:
            load_target(path, str(name))
        except BiasledgerError as error:
            message(error)


FOREIGN = {
    "inspect.eval": ("id", "answer"),
    "inspect.json": ("id", "answer"),
    "promptfoo.json": ("response",),
    "promptfoo.jsonl": ("response",),
    "lm_eval/canned-0001/samples_describe_2026-11-21T09-00-41.418041.jsonl": ("response",),
}


@pytest.mark.parametrize("name", FOREIGN)
@examples(40)
@given(data=st.data())
def test_a_damaged_log_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    source = LOGS / name
    path = folder / source.name
    path.write_bytes(data.draw(damaged(source.read_bytes())))
    try:
        rows = log_rows(path, None)
        if rows is not None:
            write_table(path, rows, (), folder / "table.jsonl")
    except BiasledgerError as error:
        message(error, source.name)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("name", "content"), [("t.csv", TABLE), ("t.jsonl", LINES), ("t.json", ARRAY), ("t.xlsx", workbook())]
)
@examples(40)
@given(data=st.data())
def test_a_damaged_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    path = folder / name
    path.write_bytes(data.draw(damaged(content)))
    try:
        read_table(path, ("question", "race", "answer"))
    except BiasledgerError as error:
        message(error, name)
    shutil.rmtree(folder)


@pytest.mark.parametrize(("name", "content"), [("t.csv", TABLE), ("t.jsonl", LINES)])
@examples(6)
@given(data=st.data())
def test_an_import_is_whole_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("imports")
    spec, path, ledger = folder / "small.yml", folder / name, folder / "ledger.duckdb"
    spec.write_text(IMPORTING, encoding="utf-8")
    path.write_bytes(data.draw(damaged(content)))
    try:
        import_file(load_audit(spec), spec, path, ledger)
    except BiasledgerError as error:
        message(error)
        n_runs = len(Ledger(ledger).runs()) if ledger.exists() else 0
        assert n_runs == 0
    else:
        assert [run.is_finished for run in Ledger(ledger).runs()] == [True]
    shutil.rmtree(folder)
