"""The file that carries a baseline: one gzipped text, a line of JSON each; the first says what it is, the others are its rows.

It holds findings and the units' features that measures at equal sizes need, and no text of any answer: words are numbers without
a name, texts and people are numbers or hashes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.errors import BiasledgerError, InputError
from collector.hashing import canonical_json, hash_of_file

FORMAT = "biasledger-baseline"
VERSION = 1
_NEEDED = (
    "audit",
    "target",
    "run_id",
    "spec",
    "spec_hash",
    "reading_hash",
    "engine_version",
    "n_rows",
    "rows_hash",
)


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
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    head = {
        "format": FORMAT,
        "version": VERSION,
        **manifest,
        "n_rows": len(lines),
        "rows_hash": f"sha256:{digest}",
    }
    content = "\n".join([canonical_json(head), *lines, ""]).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a time in its head, the same content gives the same bytes.
        path.write_bytes(gzip.compress(content, mtime=0))
    except OSError as error:
        raise BiasledgerError(f"{path} cannot be written: {error.strerror or error}.") from error
    return len(lines)


def read_baseline(path: Path) -> BaselineFile:
    """Read a baseline's file and check that it is whole.

    Raises:
        InputError: there is no such file, it is none of a baseline, of a newer version, or was changed or cut off.
    """
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
        head = json.loads(lines[0])
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: `biasledger baseline export` writes one.") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
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
    digest = "sha256:" + hashlib.sha256("\n".join(body).encode()).hexdigest()
    missing = [name for name in _NEEDED if name not in head]
    if missing or digest != head["rows_hash"] or len(body) != head["n_rows"]:
        raise InputError(
            f"{path} was changed or cut off after it was exported: its rows are not those that its first "
            "line seals. "
            "Copy it again, or export it again."
        )
    return BaselineFile(head, list(_rows(body)), hash_of_file(path))


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        row = json.loads(line)
        yield row["part"], canonical_json(row["row"])
