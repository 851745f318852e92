"""The parts of an audit spec that say what is asked: templates, attributes, subjects, people, kind of answer, variants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator

from collector.answers import replies
from collector.answers.decisions import read_score
from collector.answers.price_levels import DEFAULT_LEVELS
from collector.hints import did_you_mean
from collector.spec.slots import Slot, parse_template, slot_names
from collector.validation import Names, NonBlank, Section, Text, no_text

PLAIN = "plain"
# Slots with a meaning of their own.
DESCRIPTOR = "descriptor"
LENGTH = "k"
NAME = "name"
CANDIDATES = "candidates"
NUMBER = "number"
DEFAULT_MAX_CHARACTERS = 200_000
AnswerKind = Literal["json_object", "text", "list", "items", "label", "score", "ranking"]
# Answers that decide something about a person; they are read as decisions and not as words.
DECISIONS = ("label", "score", "ranking")
# Answers with a number of recommendations, which {k} stands for; no group need be the reference.
RECOMMENDATIONS = ("list", "items")
MINIMUM_TRIALS = 15  # a persona, in Xu, Potka & Thomo (2026)
MINIMUM_SUBJECTS = 50  # a domain, and
MINIMUM_NEUTRAL_TRIALS = 5  # of a neutral prompt, in Sah et al. (2026)
MINIMUM_PROBES = 5  # 2^-5 is the first smallest p below 0.05


class Template(Section):
    """One wording of the question, with slots for the groups' carriers and the subjects' words.

    `descriptors` are what {descriptor} stands for, one at a time. A template with a `part` is asked only where the part is
    named; `neutral` is the id of the template that says the same without any group; `perturbations` give one prompt each.

    Groups with several carriers are asked about by each of them. Of several such attributes all combinations are asked, unless
    the template is `paired`: then the first carriers of all groups stand together, the second ones, and so on.

    A template with a `candidate` asks for a ranking: {candidates} in its text is one person of each cell, each written as
    `candidate` says, which uses {number}. `orders` is how many differently rotated orders are asked of the same candidates,
    as many as there are candidates if absent.
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
    paired: bool = False
    candidate: NonBlank | None = None
    orders: Annotated[int, Field(ge=1)] | None = None
    _ask: str = PrivateAttr(default="")

    @property
    def parts(self) -> tuple[str | Slot, ...]:
        """The template, with what the audit asks at the end of every template, split into literal text and slots."""
        return parse_template(self.text + self._ask)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the slots the template uses, in order of first use."""
        return slot_names(self.parts)

    @property
    def candidate_parts(self) -> tuple[str | Slot, ...]:
        """What is written of one candidate, split into literal text and slots; empty where no ranking is asked for."""
        return () if self.candidate is None else parse_template(self.candidate)

    @property
    def candidate_slots(self) -> tuple[str, ...]:
        """The names of the slots that one candidate uses, in order of first use."""
        return slot_names(self.candidate_parts)


def _listed(value: Any) -> Any:
    """Return a group's carrier or list of carriers as the tuple that the model holds."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str):
        return (value,)
    raise ValueError(no_text(value))


Carriers = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


