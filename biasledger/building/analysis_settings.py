"""Registers how answers are read: the `analysis` part of each audit file whose audit the ledger holds.

The prompts of a run are fixed when it is collected; its analysis settings may change from build to build. Registering them in the
ledger lets SQL read them and gives every finding the hash of its analysis.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.building.described import Described, Descriptions
from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    from collector.ledger.database import Ledger

_PATTERNS = ("audits/*.yml", "audits/replications/*.yml")


def register_analysis_settings(
    project: Path,
    ledger_path: Path,
    *,
    allow_outside: bool = False,
    on_note: Callable[[str], None] = lambda _note: None,
) -> list[str]:
    """Register the analyses of the project's audit files whose audit is in the ledger.

    Args:
        project: its folder.
        ledger_path: the ledger.
        allow_outside: whether audit files may name files outside of the project.
        on_note: called with a sentence for each audit file that is left out, because it is wrong or describes the same audit as
            another one. The runs of such an audit keep their last settings.

    Returns:
        The names of those audits, sorted.

    Raises:
        InputError: the ledger lacks a catalogue that an audit names.
        LedgerError: the ledger is absent or cannot be used.
    """
    from collector.ledger.database import Ledger

    ledger = Ledger(ledger_path)
    # The models read the tables of the newest schema; an older ledger gains them, and loses nothing.
    ledger.update()
    held = ledger.held_analysis_settings()
    descriptions = Descriptions(project, allow_outside=allow_outside)
    described = _audits(project, descriptions, held.audits, on_note)
    present = {name: described[name] for name in sorted(held.audits & described.keys())}
    _require_catalogues(ledger, {name: one.catalogue for name, (one, _) in present.items()})
    new = [(path, name) for name, (one, path) in present.items() if not one.is_held(held)]
    if new:
        with ledger.append() as append:
            for path, name in new:
                audit = descriptions.audit(path, name)
                append.analysis(audit.audit, audit.analysis_document())
                append.relevance(audit.relevance_hash, audit.relevance_rows)
                append.markers(audit.markers_hash, audit.marker_rows, audit.probe_rows)
    return list(present)


def _require_catalogues(ledger: Ledger, catalogues: Mapping[str, str | None]) -> None:
    """Check that the ledger has the catalogue that an audit names, as its items would have no price otherwise."""
    named = {name: catalogue for name, catalogue in catalogues.items() if catalogue is not None}
    known = ledger.catalogues() if named else frozenset()
    for name, catalogue in named.items():
        if catalogue not in known:
            hint = did_you_mean(catalogue, sorted(known))
            raise InputError(
                f"The audit {name!r} reads prices from the catalogue {catalogue!r}, which is not in the ledger{hint}"
                f"{'' if hint.endswith('?') else '.'} Import it with biasledger import-items FILE --name {catalogue}."
            )


def _audits(
    project: Path,
    descriptions: Descriptions,
    asked: Collection[str],
    on_note: Callable[[str], None],
) -> dict[str, tuple[Described, Path]]:
    """Return what each audit file of the project says, and the file, by the audit's name.

    A file that is wrong is left out, and so are two of one audit: a draft stops no build, as the runs of other audits do not
    depend on it.
    """
    audits: dict[str, tuple[Described, Path]] = {}
    repeated: set[str] = set()
    for path in sorted(path for pattern in _PATTERNS for path in project.glob(pattern)):
        try:
            found = descriptions.of(path)
        except InputError as error:
            on_note(_left_out(path, error, asked))
            continue
        for one in found:
            if one.audit in audits:
                repeated.add(one.audit)
                as_last = ", and its runs keep their last settings" if one.audit in asked else ""
                on_note(
                    f"Warning: {audits[one.audit][1]} and {path} both describe the audit {one.audit!r}: neither is "
                    f"read{as_last}. Rename one of them."
                )
                continue
            audits[one.audit] = one, path
    descriptions.keep()
    return {name: one for name, one in audits.items() if name not in repeated}


def _left_out(path: Path, error: InputError, asked: Collection[str]) -> str:
    """Return the sentence on an audit file that is wrong."""
    from collector.files.yaml import read_yaml_mapping

    hint = f"`biasledger validate {shlex.quote(str(path))}` shows what is wrong"
    try:
        name = read_yaml_mapping(path, what="an audit spec").get("audit")
    except InputError:
        name = None
    if not isinstance(name, str):
        return f"Warning: {error} The file is left out; {hint}."
    if name in asked:
        return f"Warning: {error} The file is left out, and the runs of {name!r} keep their last settings; {hint}."
    return f"{path} is left out: it has problems, and the ledger has no run of {name!r}; {hint}."
