"""Cut secrets out of everything that may be written down: answers, errors, logs, messages.

A secret is the value of an environment variable. Only the variable's name is stored; the value is looked up when a text is
cleaned. Services return keys in many spellings. These spellings of a secret of 8 characters or more are cut out:

- the secret as it is, as Python or JSON quote it (twice, too), and with `& < > " '` as HTML writes them;
- each of its ASCII characters as it is, percent-encoded (%73), as a JSON escape (\\u0073, with up to 16 backslashes, as in JSON
  within JSON), or as an HTML number (&#115; or &#x73;, with any zeros before it), mixed in any way, the digits of each in
  either case;
- URL-encoded as a whole, once or twice;
- in base64, of both alphabets, and base32, in capitals or in small letters, also inside something longer such as `user:key`;
- in hexadecimal digits, all capitals or all small;
- backwards.

No others are: no cipher, no compression, no part of it, no characters inserted into it.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus

from collector.errors import InputError, TargetError
from collector.files.plain import MAX_SPEC_BYTES, read_plain

KEY_PLACEHOLDER = "[key]"
# A shorter value, such as the "EMPTY" that local servers take for a key, is no secret, and cutting it out would mutilate answers.
MIN_SECRET_CHARACTERS = 8
TARGETS_FILE = "targets.yml"
# For targets of these vendors that name no variable.
_VENDORS = frozenset({"ANTHROPIC_API_KEY", "GEMINI_API_KEY"})
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# The setting of a name, a list in brackets or one with a hyphen on each line.
_NAMING = re.compile(r"""_env["']?\s*:\s*(\[[^\]]*|-[^\n]*(?:\n\s*-\s[^\n:]*$)*|[^\n,}\]]*)""", re.MULTILINE)
_REFERENCE = re.compile(r"""url["']?\s*:\s*["']?\$\{\w+\}|\$\{([A-Za-z_][A-Za-z0-9_]*)\}""")
# Variables of every environment, which hold no keys: struck out, messages would lose paths and names.
_NO_KEYS = frozenset(
    {"HOME", "HOSTNAME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"}
)


class Redactor:
    """Replaces the values of some environment variables by a placeholder.

    Args:
        variables: names of the variables; one that is not set, or is shorter than 8 characters, cuts out nothing.
    """

    def __init__(self, variables: Iterable[str] = ()) -> None:
        self.variables = tuple(dict.fromkeys(variables))
        _guard_logs(self.variables)

    def __call__(self, text: str) -> str:
        """Return the text without the secrets, in any of their spellings."""
        read = _unescaped(text)
        for variable in self.variables:
            secret = os.environ.get(variable, "").strip()
            if len(secret) >= MIN_SECRET_CHARACTERS:
                text = _without(secret, text, read)
        return text

    def optional(self, text: str | None) -> str | None:
        """Return what a call returns, or None for None."""
        return None if text is None else self(text)


def _without(secret: str, text: str, read: str | None) -> str:
    """Return the text without a secret; `read` is the text after `_unescaped`."""
    for core, forms in _forms_by_core(secret):
        if core in text:
            for form in forms:
                text = text.replace(form, KEY_PLACEHOLDER)
    # The pattern is slow: it is tried where there is something to be found, or where reading might hide it.
    if read is not None and (
        not _ESCAPES.isdisjoint(secret) or secret[_MOST_SWALLOWED:] in _without_backslashes(read, secret)
    ):
        text = _escaped(secret).sub(KEY_PLACEHOLDER, text)
    return text


def environment_key(target: str, variable: str) -> str:
    """Return the key that an environment variable holds.

    Args:
        target: the target's name, for the error sentence.
        variable: the variable's name.

    Raises:
        TargetError: it is not set, or holds what no HTTP header can carry.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise TargetError(
            f"{target} needs a key in the environment variable {variable}, which is not set.", stops_run=True
        )
    if problem := key_problem(key):
        raise TargetError(f"{target} cannot use the key in {variable}: it {problem}.", stops_run=True)
    return key


def key_problem(key: str) -> str | None:
    """Return why a key cannot be in an HTTP header, without showing it; None if it can."""
    if any(not "!" <= character <= "~" for character in key):
        return "holds a space, a line break or a character beyond ASCII; copy it again"
    return None


@lru_cache(maxsize=64)
def spellings(secret: str) -> tuple[str, ...]:
    """Return the forms in which a secret may be echoed, the longest first."""
    raw = _utf8(secret)
    forms = {
        secret,
        quote(raw, safe=""),
        quote(raw),
        quote_plus(raw),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret)[1:-1])[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        html.escape(secret),
        repr(secret)[1:-1],
        raw.hex(),
        raw.hex().upper(),
        quote(quote(raw, safe=""), safe=""),
        secret[::-1],
        *_base64_forms(raw),
        *_base32_forms(raw),
    }
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in forms if "%" in form}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _utf8(text: str) -> bytes:
    """Return a text's bytes; a byte in the environment that is no UTF-8 is half a surrogate pair in Python, and comes back."""
    return text.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=64)
