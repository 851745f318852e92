"""Test docs/questions.md: every place that a row names exists and is as many clicks away as it says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click
import pytest

from biasledger.cli import cli
from biasledger.querying.analyses import list_analyses
from biasledger.reporting import render
from tests.python.docs.shell import ROOT
from tests.python.serving.conftest import serving

PAGE = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
READERS = ("A manager", "An auditor", "A data scientist")


PLACES = ("report", "explorer")
REPORT = (ROOT / "biasledger" / "reporting" / "templates" / "report.html.j2").read_text(encoding="utf-8")
# The first page of the report, down to the first audit.
FIRST = REPORT[: REPORT.index('class="run"')]
SHOWN = FIRST[FIRST.index("<main>") :]
CONTENTS = re.findall(r'href="#([^"]+)"', FIRST[FIRST.index('class="contents"') : FIRST.index("</nav>")])
APP = (ROOT / "biasledger" / "serving" / "app.py").read_text(encoding="utf-8")
VIEWS = re.findall(r'_View\("/\w+", "(\w+)"', APP)


def _rows() -> list[tuple[str, str, str, str]]:
    """Reader, question, where and steps of every row."""
    rows, reader = [], ""
    for line in PAGE.splitlines():
        reader = line.removeprefix("## ") if line.startswith("## ") else reader
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "question":
            rows.append((reader, *cells))
    return rows


ROWS = _rows()


def test_each_reader_has_ten_questions() -> None:
    counted = Counter(reader for reader, *_ in ROWS)
    assert tuple(counted) == READERS
    assert min(counted.values()) >= 10
    assert counted.total() == 31
    assert "\nThirty-one questions" in PAGE


@pytest.mark.parametrize(("reader", "question", "where", "steps"), ROWS)
def test_the_answer_is_where_it_says(reader: str, question: str, where: str, steps: str) -> None:
    assert question.endswith("?"), reader
    place = where.partition(",")[0]
    if place in PLACES:
        assert steps == _clicks(place, where, _named(where))
        return
    commands = re.findall(r"`(biasledger [^`]+)`", where)
    assert steps == f"{len(commands)} command{'s' * (len(commands) > 1)}"
    for command in commands:
        _, name, *arguments = command.split()
        found = cli.commands[name] if isinstance(cli, click.Group) else None
        assert found is not None
        options = {option for parameter in found.params for option in parameter.opts}
        assert {one for one in arguments if one.startswith("--")} <= options
        if name == "query":
            assert arguments[0] in {one.name for one in list_analyses()}


@pytest.mark.slow
def test_every_heading_stands_on_its_page(audited: Path) -> None:
    shown = {"report": _headings(render(audited / "warehouse.duckdb"))}
    with serving(audited) as explorer:
        [(finding,)] = explorer.rows(
            "select max(finding_id) from marts.fct_findings where measure = 'word_divergence' and status = 'alarm'"
        )
        shown |= {view: _headings(explorer.get(f"/{view.lower()}").text) for view in VIEWS}
        shown["a finding"] = _headings(explorer.get(f"/finding/{finding}").text)
    for _, question, where, _ in ROWS:
        place, named = where.partition(",")[0], _named(where)
        if place in PLACES:
            page = place if place == "report" else "a finding" if ", a finding" in where else named[0]
            assert set(named) <= shown[page], question


def _named(where: str) -> list[str]:
    """The headings that a row names."""
    return re.findall(r"\*([^*]+)\*", where)


def _headings(page: str) -> set[str]:
    """Return its headings, captions and summaries, and the parts of these, without texts for screen readers only."""
    seen = re.sub(r'<span class="hidden">.*?</span>', "", page)
    found = re.findall(r"<(h[1-6]|summary|figcaption)\b[^>]*>(.*?)</\1>", seen, re.DOTALL)
    # A chart's caption is its finding and, in a part of its own, its title.
    parts = [part for _, text in found for part in (text, *re.findall(r"<bdi>(.*?)</bdi>", text, re.DOTALL))]
    return {re.sub(r"<[^>]+>", "", part).strip() for part in parts}


def _clicks(place: str, where: str, named: list[str]) -> str:
    """How many it takes from the page that opens first."""
    if place == "explorer":
        # The first of the views is the page that opens first; a finding is a link in it.
        n = 1 if ", a finding" in where else int(VIEWS.index(named[0]) > 0)
    elif ", an audit" in where:
        assert "{{ section.key }}" in CONTENTS
        n = 1 + (named == ["SQL"])
    elif not named or f">{named[0]}<" in SHOWN or f'"{named[0]}"' in SHOWN:
        n = 0
    else:
        section = re.search(rf'id="([\w-]+)-title"[^>]*>{re.escape(named[0])}<', REPORT)
        assert section is not None
        assert section[1] in CONTENTS
        n = 1 + (f"<summary>{named[-1]}" in REPORT)
    return f"{n} click{'s' * (n != 1)}"
