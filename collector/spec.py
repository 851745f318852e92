"""Audit specs: a YAML file becomes a typed, frozen `Audit`, or an InputError that says what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, field_validator

from collector.errors import InputError
from collector.hints import did_you_mean, quoted
from collector.slots import SLOT_NAME, Slot, SlotSyntaxError, parse_template, slot_names
from collector.validation import Section, input_error
from collector.yaml_file import read_yaml_mapping

SCHEMES = ("words", "seed", "seed_vectors", "reference", "reference_anonymised", "reference_vectors")
PLAIN = "plain"
MINIMUM_TRIALS = 15  # a persona, in Xu, Potka & Thomo (2026)
DEFAULT_MAX_CHARACTERS = 200_000
AnswerKind = Literal["json_object", "text"]
ImportFormat = Literal["csv", "tsv", "jsonl", "parquet"]

_Problem = tuple[str, str]  # key path, what is wrong and what would be right


def _list_to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _name(value: str) -> str:
    if not re.fullmatch(SLOT_NAME, value):
        raise ValueError(
            f"is {value!r} and should be a name of letters, digits and _ that starts with a letter"
        )
    return value


def _slug(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", value):
        raise ValueError(f"is {value!r} and should consist of lower-case letters, digits, - and _")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank and should be text")
    return value


Text = Annotated[str, Field(strict=True)]
NonBlank = Annotated[
    str, BeforeValidator(lambda value: _not_blank(value) if isinstance(value, str) else value)
]
Names = Annotated[tuple[NonBlank, ...], BeforeValidator(_list_to_tuple)]


class Template(Section):
    """One wording of the question, with slots for the groups' carriers."""

    id: NonBlank
    text: NonBlank
    language: NonBlank = "en"

    @property
    def parts(self) -> tuple[str | Slot, ...]:
        """The template split into literal text and slots."""
        return parse_template(self.text)

    @property
    def slots(self) -> tuple[str, ...]:
        """The attributes whose slots the template uses, in order of first use."""
        return slot_names(self.parts)


class Attribute(Section):
    """An attribute, its groups with their carriers in the file's order, and the reference (unmarked) group."""

    reference: NonBlank
    groups: Annotated[Mapping[str, Text], Field(min_length=1)]

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


class Answer(Section):
    """What kind of answer is expected, and how long it may be before it is kept but not analysed."""

    kind: AnswerKind = "json_object"
    max_characters: Annotated[int, Field(ge=1)] = DEFAULT_MAX_CHARACTERS


class Variant(Section):
    """A mitigation asked beside the plain audit: text around the prompt, another system prompt, or masked slots.

    A mask gives each slot its replacement; an empty replacement removes the slot, null leaves it as it is.
    """

    prefix: Text | None = None
    suffix: Text | None = None
    system_prompt: NonBlank | None = None
    mask: Mapping[str, Text | None] | None = None


class Words(Section):
    """How texts are split into words, how a classifier weighs these, and which terms are removed first."""

    schemes: Names = ("words",)
    weighting: Literal["tfidf", "counts"] = "tfidf"
    remove: Mapping[str, Names] = Field(default_factory=dict)


class Reading(Section):
    """How answers are read: it can change without asking again."""

    crossed: Names = ()
    pairwise: bool = False
    words: Words = Field(default_factory=Words)


class Columns(Section):
    """Which column of an imported file holds what."""

    text: NonBlank
    prompt: NonBlank | None = None
    template: NonBlank | None = None
    subject: NonBlank | None = None
    trial: NonBlank | None = None
    expected: NonBlank | None = None
    order: NonBlank | None = None
    weight: NonBlank | None = None
    model: NonBlank | None = None
    attributes: Mapping[str, NonBlank]


class Import(Section):
    """How responses that already exist are read from a file; the format is told by the file's ending unless stated."""

    format: ImportFormat | None = None
    columns: Columns


