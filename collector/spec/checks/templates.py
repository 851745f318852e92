"""Problems in what an audit asks: the end of its templates, each template, and the mitigations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from collector.hints import did_you_mean
from collector.spec.checks.people import masked_name_problems, person_problems, ranking_problems
from collector.spec.checks.shared import neutral_id_problems, slug_problems
from collector.spec.methods.lists import MATCHED
from collector.spec.parts import (
    CANDIDATES,
    DESCRIPTOR,
    LENGTH,
    NAME,
    PLAIN,
    RECOMMENDATIONS,
    split_crossed,
)
from collector.spec.slots import Slot, SlotSyntaxError, parse_template, slot_names
from collector.spec.typos import PREFIX, RULES, mistype
from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.parts import Template


def template_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `ask`, `templates` and `mitigations`."""
    # The following checks read the templates' slots.
    syntax = list(_ask_problems(audit)) or list(_syntax_problems(audit))
    yield from syntax
    if not syntax:
        yield from _each_template_problems(audit)
        yield from _mitigation_problems(audit)


def _ask_problems(audit: Audit) -> Iterator[Problem]:
    """Yield problems in `ask`, whose slots would otherwise be reported for every template."""
    if audit.ask is None:
        return
    if not audit.templates:
        yield "ask", "is written at the end of every template, and there are none; remove it"
    try:
        slots = slot_names(parse_template(audit.ask))
    except SlotSyntaxError as error:
        yield "ask", str(error)
        return
    known = [
        *((LENGTH,) if audit.answer.kind in RECOMMENDATIONS else ()),
        *(word for word in audit.words_of_subjects if not audit.is_personal(word)),
    ]
    for slot in slots:
        if slot in _slots(audit) and slot not in known:
            yield "ask", f"uses {{{slot}}}, which says something of a person; write it in the templates"
        elif slot not in known:
            yield "ask", f"has a slot {{{slot}}}, which is no word of the subjects{did_you_mean(slot, known)}"


def _syntax_problems(audit: Audit) -> Iterator[Problem]:
    for index, template in enumerate(audit.templates):
        for key in ("parts", "candidate_parts"):
            try:
                getattr(template, key)
            except SlotSyntaxError as error:
                yield f"templates[{index}].{'text' if key == 'parts' else 'candidate'}", str(error)


def _each_template_problems(audit: Audit) -> Iterator[Problem]:
    seen: set[str] = set()
    # Once, as there may be 10,000 templates.
    known, agreeing = _slots(audit), audit.agreeing_slots
    for index, template in enumerate(audit.templates):
        at = f"templates[{index}]"
        if template.id in seen:
            yield (
                f"{at}.id",
                f"is {template.id!r}, which an earlier template has too; every template needs its own id",
            )
        seen.add(template.id)
        if template.part is not None:
            yield from slug_problems(f"{at}.part", template.part)
        yield from _turn_problems(audit, at, template)
        yield from ranking_problems(audit, at, template)
        yield from _slot_problems(audit, at, template, known, agreeing)
        yield from person_problems(audit, at, template)
        yield from _described_attribute_problems(audit, at, template)
        yield from _descriptor_wording_problems(audit, at, template)
        yield from _perturbation_problems(audit, at, template)
        yield from _paired_problems(audit, at, template)
        yield from _neutral_problems(audit, at, template)
    if audit.templates:
        used = {name for template in audit.templates for name in _stated(template)}
        if any(map(audit.states_people, audit.templates)):
            used |= set(audit.attributes_of_people)
        elif audit.people is not None:
            yield "people", f"are used in no template; write {{{NAME}}} in one, or remove them"
        for name in audit.attributes:
            if name in used:
                continue
            if audit.people is None:
                unused = f"has a slot that no template uses; write {{{name}}} in a template or remove it"
            else:
                unused = (
                    f"is stated by no template and by no column of {audit.people.file}; write {{{name}}} in a template, add the "
                    f"column, or remove it"
                )
            yield f"attributes.{name}", unused


def _turn_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    """Yield problems with the messages of a conversation."""
    if not template.turns:
        if template.text is None:
            yield at, "has no question; write it as text, or a conversation as turns"
        if template.judge != "last":
            yield (
                f"{at}.judge",
                "says which answers of a conversation are judged, and there are no turns; remove it",
            )
        return
    if template.text is not None:
        yield at, "has both text and turns; remove one of them"
    if template.candidate is not None:
        yield (
            f"{at}.candidate",
            "asks for a ranking, which cannot be a conversation; remove it, or write text",
        )
    roles = [role for turn in template.turns for role in turn]
    for place, role in enumerate(roles):
        if role == "system" and place > 0:
            yield f"{at}.turns[{place}]", "is of system; only the first message can be"
        elif role == "assistant" and (place == 0 or roles[place - 1] != "user"):
            yield f"{at}.turns[{place}]", "is of assistant and does not follow a message of user"
    if roles[-1] != "user":
        yield f"{at}.turns", "should end with a message of user, which the target answers"
    if template.judge == "each" and (
        audit.answer.kind not in ("text", "label", "score") or audit.analysis.markers is not None
    ):
        yield (
            f"{at}.judge",
            "is 'each', which needs answers of the kind text, label or score and no analysis.markers; write last or all",
        )
    if template.judge == "all" and audit.answer.kind != "text":
        yield (
            f"{at}.judge",
            f"is 'all', which joins the answers to one text, and answer.kind is {audit.answer.kind!r}; write last or each",
        )


