"""Test the outcomes of texts: Flesch's formula on texts that are counted by hand, hedges, and the share of different words."""

from __future__ import annotations

import numpy as np
import pytest

from biasledger.measures.declared import declared
from biasledger.measures.texts.amounts import amount
from biasledger.measures.texts.hedging import hedging
from biasledger.measures.texts.outcomes import (
    Text,
    TextMeasure,
    hedge_pattern,
    masked_text,
    outcomes,
    text_of,
)
from biasledger.measures.texts.readability import readability
from biasledger.measures.texts.type_token_ratio import WINDOW, type_token_ratio
from collector.answers.decisions.amounts import money_in


def _text(content: str, language: str = "en", hedges: tuple[str, ...] = ()) -> Text:
    found = text_of(content, language, hedge_pattern(hedges), money_in(content))
    assert found is not None
    return found


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
    found = _text(text, language)
    assert (len(found.words), len(found.sentences)) == (n_words, n_sentences)
    assert readability(found) == pytest.approx(ease)
    assert np.isnan(hedging(found))


def test_reading_ease_is_of_languages_with_a_formula_and_begins_at_0() -> None:
    assert np.isnan(readability(_text("Egy macska ült.", "hu")))
    assert readability(_text("Incomprehensibility institutionalisation internationalisation.")) == 0.0


def test_sentences_that_hedge() -> None:
    found = _text(
        "Perhaps. He may go, perhaps. Maybe not. They TEND TO stay. Mayors may-be.",
        hedges=("may", "tend to", "perhaps"),
    )
    assert hedging(found) == pytest.approx(3 / 5)
    assert hedge_pattern([]) is None


@pytest.mark.parametrize(
    ("text", "hedges", "n_words", "n_sentences", "share"),
    [
        ("他也许会来。她不来！他们可能都不来。", ("也许", "可能"), 3, 3, 2 / 3),
        ("彼は来るかもしれない。「はい。」彼女は来ない。", ("かもしれない",), 3, 3, 1 / 3),
        ("शायद वह आएगा। वह नहीं आएगी।", ("शायद", "आए"), 6, 2, 1 / 2),
    ],
)
def test_sentences_of_other_scripts(
    text: str, hedges: tuple[str, ...], n_words: int, n_sentences: int, share: float
) -> None:
    found = _text(text, hedges=hedges)
    assert (len(found.words), len(found.sentences)) == (n_words, n_sentences)
    assert hedging(found) == pytest.approx(share)


def test_names_are_masked_in_other_scripts() -> None:
    assert masked_text("阿依古丽认真。古丽。", {"阿依古丽", "古丽"}) == "x认真。x。"
    assert masked_text("सीता और सीताराम", {"सीता"}) == "x और सीताराम"


def test_a_text_without_words_has_no_outcome() -> None:
    table = outcomes(
        [("1", "en", "12 ?!", ()), ("2", "en", "Perhaps so.", ()), ("3", "xx", "Perhaps so.", ())],
        {"en": ["perhaps"]},
    ).to_pandas()
    measured = [measure.outcome for measure in declared("texts") if isinstance(measure, TextMeasure)]
    assert list(zip(table["text_key"], table["outcome"], strict=True)) == [
        (key, outcome) for key in ("2", "3") for outcome in measured
    ]
    hedged = table[table["outcome"] == "hedging"]["value"].tolist()
    assert hedged[0] == 1.0
    assert np.isnan(hedged[1])
    assert set(table["n_words"]) == {2}


def test_whom_a_text_is_about_changes_neither_how_it_reads_nor_whether_it_hedges() -> None:
    letter = "Dear Mr. {0}, you write well. Ask {0}'s landlord, {0}-{1}, about it. Yours, {1}."
    texts = [
        letter.format(*names) for names in (("John", "Smith"), ("Alejandro", "Hernandez"), ("May", "Can"))
    ]
    names = {"john", "smith", "alejandro", "hernandez", "may", "can"}
    found = [_text(masked_text(text, names), hedges=("may", "can")) for text in texts]
    assert found[0] == found[1] == found[2]
    assert (len(found[0].sentences), hedging(found[0])) == (3, 0.0)
    assert masked_text("They may ask Dr. Who? No.", set()) == "They may ask Dr Who? No."


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("Expect about €180.", [180]),
        ("Between $1,000 and $4,000, or 2k USD for both.", [1000, 4000, 2000]),
        ("Ask for 60.000 Euro im Jahr.", [60_000]),
        ("That is 0,50 €.", [1]),
        ("Your balance is -$500.", [500]),
        ("Sixty people paid £20 in 2024 for 3 rooms, 5 % more.", [20]),
    ],
)
def test_amounts_of_money_count_by_their_logarithms(text: str, amounts: list[float]) -> None:
    assert amount(_text(text)) == pytest.approx(np.log(amounts).mean())


@pytest.mark.parametrize(
    "text",
    ["No price.", "In 2024, 30 of 40 came.", "It is €3,000 a month.", "Lose 10 pounds.", "He won 5 medals."],
)
def test_texts_without_a_certain_amount_have_none(text: str) -> None:
    assert np.isnan(amount(_text(text)))


@pytest.mark.parametrize("n_words", [WINDOW, WINDOW + 1, 200])
def test_the_type_token_ratio_is_the_mean_over_windows(n_words: int) -> None:
    rng = np.random.default_rng(n_words)
    words = [chr(ord("a") + letter) * 2 for letter in rng.integers(0, 20, n_words)]
    windows = [words[start : start + WINDOW] for start in range(n_words - WINDOW + 1)]
    expected = np.mean([len(set(window)) / WINDOW for window in windows])
    assert type_token_ratio(_text(" ".join(words))) == pytest.approx(expected)
    assert type_token_ratio(_text(" ".join(words).upper())) == pytest.approx(expected)


def test_the_type_token_ratio_depends_neither_on_length_nor_on_names() -> None:
    rng = np.random.default_rng(1)
    means = [
        np.mean(
            [
                type_token_ratio(_text(" ".join(f"w{'abcdefgh'[n]}" for n in rng.integers(0, 8, length))))
                for _ in range(300)
            ]
        )
        for length in (WINDOW, 20 * WINDOW)
    ]
    assert means[0] == pytest.approx(means[1], abs=0.01)
    told = " ".join(["one two three four five"] * 5)
    assert type_token_ratio(_text(masked_text(f"Ann {told} Ann Lee", {"ann", "lee"}))) == pytest.approx(
        5 / WINDOW
    )


def test_short_texts_and_languages_without_blanks_have_no_type_token_ratio() -> None:
    assert np.isnan(type_token_ratio(_text(" ".join(["word"] * (WINDOW - 1)))))
    assert np.isnan(type_token_ratio(_text(" ".join(["词"] * WINDOW), "zh")))
