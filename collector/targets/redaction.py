"""Cutting secrets out of whatever may be written down: answers, errors, logs.

A secret is the value of an environment variable. Only the variable's name is held; the value is looked up when a text is
cleaned. Services echo keys in many spellings, so beside the plain value its URL-encoded, base64, JSON-, HTML- and
hex-encoded forms are cut out as well.
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
from urllib.parse import quote, quote_plus

from collector.errors import TargetError

KEY_PLACEHOLDER = "[key]"
# A shorter value, such as the "EMPTY" that local servers take for a key, is no secret, and cutting it out would mutilate answers.
MIN_SECRET_CHARACTERS = 8


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
            if len(secret) < MIN_SECRET_CHARACTERS:
                continue
            for form in spellings(secret):
                if form in text:
                    text = text.replace(form, KEY_PLACEHOLDER)
            if "\\" in text:
                text = _json_escaped(secret).sub(KEY_PLACEHOLDER, text)
        return text

    def optional(self, text: str | None) -> str | None:
        """Return what a call returns, or None for None."""
        return None if text is None else self(text)


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
        *_base64_forms(raw),
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


@lru_cache(maxsize=64)
def _json_escaped(secret: str) -> re.Pattern[str]:
    r"""Return the pattern of a secret of which any characters are written as JSON may escape them: \uXXXX, \/, \", \\."""
    return re.compile("".join(_json_spellings(character) for character in secret))


def _json_spellings(character: str) -> str:
    backslash = r"\\?" if character in '"/\\' else ""
    return rf"(?:{backslash}{re.escape(character)}|\\u(?i:{ord(character):04x}))"


# urllib3 logs the address of every request at level DEBUG, and an address may hold a key.
_HTTP_LOGGERS = ("urllib3.connectionpool", "urllib3.util.retry")
_guarded: set[str] = set()


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
