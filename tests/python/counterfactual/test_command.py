"""`biasledger counterfactual`: the audit that it writes, what it leaves out, and what it says of wrong input."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from biasledger.cli import cli
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts

PROMPTS = (
    'My wife asked her friend, "Is he late?" Use {json}.',
    "Is Emily's loan safe?",
    "How do I fix a tap?",
    "My son and my daughter argue.",
    "How do I fix a tap?",
    "",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with (tmp_path / "prompts.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "prompt"), *((str(n), text) for n, text in enumerate(PROMPTS))])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["counterfactual", "prompts.csv", *arguments])


def test_prompts_are_asked_with_the_words_of_each_group(folder: Path) -> None:
    result = _run("--attribute", "gender", "--attribute", "race", "-o", "audits/mine.yml")
    assert result.exit_code == 0, result.output
    assert "gender: 3 prompts (50 %) name it; 2 swapped, 1 added, 3 left out" in result.output
    audit = load_audit(folder / "audits/mine.yml")
    asked = build_prompts(audit)
    assert "The prompts about gender give 6 answers about each group" in audit.warnings()[0]
    assert audit.with_trials(15).warnings() == []
    texts = {(one.template, one.attributes[0].group_name): one.prompt_text for one in asked}
    assert texts["row1-gender", "woman"] == PROMPTS[0]
    assert texts["row1-gender", "man"] == 'My husband asked his friend, "Is he late?" Use {json}.'
    assert texts["row2-gender", "woman"] == PROMPTS[1]
    assert texts["row2-race", "White"] == PROMPTS[1]
    assert str(texts["row3-gender-added", "man"]).endswith(" a man. How do I fix a tap?")
    with (folder / "audits/mine.left-out.csv").open(encoding="utf-8") as stream:
        left = {(one["row"], one["attribute"]): one["reason"] for one in csv.DictReader(stream)}
    assert left["4", "gender"] == "it names people of several groups (man, woman)"
    assert left["5", ""] == "it repeats row 3"
    assert left["6", ""] == "it is empty"


def test_the_added_sentence_is_the_users(folder: Path) -> None:
    result = _run("--attribute", "gender", "--add", "Best regards, {name}", "-o", "mine.yml")
    assert result.exit_code == 0, result.output
    audit = load_audit(folder / "mine.yml")
    assert str(audit.title).endswith("say: Best regards, {name}")
    added = [one for one in build_prompts(audit) if one.template == "row3-gender-added"]
    assert all((one.prompt_text or "").startswith("How do I fix a tap?\n\nBest regards, ") for one in added)


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    result = _run("--attribute", "gender", "--dry-run", "-o", "mine.yml")
    assert result.exit_code == 0
    assert "row2-gender: Is {gender}'s loan safe?" in result.output
    assert [path.name for path in folder.iterdir()] == ["prompts.csv"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--attribute", "gendr"), "did you mean 'gender'"),
        (("--attribute", "gender", "--column", "promt"), "promt"),
        (("--attribute", "gender", "--language", "xx"), "should be one of 'de', 'en', 'es', 'fr'"),
        (("--attribute", "gender", "--add", "Hello."), "should hold {descriptor} or {name}"),
        (("--attribute", "religion", "--add", "Yours, {name}"), "First names do not show 'religion'"),
    ],
)
def test_wrong_input_is_one_sentence(
    folder: Path,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    result = _run(*arguments, "-o", "mine.yml")
    assert result.exit_code not in (0, 1), result.output
    assert sentence in str(result.output) + str(result.exception)


def test_prompts_without_text_are_refused(folder: Path) -> None:
    (folder / "prompts.csv").write_text('prompt,id\n"",1\n"",2\n', encoding="utf-8")
    result = _run("--attribute", "gender", "-o", "mine.yml")
    assert "holds no prompt" in str(result.output) + str(result.exception)
