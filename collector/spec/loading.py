"""Audit specs: a YAML file and the tables it names become an `Audit`, or sentences that say what would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from collector.composed import composed, composed_document
from collector.errors import InputError
from collector.files.yaml import key_lines, read_yaml_mapping
from collector.hints import ended, quoted
from collector.spec.audit import Audit
from collector.spec.checks.audit import problems
from collector.spec.files import SpecFiles
from collector.spec.methods import methods
from collector.spec.names import NameSwap
from collector.spec.parts import DECISIONS
from collector.spec.people import read_people
from collector.spec.subjects import read_attributes, read_groups, read_subjects, read_templates
from collector.spec.wordings import read_wordings
from collector.tables.source import ROW_COLUMN
from collector.validation import key_path, more_problems, structure_problems


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """A problem in a spec or a file that it names.

    Attributes:
        at: the path of the key that it is about, as sentences show it.
        message: one sentence that begins with the file's name.
        n_others: how many others were found in the same step, where that is known.
    """

    at: str
    message: str
    n_others: int = 0


@dataclass(frozen=True, slots=True)
class CheckedAudit:
    """A spec that was read whole.

    Attributes:
        audit: None where there are problems.
        problems: all that were found; keys are compared with each other once each is right by itself.
        lines: key path -> line; empty where the file is no YAML.
    """

    audit: Audit | None
    problems: tuple[SpecProblem, ...]
    lines: dict[str, int]

    def line(self, at: str) -> int | None:
        """Return the line of a key, or of its nearest parent that exists; None if there is none."""
        path = at.removeprefix("the key ")
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path)


def load_audits(path: Path, *, allow_outside: bool = False) -> tuple[Audit, ...]:
    """Read the audits of a spec: one of each of its `outcomes`, or the one that it is.

    Args:
        path, allow_outside: as in load_audit.

    Raises:
        InputError: as load_audit does.
    """
    document = _read_document(path)

    def loaded(outcome: str | None) -> Audit:
        return _Loading(path, document, allow_outside=allow_outside, outcome=outcome).loaded()

    # Report an error of the spec itself once.
    whole = loaded(None)
    return tuple(loaded(str(name)) for name in document.get("outcomes") or ()) or (whole,)


def load_audit(path: Path, *, allow_outside: bool = False, outcome: str | None = None) -> Audit:
    """Read an audit spec and the CSV files it names, which are next to it.

    Args:
        path: the YAML file.
        allow_outside: whether files that it names may be outside of its project, see `collector.spec.files`.
        outcome: which of its outcomes the audit is about; None for what all of them share.

    Raises:
        InputError: a file cannot be read, is outside, or is no valid spec; the message names file and key or row
            and what would be right.
    """
    return _Loading(path, _read_document(path), allow_outside=allow_outside, outcome=outcome).loaded()


def check_audit(path: Path, *, allow_outside: bool = False, outcome: str | None = None) -> CheckedAudit:
    """Read a spec as `load_audit` does, and return all that is wrong in place of raising the first.

    Raises:
        InputError: the file cannot be read, or is no YAML.
    """
    loading = _Loading(path, _read_document(path), allow_outside=allow_outside, outcome=outcome)
    found = tuple(loading.problems())
    lines = {composed(key_path(location)): line for location, line in key_lines(path).items()}
    return CheckedAudit(None if found else loading.audit, found, lines)


class _Loading:
    """Reads a spec in steps, each of which needs those before: its files of groups, its structure, its other files,
    what its keys say of each other, and files that only a right spec can be read with.
    """

    def __init__(
        self, path: Path, document: dict[str, Any], *, allow_outside: bool, outcome: str | None
    ) -> None:
        self.audit: Audit | None = None
        self._outcome = outcome
        self._path = path
        # The steps change it.
        self._document = deepcopy(document)
        self._allow_outside = allow_outside

    def loaded(self) -> Audit:
        """Return the audit, or raise the first problem."""
        for first in self.problems():
            raise InputError(f"{first.message}{more_problems(first.n_others)}")
        return self._checked_audit

    def problems(self) -> Iterator[SpecProblem]:
        """Yield problems one by one, so that a caller can stop at the first; without any, set `audit`."""
        for problem in self._all_problems():
            yield problem if self._outcome is None else _named_by_outcome(problem, self._outcome)

    def _all_problems(self) -> Iterator[SpecProblem]:
        document = self._document
        if self._outcome is not None:
            document = _document_of_outcome(document, self._outcome)
        stated = document.get("encoding")
        files = SpecFiles.of(
            self._path,
            allow_outside=self._allow_outside,
            encoding=stated if isinstance(stated, str) else None,
        )
        steps: tuple[Callable[[], Iterator[SpecProblem]], ...] = (
            partial(self._groups, document, files),
            partial(self._structure, document),
            partial(self._files, files),
            self._between_keys,
            partial(self._checked_files, files),
        )
        for step in steps:
            n = 0
            for problem in step():
                n += 1
                yield problem
            if n:
                return

    def _groups(self, document: dict[str, Any], files: SpecFiles) -> Iterator[SpecProblem]:
        """Put the groups and templates that files hold in their place."""
        templates = document.get("templates")
        if isinstance(templates, str):
            yield from self._problem_of(
                "templates",
                lambda: document.update(templates=read_templates(files.path(templates), files.encoding)),
            )
        written = document.get("attributes")
        if isinstance(written, str):
            yield from self._problem_of(
                "attributes",
                lambda: document.update(attributes=read_attributes(files.path(written), files.encoding)),
            )
        elif isinstance(written, dict):
            document["attributes"] = dict(written)
            for name, one in written.items():
                for key, with_groups in (("file", _with_groups), ("wordings", _with_shipped_wordings)):
                    yield from self._problem_of(
                        f"attributes.{name}.{key}",
                        partial(with_groups, document["attributes"], files, name, one),
                    )

    def _structure(self, document: dict[str, Any]) -> Iterator[SpecProblem]:
        try:
            self.audit = Audit.model_validate(document)
            if self._outcome is not None and self.audit.answer.kind in ("label", "score"):
                answer = self.audit.answer
                answer = answer.model_copy(update={"missing": (*answer.missing, "")})
                self.audit = self.audit.model_copy(update={"answer": answer})
        except ValidationError as error:
            found = structure_problems(error, Audit)
            for at, sentence in found:
                yield SpecProblem(at, f"{self._path}: {sentence}", len(found) - 1)

    def _files(self, files: SpecFiles) -> Iterator[SpecProblem]:
        audit = self._checked_audit
        n = 0
        for problem in (
            *self._problem_of("subjects.file", partial(_read_subjects, audit, files)),
            *self._problem_of("people.file", partial(_read_people, audit, files)),
        ):
            n += 1
            yield problem
        if not n and audit.people is not None:
            _find_names(audit)
        for name, method in methods().items():
            yield from self._problem_of(f"analysis.{name}", partial(method.read_files, audit, files))

    def _between_keys(self) -> Iterator[SpecProblem]:
        for at, sentence in problems(self._checked_audit):
            yield SpecProblem(at, ended(f"{self._path}: {at} {sentence}"))

    def _checked_files(self, files: SpecFiles) -> Iterator[SpecProblem]:
        for name, method in methods().items():
            yield from self._problem_of(
                f"analysis.{name}", partial(method.read_checked, self._checked_audit, files)
            )

    @property
    def _checked_audit(self) -> Audit:
        assert self.audit is not None
        return self.audit

    def _problem_of(self, at: str, read: Callable[[], None]) -> Iterator[SpecProblem]:
        try:
            read()
        except InputError as error:
            yield SpecProblem(at, str(error))


def _read_document(path: Path) -> dict[str, Any]:
    """Return a spec as plain data with its texts composed (NFC), so that a name is the same however it was typed."""
    document = read_yaml_mapping(path, what="an audit spec")
    try:
        return dict(composed_document(document))
    except ValueError as error:
        raise InputError(f"{path}: {error}.") from None


def _document_of_outcome(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the spec of one outcome, as if it were alone in the file."""
    outcomes = document["outcomes"]
    written = dict(outcomes[next(one for one in outcomes if str(one) == name)] or {})
    columns = dict(document["import"]["columns"])
    column, analysis = written.pop("column", name), written.pop("analysis", {})
    if not {"subject", "cluster"} & columns.keys() and written.get("kind") in ("label", "score"):
        columns["subject"] = ROW_COLUMN
    return {
        **{key: value for key, value in document.items() if key != "outcomes"},
        "audit": f"{document['audit']}-{name.lower()}",
        **({"title": f"{document['title']}: {name}"} if "title" in document else {}),
        "answer": written,
        "analysis": {**document.get("analysis", {}), **analysis},
        "import": {**document["import"], "columns": {**columns, "text": column}},
    }