class Attribute(Section):
    """An attribute: its groups with their carriers in the file's order, and the reference (unmarked) group.

    A group has one carrier or several, each of which is asked about. Without a reference the groups are compared with the
    neutral prompt, or items with each other. `wordings` hold other carriers of the groups: name of the wording -> group ->
    carrier. `agreements` are slots whose word agrees with the carrier: slot -> carrier or group -> word.

    `file` holds the groups in their place: a CSV file beside the spec with the columns group and carrier (the group's name if
    absent), one row a carrier, and a further column for each agreeing slot.
    """

    reference: NonBlank | None = None
    file: NonBlank | None = None
    groups: Annotated[Mapping[str, Carriers], Field(min_length=1)]
    agreements: Mapping[str, Mapping[str, Text]] = Field(default_factory=dict)
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

    def carriers(self, wording: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return group -> carriers in the file's order, in a named wording or in the plain one."""
        if wording is None:
            return self.groups
        return {name: (self.wordings[wording][name],) for name in self.groups}

    def agreeing(self, group: str, carrier: str) -> dict[str, str]:
        """Return slot -> word for the slots that agree with a carrier of a group; a slot without a word for it is left out."""
        return {
            slot: words.get(carrier, words.get(group, ""))
            for slot, words in self.agreements.items()
            if carrier in words or group in words
        }


class Subjects(Section):
    """What the questions are about: a CSV file beside the spec with one row a subject and one slot a column.

    A candidate's slot {text} may also have as many columns as there are candidates, text_1, text_2, …, which they take in turn.

    `wordings` are slots whose word depends on the subject's domain: slot -> domain -> word. `expected` is the column of the
    right answer; `person` that of the name which stands in the other columns and makes way for each person's: where its cell
    is empty, the question is about nobody and is asked once. `target_group` is the column of whom a stereotype is about.
    """

    file: NonBlank
    name: NonBlank
    domain: NonBlank | None = None
    expected: NonBlank | None = None
    person: NonBlank | None = None
    target_group: NonBlank | None = None
    wordings: Mapping[str, Mapping[str, Text]] = Field(default_factory=dict)


class People(Section):
    """Carriers that state several attributes at once: a CSV file with a name and the groups it states in each row.

    `per_subject` is how many people of each cell (combination of groups) are asked about with each subject, all if absent.
    """

    file: NonBlank
    name: NonBlank
    per_subject: Annotated[int, Field(ge=1)] | None = None


class Answer(Section):
    """What kind of answer is expected, and how long it may be before it is kept but not analysed.

    A list is asked for with `k` items; a shorter one is padded with empty places, or asked again, as `short` says. Items are `k`
    recommendations with name, price level (1, the cheapest, to `levels`) and categories. A label is one of `labels`, a score
    a number from `minimum` to `maximum`.
    """

    kind: AnswerKind = "json_object"
    k: Annotated[int, Field(ge=1, le=1000)] | None = None
    short: Literal["pad", "ask_again"] = "pad"
    levels: Annotated[int, Field(ge=2, le=10)] = DEFAULT_LEVELS
    labels: Names = ()
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    max_characters: Annotated[int, Field(ge=1)] = DEFAULT_MAX_CHARACTERS

    def classify(
        self, text: str | None, finish_reason: str | None = None, candidates: Sequence[str] = ()
    ) -> replies.Answer:
        """Say what a reply amounts to; `candidates` are the names in a prompt that asks for a ranking, in the order shown."""
        return replies.classify(
            text,
            self.kind,
            self.max_characters,
            finish_reason,
            k=self.k,
            labels=self.labels,
            minimum=self.minimum or 0.0,
            maximum=self.maximum or 0.0,
            candidates=candidates,
            levels=self.levels,
        )

    def expected(self, written: str) -> str:
        """Return the right answer to a question in the form in which answers are kept.

        Raises:
            ValueError: it could never be answered; the message says why.
        """
        if self.kind == "label":
            listed = {label.casefold(): label for label in self.labels}
            if written.casefold() not in listed:
                raise ValueError(f"which is none of the labels{did_you_mean(written, self.labels)}")
            return listed[written.casefold()]
        if self.kind == "score":
            number = read_score(written, self.minimum or 0.0, self.maximum or 0.0)
            if number.value is None:
                raise ValueError(f"which is no number from {self.minimum:g} to {self.maximum:g}")
            return number.value
        return written


class Variant(Section):
    """A mitigation asked beside the plain audit: text around the prompt, another system prompt, or masked slots.

    A mask gives each slot its replacement; an empty replacement removes the slot, null leaves it as it is.
    """

    prefix: Text | None = None
    suffix: Text | None = None
    system_prompt: NonBlank | None = None
    mask: Mapping[str, Text | None] | None = None


def wordings_of(template: Template, attributes: Mapping[str, Attribute]) -> int:
    """Return in how many wordings a template asks about the same groups: of the groups with the fewest carriers."""
    counts = [
        min(len(listed) for listed in attributes[name].carriers(template.wording).values())
        for name in template.slots
        if name in attributes
    ]
    return max(counts, default=1) if template.paired else math.prod(counts)


def split_crossed(crossed: str) -> list[str]:
    """Return ["race", "gender"] for "race * gender"."""
    return [name.strip() for name in crossed.split("*")]
