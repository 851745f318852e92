"""Where a case is declared: file and line of the audit's attribute, so that a pipeline can show the case next to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from biasledger.checking.cases import Case
from collector.errors import InputError
from collector.files.yaml import key_lines, read_yaml_mapping


@dataclass(frozen=True)
class Place:
    """A line, from 1, of a file; `file` is relative to the repository, with slashes."""

    file: str
    line: int


class Places:
    """The audit files of a project. Files that cannot be read declare nothing."""

    def __init__(self, project: Path = Path()) -> None:
        there = project.resolve()
        within = there.relative_to(_repository(there))
        self._files: dict[str, tuple[str, dict[tuple[str | int, ...], int]]] = {}
        for path in sorted(project.glob("audits/**/*.yml")):
            try:
                name = read_yaml_mapping(path, what="an audit spec").get("audit")
                lines = key_lines(path)
            except InputError:
                continue
            self._files.setdefault(str(name), ((within / path.relative_to(project)).as_posix(), lines))

    def of(self, case: Case) -> Place | None:
        """The line of the case's attribute, or else the first; None where the project has no such audit."""
        if case.audit not in self._files:
            return None
        file, lines = self._files[case.audit]
        return Place(file, lines.get(("attributes", case.category)) or lines.get(("attributes",)) or 1)


def _repository(project: Path) -> Path:
    """The folder that pipelines count paths from: the nearest one with `.git`, or else the project's own."""
    return next((folder for folder in (project, *project.parents) if (folder / ".git").exists()), project)
