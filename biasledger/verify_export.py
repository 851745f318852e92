"""Checks an exported ledger: that its files are those of the manifest, and their rows those that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.verify import Verdict, known_runs, verify_run, verify_shared
from collector.errors import InputError
from collector.exports.folder import file_faults, require_manifest, unlisted
from collector.exports.reading import ExportedLedger, open_export
from collector.hints import did_you_mean
from collector.ledger.evidence import has_seal

if TYPE_CHECKING:
    from collector.exports.folder import ExportedRun, Manifest
    from collector.journal.chain import Seal


def verify_export(folder: Path, run_ids: Sequence[str] = (), seal: Seal | None = None) -> list[Verdict]:
    """Hold an export's files against its manifest, and recompute the chains of its runs from the rows in them.

    Args:
        folder: as `biasledger export` wrote it.
        run_ids: which runs; none checks all of them, and what they share.
        seal: one that was kept elsewhere; with several runs, one of them must have had exactly these records first.

    Returns:
        A verdict a run, then of what runs share where that is broken, and of the folder.

    Raises:
        InputError: the folder is no export; a run that is not in it; the extra `delta` is needed and not installed.
        LedgerError: a newer version wrote it.
    """
    manifest = require_manifest(folder)
    unknown = [run_id for run_id in run_ids if run_id not in manifest.runs]
    if unknown:
        raise InputError(
            f"There is no run {unknown[0]!r} in {folder}{did_you_mean(unknown[0], list(manifest.runs)) or '.'}"
        )
    chosen = [manifest.runs[run_id] for run_id in run_ids or manifest.runs]
    only = seal if len(chosen) == 1 else None
    is_found = False
    verdicts = []
    shared = [] if run_ids else file_faults(folder, manifest.shared.values())
    with open_export(folder, manifest) as exported:
        for run in chosen:
            verdicts.append(_verify_run(exported, folder, run, only))
            is_found |= seal is not None and has_seal(exported.connection, run.run_id, seal)
        if not run_ids:
            verdicts += verify_shared(exported.connection)
    if seal is not None and only is None and not is_found:
        verdicts.append(Verdict.lost_seal(seal))
    return [*verdicts, _verify_folder(folder, manifest, shared)]


def _verify_run(exported: ExportedLedger, folder: Path, run: ExportedRun, seal: Seal | None) -> Verdict:
    import duckdb

    faults = file_faults(folder, run.files.values())
    try:
        exported.show(run.run_id)
        verdict = verify_run(exported.connection, known_runs(exported.connection)[run.run_id], seal)
    except (duckdb.Error, KeyError):
        # The unreadable file is reported already; a run without any row is broken.
        verdict = Verdict(run.run_id, "broken")
    ends = None if verdict.seal is None else str(verdict.seal)
    if verdict.state == "intact" and ends != run.seal:
        faults.append(f"The manifest says that its seal is {run.seal}, and its chain ends with {ends}.")
    if not faults:
        return verdict
    message = [*faults, *([] if verdict.fault is None else [verdict.fault])]
    return replace(
        verdict,
        state="broken",
        fault=message[0],
        n_faults=len(faults) + verdict.n_faults,
        notes=(*message[1:], *verdict.notes),
    )


def _verify_folder(folder: Path, manifest: Manifest, shared: Sequence[str]) -> Verdict:
    faults = [*shared, *(f"{path} is not in the manifest." for path in unlisted(folder, manifest))]
    if manifest.format == "delta":
        from collector.exports.delta import log_faults

        faults += log_faults(folder, manifest)
    if faults:
        return Verdict.broken(str(folder), *faults, notes=faults[1:])
    n_files, n_runs = sum(1 for _ in manifest.files()), len(manifest.runs)
    message = f"{n_files:,} files, of {n_runs:,} runs and what they share, are all that there should be."
    return Verdict(str(folder), "intact", notes=(message,))
