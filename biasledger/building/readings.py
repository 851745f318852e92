"""Registers how answers are read: the `reading` part of each audit file whose audit the ledger holds.

What was asked is frozen with its run; how it is read may change from build to build. Registering it in the ledger
lets SQL read it and gives every finding the hash of its reading.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean

if TYPE_CHECKING:
    from collector.ledger.database import HeldReadings, Ledger
    from collector.spec.audit import Audit

_PATTERNS = ("audits/*.yml", "audits/replications/*.yml")


def register_readings(
    project: Path,
    ledger_path: Path,
    *,
    allow_outside: bool = False,
    on_note: Callable[[str], None] = lambda _note: None,
) -> list[str]:
    """Register the readings of the project's audit files whose audit is in the ledger.

    Args:
        project: its folder.
        ledger_path: the ledger.
        allow_outside: whether audit files may name files outside of the project.
        on_note: called with a sentence for each audit file that is wrong and of which the ledger has no run.

    Returns:
        The names of those audits, sorted.

    Raises:
        InputError: an audit file is wrong whose audit is in the ledger, or cannot be told; or two files name the same audit.
        LedgerError: the ledger is absent or cannot be used.
    """
    from collector.ledger.database import Ledger

    ledger = Ledger(ledger_path)
    # The models read the tables of the newest schema; an older ledger gains them, and loses nothing.
    ledger.update()
    held = ledger.held_readings()
    described = _audits(project, held.audits, allow_outside=allow_outside, on_note=on_note)
    present = sorted(held.audits & described.keys())
    _require_catalogues(ledger, {name: described[name] for name in present})
    if not all(_is_held(described[name], held) for name in present):
        with ledger.append() as append:
            for name in present:
                audit = described[name]
                append.reading(name, audit.reading_document())
                append.relevance(audit.relevance_hash, audit.relevance_rows)
                append.markers(audit.markers_hash, audit.marker_rows, audit.probe_rows)
    return present


def _is_held(audit: Audit, held: HeldReadings) -> bool:
    """Whether registering its reading would write nothing, which takes longer to try than to see."""
    named = {audit.relevance_hash, audit.markers_hash} - {None}
    return held.latest.get(audit.audit) == hash_of(audit.reading_document()) and named <= held.named


def _require_catalogues(ledger: Ledger, audits: Mapping[str, Audit]) -> None:
    """Without the catalogue that an audit names, none of its items would have a price."""
    named = {
        name: audit.reading.prices.catalogue
        for name, audit in audits.items()
        if audit.answer.kind == "items" and audit.reading.prices.catalogue is not None
    }
    known = ledger.catalogues() if named else frozenset()
    for name, catalogue in named.items():
        if catalogue not in known:
            hint = did_you_mean(catalogue, sorted(known))
            raise InputError(
                f"The audit {name!r} reads prices from the catalogue {catalogue!r}, which is not in the ledger{hint}"
                f"{'' if hint.endswith('?') else '.'} Import it with biasledger import-items FILE --name {catalogue}."
            )


def _audits(
    project: Path, asked: Collection[str], *, allow_outside: bool, on_note: Callable[[str], None]
) -> dict[str, Audit]:
    """Audit's name -> its spec, of every audit file of the project but wrong ones of which there is no run among those asked."""
    from collector.spec.loading import load_audit

    audits: dict[str, Audit] = {}
    files: dict[str, Path] = {}
    for path in sorted(path for pattern in _PATTERNS for path in project.glob(pattern)):
        try:
            audit = load_audit(path, allow_outside=allow_outside)
        except InputError as error:
            _pass_over(path, error, asked, on_note)
            continue
        name = audit.audit
        if name in files:
            raise InputError(
                f"{files[name]} and {path} both describe the audit {name!r}: rename one of them."
            )
        files[name], audits[name] = path, audit
    return audits


def _pass_over(path: Path, error: InputError, asked: Collection[str], on_note: Callable[[str], None]) -> None:
    """Say that an audit file is wrong and not needed.

    Raises:
        InputError: it is needed, or its audit's name cannot be read.
    """
    from collector.files.yaml import read_yaml_mapping

    told = f"`biasledger validate {shlex.quote(str(path))}` tells what is wrong"
    try:
        name = read_yaml_mapping(path, what="an audit spec").get("audit")
    except InputError:
        name = None
    if not isinstance(name, str):
        raise InputError(f"{error} Which audit it is cannot be told; {told}.") from error
    if name in asked:
        raise error
    on_note(f"{path} is left out: it has problems, and the ledger has no run of {name!r}; {told}.")
