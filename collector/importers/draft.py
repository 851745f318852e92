"""A first spec for a file of answers, from which column holds what: groups and the kind of answers are read off the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from collector.answers.proposals import Proposal, propose_answer
from collector.composed import composed
from collector.errors import InputError
from collector.hints import did_you_mean, ended, quoted, shown
from collector.importers.conditions import odd_look, written_in_values
from collector.importers.missing import (
    LEAST_RECURRING,
    TOKEN_CHARACTERS,
    is_refusal_token,
    present,
    refusal_pattern,
    tokens_for_nothing,
    trimmed,
)
from collector.importers.preview import ANSWERS_READ
from collector.spec.parts import DESCRIPTOR, LENGTH
from collector.sql import literal
from collector.tables.log_rows import no_rows
from collector.tables.missing import is_missing
from collector.tables.source import ANSWER_COLUMN, AS_IT_LOOKS, Form, Source, open_source
from collector.terminal import on_one_line

# A column with more different values names no groups.
MOST_GROUPS = 50
# A file with a row for each answer has answers of these kinds.
KINDS = ("text", "json_object", "list", "label", "score")
# Words for a missing value that may also be a real one: a religion, a label, a country.
MAY_MEAN = ("None", "none", "NONE", "NA", "na", "N/A", "n/a")
# Names of groups for people whose group is unknown or undisclosed, as in macros/decisions/groups.sql.
UNKNOWN_GROUPS = (
    r"unknown", r"not (stated|specified|known|reported|provided|available)", r"unspecified", r"missing",
    r"no data", r"unbekannt", r"nicht (bekannt|erfasst|angegeben)", r"ohne angabe", r"inconnue?",
    r"non (renseigné|précisé)e?", r"desconocid[oa]", r"no especificado", r"sin (dato|datos|especificar)",
    r"sconosciut[oa]", r"non specificato", r"desconhecid[oa]", r"não informado", r"onbekend",
    r"niet (opgegeven|bekend)", r"bilinmiyor", r"belirtilmemiş", r"nieznan[ye]", r"nie podano",
    r"brak danych", r"okän[dt]", r"ej angivet", r"ukendt", r"ikke oplyst", r"ukjent", r"tuntematon",
    r"неизвестно", r"не указано", r"不明", r"未知", r"غير معروف", r"undisclosed", r"not disclosed",
    r"(prefers?|preferred|declined?s?|chose|choose) (not )?to (say|state|answer|disclose|specify|self-identify)",
    r"(i )?do not wish to (say|state|answer|disclose)", r"withheld", r"no answer",
    r"keine (angabe|angaben|auskunft)", r"k\. ?a\.",
    r"(möchte )?(ich )?(möchte )?(es )?(nicht|lieber nicht) (sagen|angeben)",
    r"non (communiqué|divulgué)e?", r"(je )?préfère ne pas (le )?(dire|répondre|préciser)",
    r"prefiero no (decirlo|responder|decir)", r"no (declarado|revelado)",
    r"preferisco non (rispondere|dirlo|dichiararlo)", r"non dichiarato", r"prefiro não (dizer|responder)",
    r"não declarado", r"wil(l)? (ik )?(niet|liever niet) (zeggen|opgeven)", r"zeg ik liever niet",
    r"belirtmek istemiyorum", r"wolę nie podawać", r"vill (ej|inte) (uppge|svara)", r"не хочу отвечать",
    r"回答しない", r"不愿透露",
)  # fmt: skip
_UNKNOWN = re.compile("|".join(UNKNOWN_GROUPS), re.IGNORECASE)
_TO_CHECK = {
    "label": "Check the labels: they are what the answers in {} state.",
    "score": "Check the scale: it holds the scores in {}, rounded outward.",
}
# Characters around a word that carry no meaning: "Reject." is "reject".
_AROUND = " \t\n.,;:!\"'“”‘’*_`"


@dataclass(frozen=True, slots=True)
class Drafted:
    """The choices that a spec is drafted from.

    Attributes:
        answer: the column of the answers; empty if each group has its own.
        groups: column of groups -> the group that the others are compared with; None for the most frequent one.
        roles: further roles (prompt, template, subject, model) -> column.
        kind: the kind of the answers; None detects it from the answers.
        labels: the labels that answers choose from; empty detects them from the answers.
        favourable: the labels that select a person; empty if unknown.
        form: the stated options for reading the file.
        texts: group -> the column of its answers, if each group has its own; the first is the reference.
    """

    answer: str
    groups: Mapping[str, str | None]
    roles: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    labels: Sequence[str] = ()
    favourable: Callable[[Sequence[str]], Sequence[str]] = lambda _labels: ()
    form: Form = AS_IT_LOOKS
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def needed_columns(self) -> list[str]:
        """The columns that are read: of the answers, of the groups, and of the roles."""
        return [ANSWER_COLUMN if self.texts else self.answer, *self.groups, *self.roles.values()]

    @property
    def columns(self) -> list[str]:
        """The columns that it names, each as often as it does."""
        return [*(self.texts.values() or [self.answer]), *self.groups, *self.roles.values()]


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec as YAML, and a sentence about each word of the file that it takes for another one."""

    text: str
    notes: Sequence[str]


