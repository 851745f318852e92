"""A first spec for a file of answers, from which column holds what: groups and the kind of answers are read off the file."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median_high
from typing import Any

import yaml

from collector.answers.kinds import kind_of_answers
from collector.errors import InputError
from collector.hints import did_you_mean, quoted, shown
from collector.importers.conditions import odd_look, written_in_values
from collector.importers.preview import ANSWERS_READ
from collector.spec.parts import DESCRIPTOR, LENGTH
from collector.tables.log_rows import no_rows
from collector.tables.source import AS_IT_LOOKS, Form, open_source

# A column with more different values names no groups.
MOST_GROUPS = 50
# A file with a row for each answer has answers of these kinds.
KINDS = ("text", "json_object", "list", "label", "score")
# What stands around a word and says nothing: "Reject." is "reject".
_AROUND = " \t\n.,;:!\"'“”‘’*_`"


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a spec is drafted from.

    Attributes:
        answer: the column of the answers.
        groups: column of groups -> the group that the others are compared with; None for the most frequent one.
        roles: further roles (prompt, template, subject, model) -> column.
        kind: the kind of the answers; None tells it by their looks.
        favourable: says which of the labels select somebody; none leaves that open.
        form: how the file is read, as far as that is stated.
    """

    answer: str
    groups: Mapping[str, str | None]
    roles: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    favourable: Callable[[Sequence[str]], Sequence[str]] = lambda _labels: ()
    form: Form = AS_IT_LOOKS

    @property
    def columns(self) -> list[str]:
        """The columns that it names, each as often as it does."""
        return [self.answer, *self.groups, *self.roles.values()]


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec as YAML, and a sentence about each word of the file that it takes for another one."""

    text: str
    notes: Sequence[str]


def draft_spec(name: str, file: Path, drafted: Drafted) -> Draft:
    """Return a spec. Words that differ in case and punctuation alone are one label, or one group.

    Args:
        name: what the audit is called, in any letters.
        file: the answers, a row each.
        drafted: which of them hold what.

    Raises:
        InputError: the file cannot be read, or has no such column, group or label, or a column does not look like one of groups.
    """
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-") as scratch,
        open_source(file, drafted.columns, drafted.form, Path(scratch)) as source,
        source.readable(),
    ):
        rows = source.connection.execute(f"select c0 from source limit {ANSWERS_READ}").fetchall()
        (n_rows,) = source.connection.execute("select count(*) from source").fetchall()[0]
        counts = {
            column: source.connection.execute(
                f"select nullif(trim(c{index}), '') as word, count(*) from source group by word "
                f"order by 2 desc, 1 limit {MOST_GROUPS + 2}"
            ).fetchall()
            for index, column in enumerate(drafted.groups, start=1)
        }
    if not rows:
        raise no_rows(file)
    texts = [text.strip() for (text,) in rows if text and text.strip()]
    answer = _answer(texts, drafted.kind)
    if answer["kind"] in ("label", "score") and "subject" not in drafted.roles:
        raise InputError(
            f"{file}: the answers look like {answer['kind']}s; name the column that tells resumes, or people, apart with "
            f"--subject, or say with --kind what they are."
        )
    names = _attribute_names(drafted.groups)
    groups = {
        column: _alike([word for word, _ in counts[column] if word is not None], reference)
        for column, reference in drafted.groups.items()
    }
    # An empty cell names no group.
    values = {
        names[column]: {
            **{word: group for group, others in groups[column].items() for word in others},
            **({"": None} if None in dict(found) else {}),
        }
        for column, found in counts.items()
    }
    favourable = _favourable(answer, drafted)
    document = {
        "audit": re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "answers",
        "attributes": {
            names[column]: _attribute(file, column, list(groups[column]), reference, n_rows)
            for column, reference in drafted.groups.items()
        },
        "answer": answer,
        **({"reading": {"decisions": {"favourable": favourable}}} if favourable else {}),
        "import": _import(drafted, names, {name: one for name, one in values.items() if one}),
    }
    text = yaml.safe_dump(document, default_flow_style=None, sort_keys=False, allow_unicode=True, width=100)
    # PyYAML writes an empty key as a complex one.
    text = text.replace("{? '' : null}", '{"": null}')
    text = re.sub(r"(?m)^(?=(?:attributes|answer|reading|import):)", "\n", text)
    labels = _labels(texts) if answer["kind"] == "label" else {}
    return Draft(
        text,
        [
            *_notes(labels, "label"),
            *(one for column, found in groups.items() for one in _notes(found, f"group of {names[column]}")),
            *(one for column, found in groups.items() for one in _odd_notes(names[column], found)),
        ],
    )


def _alike(words: Iterable[str], kept: str | None = None) -> dict[str, list[str]]:
    """Return word -> others that differ from it in case and punctuation alone: the first of them, or else the one to be kept."""
    by_look: dict[str, list[str]] = {}
    for word in words:
        by_look.setdefault(word.casefold().strip(_AROUND) or word, []).append(word)
    first = [(kept if kept in found else found[0], found) for found in by_look.values()]
    return {word: [one for one in found if one != word] for word, found in first}


def _labels(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return label -> its other forms; it is the shortest of them, which stands in the others."""
    return _alike(sorted(set(texts), key=lambda text: (len(text), text)))


