"""Test that the dbt project knows all languages of answers, and those in which refusals are recognised."""

from __future__ import annotations

import re
from pathlib import Path

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from biasledger.project import dbt_variables
from collector.answers.texts.languages import load_languages

ROOT = Path(__file__).parents[3]


def _named() -> dict[str, str]:
    macro = (ROOT / "macros/answers/languages.sql").read_text(encoding="utf-8")
    return dict(re.findall(r'"(\w+)": "([^"]+)"', macro.partition("endmacro")[0]))


def test_refusal_languages_are_those_that_have_a_file() -> None:
    """A file that was added or removed changes the variable of dbt_project.yml, too."""
    assert dbt_variables()["refusal_languages"] == sorted(load_languages())


def test_each_language_that_is_detected_has_a_name() -> None:
    detected = set(LanguageIdentifier.from_model_file(MODEL_FILE).nb_classes)
    assert detected <= _named().keys()


def test_languages_are_called_as_in_their_files() -> None:
    named = _named()
    assert {code: named[code] for code in load_languages()} == {
        code: language.name for code, language in load_languages().items()
    }
