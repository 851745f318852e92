"""Problems between the keys of an audit spec, which types alone cannot find."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from collector.hints import did_you_mean, quoted
from collector.spec.checks.importing import import_problems, outcome_problems
from collector.spec.checks.people import people_problems
from collector.spec.checks.shared import for_others, slot_name_problems, slug_problems
from collector.spec.checks.templates import template_problems
from collector.spec.methods import methods
from collector.spec.parts import (
    CANDIDATES,
    DESCRIPTOR,
    ITEM_KEYS,
    LENGTH,
    MINIMUM_TRIALS,
    NAME,
    NUMBER,
    RECOMMENDATIONS,
    split_crossed,
)
from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.parts import Answer, Attribute


def problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems in the order of the keys."""
    yield from _name_problems(audit)
    yield from _subject_problems(audit)
    yield from _sharing_problems(audit)
    yield from _attribute_problems(audit)
    if audit.outcomes:
        # Each is checked as an audit of its own.
        yield from outcome_problems(audit)
        return
    yield from _answer_problems(audit)
    yield from people_problems(audit)
    yield from template_problems(audit)
    yield from _reading_problems(audit)
    yield from import_problems(audit)


def _name_problems(audit: Audit) -> Iterator[Problem]:
    yield from slug_problems("audit", audit.audit)
    for name in audit.attributes:
        yield from slot_name_problems(f"attributes.{name}", name)
        if name in _reserved(audit):
            yield f"attributes.{name}", f"is called like the slot {{{name}}}, which has a meaning; rename it"
    needs_groups = audit.analysis.markers is None and audit.fixed_value is None
    if not audit.attributes and needs_groups:
        if "attributes" in audit.model_fields_set:
            yield "attributes", "is empty; an audit compares the groups of at least one attribute"
        else:
            yield "the key attributes", "is missing"
    if not audit.templates and audit.imported is None:
        yield (
            "templates",
            "is missing; a spec asks something (templates) or reads answers that exist (import)",
        )
    if audit.trials is not None and audit.trials < 1:
        yield "trials", f"is {audit.trials} and should be at least 1"
    if audit.trials is None and any(one.trials is None for one in audit.templates):
        yield (
            "trials",
            f"is missing; say how often each prompt is asked (the source asks {MINIMUM_TRIALS} times)",
        )


def _reserved(audit: Audit) -> tuple[str, ...]:
    """Return the slots that have a meaning; those that came later have it only where it is used."""
    has_rankings = any(template.candidate is not None for template in audit.templates)
    return (
        DESCRIPTOR,
        LENGTH,
        *audit.agreeing_slots,
        *((NAME,) if audit.people is not None else ()),
        *((CANDIDATES, NUMBER) if has_rankings else ()),
    )


def _subject_problems(audit: Audit) -> Iterator[Problem]:
    subjects = audit.subjects
    if subjects is None:
        return
    taken = (*audit.attributes, *_reserved(audit))
    for name in audit.words_of_subjects:
        if name in taken and name not in subjects.wordings:
            yield "subjects.file", f"has a column {name!r}, which is called like another slot; rename one"
    for name in subjects.wordings:
        at = f"subjects.wordings.{name}"
        yield from slot_name_problems(at, name)
        if name in taken:
            yield at, f"is called like another slot, {{{name}}}; rename one"
    if subjects.wordings and subjects.domain is None:
        yield "subjects.wordings", "needs subjects.domain, the column that holds each subject's domain"
        return
    domains = list(dict.fromkeys(one.domain for one in audit.subject_rows if one.domain is not None))
    for name, words in subjects.wordings.items():
        yield from _domain_wording_problems(f"subjects.wordings.{name}", words, domains)


def _sharing_problems(audit: Audit) -> Iterator[Problem]:
    """Yield a `cluster` or `block` that is no column of the subjects, or that a subject lacks."""
    subjects = audit.subjects
    named = {key: column for key, column in (("cluster", audit.cluster), ("block", audit.block)) if column}
    if len(named) == 2 and audit.cluster == audit.block:
        yield "block", f"is {audit.block!r} as cluster is; name another column, or remove one of them"
    for key, column in named.items():
        if subjects is None:
            yield (
                key,
                f"is a column of subjects, and the spec has no subjects; the column of a file of answers is import.columns.{key}",
            )
            continue
        columns = [name for name in audit.words_of_subjects if name not in subjects.wordings]
        if column not in columns:
            yield key, f"is {column!r}, which is no column of {subjects.file}{did_you_mean(column, columns)}"
            continue
        empty = [number for number, one in enumerate(audit.subject_rows, start=1) if not one.words[column]]
        if empty:
            which = f"row {empty[0]}" + (f" and {len(empty) - 1} more" if len(empty) > 1 else "")
            yield (
                key,
                f"is {column!r}, and {which} of {subjects.file} has no value there; each subject needs one",
            )


