"""Test paths and file:// URLs of files and folders, and the message for object stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from collector.errors import InputError
from collector.files.places import local_path

STORES = [
    "s3://bucket/exported",
    "s3:/bucket/exported",
    "abfss://box@store.example/a",
    "dbfs:/Volumes/a",
    "file://other/a",
]


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("exported", "exported"),
        ("/Volumes/a/b", "/Volumes/a/b"),
        ("file:///Volumes/a%20b", "/Volumes/a b"),
        ("file://localhost/a", "/a"),
        ("file:/a", "/a"),
        ("runs: old/a", "runs: old/a"),
        ("", "."),
    ],
)
def test_paths_and_urls_of_this_machine(place: str, path: str) -> None:
    assert local_path(place) == Path(path)


@pytest.mark.parametrize("place", ["file:///a/b#c", "file:///a/x?y"])
def test_a_url_that_is_cut_is_none_of_a_path(place: str) -> None:
    with pytest.raises(InputError, match=r"%3F and %23"):
        local_path(place)
    assert local_path("file:///a/b%23c%3F") == Path("/a/b#c?")


def test_who_signs_in_to_a_store_is_not_printed() -> None:
    with pytest.raises(InputError, match=r"^s3://bucket/x is no path"):
        local_path("s3://AKIA:secret@bucket/x")


@pytest.mark.parametrize("place", STORES)
def test_an_object_store_is_no_path(place: str) -> None:
    with pytest.raises(InputError, match=r"is no path of this machine.*name a path.*/Volumes/") as message:
        local_path(place)
    assert str(message.value).startswith(place)


@pytest.mark.parametrize("place", STORES)
def test_no_folder_is_named_like_a_store(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["export", "--to", place], ["export", "--ledger", place, "--to", "exported"]):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 3
        assert done.output.count("is no path of this machine") == 1
    assert list(tmp_path.iterdir()) == []
