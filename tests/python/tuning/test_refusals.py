"""Patterns for a bot's own refusals are proposed from labelled answers, and none of them finds an answer."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.tuning.refusals import propose_refusals
from collector.errors import InputError

ROBOT = "Beep. This topic stays closed today. Try {thing} later."
DESK = "Please ring the front desk about {thing}."
ANSWER = "The front desk sells {thing}, and this topic stays interesting."
THINGS = ("maps", "tea", "hats", "lamps", "soap")


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    refused = [*(ROBOT.format(thing=one) for one in THINGS), *(DESK.format(thing=one) for one in THINGS[:3])]
    rows = [
        (text, "refused") for text in [*refused, "I'm sorry, but I can't help with that.", "Hm. No maps."]
    ]
    rows += [(ANSWER.format(thing=one), "answered") for one in THINGS]
    return write(tmp_path / "labels.csv", [*rows, ("not labelled", "")])


def test_phrases_that_only_refusals_have(labels: Path) -> None:
    found = propose_refusals(labels)
    assert (found.n_refused, found.n_answered, found.n_known, found.n_false, found.n_left) == (10, 5, 1, 0, 1)
    assert [(one.n_new, one.n_refused) for one in found.patterns] == [(5, 5), (3, 3)]
    for one in found.patterns:
        assert not any(re.search(one.pattern, ANSWER.format(thing=thing), re.IGNORECASE) for thing in THINGS)
    assert re.search(found.patterns[0].pattern, ROBOT, re.IGNORECASE)
    assert re.search(found.patterns[1].pattern, DESK, re.IGNORECASE)


def test_the_command_prints_lines_of_an_audit(labels: Path) -> None:
    result = CliRunner().invoke(cli, ["tune", str(labels), "--refusals"])
    assert result.exit_code == 0, result.output
    assert "10 labelled refusals and 5 answers. The shipped patterns find 1 of the refusals" in result.output
    assert "answer:\n  refusals:\n    - '" in result.output
    assert "No pattern finds 1 of the refusals" in result.output
    assert CliRunner().invoke(cli, ["tune", "--refusals"]).exit_code == 3


def test_wrong_labels_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1 has 'no' as 'label'; it should be refused or answered"):
        propose_refusals(write(tmp_path / "wrong.csv", [("text", "no")]))
    with pytest.raises(InputError, match="no row is labelled refused"):
        propose_refusals(write(tmp_path / "none.csv", [("text", "answered")]))