def _domain_wording_problems(at: str, words: Mapping[str, str], domains: Sequence[str]) -> Iterator[Problem]:
    for domain, word in words.items():
        if domain not in domains:
            yield f"{at}.{domain}", f"is no domain of the subjects{did_you_mean(domain, domains)}"
        if not word.strip():
            yield f"{at}.{domain}", "is blank and should be text"
    for domain in domains:
        if domain not in words:
            yield at, f"has no word for the domain {domain!r}"


def _attribute_problems(audit: Audit) -> Iterator[Problem]:
    for name, attribute in audit.attributes.items():
        at = f"attributes.{name}"
        groups = attribute.groups
        if len(groups) < 2:
            yield f"{at}.groups", f"has {len(groups)} group; a comparison needs at least two"
        if attribute.reference is None and audit.answer.kind not in RECOMMENDATIONS:
            yield (
                f"the key {at}.reference",
                "is missing; it names the group that the others are compared with",
            )
        if attribute.reference is not None and attribute.reference not in groups:
            hint = did_you_mean(attribute.reference, groups)
            yield f"{at}.reference", f"is {attribute.reference!r}, which is none of the groups{hint}"
        for group in groups:
            if not group.strip() or group != group.strip() or "*" in group:
                yield (
                    f"{at}.groups",
                    f"holds {group!r}; a group's name is text without outer spaces and without *",
                )
        yield from _descriptor_problems(f"{at}.groups", groups, are_names=True)
        yield from _wording_problems(at, attribute)
        yield from _agreement_problems(audit, name, attribute)


def _descriptor_problems(
    at: str, descriptors: Mapping[str, Sequence[str]], *, are_names: bool = False
) -> Iterator[Problem]:
    """Yield descriptors that are blank, repeated or mean two groups; an imported value may be a group's name or descriptor."""
    owner: dict[str, str] = {}
    for group, listed in descriptors.items():
        if not listed:
            yield f"{at}.{group}", "is empty; a group has at least one descriptor"
        for index, descriptor in enumerate(listed):
            if not descriptor.strip() or descriptor != descriptor.strip():
                yield f"{at}.{group}", f"is {descriptor!r}; a descriptor is text without outer spaces"
            if descriptor in listed[:index]:
                yield f"{at}.{group}", f"names {descriptor!r} a second time"
        for word in dict.fromkeys([group, *listed] if are_names else listed):
            if owner.setdefault(word, group) != group:
                yield f"{at}.{group}", f"uses {word!r}, which already stands for {owner[word]!r}"


def _wording_problems(at: str, attribute: Attribute) -> Iterator[Problem]:
    for wording, descriptors in attribute.wordings.items():
        inside = f"{at}.wordings.{wording}"
        for group in descriptors:
            if group not in attribute.groups:
                yield f"{inside}.{group}", f"is none of the groups{did_you_mean(group, attribute.groups)}"
        for group in attribute.groups:
            if group not in descriptors:
                yield inside, f"has no descriptor for the group {group!r}"
        yield from _descriptor_problems(
            inside, {group: (descriptor,) for group, descriptor in descriptors.items()}
        )


def _agreement_problems(audit: Audit, name: str, attribute: Attribute) -> Iterator[Problem]:
    """Yield agreeing slots that collide, and those that have no word for a descriptor."""
    for slot, words in attribute.agreements.items():
        at = f"attributes.{name}.agreements.{slot}"
        yield from slot_name_problems(at, slot)
        if audit.agreeing_slots[slot] != name:
            yield at, f"is a slot of attributes.{audit.agreeing_slots[slot]} too; rename one"
        if slot in (DESCRIPTOR, LENGTH, NAME, CANDIDATES, NUMBER):
            yield at, f"is called like the slot {{{slot}}}, which has a meaning; rename it"
        known = {*attribute.groups, *itertools.chain.from_iterable(attribute.groups.values())}
        known.update(*(descriptors.values() for descriptors in attribute.wordings.values()))
        for word in words:
            if word not in known:
                hint = did_you_mean(word, sorted(known))
                yield f"{at}.{word}", f"is no group and no descriptor of {name}{hint}"
        for wording in (None, *attribute.wordings):
            for group, listed in attribute.descriptors(wording).items():
                for descriptor in listed:
                    if descriptor not in words and group not in words:
                        yield (
                            at,
                            f"has no word for {descriptor!r}; give one for it or for its group {group!r}",
                        )


