"""From a spec to prompts: every template, every combination of the groups it names, every variant asked for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean
from collector.slots import fill
from collector.spec import PLAIN

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
    expected_label: str | None = None
    system_prompt: str | None = None
    attributes: tuple[PromptAttribute, ...] = ()
    content_hash: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the content hash."""
        content = {
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
        object.__setattr__(self, "content_hash", hash_of(content))

    @property
    def prompt_id(self) -> str:
        """The first 16 hex digits of the content hash."""
        return self.content_hash.removeprefix("sha256:")[:PROMPT_ID_DIGITS]


def build_prompts(audit: Audit, variants: Sequence[str] = ()) -> list[Prompt]:
    """Render all prompts of an audit.

    Args:
        audit: the spec.
        variants: mitigations to ask beside the plain audit, by name; 'plain' is always asked and may be named too.

    Returns:
        One prompt for each template × combination of its attributes' groups × variant, in the spec's order.

    Raises:
        InputError: the spec has no templates, or a variant is unknown.
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
    chosen: dict[str, Variant | None] = {PLAIN: None}
    chosen.update({name: audit.variants[name] for name in variants if name != PLAIN})
    return [
        prompt
        for name, variant in chosen.items()
        for template in audit.templates
        for prompt in _prompts_of(audit, template, name, variant)
    ]


def _prompts_of(audit: Audit, template: Template, variant_name: str, variant: Variant | None) -> list[Prompt]:
    parts, language = template.parts, template.language
    names = [name for name in audit.attributes if name in template.slots]
    choices = [list(audit.attributes[name].groups.items()) for name in names]
    system_prompt = audit.system_prompt
    prefix = suffix = ""
    mask: Mapping[str, str | None] = {}
    if variant is not None:
        system_prompt = variant.system_prompt or system_prompt
        prefix, suffix, mask = variant.prefix or "", variant.suffix or "", variant.mask or {}
    masked = {slot: text for slot, text in mask.items() if text is not None}
    prompts = []
    for combination in itertools.product(*choices):
        carriers = {name: carrier for name, (_, carrier) in zip(names, combination, strict=True)}
        prompts.append(
            Prompt(
                template=template.id,
                language=language,
                variant=variant_name,
                system_prompt=system_prompt,
                prompt_text=prefix + fill(parts, {**carriers, **masked}) + suffix,
                # A masked prompt still stands for its group: that the answer must not depend on it is what is tested.
                attributes=tuple(
                    PromptAttribute(1, name, group, carrier)
                    for name, (group, carrier) in zip(names, combination, strict=True)
                ),
            )
        )
    return prompts
