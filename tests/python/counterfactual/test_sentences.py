"""The substitution on sentences that were written for it, and not for its rules: precision and recall by language."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from collector.counterfactual.swapping import read_prompt, swapped
from collector.counterfactual.words import known_rules, noun_forms, read_words
from collector.errors import InputError

_FOLDER = Path(__file__).parent / "sentences"
_LANGUAGES = sorted(path.stem for path in _FOLDER.glob("*.txt"))
_TABLE = Path(__file__).parents[3] / "docs" / "counterfactual.md"
_ATTRIBUTE = re.compile(r"(race|religion|nationality): ")
_ROWS = {
    "en": "| English |",
    "de": "| German |",
    "fr": "| French |",
    "es": "| Spanish |",
    "pt": "| Portuguese |",
}
_AFTER = {
    "en": "I met {} and she left.",
    "de": "Ich traf {} und er ging.",
    "fr": "J'ai rencontré {} et elle est partie.",
    "es": "Vi a {} y ella se fue.",
    "pt": "Vi {} e ela foi embora.",
}
_MARK = re.compile(r"\[([^>\]]+)>([^\]]+)\]")


def _sentences(language: str) -> list[tuple[str, str, str, bool]]:
    """Return each sentence's attribute and text, how it should read for another group (unchanged if none is swapped),
    and whether it is known to be read wrongly."""
    lines = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            plain = line.removeprefix("! ")
            named = _ATTRIBUTE.match(plain)
            marked = plain[named.end() if named else 0 :].removeprefix("? ")
            attribute = named[1] if named else "gender"
            found.append((attribute, _MARK.sub(r"\1", marked), _MARK.sub(r"\2", marked), plain != line))
    return found


def _swapped(text: str, language: str, attribute: str) -> str:
    swaps = read_prompt(text, language).swaps.get(attribute)
    if not swaps:
        return text
    other = next(group for group in swaps[0].forms if group != swaps[0].group)
    return swapped(text, swaps, other)


@pytest.mark.parametrize("language", _LANGUAGES)
def test_no_sentence_is_read_wrongly_but_those_known(language: str) -> None:
    sentences = _sentences(language)
    results = [(text, right, _swapped(text, language, attribute)) for attribute, text, right, _ in sentences]
    wrong = {text: got for text, right, got in results if not _alike(text, right, got)}
    made = [text not in wrong for text, _, got in results if got != text]
    due = [text not in wrong for text, right, _ in results if right != text]
    figures = [f"{len(sentences):,}", f"{sum(made) / len(made):.2f}", f"{sum(due) / len(due):.2f}"]
    sys.stdout.write(
        "\n".join([f"{language}: {figures}", *(f"{one} → {got}" for one, got in wrong.items()), ""])
    )
    known = {text for _, text, _, is_known in sentences if is_known}
    assert wrong.keys() - known == set(), "now wrong"
    assert known - wrong.keys() == set(), "now right: take their mark ! away"
    row = next(
        line for line in _TABLE.read_text(encoding="utf-8").splitlines() if line.startswith(_ROWS[language])
    )
    assert [one.strip() for one in row.split("|")[2:5]] == figures


@pytest.mark.parametrize("language", _LANGUAGES)
def test_no_pronoun_is_swapped_after_a_fixed_expression_for_a_person(language: str) -> None:
    words = read_words(language)
    stating = {*words.names, *noun_forms(words)} if language in ("es", "fr", "pt") else {*words.names}
    stating |= {form for form, of in words.entries.items() if any(one.attribute == "gender" for one in of)}
    stating |= words.rules["pronouns"]
    listed = [*words.data["fixed"], *words.data["persons"]]
    texts = [
        _AFTER[language].format(one)
        for expression in listed
        for one in {expression, expression.title() if expression.islower() else expression}
        if not stating.isdisjoint({*(found := re.findall(r"\w+", one)), *map(str.lower, found)})
    ]
    assert len(texts) > 40
    assert [one for one in texts if read_prompt(one, language).swaps.get("gender")] == []


@pytest.mark.parametrize("language", _LANGUAGES)
def test_expressions_for_persons_are_left_out_with_a_reason(language: str) -> None:
    for one in read_words(language).data["persons"]:
        reading = read_prompt(f"{one}.", language)
        assert reading.names_person
        assert one in reading.not_safe["gender"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The company Anna founded went bankrupt."),
        ("en", "My uncle Sam is ill."),
        ("de", "Mein Onkel Sam ist krank."),
        ("es", "Mi tío Sam está cansado."),
        ("fr", "Mon oncle Sam est fatigué."),
        ("pt", "Meu tio Sam está cansado."),
    ],
)
def test_a_person_who_stays_is_not_taken_for_nobody(language: str, text: str) -> None:
    assert read_prompt(text, language).names_person


def test_rules_have_known_names_alone() -> None:
    with pytest.raises(KeyError):
        _ = read_words("en").rules["misspelt"]
    with pytest.raises(InputError, match="misspelt"):
        known_rules({"misspelt": "a b"}, "en")


@pytest.mark.parametrize(
    ("language", "text", "other"),
    [
        ("de", "Eine muslimische Frau sucht Arbeit.", "Eine christliche Frau sucht Arbeit."),
        ("es", "Los musulmanes ayunan.", "Los cristianos ayunan."),
        ("fr", "Ma voisine musulmane jeûne.", "Ma voisine chrétienne jeûne."),
        ("pt", "Sou muçulmana.", "Sou cristã."),
    ],
)
def test_terms_of_religion_keep_their_gender_and_number(language: str, text: str, other: str) -> None:
    assert swapped(text, read_prompt(text, language).swaps["religion"], "Christian") == other


@pytest.mark.parametrize("text", ["Jens' Auto", "Max’ Auto"])
def test_german_names_take_their_apostrophe_along(text: str) -> None:
    assert re.fullmatch(r"\w+[^sxzß]s Auto", swapped(text, read_prompt(text, "de").swaps["gender"], "woman"))


@pytest.mark.parametrize("part", ["'a b ", "„a ", "»a ", '"a" ', "a ", "a@ "])
def test_marks_that_open_and_never_close_quote_nothing(part: str) -> None:
    text = part * (60_000 // len(part)) + "My wife left."
    [swap] = read_prompt(text, "en").swaps["gender"]
    assert text[swap.start : swap.end] == "wife"


@pytest.mark.parametrize("language", ["es", "fr", "pt"])
def test_nouns_end_as_their_list_says(language: str) -> None:
    listed = read_words(language).data["nouns"]
    wrong = [one for key, nouns in listed.items() for one in nouns.split() if not one.endswith(_ending(key))]
    assert wrong == []


def _ending(key: str) -> str:
    return key.partition("/")[0] if "/" in key else ""


def _alike(text: str, right: str, got: str) -> bool:
    """Whether a text is as it should be; a first name that is swapped may become any of the lists."""
    if right == got:
        return True
    names = {
        name
        for language in ("en", "de", "fr", "es", "pt")
        if _has(language)
        for name in read_words(language).names
    }
    names |= {f"{name}s" for name in names}
    before, due, made = _words(text), _words(right), _words(got)
    return len(due) == len(made) and all(
        one == other or ({one, other} <= names and one not in before)
        for one, other in zip(due, made, strict=True)
    )


def _has(language: str) -> bool:
    return (_FOLDER / f"{language}.txt").exists()


def _words(text: str) -> list[str]:
    return [re.sub(r"['’]s$|['’]$", "", one) for one in re.findall(r"[\w'’-]+", text)]
