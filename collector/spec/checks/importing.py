"""Problems in the `import` part of an audit spec, which types alone cannot find."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from collector.hints import did_you_mean, quoted
from collector.spec.checks.shared import for_others
from collector.spec.methods import methods
from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.importing import Condition, Import

KINDS_OF_OUTCOMES = ("text", "json_object", "list", "label", "score")
RANKING_ROLES = ("subject", "response", "slot", "rank", "missing")
ITEM_ROLES = ("item", "price", "category", "count")
# Role -> the kinds of answers that may have it, and what these are called; other roles are for all.
ROLES_OF_KINDS = {
    "response": (("ranking", "items"), "rankings and items"),
    **dict.fromkeys(("slot", "rank", "missing"), (("ranking",), "rankings")),
    **dict.fromkeys(ITEM_ROLES, (("items",), "items")),
}


def import_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `import`, in the order of its keys."""
    imported = audit.imported
    if imported is None:
        return
    if "kind" not in audit.answer.model_fields_set:
        yield (
            "the key answer.kind",
            "is missing; it says what the answers in the file are: text, json_object, list, items, label, score or ranking",
        )
    if imported.split is not None and getattr(imported.columns, imported.split) is None:
        yield (
            f"the key import.columns.{imported.split}",
            f"is missing; split: {imported.split} makes a run for each value of that column",
        )
    columns = imported.columns
    if columns.block is not None and columns.block == columns.cluster:
        yield (
            "import.columns.block",
            f"is {columns.block!r} as cluster is; name another column, or remove one of them",
        )
    yield from _answer_column_problems(audit, imported)
    yield from _texts_problems(audit, imported)
    labels = {label.casefold() for label in audit.answer.labels}
    for token in audit.answer.missing:
        if token.casefold() in labels:
            yield "answer.missing", f"holds {token!r}, which is one of the labels; remove one of them"
    if imported.keep and (
        audit.answer.kind == "ranking" or (audit.answer.kind == "items" and columns.text is None)
    ):
        yield (
            "import.keep",
            "is for files with a row for each answer, and here several rows make one; remove it",
        )
    if len(set(imported.keep)) < len(imported.keep):
        yield "import.keep", "names a column twice; remove one of them"
    if imported.score_labels and not imported.columns.scores:
        yield "import.score_labels", "says what scores mean, and import.columns.scores is missing; remove it"
    if imported.columns.attribute is None and imported.columns.value is None:
        yield from _wide_form_problems(audit, imported)
    else:
        yield from _long_form_problems(audit, imported)


def outcome_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of a spec's outcomes; each outcome is then checked as an audit of its own."""
    if audit.imported is None:
        yield (
            "outcomes",
            "are columns of a file, and the key import is missing; it says what the columns mean",
        )
    if "answer" in audit.model_fields_set:
        yield "answer", "cannot be combined with outcomes, which say what each column holds; remove it"
    if audit.templates:
        yield "templates", "cannot be combined with outcomes, which are read from a file; remove one of them"
    for key in ("text", "texts"):
        if audit.imported is not None and getattr(audit.imported.columns, key):
            yield f"import.columns.{key}", "cannot be combined with outcomes; remove it"
    for method in methods():
        if method in audit.analysis.model_fields_set:
            yield (
                f"analysis.{method}",
                f"belongs to one of the outcomes; write it as outcomes.NAME.analysis.{method}",
            )
    yield from _named_outcome_problems(audit)


