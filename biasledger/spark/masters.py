"""Where Spark runs, as `master` in profiles.yml names it, and what of that may be printed."""

from __future__ import annotations

import re
from urllib.parse import unquote

from collector.redaction import KEY_PLACEHOLDER, MIN_SECRET_CHARACTERS, spellings

ACTIVE = "active"
"""The session that this process has already, as in a notebook or a job of Databricks; none is begun."""

_CONNECT = "sc://"
# Parameters of an address that are no secrets; all others, and names without a value, may be.
_PLAIN = frozenset(
    {"use_ssl", "user_id", "user_agent", "session_id", "grpc_max_message_size", "x-databricks-cluster-id"}
)


def is_connect(master: str) -> bool:
    """Return whether it is the address of a server of Spark Connect: sc://HOST:PORT, or with parameters,
    sc://HOST:PORT/;token=….
    """
    return master.strip().lower().startswith(_CONNECT)


def shown(master: str) -> str:
    """Return an address of Spark Connect without secrets: without parameters, and without a host that an @ follows."""
    if not is_connect(master):
        return master
    place, rest = _split(master)
    return f"{_CONNECT}{KEY_PLACEHOLDER if '@' in rest else place.rpartition('@')[2]}"


def without_secrets(text: str, master: str) -> str:
    """Return a message without the secrets of an address of Spark Connect, in any spelling."""
    for secret in _secrets(master):
        for form in spellings(secret):
            text = text.replace(form, KEY_PLACEHOLDER)
    return text


def _split(master: str) -> tuple[str, str]:
    """Split an address before the first character that ends a host."""
    address = master.strip()[len(_CONNECT) :]
    place = re.split(r"[/;?#]", address)[0]
    return place, address[len(place) :]


def _secrets(master: str) -> list[str]:
    """Return the part after the host and the name before it, the longest first."""
    if not is_connect(master):
        return []
    place, rest = _split(master)
    # An @ that follows may end a name with a / in it, or be part of a token.
    given = [place.rpartition("@")[0], *(re.split(r"[/;?#&@]", place + rest) if "@" in rest else [])]
    for parameter in re.split(r"[/;?#&]", rest):
        name, _, value = parameter.partition("=")
        given += [] if name.lower() in _PLAIN else [value or name]
    found = {one for value in given for one in (value, unquote(value)) if len(one) >= MIN_SECRET_CHARACTERS}
    return sorted(found, key=lambda one: (-len(one), one))
