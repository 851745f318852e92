"""The meaning of JSON keys and table headings in many languages: a name, a price, a price level, a category.

A key is compared in lower case, without accents, separators, brackets and currencies: `Preis (EUR)`, `preis_eur` and `preisEur`
are all `preis`. The words are data: key_words.yml.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

from collector.answers.texts.remembered import remembered
from collector.files.yaml import read_yaml_mapping

Role = Literal["name", "level", "price", "category", "currency", "list", "rank"]
_WORDS_FILE = Path(__file__).with_name("key_words.yml")

# If a key has several known words, the first of these roles decides: a "product price" is a price.
_STRONGEST: tuple[Role, ...] = ("level", "price", "category", "name")
_BEHIND_WORDS = 1_000
_PARTS = re.compile(r"[^\W\d_]+|\d+|[€$£¥₹₩₺₽₴#№]")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-Z])")
_CJK_BRACKET = re.compile(r"[(（\[【][^()（）\[\]【】]{0,30}[)）\]】]")
_MARKUP = re.compile(r"[*_`:]+")
_MAX_KEY = 60


@dataclass(frozen=True, slots=True)
class KeyMeaning:
    """The role of a key (None if it is not known), its rank among the words of that role, and the currency that it names, as
    `preis_eur` does."""

    role: Role | None
    rank: int
    currency: str | None


@remembered
def meaning_of(key: str) -> KeyMeaning:
    """Return the meaning of an object's key or a table's heading."""
    if len(key) > _MAX_KEY:
        return KeyMeaning(None, 0, None)
    words = _words()
    parts = _PARTS.findall(_folded(_CAMEL.sub("_", key)))
    currency = next((part for part in reversed(parts) if part in words.currencies), None)
    for written in (parts, [part for part in parts if part not in words.ignored]):
        known = words.roles.get("".join(written))
        if known is None and (without := _CJK_BRACKET.sub("", key)) != key:
            known = words.roles.get("".join(_PARTS.findall(_folded(without))))
        if known is not None:
            return KeyMeaning(*known, currency)
    return KeyMeaning(*_of_several(parts), currency)


def _of_several(parts: Sequence[str]) -> tuple[Role | None, int]:
    """Return the role and rank of a key each of whose words is known ("product price"), or no role."""
    words = _words()
    known = [words.roles.get(part) for part in parts if part not in words.ignored]
    roles = {one[0]: one[1] for one in known if one is not None}
    if len(known) < 2 or None in known or not set(roles) <= set(_STRONGEST):
        return None, 0
    role = next(role for role in _STRONGEST if role in roles)
    return role, _BEHIND_WORDS + roles[role]


def first_keys(meaning: Literal["name", "price", "category", "title", "list", "amount"]) -> tuple[str, ...]:
    """Return the keys with a meaning that go before all others, the best first, as item_rules.plain_key writes them."""
    return _words().first[meaning]


def column_of_names(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return which column of a table holds names: the one with such a heading, else the first without numbers."""
    meanings = [meaning_of(_MARKUP.sub("", cell)) for cell in header]
    named = [(one.rank, at) for at, one in enumerate(meanings) if one.role == "name"]
    if named:
        return min(named)[1]
    for at, one in enumerate(meanings):
        if one.role is None and not all(row[at].strip("#.) ").isdecimal() for row in rows if at < len(row)):
            return at
    return 0


def is_title_label(label: str) -> bool:
    """Return whether a word before a colon says that a title follows: "Title", "Song", "书名"."""
    return meaning_of(label).role == "name"


def _folded(text: str) -> str:
    """Return a text in lower case without accents, composed."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    if not apart.isascii():
        apart = "".join(one for one in apart if not unicodedata.combining(one))
    return unicodedata.normalize("NFKC", apart)


@dataclass(frozen=True, slots=True)
class _Words:
    """The content of key_words.yml; roles: folded word -> role and rank."""

    first: Mapping[str, tuple[str, ...]]
    roles: Mapping[str, tuple[Role, int]]
    currencies: frozenset[str]
    ignored: frozenset[str]


@cache
def _words() -> _Words:
    document = read_yaml_mapping(_WORDS_FILE, what="words of keys")
    first = {name: tuple(words.split()) for name, words in document.pop("first").items()}
    listed = {name: " ".join(by_language.values()).split() for name, by_language in document.items()}
    currencies = frozenset(listed.pop("currencies"))
    fillers = frozenset(listed.pop("fillers"))
    roles: dict[str, tuple[Role, int]] = {}
    for role, words in listed.items():
        for rank, word in enumerate(words):
            roles.setdefault("".join(_PARTS.findall(_folded(word))), (cast(Role, role), rank))
    return _Words(first, roles, currencies, currencies | fillers)
