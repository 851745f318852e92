"""Text files in any encoding as UTF-8: by their byte order mark, or by the encoding that is stated."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from collector.errors import InputError
from collector.hashing import READ_BYTES
from collector.hints import shown

# A file that begins so is no UTF-8; of both that begin alike, the longer one goes first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Letters of UTF-8 that were read one byte at a time, and Turkish ones read as those of ISO 8859-1.
_DOUBLED = re.compile(r"Ã[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€[™œ\x9d“”“˜¦]")
_TURKISH = re.compile(r"\w*[þðýÞÐÝ]\w*")
_ICELANDIC = re.compile(r"[æáíóúÆÁÍÓÚ]")
_AS_TURKISH = str.maketrans("þðýÞÐÝ", "şğıŞĞİ")
_LEAST_SUSPICIOUS = 3
STATE_ENCODING = "give import, validate or new its --encoding, such as cp1252, which Excel writes in the West"


def marked_encoding(path: Path) -> str | None:
    """Return the encoding shown by a file's first bytes if it is not UTF-8: by a mark, or by zeros in its letters."""
    with path.open("rb") as stream:
        first = stream.read(4)
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return encoding
    # No text holds a NUL; in UTF-16 every letter of English has one.
    zeros = "".join("0" if one == 0 else "x" for one in first)
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


def require_utf8(path: Path, or_else: str = STATE_ENCODING) -> bool:
    """Return whether lines of a UTF-8 file end in several ways.

    Args:
        path: the file.
        or_else: what can be done other than saving the file as UTF-8.

    Raises:
        InputError: a line is not UTF-8; the message names the first one.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = n_windows = 0
    last = b""
    with path.open("rb") as stream:
        while True:
            block = stream.read(READ_BYTES)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # error.object is the block with what the decoder held back of the one before; that part has no line break.
                line = lines + 1 + error.object.count(b"\n", 0, error.start)
                raise InputError(
                    f"{path}: line {line} is not UTF-8; save the file as UTF-8, or {or_else}."
                ) from None
            if not block:
                return 0 < n_windows < lines
            lines += block.count(b"\n")
            n_windows += block.count(b"\r\n") + (last == b"\r" and block[:1] == b"\n")
            last = block[-1:]


def as_utf8(path: Path, encoding: str, copy: Path) -> Path:
    """Write a copy of a file as UTF-8, line ends as they are, and return it.

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
                    f"{path} cannot be read as {encoding}, at line {lines} or soon after; name another encoding."
                ) from None
            if not block:
                return copy
            lines += text.count("\n")


def with_even_line_ends(path: Path, copy: Path) -> Path:
    """Return a CSV file whose rows all end alike: the file itself, or a copy in which each row ends by a line feed."""
    ends = {b"\r\n": 0, b"\n": 0, b"\r": 0}
    for part, is_quoted in _parts(path):
        if not is_quoted:
            n_windows = part.count(b"\r\n")
            ends[b"\r\n"] += n_windows
            ends[b"\n"] += part.count(b"\n") - n_windows
            ends[b"\r"] += part.count(b"\r") - n_windows
    if sum(map(bool, ends.values())) < 2:
        return path
    with copy.open("wb") as target:
        for part, is_quoted in _parts(path):
            target.write(part if is_quoted else part.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    return copy


def _parts(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield a file's bytes in parts, each with whether it is between quotes; a part begins with the quote before it."""
    is_quoted = False
    held = b""
    with path.open("rb") as stream:
        while True:
            block = stream.read(READ_BYTES)
            data = held + block
            # A carriage return at a block's end may belong to the line feed after it.
            held = b"\r" if block and data.endswith(b"\r") else b""
            first, *others = data[: len(data) - len(held)].split(b'"')
            yield first, is_quoted
            for part in others:
                is_quoted = not is_quoted
                yield b'"' + part, is_quoted
            if not block:
                return


def suspicious_letters(texts: Iterable[str]) -> str | None:
    """Return a sentence on texts that look as if they were read in a wrong encoding, None where none do."""
    text = "\n".join(texts)
    doubled = _DOUBLED.findall(text)
    if len(doubled) >= _LEAST_SUSPICIOUS:
        return f"Letters such as {shown(doubled[0])} look like UTF-8 that was read as cp1252: export the file again as UTF-8."
    turkish = _TURKISH.findall(text)
    if len(turkish) >= _LEAST_SUSPICIOUS and not _ICELANDIC.search(text):
        word = turkish[0]
        return (
            f"{shown(word)} looks like Turkish that was read in a western encoding ({shown(word.translate(_AS_TURKISH))}?): give "
            f"--encoding cp1254, or export the file again as UTF-8."
        )
    return None
