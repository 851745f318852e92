"""Test `biasledger init`: the small project and its links to the installed models."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click
import pytest
import yaml

from biasledger import project
from biasledger.cli import cli
from collector.errors import InputError
from collector.spec.loading import load_audit
from tests.python.running import biasledger

ROOT = project.dbt_source()
MINIMUM = {
    *(".gitignore", "README.md", "dbt_project.yml", "profiles.yml", "targets.yml"),
    *("audits/audit.schema.json", "audits/products.yml"),
    *(f"seeds/{name}" for name in project.SETTINGS),
}


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def linked(folder: Path) -> Path:
    return folder / ".biasledger" / "packages" / "biasledger"


def test_lays_out_a_project_and_names_the_next_command(tmp_path: Path) -> None:
    result = biasledger("init", tmp_path / "audits of mine", code=0)
    assert set(contents(tmp_path / "audits of mine")) == MINIMUM
    assert f"cd '{tmp_path}/audits of mine' && biasledger collect" in result.output
    assert load_audit(tmp_path / "audits of mine" / "audits" / "products.yml").trials == 2


def test_who_is_there_already_need_not_go_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    last = biasledger("init", ".").output.splitlines()[-1]
    assert last == "Next: biasledger collect audits/products.yml --target simulator"


def test_lays_out_every_audit_where_that_is_asked_for(tmp_path: Path) -> None:
    biasledger("init", "--all", tmp_path, code=0)
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "audits").rglob("*") if path.is_file()}
    assert len(shipped) > 40
    assert set(contents(tmp_path)) >= shipped | MINIMUM


def test_lays_out_the_audits_of_languages(tmp_path: Path) -> None:
    result = biasledger("init", "--language", "de", "--language", "zh", tmp_path, code=0)
    assert result.output.splitlines()[-1].endswith(
        "collect audits/languages/de/rankings.yml --target simulator"
    )
    audits = sorted((tmp_path / "audits/languages").rglob("*.yml"))
    assert [load_audit(path).audit for path in audits] == [
        *("rankings-de", "recommendations-de", "rankings-zh", "recommendations-zh"),
    ]
    unknown = biasledger("init", "--language", "xx", tmp_path / "other")
    assert "in the language 'xx'; there are de, es, fr, hi, pt, zh, and English" in unknown.stderr


def test_every_preset_can_be_chosen() -> None:
    [option] = [one for one in cli.commands["init"].params if one.name == "preset"]
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == set(project.PRESETS)


def test_a_preset_lays_out_audits_for_a_purpose(tmp_path: Path) -> None:
    result = biasledger("init", "--preset", "chatbot", tmp_path)
    assert result.output.splitlines()[-1].endswith("biasledger collect audits/chatbot.yml --target simulator")
    audits = {str(path.relative_to(tmp_path)) for path in (tmp_path / "audits").glob("*.yml")}
    assert audits == {"audits/chatbot.yml", "audits/stereotypes.yml"}
    assert biasledger("validate", *sorted(tmp_path / audit for audit in audits)).exit_code == 0
    both = biasledger("init", "--preset", "chatbot", "--all", tmp_path / "other")
    assert "leave out --preset" in both.stderr


def test_overwrites_nothing_and_says_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "profiles.yml").symlink_to(tmp_path / "dangling")
    before = contents(tmp_path)
    result = biasledger("init", tmp_path, code=3)
    assert "already holds profiles.yml: nothing was changed" in result.stderr
    assert contents(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "profiles.yml"]


def test_a_folder_with_answers_becomes_a_project(tmp_path: Path) -> None:
    """Who asked a model in a folder of their own lays the project out around the answers."""
    own = {"targets.yml": "mine", "audits/products.yml": "mine", "README.md": "mine", "notes.txt": "mine"}
    own["ledger.duckdb"] = ""
    for name, text in own.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = biasledger("init", tmp_path, code=0)
    assert "Kept as they were: README.md, audits/products.yml, targets.yml" in result.output
    assert result.output.splitlines()[-1].endswith("biasledger build")
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in own} == own
    assert (tmp_path / "dbt_project.yml").is_file()


def test_own_targets_and_ignored_files_are_kept(tmp_path: Path) -> None:
    for name in ("targets.yml", ".gitignore"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    said = biasledger("init", tmp_path).output
    assert said.endswith("biasledger collect audits/products.yml --target TARGET\n")
    assert "Add *.duckdb, journal/ and .biasledger/ to .gitignore" in said


@pytest.mark.parametrize("name", ["audits", "seeds", ".biasledger"])
def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    result = biasledger("init", tmp_path, code=3)
    assert f"holds a file {name}, where a folder is needed: nothing was changed." in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert "is a file" in biasledger("init", tmp_path / "x").stderr


def test_models_are_linked_and_the_settings_are_the_projects_own(tmp_path: Path) -> None:
    project.init_project(tmp_path)
    source = project.dbt_source()
    assert (linked(tmp_path) / "models").resolve() == source / "models"
    assert (linked(tmp_path) / "tests" / "dbt").resolve() == source / "tests" / "dbt"
    assert (linked(tmp_path) / "seeds" / "thresholds.csv").samefile(tmp_path / "seeds" / "thresholds.csv")
    assert (linked(tmp_path) / "seeds" / "measures.csv").samefile(source / "seeds" / "measures.csv")
    assert {path.name for path in (linked(tmp_path) / "seeds").iterdir()} == {
        path.name for path in (source / "seeds").iterdir()
    }


def test_settings_that_were_removed_fall_back_to_the_packages_own(tmp_path: Path) -> None:
    project.init_project(tmp_path)
    (tmp_path / "seeds" / "exceptions.csv").unlink()
    project.link_package(tmp_path)
    assert (linked(tmp_path) / "seeds" / "exceptions.csv").samefile(
        project.dbt_source() / "seeds" / "exceptions.csv"
    )


@pytest.mark.parametrize("damage", ["moved", "file", "folder", "missing"])
def test_broken_links_are_mended(tmp_path: Path, damage: str) -> None:
    project.init_project(tmp_path)
    links = linked(tmp_path)
    if damage == "moved":
        (links / "models").unlink()
        (links / "models").symlink_to(tmp_path / "no longer there")
    else:
        links.rename(tmp_path / "elsewhere")
        if damage == "file":
            links.touch()
        elif damage == "folder":
            links.symlink_to(tmp_path / "elsewhere")
    project.require_project(tmp_path)
    assert (links / "models").resolve() == project.dbt_source() / "models"
    assert (project.dbt_source() / "dbt_project.yml").is_file(), (
        "mending must not follow links when it removes them"
    )


def test_where_links_are_impossible_the_models_are_copied_and_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("links are not allowed here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    project.init_project(tmp_path)
    assert not (linked(tmp_path) / "models").is_symlink()
    assert contents(linked(tmp_path) / "models")
    (tmp_path / "seeds" / "exceptions.csv").write_text("changed\n", encoding="utf-8")
    project.require_project(tmp_path)
    assert (linked(tmp_path) / "seeds" / "exceptions.csv").read_text(encoding="utf-8") == "changed\n"


def test_the_checkout_itself_is_a_project_that_needs_no_links() -> None:
    source = project.dbt_source()
    before = (source / ".biasledger").exists()
    project.require_project(source)
    assert (source / ".biasledger").exists() == before


def test_another_folder_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no dbt_project"):
        project.require_project(tmp_path)


def test_the_thin_project_uses_the_shipped_profile(tmp_path: Path) -> None:
    project.init_project(tmp_path)
    thin = yaml.safe_load((tmp_path / "dbt_project.yml").read_text(encoding="utf-8"))
    assert thin["profile"] in yaml.safe_load((tmp_path / "profiles.yml").read_text(encoding="utf-8"))
    assert thin["flags"]["send_anonymous_usage_stats"] is False
    assert tmp_path.joinpath(thin["packages-install-path"], "biasledger", "dbt_project.yml").is_file()
