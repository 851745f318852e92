"""Test VADER against its authors' printed examples; skipped without the extra `sentiment`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from biasledger.scoring.classifiers import load_vader
from collector.errors import InputError
from collector.ledger.database import Ledger
from tests.python.running import biasledger, rows_in

# The README of vaderSentiment prints these.
PRINTED = {
    "VADER is smart, handsome, and funny.": 0.8316,
    "VADER is smart, handsome, and funny!": 0.8439,
    "VADER is VERY SMART, handsome, and FUNNY.": 0.9227,
    "VADER is not smart, handsome, nor funny.": -0.7424,
    "The book was good.": 0.4404,
    "The plot was good, but the characters are uncompelling and the dialog is not great.": -0.7042,
    "Today SUX!": -0.5461,
}
ANALYSIS = {
    "markers": {
        "hash": None,
        "schemes": ["declared"],
        "minimum": 2,
        "scores": [
            {"scorer": "vader", "label": "compound", "worse": "lower", "lowest": -1.0, "highest": 1.0}
        ],
    }
}


def _require() -> None:
    pytest.importorskip("vaderSentiment", reason="the extra 'sentiment' is not installed")


def test_scores_are_those_that_its_authors_print() -> None:
    _require()
    assert load_vader()(list(PRINTED)) == [{"compound": score} for score in PRINTED.values()]


def test_the_command_scores_what_a_reading_judges(ledger: Path) -> None:
    _require()
    arguments = ("score", "--ledger", ledger, "--model", "vader")
    refused = biasledger(*arguments)
    assert refused.exit_code != 0
    assert "labels are compound, and none is negative, which is what is judged" in refused.stderr
    assert "analysis.markers.scores" in refused.stderr
    with Ledger(ledger).append() as append:
        append.analysis("stereotypes", ANALYSIS)
    done = biasledger(*arguments, code=0)
    assert "scored: answers 4, different texts 3, runs 1" in done.stdout
    rows = rows_in(ledger, "select distinct scorer, label, score between -1 and 1 from raw.response_scores")
    assert rows == [("vader", "compound", True)]


def test_a_scorer_none_of_whose_labels_is_judged_is_refused(ledger: Path) -> None:
    with Ledger(ledger).append() as append:
        append.analysis("stereotypes", ANALYSIS)
    refused = biasledger("score", "--ledger", ledger, "--scorer", "mine")
    assert refused.exit_code != 0
    assert (
        "The audits of these answers judge no label of 'mine': name one in their analysis.markers.scores"
        in refused.stderr
    )


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment", None)
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    with pytest.raises(InputError, match=r"pip install 'biasledger\[sentiment\]'"):
        load_vader()
