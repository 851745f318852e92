"""Say which groups a design has too few names or wordings of, so that findings about them are warnings at most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from collector.spec.parts import PLAIN
from collector.spec.wordings import shipped_wordings

if TYPE_CHECKING:
    from collector.spec.audit import Audit

FEWEST_DESCRIPTORS = 5
"""Names or wordings from which on a finding speaks of its groups (macros/findings/scopes.sql)."""


def scope_warnings(audit: Audit) -> list[str]:
    """Return a sentence for each number of names or wordings that is too small, and what to add; empty if all are enough.

    Of an import only attributes without a column of names or wordings are listed, as its file has the others.
    """
    if audit.templates:
        return list(_asked_warnings(audit))
    columns = None if audit.imported is None else audit.imported.columns
    if columns is None or columns.subject is not None or columns.cluster is not None:
        return []
    unnamed = [name for name in columns.attributes if name not in columns.descriptors]
    sentence = (
        f"The file names no people of {', '.join(unnamed)}: findings will be warnings, unless it words each group in "
        f"{FEWEST_DESCRIPTORS} ways or more; name the column of people in import.columns.subject, or that of their names in "
        f"import.columns.descriptors."
    )
    return [sentence] if unnamed else []


def _asked_warnings(audit: Audit) -> Iterator[str]:
    whole: dict[tuple[int, str], list[str]] = defaultdict(list)
    for attribute, counts in _descriptors(audit).items():
        unit = "name" if attribute in audit.attributes_of_people else "wording"
        few = {group: n for group, n in counts.items() if n < FEWEST_DESCRIPTORS}
        if len(set(counts.values())) == 1 and few:
            whole[min(few.values()), unit].append(attribute)
            continue
        for group, n in few.items():
            yield f"{group} has {_add(n, unit, [attribute], audit)}"
    for (n, unit), attributes in whole.items():
        yield f"Each group of {', '.join(attributes)} has {_add(n, unit, attributes, audit)}"


def _add(n: int, unit: str, attributes: Iterable[str], audit: Audit) -> str:
    missing = FEWEST_DESCRIPTORS - n
    known = shipped_wordings() if unit == "wording" else ()
    languages = dict.fromkeys(template.language.partition("-")[0].lower() for template in audit.templates)
    named = (f"{one.lower()}/{language}" for language in languages for one in attributes)
    shipped = ", ".join(one for one in named if one in known)
    return (
        f"{n} {unit}{'' if n == 1 else 's'}: findings will be warnings; add {missing} {unit}{'' if missing == 1 else 's'}"
        f"{f', or use wordings: {shipped}' if shipped else ''}."
    )


def _descriptors(audit: Audit) -> dict[str, dict[str, int]]:
    """Return attribute -> group asked about -> its largest number of names or wordings in one language."""
    from collector.spec.prompts import build_prompts

    found: dict[str, dict[str, dict[str | None, set[str]]]] = {}
    for prompt in build_prompts(audit):
        if prompt.mitigation == PLAIN and prompt.perturbation is None:
            for one in prompt.attributes:
                languages = found.setdefault(one.attribute, {}).setdefault(one.group_name, {})
                languages.setdefault(prompt.language, set()).add(one.descriptor or "")
    return {
        attribute: {group: max(map(len, languages.values())) for group, languages in groups.items()}
        for attribute, groups in found.items()
    }