class Audit(Section):
    """One audit: what is asked about whom, what answer is expected, and how the answers are read."""

    audit: NonBlank
    title: NonBlank | None = None
    source: NonBlank | None = None
    templates: Annotated[tuple[Template, ...], BeforeValidator(_list_to_tuple)] = ()
    attributes: Mapping[str, Attribute]
    trials: int | None = None
    answer: Answer = Field(default_factory=Answer)
    system_prompt: NonBlank | None = None
    variants: Mapping[str, Variant] = Field(default_factory=dict)
    reading: Reading = Field(default_factory=Reading)
    imported: Import | None = Field(default=None, alias="import")

    def asked(self) -> dict[str, Any]:
        """Return what is asked as plain data for canonical JSON; groups stand in the file's order, the reading is absent."""
        return {
            "version": 1,
            "audit": self.audit,
            "title": self.title,
            "source": self.source,
            "templates": [
                {"id": one.id, "text": one.text, "language": one.language} for one in self.templates
            ],
            "attributes": [
                {
                    "attribute": name,
                    "reference": attribute.reference,
                    "groups": [
                        {"group": group, "carrier": carrier} for group, carrier in attribute.groups.items()
                    ],
                }
                for name, attribute in self.attributes.items()
            ],
            "trials": self.trials,
            "answer": {"kind": self.answer.kind, "max_characters": self.answer.max_characters},
            "system_prompt": self.system_prompt,
            "variants": {
                name: variant.model_dump(exclude_unset=True, mode="python")
                for name, variant in self.variants.items()
            },
        }

    def reading_document(self) -> dict[str, Any]:
        """Return how answers are read as plain data: crossed attributes, schemes, and the terms to remove.

        Terms are lower-case, white space within them is single, each (list, term) stands once, in sorted order.
        """
        terms = {
            (name, " ".join(term.lower().split()))
            for name, listed in self.reading.words.remove.items()
            for term in listed
        }
        return {
            "version": 1,
            "crossed": [_split_crossed(one) for one in self.reading.crossed],
            "pairwise": self.reading.pairwise,
            "words": {
                "schemes": list(self.reading.words.schemes),
                "weighting": self.reading.words.weighting,
                "terms": [{"list": name, "term": term} for name, term in sorted(terms)],
            },
        }

    def warnings(self) -> list[str]:
        """Return what is allowed but weakens the audit, one sentence each."""
        sentences = []
        if self.trials is not None and self.trials < MINIMUM_TRIALS:
            sentences.append(
                f"{self.trials} trial{'s' if self.trials > 1 else ''} a persona give low statistical power; "
                f"the method's source asks for at least {MINIMUM_TRIALS}."
            )
        return sentences

    def with_trials(self, trials: int) -> Audit:
        """Return the same audit with another number of trials a prompt.

        Raises:
            InputError: fewer than one trial.
        """
        if trials < 1:
            raise InputError(
                f"trials is {trials}; at least 1 is needed, and {MINIMUM_TRIALS} for usable statistics."
            )
        return self.model_copy(update={"trials": trials})


def load_audit(path: Path) -> Audit:
    """Read an audit spec.

    Args:
        path: the YAML file.

    Raises:
        InputError: the file cannot be read or is no valid spec; the message names file and key and what would be right.
    """
    document = read_yaml_mapping(path, what="an audit spec")
    try:
        audit = Audit.model_validate(document)
    except ValidationError as error:
        raise input_error(path, error, Audit) from None
    for at, sentence in _problems(audit):
        raise InputError(f"{path}: {at} {sentence}{'' if sentence.endswith('?') else '.'}")
    return audit


def _problems(audit: Audit) -> Iterator[_Problem]:
    """Yield what is wrong between keys, which types alone cannot tell."""
    yield from _name_problems(audit)
    yield from _attribute_problems(audit)
    yield from _template_problems(audit)
    yield from _variant_problems(audit)
    yield from _reading_problems(audit)
    yield from _import_problems(audit)


def _name_problems(audit: Audit) -> Iterator[_Problem]:
    try:
        _slug(audit.audit)
    except ValueError as error:
        yield "audit", str(error)
    for name in audit.attributes:
        try:
            _name(name)
        except ValueError as error:
            yield f"attributes.{name}", str(error)
    if not audit.attributes:
        yield "attributes", "is empty; an audit compares the groups of at least one attribute"
    if not audit.templates and audit.imported is None:
        yield (
            "templates",
            "is missing; a spec asks something (templates) or reads answers that exist (import)",
        )
    if audit.trials is not None and audit.trials < 1:
        yield "trials", f"is {audit.trials} and should be at least 1"
    if audit.templates and audit.trials is None:
        yield (
            "trials",
            f"is missing; say how often each prompt is asked (the source asks {MINIMUM_TRIALS} times)",
        )


def _attribute_problems(audit: Audit) -> Iterator[_Problem]:
    for name, attribute in audit.attributes.items():
        at = f"attributes.{name}"
        groups = attribute.groups
        if len(groups) < 2:
            yield f"{at}.groups", f"has {len(groups)} group; a comparison needs at least two"
        if attribute.reference not in groups:
            hint = did_you_mean(attribute.reference, groups)
            yield f"{at}.reference", f"is {attribute.reference!r}, which is none of the groups{hint}"
        owner: dict[str, str] = {}
        for group, carrier in groups.items():
            if not group.strip() or group != group.strip() or "*" in group:
                yield (
                    f"{at}.groups",
                    f"holds {group!r}; a group's name is text without outer spaces and without *",
                )
            if not carrier.strip() or carrier != carrier.strip():
                yield f"{at}.groups.{group}", f"is {carrier!r}; a carrier is text without outer spaces"
            # An imported value is looked up among carriers and names, so none may mean two groups.
            for word in {group, carrier}:
                if owner.setdefault(word, group) != group:
                    yield f"{at}.groups.{group}", f"uses {word!r}, which already stands for {owner[word]!r}"


