"""The zip itself: the same content always gives the same bytes, and a manifest says what belongs in it."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from collector.errors import InputError
from collector.replacing import sync_folder

FORMAT = 1
MANIFEST = "manifest.json"
# What a zip knows of time begins here. When a pack was made is not what it is evidence of.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_CREATED_ON_UNIX = 3
_READABLE_BY_ALL = 0o100644 << 16
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Pack:
    """What a zip holds: its manifest, and the bytes of every other file by name."""

    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]


def json_bytes(value: Any) -> bytes:
    """JSON for people and programs: sorted keys, two spaces, UTF-8, a line break at its end."""
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def write_pack(path: Path, folder: str, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """Write files and the manifest that lists them as one zip, whole or not at all.

    Nothing is compressed: what a compressor makes of the same bytes differs from one version to the next.

    Args:
        path: the zip; one that is there is replaced.
        folder: what unzipping makes.
        facts: what else the manifest says; JSON.
        files: name -> content.

    Returns:
        The zip's 'sha256:…'.

    Raises:
        OSError: it cannot be written.
    """
    listed = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    }
    manifest = json_bytes({**facts, "format": FORMAT, "files": listed})
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in sorted({**files, MANIFEST: manifest}.items()):
                entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
                entry.create_system = _CREATED_ON_UNIX
                entry.external_attr = _READABLE_BY_ALL
                archive.writestr(entry, content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def read_pack(path: Path) -> Pack:
    """Read a zip and hold its files against its manifest.

    Raises:
        InputError: it cannot be read, is no evidence pack, or a file in it is not the one that its manifest lists; names it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _require_plain(path, entries)
            contents = {_name(entry): archive.read(entry) for entry in entries}
    except FileNotFoundError:
        raise InputError(f"There is no {path}: `biasledger evidence RUN` makes a pack.") from None
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{path} cannot be read as a zip: {error}.") from None
    manifest = _manifest(path, contents.pop(MANIFEST, None))
    listed: Mapping[str, Mapping[str, Any]] = manifest["files"]
    for name, facts in listed.items():
        if name not in contents:
            raise InputError(f"{path} lacks {name}, which its manifest lists.")
        if hashlib.sha256(contents[name]).hexdigest() != facts["sha256"]:
            raise InputError(f"{path}: {name} was changed, its content does not match the manifest.")
    for name in contents:
        if name not in listed:
            raise InputError(f"{path} holds {name}, which its manifest does not list.")
    return Pack(manifest, contents)


def _require_plain(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """A pack comes from somebody else: it must not be able to fill the memory, nor to say the same twice."""
    names = [_name(entry) for entry in entries]
    if len(set(names)) < len(names):
        raise InputError(f"{path} is no evidence pack: it holds two files of the same name.")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise InputError(f"{path} was packed anew: files of an evidence pack are not compressed.")
    if sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise InputError(f"{path} is larger than 1 GiB, which no evidence pack is.")


def _name(entry: zipfile.ZipInfo) -> str:
    """An entry's name inside the zip's folder."""
    return "/".join(PurePosixPath(entry.filename).parts[1:])


def _manifest(path: Path, content: bytes | None) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(content or b"")
        found, _ = manifest["format"], manifest["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is no evidence pack: it has no {MANIFEST} that lists its files.") from None
    if found != FORMAT:
        raise InputError(f"{path} has format {found!r}, and this biasledger reads {FORMAT}.")
    return manifest
