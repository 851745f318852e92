"""Test that damaged zips and zips that are no pack are refused in one sentence."""

from __future__ import annotations

import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasledger.packing import archive as archive_module
from biasledger.packing.archive import MANIFEST, REQUIRED, read_pack
from collector.errors import InputError

from .conftest import Packed

LETTERS = str.maketrans("01234567", "abcdefgh")  # names of settings have no digits


def zipped(path: Path, manifest: bytes, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"x/{MANIFEST}", manifest)
        for name, text in files.items():
            archive.writestr(f"x/{name}", text)
    return path


def test_a_whole_pack_is_read(packed: Packed) -> None:
    pack = read_pack(packed.written())
    assert set(pack.files) == set(packed.files)
    assert pack.manifest.keys() >= packed.facts.keys()


def test_a_pack_is_held_in_memory_once(packed: Packed) -> None:
    n_files, n_bytes = 8, 2 << 20
    large = {f"settings/of_{number}.csv".translate(LETTERS): b"x" * n_bytes for number in range(n_files)}
    path = packed.written(lambda files, _: files.update(large))
    tracemalloc.start()
    try:
        pack = read_pack(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert pack.files.keys() >= large.keys()
    # And one of its files, while that is read.
    assert most < (n_files + 2.5) * n_bytes


@pytest.mark.parametrize(
    "name", ["run_id", "audit", "target", "is_simulated", "analysis_hash", "seal", "software"]
)
@pytest.mark.parametrize("value", ["absent", ["a"]])
def test_a_fact_that_is_missing_or_of_another_kind_is_named(packed: Packed, name: str, value: Any) -> None:
    def change(_: dict[str, bytes], facts: dict[str, Any]) -> None:
        facts.pop(name)
        facts |= {} if value == "absent" else {name: value}

    with pytest.raises(InputError, match=f"should have .* as '{name}'"):
        read_pack(packed.written(change))


@pytest.mark.parametrize("name", REQUIRED)
def test_a_file_that_every_pack_has_is_missed(packed: Packed, name: str) -> None:
    with pytest.raises(InputError, match=f"does not list {re.escape(name)}"):
        read_pack(packed.written(lambda files, _: files.pop(name) and None))


@pytest.mark.parametrize("name", ["certificate.pdf", "settings/../../evil.csv", "settings/a b.csv"])
def test_a_file_that_no_pack_has_is_refused(packed: Packed, name: str) -> None:
    with pytest.raises(InputError, match=f"lists {re.escape(repr(name))}, which none has"):
        read_pack(packed.written(lambda files, _: files.update({name: b"x"})))


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (b"[" * 100_000, "is no evidence pack"),
        (b"\xff", "is no evidence pack"),
        (b"[]", "is no evidence pack"),
        (b'{"format": 3, "files": ["x"]}', "is no evidence pack"),
        (b'{"format": 3, "files": {"x": 1}}', "has no SHA-256 of 'x'"),
        (b'{"format": 3, "files": {"x": {}}}', "has no SHA-256 of 'x'"),
        (b'{"format": 3, "files": {"x": {"sha256": 1}}}', "has no SHA-256 of 'x'"),
        (b'{"format": 1, "files": {}}', "has format 1, and this biasledger reads 3"),
        (b'{"format": 3, "files": {}}', "does not list run.json"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, manifest: bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_pack(zipped(tmp_path / "x.zip", manifest, x="1"))


@pytest.mark.parametrize(("offset", "value"), [(8, 1), (6, 99), (10, 99)])
def test_an_encrypted_or_later_zip_is_refused(packed: Packed, offset: int, value: int) -> None:
    """In the first entry of the directory: its flags, the version that it needs, its compression."""
    path = packed.written()
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + offset] = value
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read as a zip|was repacked"):
        read_pack(path)


def test_a_zip_that_ends_early_is_refused(packed: Packed) -> None:
    path = packed.written()
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 10):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            read_pack(path)


def test_the_manifest_lists_what_is_there(packed: Packed) -> None:
    with zipfile.ZipFile(packed.written()) as archive:
        [manifest] = [name for name in archive.namelist() if name.endswith(MANIFEST)]
        listed = json.loads(archive.read(manifest))["files"]
    assert set(listed) == set(packed.files)


def surrounded(content: bytes) -> dict[str, bytes]:
    """The same entries with bytes that belong to no entry."""
    in_a_comment = bytearray(content)
    in_a_comment[-2:] = (7).to_bytes(2, "little")
    first = content.find(b"PK\x01\x02")
    dated, flagged = bytearray(content), bytearray(content)
    dated[10] = 1  # the first entry's time
    flagged[first + 38] = 1  # the kind of the first entry in the directory
    return {
        "before": b"#!/bin/sh\n" + content,
        "after": content + b"and more",
        "comment": bytes(in_a_comment) + b"forged!",
        "time": bytes(dated),
        "kind": bytes(flagged),
    }


@pytest.mark.parametrize("where", ["before", "after", "comment", "time", "kind"])
def test_bytes_around_what_is_packed_are_refused(packed: Packed, where: str) -> None:
    path = packed.written()
    path.write_bytes(surrounded(path.read_bytes())[where])
    with pytest.raises(
        InputError, match=r"holds bytes that belong to none of its files|cannot be read as a zip"
    ):
        read_pack(path)


def test_entries_in_another_order_are_refused(packed: Packed, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed.written()) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(tmp_path / "turned.zip", "w") as archive:
        for entry, content in reversed(entries):
            archive.writestr(entry, content)
    with pytest.raises(InputError, match="was repacked"):
        read_pack(tmp_path / "turned.zip")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(b'"audit"', b'"audit": "fair",\n  "audit"', 1), "a key occurs twice"),
        (lambda text: text.replace(b"{\n", b"{\n\n", 1), "the spacing differs"),
        (
            lambda text: text.replace(b'"audit"', b'"approved_by": "everybody",\n  "audit"', 1),
            "states 'approved_by', which none has",
        ),
    ],
)
def test_a_manifest_says_nothing_twice_and_nothing_more(
    packed: Packed, tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    with zipfile.ZipFile(packed.written()) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    [manifest] = [name for name in entries if name.endswith(MANIFEST)]
    entries[manifest] = change(entries[manifest])
    with (tmp_path / "changed.zip").open("wb") as file:
        archive_module._write_zip(file, entries)
    with pytest.raises(InputError, match=message):
        read_pack(tmp_path / "changed.zip")
