"""Test docs/targets.md and the shipped targets.yml: every example loads, and every kind has one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.targets import kinds, load_target
from collector.targets.base import Request
from lmrec.encoders.fitting import Text
from lmrec.encoders.tfidf import Tfidf, TfidfSettings
from lmrec.masking import Masker
from lmrec.model import CatalogueRow, Recommender
from lmrec.yelp import Venue
from tests.python.docs.shell import ROOT

TEXT = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
VARIABLES = (
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "RECOMMENDER_KEY",
    "SEARCH_KEY",
)
SHIPPED_VARIABLES = ("MY_ENDPOINT_API_KEY", "MY_RECOMMENDER_KEY")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def described() -> list[tuple[str, str]]:
    """Return (YAML, name) of every target in the page."""
    return [(text, name) for text in examples("yaml") for name in yaml.safe_load(text)["targets"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the module, the file of answers and the model that the page shows, and keys in the environment."""
    encoder, _ = Tfidf.fit([Text("pasta", 0), Text("tacos", 1)], TfidfSettings())
    rows = [CatalogueRow(Venue(name, name, "Boston", 1), 1, 1) for name in ("Uno", "Duo")]
    Recommender({"city": "Boston"}, rows, encoder, Masker("none", [])).save(tmp_path / "models" / "boston")
    (module,), (answers,) = examples("python"), examples("csv")
    (tmp_path / "recommender.py").write_text(module)
    (tmp_path / "answers.csv").write_text(answers)
    for name in (*VARIABLES, *SHIPPED_VARIABLES):
        monkeypatch.setenv(name, "sk-0123456789abcdef")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("recommender", None)


@pytest.mark.parametrize(("text", "name"), described(), ids=[name for _, name in described()])
def test_every_example_can_be_loaded_and_stored(folder: Path, text: str, name: str) -> None:
    (folder / "targets.yml").write_text(text)
    target = load_target(folder / "targets.yml", name)
    assert target.name == name
    assert "0123456789abcdef" not in json.dumps(dict(target.parameters))


def test_every_kind_has_an_example() -> None:
    shown = {yaml.safe_load(text)["targets"][name]["kind"] for text, name in described()}
    assert shown == set(kinds())
    listed = set(re.findall(r"^\| .* \| `(\w+)` \|$", TEXT, flags=re.MULTILINE))
    assert listed == set(kinds())


def _keys(schema: Any) -> set[str]:
    """The names of all properties in a schema, those of its sections among them."""
    if isinstance(schema, list):
        return set().union(*map(_keys, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(_keys, schema.values()))


def test_every_setting_that_the_page_names_exists() -> None:
    known = {name for module in kinds().values() for name in _keys(module.Settings.model_json_schema())}
    for name in re.findall(r"`(\w+): ", TEXT):
        assert name in known | {"kind", "headers", "steer", "targets"}, name
    for name in ("requests_per_minute", "tokens_per_minute", "total_timeout_seconds", "timeout_seconds"):
        assert name in TEXT


def test_the_function_and_the_file_answer_as_shown(folder: Path) -> None:
    texts = {name: text for text, name in described()}
    (folder / "targets.yml").write_text(texts["als"])
    function = load_target(folder / "targets.yml", "als")
    assert function.ask(Request("Some jazz, please.")).text == '["So What", "Take Five"]'
    assert load_target(folder / "targets.yml", "python:recommender:recommend").ask(Request("Pop.")).text
    (folder / "targets.yml").write_text(texts["last-year"])
    replay = load_target(folder / "targets.yml", "last-year")
    assert replay.ask(Request("Recommend ten songs.", trial=2)).text == "I cannot help with that."


def test_every_shipped_target_can_be_loaded(folder: Path) -> None:
    path = ROOT / "targets.yml"
    for name in yaml.safe_load(path.read_text(encoding="utf-8"))["targets"]:
        assert load_target(path, name).name == name
