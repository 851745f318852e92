"""Paths into a JSON document, in a small part of JSONPath.

A path is a row of steps: `.name` or `['any name']` goes into an object, `[0]` and `[-1]` into a list, `[*]` into every element of
a list. A `$` in front is allowed, and the first name needs no dot: `data.results[*].title`, `$['the answer'][0]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"""\.?(?P<name>[^.\[\]\s'"$*]+) | \[\s*(?P<index>-?\d+)\s*\] | \[\s*(?P<all>\*)\s*\]
    | \[\s*'(?P<single>[^']*)'\s*\] | \[\s*"(?P<double>[^"]*)"\s*\]""",
    re.VERBOSE,
)
_ALL = object()


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path; `text` is how it was written."""

    text: str
    _steps: tuple[object, ...]

    @property
    def finds_many(self) -> bool:
        """Return whether it has a [*], so that it finds a list of values."""
        return _ALL in self._steps

    def is_list_in(self, document: Any) -> bool:
        """Return whether it has a [*] and the path before it leads to a list in this document, perhaps an empty one."""
        if not self.finds_many:
            return False
        before = self._steps[: self._steps.index(_ALL)]
        return isinstance(next(_follow(document, before), None), list)

    def find(self, document: Any) -> Iterator[Any]:
        """Yield every value at the path: none or one without [*], any number with it."""
        yield from _follow(document, self._steps)


def parse_json_path(text: str) -> JsonPath:
    """Read a path.

    Raises:
        ValueError: it is none; the message says how one is written.
    """
    steps: list[object] = []
    position = 1 if text.startswith("$") else 0
    while position < len(text):
        match = _STEP.match(text, position)
        # A name right after another step needs its dot.
        if match is None or (match["name"] and position > 0 and text[position] != "."):
            raise ValueError(
                f"is {text!r} and should be a path such as answer, data.results[0].text or items[*].name; a name with other "
                f"characters is written ['like this']"
            )
        if match["all"]:
            steps.append(_ALL)
        elif match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(next(name for name in match.group("name", "single", "double") if name is not None))
        position = match.end()
    return JsonPath(text, tuple(steps))


def _follow(value: Any, steps: tuple[object, ...]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step is _ALL:
        for element in value if isinstance(value, list) else ():
            yield from _follow(element, rest)
    elif isinstance(step, int):
        if isinstance(value, list) and -len(value) <= step < len(value):
            yield from _follow(value[step], rest)
    elif isinstance(value, dict) and step in value:
        yield from _follow(value[step], rest)
