"""Test Flesch's formula on texts that are counted by hand, and the counts of hedges."""

from __future__ import annotations

import numpy as np
import pytest

from biasledger.measures.texts.styles import hedge_pattern, masked_text, style, styles


@pytest.mark.parametrize(
    ("text", "language", "n_words", "n_sentences", "ease"),
    [
        ("The cat sat on the mat.", "en", 6, 1, 206.835 - 1.015 * 6 - 84.6),
        # Syllables where a dictionary parts the words: won-der-ful, hap-pened, some-thing, yes-ter-day.
        ("Something wonderful happened yesterday!\nGood.", "en", 5, 2, 206.835 - 1.015 * 2.5 - 84.6 * 11 / 5),
        ("Der Hund lief in den Wald. Er kam bald.", "de", 9, 2, 180 - 4.5 - 58.5),
    ],
)
def test_reading_ease(text: str, language: str, n_words: int, n_sentences: int, ease: float) -> None:
    found = style(text, language, None)
    assert found is not None
    assert (found.n_words, found.n_sentences) == (n_words, n_sentences)
    assert found.readability == pytest.approx(ease)
    assert np.isnan(found.hedging)


def test_reading_ease_is_of_languages_with_a_formula_and_begins_at_0() -> None:
    found = style("Egy macska ült.", "hu", None)
    assert found is not None
    assert np.isnan(found.readability)
    hard = style("Incomprehensibility institutionalisation internationalisation.", "en", None)
    assert hard is not None
    assert hard.readability == 0.0


def test_sentences_that_hedge() -> None:
    pattern = hedge_pattern(["may", "tend to", "perhaps"])
    found = style("Perhaps. He may go, perhaps. Maybe not. They TEND TO stay. Mayors may-be.", "en", pattern)
    assert found is not None
    assert found.hedging == pytest.approx(3 / 5)
    assert hedge_pattern([]) is None


def test_a_text_without_words_has_no_style() -> None:
    table = styles(
        [("1", "en", "12 ?!"), ("2", "en", "Perhaps so."), ("3", "xx", "Perhaps so.")], {"en": ["perhaps"]}
    ).to_pandas()
    assert table["text_key"].tolist() == ["2", "3"]
    assert table["hedging"].tolist()[0] == 1.0
    assert np.isnan(table["hedging"].tolist()[1])


def test_whom_a_text_is_about_changes_neither_how_it_reads_nor_whether_it_hedges() -> None:
    letter = "Dear Mr. {0}, you write well. Ask {0}'s landlord, {0}-{1}, about it. Yours, {1}."
    texts = [
        letter.format(*names) for names in (("John", "Smith"), ("Alejandro", "Hernandez"), ("May", "Can"))
    ]
    names = {"john", "smith", "alejandro", "hernandez", "may", "can"}
    found = [style(masked_text(text, names), "en", hedge_pattern(["may", "can"])) for text in texts]
    assert found[0] is not None
    assert found[0] == found[1] == found[2]
    assert (found[0].n_sentences, found[0].hedging) == (3, 0.0)
    assert masked_text("They may ask Dr. Who? No.", set()) == "They may ask Dr Who? No."