def _named_by_outcome(problem: SpecProblem, name: str) -> SpecProblem:
    """Return a problem of an outcome's own spec with the keys that the file has."""
    at, message = problem.at, problem.message
    for key, written in (
        ("answer.", f"outcomes.{name}."),
        ("import.columns.text", f"outcomes.{name}.column"),
    ):
        at = at.replace(key, written)
        message = message.replace(f" {key}", f" {written}")
    return SpecProblem(at, message, problem.n_others)


def _with_groups(attributes: dict[str, Any], files: SpecFiles, name: str, written: Any) -> None:
    """Give an attribute of the YAML file the groups of the file it names, if it does."""
    file = written.get("file") if isinstance(written, dict) else None
    if not isinstance(file, str) or not file.strip():
        return
    for key in ("groups", "agreements"):
        if key in written:
            raise InputError(
                f"{files.spec}: attributes.{name}.{key} cannot be combined with file, which holds them; remove one."
            )
    attributes[name] = {**written, **read_groups(files.path(file), files.encoding)}


def _with_shipped_wordings(attributes: dict[str, Any], files: SpecFiles, name: str, written: Any) -> None:
    """Give an attribute of the YAML file the groups of the shipped wordings it names, or those of them that `groups` lists."""
    wordings = written.get("wordings") if isinstance(written, dict) else None
    if not isinstance(wordings, str):
        return
    at = f"{files.spec}: attributes.{name}"
    if "file" in written:
        raise InputError(
            f"{at}.wordings names shipped wordings, which cannot be combined with file; remove one."
        )
    try:
        shipped = read_wordings(wordings)
    except InputError as error:
        raise InputError(f"{at}.wordings: {error}") from None
    chosen = written.get("groups", list(shipped))
    if not isinstance(chosen, list):
        raise InputError(f"{at}.groups must be a list of groups of {wordings}: {quoted(shipped)}.")
    if unknown := [group for group in chosen if group not in shipped]:
        raise InputError(f"{at}.groups has {unknown[0]!r}, which {wordings} lacks; it has {quoted(shipped)}.")
    rest = {key: value for key, value in written.items() if key != "wordings"}
    attributes[name] = {**rest, "groups": {group: shipped[group] for group in chosen}}