def draft_spec(name: str, file: Path, drafted: Drafted) -> Draft:
    """Return a spec. Words that differ in case and punctuation alone are one label, or one group.

    Cells without a value, such as #N/A, are neither; nor are texts that recur and look like what a program writes where no answer
    came, which `answer.missing` then names.

    Args:
        name: what the audit is called, in any letters.
        file: the answers, a row each.
        drafted: which of them hold what.

    Raises:
        InputError: the file cannot be read, or has no such column, group or label, or a column does not look like one of groups.
    """
    with open_source(file, drafted.needed_columns, drafted.form, drafted.texts) as source, source.readable():
        rows = source.connection.execute(f"select c0 from source limit {ANSWERS_READ}").fetchall()
        (n_rows,) = source.connection.execute("select count(*) from source").fetchall()[0]
        short = source.connection.execute(
            f"select word, count(*) as n from (select {trimmed('c0')} as word from source) "
            f"where length(word) <= {TOKEN_CHARACTERS} group by word having n >= {LEAST_RECURRING}"
        ).fetchall()
        none = _words_for_none(source, "c0")
        columns = [
            _read_groups(source, f"c{index}", column, attribute, drafted.groups[column])
            for index, (column, attribute) in enumerate(_attribute_names(drafted.groups).items(), start=1)
        ]
    if not rows:
        raise no_rows(file)
    written = [text.strip() for (text,) in rows if text and not is_missing(composed(text).strip())]
    proposal = _proposal(written, drafted)
    are_labels = proposal.answer["kind"] in ("label", "score")
    tokens = tokens_for_nothing(dict(short), n_rows, drafted.labels, are_labels=are_labels)
    if tokens:
        proposal = _proposal([text for text in written if composed(text) not in tokens], drafted)
    answer = dict(proposal.answer)
    # A token that says "refused" is a refusal and no missing answer.
    refusals = {word: n for word, n in tokens.items() if is_refusal_token(word)}
    missing = {word: n for word, n in tokens.items() if word not in refusals}
    if missing:
        answer["missing"] = list(missing)
    if refusals:
        answer["refusals"] = [f"^{refusal_pattern(word)}$" for word in refusals]
    if answer["kind"] in ("label", "score") and "subject" not in drafted.roles and not drafted.texts:
        raise InputError(
            f"{file}: the answers look like {answer['kind']}s; name the column that distinguishes resumes, or people, with "
            f"--subject, or say with --kind what they are."
        )
    favourable = _favourable(answer, drafted)
    document = {
        "audit": re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "answers",
        "attributes": _attribute_of_texts(drafted, [one.attribute for one in columns])
        | {one.attribute: _attribute(file, one, n_rows) for one in columns},
        "answer": answer,
        **({"analysis": {"decisions": {"favourable": favourable}}} if favourable else {}),
        "import": _import(drafted, columns),
    }
    return Draft(
        _yaml(document, None if drafted.labels else _TO_CHECK.get(answer["kind"]), file),
        [
            *_token_notes(missing, "a missing answer", "answer.missing"),
            *_token_notes(refusals, "a refusal", "answer.refusals"),
            *_none_notes(none, "the answers", "answer.labels" if "labels" in answer else None),
            *(note for one in columns for note in one.none_notes()),
            *_alike_notes(proposal.forms, "label"),
            *(note for one in columns for note in one.alike_notes),
            *(note for one in columns for note in one.initial_notes),
            *(note for one in columns for note in one.odd_notes()),
            *(note for one in columns for note in one.unknown_notes()),
        ],
    )


