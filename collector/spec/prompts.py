"""Make prompts from a spec: every template, subject, combination of descriptors or people, and every mitigation asked for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from collector.errors import InputError
from collector.hashing import canonical_json, hash_of
from collector.hints import did_you_mean, quoted
from collector.spec.parts import (
    CANDIDATES,
    DESCRIPTOR,
    LENGTH,
    NAME,
    NUMBER,
    PLAIN,
    asked_messages,
    split_crossed,
)
from collector.spec.people import people_of
from collector.spec.slots import fill, parse_template
from collector.spec.typos import RULES, mistype_one

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.parts import Mitigation, Template
    from collector.spec.people import Person
    from collector.spec.subjects import Subject

PROMPT_ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PromptAttribute:
    """The group a prompt gives a person: slot 1 is the first person in the prompt."""

    slot: int
    attribute: str
    group_name: str
    descriptor: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages of a conversation before its next answer: fixed ones and, last, the one that is answered."""

    messages: tuple[tuple[Literal["user", "assistant"], str], ...]
    is_judged: bool

    @property
    def text(self) -> str:
        """The message that is answered."""
        return self.messages[-1][1]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered question; `content_hash` covers its text and its groups, and is the same in every run.

    Of a conversation `prompt_text` is for people, and `turns` canonical JSON of `judge` and `messages`, pairs of role and text.
    """

    template: str
    language: str
    mitigation: str
    prompt_text: str | None
    perturbation: str | None = None
    subject: str | None = None
    domain: str | None = None
    expected_label: str | None = None
    system_prompt: str | None = None
    cluster: str | None = None
    block: str | None = None
    turns: str | None = None
    attributes: tuple[PromptAttribute, ...] = ()
    content_hash: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the content hash."""
        content: dict[str, Any] = {
            "template": self.template,
            "language": self.language,
            "perturbation": self.perturbation,
            # Keys are hashed, too: this one keeps the name that it had first, so that no prompt's hash changes.
            "variant": self.mitigation,
            "subject": self.subject,
            "expected_label": self.expected_label,
            "system_prompt": self.system_prompt,
            "prompt_text": self.prompt_text,
            "attributes": sorted(
                [one.slot, one.attribute, one.group_name, one.descriptor] for one in self.attributes
            ),
        }
        # They came later, and what was asked before keeps its hash.
        later = {"domain": self.domain, "cluster": self.cluster, "block": self.block, "turns": self.turns}
        content |= {name: value for name, value in later.items() if value is not None}
        object.__setattr__(self, "content_hash", hash_of(content))

    @property
    def prompt_id(self) -> str:
        """The first 16 hex digits of the content hash."""
        return self.content_hash.removeprefix("sha256:")[:PROMPT_ID_DIGITS]

    @property
    def n_turns(self) -> int:
        """Return how many answers one trial has: those of a conversation, or one."""
        return 1 if self.turns is None else len(turns_of(self.turns))

    def turn(self, trial: int) -> Turn | None:
        """Return the turn that a response's trial answers; None where this is no conversation."""
        return None if self.turns is None else turns_of(self.turns)[(trial - 1) % self.n_turns]

    @property
    def candidates(self) -> tuple[str, ...]:
        """The descriptors of the people shown, one a slot in the order of slots."""
        return tuple({one.slot: one.descriptor for one in sorted(self.attributes, key=_slot)}.values())


@lru_cache(maxsize=4096)
def turns_of(turns: str) -> tuple[Turn, ...]:
    """Return the turns that a prompt's `turns` hold, one an answer."""
    document = json.loads(turns)
    messages = [(role, text) for role, text in document["messages"]]
    ends = asked_messages([role for role, _ in messages])
    return tuple(
        Turn(tuple(messages[before + 1 : end + 1]), document["judge"] == "each" or end == ends[-1])
        for before, end in itertools.pairwise([-1, *ends])
    )


def transcript(turns: str, answers: Sequence[str | None]) -> str:
    """Return the messages of a conversation between these answers and the next one, for people; None is shown as …."""
    shown = []
    for place, turn in enumerate(turns_of(turns)[: len(answers) + 1]):
        shown += [f"Assistant: {answers[place - 1] or '…'}"] if place else []
        shown += [f"{role.capitalize()}: {text}" for role, text in turn.messages]
    return "\n\n".join(shown)


def joins_answers(turns: str) -> bool:
    """Return whether all answers of a conversation are judged as one text."""
    return bool(json.loads(turns)["judge"] == "all")


def _slot(attribute: PromptAttribute) -> int:
    return attribute.slot


