"""The analysis settings of audit files, by hash: cached in the project, and read again when a file changes.

Most builds find all of them registered in the ledger, and then need not read twenty files.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import collector
from biasledger import __version__
from biasledger.building import ANALYSIS_SETTINGS
from collector.errors import InputError
from collector.files.replacing import write_whole
from collector.hashing import hash_of, hash_of_file
from collector.spec.files import SpecFiles

if TYPE_CHECKING:
    from collector.ledger.database import HeldAnalysisSettings
    from collector.spec.audit import Audit

# A file that was written so shortly before it was read may have been written again meanwhile.
_SETTLED_SECONDS = 2.0


@dataclass(frozen=True)
class Described:
    """The parts of an audit file that registering needs.

    audit: its name. analysis: the hash of its analysis settings. named: hashes of the relevance and markers that these name.
    catalogue: the catalogue that prices come from. names: the files that it was read from, relative to its folder. files: a hash
    of these, None if a change in them could go unnoticed.
    """

    audit: str
    analysis: str
    named: Sequence[str]
    catalogue: str | None
    names: Sequence[str]
    files: str | None

    def is_held(self, held: HeldAnalysisSettings) -> bool:
        """Return whether registering it would write nothing; checking is faster than trying."""
        return held.latest.get(self.audit) == self.analysis and held.named.issuperset(self.named)


class Descriptions:
    """The parts of each audit file of a project.

    With `allow_outside` all files are read and none is cached, because files outside of the project may be read only with that
    option.
    """

    def __init__(self, project: Path, *, allow_outside: bool) -> None:
        self._project = project
        self._allow_outside = allow_outside
        self._before = {} if allow_outside else self._read_earlier()
        self._now: dict[str, Sequence[Described]] = {}
        self._read: dict[Path, Sequence[Audit]] = {}

    def of(self, spec: Path) -> Sequence[Described]:
        """Return the parts of the audits of a file: one, or one of each of its outcomes.

        Raises:
            InputError: the file is wrong.
        """
        place = spec.relative_to(self._project).as_posix()
        found = self._before.get(place, ())
        if not found or any(
            one.files is None or _hash_of_files(spec, one.names) != one.files for one in found
        ):
            begun = time.time()
            found = [_described(spec, one, begun - _SETTLED_SECONDS) for one in self._audits(spec)]
        self._now[place] = found
        return found

    def audit(self, spec: Path, name: str) -> Audit:
        """Return the audit of a file that has a name, read once.

        Raises:
            InputError: it is wrong.
        """
        return next(one for one in self._audits(spec) if one.audit == name)

    def _audits(self, spec: Path) -> Sequence[Audit]:
        from collector.spec.loading import load_audits

        if spec not in self._read:
            self._read[spec] = load_audits(spec, allow_outside=self._allow_outside)
        return self._read[spec]

    def keep(self) -> None:
        """Save the descriptions for the next build, if the project can be written."""
        if self._allow_outside or self._now == self._before:
            return
        audits = {place: [asdict(one) for one in found] for place, found in self._now.items()}
        with suppress(OSError):
            (self._project / ANALYSIS_SETTINGS).parent.mkdir(exist_ok=True)
            write_whole(
                self._project / ANALYSIS_SETTINGS, json.dumps({"code": self._code, "audits": audits}).encode()
            )

    def _read_earlier(self) -> dict[str, Sequence[Described]]:
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            kept = json.loads((self._project / ANALYSIS_SETTINGS).read_bytes())
            if kept["code"] == self._code:
                return {
                    place: [_described_from(one) for one in said] for place, said in kept["audits"].items()
                }
        return {}

    @cached_property
    def _code(self) -> str:
        """Return a hash of the code that reads the files: the version, and the size and time of each of the collector's files."""
        package = Path(collector.__file__).parent
        found = [(path, path.stat()) for path in sorted(package.rglob("*.py"))]
        states = [(str(path), state.st_size, state.st_mtime_ns) for path, state in found]
        return hash_of([__version__, states])


def _described_from(said: Mapping[str, Any]) -> Described:
    return Described(**{**said, "named": tuple(said["named"]), "names": tuple(said["names"])})


def _described(spec: Path, audit: Audit, older_than: float) -> Described:
    names = tuple(os.path.relpath(file, spec.parent) for file in audit.files)
    return Described(
        audit=audit.audit,
        analysis=hash_of(audit.analysis_document()),
        named=tuple(one for one in (audit.relevance_hash, audit.markers_hash) if one is not None),
        catalogue=audit.analysis.prices.catalogue if audit.answer.kind == "items" else None,
        names=names,
        files=_hash_of_files(spec, names, older_than=older_than),
    )


def _hash_of_files(spec: Path, names: Sequence[str], older_than: float | None = None) -> str | None:
    """Return a hash of the files that a spec was read from: their contents, their places, and the limits on these places.

    None where one is a folder, no regular file, cannot be read, or is no older than so many seconds since 1970.
    """
    files = SpecFiles.of(spec)
    parts = [str(files.root), str(files.is_wide)]
    try:
        for name in names:
            path = spec.parent / name
            state = path.stat()
            # A file that takes another's place keeps the time of its change.
            if older_than is not None and max(state.st_mtime, state.st_ctime) >= older_than:
                return None
            parts += [name, os.path.realpath(path), hash_of_file(path)]
        return hash_of(parts)
    except (OSError, ValueError, InputError):
        return None
