"""Problems that checks of several parts of a spec find: of kinds of answers, schemes, neutral templates and slots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from collector.hints import did_you_mean, quoted
from collector.spec.slots import SLOT_NAME
from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.audit import Audit


def for_others(at: str, called: str, kind: str) -> Problem:
    """Return the problem of a key that is for other kinds of answers than the audit's."""
    return at, f"is for {called} and the answer's kind is {kind!r}; remove it"


def slug_problems(at: str, name: str) -> Iterator[Problem]:
    """Yield why a name cannot be that of an audit, a part or a mitigation."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        yield at, f"is {name!r} and should consist of lower-case letters, digits, - and _"


def slot_name_problems(at: str, name: str) -> Iterator[Problem]:
    """Yield why a name cannot be that of a slot."""
    if not re.fullmatch(SLOT_NAME, name):
        yield at, f"is {name!r} and should be a name of letters, digits and _ that starts with a letter"


def neutral_id_problems(audit: Audit, at: str, template_id: str) -> Iterator[Problem]:
    """Yield why a template cannot be the one that says the same without a group."""
    named = next((one for one in audit.templates if one.id == template_id), None)
    if named is None:
        neutral = (one.id for one in audit.templates if not audit.states_groups(one))
        yield at, f"is {template_id!r}, which is the id of no template{did_you_mean(template_id, neutral)}"
    elif audit.states_groups(named):
        yield at, f"is {template_id!r}, a template that names a group; a neutral one names none"


def scheme_problems(at: str, schemes: tuple[str, ...], known: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the problems of a list of schemes."""
    if not schemes:
        yield at, f"is empty; known: {quoted(known)}"
    for index, scheme in enumerate(schemes):
        if scheme not in known:
            yield f"{at}[{index}]", f"is {scheme!r}, which is no known scheme{did_you_mean(scheme, known)}"
        if scheme in schemes[:index]:
            yield f"{at}[{index}]", f"names {scheme!r} a second time"
