"""Audit specs: a YAML file and the CSV files it names become an `Audit`, or an InputError that says what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.spec.audit import Audit
from collector.spec.checks.audit import problems
from collector.spec.files import SpecFiles
from collector.spec.names import NameSwap
from collector.spec.parts import DECISIONS
from collector.spec.people import read_people
from collector.spec.rooms import rooms
from collector.spec.subjects import read_attributes, read_groups, read_subjects
from collector.validation import input_error


def load_audit(path: Path, *, allow_outside: bool = False) -> Audit:
    """Read an audit spec and the CSV files it names, which lie beside it.

    Args:
        path: the YAML file.
        allow_outside: whether files that it names may lie outside of its project, see `collector.spec.files`.

    Raises:
        InputError: a file cannot be read, lies outside, or is no valid spec; the message names file and key or row
            and what would be right.
    """
    document = read_yaml_mapping(path, what="an audit spec")
    files = SpecFiles.of(path, allow_outside=allow_outside)
    if isinstance(file := document.get("attributes"), str):
        document["attributes"] = read_attributes(files.path(file))
    elif isinstance(document.get("attributes"), dict):
        document["attributes"] = {
            name: _with_groups(files, name, one) if isinstance(one, dict) else one
            for name, one in document["attributes"].items()
        }
    try:
        audit = Audit.model_validate(document)
    except ValidationError as error:
        raise input_error(path, error, Audit) from None
    subjects = audit.subjects
    if subjects is not None:
        audit._subject_rows = read_subjects(
            files.path(subjects.file),
            subjects.name,
            subjects.domain,
            subjects.wordings,
            person=subjects.person,
            # A decision about nobody would be compared with no other.
            is_person_optional=audit.answer.kind not in DECISIONS,
            expected=subjects.expected,
            target_group=subjects.target_group,
        )
    if audit.people is not None:
        audit._people_rows = read_people(
            files.path(audit.people.file),
            audit.people.name,
            {name: tuple(attribute.groups) for name, attribute in audit.attributes.items()},
        )
        _find_names(audit)
    for room in rooms().values():
        room.read_files(audit, files)
    for at, sentence in problems(audit):
        raise InputError(f"{path}: {at} {sentence}{'' if sentence.endswith('?') else '.'}")
    for room in rooms().values():
        room.read_checked(audit, files)
    return audit


def _with_groups(files: SpecFiles, name: str, attribute: dict[str, Any]) -> dict[str, Any]:
    """Return an attribute of the YAML file with the groups of the file it names, if it does."""
    file = attribute.get("file")
    if not isinstance(file, str) or not file.strip():
        return attribute
    for key in ("groups", "agreements"):
        if key in attribute:
            raise InputError(
                f"{files.spec}: attributes.{name}.{key} cannot stand beside file, which holds them; remove one."
            )
    return {**attribute, **read_groups(files.path(file))}


def _find_names(audit: Audit) -> None:
    """Prepare the swap of each subject's name where it has one, and note which slots hold it for any of them."""
    column = None if audit.subjects is None else audit.subjects.person
    if column is None or column not in audit.words_of_subjects:
        return
    swaps, personal = {}, set()
    for subject in audit.subject_rows:
        if not subject.words[column]:
            continue
        words = {slot: word for slot, word in subject.words.items() if slot != column}
        swap = swaps[subject.domain, subject.name] = NameSwap(subject.words[column], words.values())
        personal |= {slot for slot, word in words.items() if swap.holds(word)}
    audit._name_swaps, audit._personal_words = swaps, frozenset(personal)