def build_prompts(audit: Audit, mitigations: Sequence[str] = (), parts: Sequence[str] = ()) -> list[Prompt]:
    """Render all prompts of an audit.

    Args:
        audit: the spec.
        mitigations: mitigations to ask next to the plain audit, by name; 'plain' is always asked and may be named too.
        parts: parts of the audit to ask next to the templates that are in no part, by name.

    Returns:
        One prompt for each mitigation × template × subject × combination of descriptors (of a paired template: of groups ×
        descriptors in step) × person × perturbation, in the spec's order;
        of a template that asks for a ranking, one for each mitigation × subject × set of candidates × order.

    Raises:
        InputError: the spec has no templates, a mitigation or part is unknown, or every template is in a part not named.
    """
    if not audit.templates:
        raise InputError(
            f"The audit {audit.audit!r} has no templates, so there is nothing to ask; it can read existing answers: "
            f"biasledger import."
        )
    for name in mitigations:
        if name != PLAIN and name not in audit.mitigations:
            raise InputError(
                f"The audit {audit.audit!r} has no mitigation {name!r}{did_you_mean(name, [PLAIN, *audit.mitigations])}"
            )
    for name in parts:
        if name not in audit.part_names:
            hint = did_you_mean(name, audit.part_names) or "; all of it is always asked."
            raise InputError(f"The audit {audit.audit!r} has no part {name!r}{hint}")
    templates = [one for one in audit.templates if one.part is None or one.part in parts]
    if not templates:
        raise InputError(
            f"All that the audit {audit.audit!r} asks is in parts; name one of them with --with: "
            f"{quoted(audit.part_names)}."
        )
    chosen: dict[str, Mitigation | None] = {PLAIN: None}
    chosen.update({name: audit.mitigations[name] for name in mitigations if name != PLAIN})
    return [
        prompt
        for name, mitigation in chosen.items()
        for template in templates
        for prompt in _prompts_of(audit, template, name, mitigation)
    ]


def _prompts_of(
    audit: Audit, template: Template, mitigation_name: str, mitigation: Mitigation | None
) -> Iterator[Prompt]:
    system_prompt = audit.system_prompt
    prefix = suffix = ""
    mask: Mapping[str, str | None] = {}
    if mitigation is not None:
        system_prompt = mitigation.system_prompt or system_prompt
        prefix, suffix, mask = mitigation.prefix or "", mitigation.suffix or "", mitigation.mask or {}
    masked = {slot: text for slot, text in mask.items() if text is not None}
    length = {} if audit.answer.k is None else {LENGTH: str(audit.answer.k)}
    # The same for every subject.
    about_nobody = [] if template.candidate is not None else [*_stated(audit, template, [None])]
    for subject in audit.subject_rows or (None,):
        named = None if subject is None else subject.name
        cells = (
            people_of(audit.people_rows, named, audit.people.per_subject, audit.own_name_of(subject))
            if audit.people
            else []
        )
        stated: Iterable[_Persona]
        if template.candidate is not None:
            stated = _rankings(audit, template, subject, cells, masked.get(NAME))
        elif audit.states_people(template) if subject is None else audit.names_person_of(template, subject):
            stated = _stated(audit, template, [*itertools.chain.from_iterable(cells)])
        else:
            stated = about_nobody
        for persona in stated:
            about = _about(audit, subject, masked.get(NAME, persona.words.get(NAME)))
            words = {**length, **about, **persona.words, **masked}
            system, asked, turns = _messages(template, words, prefix, suffix)
            if system is not None and mitigation is not None and mitigation.system_prompt is not None:
                system = f"{mitigation.system_prompt}\n\n{system}"
            yield Prompt(
                template=template.id,
                language=template.language,
                mitigation=mitigation_name,
                perturbation=persona.perturbation,
                subject=named,
                domain=None if subject is None else subject.domain,
                expected_label=_expected(audit, subject),
                system_prompt=system or system_prompt,
                cluster=_shared(subject, audit.cluster),
                block=_shared(subject, audit.block),
                turns=turns,
                prompt_text=asked,
                # A masked prompt still belongs to its group: the test is that the answer does not depend on it.
                attributes=persona.attributes,
            )


def _messages(
    template: Template, words: Mapping[str, str], prefix: str, suffix: str
) -> tuple[str | None, str, str | None]:
    """Return a conversation's system message, its text for people and its `turns`; of one question None, its text and None.

    A mitigation's prefix begins the first message, and its suffix ends each that is judged.
    """
    if not template.turns:
        return None, prefix + fill(template.parts, words) + suffix, None
    filled = [(role, fill(parse_template(text), words)) for role, text in template.messages]
    system = filled.pop(0)[1] if filled[0][0] == "system" else None
    asked = asked_messages([role for role, _ in filled])
    ends = asked if template.judge == "each" else asked[-1:]
    messages = [
        [role, (prefix if place == 0 else "") + text + (suffix if place in ends else "")]
        for place, (role, text) in enumerate(filled)
    ]
    turns = canonical_json({"judge": template.judge, "messages": messages})
    return system, transcript(turns, [None] * (len(asked) - 1)), turns


@dataclass(frozen=True, slots=True)
class _Persona:
    """The person of one prompt: its groups, and the words that fill the slots."""

    attributes: tuple[PromptAttribute, ...]
    words: Mapping[str, str]
    perturbation: str | None = None


