"""The parts of an address, and addresses that change one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

_DIGITS = 19


@dataclass(frozen=True)
class Labeller:
    """In whose name labels are kept, and what forms of this explorer's pages say that those of other sites cannot know."""

    name: str
    token: str


@dataclass(frozen=True)
class Served:
    """The files that are shown; labels are given only where there is a labeller."""

    warehouse: Path
    ledger: Path
    labeller: Labeller | None = None


@dataclass(frozen=True)
class Asked:
    """The parts of an address: its path, and its query string with the last value of each name.

    is_from_elsewhere: a page of another site led here, so that nobody has read what the address asks for.
    """

    values: Mapping[str, str]
    path: str
    is_from_elsewhere: bool = False

    def get(self, name: str, default: str = "") -> str:
        """A value without white space around it; the default where it is empty or absent."""
        return self.values.get(name, "").strip() or default

    def whole(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000_000) -> int:
        """A whole number in these bounds; the default where it is none."""
        text = self.get(name)
        # Python refuses to read numbers of thousands of digits.
        return min(max(int(text), least), most) if text.isdecimal() and len(text) < _DIGITS else default

    def but(self, **changes: object) -> str:
        """The same address with other values; those that are None are left out."""
        return link(self.path, **{**self.values, **changes})


def link(path: str, /, **values: object) -> str:
    """An address of the explorer; empty values are left out."""
    shown = {name: str(value) for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(shown)}" if shown else path
