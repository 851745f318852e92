"""Patterns for a bot's own refusals are proposed from labelled answers, and none of them finds an answer."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.tuning.refusals import propose_refusals
from collector.answers.texts.languages import find_own_refusal
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


@pytest.mark.parametrize(
    "texts",
    [
        ("Weiß nicht, frag wen anders: {}.", "Weiß nicht, frag wen anders! {}"),
        ("You’ll need the other desk for {}.", "You'll need the other desk, {}."),
        ("İşlem masaya aktarıldı: {}.", "{}: i̇şlem masaya aktarıldı."),
        ("C’est l’accueil d’à côté, {}.", "C'est l'accueil d'à côté. {}"),
        ("Cafe\u0301 seul répond ici {}", "{}: Café seul répond ici"),
        ("Voyez\u00a0: le guichet\u202f! {}", "Voyez : le guichet ! {}"),
        ("__Beep__ _topic_ **closed** {}", "Beep topic closed {}"),
        ("non‑topic desk‑only {}", "{}: non-topic desk-only"),
        ("这件事要问柜台同事{}。", "{}，这件事要问柜台同事"),
        ("{}は窓口へどうぞお越し下さいませ。", "窓口へどうぞお越し下さいませ、{}。"),
        ("โปรดถามพนักงานที่เคาน์เตอร์ {}", "{} โปรดถามพนักงานที่เคาน์เตอร์"),
        ("창구 직원에게 문의해 주세요 {}.", "{}? 창구 직원에게 문의해 주세요"),
        ("कृपया काउंटर पर जाइए {}।", "{} कृपया काउंटर पर जाइए"),
        ("راجع مكتب الاستقبال من فضلك {}", "{}: راجع مكتب الاستقبال من فضلك"),
        ("ΡΩΤΑ ΤΟΥΣ ΦΙΛΟΥΣ ΕΚΕΙ {}", "{}: ρωτα τους φιλους εκει"),
        ("<think>It is closed.</think>Try the desk outside, {}.", "Try the desk outside. {}"),
    ],
)
def test_a_proposed_pattern_finds_what_an_audit_searches(texts: tuple[str, str], tmp_path: Path) -> None:
    refused = [text.format(thing) for text, thing in zip(texts, THINGS, strict=False)]
    rows = [*((text, "refused") for text in refused), ("We sell maps and tea.", "answered")]
    found = propose_refusals(write(tmp_path / "labels.csv", rows))
    assert [(one.n_new, one.n_refused) for one in found.patterns] == [(2, 2)]
    assert all(find_own_refusal(text, [found.patterns[0].pattern]) for text in refused)


def test_no_proposal_finds_an_answer_inside_longer_words(tmp_path: Path) -> None:
    rows = [
        ("No map is here.", "refused"),
        ("No map is here!", "refused"),
        ("Piano map is hereby sold.", "answered"),
    ]
    found = propose_refusals(write(tmp_path / "labels.csv", rows))
    assert (found.patterns, found.n_left) == ([], 2)


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