def _read_subjects(audit: Audit, files: SpecFiles) -> None:
    subjects = audit.subjects
    if subjects is None:
        return
    audit._subject_rows = read_subjects(
        files.path(subjects.file),
        subjects.name,
        subjects.domain,
        subjects.wordings,
        person=subjects.person,
        # A decision without a group would be compared with no other.
        is_person_optional=audit.answer.kind not in DECISIONS,
        expected=subjects.expected,
        target_group=subjects.target_group,
        encoding=files.encoding,
    )
    columns = audit.answer.labels_from
    if columns and set(columns.values()) <= set(audit.words_of_subjects):
        options: dict[str, dict[str, str]] = {}
        for one in audit._subject_rows:
            of_subject = {label: one.words[column] for label, column in columns.items()}
            if options.setdefault(one.name, of_subject) != of_subject:
                raise InputError(
                    f"{files.path(subjects.file)}: two subjects are called {one.name!r} and have other options; name them apart."
                )
        audit.answer = audit.answer.model_copy(update={"options": options})


def _read_people(audit: Audit, files: SpecFiles) -> None:
    if audit.people is None:
        return
    audit._people_rows = read_people(
        files.path(audit.people.file),
        audit.people.name,
        {name: tuple(attribute.groups) for name, attribute in audit.attributes.items()},
        files.encoding,
    )


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
