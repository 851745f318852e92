"""Holds an evidence pack against the ledger that it says it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from biasledger.pack.archive import Pack, read_pack
from biasledger.pack.contents import ledger_files
from biasledger.verify import Verdict, verify_ledger
from collector.chain import Seal
from collector.errors import InputError
from collector.ledger import Ledger

# What the ledger must give again byte for byte. Events may have been added since.
FROZEN = ("run.json", "spec.json", "reading.json")


def check_pack(path: Path, ledger_path: Path) -> tuple[Pack, list[Verdict]]:
    """Check that a pack is whole, and that the ledger holds the run that it describes, as it was.

    Returns:
        The pack; and what was found of the pack, of the run's chain and of what was asked.

    Raises:
        InputError: the zip is no evidence pack or was changed; names the file in it.
        LedgerError: the ledger cannot be read.
    """
    pack = read_pack(path)
    run_id = str(pack.manifest["run_id"])
    whole = Verdict(path.name, "intact", notes=(f"{len(pack.files)} files are as its manifest lists them.",))
    return pack, [
        whole,
        *verify_ledger(ledger_path, [run_id], _seal(pack.manifest.get("seal"))),
        _asked(pack, ledger_path, run_id),
    ]


def check_findings(pack: Pack, ledger_path: Path, on_step: Callable[[int, int, str], None]) -> Verdict:
    """Compute the pack's findings anew, see `rebuild_findings`."""
    from biasledger.pack.rebuilding import packed_findings, rebuild_findings

    differences = rebuild_findings(pack, ledger_path, on_step)
    if differences:
        return Verdict("findings", "broken", fault=differences[0], n_faults=len(differences))
    return Verdict("findings", "intact", notes=(f"all {len(packed_findings(pack)):,} came out the same.",))


def _seal(stated: Any) -> Seal | None:
    return None if stated is None else Seal.parse(str(stated))


def _asked(pack: Pack, ledger_path: Path, run_id: str) -> Verdict:
    """Whether the pack tells what was asked, of whom and how it is read as the ledger does."""
    name = "what was asked"
    with Ledger(ledger_path).read() as connection:
        try:
            held = ledger_files(connection, run_id, str(pack.manifest["reading_hash"]))
        except InputError as error:
            return Verdict(name, "broken", fault=str(error), n_faults=1)
    changed = [file for file in FROZEN if pack.files.get(file) != held[file]]
    if changed:
        told = f"{changed[0]} of the pack does not say what the ledger says."
        return Verdict(name, "broken", fault=told, n_faults=len(changed))
    return Verdict(name, "intact", notes=("run, spec and reading are those of the ledger.",))
