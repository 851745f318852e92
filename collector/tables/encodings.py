"""Text files that are not UTF-8: told with their line, or written anew as UTF-8 where their encoding is stated."""

from __future__ import annotations

import codecs
from pathlib import Path

from collector.errors import InputError
from collector.hashing import READ_BYTES

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def require_utf8(path: Path) -> None:
    """Raise InputError for the first line that is not UTF-8, with the encoding that it may be in."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    with path.open("rb") as stream:
        first = stream.read(2)
        stream.seek(0)
        while True:
            block = stream.read(READ_BYTES)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # error.object is the block with what the decoder held back of the one before; that part has no line break.
                line = lines + error.object.count(b"\n", 0, error.start)
                likely = "utf-16" if first in _UTF_16 else "cp1252, which Excel writes in the West"
                raise InputError(
                    f"{path}: line {line} is not UTF-8; save the file as UTF-8, or give import, validate or new its "
                    f"--encoding, such as {likely}."
                ) from None
            if not block:
                return
            lines += block.count(b"\n")


def as_utf8(path: Path, encoding: str, copy: Path) -> Path:
    """Write a file anew as UTF-8, line ends as they are, and return the copy.

    Raises:
        InputError: there is no such encoding of text, or a line is not in it.
    """
    try:
        known = codecs.lookup(encoding)
        known.incrementaldecoder().decode(b"", final=True)
        is_text = known._is_text_encoding
    except (LookupError, TypeError, ValueError):
        is_text = False
    if not is_text:
        raise InputError(
            f"There is no encoding {encoding!r}; known are utf-8, utf-16, cp1252, latin-1, shift_jis and others."
        )
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    with path.open("rb") as stream, copy.open("w", encoding="utf-8", newline="") as target:
        while True:
            block = stream.read(READ_BYTES)
            try:
                text = decoder.decode(block, final=not block)
                target.write(text.removeprefix("\ufeff") if not target.tell() else text)
            except UnicodeError:
                raise InputError(
                    f"{path} cannot be read as {encoding}, at line {lines} or soon after; name another with --encoding."
                ) from None
            if not block:
                return copy
            lines += text.count("\n")
