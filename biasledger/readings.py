"""Registers how answers are read: the `reading` part of each audit file whose audit the ledger holds.

What was asked is frozen with its run; how it is read may change from build to build. Registering it in the ledger
lets SQL read it and gives every finding the hash of its reading.
"""

from pathlib import Path
from typing import Any

from collector.errors import InputError

_PATTERNS = ("audits/*.yml", "audits/replications/*.yml")


def register_readings(project: Path, ledger_path: Path) -> list[str]:
    """Register the readings of the project's audit files whose audit is in the ledger.

    Returns:
        The names of those audits, sorted.

    Raises:
        InputError: an audit file is wrong, or two files name the same audit.
        LedgerError: the ledger is absent or cannot be used.
    """
    from collector.ledger import Ledger

    ledger = Ledger(ledger_path)
    audits = {run.audit for run in ledger.runs()}
    documents = _reading_documents(project)
    present = sorted(audits & documents.keys())
    if present:
        with ledger.append() as append:
            for name in present:
                append.reading(name, documents[name])
    return present


def _reading_documents(project: Path) -> dict[str, dict[str, Any]]:
    from collector.spec import load_audit

    documents: dict[str, dict[str, Any]] = {}
    files: dict[str, Path] = {}
    for path in sorted(path for pattern in _PATTERNS for path in project.glob(pattern)):
        audit = load_audit(path)
        name = audit.audit
        if name in files:
            raise InputError(
                f"{files[name]} and {path} both describe the audit {name!r}: rename one of them."
            )
        files[name], documents[name] = path, audit.reading_document()
    return documents