def _stated(audit: Audit, template: Template, people: Sequence[Person | None]) -> Iterator[_Persona]:
    """Yield every combination of descriptors and people that a template states, in each of its perturbations."""
    slots = [name for name in audit.attributes if name in template.slots]
    # Without descriptors there is one choice: none.
    for described_attribute in template.descriptors or ("",):
        described = split_crossed(described_attribute) if described_attribute else []
        names = [*slots, *described]
        descriptors = [audit.attributes[name].descriptors(template.wording) for name in names]
        for chosen, person in itertools.product(_chosen(descriptors, template.paired), people):
            groups = [group for group, _ in chosen]
            plain = [descriptor for _, descriptor in chosen]
            agreeing: dict[str, str] = {}
            for name, group, descriptor in zip(names, groups, plain, strict=True):
                agreeing |= audit.attributes[name].agreeing(group, descriptor)
            plain += [] if person is None else [person.name]
            for perturbation in template.perturbations or (None,):
                if perturbation in RULES and not plain:
                    continue  # it names no person, so no descriptor can be mistyped
                written = mistype_one(perturbation, plain) if perturbation in RULES else plain
                words = {**agreeing, **dict(zip(slots, written, strict=False))}
                if described:
                    words[DESCRIPTOR] = " ".join(written[len(slots) : len(names)])
                attributes = [
                    PromptAttribute(1, name, group, descriptor)
                    for name, group, descriptor in zip(names, groups, written, strict=False)
                ]
                if person is not None:
                    words[NAME] = written[-1]
                    attributes += _groups_of(person, 1, written[-1])
                yield _Persona(tuple(attributes), words, perturbation)


def _chosen(
    descriptors: Sequence[Mapping[str, Sequence[str]]], paired: bool
) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield (group, descriptor) of each attribute: all combinations, or of each combination of groups the descriptors in step.

    In step a group of a single descriptor keeps it; the spec's checks allow no other difference in their number.
    """
    if not paired:
        choices = [[(group, one) for group, listed in of.items() for one in listed] for of in descriptors]
        yield from itertools.product(*choices)
        return
    for groups in itertools.product(*descriptors):
        listed = [of[group] for of, group in zip(descriptors, groups, strict=True)]
        for place in range(max(map(len, listed), default=1)):
            yield tuple((group, of[place % len(of)]) for group, of in zip(groups, listed, strict=True))


def _rankings(
    audit: Audit,
    template: Template,
    subject: Subject | None,
    cells: Sequence[Sequence[Person]],
    masked_name: str | None,
) -> Iterator[_Persona]:
    """Yield the candidates of every ranking asked for: a person of each cell, in orders that turn round like a wheel.

    With as many orders as candidates, each candidate has each place once, and each of the numbered columns once. The places of
    the columns rotate from set to set.
    """
    orders = template.orders or len(cells)
    between = "\n\n" if "\n" in (template.candidate or "") else "\n"
    for index, candidates in enumerate(zip(*cells, strict=False)):
        # The order of people differs from subject to subject.
        order = sorted(candidates, key=lambda person: hash_of([subject and subject.name, index, person.name]))
        for turn in range(orders):
            first = (index + turn * len(order) // orders) % len(order)
            shown = order[first:] + order[:first]
            written = [
                _candidate(
                    audit,
                    template,
                    subject,
                    number=place + 1,
                    column=(place + index) % len(shown) + 1,
                    name=masked_name or person.name,
                )
                for place, person in enumerate(shown)
            ]
            attributes = [
                attribute
                for slot, person in enumerate(shown, start=1)
                for attribute in _groups_of(person, slot, person.name)
            ]
            yield _Persona(tuple(attributes), {CANDIDATES: between.join(written)})


def _candidate(
    audit: Audit, template: Template, subject: Subject | None, *, number: int, column: int, name: str
) -> str:
    """Return the text on a candidate, with the columns of another."""
    about = _about(audit, subject, name)
    own = {
        slot: about[word]
        for slot in template.candidate_slots
        if (word := audit.column_of_candidate(slot, column)) in about
    }
    return fill(template.candidate_parts, {**own, NUMBER: str(number), NAME: name})


def _groups_of(person: Person, slot: int, descriptor: str) -> list[PromptAttribute]:
    return [PromptAttribute(slot, name, group, descriptor) for name, group in person.groups.items()]


def _about(audit: Audit, subject: Subject | None, name: str | None) -> dict[str, str]:
    """Return a subject's words, with a person's name in place of its own."""
    words = {} if subject is None else dict(subject.words)
    swap = None if subject is None else audit.name_swap(subject)
    if swap is not None and name is not None:
        words |= {slot: swap.swap(words[slot], name) for slot in audit.personal_words}
        if audit.subjects is not None and audit.subjects.person is not None:
            words[audit.subjects.person] = name
    return words


def _shared(subject: Subject | None, column: str | None) -> str | None:
    """Return the cluster or block of a subject, which `column` holds."""
    return None if subject is None or column is None else subject.words[column]


def _expected(audit: Audit, subject: Subject | None) -> str | None:
    """Return the right answer about a subject, where its row states one."""
    column = None if audit.subjects is None else audit.subjects.expected
    written = "" if column is None or subject is None else subject.words[column]
    return audit.answer.expected(written) if written else None
