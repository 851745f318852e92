"""The files that an audit spec names: they lie inside its project, unless somebody says that others may be read.

A spec may come from elsewhere, and what it names ends up in prompts and in error sentences.
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
    """What a spec may read: `spec` names files as seen from its folder, and all of them lie in `root` where that is not None."""

    spec: Path
    root: Path | None

    @classmethod
    def of(cls, spec: Path, *, allow_outside: bool = False) -> SpecFiles:
        """Return the files of a spec: those in the nearest folder above it with a dbt_project.yml, or else in its own folder."""
        if allow_outside:
            return cls(spec, None)
        folder = Path(os.path.realpath(spec.parent))
        above = (one for one in (folder, *folder.parents) if (one / PROJECT_FILE).is_file())
        return cls(spec, next(above, folder))

    def path(self, name: str) -> Path:
        """Return where a file is that the spec names.

        Raises:
            InputError: no file can have that name, or it lies outside of the project, also by way of a link.
        """
        path = self.spec.parent / name
        try:
            place = Path(os.path.realpath(path))
        except ValueError:  # a null character, or half a surrogate pair
            raise InputError(
                f"{self.spec} names the file {shown(name)}, which no file can be called."
            ) from None
        if self.root is not None and not place.is_relative_to(self.root):
            raise InputError(
                f"{self.spec} names the file {shown(name)}, which lies outside of {self.root}: put it there, or allow it with "
                f"--allow-outside."
            )
        return path
