"""The file that carries a baseline: one gzipped text, a line of JSON each; the first says what it is, the others are its rows.

It holds findings and the units' features that measures at equal sizes need, and no text of any answer: words are numbers without
a name, texts and people are numbers or hashes.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasledger.comparing.baseline_rows import fault_of, parts
from collector.errors import BiasledgerError, InputError
from collector.files.plain import open_plain
from collector.files.replacing import write_whole
from collector.hashing import canonical_json, hash_of_file
from collector.rows import BASELINE_HASH, hash_of_baseline

FORMAT = "biasledger-baseline"
# 2: the hash covers the first line, too.
VERSION = 2
_MOST_BYTES = 512 << 20
_NEEDED: Mapping[str, type] = {
    "audit": str,
    "target": str,
    "run_id": str,
    "spec": dict,
    "spec_hash": str,
    "analysis_hash": str,
    "engine_version": str,
    "n_rows": int,
}
_KINDS: Mapping[type, str] = {str: "a text", dict: "an object", int: "a whole number"}


@dataclass(frozen=True)
class BaselineFile:
    """A file that was read whole and is what its first line says.

    rows: (part, row as JSON); file_hash: 'sha256:…' of its bytes.
    """

    manifest: dict[str, Any]
    rows: list[tuple[str, str]]
    file_hash: str


def write_baseline(path: Path, manifest: dict[str, Any], rows: Iterable[tuple[str, str]]) -> int:
    """Write a baseline's file, the same bytes for the same content.

    Args:
        rows: (part, row as JSON), in an order of their own.

    Returns:
        How many rows were written.

    Raises:
        BiasledgerError: it cannot be written there.
    """
    lines = [canonical_json({"part": part, "row": json.loads(row)}) for part, row in rows]
    head = {"format": FORMAT, "version": VERSION, **manifest, "n_rows": len(lines)}
    sealed = {**head, BASELINE_HASH: hash_of_baseline(head, lines)}
    content = "\n".join([canonical_json(sealed), *lines, ""]).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a time in its head, the same content gives the same bytes.
        write_whole(path, gzip.compress(content, mtime=0))
    except OSError as error:
        raise BiasledgerError(f"{path} cannot be written: {error.strerror or error}.") from error
    return len(lines)


def _unpacked(path: Path) -> bytes:
    with open_plain(path) as file, gzip.open(file) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise InputError(f"{path} would become more than {_MOST_BYTES >> 20} MiB, which no baseline has.")
    return content


def read_baseline(path: Path) -> BaselineFile:
    """Read a baseline's file and check that it is whole.

    Raises:
        InputError: there is no such file, it is none of a baseline, of another version, was changed or cut off, or holds what no
            export writes; names the row and what would be right.
    """
    try:
        lines = _unpacked(path).decode("utf-8").split("\n")
        head = json.loads(lines[0])
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: `biasledger baseline export` writes one.") from None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no baseline, or is damaged: `biasledger baseline export` writes one."
        ) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{path} is no baseline: `biasledger baseline export` writes one.")
    if head.get("version") != VERSION:
        raise InputError(
            f"{path} is a baseline of format version {head.get('version')!r}, and this biasledger reads "
            f"version {VERSION}: "
            "export it again with the version that is installed here."
        )
    body = lines[1:-1]
    unsealed = {name: value for name, value in head.items() if name != BASELINE_HASH}
    if head.get(BASELINE_HASH) is None or head[BASELINE_HASH] != hash_of_baseline(unsealed, body):
        raise InputError(
            f"{path} was changed or cut off after it was exported: its content is not what its first line "
            "seals. Copy it again, or export it again."
        )
    for name, kind in _NEEDED.items():
        if type(head.get(name)) is not kind:
            raise InputError(f"{path}: its first line should have {_KINDS[kind]} as {name!r}.")
    if len(body) != head["n_rows"]:
        raise InputError(f"{path} has {len(body):,} rows, and its first line says {head['n_rows']:,}.")
    return BaselineFile(head, list(_rows(path, body, head["run_id"])), hash_of_file(path))


def _rows(path: Path, lines: Iterable[str], run_id: str) -> Iterator[tuple[str, str]]:
    known = parts()
    for number, line in enumerate(lines, start=2):
        try:
            content = json.loads(line)
            part, row = content["part"], content["row"]
            text = canonical_json(row)
        except (ValueError, RecursionError, KeyError, TypeError):
            raise InputError(
                f"{path}: row {number} is no row of a baseline; it should be an object with 'part' and 'row'."
            ) from None
        if fault := fault_of(known, part, row, run_id):
            raise InputError(f"{path}: row {number} {fault}.")
        if line != canonical_json({"part": part, "row": row}):
            raise InputError(
                f"{path}: row {number} is not written as `biasledger baseline export` writes it."
            )
        yield part, text
