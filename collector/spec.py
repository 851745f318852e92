"""Audit specs: a YAML file becomes a typed, frozen `Audit`, or an InputError that says what would be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, field_validator

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean
from collector.rows import RelevanceRow
from collector.slots import Slot, parse_template, slot_names
from collector.spec_reading import Reading
from collector.subjects import Subject, choose, read_attributes, read_relevance, read_subjects
from collector.validation import Names, NonBlank, Section, Text, input_error, list_to_tuple
from collector.yaml_file import read_yaml_mapping

PLAIN = "plain"
DESCRIPTOR = "descriptor"
LENGTH = "k"
MINIMUM_TRIALS = 15  # a persona, in Xu, Potka & Thomo (2026)
MINIMUM_SUBJECTS = 50  # a domain, and
MINIMUM_NEUTRAL_TRIALS = 5  # of a neutral prompt, in Sah et al. (2026)
DEFAULT_MAX_CHARACTERS = 200_000
AnswerKind = Literal["json_object", "text", "list"]
ImportFormat = Literal["csv", "tsv", "jsonl", "parquet"]


class Template(Section):
    """One wording of the question, with slots for the groups' carriers and the subjects' words.

    `descriptors` are what {descriptor} stands for, one at a time. A template with a `part` is asked only where the part is
    named; `neutral` is the id of the template that says the same without any group; `perturbations` give one prompt each.
    """

    id: NonBlank
    text: NonBlank
    language: NonBlank = "en"
    trials: Annotated[int, Field(ge=1)] | None = None
    descriptors: Names = ()
    neutral: NonBlank | None = None
    part: NonBlank | None = None
    perturbations: Names = ()
    wording: NonBlank | None = None

    @property
    def parts(self) -> tuple[str | Slot, ...]:
        """The template split into literal text and slots."""
        return parse_template(self.text)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots the template uses, in order of first use."""
        return slot_names(self.parts)


