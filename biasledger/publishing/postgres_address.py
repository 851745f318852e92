"""Addresses of PostgreSQL databases, and their display without a password."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from collector.errors import InputError

SCHEMES = ("postgresql://", "postgres://")
_SHOWN_CHARACTERS = 400


def reason(error: Exception, uri: str) -> str:
    """Return the database's message on one line, without the secrets in the address."""
    text = str(error)
    for secret in sorted(_secrets(uri), key=len, reverse=True):
        text = text.replace(secret, "…")
    text = re.sub(r"^\w+: \[libpq\] ", "", text.partition(". SQLSTATE")[0])
    text = " ".join(text.split())
    return (text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …").rstrip(".") + "."


def _secrets(uri: str) -> set[str]:
    """Return the secrets in the address, as they are written and decoded."""
    parts = urlsplit(uri)
    written = {part for part in (parts.password or "",) if part}
    for name, values in parse_qs(parts.query).items():
        if "password" in name.lower():
            written |= {value for value in values if value}
    return written | {unquote(secret) for secret in written}


def place(uri: str) -> str:
    """Return the address without user and password.

    Raises:
        InputError: it is no address of PostgreSQL.
    """
    wrong = "The address of a PostgreSQL database should be like postgresql://user@host:5432/database"
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"{wrong}, with special characters of a password percent-encoded.") from None
    # PostgreSQL takes what follows the first @ for the host, and prints it.
    is_wrong = parts.netloc.count("@") > 1 or re.search(r"\s|%(?![0-9A-Fa-f]{2})", uri)
    if is_wrong or not uri.startswith(SCHEMES):
        raise InputError(f"{wrong}, with special characters of a password percent-encoded.")
    query = parse_qs(parts.query)
    host = host or next(iter(query.get("host", [])), "localhost")
    return f"{host}{f':{port}' if port else ''}{parts.path}"
