"""The settings of the build that judged a pack, as plain values.

A pack comes from somebody else, and these values become variables of dbt, parts of its SQL: values of another kind are refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from biasledger.packing.archive import BUILD, Pack, json_bytes
from collector.errors import InputError

_ENGINE_VERSION = re.compile(r"[0-9A-Za-z.]{1,20}")
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Judged:
    """The engine, the settings and the day of exceptions with which findings were judged."""

    engine_version: str
    alpha: float
    permutations: bool
    min_permutations: int
    all_groups: bool
    seed: int
    judged_on: date

    def variables(self) -> dict[str, Any]:
        """Return the settings as variables of the dbt project."""
        return {
            "alpha": self.alpha,
            "permutations": self.permutations,
            "min_permutations": self.min_permutations,
            "all_groups": self.all_groups,
            "seed": self.seed,
            "today": self.judged_on.isoformat(),
        }


def read_judged(pack: Pack) -> Judged:
    """Read a pack's build.json.

    Raises:
        InputError: a key is missing or is not of its kind; names it.
    """
    try:
        build = json.loads(pack.files[BUILD])
    except (ValueError, RecursionError):
        raise InputError(f"{BUILD} of the pack is no JSON: it should be an object of settings.") from None
    if not isinstance(build, dict):
        raise InputError(f"{BUILD} of the pack should be an object of settings.")
    if json_bytes(build) != pack.files[BUILD]:
        raise InputError(
            f"{BUILD} of the pack is not written as one is: a key occurs twice, or the spacing differs."
        )
    return Judged(**{name: _value(build, name, *kind) for name, kind in _KINDS.items()})


def _value(build: dict[str, Any], name: str, parse: Callable[[Any], Any], kind: str) -> Any:
    if name not in build:
        raise InputError(f"{BUILD} of the pack lacks the key {name!r}; it should be {kind}.")
    try:
        return parse(build[name])
    except (ValueError, TypeError):
        raise InputError(
            f"{BUILD} of the pack has {_shortened(build[name])} as {name!r}; it should be {kind}."
        ) from None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + " …"


def _version(value: Any) -> str:
    if not isinstance(value, str) or not _ENGINE_VERSION.fullmatch(value):
        raise ValueError
    return value


def _share(value: Any) -> float:
    if not isinstance(value, float) or not math.isfinite(value) or not 0 < value < 1:
        raise ValueError
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise ValueError
    return int(value)


_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "engine_version": (_version, "a version such as '3'"),
    "alpha": (_share, "a number between 0 and 1"),
    "permutations": (_truth, "true or false"),
    "min_permutations": (_count, "a whole number from 0 on"),
    "all_groups": (_truth, "true or false"),
    "seed": (_count, "a whole number from 0 on"),
    "judged_on": (date.fromisoformat, "a date such as 2027-06-30"),
}
