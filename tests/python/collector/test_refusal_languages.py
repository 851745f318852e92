"""Test refusals in every language: sentences that refuse, near misses that answer, and the format of the files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from collector.answers.texts import languages
from collector.answers.texts.languages import find_own_refusal, find_refusal, load_languages, refusal_language
from collector.errors import InputError
from tests.python.growth import assert_linear

SENTENCES = Path(__file__).with_name("refusals")
LANGUAGES = load_languages()
MIN_SENTENCES = 40
MIN_RECALL = 0.9
MIN_PRECISION = 0.97


@cache
def sentences(code: str) -> dict[str, list[str]]:
    """Return the sentences that refuse and those that answer; every value is a text."""
    text = (SENTENCES / f"{code}.yml").read_text(encoding="utf-8")
    loaded: dict[str, list[str]] = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    return loaded


def without_hints(text: str) -> bool:
    """Whether a refusal is found if the language is known beforehand."""
    return any(languages._matcher(code).find(*languages._opening(text)) for code in LANGUAGES)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_enough_sentences(code: str) -> None:
    for kind in ("refusals", "answers"):
        distinct = {sentence.casefold() for sentence in sentences(code)[kind]}
        assert len(distinct) == len(sentences(code)[kind]) >= MIN_SENTENCES, kind


@pytest.mark.parametrize("code", LANGUAGES)
def test_recall_and_precision(code: str) -> None:
    # The patterns of all languages are tried on every sentence.
    missed = [sentence for sentence in sentences(code)["refusals"] if find_refusal(sentence) is None]
    wrong = {sentence: found for sentence in sentences(code)["answers"] if (found := find_refusal(sentence))}
    n_found = len(sentences(code)["refusals"]) - len(missed)
    recall = n_found / len(sentences(code)["refusals"])
    precision = n_found / (n_found + len(wrong))
    assert recall >= MIN_RECALL, "not found:\n" + "\n".join(missed)
    assert precision >= MIN_PRECISION, "called a refusal:\n" + "\n".join(
        f"{found}: {sentence}" for sentence, found in wrong.items()
    )


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_hints_of_a_language_hide_no_refusal(code: str) -> None:
    hidden = [
        sentence
        for sentence in sentences(code)["refusals"]
        if find_refusal(sentence) is None and without_hints(sentence)
    ]
    assert hidden == []


def test_a_title_passes_for_few_languages() -> None:
    """Compiling the patterns of a language takes as long as reading hundreds of titles."""
    others = {languages._matcher(code) for code in ("da", "de", "no")}
    assert others.isdisjoint(languages._candidates("station kitchen"))


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_pattern_compiles(code: str) -> None:
    # All patterns are compiled as one; the error names the wrong one, if any.
    languages._matcher(code)
    for refusal in LANGUAGES[code].refusals:
        assert refusal_language(refusal.id) is LANGUAGES[code]
    for key in (
        "courtesies",
        "markers",
        "copulas",
        "final_markers",
        "choosing",
        "nouns",
        "negations",
        "negations_after",
    ):
        for source in getattr(LANGUAGES[code], key):
            assert re.compile(source, re.IGNORECASE).groups == 0, (key, source)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_decision_can_be_read_in_every_language(code: str) -> None:
    language = LANGUAGES[code]
    assert all((language.markers, language.final_markers, language.choosing, language.nouns, language.yes))
    assert language.negations or language.negations_after
    assert {word.casefold() for word in language.yes}.isdisjoint(word.casefold() for word in language.no)


@pytest.mark.parametrize("code", LANGUAGES)
def test_gaps_in_patterns_are_bounded(code: str) -> None:
    # The letters of one word may go on: only the opening of a text is read.
    unbounded = re.compile(r"(?:(?<!\\)\.|\[\^[^\]]*\]|\\[WSD])(?:\*|\+|\{\d+,\})")
    language = LANGUAGES[code]
    sources = {refusal.id: refusal.preface + refusal.source for refusal in language.refusals}
    sources |= {f"courtesies[{index}]": source for index, source in enumerate(language.courtesies)}
    found = {name: unbounded.findall(source) for name, source in sources.items()}
    assert {name: gaps for name, gaps in found.items() if gaps} == {}


@pytest.mark.parametrize("code", LANGUAGES)
def test_long_texts_of_a_language_take_time_in_proportion(code: str) -> None:
    # Sentences cut in the middle and repeated: many starts of refusals, and none that is complete.
    for sentence in sentences(code)["refusals"]:
        piece = sentence[: len(sentence) * 2 // 3] + ", "
        # As long as the opening of a text that is searched. It is remembered nowhere; patterns are compiled at its first reading.
        text = (piece * (1_200 // len(piece) + 1))[:1_200]
        find_refusal(text)
        assert_linear(find_refusal, text)


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ("**I'm sorry**, but I can't help with that.", True),
        ("> I’m sorry, but I can’t\nhelp with that.", True),
        ("\n\n\"I'M SORRY, BUT I CAN'T HELP WITH THAT.\"", True),
        ("She said: I'm sorry, but I can't help with that.", False),
        ("“I can't help you with that,” she said.", False),
        ("„Dabei kann ich leider nicht helfen.“", True),
        ("", False),
        ("…", False),
    ],
)
def test_where_a_refusal_stands(text: str, is_refusal: bool) -> None:
    assert (find_refusal(text) is not None) == is_refusal


def test_an_audits_own_patterns_are_looked_for_anywhere_near_the_start() -> None:
    extra = ["please ask a colleague", "ticket \\d+ was opened"]
    assert find_own_refusal("Hello! Ticket 12 was opened for you.", extra) == extra[1]
    assert find_own_refusal("Hello! PLEASE ask a colleague.", extra) == extra[0]
    for pattern in ("can’t discuss", "can`t discuss", "can't\u00a0discuss"):
        for text in ("I can’t discuss it.", "I CAN'T discuss it.", "I canʼt\u202fdiscuss it."):
            assert find_own_refusal(text, [pattern]) == pattern
    assert find_own_refusal("işlem", ["İşlem"])
    assert find_own_refusal("İŞLEM", ["i̇şlem"])
    assert find_own_refusal("cafe\u0301 on\u2011call", ["café on-call"])
    assert find_own_refusal("x" * 2000 + "please ask a colleague", extra) is None
    with pytest.raises(InputError, match="is not a regular expression"):
        find_own_refusal("Hello!", ["("])


FILE = """
language: xx
name: Test
refusals: [{id: xx-no, pattern: "i (?:cannot|can't)"}]
courtesies: []
markers: []
copulas: []
final_markers: []
choosing: []
nouns: []
yes: [yes]
no: [no]
negations: []
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: Test\n", "", "has no key 'name'"),
        ("name: Test", "names: Test", "the key 'names' is unknown"),
        ("language: xx", "language: en", "language is 'en'; it should be the file's name, 'xx'"),
        ("id: xx-no", "id: no", r"the id of refusals\[0\], 'no', should start with 'xx-'"),
        ("id: xx-no, ", "", r"refusals\[0\] has no text under the key 'id'"),
        ("markers: []\ncop", "markers: x\ncop", "markers should be a list of texts"),
        ("no: [no]", "no: [no]\nno: [nope]", "the key 'no' is given twice"),
        ("(?:cannot", "<<cannot>>(?:", r"refusals\[0\].pattern uses <<cannot>>"),
        ("yes: [yes]", "yes: [yes", "is not valid YAML"),
        ("can't)\"}]", "can't)\"}, {id: xx-no, pattern: x}]", "the refusal id 'xx-no' is given twice"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    (tmp_path / "xx.yml").write_text(FILE.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_languages(tmp_path)


def test_yes_and_no_are_words_and_parts_are_filled_in(tmp_path: Path) -> None:
    parts = "parts:\n  help: help|answer\n  that: <<help>> (?:that|this)\n"
    (tmp_path / "xx.yml").write_text(parts + FILE.replace("can't)", "can't) <<that>>"))
    language = load_languages(tmp_path)["xx"]
    assert (language.yes, language.no) == (("yes",), ("no",))
    assert re.match(language.refusals[0].source, "i can't answer this")
    assert re.match(language.refusals[0].source, "i can't sing this") is None


def test_names_of_parts_are_no_words_of_a_language(tmp_path: Path) -> None:
    """A language is tried only if the text has enough of its words."""
    (tmp_path / "xx.yml").write_text(
        f"parts: {{that: dit}}\n{FILE.replace('(?:cannot', '<<that>> (?:cannot')}"
    )
    written = load_languages(tmp_path)["xx"].pattern_text
    assert "dit" in written
    assert "that" not in written
