"""Canonical JSON and tagged hashes: the same content gives the same hash in every run and on every machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from collector.files.plain import open_plain

READ_BYTES = 1 << 20
# Made once: json.dumps would make one for each value.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and unescaped Unicode; NaN and infinities raise ValueError."""
    return _ENCODER.encode(value)


def tagged_hash(text: str) -> str:
    """Return 'sha256:' and the 64 hex digits of the UTF-8 text's SHA-256."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def hash_of(value: Any) -> str:
    """Return the tagged hash of a value's canonical JSON."""
    return tagged_hash(canonical_json(value))


def hash_of_file(path: Path) -> str:
    """Return the tagged hash of a file's bytes, read in blocks of 1 MiB; InputError where it is no regular file."""
    digest = hashlib.sha256()
    with open_plain(path) as stream:
        while block := stream.read(READ_BYTES):
            digest.update(block)
    return "sha256:" + digest.hexdigest()
