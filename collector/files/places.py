"""Files and folders as people name them: by a path, or a file:// URL of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from collector.errors import InputError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def local_path(place: str) -> Path:
    """Return the path that is named.

    Raises:
        InputError: it is the URL of an object store or of another machine.
    """
    found = _SCHEME.match(place)
    if found is None:
        return Path(place)
    url = urlsplit(place)
    if found[1].lower() == "file" and url.netloc in {"", "localhost"}:
        if url.query or url.fragment:
            raise InputError(f"{place} has a ? or #, which cuts a URL: write them as %3F and %23.")
        return Path(unquote(url.path))
    # A container may precede an @, too (abfss://box@store); a key follows a colon.
    shown = url._replace(netloc=url.netloc.rpartition("@")[2]).geturl() if url.password else place
    raise InputError(
        f"{shown} is no path of this machine, and object stores are neither read nor written: name a path, such as one where the "
        "store is mounted (/Volumes/…, /mnt/…), or copy it."
    )
