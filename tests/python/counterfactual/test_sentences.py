"""The substitution on sentences that were written for it, and not for its rules: precision and recall by language."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from collector.counterfactual.swapping import read_prompt, swapped
from collector.counterfactual.words import read_words

_FOLDER = Path(__file__).parent / "sentences"
_ATTRIBUTE = re.compile(r"(race|religion|nationality): ")
_MARK = re.compile(r"\[([^>\]]+)>([^\]]+)\]")


def _sentences(language: str) -> list[tuple[str, str, str]]:
    """Return each sentence's attribute and text, and how it reads for another group; unchanged if none is swapped."""
    lines = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            named = _ATTRIBUTE.match(line)
            marked = line[named.end() if named else 0 :].removeprefix("? ")
            attribute = named[1] if named else "gender"
            found.append((attribute, _MARK.sub(r"\1", marked), _MARK.sub(r"\2", marked)))
    return found


def _swapped(text: str, language: str, attribute: str) -> str:
    swaps = read_prompt(text, language).swaps.get(attribute)
    if not swaps:
        return text
    other = next(group for group in swaps[0].forms if group != swaps[0].group)
    return swapped(text, swaps, other)


@pytest.mark.parametrize("language", sorted(path.stem for path in _FOLDER.glob("*.txt")))
def test_swaps_are_right_and_few_are_missed(language: str) -> None:
    sentences = _sentences(language)
    results = [(text, right, _swapped(text, language, attribute)) for attribute, text, right in sentences]
    made = [_alike(*one) for one in results if one[2] != one[0]]
    due = [_alike(*one) for one in results if one[1] != one[0]]
    precision = sum(made) / len(made)
    recall = sum(due) / len(due)
    figures = f"{language}: {len(sentences)} sentences, precision {precision:.3f}, recall {recall:.3f}"
    wrong = [f"{text} → {got}, not {right}" for text, right, got in results if not _alike(text, right, got)]
    sys.stdout.write("\n".join([figures, *wrong, ""]))
    assert precision >= 0.97, wrong
    assert recall >= 0.9, wrong


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
