"""Expand the shapes of lists in lists.yml: every set of titles in every rendering, and the replies written out in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("lists.yml")


def list_shapes() -> Iterator[tuple[str, list[str] | None]]:
    """Yield the text of each shape, and the titles that are right to read; None where the reply holds no list."""
    document: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for rendering in document["renderings"]:
        for name, titles in document["titles"].items():
            if name not in rendering.get("not_titles", ()):
                yield _rendered(titles, rendering), list(titles)
    for reply in document["replies"]:
        yield reply["text"], reply["want"]


def _rendered(titles: Sequence[str], rendering: dict[str, Any]) -> str:
    lines = [
        rendering["item"].format(title=title, **numbers(number))
        for number, title in enumerate(titles, start=1)
    ]
    return str(
        rendering.get("before", "") + rendering.get("between", "\n").join(lines) + rendering.get("behind", "")
    )


def numbers(n: int) -> dict[str, str]:
    """Return a number below 11 in every way that renderings write numbers."""
    roman = "I II III IV V VI VII VIII IX X".split()[n - 1]
    digits = {"ar": "٠", "fa": "۰", "hi": "०", "bn": "০", "th": "๐", "wide": "０"}
    return {
        "n": str(n),
        "back": str(11 - n),
        "zh": "一二三四五六七八九十"[n - 1],
        "roman": roman.lower(),
        "ROMAN": roman,
        "a": chr(96 + n),
        "A": chr(64 + n),
        "cyrillic": "абвгдежзик"[n - 1],
        "greek": "αβγδεζηθικ"[n - 1],
        "hangul": "가나다라마바사아자차"[n - 1],
        "circled": chr(ord("①") + n - 1),
        "dark": chr(ord("❶") + n - 1),
        "bracketed": chr(ord("⑴") + n - 1),
        "dotted": chr(ord("⒈") + n - 1),
        "formal": "壹贰叁肆伍陆柒捌玖拾"[n - 1],
        "keycap": "🔟" if n == 10 else f"{n}\ufe0f\u20e3",
        "nth": f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }",
        **{name: "".join(chr(ord(zero) + int(one)) for one in str(n)) for name, zero in digits.items()},
    }
