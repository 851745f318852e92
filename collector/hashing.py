"""Canonical JSON and tagged hashes: the same content gives the same hash in every run and on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from collector.files.plain import open_plain

READ_BYTES = 1 << 20
# The range in which orjson writes numbers as Python does: neither uses an exponent.
_LEAST_FLOAT, _MOST_FLOAT = 1e-4, 1e16
_SPELLED_ALIKE = frozenset({str, int, bool, type(None)})
# Made once: json.dumps would make one for each value.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and unescaped Unicode; NaN and infinities raise ValueError."""
    return _ENCODER.encode(value)


def canonical_bytes(values: Mapping[str, Any]) -> bytes:
    """Return `canonical_json` in UTF-8, several times as fast for a mapping of texts, numbers, truth values and nulls only.

    orjson writes the same bytes for these, except for very small and very large floats; values that it might write differently,
    or cannot write, are left to `canonical_json`.

    Raises:
        ValueError: a number that JSON does not have, or half a surrogate pair.
    """
    for value in values.values():
        if type(value) is float:
            if value and not _LEAST_FLOAT <= abs(value) < _MOST_FLOAT:
                return canonical_json(values).encode()
        elif type(value) not in _SPELLED_ALIKE:
            return canonical_json(values).encode()
    try:
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return canonical_json(values).encode()


def tagged_hash(text: str) -> str:
    """Return 'sha256:' and the 64 hex digits of the UTF-8 text's SHA-256."""
    return tagged_hash_of_bytes(text.encode("utf-8"))


def tagged_hash_of_bytes(content: bytes) -> str:
    """Return 'sha256:' and the 64 hex digits of the bytes' SHA-256."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


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
