"""Makes the evidence pack of a run."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger import __version__
from biasledger.comparing.built_runs import known_runs
from biasledger.comparing.built_tables import open_tables
from biasledger.comparing.run_names import find_run
from biasledger.packing.archive import README, write_pack
from biasledger.packing.contents import ledger_files, warehouse_files
from biasledger.packing.summary import summary_files
from biasledger.publishing.erasures import erased_since_build
from biasledger.reporting import require_extra
from biasledger.verify import Verdict, verify_ledger
from collector.errors import BiasledgerError, InputError
from collector.ledger.database import Ledger

if TYPE_CHECKING:
    from collector.journal.chain import Seal

# Another version of one of these may give other digits.
SOFTWARE = ("dbt-core", "dbt-duckdb", "duckdb", "numpy", "pandas", "scipy", "scikit-learn")
# The packages that draw and write the report.
REPORT_SOFTWARE = ("vl-convert-python", "jinja2")


@dataclass(frozen=True, slots=True)
class Made:
    """A pack that was written: where, its own 'sha256:…', the seal in it (None of a run from before chains were kept), and what
    should be known of the run, one sentence each.
    """

    path: Path
    run_id: str
    sha256: str
    seal: Seal | None
    n_files: int
    notes: tuple[str, ...]


def make_pack(run: str, ledger_path: Path, warehouse: Path, output: Path | None = None) -> Made:
    """Write the evidence pack of a run, after verifying its chain.

    The same ledger, warehouse and software give the same bytes.

    Args:
        run: the run's id, its beginning, or `latest`.
        output: the zip, or a folder to put it in; the present folder if None.

    Raises:
        InputError: no such run; the warehouse was built before its last answers, or before a text was erased; the extra `report`
            is not installed.
        LedgerError: the ledger cannot be read.
        BiasledgerError: the run's chain is broken, or the warehouse cannot be read.
        OSError: the zip cannot be written.
    """
    require_extra()
    with open_tables(warehouse) as tables:
        named = find_run(run, known_runs(tables), [], can_narrow=False)
        (described,) = tables.records("select * from {dim_runs} where run_id = ?", [named.run_id])
        findings = warehouse_files(tables.connection, named.run_id)
    verdict = _verified(ledger_path, named.run_id)
    seal = verdict.seal
    with Ledger(ledger_path).read() as connection:
        asked = ledger_files(connection, named.run_id, described["analysis_hash"], seal)
        ((held,),) = connection.execute(
            "select count(*) from raw.responses where run_id = ?", [named.run_id]
        ).fetchall()
    if erased_since_build(warehouse, ledger_path):
        raise InputError(
            f"Answers were erased from {ledger_path}, or runs retracted, since {warehouse} was built, which may still hold their "
            "words: run `biasledger build` first, then pack again."
        )
    if held != described["n_responses"]:
        raise InputError(
            f"{warehouse} was built when the run {named.run_id} had {described['n_responses']:,} responses, and the ledger "
            f"holds {held:,} now: `biasledger build`, then pack again."
        )
    files = {
        **asked,
        **findings,
        README: readme(),
        **summary_files(warehouse, named.run_id),
    }
    facts = {
        "run_id": named.run_id,
        "audit": named.audit,
        "target": named.target,
        "is_simulated": described["is_simulated"],
        "analysis_hash": described["analysis_hash"],
        "seal": None if seal is None else str(seal),
        "software": software(),
    }
    path = output or Path()
    if path.is_dir():
        path = path / f"evidence-{named.run_id}.zip"
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} into.")
    digest = write_pack(path, f"evidence-{named.run_id}", facts, files)
    return Made(path, named.run_id, digest, seal, len(files) + 1, verdict.notes)


def _verified(ledger_path: Path, run_id: str) -> Verdict:
    """Refuse to pack a run that was tampered with."""
    (verdict,) = verify_ledger(ledger_path, [run_id], needs_journals=False)
    if verdict.state == "broken":
        raise BiasledgerError(f"No pack was made, as the run {run_id} is broken: {verdict.fault}")
    return verdict


def readme() -> bytes:
    """Return the readme of a pack."""
    return Path(__file__).with_name(README).read_bytes()


def software() -> dict[str, str]:
    """Return the versions installed here of all that makes a pack's figures and its report."""
    found = {"python": platform.python_version(), "biasledger": __version__}
    for name in (*SOFTWARE, *REPORT_SOFTWARE):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
