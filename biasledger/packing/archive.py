"""The zip itself: the same content always gives the same bytes, and a manifest says what belongs in it."""

from __future__ import annotations

import filecmp
import hashlib
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from collector.errors import InputError
from collector.files.plain import require_plain
from collector.files.replacing import written_whole
from collector.files.scratch import scratch_folder
from collector.hashing import hash_of_file

# 2: cells of the CSV files that a spreadsheet would take for formulas are escaped, summary and report are of the run alone.
# 3: exclusions, and tables in the form of laws.
FORMAT = 3
MANIFEST = "manifest.json"
BUILD = "build.json"
FINDINGS = "findings.csv"
ANSWER_QUALITY = "answer_quality.csv"
GROUPS = "groups.csv"
EXCLUSIONS = "exclusions.csv"
SUMMARY = "summary.md"
REPORT = "report.html"
README = "README.txt"
REQUIRED = (
    *("run.json", "spec.json", "analysis.json", "events.json", BUILD),
    *(FINDINGS, ANSWER_QUALITY, GROUPS, EXCLUSIONS, SUMMARY, REPORT, README),
    *("settings/thresholds.csv", "settings/exceptions.csv"),
)
# Shipped analyses whose rows a pack has as NAME.csv, where there are any.
ANALYSES = ("nyc_local_law_144", "eeoc_four_fifths", "eu_ai_act")
# Entry of the manifest, next to the list of its files -> its type.
_FACTS: Mapping[str, type | tuple[type, ...]] = {
    "run_id": str,
    "audit": str,
    "target": str,
    "is_simulated": bool,
    "analysis_hash": str,
    "seal": (str, type(None)),
    "software": dict,
}
# The earliest time that a zip can state. The time when a pack was made is no evidence.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_CREATED_ON_UNIX = 3
_READABLE_BY_ALL = 0o100644 << 16
_MOST_BYTES = 1 << 30
_SETTINGS = re.compile(r"settings/[a-z_]{1,60}\.csv")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KIND_NAMES: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    dict: "an object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Pack:
    """The contents of a zip: its manifest, and the bytes of every other file by name."""

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
    with written_whole(path) as new, new.open("wb") as file:
        _write_zip(
            file, {f"{folder}/{name}": content for name, content in {**files, MANIFEST: manifest}.items()}
        )
    return hash_of_file(path)


def _write_zip(file: IO[bytes], files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _CREATED_ON_UNIX
            entry.external_attr = _READABLE_BY_ALL
            archive.writestr(entry, content)


def _is_as_packed(path: Path, stored: Mapping[str, bytes]) -> bool:
    """Return whether a pack has the bytes that packing its files again gives; the second copy is a temporary file."""
    try:
        with scratch_folder() as folder:
            packed = folder / "packed.zip"
            with packed.open("wb") as file:
                _write_zip(file, stored)
            return filecmp.cmp(packed, path, shallow=False)
    except OSError as error:
        raise InputError(f"{path} cannot be packed again to compare it: {error}.") from None


def read_pack(path: Path) -> Pack:
    """Read a zip and hold its files against its manifest, and its bytes against those that packing them again gives.

    Raises:
        InputError: it cannot be read, is no evidence pack, or a file in it is not the one that its manifest lists; names it.
    """
    require_plain(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _require_plain(path, entries)
            stored = {entry.filename: archive.read(entry) for entry in entries}
    except FileNotFoundError:
        raise InputError(f"There is no {path}: `biasledger evidence RUN` makes a pack.") from None
    # zipfile raises errors of several classes for entries that are encrypted, of a later version, or end too early.
    except (
        zipfile.BadZipFile,
        OSError,
        RuntimeError,
        ValueError,
        EOFError,
        struct.error,
        zlib.error,
    ) as error:
        raise InputError(f"{path} cannot be read as a zip: {str(error).rstrip('.')}.") from None
    contents = {_inner(name): content for name, content in stored.items()}
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
    # Last, because a file that differs from the manifest is the better message.
    if not _is_as_packed(path, stored):
        raise InputError(
            f"{path} holds bytes that belong to none of its files, or was repacked: a pack has no byte before, between or "
            f"after what packing its files gives."
        )
    return Pack(manifest, contents)


def _require_plain(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Check sizes and duplicate names, because a pack is untrusted and could fill the memory."""
    names = [_inner(entry.filename) for entry in entries]
    if len(set(names)) < len(names):
        raise InputError(f"{path} is no evidence pack: it holds two files of the same name.")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise InputError(f"{path} was repacked: files of an evidence pack are not compressed.")
    if sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise InputError(f"{path} is larger than 1 GiB, which no evidence pack is.")


def _inner(name: str) -> str:
    """Return an entry's name inside the zip's folder."""
    return "/".join(PurePosixPath(name).parts[1:])


def _manifest(path: Path, content: bytes | None) -> dict[str, Any]:
    try:
        manifest = json.loads(content or b"")
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InputError(f"{path} is no evidence pack: it has no {MANIFEST} that lists its files.")
    found = manifest.get("format")
    if found != FORMAT:
        raise InputError(f"{path} has format {found!r}, and this biasledger reads {FORMAT}.")
    _require_files(path, manifest["files"])
    _require_facts(path, manifest)
    if json_bytes(manifest) != content:
        raise InputError(
            f"{path}: {MANIFEST} is not written as one is: a key occurs twice, or the spacing differs."
        )
    return manifest


def _require_files(path: Path, files: Mapping[str, Any]) -> None:
    for name, facts in files.items():
        digest = facts.get("sha256") if isinstance(facts, dict) else None
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise InputError(f"{path}: {MANIFEST} has no SHA-256 of {name!r}.")
        if name not in (*REQUIRED, *(f"{one}.csv" for one in ANALYSES)) and not _SETTINGS.fullmatch(name):
            raise InputError(f"{path} is no evidence pack: its {MANIFEST} lists {name!r}, which none has.")
    for name in REQUIRED:
        if name not in files:
            raise InputError(f"{path} is no whole evidence pack: its {MANIFEST} does not list {name}.")


def _require_facts(path: Path, manifest: Mapping[str, Any]) -> None:
    if unknown := sorted(manifest.keys() - _FACTS.keys() - {"files", "format"}):
        raise InputError(f"{path}: {MANIFEST} states {unknown[0]!r}, which none has.")
    for name, kind in _FACTS.items():
        if name not in manifest or not isinstance(manifest[name], kind):
            message = " or ".join(_KIND_NAMES[one] for one in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(f"{path}: {MANIFEST} should have {message} as {name!r}.")