def _slots(audit: Audit) -> list[str]:
    """Return the names that a slot may have."""
    names = [*audit.attributes, *audit.agreeing_slots, *audit.words_of_subjects]
    if any(template.descriptors for template in audit.templates):
        names.append(DESCRIPTOR)
    if audit.answer.kind in RECOMMENDATIONS:
        names.append(LENGTH)
    if audit.people is not None:
        names.append(NAME)
    if any(template.candidate is not None for template in audit.templates):
        names.append(CANDIDATES)
    return names


def _stated(template: Template) -> list[str]:
    """Return the attributes a template states, those of its descriptors included."""
    crossed = (name for one in template.descriptors for name in split_crossed(one))
    return list(dict.fromkeys([*template.slots, *crossed]))


def _slot_problems(
    audit: Audit, at: str, template: Template, known: Sequence[str], agreeing: Mapping[str, str]
) -> Iterator[Problem]:
    for part in template.parts:
        if not isinstance(part, Slot):
            continue
        if part.name == DESCRIPTOR and not template.descriptors:
            yield f"{at}.descriptors", f"is missing; it lists the attributes that {{{DESCRIPTOR}}} stands for"
        elif part.name not in known:
            kind = "no attribute" if audit.subjects is None else "no attribute and no word of the subjects"
            yield f"{at}.text", f"has a slot {{{part.name}}}, which is {kind}{did_you_mean(part.name, known)}"
        attribute = agreeing.get(part.name)
        if attribute is not None and attribute not in _stated(template):
            yield (
                f"{at}.text",
                f"uses {{{part.name}}}, which agrees with {attribute!r}; write {{{attribute}}} in it too",
            )
        if part.article and template.language.split("-")[0].lower() != "en":
            article = (
                f"has an English article slot {{{part.article} {part.name}}} in the language {template.language!r}; "
                f"write {{{part.name}}} and the article with each group's descriptor"
            )
            yield f"{at}.text", article
    if audit.subjects is None:
        return
    own = [name for name in template.slots if name in audit.words_of_subjects]
    # In a ranking, the candidates name the subject.
    if template.candidate is None and all(name in audit.subjects.wordings for name in own):
        yield f"{at}.text", f"names no subject; write {{{audit.subjects.name}}} in it"
    for name in own:
        for number, row in enumerate(audit.subject_rows, start=1):
            if not row.words[name]:
                yield (
                    f"{at}.text",
                    f"uses {{{name}}}, which is empty in row {number} of {audit.subjects.file}",
                )
                break


def _described_attribute_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    if template.descriptors and DESCRIPTOR not in template.slots:
        yield f"{at}.text", f"has no slot {{{DESCRIPTOR}}}, which is what descriptors fill"
    for index, descriptor in enumerate(template.descriptors):
        inside = f"{at}.descriptors[{index}]"
        names = split_crossed(descriptor)
        if descriptor in template.descriptors[:index]:
            yield inside, f"names {descriptor!r} a second time"
        if len(set(names)) < len(names):
            yield inside, f"is {descriptor!r} and should name different attributes, as in race*gender"
        for name in names:
            if name not in audit.attributes:
                yield inside, f"is {name!r}, which is no attribute{did_you_mean(name, audit.attributes)}"
            elif name in template.slots:
                yield inside, f"states {name!r}, which has a slot of its own in the template; remove one"


def _descriptor_wording_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    if template.wording is None:
        return
    if not audit.states_groups(template):
        yield f"{at}.wording", "changes how groups are called, and the template names none; remove it"
    for name in _stated(template):
        attribute = audit.attributes.get(name)
        if attribute is not None and template.wording not in attribute.wordings:
            hint = did_you_mean(template.wording, attribute.wordings)
            yield f"{at}.wording", f"is {template.wording!r}, which attributes.{name} does not have{hint}"