def _notes(found: Mapping[str, Sequence[str]], what: str) -> Iterator[str]:
    for word, others in found.items():
        if others:
            yield f"{quoted([word, *others])} look alike: they are read as one {what}."


def _odd_notes(attribute: str, groups: Iterable[str]) -> Iterator[str]:
    for group in groups:
        if look := odd_look(group):
            yield (
                f"{shown(group)} {look} and is taken for a group of {attribute}: where it is none, take it from groups and write "
                f"{written_in_values(attribute, group)}."
            )


def _favourable(answer: Mapping[str, Any], drafted: Drafted) -> list[str]:
    """Return which of the labels select somebody, as they are listed."""
    if answer["kind"] != "label":
        if named := drafted.favourable(()):
            raise InputError(f"{quoted(named)} cannot be favourable: the answers are no labels.")
        return []
    labels = {label.casefold(): label for label in answer["labels"]}
    chosen = drafted.favourable(answer["labels"])
    for one in chosen:
        if one.casefold() not in labels:
            hint = did_you_mean(one, answer["labels"])
            raise InputError(
                f"{shown(one)} cannot be favourable: it is none of the labels{hint}{'' if hint.endswith('?') else '.'}"
            )
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


def _attribute(
    file: Path, column: str, groups: Sequence[str], reference: str | None, n_rows: int
) -> dict[str, Any]:
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
    return {"reference": reference or groups[0], "groups": list(groups)}


def _answer(texts: Sequence[str], stated: str | None) -> dict[str, Any]:
    kind = stated or kind_of_answers(texts)
    answer: dict[str, Any] = {"kind": kind}
    if kind == "list":
        lengths = [len(one) for one in _read(texts) if isinstance(one, list)]
        answer["k"] = max(median_high(lengths), 1) if lengths else 10
    if kind == "label":
        answer["labels"] = sorted(_labels(texts))
    if kind == "score":
        numbers = [one for one in _read(texts) if isinstance(one, int | float) and not isinstance(one, bool)]
        low, high = min(numbers, default=0), max(numbers, default=10)
        answer |= {"minimum": low, "maximum": high if high > low else low + 1}
    return answer


def _read(texts: Sequence[str]) -> Iterator[Any]:
    for text in texts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _import(drafted: Drafted, names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    columns = {
        "text": drafted.answer,
        **drafted.roles,
        "attributes": {name: column for column, name in names.items()},
    }
    split = {"split": "model"} if "model" in drafted.roles else {}
    stated = {key: value for key, value in asdict(drafted.form).items() if value is not None}
    return {**stated, **split, "columns": columns, **({"values": values} if values else {})}