def _yaml(document: Mapping[str, Any], to_check: str | None, file: Path) -> str:
    """Return a spec as YAML, with a comment on what is to be checked in the answers, if there is anything."""
    text = yaml.safe_dump(document, default_flow_style=None, sort_keys=False, allow_unicode=True, width=100)
    # PyYAML writes an empty key as a complex one.
    text = text.replace("? '' : null", '"": null')
    text = re.sub(r"(?m)^(?=(?:attributes|answer|analysis|import):)", "\n", text)
    if to_check is not None:
        text = text.replace("\nanswer:", f"\n# {to_check.format(on_one_line(file.name))}\nanswer:", 1)
    return text


@dataclass(slots=True)
class _GroupColumn:
    """A column of groups, and what a spec says of its words.

    Attributes:
        column: its name.
        attribute: what the spec calls it.
        reference: the group that is named as the reference.
        counts: its words, None for a cell without a value, and in how many rows they are; the most frequent first.
        none: the same of words that are taken for no value, and may be one.
        unknown: the same of words for people whose group is unknown.
        groups: group -> the other words for it.
        alike_notes: a sentence about words that are read as one group because they look alike.
        initial_notes: a sentence about each letter that may be an initial of a group.
    """

    column: str
    attribute: str
    reference: str | None
    counts: Sequence[tuple[str | None, int]]
    none: Sequence[tuple[str, int]]
    unknown: Sequence[tuple[str, int]] = field(init=False)
    groups: dict[str, list[str]] = field(init=False)
    alike_notes: Sequence[str] = field(init=False)
    initial_notes: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        words = [(word, n) for word, n in self.counts if word is not None]
        self.unknown = [(word, n) for word, n in words if word != self.reference and _UNKNOWN.fullmatch(word)]
        self.groups = _alike([word for word, n in words if (word, n) not in self.unknown], self.reference)
        self.alike_notes = list(_alike_notes(self.groups, f"group of {self.attribute}"))
        self.initial_notes = _join_initials(self.groups, self.attribute, self.reference)

    @property
    def values(self) -> dict[str, str | None]:
        """Word -> the group that it means; None for no group, as an empty cell does."""
        return {
            **{word: group for group, others in self.groups.items() for word in others},
            **{word: None for word, _ in self.unknown},
            **({"": None} if any(word is None for word, _ in self.counts) else {}),
        }

    def none_notes(self) -> Iterator[str]:
        words = [(word, n) for word, n in self.none if word != self.reference]
        return _none_notes(words, self.attribute, f"attributes.{self.attribute}.groups")

    def odd_notes(self) -> Iterator[str]:
        for group in self.groups:
            if look := odd_look(group):
                yield (
                    f"{shown(group)} {look} and is taken for a group of {self.attribute}: where it is none, take it from groups "
                    f"and write {written_in_values(self.attribute, group)}."
                )

    def unknown_notes(self) -> Iterator[str]:
        for word, n in self.unknown:
            rows = "1 row has" if n == 1 else f"{n:,} rows have"
            yield (
                f"{rows} {shown(word)} as {self.attribute}, which is read as no group and counted as unknown: to compare it, "
                f"add it to groups and delete it from import.values."
            )


