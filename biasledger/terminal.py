"""Text of models and files made harmless for a terminal."""

from __future__ import annotations

import logging
import re
import sys
from typing import TextIO

# Control characters steer a terminal (escape sequences begin with one); characters that turn the direction of writing make text
# read as what it is not.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with every character that could steer a terminal written out, as `\\x1b`; line feeds and tabs stay."""
    return _STEERING.sub(_escaped, text)


class _VisibleFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def configure_logging(level: int) -> None:
    """Send what our packages log, from a level on, to standard error; what it quotes cannot steer the terminal."""
    for name in ("biasledger", "collector"):
        ours = logging.getLogger(name)
        ours.setLevel(level)
        if not any(isinstance(one.formatter, _VisibleFormatter) for one in ours.handlers):
            handler = _StandardError()
            handler.setFormatter(_VisibleFormatter("%(asctime)s %(message)s", "%H:%M:%S"))
            ours.addHandler(handler)


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to standard error as it is at the moment: who calls a command from Python may have put another one in its place."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _: TextIO) -> None:
        """Nothing is kept."""


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
