"""Write an audit whose templates are prompts of a file, with slots where they state who a person is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.answers.answer_language import language_of
from collector.counterfactual.swapping import GENDER, read_prompt, slot_name
from collector.counterfactual.texts import Swap
from collector.counterfactual.words import Words, languages, read_words
from collector.errors import InputError
from collector.files.csv import inert
from collector.hints import did_you_mean, quoted
from collector.spec.slots import indefinite_article
from collector.spec.wordings import read_wordings, shipped_wordings
from collector.tables.source import Form, read_table, source_columns

DESCRIPTOR, NAME = "{descriptor}", "{name}"
# Names of columns that hold prompts.
_COLUMNS = ("prompt", "question", "query", "instruction", "input", "text", "message")
_READ_FOR_LANGUAGE = 200
# Slots of a template besides attributes and agreements.
_SLOTS_OF_SPECS = ("k", "name", "descriptor", "number", "candidates")
_REASON_PERSON = "it names a person, or may do so, but does not state this attribute"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A prompt that is not asked about an attribute."""

    row: int
    attribute: str
    reason: str
    prompt: str


@dataclass(slots=True)
class Draft:
    """An audit of prompts.

    Attributes:
        spec: the document, whose key templates names the file that `templates` become.
        templates: one for each prompt and attribute that is asked.
        left_out: what is not asked, with reasons.
        n_prompts: how many prompts the file has.
        language: their language.
        named: attribute -> how many prompts state it.
        swapped: attribute -> how many are asked with other words.
        added: attribute -> how many get a sentence.
        n_without: how many state none of these attributes.
        sentence: what is added; empty for nothing.
    """

    spec: dict[str, Any]
    templates: list[dict[str, str]]
    language: str
    sentence: str
    n_prompts: int = 0
    n_without: int = 0
    left_out: list[LeftOut] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    swapped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)

    def templates_text(self) -> str:
        """Return the templates as a CSV file."""
        return _csv(("id", "text", "language", "wording"), (one.values() for one in self.templates))

    def left_out_text(self) -> str:
        """Return what was left out as a CSV file, without texts that a spreadsheet would take for formulas."""
        rows = ((one.row, one.attribute, one.reason, inert(one.prompt)) for one in self.left_out)
        return _csv(("row", "attribute", "reason", "prompt"), rows)


def read_prompts(file: Path, column: str | None, form: Form) -> list[str]:
    """Return the prompts of a file, in its order.

    Args:
        file: a table, or a log of another tool.
        column: the column of prompts; None takes the only one, or one that is called like prompts.
        form: how the file is to be read.

    Raises:
        InputError: the file cannot be read, has no such column, or holds no prompt.
    """
    columns = source_columns(file, lambda _: True, form)
    if column is None:
        known = {one.casefold(): one for one in columns}
        column = next(
            (known[one] for one in _COLUMNS if one in known), columns[0] if len(columns) == 1 else None
        )
    if column is None:
        raise InputError(
            f"{file}: name the column of the prompts with --column; the columns are {quoted(columns)}."
        )
    prompts = [(text or "").strip() for (text,) in read_table(file, [column], form)]
    if not any(prompts):
        raise InputError(f"{file}: the column {column!r} holds no prompt: all of its cells are empty.")
    return prompts


def language_of_prompts(prompts: Sequence[str]) -> str:
    """Return the language of prompts.

    Raises:
        InputError: it is none whose words are known.
    """
    sample = " ".join(prompts[:_READ_FOR_LANGUAGE])
    found = language_of(sample)
    if found not in languages():
        raise InputError(
            f"The language of the prompts is {'not recognised' if found is None else repr(found)}; name one of "
            f"{quoted(languages())} with --language."
        )
    return found


def attribute_groups(attribute: str, words: Words) -> tuple[str, ...]:
    """Return the groups of an attribute: those whose words are known, or those of the shipped wordings.

    Raises:
        InputError: neither is known.
    """
    if attribute in words.groups:
        return words.groups[attribute]
    if words.language == "en" and f"{attribute}/en" in shipped_wordings():
        return tuple(read_wordings(f"{attribute}/en"))
    known = list(words.groups)
    if words.language == "en":
        known += [one.split("/")[0] for one in shipped_wordings() if one.split("/")[0] not in known]
    hint = did_you_mean(attribute, known) or f"; known are {quoted(known)}."
    raise InputError(f"No words of the language {words.language!r} are known for {attribute!r}{hint}")