class Attribute(Section):
    """An attribute: its groups with their carriers in the file's order, and the reference (unmarked) group.

    Without a reference the groups are compared with the neutral prompt. `wordings` hold other carriers of the groups:
    name of the wording -> group -> carrier.
    """

    reference: NonBlank | None = None
    groups: Annotated[Mapping[str, Text], Field(min_length=1)]
    wordings: Mapping[str, Mapping[str, Text]] = Field(default_factory=dict)

    @field_validator("groups", mode="before")
    @classmethod
    def _groups_from_list(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        groups: dict[str, str] = {}
        for index, name in enumerate(value):
            if not isinstance(name, str):
                was = str(name).lower() if isinstance(name, bool) else repr(name)
                raise ValueError(
                    f"holds {was} at position {index + 1}, which YAML does not read as text; put it in quotes"
                )
            if name in groups:
                raise ValueError(f"holds {name!r} twice; every group needs its own name")
            groups[name] = name
        return groups

    def carriers(self, wording: str | None = None) -> Mapping[str, str]:
        """Return group -> carrier in the file's order, in a named wording or in the plain one."""
        return (
            self.groups if wording is None else {name: self.wordings[wording][name] for name in self.groups}
        )


class Subjects(Section):
    """What the questions are about: a CSV file beside the spec with one row a subject and one slot a column.

    `wordings` are slots whose word depends on the subject's domain: slot -> domain -> word.
    """

    file: NonBlank
    name: NonBlank
    domain: NonBlank | None = None
    wordings: Mapping[str, Mapping[str, Text]] = Field(default_factory=dict)


class Answer(Section):
    """What kind of answer is expected, and how long it may be before it is kept but not analysed.

    A list is asked for with `k` items; a shorter one is padded with empty places, or asked again, as `short` says.
    """

    kind: AnswerKind = "json_object"
    k: Annotated[int, Field(ge=1, le=1000)] | None = None
    short: Literal["pad", "ask_again"] = "pad"
    max_characters: Annotated[int, Field(ge=1)] = DEFAULT_MAX_CHARACTERS


class Variant(Section):
    """A mitigation asked beside the plain audit: text around the prompt, another system prompt, or masked slots.

    A mask gives each slot its replacement; an empty replacement removes the slot, null leaves it as it is.
    """

    prefix: Text | None = None
    suffix: Text | None = None
    system_prompt: NonBlank | None = None
    mask: Mapping[str, Text | None] | None = None


class Columns(Section):
    """Which column of an imported file holds what.

    Groups stand in one column an attribute (`attributes`), or in long form: `attribute` and `value` name one condition
    a row.
    """

    text: NonBlank
    prompt: NonBlank | None = None
    template: NonBlank | None = None
    subject: NonBlank | None = None
    domain: NonBlank | None = None
    trial: NonBlank | None = None
    expected: NonBlank | None = None
    order: NonBlank | None = None
    weight: NonBlank | None = None
    model: NonBlank | None = None
    attribute: NonBlank | None = None
    value: NonBlank | None = None
    attributes: Mapping[str, NonBlank] = Field(default_factory=dict)


class ConditionValue(Section):
    """What a value in a file of long form means."""

    group: NonBlank
    perturbation: NonBlank | None = None
    language: NonBlank | None = None


class Condition(Section):
    """What an attribute named in a file of long form means; what is left out is as the file says.

    A value of `values` may be a group's name alone. A value's own perturbation and language go before those given here.
    """

    neutral: bool = False
    attribute: NonBlank | None = None
    perturbation: NonBlank | None = None
    language: NonBlank | None = None
    values: Mapping[
        str,
        Annotated[
            ConditionValue,
            BeforeValidator(lambda value: {"group": value} if isinstance(value, str) else value),
        ],
    ] = Field(default_factory=dict)


class Import(Section):
    """How responses that already exist are read from a file; the format is told by the file's ending unless stated."""

    format: ImportFormat | None = None
    columns: Columns
    conditions: Mapping[str, Condition] = Field(default_factory=dict)


class Audit(Section):
    """One audit: what is asked about whom, what answer is expected, and how the answers are read."""

    audit: NonBlank
    title: NonBlank | None = None
    source: NonBlank | None = None
    subjects: Subjects | None = None
    templates: Annotated[tuple[Template, ...], BeforeValidator(list_to_tuple)] = ()
    attributes: Mapping[str, Attribute]
    trials: int | None = None
    answer: Answer = Field(default_factory=Answer)
    system_prompt: NonBlank | None = None
    variants: Mapping[str, Variant] = Field(default_factory=dict)
    reading: Reading = Field(default_factory=Reading)
    imported: Import | None = Field(default=None, alias="import")
    _subject_rows: tuple[Subject, ...] = PrivateAttr(default=())
    _relevance_rows: tuple[RelevanceRow, ...] = PrivateAttr(default=())

    @property
    def subject_rows(self) -> tuple[Subject, ...]:
        """The subjects asked about, in the file's order; empty where the audit has none."""
        return self._subject_rows

    @property
    def relevance_rows(self) -> tuple[RelevanceRow, ...]:
        """What is relevant for which subject, in the file's order; empty where the reading names no such file."""
        return self._relevance_rows

    @property
    def relevance_hash(self) -> str | None:
        """The tagged hash of the relevance rows whatever their order, None where there are none."""
        rows = sorted(
            [one.subject, one.domain or "", one.item, float(one.grade)] for one in self._relevance_rows
        )
        return hash_of(rows) if rows else None

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that are asked only where they are named, in the templates' order."""
        return tuple(dict.fromkeys(one.part for one in self.templates if one.part is not None))

    @property
    def words_of_subjects(self) -> tuple[str, ...]:
        """The names of the slots that a subject fills, in the order of the file's columns."""
        return tuple(self._subject_rows[0].words) if self._subject_rows else ()

    def states_groups(self, template: Template) -> bool:
        """Whether a template says anything of a group; a neutral one does not."""
        return any(slot == DESCRIPTOR or slot in self.attributes for slot in template.slots)

    def trials_of(self, template_id: str) -> int:
        """Return how often the prompts of a template are asked: its own number, or else the audit's."""
        own = next((one.trials for one in self.templates if one.id == template_id), None)
        return own or self.trials or 1

    def asked(self) -> dict[str, Any]:
        """Return what is asked as plain data for canonical JSON; groups stand in the file's order, the reading is absent.

        Keys that came later stand only where they are used, so that the hash of an older spec stays.
        """
        answer: dict[str, Any] = {"kind": self.answer.kind, "max_characters": self.answer.max_characters}
        if self.answer.kind == "list":
            answer |= {"k": self.answer.k, "short": self.answer.short}
        document: dict[str, Any] = {
            "version": 1,
            "audit": self.audit,
            "title": self.title,
            "source": self.source,
            "templates": [_asked_template(one) for one in self.templates],
            "attributes": [_asked_attribute(name, one) for name, one in self.attributes.items()],
            "trials": self.trials,
            "answer": answer,
            "system_prompt": self.system_prompt,
            "variants": {
                name: variant.model_dump(exclude_unset=True, mode="python")
                for name, variant in self.variants.items()
            },
        }
        if self.subjects is not None:
            rows = sorted((one.domain or "", one.name, dict(one.words)) for one in self._subject_rows)
            document["subjects"] = {
                "name": self.subjects.name,
                "domain": self.subjects.domain,
                "n": len(rows),
                "hash": hash_of(rows),
            }
        return document

    def reading_document(self) -> dict[str, Any]:
        """Return how answers are read as plain data: crossed attributes, and how words or lists are made and compared.

        What templates cross is among the crossed attributes.
        """
        crossed = [split_crossed(one) for one in self.reading.crossed]
        for one in (name for template in self.templates for name in template.descriptors):
            names = split_crossed(one)
            if len(names) > 1 and set(names) not in [set(known) for known in crossed]:
                crossed.append(names)
        document: dict[str, Any] = {"version": 1, "crossed": crossed, "pairwise": self.reading.pairwise}
        if self.answer.kind != "list" or "words" in self.reading.model_fields_set:
            document["words"] = self.reading.words.document()
        if self.answer.kind == "list":
            document["lists"] = self.reading.lists.document(self.relevance_hash)
        return document

    def warnings(self) -> list[str]:
        """Return what is allowed but weakens the audit, one sentence each."""
        if self.subjects is not None:
            return [*self._few_subjects(), *self._few_neutral_trials()]
        if self.trials is not None and self.trials < MINIMUM_TRIALS:
            sentence = (
                f"{self.trials} trial{'s' if self.trials > 1 else ''} a persona give low statistical power; "
                f"the method's source asks for at least {MINIMUM_TRIALS}."
            )
            return [sentence]
        return []

    def _few_subjects(self) -> list[str]:
        counts = Counter(one.domain for one in self._subject_rows)
        return [
            f"The {f'domain {domain}' if domain else 'audit'} has {n} subject{'s' if n > 1 else ''}, which is low statistical "
            f"power; the method's source asks for at least {MINIMUM_SUBJECTS} to 100."
            for domain, n in counts.items()
            if n < MINIMUM_SUBJECTS
        ]

    def _few_neutral_trials(self) -> list[str]:
        few = [
            one.id
            for one in self.templates
            if not self.states_groups(one) and self.trials_of(one.id) < MINIMUM_NEUTRAL_TRIALS
        ]
        if not few:
            return []
        sentence = (
            f"The neutral prompts of {', '.join(few)} are asked fewer than {MINIMUM_NEUTRAL_TRIALS} times, too few for an "
            f"interval on the baseline; the method's source asks for at least {MINIMUM_NEUTRAL_TRIALS}."
        )
        return [sentence]

    def with_trials(self, trials: int) -> Audit:
        """Return the same audit with another number of trials a prompt; a template's own number stays.

        Raises:
            InputError: fewer than one trial.
        """
        if trials < 1:
            raise InputError(
                f"trials is {trials}; at least 1 is needed, and {MINIMUM_TRIALS} for usable statistics."
            )
        return self.model_copy(update={"trials": trials})

    def with_subjects(self, n: int | None = None, domains: Sequence[str] = ()) -> Audit:
        """Return the same audit about some of its subjects.

        Args:
            n: how many of each domain, all where there are fewer; which ones depends on their names alone, and those of a
                smaller n are among those of a larger one.
            domains: only these; all if empty.

        Raises:
            InputError: the audit has no subjects or no such domain, or fewer than one is asked for.
        """
        if n is None and not domains:
            return self
        if self.subjects is None:
            raise InputError(f"The audit {self.audit!r} has no subjects to choose from.")
        known = list(dict.fromkeys(one.domain for one in self._subject_rows if one.domain is not None))
        for domain in domains:
            if domain not in known:
                hint = did_you_mean(domain, known) or "; its subjects have no domains"
                raise InputError(
                    f"The audit {self.audit!r} has no domain {domain!r}{hint}{'' if hint.endswith('?') else '.'}"
                )
        if n is not None and n < 1:
            raise InputError(f"subjects is {n}; at least 1 of each domain is needed.")
        chosen = self.model_copy()
        chosen._subject_rows = choose(self._subject_rows, n, domains)
        return chosen


def load_audit(path: Path) -> Audit:
    """Read an audit spec and the CSV files it names, which lie beside it.

    Args:
        path: the YAML file.

    Raises:
        InputError: a file cannot be read or is no valid spec; the message names file and key or row and what would be right.
    """
    from collector.spec_checks import problems  # it needs this module's names

    document = read_yaml_mapping(path, what="an audit spec")
    if isinstance(file := document.get("attributes"), str):
        document["attributes"] = read_attributes(path.parent / file)
    try:
        audit = Audit.model_validate(document)
    except ValidationError as error:
        raise input_error(path, error, Audit) from None
    subjects, relevance = audit.subjects, audit.reading.lists.relevance
    if subjects is not None:
        audit._subject_rows = read_subjects(
            path.parent / subjects.file, subjects.name, subjects.domain, subjects.wordings
        )
    if relevance is not None:
        names = ("subject",) if subjects is None else (subjects.name, "subject")
        domain = "domain" if subjects is None or subjects.domain is None else subjects.domain
        audit._relevance_rows = read_relevance(path.parent / relevance, names, domain, audit._subject_rows)
    for at, sentence in problems(audit):
        raise InputError(f"{path}: {at} {sentence}{'' if sentence.endswith('?') else '.'}")
    return audit


def split_crossed(crossed: str) -> list[str]:
    """Return ["race", "gender"] for "race * gender"."""
    return [name.strip() for name in crossed.split("*")]


def _asked_template(template: Template) -> dict[str, Any]:
    later = {"trials", "neutral", "part", "perturbations", "wording", "descriptors"}
    used = {name: value for name, value in template.model_dump(include=later, mode="json").items() if value}
    return {"id": template.id, "text": template.text, "language": template.language, **used}


def _asked_attribute(name: str, attribute: Attribute) -> dict[str, Any]:
    groups = []
    for group, carrier in attribute.groups.items():
        others = {wording: carriers[group] for wording, carriers in attribute.wordings.items()}
        groups.append({"group": group, "carrier": carrier, **({"wordings": others} if others else {})})
    return {"attribute": name, "reference": attribute.reference, "groups": groups}