def _paired_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    """Yield groups whose descriptors cannot go in step because there are not as many of them."""
    if not template.paired:
        return
    stated = [name for name in _stated(template) if name in audit.attributes]
    if len(stated) < 2:
        yield (
            f"{at}.paired",
            "puts descriptors of several attributes in step and the template states one at most; remove it",
        )
        return
    counts = [
        (len(listed), f"{group!r} of {name}")
        for name in stated
        if template.wording is None or template.wording in audit.attributes[name].wordings
        for group, listed in audit.attributes[name].descriptors(template.wording).items()
    ]
    most, of_most = max(counts, default=(1, ""))
    for n, of in counts:
        if n not in (1, most):
            yield (
                f"{at}.paired",
                f"puts descriptors in step, and {of_most} has {most} where {of} has {n}; give every group as many, or one",
            )
            return


def _perturbation_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    for index, name in enumerate(template.perturbations):
        inside = f"{at}.perturbations[{index}]"
        if name in template.perturbations[:index]:
            yield inside, f"names {name!r} a second time"
        if not name.startswith(PREFIX):
            continue
        if name not in RULES:
            yield inside, f"is {name!r}, which is no known typing error{did_you_mean(name, RULES)}"
            continue
        if not audit.states_groups(template):
            yield inside, f"is {name!r}, an error in a group's descriptor, and the template names no group"
        yield from _typo_problems(audit, inside, template, name)


def _typo_problems(audit: Audit, at: str, template: Template, rule: str) -> Iterator[Problem]:
    written = [person.name for person in audit.people_rows] if audit.states_people(template) else []
    for name in _stated(template):
        attribute = audit.attributes.get(name)
        if attribute is not None and template.wording in (None, *attribute.wordings):
            written += itertools.chain.from_iterable(attribute.descriptors(template.wording).values())
    for descriptor in written:
        try:
            mistype(rule, descriptor)
        except ValueError as error:
            yield at, str(error)


def _neutral_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    is_needed = audit.answer.kind == "list" and audit.analysis.lists.neutral == MATCHED
    if template.neutral is None:
        if is_needed and audit.states_groups(template):
            yield (
                f"{at}.neutral",
                "is missing; it names the template that says the same without a group, or analysis.lists.neutral one for all",
            )
        return
    yield from neutral_id_problems(audit, f"{at}.neutral", template.neutral)
    named = next((one for one in audit.templates if one.id == template.neutral), None)
    if named is not None and named.part not in (None, template.part):
        yield (
            f"{at}.neutral",
            f"is {named.id!r}, which is asked with the part {named.part!r} only; put both templates into it or neither",
        )


def _mitigation_problems(audit: Audit) -> Iterator[Problem]:
    yield from _unfilled_slots(audit, "system_prompt", audit.system_prompt)
    for name, mitigation in audit.mitigations.items():
        at = f"mitigations.{name}"
        if name == PLAIN:
            yield at, f"cannot be redefined; {PLAIN!r} is the audit without any mitigation and always exists"
        yield from slug_problems(at, name)
        if not mitigation.model_fields_set:
            yield at, "changes nothing; give it a prefix, suffix, system_prompt or mask"
        for key in ("prefix", "suffix", "system_prompt"):
            yield from _unfilled_slots(audit, f"{at}.{key}", getattr(mitigation, key))
        if mitigation.mask is not None:
            yield from _mask_problems(audit, at, mitigation.mask)


def _mask_problems(audit: Audit, at: str, mask: Mapping[str, str | None]) -> Iterator[Problem]:
    telling = (*audit.attributes, *audit.agreeing_slots, DESCRIPTOR, NAME)
    known = [name for name in _slots(audit) if name in telling]
    for slot in mask:
        if slot not in known:
            yield f"{at}.mask.{slot}", f"is no slot of this audit{did_you_mean(slot, known)}"
    # A forgotten slot would go on naming the group, and the mitigation would not be the masked one it claims to be.
    for template in audit.templates:
        for slot in template.slots:
            if slot in known and slot != NAME and slot not in mask:
                left_out = (
                    f'leaves out {slot!r}, which template {template.id!r} uses; add {slot}: "" to remove it, a neutral '
                    f"word to replace it, or null to keep it"
                )
                yield f"{at}.mask", left_out
        if audit.states_people(template) and NAME not in mask:
            left_out = (
                f"leaves out {NAME!r}, and template {template.id!r} names people; add {NAME}: with a neutral word to replace it, "
                f"or null to keep it"
            )
            yield f"{at}.mask", left_out
    if NAME in mask and mask[NAME] is not None:
        yield from masked_name_problems(audit, f"{at}.mask.{NAME}", str(mask[NAME]))


def _unfilled_slots(audit: Audit, at: str, text: str | None) -> Iterator[Problem]:
    for name in _slots(audit):
        if text is not None and re.search(r"\{(?:[aA] +)?" + re.escape(name) + r"\}", text):
            yield at, f"has a slot {{{name}}}; slots are filled in templates only, so move it there"