def draft_audit(
    name: str,
    file: Path,
    prompts: Sequence[str],
    attributes: Sequence[str],
    language: str,
    sentence: str | None,
    trials: int,
) -> Draft:
    """Return an audit that asks each prompt with the words of each group.

    Args:
        name: what the audit is called.
        file: where the prompts are from.
        prompts: the prompts, one a row.
        attributes: the attributes to swap, one at a time.
        language: the prompts' language.
        sentence: what is added to prompts about nobody, with {descriptor} (before the prompt) or {name} (after it); None is the
            language's own sentence, and "" nothing.
        trials: how often each prompt is asked.

    Raises:
        InputError: an attribute or the sentence is not usable, or no prompt can be asked.
    """
    words = read_words(language)
    if sentence is None:
        sentence = str(words.data["added"]["sentence"])
    if sentence and (DESCRIPTOR in sentence) == (NAME in sentence):
        raise InputError(
            f"The sentence to add is {sentence!r} and should hold {DESCRIPTOR} or {NAME}, one of them."
        )
    writers = {one: _Attribute(one, words, sentence) for one in attributes}
    draft = Draft({}, [], language, sentence, len(prompts))
    first_rows: dict[str, int] = {}
    for row, text in enumerate(prompts, start=1):
        reading = read_prompt(text, language)
        named = [one for one in attributes if reading.named(one)]
        draft.named.update(named)
        draft.n_without += not named
        if not text or first_rows.setdefault(text, row) != row:
            reason = f"it repeats row {first_rows[text]}" if text else "it is empty"
            draft.left_out.append(LeftOut(row, "", reason, text))
            continue
        for attribute, writer in writers.items():
            if attribute in reading.swaps:
                writer.swap(row, text, reading.swaps[attribute], draft)
            elif attribute in reading.not_safe:
                draft.left_out.append(LeftOut(row, attribute, reading.not_safe[attribute], text))
            elif reading.names_person:
                draft.left_out.append(LeftOut(row, attribute, _REASON_PERSON, text))
            elif sentence:
                writer.add(row, text, draft)
            else:
                draft.left_out.append(LeftOut(row, attribute, "it names nobody, and nothing is added", text))
    used = {one: writer for one, writer in writers.items() if draft.swapped[one] or draft.added[one]}
    if not used:
        raise InputError(f"{file}: none of {len(prompts):,} prompts can be asked about {quoted(attributes)}.")
    added = sum(draft.added.values())
    title = f"Counterfactuals of {len(prompts):,} prompts of {file.name}"
    if added:
        title += f"; those that name nobody say: {sentence.strip()}"
    draft.spec = {
        "audit": name,
        "title": title,
        "templates": f"{name}.prompts.csv",
        "attributes": {one: writer.document() for one, writer in used.items()},
        "trials": trials,
        "answer": {"kind": "text"},
        # Texts are also compared inside each prompt, which shows the prompts whose answers lie farthest apart.
        "analysis": {"words": {}, "texts": {}},
        "nouns": {"case": "prompt"},
    }
    return draft