def _read_groups(
    source: Source, cell: str, column: str, attribute: str, reference: str | None
) -> _GroupColumn:
    # A word that is named as the reference is a group whatever it looks like.
    word = present(trimmed(cell), [reference] if reference else [])
    counts = source.connection.execute(
        f"select {word} as word, count(*) from source group by word order by 2 desc, 1 limit {MOST_GROUPS + 2}"
    ).fetchall()
    return _GroupColumn(column, attribute, reference, counts, _words_for_none(source, cell))


def _words_for_none(source: Source, cell: str) -> list[tuple[str, int]]:
    """Return the words of a column that are taken for no value and may be one, and in how many rows they are."""
    return source.connection.execute(
        f"select word, count(*) from (select {trimmed(cell)} as word from source) "
        f"where word in ({', '.join(map(literal, MAY_MEAN))}) group by word order by 2 desc, 1"
    ).fetchall()


def _attribute_of_texts(drafted: Drafted, names: Sequence[str]) -> dict[str, Any]:
    """Return the attribute whose groups have a column of answers each."""
    if not drafted.texts:
        return {}
    name = "group"
    while name in names:
        name += "_"
    return {name: {"reference": next(iter(drafted.texts)), "groups": list(drafted.texts)}}


def _token_notes(tokens: Mapping[str, int], what: str, at: str) -> Iterator[str]:
    for word, n in tokens.items():
        yield (
            f"{n:,} answers are nothing but {shown(word)}, which is taken for {what}: where it is an answer that was given, "
            f"take it from {at}."
        )


def _none_notes(words: Iterable[tuple[str, int]], what: str, at: str | None) -> Iterator[str]:
    for word, n in words if at is not None else ():
        rows = "1 row has" if n == 1 else f"{n:,} rows have"
        yield f"{rows} {shown(word)} in {what}, which is taken for no value: where it is one, add it to {at}."


def _alike(words: Iterable[str], kept: str | None = None) -> dict[str, list[str]]:
    """Return word -> others that differ from it in case and punctuation alone: the first of them, or else the one to be kept."""
    by_look: dict[str, list[str]] = {}
    for word in words:
        by_look.setdefault(word.casefold().strip(_AROUND) or word, []).append(word)
    first = [(kept if kept in found else found[0], found) for found in by_look.values()]
    return {word: [one for one in found if one != word] for word, found in first}


def _join_initials(groups: dict[str, list[str]], attribute: str, reference: str | None) -> list[str]:
    """Make "M" another word for the group "Male", where that is clear; return a sentence about each such letter."""
    letters = [one for one in groups if len(one.strip(_AROUND)) == 1]
    found = {
        letter: [
            one
            for one in groups
            if one not in letters and one.casefold().startswith(letter.strip(_AROUND).casefold())
        ]
        for letter in letters
    }
    initials = {letter: words[0] for letter, words in found.items() if len(words) == 1}
    # One letter of several may be a grade.
    is_clear = reference not in letters and (len(initials) > 1 or len(initials) == len(letters))
    notes = []
    for letter, group in initials.items():
        if is_clear:
            groups[group] += [letter, *groups.pop(letter)]
        said = (
            f"{shown(letter)} is read as {shown(group)} of {attribute}, whose first letter it is: where it is a group of its "
            f"own, add it to groups and take it from import.values."
            if is_clear
            else f"{shown(letter)} may be {shown(group)} of {attribute}, whose first letter it is: where it is, take it from "
            f"groups and write import.values: {{{attribute}: {{{letter!r}: {group!r}}}}}."
        )
        notes.append(said)
    return notes


