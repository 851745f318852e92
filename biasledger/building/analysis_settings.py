"""Registers how answers are read: the `analysis` part of each audit file whose audit the ledger holds.

The prompts of a run are fixed when it is collected; its analysis settings may change from build to build. Registering them in the
ledger lets SQL read them and gives every finding the hash of its analysis.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean, ended

if TYPE_CHECKING:
    from collector.ledger.database import HeldAnalysisSettings, Ledger
    from collector.spec.audit import Audit

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
    described = _audits(project, held.audits, on_note, allow_outside=allow_outside)
    present = [described[name] for name in sorted(held.audits & described.keys())]
    _require_catalogues(ledger, present)
    if new := [audit for audit in present if not _is_held(audit, held)]:
        with ledger.append() as append:
            for audit in new:
                append.analysis(audit.audit, audit.analysis_document())
                append.relevance(audit.relevance_hash, audit.relevance_rows)
                append.markers(audit.markers_hash, audit.marker_rows, audit.probe_rows)
    return [audit.audit for audit in present]


def _is_held(audit: Audit, held: HeldAnalysisSettings) -> bool:
    """Return whether registering an audit's analysis would write nothing; the ledger is opened for writing otherwise."""
    named = {audit.relevance_hash, audit.markers_hash} - {None}
    return held.latest.get(audit.audit) == hash_of(audit.analysis_document()) and named <= held.named


def _require_catalogues(ledger: Ledger, audits: Sequence[Audit]) -> None:
    """Check that the ledger has the catalogue that an audit names, as its items would have no price otherwise."""
    named = {
        audit.audit: catalogue
        for audit in audits
        if audit.answer.kind == "items" and (catalogue := audit.analysis.prices.catalogue) is not None
    }
    known = ledger.catalogues() if named else frozenset()
    for name, catalogue in named.items():
        if catalogue not in known:
            hint = did_you_mean(catalogue, sorted(known))
            raise InputError(
                f"The audit {name!r} reads prices from the catalogue {catalogue!r}, which is not in the ledger{ended(hint)} "
                f"Import it with biasledger import-items FILE --name {catalogue}."
            )


def _audits(
    project: Path, asked: Collection[str], on_note: Callable[[str], None], *, allow_outside: bool
) -> dict[str, Audit]:
    """Return the audits that the project's files describe, by name.

    A file that is wrong is left out, and so are two of one audit: a draft stops no build, as the runs of other audits do not
    depend on it.
    """
    from collector.spec.loading import load_audits

    audits: dict[str, Audit] = {}
    places: dict[str, Path] = {}
    repeated: set[str] = set()
    for path in sorted(path for pattern in _PATTERNS for path in project.glob(pattern)):
        try:
            found = load_audits(path, allow_outside=allow_outside)
        except InputError as error:
            on_note(_left_out(path, error, asked))
            continue
        for audit in found:
            name = audit.audit
            if name in audits:
                repeated.add(name)
                as_last = ", and its runs keep their last settings" if name in asked else ""
                on_note(
                    f"Warning: {places[name]} and {path} both describe the audit {name!r}: neither is read{as_last}. "
                    f"Rename one of them."
                )
            else:
                audits[name], places[name] = audit, path
    return {name: audit for name, audit in audits.items() if name not in repeated}


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
