"""The base of the readers of German and of the Romance languages: the state of reading a prompt, and swaps of words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from collector.counterfactual.texts import NotSafeError, Prompt, Swap, in_case
from collector.counterfactual.words import Words, identity_forms


class Reader(ABC):
    """Reads one prompt and holds what was understood so far; the groups are man and woman."""

    def __init__(self, prompt: Prompt, words: Words) -> None:
        self.prompt = prompt
        self.words, self.rules = words, words.rules
        # Words that are part of a swap, and where a person of a group is named.
        self.taken: set[int] = set()
        self.persons: list[tuple[int, str]] = []

    def antecedent(self, index: int) -> str | None:
        """Return the group of the last person that was named before a word."""
        return next((group for place, group in reversed(self.persons) if place < index), None)

    def has(self, index: int, *rules: str) -> bool:
        """Return whether a word is in one of some lists."""
        return any(self.prompt.at(index) in self.rules[rule] for rule in rules)

    def joined(self, index: int) -> bool:
        """Return whether only a space or an apostrophe precedes a word."""
        return 0 < index < len(self.prompt.words) and self.prompt.between(index) in (" ", "'", "’", "\u00a0")

    def unsure(self, index: int, why: str) -> NotSafeError:
        """Return the error that a word cannot be swapped without a guess."""
        return NotSafeError(f"“{self.prompt.words[index]}” {why}")

    def token(self, index: int) -> str:
        """Return a word in lower case, with its apostrophe if it is shortened."""
        word = self.prompt.at(index)
        return f"{word}'" if word and self.prompt.between(index + 1)[:1] in ("'", "’") else word

    def readable(self) -> Iterator[tuple[int, str]]:
        """Yield the words in lower case that are not left alone and not understood yet."""
        for index, word in enumerate(self.prompt.lower):
            if not self.prompt.is_left[index] and index not in self.taken:
                yield index, word

    def swap(self, index: int, other: str, group: str, *, first: int | None = None) -> Swap:
        """Return the swap of a word, or of all words from `first` to it."""
        begin = index if first is None else first
        self.taken.update(range(begin, index + 1))
        start, end = self.prompt.starts[begin], self.prompt.ends[index]
        own = self.prompt.text[start:end]
        case_of = own if " " not in own else own[:1] + own[1:].lower()
        # Prompts without capitals have German nouns without them, too.
        other = other.lower() if own[:1].islower() else other
        forms = {"man": own, "woman": in_case(case_of, other)}
        if group == "woman":
            forms = {"man": in_case(case_of, other), "woman": own}
        return Swap(start, end, forms, group)

    @abstractmethod
    def describes(self, index: int) -> bool:
        """Return whether a word of race, religion or nationality describes a person."""

    def identities(self) -> Iterator[Swap]:
        """Yield words of race, religion and nationality that describe a person; their ending stays."""
        known = identity_forms(self.words)
        for index, word in self.readable():
            if word not in known or not self.describes(index):
                continue
            attribute, place, groups = known[word]
            written, start = self.prompt.words[index], self.prompt.starts[index]
            named = dict(zip(self.words.groups[attribute], (forms[place] for forms in groups), strict=True))
            own = next(name for name, form in named.items() if form == word)
            forms = {name: in_case(written, form) for name, form in named.items()}
            yield Swap(start, self.prompt.ends[index], forms | {own: written}, own)