def _template_problems(audit: Audit) -> Iterator[_Problem]:
    seen: set[str] = set()
    used: set[str] = set()
    for index, template in enumerate(audit.templates):
        at = f"templates[{index}]"
        if template.id in seen:
            yield (
                f"{at}.id",
                f"is {template.id!r}, which an earlier template has too; every template needs its own id",
            )
        seen.add(template.id)
        try:
            parts = template.parts
        except SlotSyntaxError as error:
            yield f"{at}.text", str(error)
            return
        for part in parts:
            if not isinstance(part, Slot):
                continue
            used.add(part.name)
            if part.name not in audit.attributes:
                hint = did_you_mean(part.name, audit.attributes)
                yield f"{at}.text", f"has a slot {{{part.name}}}, which is no attribute{hint}"
            if part.article and template.language.split("-")[0].lower() != "en":
                article = (
                    f"has an English article slot {{{part.article} {part.name}}} in the language {template.language!r}; "
                    f"write {{{part.name}}} and the article with each group's carrier"
                )
                yield f"{at}.text", article
    if audit.templates:
        for name in audit.attributes:
            if name not in used:
                yield (
                    f"attributes.{name}",
                    f"has a slot that no template uses; write {{{name}}} in a template or remove it",
                )


def _variant_problems(audit: Audit) -> Iterator[_Problem]:
    yield from _unfilled_slots(audit, "system_prompt", audit.system_prompt)
    for name, variant in audit.variants.items():
        at = f"variants.{name}"
        if name == PLAIN:
            yield at, f"cannot be redefined; {PLAIN!r} is the audit without any mitigation and always exists"
        try:
            _slug(name)
        except ValueError as error:
            yield at, str(error)
        if not variant.model_fields_set:
            yield at, "changes nothing; give it a prefix, suffix, system_prompt or mask"
        for key in ("prefix", "suffix", "system_prompt"):
            yield from _unfilled_slots(audit, f"{at}.{key}", getattr(variant, key))
        if variant.mask is not None:
            yield from _mask_problems(audit, at, variant.mask)


def _mask_problems(audit: Audit, at: str, mask: Mapping[str, str | None]) -> Iterator[_Problem]:
    for slot in mask:
        if slot not in audit.attributes:
            yield f"{at}.mask.{slot}", f"is no slot of this audit{did_you_mean(slot, audit.attributes)}"
    # A slot that was forgotten would go on naming the group, and the variant would not be the masked one it claims to be.
    for template in audit.templates:
        for slot in template.slots:
            if slot not in mask:
                left_out = (
                    f'leaves out {slot!r}, which template {template.id!r} uses; add {slot}: "" to remove it, a neutral '
                    f"word to replace it, or null to keep it"
                )
                yield f"{at}.mask", left_out


def _unfilled_slots(audit: Audit, at: str, text: str | None) -> Iterator[_Problem]:
    for name in audit.attributes:
        if text is not None and re.search(r"\{(?:[aA] +)?" + re.escape(name) + r"\}", text):
            yield at, f"has a slot {{{name}}}; slots are filled in templates only, so move it there"


def _reading_problems(audit: Audit) -> Iterator[_Problem]:
    for index, crossed in enumerate(audit.reading.crossed):
        at = f"reading.crossed[{index}]"
        names = _split_crossed(crossed)
        if len(names) < 2 or len(set(names)) < len(names):
            yield at, f"is {crossed!r} and should name two or more different attributes, as in race*gender"
        for name in names:
            if name not in audit.attributes:
                yield at, f"crosses {name!r}, which is no attribute{did_you_mean(name, audit.attributes)}"
    if not audit.reading.words.schemes:
        yield "reading.words.schemes", f"is empty; known: {quoted(SCHEMES)}"
    for index, scheme in enumerate(audit.reading.words.schemes):
        at = f"reading.words.schemes[{index}]"
        if scheme not in SCHEMES:
            yield at, f"is {scheme!r}, which is no known scheme{did_you_mean(scheme, SCHEMES)}"
        if scheme in audit.reading.words.schemes[:index]:
            yield at, f"names {scheme!r} a second time"


def _import_problems(audit: Audit) -> Iterator[_Problem]:
    if audit.imported is None:
        return
    at = "import.columns.attributes"
    mapped = audit.imported.columns.attributes
    for name in mapped:
        if name not in audit.attributes:
            yield f"{at}.{name}", f"is no attribute of this audit{did_you_mean(name, audit.attributes)}"
    for name in audit.attributes:
        if name not in mapped:
            yield at, f"leaves out {name!r}; name the column that holds it"


def _split_crossed(crossed: str) -> list[str]:
    return [name.strip() for name in crossed.split("*")]