def _named_outcome_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of the name, the kind and the column of each outcome."""
    columns: dict[str, str] = {}
    names = [name.lower() for name in audit.outcomes]
    for name, outcome in audit.outcomes.items():
        at = f"outcomes.{name}"
        if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name, re.ASCII):
            yield at, "is no name of letters a to z, digits, - and _; name its column as column: instead"
        if names.count(name.lower()) > 1:
            yield at, "differs from another outcome in case alone; rename one of them"
        if "kind" not in outcome.model_fields_set:
            yield (
                f"the key {at}.kind",
                "is missing; it says what the column holds: text, label, score or list",
            )
        elif outcome.kind not in KINDS_OF_OUTCOMES:
            yield f"{at}.kind", f"is {outcome.kind!r}; an outcome is one of {quoted(KINDS_OF_OUTCOMES)}"
        column = outcome.column or name
        if column in columns:
            yield at, f"reads the column {column!r}, as outcomes.{columns[column]} does; remove one of them"
        columns.setdefault(column, name)


def _answer_column_problems(audit: Audit, imported: Import) -> Iterator[Problem]:
    """Yield columns that the kind of answer needs or cannot have."""
    at, kind = "import.columns", audit.answer.kind
    mapped = list(
        imported.columns.model_dump(exclude_none=True, exclude={"attributes", "descriptors", "texts"})
    )
    if imported.columns.texts:
        # A row is what the answers in it are about.
        mapped += ["text", *(["subject"] if "subject" not in mapped else [])]
    if kind == "ranking":
        for role in RANKING_ROLES:
            if role not in mapped and role != "missing":
                yield (
                    f"the key {at}.{role}",
                    f"is missing; a file of rankings has a row for each candidate, with its {role}",
                )
    elif kind == "items":
        yield from _item_column_problems(at, mapped)
    elif "text" not in mapped:
        yield f"the key {at}.text", "is missing; it names the column that holds the answers"
    if kind in ("label", "score") and "subject" not in mapped and "cluster" not in mapped:
        yield (
            f"the key {at}.subject",
            "is missing; it names the column that distinguishes resumes, or people: without it all of a group would be one",
        )
    yield from _roles_with_text_problems(at, kind, mapped, bool(imported.columns.scores))
    for role in mapped:
        kinds, called = ROLES_OF_KINDS.get(role, ((kind,), ""))
        if kind not in kinds:
            yield for_others(f"{at}.{role}", called, kind)
        if kind == "ranking" and role in ("text", "expected"):
            yield f"{at}.{role}", "cannot be combined with rankings, whose rows hold places; remove it"


def _texts_problems(audit: Audit, imported: Import) -> Iterator[Problem]:
    """Yield the problems of a column of answers for each group."""
    at, columns = "import.columns.texts", imported.columns
    if not columns.texts:
        return
    if columns.text is not None:
        yield at, "cannot be combined with text, which names one column of answers; remove one or the other"
    if columns.attribute is not None or columns.value is not None:
        yield (
            at,
            "cannot be combined with attribute and value, which name one group a row; remove one or the other",
        )
        return
    if len(columns.texts) < 2:
        yield at, "names one column; a comparison needs the answers of two groups"
    if len(set(columns.texts.values())) < len(columns.texts):
        yield at, "names a column twice; each group has its own"
    own = columns.attribute_of_texts(audit.attributes)
    if own is None:
        left = [name for name in audit.attributes if name not in columns.attributes]
        message = (
            f"holds the answers of each group of one attribute, and import.columns.attributes leaves out "
            f"{quoted(left) if left else 'none'}; it should leave out that one"
        )
        yield at, message
        return
    groups = audit.attributes[own].groups
    for group in columns.texts:
        if group and group not in groups:
            yield f"{at}.{group}", f"is no group of {own}{did_you_mean(group, groups)}"


def _roles_with_text_problems(
    at: str, kind: str, mapped: Sequence[str], has_scores: bool
) -> Iterator[Problem]:
    for role in ("finish_reason", "error", "attempt"):
        if role in mapped and "text" not in mapped:
            yield f"{at}.{role}", "cannot be given without text, the column of the answers; remove it"
    if has_scores and (kind == "ranking" or "text" not in mapped):
        yield (
            f"{at}.scores",
            "are labels of answers, whose text should be mapped next to them; remove it or map text",
        )


def _item_column_problems(at: str, mapped: Sequence[str]) -> Iterator[Problem]:
    parts = [role for role in mapped if role in ITEM_ROLES]
    if "text" in mapped:
        for role in [*parts, *(["response"] if "response" in mapped else [])]:
            yield (
                f"{at}.{role}",
                "cannot be combined with text, which holds whole answers; remove one or the other",
            )
    elif not set(parts) - {"count"}:
        yield (
            f"the key {at}.text",
            "is missing; it names the column that holds the answers, or item, price and category what they recommend",
        )


def _wide_form_problems(audit: Audit, imported: Import) -> Iterator[Problem]:
    at, mapped = "import.columns.attributes", imported.columns.attributes
    own = imported.columns.attribute_of_texts(audit.attributes)
    if not mapped and audit.attributes and not imported.columns.texts:
        yield f"the key {at}", "is missing; it names the column that holds each attribute"
    for name in mapped:
        if name not in audit.attributes:
            yield f"{at}.{name}", f"is no attribute of this audit{did_you_mean(name, audit.attributes)}"
    for name in audit.attributes:
        if name not in mapped and name != own and not (imported.columns.texts and own is None):
            yield at, f"leaves out {name!r}; name the column that holds it"
    yield from _descriptor_problems(audit, imported)
    for name, values in imported.values.items():
        if name not in audit.attributes:
            yield (
                f"import.values.{name}",
                f"is no attribute of this audit{did_you_mean(name, audit.attributes)}",
            )
            continue
        groups = audit.attributes[name].groups
        for value, group in values.items():
            if group is not None and group not in groups:
                yield (
                    f"import.values.{name}.{value}",
                    f"is {group!r}, which is no group of {name}{did_you_mean(group, groups)}",
                )
    if imported.conditions:
        yield (
            "import.conditions",
            "is for files of long form; give import.columns.attribute and value, or remove it",
        )


def _descriptor_problems(audit: Audit, imported: Import) -> Iterator[Problem]:
    at, columns = "import.columns.descriptors", imported.columns
    for name in columns.descriptors:
        if name not in audit.attributes:
            yield f"{at}.{name}", f"is no attribute of this audit{did_you_mean(name, audit.attributes)}"
    if columns.descriptors and columns.descriptor is not None:
        yield at, "cannot be combined with descriptor, which states all attributes; remove one or the other"


def _long_form_problems(audit: Audit, imported: Import) -> Iterator[Problem]:
    columns, at = imported.columns, "import.columns"
    for key, other in (("attribute", "value"), ("value", "attribute")):
        if getattr(columns, key) is None:
            yield f"{at}.{key}", f"is missing; {other} needs it, as the two together name a row's condition"
    if columns.attributes:
        yield f"{at}.attributes", "cannot be combined with attribute and value; remove one or the other"
    for key, given in (
        ("import.values", imported.values),
        (f"{at}.descriptor", columns.descriptor),
        (f"{at}.descriptors", columns.descriptors),
    ):
        if given:
            yield (
                key,
                "is for files with a column for each attribute; give import.columns.attributes, or remove it",
            )
    if audit.answer.kind == "ranking":
        yield f"{at}.attribute", "cannot name the groups of rankings; give import.columns.attributes"
    for name, condition in imported.conditions.items():
        yield from _condition_problems(audit, f"import.conditions.{name}", name, condition)


def _condition_problems(audit: Audit, at: str, name: str, condition: Condition) -> Iterator[Problem]:
    if condition.neutral:
        if condition.attribute is not None or condition.values:
            yield at, "is neutral and so has neither attribute nor values; remove them or neutral"
        return
    meant = condition.attribute or name
    attribute = audit.attributes.get(meant)
    if attribute is None:
        where = f"{at}.attribute" if condition.attribute else at
        yield (
            where,
            f"is {meant!r}, which is no attribute of this audit{did_you_mean(meant, audit.attributes)}",
        )
        return
    for value, means in condition.values.items():
        if means.group not in attribute.groups:
            hint = did_you_mean(means.group, attribute.groups)
            yield f"{at}.values.{value}", f"is {means.group!r}, which is no group of {meant}{hint}"
