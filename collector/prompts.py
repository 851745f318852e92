"""From a spec to prompts: every template, subject, combination of the groups it names, and every variant asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean, quoted
from collector.slots import fill
from collector.spec import DESCRIPTOR, LENGTH, PLAIN, split_crossed
from collector.typos import RULES, mistype_one

if TYPE_CHECKING:
    from collector.spec import Audit, Template, Variant

PROMPT_ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PromptAttribute:
    """The group a prompt gives a person: slot 1 is the first person in the prompt."""

    slot: int
    attribute: str
    group_name: str
    carrier: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One rendered question; `content_hash` covers everything it says and stands for, and is the same in every run."""

    template: str
    language: str
    variant: str
    prompt_text: str | None
    perturbation: str | None = None
    subject: str | None = None
    domain: str | None = None
    expected_label: str | None = None
    system_prompt: str | None = None
    attributes: tuple[PromptAttribute, ...] = ()
    content_hash: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the content hash."""
        content: dict[str, Any] = {
            "template": self.template,
            "language": self.language,
            "perturbation": self.perturbation,
            "variant": self.variant,
            "subject": self.subject,
            "expected_label": self.expected_label,
            "system_prompt": self.system_prompt,
            "prompt_text": self.prompt_text,
            "attributes": sorted(
                [one.slot, one.attribute, one.group_name, one.carrier] for one in self.attributes
            ),
        }
        # It came later, and what was asked before keeps its hash.
        if self.domain is not None:
            content["domain"] = self.domain
        object.__setattr__(self, "content_hash", hash_of(content))

    @property
    def prompt_id(self) -> str:
        """The first 16 hex digits of the content hash."""
        return self.content_hash.removeprefix("sha256:")[:PROMPT_ID_DIGITS]


def build_prompts(audit: Audit, variants: Sequence[str] = (), parts: Sequence[str] = ()) -> list[Prompt]:
    """Render all prompts of an audit.

    Args:
        audit: the spec.
        variants: mitigations to ask beside the plain audit, by name; 'plain' is always asked and may be named too.
        parts: parts of the audit to ask beside the templates that are in no part, by name.

    Returns:
        One prompt for each variant × template × subject × combination of groups × perturbation, in the spec's order.

    Raises:
        InputError: the spec has no templates, a variant or part is unknown, or every template is in a part not named.
    """
    if not audit.templates:
        raise InputError(
            f"The audit {audit.audit!r} has no templates, so there is nothing to ask; it can read existing answers: "
            f"biasledger import."
        )
    for name in variants:
        if name != PLAIN and name not in audit.variants:
            raise InputError(
                f"The audit {audit.audit!r} has no variant {name!r}{did_you_mean(name, [PLAIN, *audit.variants])}"
            )
    for name in parts:
        if name not in audit.part_names:
            hint = did_you_mean(name, audit.part_names) or "; all of it is always asked"
            raise InputError(f"The audit {audit.audit!r} has no part {name!r}{hint}")
    templates = [one for one in audit.templates if one.part is None or one.part in parts]
    if not templates:
        raise InputError(
            f"All that the audit {audit.audit!r} asks is in parts; name one of them with --with: "
            f"{quoted(audit.part_names)}."
        )
    chosen: dict[str, Variant | None] = {PLAIN: None}
    chosen.update({name: audit.variants[name] for name in variants if name != PLAIN})
    return [
        prompt
        for name, variant in chosen.items()
        for template in templates
        for prompt in _prompts_of(audit, template, name, variant)
    ]


def _prompts_of(
    audit: Audit, template: Template, variant_name: str, variant: Variant | None
) -> Iterator[Prompt]:
    system_prompt = audit.system_prompt
    prefix = suffix = ""
    mask: Mapping[str, str | None] = {}
    if variant is not None:
        system_prompt = variant.system_prompt or system_prompt
        prefix, suffix, mask = variant.prefix or "", variant.suffix or "", variant.mask or {}
    masked = {slot: text for slot, text in mask.items() if text is not None}
    parts = template.parts
    length = {} if audit.answer.k is None else {LENGTH: str(audit.answer.k)}
    stated = list(_stated(audit, template))
    for subject in audit.subject_rows or (None,):
        about = length if subject is None else {**length, **subject.words}
        for persona in stated:
            yield Prompt(
                template=template.id,
                language=template.language,
                variant=variant_name,
                perturbation=persona.perturbation,
                subject=None if subject is None else subject.name,
                domain=None if subject is None else subject.domain,
                system_prompt=system_prompt,
                prompt_text=prefix + fill(parts, {**about, **persona.words, **masked}) + suffix,
                # A masked prompt still stands for its group: that the answer must not depend on it is what is tested.
                attributes=persona.attributes,
            )


@dataclass(frozen=True, slots=True)
class _Persona:
    """What one prompt states of a person: its groups, and the words that fill the slots."""

    attributes: tuple[PromptAttribute, ...]
    words: Mapping[str, str]
    perturbation: str | None


def _stated(audit: Audit, template: Template) -> Iterator[_Persona]:
    """Yield every combination of groups that a template states, in each of its perturbations."""
    slots = [name for name in audit.attributes if name in template.slots]
    # Without descriptors there is one choice: none.
    for descriptor in template.descriptors or ("",):
        described = split_crossed(descriptor) if descriptor else []
        names = [*slots, *described]
        carriers = [audit.attributes[name].carriers(template.wording) for name in names]
        for groups in itertools.product(*carriers):
            plain = [of_group[group] for of_group, group in zip(carriers, groups, strict=True)]
            for perturbation in template.perturbations or (None,):
                written = mistype_one(perturbation, plain) if perturbation in RULES else plain
                words = dict(zip(slots, written, strict=False))
                if described:
                    words[DESCRIPTOR] = " ".join(written[len(slots) :])
                attributes = tuple(
                    PromptAttribute(1, name, group, carrier)
                    for name, group, carrier in zip(names, groups, written, strict=True)
                )
                yield _Persona(attributes, words, perturbation)