def _alike_notes(found: Mapping[str, Sequence[str]], what: str) -> Iterator[str]:
    for word, others in found.items():
        if others:
            yield f"{quoted([word, *others])} look alike: they are read as one {what}."


def _favourable(answer: Mapping[str, Any], drafted: Drafted) -> list[str]:
    """Return the labels that select a person, as listed."""
    if answer["kind"] != "label":
        if named := drafted.favourable(()):
            raise InputError(
                f"{quoted(named)} cannot be favourable: the answers look like {answer['kind']}. Where each decides for one of "
                f"several labels, name all of them: --labels {named[0]},OTHER."
            )
        return []
    labels = {label.casefold(): label for label in answer["labels"]}
    chosen = drafted.favourable(answer["labels"])
    for one in chosen:
        if one.casefold() not in labels:
            hint = did_you_mean(one, answer["labels"])
            raise InputError(ended(f"{shown(one)} cannot be favourable: it is none of the labels{hint}"))
    return list(dict.fromkeys(labels[one.casefold()] for one in chosen))


def _attribute_names(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return column -> attribute: the column's name as a slot may be called, each once."""
    names: dict[str, str] = {}
    for column in columns:
        name = re.sub(r"\W+", "_", column, flags=re.ASCII).strip("_")
        name = name if re.match(r"[A-Za-z]", name) else f"group_{name}".rstrip("_")
        while name in (DESCRIPTOR, LENGTH, *names.values()):
            name += "_"
        names[column] = name
    return names


def _attribute(file: Path, found: _GroupColumn, n_rows: int) -> dict[str, Any]:
    column, reference, groups = found.column, found.reference, list(found.groups)
    if len(groups) > min(MOST_GROUPS, max(n_rows // 2, 2)):
        many = f"more than {MOST_GROUPS}" if len(groups) > MOST_GROUPS else str(len(groups))
        raise InputError(
            f"{file}: the column {column!r} holds {many} different values in {n_rows} rows; name one that says the group."
        )
    if len(groups) < 2:
        raise InputError(
            f"{file}: the column {column!r} names {len(groups)} group{'' if len(groups) == 1 else 's'}; a comparison needs two."
        )
    if reference is not None and reference not in groups:
        raise InputError(
            f"{file}: no row has {shown(reference)} as {column!r}, which is to be the reference."
        )
    return {"reference": reference or groups[0], "groups": groups}


def _proposal(texts: Sequence[str], drafted: Drafted) -> Proposal:
    """Return how the answers are read, with what is stated.

    Raises:
        InputError: no answer states a label, or a score, and they are said to be such.
    """
    if drafted.labels:
        return Proposal({"kind": "label", "labels": list(drafted.labels)})
    proposal = propose_answer(texts, drafted.kind)
    if drafted.kind == "label" and "labels" not in proposal.answer:
        raise InputError(
            f"No answer in {drafted.answer!r} states a label: name the labels with --labels A,B."
        )
    if drafted.kind == "score" and "minimum" not in proposal.answer:
        raise InputError(
            f"No answer in {drafted.answer!r} holds a number that can be a score: give another --kind."
        )
    return proposal


def _import(drafted: Drafted, found: Sequence[_GroupColumn]) -> dict[str, Any]:
    values = {one.attribute: one.values for one in found if one.values}
    columns: dict[str, Any] = {
        **({"texts": dict(drafted.texts)} if drafted.texts else {"text": drafted.answer}),
        **drafted.roles,
        **({"attributes": {one.attribute: one.column for one in found}} if found else {}),
    }
    split = {"split": "model"} if "model" in drafted.roles else {}
    stated = {
        key: value
        for key in ("format", "table", "encoding")
        if (value := getattr(drafted.form, key)) is not None
    }
    return {**stated, **split, "columns": columns, **({"values": values} if values else {})}