class _Attribute:
    """The slots of one attribute: a wording for the first word of a prompt, agreements for the others."""

    def __init__(self, name: str, words: Words, sentence: str) -> None:
        self.name = name
        self.groups = attribute_groups(name, words)
        self._wordings: dict[str, dict[str, str]] = {}
        self._slots: dict[tuple[str, ...], str] = {}
        self._taken: set[str] = {name.lower(), *_SLOTS_OF_SPECS}
        self._language = words.language
        self._sentence = sentence
        self._added = [*_added_wordings(name, self.groups, words, sentence)]

    def swap(self, row: int, text: str, swaps: Sequence[Swap], draft: Draft) -> None:
        """Add a prompt in which words are swapped."""
        differing = [one for one in swaps if len(set(one.forms.values())) == len(self.groups)]
        if not differing:
            draft.left_out.append(LeftOut(row, self.name, "no word of it differs for every group", text))
            return
        main = max(differing, key=lambda one: (min(map(len, one.forms.values())), -one.start))
        parts, position = [], 0
        for swap in swaps:
            slot = self.name if swap is main else self._slot(swap.forms)
            parts += [_escaped(text[position : swap.start]), f"{{{slot}}}"]
            position = swap.end
        parts.append(_escaped(text[position:]))
        draft.swapped[self.name] += 1
        self._write(draft, f"row{row}-{self.name}", "".join(parts), self._wording(main.forms))

    def add(self, row: int, text: str, draft: Draft) -> None:
        """Add a prompt with a sentence that names the person."""
        slot = f"{{{self.name}}}"
        before, _, after = self._sentence.replace(NAME, DESCRIPTOR).partition(DESCRIPTOR)
        sentence = f"{_escaped(before)}{slot}{_escaped(after)}"
        is_signature = NAME in self._sentence
        whole = (
            f"{_escaped(text)}\n\n{sentence.strip()}"
            if is_signature
            else f"{sentence.strip()} {_escaped(text)}"
        )
        draft.added[self.name] += 1
        # In turn, so that each is asked about equally often.
        forms = self._added[draft.added[self.name] % len(self._added)]
        self._write(draft, f"row{row}-{self.name}-added", whole, self._wording(forms))

    def document(self) -> dict[str, Any]:
        """Return the attribute as the spec has it."""
        document: dict[str, Any] = {
            "reference": self.groups[0],
            "groups": list(self.groups),
            "wordings": self._wordings,
        }
        if self._slots:
            document["agreements"] = {
                slot: dict(zip(self.groups, forms, strict=True)) for forms, slot in self._slots.items()
            }
        return document

    def _write(self, draft: Draft, template: str, text: str, wording: str) -> None:
        draft.templates.append({"id": template, "text": text, "language": self._language, "wording": wording})

    def _wording(self, forms: Mapping[str, str]) -> str:
        ordered = {one: forms[one] for one in self.groups}
        name = " / ".join(ordered.values())
        self._wordings.setdefault(name, ordered)
        return name

    def _slot(self, forms: Mapping[str, str]) -> str:
        key = tuple(forms[one] for one in self.groups)
        if key not in self._slots:
            stem = slot_name(key[0]) if self.name == GENDER else slot_name(f"{self.name}_{key[0]}")
            name, number = stem, 1
            while name.lower() in self._taken:
                number += 1
                name = f"{stem}_{number}"
            # Names that differ in case alone would be hard to tell apart.
            self._taken.add(name.lower())
            self._slots[key] = name
        return self._slots[key]


def _added_wordings(
    attribute: str, groups: Sequence[str], words: Words, sentence: str
) -> Iterator[dict[str, str]]:
    """Yield group -> descriptor for each wording of the added sentence.

    Raises:
        InputError: the language has none for an attribute.
    """
    if not sentence:
        return
    listed: Mapping[str, Sequence[str]] | None
    if NAME in sentence:
        if attribute == GENDER:
            listed = {one: words.names_of[one] for one in groups}
        elif attribute == "race" and words.by_race:
            listed = {one: [*words.by_race[one]["man"], *words.by_race[one]["woman"]] for one in groups}
        else:
            raise InputError(
                f"First names do not show {attribute!r}; add a sentence with {DESCRIPTOR} instead."
            )
    elif words.language == "en":
        shipped = read_wordings(f"{attribute}/en") if f"{attribute}/en" in shipped_wordings() else {}
        known = {group.casefold(): listed for group, listed in shipped.items()}
        listed = {one: known.get(one.casefold(), ()) for one in groups}
        if not all(listed.values()):
            frames = ("{a} person", "{a} individual", "{a} adult", "someone who is {}", "a person who is {}")
            articles = {one: f"{indefinite_article(one)} {one}" for one in groups}
            listed = {one: [frame.format(one, a=articles[one]) for frame in frames] for one in groups}
    else:
        listed = words.data["added"].get(attribute)
        if listed is None:
            known_attributes = quoted(one for one in words.data["added"] if one != "sentence")
            raise InputError(
                f"No wordings of {attribute!r} are known in the language {words.language!r} (but of {known_attributes}); "
                f"leave prompts that name nobody out with --add ''."
            )
    for place in range(min(len(one) for one in listed.values())):
        yield {group: listed[group][place] for group in groups}


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return written.getvalue()
