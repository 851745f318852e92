"""The files that an audit spec names: they must be inside its project, unless others are allowed explicitly.

A spec may come from elsewhere, and the files that it names end up in prompts and in error sentences. A project may hold keys,
too: in files or folders whose names begin with a dot, such as `.env`, which are refused like files outside.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from collector.errors import InputError
from collector.hints import shown

PROJECT_FILE = "dbt_project.yml"


@dataclass(frozen=True, slots=True)
class SpecFiles:
    """The files that a spec may read.

    Attributes:
        spec: the spec, from whose folder the names of files are seen.
        root: the folder that must contain all of them; None if they may be anywhere.
        is_wide: whether the root holds far more than an audit, so that only the files directly in it are read.
        encoding: of the tables that are neither UTF-8 nor marked as UTF-16, where the spec states it.
    """

    spec: Path
    root: Path | None
    is_wide: bool = False
    encoding: str | None = None

    @classmethod
    def of(cls, spec: Path, *, allow_outside: bool = False, encoding: str | None = None) -> SpecFiles:
        """Return the files of a spec: those in the nearest folder above it with a dbt_project.yml, or else in its own folder.

        The root of the file system is no project, and if a spec without a project is in a home folder or above it, only the
        files next to it are its own.
        """
        if allow_outside:
            return cls(spec, None, encoding=encoding)
        folder = Path(os.path.realpath(spec.parent))
        for one in (folder, *folder.parents):
            if (one / PROJECT_FILE).is_file() and one != one.parent:
                return cls(spec, one, encoding=encoding)
        home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 (Path raises where there is no home)
        is_wide = folder == folder.parent or home.is_relative_to(folder)
        return cls(spec, folder, is_wide=is_wide, encoding=encoding)

    def path(self, name: str) -> Path:
        """Return where a file is that the spec names.

        Raises:
            InputError: no file can have that name, or it is outside of the project or hidden in it, also by way of a link.
        """
        path = self.spec.parent / name
        try:
            place = Path(os.path.realpath(path))
        except ValueError:  # a null character, or half a surrogate pair
            raise InputError(
                f"{self.spec} names the file {shown(name)}, which no file can be called."
            ) from None
        if self.root is not None and (problem := self._problem(place, self.root)):
            raise InputError(
                f"{self.spec} names the file {shown(name)}, which {problem}, or allow it with "
                f"--allow-outside or BIASLEDGER_ALLOW_OUTSIDE=1."
            )
        return path

    def _problem(self, place: Path, root: Path) -> str | None:
        """Return why the spec may not use a file, after following links; None if it may."""
        if not place.is_relative_to(root):
            return f"lies outside of {root}: put it there"
        parts = place.relative_to(root).parts
        if any(part.startswith(".") for part in parts):
            return f"is hidden in {root}, as files with keys are: name one without a dot at its beginning"
        if self.is_wide and len(parts) > 1:
            return f"does not lie next to it in {root}, which is no project: put the audit into a folder of its own"
        return None