def _answer_problems(audit: Audit) -> Iterator[Problem]:
    answer = audit.answer
    if answer.kind in RECOMMENDATIONS and answer.k is None:
        yield "answer.k", "is missing; say how many items a list should have"
    for kinds, called, keys in (
        (RECOMMENDATIONS, "lists and items", ("k",)),
        (("list",), "lists", ("short",)),
        (("items",), "items", ITEM_KEYS),
        (("label",), "labels", ("labels",)),
        (("score",), "scores", ("minimum", "maximum", "rescale", "points", "currency", "per")),
        (("label", "score"), "labels and scores", ("key", "pattern")),
        (("label",), "labels", ("labels_from", "options")),
    ):
        for key in keys:
            if key in answer.model_fields_set and answer.kind not in kinds:
                yield for_others(f"answer.{key}", called, answer.kind)
    yield from _pattern_problems(answer)
    if answer.kind == "label":
        yield from _label_problems(answer.labels)
        yield from _option_problems(audit)
    if answer.kind == "score":
        for key in ("minimum", "maximum"):
            if getattr(answer, key) is None:
                yield f"answer.{key}", "is missing; a score lies on a scale from minimum to maximum"
        if answer.minimum is not None and answer.maximum is not None and answer.minimum >= answer.maximum:
            yield (
                "answer.maximum",
                f"is {answer.maximum:g} and should be above minimum, which is {answer.minimum:g}",
            )


def _pattern_problems(answer: Answer) -> Iterator[Problem]:
    """Yield the problems of the regular expressions of `answer`."""
    patterns = [(f"answer.refusals[{index}]", text, 0) for index, text in enumerate(answer.refusals)]
    if answer.pattern is not None:
        patterns.append(("answer.pattern", answer.pattern, 1))
    for at, text, n_groups in patterns:
        try:
            n = re.compile(text).groups
        except re.error as error:
            yield at, f"is no regular expression: {error}"
            continue
        if n_groups and n != n_groups:
            yield at, f"has {n} capture groups; it should have one, which holds the decision"


def _option_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `answer.labels_from`."""
    answer = audit.answer
    for label in answer.labels_from:
        if label not in answer.labels:
            yield "answer.labels_from", f"names {label!r}, which is none of the labels"
    if not answer.labels_from:
        return
    missing = [label for label in answer.labels if label not in answer.labels_from]
    if missing:
        yield "answer.labels_from", f"has no column for {quoted(missing)}; each label needs one"
    if audit.subjects is None and audit.imported is None:
        yield "answer.labels_from", "names columns of the subjects' file, and subjects is missing"
    for label, column in answer.labels_from.items():
        if audit.subjects is not None and column not in audit.words_of_subjects:
            yield f"answer.labels_from.{label}", f"is {column!r}, which is no column of {audit.subjects.file}"


def _label_problems(labels: Sequence[str]) -> Iterator[Problem]:
    if len(labels) < 2:
        yield "answer.labels", f"holds {len(labels)}; a decision is between at least two labels"
    folded = [" ".join(label.casefold().split()) for label in labels]
    for index, label in enumerate(labels):
        at = f"answer.labels[{index}]"
        if label != label.strip() or not re.search(r"\w", label):
            yield at, f"is {label!r}; a label is text with letters or digits and without outer spaces"
        if folded[index] in folded[:index]:
            yield at, f"is {label!r}, which is listed already; case does not matter in answers"


def _reading_problems(audit: Audit) -> Iterator[Problem]:
    if audit.analysis.include_reasoning and audit.answer.kind != "text":
        yield (
            "analysis.include_reasoning",
            f"is true, and the answers are of the kind {audit.answer.kind}; reasoning is analysed with answers of the kind text",
        )
    for index, crossed in enumerate(audit.analysis.crossed):
        at = f"analysis.crossed[{index}]"
        names = split_crossed(crossed)
        if len(names) < 2 or len(set(names)) < len(names):
            yield at, f"is {crossed!r} and should name two or more different attributes, as in race*gender"
        for name in names:
            if name not in audit.attributes:
                yield at, f"crosses {name!r}, which is no attribute{did_you_mean(name, audit.attributes)}"
    for method in methods().values():
        yield from method.problems(audit)
