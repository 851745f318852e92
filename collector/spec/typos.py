"""Typing errors by stated rules, in one word of a descriptor: the same error for every subject and in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

PREFIX = "typo_"
RULES = {
    "typo_swap": "two neighbouring inner letters change places",
    "typo_drop": "one inner letter is left out",
    "typo_double": "one letter is doubled",
}
_WORD = re.compile(r"[^\W\d_]+")


def longest_word(descriptor: str) -> str:
    """Return the longest run of letters of a descriptor, the first of equals; '' if it has none."""
    return max(_WORD.findall(descriptor), key=len, default="")


def mistype(rule: str, descriptor: str) -> str:
    """Return the descriptor with one typing error in its longest word.

    The first letter is kept, and so is the last one unless the word is too short to change inside. Which letter it is follows
    from a hash of rule and descriptor.

    Args:
        rule: typo_swap, typo_drop or typo_double.
        descriptor: the words to change.

    Raises:
        ValueError: the rule cannot change the word; the message says why.
    """
    word = longest_word(descriptor)
    candidates = _mistyped(rule, word, len(word) - 1) or _mistyped(rule, word, len(word))
    if not candidates:
        raise ValueError(f"cannot change {descriptor!r} ({rule}: {RULES[rule]})")
    digest = hashlib.sha256(f"{rule}\n{descriptor}".encode()).digest()
    return descriptor.replace(word, candidates[int.from_bytes(digest[:8], "big") % len(candidates)], 1)


def mistype_one(rule: str, descriptors: Sequence[str]) -> list[str]:
    """Return the descriptors of a prompt with one typing error, in the one with the longest word (the first of equals).

    Raises:
        ValueError: as mistype.
    """
    target = max(range(len(descriptors)), key=lambda index: len(longest_word(descriptors[index])))
    return [
        mistype(rule, descriptor) if index == target else descriptor
        for index, descriptor in enumerate(descriptors)
    ]


def _mistyped(rule: str, word: str, end: int) -> list[str]:
    """Return every form of the word that the rule can give between its second letter and `end`, from left to right."""
    if rule == "typo_swap":
        return [
            word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            for at in range(1, end - 1)
            if word[at] != word[at + 1]
        ]
    if rule == "typo_drop":
        return [word[:at] + word[at + 1 :] for at in range(1, end)]
    return [word[: at + 1] + word[at:] for at in range(1, end)]
