"""Cutting secrets out of whatever may be written down: answers, errors, logs, messages.

A secret is the value of an environment variable. Only the variable's name is held; the value is looked up when a text is
cleaned. Services echo keys in many spellings. What is cut out, of a secret of 8 characters or more:

- the secret as it is, as Python or JSON quote it (twice, too), and with `& < > " '` as HTML writes them;
- each of its characters for itself as it is, percent-encoded (%73), as a JSON escape (\\u0073), or as an HTML number (&#115; or
  &#x73;), mixed in any way, digits in either case;
- URL-encoded as a whole, also what was encoded once more;
- in base64, of both alphabets, and base32, in either case, also inside something longer such as `user:key`;
- in hexadecimal digits of either case;
- backwards.

Nothing else is: no cipher, no compression, no part of it, nothing put between its characters.
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
from urllib.parse import quote, quote_plus, unquote

from collector.errors import InputError, TargetError
from collector.plain_file import MAX_SPEC_BYTES, read_plain

KEY_PLACEHOLDER = "[key]"
# A shorter value, such as the "EMPTY" that local servers take for a key, is no secret, and cutting it out would mutilate answers.
MIN_SECRET_CHARACTERS = 8
TARGETS_FILE = "targets.yml"
# Where a target of these vendors names no variable.
_VENDORS = frozenset({"ANTHROPIC_API_KEY", "GEMINI_API_KEY"})
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Redactor:
    """Replaces the values of some environment variables by a placeholder.

    Args:
        variables: names of the variables; one that is not set, or is shorter than 8 characters, cuts out nothing.
    """

    def __init__(self, variables: Iterable[str] = ()) -> None:
        self.variables = tuple(dict.fromkeys(variables))
        _guard_logs(self.variables)

    def __call__(self, text: str) -> str:
        """Return the text without the secrets, in whatever spelling they stand in it."""
        for variable in self.variables:
            secret = os.environ.get(variable, "").strip()
            if len(secret) >= MIN_SECRET_CHARACTERS:
                text = _without(secret, text)
        return text

    def optional(self, text: str | None) -> str | None:
        """Return what a call returns, or None for None."""
        return None if text is None else self(text)


def _without(secret: str, text: str) -> str:
    for form in spellings(secret):
        if form in text:
            text = text.replace(form, KEY_PLACEHOLDER)
    # The pattern is slow: it is tried where there is something to be found, or where reading might hide it.
    if not _ESCAPES.isdisjoint(secret) or secret in _unescaped(text):
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
    """Say what makes a key unfit for an HTTP header, without showing any of it; None where nothing does."""
    if any(not "!" <= character <= "~" for character in key):
        return "holds a space, a line break or a character beyond ASCII; copy it anew"
    return None


@lru_cache(maxsize=64)
def spellings(secret: str) -> tuple[str, ...]:
    """Return the forms in which a secret may be echoed, the longest first."""
    raw = secret.encode("utf-8")
    forms = {
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret)[1:-1])[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        html.escape(secret),
        repr(secret)[1:-1],
        raw.hex(),
        raw.hex().upper(),
        quote(quote(secret, safe=""), safe=""),
        secret[::-1],
        *_base64_forms(raw),
        *_base32_forms(raw),
    }
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in forms if "%" in form}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


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


_JSON_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
# What is escaped by a character of its own, or begins an escape.
_ESCAPES = frozenset('%&\\/"')


def _unescaped(text: str) -> str:
    """Return a text with what may be an escaped character read as one; quotes and slashes are not."""
    if "%" in text and _PERCENT.search(text):
        text = unquote(text)
    if "&#" in text:
        text = html.unescape(text)
    if "\\u" in text:
        text = _JSON_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return text


@lru_cache(maxsize=64)
def _escaped(secret: str) -> re.Pattern[str]:
    """Return the pattern of a secret of which any characters are escaped, each in one of the ways said above."""
    return re.compile("".join(map(_character_spellings, secret)))


def _character_spellings(character: str) -> str:
    backslash = r"\\?" if character in '"/\\' else ""
    code = ord(character)
    percent = "".join(f"%{byte:02x}" for byte in character.encode("utf-8"))
    return (
        rf"(?:{backslash}{re.escape(character)}|(?i:{percent})|\\u(?i:{code:04x})"
        rf"|&#0{{0,6}}{code};|&#[xX]0{{0,6}}(?i:{code:x});)"
    )


# urllib3 logs the address of every request at level DEBUG, and an address may hold a key.
_HTTP_LOGGERS = ("urllib3.connectionpool", "urllib3.util.retry")
_guarded: set[str] = set()


def strike_out_named_in(targets_file: Path) -> None:
    """From now on strike out of messages what is in the environment variables that a targets file names."""
    _guard_logs(_variables_named_in(targets_file))


def struck_out(text: str) -> str:
    """Return a message without the secrets of every target that was read, and of those in this folder's targets.yml."""
    return Redactor(sorted(_guarded | _variables_named_in(Path(TARGETS_FILE))))(text)


def _variables_named_in(path: Path) -> frozenset[str]:
    """Return every word of a targets file, outside of its comments, that is a set environment variable's name.

    The file may be no valid YAML, and may name a variable in many ways: `api_key_env: A`, `[A, B]`, `${A}`.
    """
    try:
        text = read_plain(path, MAX_SPEC_BYTES).decode("utf-8", errors="replace")
    except (OSError, ValueError, InputError):
        return frozenset()
    words = _NAME.findall(_COMMENT.sub("", text))
    return frozenset(word for word in words if word in os.environ) | (_VENDORS & os.environ.keys())


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