def _forms_by_core(secret: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the spellings of a secret, the longest first, each next to the shortest one that it contains.

    A text in which that one is not needs no further look: base64 with what pads it holds the base64 without.
    """
    forms = spellings(secret)
    cores: dict[str, list[str]] = {}
    for form in forms:
        cores.setdefault(min((one for one in forms if one in form), key=len), []).append(form)
    return tuple((core, tuple(found)) for core, found in cores.items())


def _base64_forms(raw: bytes) -> Iterator[str]:
    """Yield the base64 of a secret, also of one inside something longer, such as `user:key`.

    Three bytes become four characters, so what precedes the secret shifts it in one of three ways; the characters at its ends
    that depend on its neighbours are left out.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(raw).decode()
        yield encode(raw).decode().rstrip("=")
        for shift, skipped in ((0, 0), (1, 2), (2, 3)):
            encoded = encode(b"\0" * shift + raw).decode().rstrip("=")
            inner = encoded[skipped:-1] if (shift + len(raw)) % 3 else encoded[skipped:]
            if len(inner) >= MIN_SECRET_CHARACTERS:
                yield inner


def _base32_forms(raw: bytes) -> Iterator[str]:
    """Yield the base32 of a secret in either case, also of one inside something longer.

    Five bytes become eight characters, so what precedes the secret shifts it in one of five ways.
    """
    for shift in range(5):
        encoded = base64.b32encode(b"\0" * shift + raw).decode().rstrip("=")
        # Each character holds five bits: those at the ends that hold bits of a neighbour are left out.
        first = -(-shift * 8 // 5)
        last = (shift + len(raw)) * 8 // 5
        yield encoded[first:last]
        yield encoded[first:last].lower()


# Characters that begin or end an escape: in a secret, reading escapes might change them.
_ESCAPES = frozenset("%&\\;")
# The number of following characters that may be swallowed by an apparent escape, such as `\\u`.
_MOST_SWALLOWED = 4
# A character of ASCII, escaped.
_PERCENT = re.compile(r"%([0-7][0-9a-fA-F])")
_JSON_ESCAPE = re.compile(r"\\{1,16}u00([0-7][0-9a-fA-F])")
_HTML_NUMBER = re.compile(r"&#(?:0*([0-9]{1,3})|[xX]0*([0-7]?[0-9a-fA-F]));")


def _unescaped(text: str) -> str | None:
    """Return a text with what may be an escaped character of ASCII read as one, but for backslashes; None where none is."""
    read = text
    if "%" in read:
        read = _PERCENT.sub(_of_code, read)
    if "&#" in read:
        read = _HTML_NUMBER.sub(lambda found: chr(int(found[1]) if found[1] else int(found[2], 16)), read)
    if "\\" in read:
        return _JSON_ESCAPE.sub(_of_code, read) if "\\u00" in read else read
    return None if read is text else read


def _of_code(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _without_backslashes(text: str, secret: str) -> str:
    """Return a text without the backslashes that JSON writes in a secret."""
    for character in '"/':
        if character in secret:
            text = text.replace(f"\\{character}", character)
    return text


@lru_cache(maxsize=64)
def _escaped(secret: str) -> re.Pattern[str]:
    """Return the pattern of a secret of which any characters are escaped, each in one of the ways said above."""
    return re.compile("".join(map(_character_spellings, secret)))


def _character_spellings(character: str) -> str:
    if not character.isascii():
        return re.escape(character)
    backslash = r"\\?" if character in '"/\\' else ""
    code = ord(character)
    return (
        rf"(?:{backslash}{re.escape(character)}|(?i:%{code:02x})|\\{{1,16}}u(?i:{code:04x})"
        rf"|&#0*{code};|&#[xX]0*(?i:{code:x});)"
    )


# urllib3 logs the address of every request at level DEBUG, and an address may hold a key.
_HTTP_LOGGERS = ("urllib3.connectionpool", "urllib3.util.retry")
_guarded: set[str] = set()


def strike_out_named_in(targets_file: Path) -> None:
    """From now on cut out of messages the values of the environment variables that a targets file names for keys."""
    _guard_logs(_variables_named_in(targets_file))


def struck_out(text: str) -> str:
    """Return a message without the secrets of every target that was read, and of those in this folder's targets.yml."""
    return Redactor(sorted(_guarded | _VENDORS | _variables_named_in(Path(TARGETS_FILE))))(text)


def _variables_named_in(path: Path) -> frozenset[str]:
    """Return the variables that a targets file names for keys; none where there is no such file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return frozenset()
    return _variables_as_of(path, (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=8)
def _variables_as_of(path: Path, _state: tuple[int, ...]) -> frozenset[str]:
    """Return the variables that a targets file in this state names for keys.

    The file may be no valid YAML. Its words are looked at only where a setting names variables (`api_key_env: A`,
    `secret_env: [A, B]`), and next to them every reference `${A}` but one with which an address begins: where somebody's models
    are is no secret.
    """
    try:
        text = read_plain(path, MAX_SPEC_BYTES).decode("utf-8", errors="replace")
    except (OSError, ValueError, InputError):
        return frozenset()
    text = _COMMENT.sub("", text)
    named = (name for found in _NAMING.finditer(text) for name in _NAME.findall(found[1]))
    return frozenset((*named, *filter(None, _REFERENCE.findall(text)))) - _NO_KEYS


class _Guard(logging.Filter):
    """Cuts the secrets of every target out of a log record before any handler sees it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = Redactor(sorted(_guarded))(record.getMessage()), ()
        return True


_GUARD = _Guard()


def _guard_logs(variables: Iterable[str]) -> None:
    _guarded.update(variables)
    if _guarded:
        for name in _HTTP_LOGGERS:
            # A filter that is there already is not added again.
            logging.getLogger(name).addFilter(_GUARD)
