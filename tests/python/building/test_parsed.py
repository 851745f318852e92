"""Test that projects of one user share what dbt parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasledger.building import PARSED, parsed

METHODS = ("words",)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(parsed.CACHE, str(folder))
    return folder


def project(folder: Path, content: str = "name: mine") -> Path:
    folder.mkdir()
    (folder / "dbt_project.yml").write_text(content, encoding="utf-8")
    return folder


def built(
    folder: Path, found: bytes, methods: tuple[str, ...] = METHODS, *, keeps: bool = True
) -> bytes | None:
    """Return the parsed project that dbt finds at its start; leave `found` behind."""
    state = folder / PARSED
    with parsed.parsed_before(folder, methods, keeps=keeps):
        before = state.read_bytes() if state.exists() else None
        state.parent.mkdir(exist_ok=True)
        state.write_bytes(found)
    return before


def test_the_next_project_begins_with_what_was_parsed_last(tmp_path: Path, cache: Path) -> None:
    assert built(project(tmp_path / "a"), b"of a") is None
    assert built(project(tmp_path / "b"), b"of b") == b"of a"
    assert built(project(tmp_path / "c"), b"of b") == b"of b"
    assert cache.stat().st_mode & 0o077 == 0


def test_a_project_goes_on_from_its_own_and_keeps_that_to_itself(tmp_path: Path, cache: Path) -> None:
    first = project(tmp_path / "a")
    built(first, b"of a")
    assert built(first, b"of a, with a model of its own") == b"of a"
    assert built(project(tmp_path / "b"), b"") == b"of a"


def test_another_project_file_or_other_methods_share_nothing(tmp_path: Path, cache: Path) -> None:
    built(project(tmp_path / "a"), b"of a")
    assert built(project(tmp_path / "b", "name: other"), b"of b") is None
    assert built(project(tmp_path / "c"), b"of c", ("words", "lists")) is None


def test_of_a_stranger_s_project_nothing_is_kept(tmp_path: Path, cache: Path) -> None:
    assert built(project(tmp_path / "a"), b"of a stranger", keeps=False) is None
    assert built(project(tmp_path / "b"), b"of b") is None
    assert built(project(tmp_path / "c"), b"of a stranger", keeps=False) == b"of b"


def test_of_a_project_with_models_of_its_own_nothing_is_kept(tmp_path: Path, cache: Path) -> None:
    own = project(tmp_path / "a")
    (own / "models").mkdir()
    assert built(own, b"with a model") is None
    assert built(project(tmp_path / "b"), b"of b") is None
    assert built(own, b"with a model") == b"with a model"


def test_another_version_begins_anew_and_little_is_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        with monkeypatch.context() as patch:
            patch.setattr(parsed, "hash_models", lambda number=number: f"models {number}")
            assert built(project(tmp_path / f"of {number}"), b"parsed") is None
    assert len(list(cache.iterdir())) == 8


def test_a_cache_that_cannot_be_written_stops_no_build(tmp_path: Path, cache: Path) -> None:
    cache.write_bytes(b"no folder")
    assert built(project(tmp_path / "a"), b"of a") is None
    assert (tmp_path / "a" / PARSED).read_bytes() == b"of a"


def test_the_cache_is_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parsed.CACHE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert parsed.cache_folder() == Path("/somewhere/biasledger")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert parsed.cache_folder() == Path.home() / ".cache" / "biasledger"


def test_who_has_no_home_builds_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in (parsed.CACHE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(parsed.Path, "home", nowhere)
    assert built(project(tmp_path / "a"), b"of a") is None
